"""A back end that writes no machine code: the graph as it was captured, computed by NumPy.

What generated programs try is the capture. This back end lets seven of eight do that three times faster; the eighth is
compiled, as every program of a user is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from mycelia.backends import Executable
from mycelia.backends.native import NativeBackend
from mycelia.ir import Function, sized, sizes_of
from mycelia.options import Options
from mycelia.runtime.reference import interpreted
from mycelia.types import Array


class Meaning(NativeBackend):
    """Programs are interpreted, and overwrite what is donated to them."""

    name: ClassVar[str] = "meaning"

    def compile(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        def run(*arrays: Array) -> tuple[Array, ...]:
            whole = sized(fn, sizes_of(fn, arrays))
            given = [(x.dtype, x.shape) for x in arrays]
            assert given == [(t.dtype.numpy, t.shape) for t in whole.types], f"{given} for {whole}"
            results = [np.array(r) for r in interpreted(whole, options.asks, arrays)]
            for result, param in donated.items():
                arrays[param][...] = results[result]
                results[result] = arrays[param]
            return tuple(results)

        return run
