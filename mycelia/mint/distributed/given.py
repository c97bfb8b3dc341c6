"""What collectives are given: groups by name, tensors that results are written into, rows for each process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia import checks
from mycelia.communication import group as groups
from mycelia.communication.exchange import CommHandle
from mycelia.communication.group import GlobalComm
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CallError, DTypeError, ShapeError
from mycelia.types import Array


def named(group: str | None) -> str:
    return GlobalComm.WORLD_COMM_GROUP if group is None else checks.text("a collective", "group", group)


def a_tensor(owner: str, name: str, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise CallError(f"{name} of {owner} is a tensor, not {type(value).__name__}", given={name: value})
    return value


def one_each(owner: str, name: str, values: Any, group: str) -> list[Any]:
    """A list with one element for each process."""
    size = groups.get_group_size(group)
    if not isinstance(values, list | tuple) or len(values) != size:
        raise ArgumentError(
            f"{name} of {owner} is a list with one element for each process",
            given={name: values, "processes": size},
        )
    return list(values)


def write(owner: str, output: Any, value: Array) -> None:
    """Put what came into a tensor of the caller's."""
    into = a_tensor(owner, "the output", output)
    if into.dtype.numpy != value.dtype:
        raise DTypeError(f"{owner} writes {value.dtype} into a tensor of {into.dtype}")
    if into.shape != value.shape:
        raise ShapeError(f"{owner} writes shape {value.shape} into a tensor of shape {into.shape}")
    into.assign_value(Tensor(value))


def combined(owner: str, value: Array, op: str, group: str) -> Array:
    checks.choice(owner, "op", op, ("sum", "prod", "min", "max", "avg"))
    out: Array = groups.known(group).all_reduce(np.ascontiguousarray(value), "sum" if op == "avg" else op)
    return (out / groups.get_group_size(group)).astype(value.dtype) if op == "avg" else out


def done_by(owner: str, async_op: bool) -> CommHandle | None:
    return CommHandle() if checks.truth(owner, "async_op", async_op) else None


def row_counts(owner: str, name: str, wanted: Sequence[int] | None, extent: int, group: str) -> list[int]:
    """How many rows each process has of an axis; as many each, if nothing is said."""
    size = groups.get_group_size(group)
    if not wanted:
        if extent % size:
            raise ArgumentError(f"{owner}: an axis of {extent} has no {size} equal parts", hint=f"say {name}")
        return [extent // size] * size
    found = [checks.whole(owner, name, n, least=0) for n in one_each(owner, name, wanted, group)]
    if sum(found) != extent:
        raise ArgumentError(f"{name} of {owner} add up to {sum(found)}, and the axis has {extent}")
    return found


def row_parts(value: Array, sizes: Sequence[int]) -> list[Array]:
    return np.split(value, np.cumsum(sizes)[:-1])
