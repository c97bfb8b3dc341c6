"""The processor at hand, by machine code of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mycelia.backends.backend import NATIVE, Backend, Executable
from mycelia.ir import Function
from mycelia.options import Options
from mycelia.passes import NATIVE as NATIVE_PASSES
from mycelia.passes import Pass
from mycelia.types import Array


class NativeBackend(Backend):
    """Machine code for the processor; arrays are NumPy's."""

    name: ClassVar[str] = NATIVE
    passes: ClassVar[tuple[Pass, ...]] = NATIVE_PASSES
    donates: ClassVar[bool] = True
    asks: ClassVar[bool] = True

    def compile(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        # loaded when something is compiled: it is a third of all there is to load
        from mycelia.runtime.warm import compile

        return compile(fn, donated, options)  # its passes are chosen together with what the library can do

    def show(self, stage: str, fn: Function, donated: Mapping[int, int], options: Options) -> str:
        from mycelia.runtime.stages import text_of

        return text_of(stage, fn, donated, options)

    def build(self, fn: Function, donated: Mapping[int, int], options: Options) -> Executable:
        return self.compile(fn, donated, options)

    def hold(self, array: Array) -> Array:
        return array

    def numpy(self, held: Array) -> Array:
        return held
