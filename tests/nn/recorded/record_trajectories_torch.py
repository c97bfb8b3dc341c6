"""Run optimizers with PyTorch, where MindSpore has no kernel for a processor or leaves a setting out, and keep where
they went: `python record_trajectories_torch.py` in its environment.
"""

from pathlib import Path

from cells import save
from trajectories import BY_TORCH, SHOWN, STEPS, numbers

HERE = Path(__file__).parent
KINDS = {"SGD": "SGD", "Momentum": "SGD", "Adam": "Adam"}
WORDS = {"learning_rate": "lr", "use_nesterov": "nesterov", "use_amsgrad": "amsgrad"}


def run(torch, name):
    """The weights after some of the steps."""
    kind, options = BY_TORCH[name]
    options = {WORDS.get(word, word): value for word, value in options.items()}
    centralized, groups = options.pop("centralized", False), options.pop("groups", False)
    rates, scale = options.pop("schedule", None), options.pop("loss_scale", 1.0)
    decay = options.pop("weight_decay") if centralized else 0.0  # which is centralized, too
    width = 16 if centralized else 3
    w, b = (torch.tensor(a, requires_grad=True) for a in (numbers(5, width), numbers(width, seed=1)))
    x, y = torch.tensor(numbers(8, 5, seed=2)), torch.tensor(numbers(8, width, seed=3))
    params = [{"params": [b], "lr": 0.3, "weight_decay": 0.2}, {"params": [w]}] if groups else [w, b]
    optimizer, seen = getattr(torch.optim, KINDS[kind])(params, **options), []
    for number in range(1, STEPS + 1):
        if rates:
            for group in optimizer.param_groups:
                group["lr"] = 0.02 * 0.8 ** ((number - 1) / 5)
        optimizer.zero_grad()
        (torch.square(x @ w + b - y).mean() / scale).backward()
        if centralized:
            w.grad += decay * w.detach()
            b.grad += decay * b.detach()
            w.grad -= w.grad.mean(1, keepdim=True)
        optimizer.step()
        if number in SHOWN:
            seen += [w.detach().numpy().copy(), b.detach().numpy().copy()]
    return seen


def main() -> None:
    """Write trajectories_torch.npz."""
    import torch  # of another environment

    answers = {name: run(torch, name) for name in BY_TORCH}
    save(HERE / "trajectories_torch.npz", answers)
    print(f"PyTorch {torch.__version__}: {len(answers)} trajectories")


if __name__ == "__main__":
    main()
