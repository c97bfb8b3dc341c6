"""Python numbers among the arguments: constants of the program at first, and tensors once they are seen to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia.api.mutable import MutableFloat, MutableInt
from mycelia.api.specialise import Compiled, Fallback
from mycelia.eager import Tensor
from mycelia.errors import MyceliaError
from mycelia.types import float32, float64

CHANGING = (int, float, MutableInt, MutableFloat)  # a bool chooses between programs, and stays a constant
MUTABLE = (MutableInt, MutableFloat)


def has_numbers(leaves: Sequence[Any]) -> bool:
    """Whether there are numbers that may change from call to call.

    >>> has_numbers([Tensor(1.0), 3]), has_numbers([Tensor(1.0), True, "a"])
    (True, False)
    """
    return any(x.__class__ in CHANGING for x in leaves)


class Kind:
    """Calls that differ only in numbers: which of them have changed, and the programs that take these as tensors."""

    def __init__(self) -> None:
        self.first: list[Any] | None = None  # the leaves of the first call
        self.sample: Compiled | Fallback | None = None  # and how it ran
        self.changing: set[int] = set()
        self.constants: list[Any] = []
        self.ways: list[Compiled] = []
        self.refused = False  # a number must be known, for a shape or to be returned
        self.calls = 0

    def opened(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves, with tensors for the numbers that change."""
        return [_tensor(x) if i in self.changing else x for i, x in enumerate(leaves)]

    def fitting(self, leaves: Sequence[Any]) -> Compiled | Fallback | None:
        """A program for these numbers, if there is one. Python runs a function with any numbers."""
        if isinstance(self.sample, Fallback) and self.sample.holds():
            return self.sample
        if not self.ways or self._constants(leaves) != self.constants:
            return None
        return next((way for way in self.ways if way.holds()), None)

    def generalise(
        self, leaves: Sequence[Any], compile: Callable[[list[Any]], Compiled | Fallback | None]
    ) -> Compiled | None:
        """A program that takes changing numbers as tensors; None if there cannot be one, or nothing has changed."""
        assert self.first is not None, "the first call was seen"
        numbers = [i for i, x in enumerate(leaves) if x.__class__ in CHANGING and _changes(x, self.first[i])]
        if self.refused or not numbers or not _roundable(leaves) or not isinstance(self.sample, Compiled):
            return None
        self.changing.update(numbers)
        try:
            way = compile(self.opened(leaves))
        except MyceliaError:  # as a tensor the number does not fit where it fits as a number
            way = None
        if not isinstance(way, Compiled) or not _alike(way, self.sample):
            self.refused = True
            self.ways.clear()
            return None
        if self._constants(leaves) != self.constants:
            self.ways.clear()
        self.constants = self._constants(leaves)
        self.ways.insert(0, way)
        return way

    def _constants(self, leaves: Sequence[Any]) -> list[Any]:
        return [x for i, x in enumerate(leaves) if x.__class__ in CHANGING and i not in self.changing]


def _changes(now: Any, first: Any) -> bool:
    return now.__class__ in MUTABLE or now != first


def _tensor(number: Any) -> Tensor:
    return Tensor(float(number), float32) if isinstance(number, float) else Tensor(int(number))


def _roundable(leaves: Sequence[Any]) -> bool:
    """Whether a float may be a float32: it is rounded so in any case where it meets tensors of this type."""
    floats = {x.dtype for x in leaves if isinstance(x, Tensor) and x.dtype.is_float}
    return floats <= {float32} or (floats <= {float32, float64} and not any(isinstance(x, float) for x in leaves))


def _alike(way: Compiled, sample: Compiled) -> bool:
    """Whether the same parts of the result are tensors."""
    these, those = way.captured.returned, sample.captured.returned
    kinds = [[q.__class__ for q in nest.parts] for nest in (these, those)]
    types = [w.captured.function.result_types for w in (way, sample)]
    return these.structure == those.structure and kinds[0] == kinds[1] and types[0] == types[1]
