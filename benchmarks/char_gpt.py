"""The same GPT of letters here and in PyTorch: equal first weights, equal batches, the losses after 300 steps.

python benchmarks/char_gpt.py --torch PYTHON    where PYTHON is an interpreter that has PyTorch
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

WIDTH, LAYERS, HEADS, LONG, BATCH, STEPS, RATE = 64, 2, 4, 64, 16, 300, 3e-3
TEXT = Path(__file__).resolve().parents[1] / "examples" / "data" / "sonnets.txt"


def batches() -> tuple[np.ndarray, int]:
    """All batches, one letter longer than the model reads, and how many letters there are."""
    text = TEXT.read_text()
    letters = sorted(set(text))
    numbers = np.array([letters.index(c) for c in text], np.int32)
    starts = np.random.default_rng(0).integers(0, len(numbers) - LONG - 1, (STEPS, BATCH))
    return np.stack([[numbers[s : s + LONG + 1] for s in row] for row in starts]), len(letters)


def ours(file: Path) -> tuple[list[float], float]:
    """Our losses and the seconds of a step; the first weights go into a file."""
    import mycelia as ms
    from mycelia import nn, ops
    from mycelia.models import GPT, compiled_step

    data, letters = batches()
    ms.set_seed(1)
    net = GPT(letters, WIDTH, LAYERS, HEADS, LONG)
    np.savez(file, **{p.name: p.asnumpy() for p in net.get_parameters()})

    def loss(x: ms.Tensor, y: ms.Tensor) -> ms.Tensor:
        return ops.cross_entropy(net(x).reshape((-1, letters)), y.reshape(-1))

    step = compiled_step(loss, nn.Adam(net.trainable_params(), RATE), largest=1.0)
    losses, times = [], []
    for piece in data:
        begin = perf_counter()
        losses.append(step(ms.Tensor(piece[:, :-1].copy()), ms.Tensor(piece[:, 1:].copy())).item())
        times.append(perf_counter() - begin)
    return losses, float(np.median(times))


def theirs(file: Path) -> None:
    """PyTorch's losses from the same weights, printed with the seconds of a step."""
    import torch
    from torch.nn import functional as f

    data, _ = batches()
    w = {name: torch.tensor(array, requires_grad=True) for name, array in np.load(file).items()}
    optimizer = torch.optim.Adam(w.values(), RATE)

    def net(x: torch.Tensor) -> torch.Tensor:
        out = w["words.embedding_table"][x] + w["places.embedding_table"][: x.shape[1]]
        for n in range(LAYERS):
            b = {name.split(".", 2)[2]: p for name, p in w.items() if name.startswith(f"blocks.{n}.")}
            seen = f.layer_norm(out, (WIDTH,), b["norm1.gamma"], b["norm1.beta"], 1e-5)
            both = seen @ b["attention.qkv.weight"].T + b["attention.qkv.bias"]
            q, k, v = both.view(*x.shape, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            mixed = f.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(*x.shape, WIDTH)
            out = out + mixed @ b["attention.out.weight"].T + b["attention.out.bias"]
            seen = f.layer_norm(out, (WIDTH,), b["norm2.gamma"], b["norm2.beta"], 1e-5)
            wide = f.gelu(seen @ b["wide.weight"].T + b["wide.bias"], approximate="tanh")
            out = out + wide @ b["narrow.weight"].T + b["narrow.bias"]
        return f.layer_norm(out, (WIDTH,), w["norm.gamma"], w["norm.beta"], 1e-5) @ w["words.embedding_table"].T

    losses, times = [], []
    for piece in torch.tensor(data.astype(np.int64)):
        begin = perf_counter()
        optimizer.zero_grad()
        loss = f.cross_entropy(net(piece[:, :-1]).flatten(0, 1), piece[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(w.values(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        times.append(perf_counter() - begin)
    print(*losses, float(np.median(times)))


def main() -> None:
    parser = argparse.ArgumentParser(description="a GPT of letters beside PyTorch")
    parser.add_argument("--torch", required=True, help="an interpreter that has PyTorch")
    parser.add_argument("--peer", type=Path, help="of this script itself: run PyTorch on the weights in this file")
    asked = parser.parse_args()
    if asked.peer is not None:
        theirs(asked.peer)
        return
    file = Path(tempfile.mkdtemp()) / "first.npz"
    mine, took = ours(file)
    ran = subprocess.run([asked.torch, __file__, "--torch", "", "--peer", file], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    *other, their = map(float, ran.stdout.split())
    for n in (1, 10, 100, STEPS):
        a, b = (float(np.mean(x[max(n - 10, 0) : n])) for x in (mine, other))
        print(f"to step {n:3}: loss {a:.4f}, PyTorch {b:.4f}: {a / b - 1:+.2%}")
    print(f"a step takes {took * 1e3:.1f} ms, PyTorch's {their * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
