"""What two processes hand to each other in test_exchanges.py: `mpiexec -n 2 python exchanges.py`; rank 0 prints JSON.

Each law is checked in every process; what does not hold is gathered.
"""

from __future__ import annotations

import json

import numpy as np

import mycelia as ms
from mycelia import Tensor
from mycelia.mint import distributed as d


def row(*numbers: float) -> Tensor:
    return Tensor(np.array(numbers, np.float32))


def laws(rank: int, size: int) -> list[str]:
    """What does not hold in this process."""
    wrong: list[str] = []

    def holds(what: str, got: object, want: object) -> None:
        if got != want:
            wrong.append(f"{what} in {rank}: {got} is not {want}")

    mine = [10.0 * rank, 10.0 * rank + 1.0]
    for way in (lambda f: f, ms.jit):
        x = row(*mine)

        def reduced(x):
            handle = d.all_reduce(x, "sum")
            return x + (1.0 if handle is None else 0.0)

        holds("all_reduce", way(reduced)(x).tolist(), [11.0, 13.0])
        holds("all_reduce writes", x.tolist(), [10.0, 12.0])
    x = row(*mine)
    holds("a handle", d.all_reduce(x, "max", async_op=True).wait(), None)
    holds("the largest", x.tolist(), [10.0, 11.0])
    x = row(*mine)
    d.reduce(x, 1)
    holds("reduce", x.tolist(), [10.0, 12.0] if rank == 1 else mine)
    x = row(*mine)
    d.broadcast(x, 1)
    holds("broadcast", x.tolist(), [10.0, 11.0])
    found = [row(0, 0), row(0, 0)]
    d.all_gather(found, row(*mine))
    holds("all_gather", [t.tolist() for t in found], [[0.0, 1.0], [10.0, 11.0]])
    out = row(0, 0, 0, 0)
    d.all_gather_into_tensor(out, row(*mine))
    holds("all_gather_into_tensor", out.tolist(), [0.0, 1.0, 10.0, 11.0])
    out = row(0, 0, 0)
    d.all_gather_into_tensor_uneven(out, row(*mine[: rank + 1]), [1, 2])
    holds("all_gather_into_tensor_uneven", out.tolist(), [0.0, 10.0, 11.0])
    out = row(0, 0)
    d.reduce_scatter(out, [row(*mine), row(*mine) + 100.0])
    holds("reduce_scatter", out.tolist(), [[10.0, 12.0], [210.0, 212.0]][rank])
    out = row(0)
    d.reduce_scatter_tensor(out, row(*mine), "avg")
    holds("reduce_scatter_tensor", out.tolist(), [[5.0], [6.0]][rank])
    out = row(*[0] * (1 + rank))
    d.reduce_scatter_tensor_uneven(out, row(1, 2, 3), [1, 2])
    holds("reduce_scatter_tensor_uneven", out.tolist(), [[2.0], [4.0, 6.0]][rank])
    out = row(0)
    d.scatter(out, [row(7), row(8)] if rank == 1 else None, 1)
    holds("scatter", out.tolist(), [7.0 + rank])
    found = [row(0), row(0)]
    d.gather(row(rank), found if rank == 1 else None, 1)
    holds("gather", [t.tolist() for t in found], [[0.0], [1.0]] if rank == 1 else [[0.0], [0.0]])
    found = [row(0), row(0)]
    d.all_to_all(found, [row(rank * 2), row(rank * 2 + 1)])
    holds("all_to_all", [t.tolist() for t in found], [[float(rank)], [2.0 + rank]])
    out = row(*[0] * (2 if rank == 0 else 4))
    d.all_to_all_single(out, row(*(np.arange(3) + 10 * rank)), [[1, 1], [2, 2]][rank], [1, 2])
    holds("all_to_all_single", out.tolist(), [[0.0, 10.0], [1.0, 2.0, 11.0, 12.0]][rank])
    other = 1 - rank
    x = row(0, 0)
    if rank == 0:
        d.send(row(*mine), other, tag=3)
        d.recv(x, other)
    else:
        d.recv(x, other, tag=3)
        d.send(row(*mine), other)
    holds("send and recv", x.tolist(), [10.0 * other, 10.0 * other + 1.0])
    x = row(*np.zeros(50_000))
    large = row(*np.full(50_000, rank + 1.0))
    for handle in d.batch_isend_irecv([d.P2POp(d.isend, large, other), d.P2POp("irecv", x, other)]):
        handle.wait()
    holds("many", (x[0].item(), x[-1].item()), (other + 1.0, other + 1.0))
    found = [None] * size
    d.all_gather_object(found, {"rank": rank})
    holds("all_gather_object", found, [{"rank": 0}, {"rank": 1}])
    found = [f"of {rank}"]
    d.broadcast_object_list(found, 1)
    holds("broadcast_object_list", found, ["of 1"])
    found = [None] * size
    d.gather_object(rank, found, 1)
    holds("gather_object", found, [0, 1] if rank == 1 else [None, None])
    found = [None]
    d.scatter_object_list(found, ["a", "b"] if rank == 0 else None)
    holds("scatter_object_list", found, ["ab"[rank]])
    if rank == 0:
        d.send_object_list(["x", 1], 1)
    else:
        found = [None, None]
        holds("recv_object_list", (d.recv_object_list(found), found), (0, ["x", 1]))
    last = d.new_group([1])
    holds("ranks", (d.get_rank(last), d.get_world_size(last)), (0, 1) if rank == 1 else (-1, -1))
    if rank == 1:
        holds("a group", (d.get_global_rank(last, 0), d.get_group_rank(last, 1)), (1, 0))
    d.destroy_process_group(last)
    d.barrier()
    return wrong


if __name__ == "__main__":
    d.init_process_group(world_size=2)
    rank = d.get_rank()
    wrong: list[list[str]] = [[], []]
    d.all_gather_object(wrong, laws(rank, d.get_world_size()))
    if rank == 0:
        print(json.dumps([line for lines in wrong for line in lines]))
