"""What two processes do in test_ranks.py: `mpiexec -n 2 python ranks.py WHAT`; rank 0 prints JSON."""

from __future__ import annotations

import json
import sys

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.communication import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank_size,
    get_rank,
    get_world_rank_from_group_rank,
    init,
)

BATCH, STEPS = 16, 4


def lenet() -> nn.Cell:
    ms.set_seed(3)
    return nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(16 * 4 * 4, 32), nn.ReLU(), nn.Dense(32, 10),
    )  # fmt: skip


def batch(step: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(step)
    return rng.normal(size=(BATCH, 1, 28, 28)).astype(np.float32), rng.integers(0, 10, BATCH).astype(np.int32)


def train(compiled: bool, rank: int = 0, size: int = 1) -> tuple[list[float], list[float], str]:
    """Losses of a few steps, each process with its share of every batch; the sums of the weights, and `explain`."""
    net, loss_fn = lenet(), nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    both = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)

    def step(x, y):
        loss, grads = both(x, y)
        optimizer(reducer(grads))
        return ops.all_reduce(loss) / get_group_size()

    run = ms.jit(step) if compiled else step
    losses = []
    for i in range(STEPS):
        x, y = (Tensor(a[rank::size]) for a in batch(i))
        losses.append(run(x, y).item())
    weights = [float(np.abs(p.asnumpy()).sum()) for p in net.trainable_params()]
    return losses, weights, run.explain() if compiled else ""


def laws(rank: int, size: int) -> list[str]:
    """What does not hold, of what every process can check by itself."""
    wrong = []
    parts = [np.random.default_rng(r).integers(1, 5, (3, 2)).astype(np.float64) for r in range(size)]
    mine = parts[rank]
    reductions = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}
    for dtype in (ms.float32, ms.float64, ms.float16, ms.bfloat16, ms.int8, ms.int32, ms.int64, ms.uint8):
        for name, reduce in reductions.items():
            for part in (lambda a: a, lambda a: a[0, 0], lambda a: a[:0], lambda a: a.T):
                x, want = Tensor(part(mine), dtype), reduce([part(p) for p in parts], axis=0)
                for way in (lambda f: f, ms.jit):
                    got = way(lambda x, name=name: ops.all_reduce(x, name))(x)
                    if got.dtype is not dtype or not np.array_equal(got.asnumpy().astype(np.float64), want):
                        wrong.append(f"{name} {dtype} {x.shape}: {got.tolist()} is not {want.tolist()}")
    x = Tensor(mine.astype(np.float32))
    whole = np.sum(parts, axis=0)
    for way in (lambda f: f, ms.jit):  # each process weighs the result by its own number
        got = way(ms.grad(lambda x: (ops.all_reduce(x * x) * (rank + 1)).sum()))(x).asnumpy()
        if not np.allclose(got, 2 * mine * sum(range(1, size + 1))):
            wrong.append(f"the gradient of a sum: {got}")
        got = way(ms.grad(lambda x: ops.all_reduce(x, "max").sum()))(x).asnumpy()
        if not np.allclose(got, (mine == np.max(parts, axis=0)) * size):
            wrong.append(f"the gradient of the largest: {got}")
        _, moved = ms.jvp(way(lambda x: ops.all_reduce(x * x)), (x,), (x,))
        if not np.allclose(moved.asnumpy(), np.sum([2 * p * p for p in parts], axis=0)):
            wrong.append(f"the tangent of a sum: {moved}")
        got = way(ms.vmap(lambda row: ops.all_reduce(row)))(x).asnumpy()
        if not np.allclose(got, whole):
            wrong.append(f"many examples: {got}")

        def ordered(x):
            total = ops.all_reduce(x)
            for _ in range(3):
                total = ops.all_reduce(total) - x
            if total.sum() > 0:  # the same in all processes
                total = ops.all_reduce(total, "max")
            ops.all_reduce(x)  # nobody reads it, and both come to it
            return total

        got = way(ordered)(Tensor(whole.astype(np.float32))).asnumpy()
        want = whole * size
        for _ in range(3):
            want = want * size - whole
        if not np.allclose(got, want):
            wrong.append(f"one after the other: {got}")
    create_group("last", [size - 1])
    if rank == size - 1 and (get_rank("last"), get_group_size("last")) != (0, 1):
        wrong.append("a group of one")
    if rank == size - 1 and get_world_rank_from_group_rank("last", 0) != size - 1:
        wrong.append("ranks of a group")
    if rank == size - 1 and get_group_rank_from_world_rank(size - 1, "last") != 0:
        wrong.append("ranks in a group")
    if rank == size - 1 and not np.array_equal(ops.all_reduce(x, "sum", "last").asnumpy(), x.asnumpy()):
        wrong.append("a sum over one")
    destroy_group("last")
    if get_local_rank_size() != size:
        wrong.append("all are on this machine")
    return wrong


if __name__ == "__main__":
    init()
    rank, size = get_rank(), get_group_size()
    if sys.argv[1] == "laws":
        wrong = laws(rank, size)
        counted = ops.all_reduce(Tensor(float(len(wrong)))).item()
        told = {"size": size, "wrong": wrong, "of all": counted}
    else:
        told = {"size": size}
        for compiled in (False, True):
            losses, weights, explained = train(compiled, rank, size)
            spread = ops.all_reduce(Tensor(weights), "max") - ops.all_reduce(Tensor(weights), "min")
            told["jit" if compiled else "eager"] = {
                "losses": losses, "weights": weights, "spread": spread.asnumpy().max().item(), "explain": explained,
            }  # fmt: skip
    if rank == 0:
        print(json.dumps(told))
