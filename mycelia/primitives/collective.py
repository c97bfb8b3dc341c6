"""Collectives: ops that all processes of a group compute together, each with a part of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, GradientError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Purity, Sample, Value
from mycelia.primitives.family import draw, mapping, names
from mycelia.primitives.host import Callee
from mycelia.types import Array, TensorType, bool_

__all__ = ["ALONE", "REDUCTIONS", "WORLD", "AllReduce", "Communicator", "group", "groups"]

WORLD = "world"  # the group of all processes
REDUCTIONS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


class Communicator(Protocol):
    """The processes of a group, as one of them sees it."""

    rank: int
    size: int

    def all_reduce(self, x: Array, reduction: str) -> Array:
        """The elements of all processes, combined; every process gets them."""


class _Alone:
    """A process that nobody has joined to others."""

    rank, size = 0, 1

    def all_reduce(self, x: Array, reduction: str) -> Array:
        return x.copy()


ALONE: Communicator = _Alone()
groups: dict[str, Communicator] = {WORLD: ALONE}  # by name; `mycelia.communication` writes here


def group(name: str) -> Communicator:
    """The group of this name, which this process must be in.

    >>> group("world").size
    1
    """
    if name not in groups:
        raise ArgumentError(
            f"this process is in no group {name!r}",
            given={"groups": ", ".join(groups)},
            hint="all processes make a group together, with mycelia.communication.create_group",
        )
    return groups[name]


@frozen
class AllReduce(Op):
    """The sum (product, largest, smallest) of what the processes of a group hold, element by element; all get it.

    Every process has to come to it, in the same order: it is an ordered effect, so no pass moves it or leaves it out,
    and two equal ones are two.
    """

    reduction: str = "sum"
    group: str = WORLD
    name: ClassVar[str] = "all_reduce"
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.ORDERED

    def __post_init__(self) -> None:
        if self.reduction not in REDUCTIONS:
            raise ArgumentError(
                f"processes cannot reduce by {self.reduction!r}", hint=f"choose one of {', '.join(REDUCTIONS)}"
            )

    def infer(self, x: TensorType) -> TensorType:
        if x.dtype is bool_:
            raise ArgumentError("all_reduce takes numbers, not truth values", hint="cast them to a whole number")
        return x

    def reference(self, x: Array) -> Array:
        return group(self.group).all_reduce(np.ascontiguousarray(x).reshape(x.shape), self.reduction)

    @property
    def exchange(self) -> Callee:
        """The function that programs call, in every process."""
        return _exchange(self)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        """The loss is the sum of what the processes make of the result, so their cotangents are added."""
        if self.reduction == "prod":
            raise _no_product(out)
        total = AllReduce("sum", self.group)(ct)
        if self.reduction == "sum":
            return (total,)
        return (p.select(p.equal(x, out), total, p.zeros(x.dtype, x.shape)),)

    def jvp(self, tangents: Sequence[Any], out: Value, x: Value) -> Any:
        """What all processes move by, added; of an extreme element, what those move by that hold it."""
        if self.reduction == "prod":
            raise _no_product(out)
        (moved,) = tangents
        mine = moved if self.reduction == "sum" else p.select(p.equal(x, out), moved, p.zeros(x.dtype, x.shape))
        return AllReduce("sum", self.group)(mine)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return self(x)

    def axes(self, x: TensorType) -> str:
        a = names(x.rank)
        return mapping([a], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(), (draw(2, 3),))
        yield Sample(cls("max"), (draw(4),))
        yield Sample(cls("min"), (draw(),))
        yield Sample(cls("prod"), (np.arange(6).reshape(3, 2),), smooth=False)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield Mistake(lambda: cls("mean"), ArgumentError, "cannot reduce by 'mean'")
        yield Mistake(lambda: cls().infer(TensorType(bool_, (2,))), ArgumentError, "not truth values")
        yield Mistake(lambda: cls(group="nobody").reference(np.zeros(2)), ArgumentError, "in no group")


def _no_product(out: Value) -> GradientError:
    return GradientError("the product over processes has no gradient", at=out.location, hint="use sum, of logarithms")


@cache
def _exchange(op: AllReduce) -> Callee:
    return Callee(op.reference, str(op))
