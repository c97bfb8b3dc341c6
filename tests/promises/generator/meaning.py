"""A back end that writes no machine code: the graph as it was captured, computed by NumPy.

What generated programs try is the capture. This back end lets seven of eight do that three times faster; the eighth is
compiled, as every program of a user is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

import numpy as np

from mycelia.api import devices
from mycelia.backends import Executable
from mycelia.backends.native import NativeBackend
from mycelia.ir import Function, sized, sizes_of
from mycelia.options import Options
from mycelia.runtime.reference import interpreted
from mycelia.types import Array, TensorType


class Meaning(NativeBackend):
    """Programs are interpreted, and overwrite what is donated to them."""

    name: ClassVar[str] = "meaning"

    def compile(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        def run(*arrays: Array) -> tuple[Array, ...]:
            whole = sized(fn, sizes_of(fn, arrays))
            for x, t in zip(arrays, whole.types, strict=True):
                assert not isinstance(t, TensorType) or (x.dtype, x.shape) == (t.dtype.numpy, t.shape), f"{x} for {t}"
            # of what is no question; what a way back keeps may be none
            kinds = [isinstance(t, TensorType) for t in whole.result_types[options.asks :]]
            found = interpreted(whole, options.asks, arrays)
            results = [np.array(r) if k else r for r, k in zip(found, kinds, strict=True)]
            for result, param in donated.items():
                arrays[param][...] = results[result]
                results[result] = arrays[param]
            return tuple(results)

        return run


@contextmanager
def interpreting() -> Iterator[None]:
    """Programs that are captured inside the block are interpreted."""
    before = devices.current()
    devices.use(Meaning())
    try:
        yield
    finally:
        devices.use(before)
