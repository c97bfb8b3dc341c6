"""Programs of complex arrays: real programs, which see each as pairs of real numbers in the same memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mycelia.ir import Function
from mycelia.primitives.pairs import as_complex, as_pairs
from mycelia.types import Array, TensorType, Type


class Paired:
    """A compiled function of arrays, some of which are complex."""

    def __init__(self, fn: Function, run: Callable[..., tuple[Any, ...]], donated: Mapping[int, int]) -> None:
        self.run = run
        self._takes = [i for i, t in enumerate(fn.types) if _complex(t)]
        self._donated = dict(donated)
        self._types = fn.result_types

    def __call__(self, *arrays: Array) -> tuple[Any, ...]:
        """The results. One that overwrites an argument is that array, unless it had to be copied."""
        given = list(arrays)
        for i in self._takes:
            given[i] = as_pairs(arrays[i])
        results = list(self.run(*given))
        first = len(self._types) - len(results)  # the questions before them are answered
        for i, t in enumerate(self._types[first:]):
            if _complex(t):
                donor = self._donated.get(i)
                mine = donor is not None and arrays[donor].flags.c_contiguous
                results[i] = arrays[donor] if mine and donor is not None else as_complex(results[i])
        return tuple(results)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)  # its notes, its binding


def _complex(t: Type) -> bool:
    return isinstance(t, TensorType) and t.dtype.is_complex
