"""Single operations beside PyTorch's, eagerly, forward and with gradient: which of them are slower, and by how much.

    python benchmarks/ops.py PYTHON_WITH_TORCH [--seconds 0.1] [--only exp,softmax]

Each cell is an operation at a size and an element type, forward, or forward and back. Both frameworks time a cell one
right after the other, two threads each, so that a machine that drifts drifts for both; a cell is the shortest of many
calls. What is shown: the median of all ratios (ours / PyTorch's), how many are over 1.2 and over 2, and the worst.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

SIZES = {"small": (16, 16), "middle": (256, 256), "large": (2048, 1024)}
SMOOTH = "exp log1p tanh sigmoid relu gelu silu sqrt square abs sin cos erf softplus elu leaky_relu hardswish mish"
ONE = {name: f"F.{name}(a)" for name in SMOOTH.split()}
OTHERS = {  # the operation as Mycelia and as PyTorch write it, and whether it is differentiated
    "add": ("a + b", "a + b", True),
    "sub": ("a - b", "a - b", True),
    "mul": ("a * b", "a * b", True),
    "div": ("a / (b * b + 1)", "a / (b * b + 1)", True),
    "row_add": ("a + b[0]", "a + b[0]", True),
    "column_add": ("a + b[:, :1]", "a + b[:, :1]", True),
    "maximum": ("F.maximum(a, b)", "torch.maximum(a, b)", True),
    "where": ("F.where(a > b, a, b)", "torch.where(a > b, a, b)", True),
    "clamp": ("F.clamp(a, -0.5, 0.5)", "torch.clamp(a, -0.5, 0.5)", True),
    "pow": ("a ** 3", "a ** 3", True),
    "compare": ("a > b", "a > b", False),
    "cast": ("a.astype(ms.float64)", "a.double()", True),
    "sum": ("a.sum()", "a.sum()", True),
    "sum_rows": ("a.sum(1)", "a.sum(1)", True),
    "sum_columns": ("a.sum(0)", "a.sum(0)", True),
    "mean": ("a.mean(-1)", "a.mean(-1)", True),
    "max": ("a.max()", "a.max()", True),
    "var": ("a.var(1)", "a.var(1)", True),
    "argmax": ("a.argmax(1)", "a.argmax(1)", False),
    "cumsum": ("a.cumsum(1)", "a.cumsum(1)", True),
    "softmax": ("F.softmax(a, -1)", "torch.softmax(a, -1)", True),
    "log_softmax": ("F.log_softmax(a, -1)", "torch.log_softmax(a, -1)", True),
    "logsumexp": ("F.logsumexp(a, -1)", "torch.logsumexp(a, -1)", True),
    "layer_norm": ("F.layer_norm(a, (a.shape[1],))", "F.layer_norm(a, (a.shape[1],))", True),
    "cross_entropy": ("F.cross_entropy(a, i)", "F.cross_entropy(a, i)", True),
    "mse": ("F.mse_loss(a, b)", "F.mse_loss(a, b)", True),
    "reshape": ("a.reshape((-1,))", "a.reshape((-1,))", True),
    "transpose_copy": ("a.T + 0", "a.T + 0", True),
    "cat": ("F.cat((a, b), 1)", "torch.cat((a, b), 1)", True),
    "cat_rows": ("F.cat((a, b), 0)", "torch.cat((a, b), 0)", True),
    "stack": ("F.stack((a, b))", "torch.stack((a, b))", True),
    "slice": ("a[:, 1:-1] * 2", "a[:, 1:-1] * 2", True),
    "every_other": ("a[:, ::2] * 2", "a[:, ::2] * 2", True),
    "roll": ("F.roll(a, 3, 1)", "torch.roll(a, 3, 1)", True),
    "flip": ("F.flip(a, (1,))", "torch.flip(a, (1,))", True),
    "tile": ("F.tile(a, (1, 2))", "torch.tile(a, (1, 2))", True),
    "rows": ("a[i]", "a[i]", True),
    "embedding": ("F.gather(a, i, 0)", "F.embedding(i, a)", True),
    "sort": ("F.sort(a)[0]", "torch.sort(a)[0]", False),
    "topk": ("F.topk(a, 4)[0]", "torch.topk(a, 4)[0]", False),
    "matmul": ("a @ b.T", "a @ b.T", True),
    "matvec": ("a @ b[0]", "a @ b[0]", True),
    "dense": ("F.dense(a, b)", "F.linear(a, b)", True),
    "outer": ("F.outer(a[0], b[0])", "torch.outer(a[0], b[0])", True),
}
OPERATIONS = {name: (text, f"F.{name}(a)", True) for name, text in ONE.items()} | OTHERS
NAMED = {"exp", "log1p", "tanh", "sigmoid", "sqrt", "square", "abs", "sin", "cos", "erf"}  # PyTorch has them in torch
for _name in NAMED:
    OPERATIONS[_name] = (ONE[_name], f"torch.{_name}(a)", True)
for _name in ("log1p", "sqrt"):
    mine, theirs, _ = OPERATIONS[_name]
    OPERATIONS[_name] = mine.replace("(a)", "(a * a)"), theirs.replace("(a)", "(a * a)"), True


@dataclass(frozen=True)
class Cell:
    """One comparison."""

    name: str
    size: str
    dtype: str
    back: bool

    def __str__(self) -> str:
        return f"{self.name} {self.size} {self.dtype}{' with gradient' if self.back else ''}"


def cells(only: frozenset[str]) -> Iterator[Cell]:
    """All that is compared."""
    for name, (_, _, smooth) in OPERATIONS.items():
        for size in SIZES:
            for dtype in ("float32", "float64"):
                if (not only or name in only) and not (dtype == "float64" and size == "middle"):
                    yield from (Cell(name, size, dtype, back) for back in (False, True)[: 1 + smooth])


def arrays(cell: Cell) -> list[Any]:
    """Two matrices, and an index for each row."""
    shape, rng = SIZES[cell.size], np.random.default_rng(0)
    a, b = (rng.normal(size=shape).astype(cell.dtype) for _ in range(2))
    return [a, b, rng.integers(0, min(shape), shape[0])]


def ours(cell: Cell) -> Callable[[], object]:
    """The call of a cell, by Mycelia."""
    import mycelia as ms  # each framework lives in a process of its own
    from mycelia import ops

    a, b, i = (ms.Tensor(x) for x in arrays(cell))
    names = {"F": ops, "ms": ms, "i": i.astype(ms.int32)}
    run = eval(f"lambda a, b: {OPERATIONS[cell.name][0]}", names)
    if not cell.back:
        return lambda: run(a, b)
    gradient = ms.grad(lambda a, b: run(a, b).sum(), (0, 1))
    return lambda: gradient(a, b)


def theirs(cell: Cell) -> Callable[[], object]:
    """The call of a cell, by PyTorch."""
    import torch  # see `ours`
    import torch.nn.functional as functional

    torch.set_num_threads(2)
    a, b, i = (torch.tensor(x) for x in arrays(cell))
    run = eval(f"lambda a, b: {OPERATIONS[cell.name][1]}", {"F": functional, "torch": torch, "i": i})
    if not cell.back:
        return lambda: run(a, b)
    a, b = a.requires_grad_(), b.requires_grad_()
    return lambda: torch.autograd.grad(run(a, b).sum(), (a, b), allow_unused=True)


def fastest(call: Callable[[], object], seconds: float) -> float:
    """The shortest of the calls that fit a time, five at least."""
    for _ in range(3):
        call()
    best, count, end = float("inf"), 0, time.perf_counter() + seconds
    while count < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        best, count = min(best, time.perf_counter() - begin), count + 1
    return best


def answer() -> None:
    """Time cells that are asked for line by line, by PyTorch."""
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(fastest(theirs(Cell(**asked["cell"])), asked["seconds"])), flush=True)


def main() -> None:
    """Ask both for every cell."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="an interpreter that has PyTorch")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    peer = subprocess.Popen(
        [given.python, __file__, "--answer"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    assert peer.stdin is not None and peer.stdout is not None, "both are pipes"  # noqa: PT018
    found: list[tuple[float, Cell, float, float]] = []
    for cell in cells(frozenset(filter(None, given.only.split(",")))):
        mine = fastest(ours(cell), given.seconds)
        peer.stdin.write(json.dumps({"cell": cell.__dict__, "seconds": given.seconds}) + "\n")
        peer.stdin.flush()
        other = float(json.loads(peer.stdout.readline()))
        found.append((mine / other, cell, mine, other))
    peer.stdin.close()
    found.sort(key=lambda each: -each[0])
    ratios = [ratio for ratio, *_ in found]
    for bound in (1.2, 2.0):
        over = sum(r > bound for r in ratios)
        print(f"over {bound}: {over} of {len(ratios)} cells, {over / len(ratios):.1%}")
    print(f"median {median(ratios):.2f}, worst {ratios[0]:.2f}")
    for ratio, cell, mine, other in found[:40]:
        print(f"{ratio:6.2f}  {mine * 1e6:10.1f} us  {other * 1e6:10.1f} us  {cell}")


if __name__ == "__main__":
    answer() if "--answer" in sys.argv else main()
