"""What runs when a program could not be compiled: its meaning, in NumPy. A failed compile never ends a training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mycelia.degradations import Instead, degrade
from mycelia.errors import CompileError
from mycelia.ir import Function, interpret, sized, sizes_of
from mycelia.types import Array


class Reference:
    """A function of arrays, interpreted."""

    def __init__(self, fn: Function, donated: Mapping[int, int], failure: CompileError) -> None:
        self.fn, self.donated = fn, dict(donated)
        degrade(Instead.INTERPRETED, f"it runs without machine code, which is slow: {failure}", warn=True)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The results; donated parameters are overwritten, as machine code would do."""
        results = list(interpret(sized(self.fn, sizes_of(self.fn, arrays)), *arrays))
        for result in self.donated:
            results[result] = np.array(results[result])
        for result, param in self.donated.items():
            arrays[param][...] = results[result]
            results[result] = arrays[param]
        return tuple(results)
