"""What runs when a program could not be compiled: its meaning, in NumPy. A failed compile never ends a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mycelia.degradations import Instead, degrade
from mycelia.errors import CompileError, MyceliaError
from mycelia.ir import Function, interpret, sized, sizes_of
from mycelia.loops.status import Stopped
from mycelia.types import Array


class Handle(np.ndarray[Any, Any]):
    """A sequence or a frame that machine code gave back: its address, and the heap that it lies in."""

    owner: Any = None  # a Lease of `runtime.executable`


class Foreign(MyceliaError):
    """The interpreter was given a sequence that machine code has made, and cannot read it. Nothing was computed."""


class Reference:
    """A function of arrays, interpreted."""

    def __init__(self, fn: Function, donated: Mapping[int, int], failure: CompileError, asks: int = 0) -> None:
        self.fn, self.donated, self.asks = fn, dict(donated), asks
        degrade(Instead.INTERPRETED, f"it runs without machine code, which is slow: {failure}", warn=True)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The results; donated parameters are overwritten, as machine code would do."""
        results = interpreted(self.fn, self.asks, arrays)
        for result in self.donated:
            results[result] = np.array(results[result])
        for result, param in self.donated.items():
            arrays[param][...] = results[result]
            results[result] = arrays[param]
        return tuple(results)


def interpreted(fn: Function, asks: int, arrays: Sequence[Array]) -> list[Array]:
    """The results behind the first ones, which are questions: a program stops if one of these is true, before anything
    happens in it.
    """
    if any(isinstance(x, Handle) for x in arrays):
        raise Foreign("what a loop has left behind lies in memory as machine code put it there")
    whole = sized(fn, sizes_of(fn, arrays))
    if asks and any(interpret(Function(whole.params, whole.results[:asks]), *arrays)):
        raise Stopped("a program was asked whether it can go on, and cannot")
    return list(interpret(whole.with_results(whole.results[asks:]), *arrays))
