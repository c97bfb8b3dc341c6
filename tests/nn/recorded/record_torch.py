"""Train small networks with PyTorch and keep what it gave: `python record_torch.py`, where PyTorch is installed."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    """Write torch.npz."""
    import torch  # of another environment
    import torch.nn as nn
    import torch.nn.functional as F
    from torch_cases import (
        GPT,
        OPTIMIZERS,
        attention,
        batches,
        gpt_data,
        gpt_weights,
        lenet_data,
        lenet_weights,
        mlp_data,
        mlp_weights,
        numbers,
    )

    def T(a):
        return torch.from_numpy(np.array(a))

    def linear(x, weights, name):
        return F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    def norm(x, weights, name):
        return F.layer_norm(x, x.shape[-1:], weights[f"{name}.gamma"], weights[f"{name}.beta"], 1e-5)

    def mlp(w, x):
        return linear(F.relu(linear(x, w, "0")), w, "2")

    def lenet(w, x):
        x = F.max_pool2d(F.relu(F.conv2d(x, w["c1.weight"], w["c1.bias"], padding=2)), 2)
        x = F.max_pool2d(F.relu(F.conv2d(x, w["c2.weight"], w["c2.bias"])), 2).flatten(1)
        return linear(F.relu(linear(x, w, "f1")), w, "f2")

    def gpt(w, t):
        x = w["wte.embedding_table"][t] + w["wpe.embedding_table"][: t.shape[1]]
        for i in range(GPT["layers"]):
            at = f"blocks.{i}."
            batch, time, width = x.shape
            qkv = linear(norm(x, w, at + "ln1"), w, at + "qkv").view(batch, time, 3, GPT["heads"], -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
            x = x + linear(mixed.reshape(batch, time, width), w, at + "proj")
            x = x + linear(F.gelu(linear(norm(x, w, at + "ln2"), w, at + "fc"), approximate="tanh"), w, at + "out")
        return linear(norm(x, w, "lnf"), w, "head").view(-1, GPT["vocabulary"])

    def losses(net, weights, data, make, steps=3):
        w = {name: T(a).requires_grad_() for name, a in weights.items()}
        x, y = (T(a) for a in data)
        optimizer, found = make(list(w.values())), []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(w, x if x.is_floating_point() else x.long()), y.long().view(-1))
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return np.array(found), {name: a.detach().numpy() for name, a in w.items()}

    out = {}
    runs = {
        "mlp": (mlp, mlp_weights(), mlp_data(), lambda p: torch.optim.Adam(p, 1e-2)),
        "lenet": (lenet, lenet_weights(), lenet_data(), lambda p: torch.optim.SGD(p, 0.05, momentum=0.9)),
        "gpt": (gpt, gpt_weights(), gpt_data(), lambda p: torch.optim.AdamW(p, 1e-2, eps=1e-3, weight_decay=0.1)),
    }
    for name, run in runs.items():
        out[f"{name}.losses"], after = losses(*run)
        out |= {f"{name}.after.{key}": a for key, a in after.items()}

    for name, (kind, options) in OPTIMIZERS.items():
        w = T(numbers(3, 4)).requires_grad_()
        optimizer = getattr(torch.optim, kind)([w], **options)
        for step in range(5):
            w.grad = T(numbers(3, 4, seed=10 + step))
            optimizer.step()
        out[f"optimizer.{name}"] = w.detach().numpy().copy()

    batch_norm = nn.BatchNorm2d(3, momentum=0.1)
    for i, batch in enumerate(batches()):
        x = T(batch).requires_grad_()
        y = batch_norm(x)
        (y * y * y).sum().backward()
        out[f"batch_norm.{i}.out"], out[f"batch_norm.{i}.grad"] = y.detach().numpy(), x.grad.numpy()
    out["batch_norm.mean"] = batch_norm.running_mean.numpy()
    out["batch_norm.variance"] = batch_norm.running_var.numpy()

    for name, (made, inputs, masks) in attention().items():
        net = nn.MultiheadAttention(8, 2, batch_first=made.get("batch_first", False), add_zero_attn=made["zero"])
        with torch.no_grad():
            for key, a in made["weights"].items():
                parameter = net.get_parameter(key)
                parameter.copy_(T(a))
        mixed, weights = net(*(T(a) for a in inputs), **{key: T(a) for key, a in masks.items()})
        out[f"attention.{name}.out"], out[f"attention.{name}.weights"] = (
            mixed.detach().numpy(),
            weights.detach().numpy(),
        )
    np.savez_compressed(HERE / "torch.npz", **out)
    print(f"PyTorch {torch.__version__}: {len(out)} arrays")


if __name__ == "__main__":
    main()
