"""Ops that contain functions: what the transforms ask of them beyond what they ask of every op."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from mycelia.frozen import frozen
from mycelia.ir import Back, Purity, Several, Value, inner_functions
from mycelia.types import TensorType, TupleType, Type


@frozen
class Structured(Several, abstract=True):
    """An op that contains functions, or stands for one. It always has a tuple of results. It is as pure as the
    functions inside, and as it is by itself (`alone`), which every class says.
    """

    alone: ClassVar[Purity]  # its purity if all functions inside are total: partial, if they may run without end
    straight: ClassVar[bool] = True  # runs each function inside at most once

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        if not abstract and not hasattr(cls, "alone"):
            raise TypeError(f"op {cls.__name__} must say how pure it is if the functions inside are total: `alone`")
        super().__init_subclass__(abstract=abstract)

    @cached_property
    def purity(self) -> Purity:  # type: ignore[override]  # of an op, not of a class: it is what is inside
        """What may be done with it: no more than with any function inside."""
        return max(self.alone, *[fn.purity for fn in inner_functions(self)], Purity.TOTAL)

    @abstractmethod
    def infer(self, *inputs: Any) -> TupleType: ...

    @abstractmethod
    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        """The results, computed so that their residuals are kept, and the way back: from cotangents of the live
        results (None elsewhere) to cotangents of the wanted inputs (None elsewhere).
        """

    @abstractmethod
    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        """The results and their tangents, computed together. None stands for a tangent that is zero."""

    def augment(self, live: Sequence[bool], inputs: Sequence[Value]) -> tuple[tuple[Value, ...], Back]:
        """The way back to every input."""
        return self.pullback(live, tuple(x.type.differentiable for x in inputs), inputs)

    def axes(self, *inputs: Any) -> str:
        """No axis is split: a function inside may do anything with it."""
        results = self.infer(*inputs).elements
        return f"{', '.join(map(_whole, inputs))} -> {', '.join(map(_whole, results))}"


def _whole(t: Type) -> str:
    return " ".join("1" * t.rank) if isinstance(t, TensorType) else "1"


def placed(mask: Sequence[bool], values: Sequence[Any]) -> list[Any]:
    """The values, in order, where the mask is true; None elsewhere.

    >>> placed((True, False, True), "ab")
    ['a', None, 'b']
    """
    rest = iter(values)
    placed = [next(rest) if m else None for m in mask]
    assert next(rest, None) is None, "more values than places"
    return placed


def chosen(mask: Sequence[bool], values: Sequence[Any]) -> list[Any]:
    """The values where the mask is true.

    >>> chosen((True, False, True), "abc")
    ['a', 'c']
    """
    return [v for v, m in zip(values, mask, strict=True) if m]
