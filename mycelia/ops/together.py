"""What processes compute together, as objects: each is a sum of what they hold, so that it has a gradient."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.checks import whole
from mycelia.eager import Tensor
from mycelia.errors import ShapeError
from mycelia.ops import creation
from mycelia.ops.arguments import axis_of, tensor
from mycelia.ops.communication import all_reduce
from mycelia.ops.primitive import declare

__all__: list[str] = []


def _place(group: str) -> tuple[int, int]:
    """Which process of the group this is, and of how many."""
    comm = p.group(group)
    return comm.rank, comm.size


def gathered(x: Any, group: str) -> Tensor:
    """What the processes of a group hold, one behind the other along the first axis.

    >>> gathered(Tensor([1.0, 2.0]), p.WORLD).tolist()
    [1.0, 2.0]
    """
    x = tensor(x)
    if not x.ndim:
        raise ShapeError("tensors of at least one axis are gathered", hint="give it an axis: x.reshape(1)")
    rank, size = _place(group)
    rows, rest = x.shape[0], [0] * (x.ndim - 1)
    return all_reduce(p.pad(x, [rank * rows, *rest], [(size - 1 - rank) * rows, *rest]), "sum", group)


def reduced_part(x: Any, op: str, group: str) -> Tensor:
    """The part of each process of the sum of all, along the first axis.

    >>> reduced_part(Tensor([1.0, 2.0]), "sum", p.WORLD).tolist()
    [1.0, 2.0]
    """
    return _part(all_reduce(x, op, group), group)


def _part(x: Tensor, group: str) -> Tensor:
    rank, size = _place(group)
    if not x.ndim or x.shape[0] % size:
        raise ShapeError(f"an axis of {x.shape[0] if x.ndim else 0} does not go evenly to {size} processes")
    rows = x.shape[0] // size
    return p.take(x, 0, rank * rows, (rank + 1) * rows)


def told(x: Any, root: int, group: str) -> Tensor:
    """What one process holds, for all of a group.

    >>> told(Tensor([1.0]), 0, p.WORLD).tolist()
    [1.0]
    """
    x = tensor(x)
    rank, size = _place(group)
    whole("Broadcast", "root_rank", root, least=0, most=size - 1)
    return all_reduce(x if rank == root else creation.zeros_like(x), "sum", group)


def exchanged(x: Any, split_count: int, split_dim: int, concat_dim: int, group: str) -> Tensor:
    """Each process's tensor in parts along one axis: this process's part of every one, joined along another.

    >>> exchanged(Tensor([[1.0, 2.0]]), 1, 1, 0, p.WORLD).tolist()
    [[1.0, 2.0]]
    """
    x = tensor(x)
    rank, size = _place(group)
    whole("AlltoAll", "split_count", split_count, least=size, most=size)
    cut, joined = axis_of(x, split_dim), axis_of(x, concat_dim)
    if x.shape[cut] % size:
        raise ShapeError(f"an axis of {x.shape[cut]} does not go evenly to {size} processes")
    every = gathered(p.expand_dims(x, (0,)), group)
    length = x.shape[cut] // size
    mine = p.take(every, cut + 1, rank * length, (rank + 1) * length)
    parts = [p.reshape(p.take(mine, 0, i, i + 1), mine.shape[1:]) for i in range(size)]
    return p.concat(parts, joined)


def _told_list(x: Any, root: int, group: str) -> tuple[Tensor, ...]:
    """What one process holds, for all of a group: a tuple of tensors."""
    return tuple(told(t, root, group) for t in (x if isinstance(x, tuple | list) else (x,)))


_GROUP = f"group={p.WORLD!r}"
_TABLE: dict[str, tuple[str, Any]] = {
    "AllGather": (_GROUP, gathered),
    "AlltoAll": (f"split_count, split_dim, concat_dim, {_GROUP}", exchanged),
    "Barrier": (_GROUP, lambda group: all_reduce(Tensor([0.0]), "sum", group)),
    "Broadcast": (f"root_rank, {_GROUP}", lambda x, root_rank, group: _told_list(x, root_rank, group)),
    "CollectiveGather": (f"dest_rank, {_GROUP}", lambda x, dest_rank, group: gathered(x, group)),
    "CollectiveScatter": (
        f"src_rank=0, {_GROUP}", lambda x, src_rank, group: _part(told(x, src_rank, group), group)),
    "Reduce": (f"dest_rank, op='sum', {_GROUP}", lambda x, dest_rank, op, group: all_reduce(x, op, group)),
    "ReduceScatter": (f"op='sum', {_GROUP}", reduced_part),
}  # fmt: skip
for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
