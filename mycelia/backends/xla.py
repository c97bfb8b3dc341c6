"""XLA, through jaxlib: StableHLO in, a program for the processor out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from mycelia.backends.backend import register
from mycelia.backends.hlo import ReadsHlo, Run
from mycelia.errors import CompileError
from mycelia.stablehlo import Module
from mycelia.types import Array

# every op rounds to its own type
SETTINGS = [("xla_allow_excess_precision", False)]


class Xla(ReadsHlo):
    """Programs that jaxlib compiles and runs on the processor."""

    name: ClassVar[str] = "stablehlo"

    def missing(self) -> str:
        found = find_spec("jax") and find_spec("jaxlib")
        return "" if found else "it needs jaxlib: pip install 'mycelia[stablehlo]'"

    @cached_property
    def jax(self) -> Any:
        return import_module("jax")

    @cached_property
    def device(self) -> Any:
        return self.jax.devices("cpu")[0]

    def load(self, program: Module) -> Run:
        settings = import_module("jaxlib.xla_client").CompileOptions()
        settings.env_option_overrides = SETTINGS
        try:
            compiled = self.device.client.compile_and_load(program.text, [self.device], settings)
        except RuntimeError as refused:
            raise CompileError(f"XLA refuses a program: {refused}", hint="please report this") from refused

        def run(held: Sequence[Any]) -> list[Any]:
            results = compiled.execute_sharded(list(held)).disassemble_into_single_device_arrays()
            return [one for (one,) in results]

        return run

    def put(self, array: Array) -> Any:
        with self.jax.enable_x64(True):
            return self.jax.device_put(np.array(array), self.device)  # a copy: the array may change

    def get(self, held: Any) -> Array:
        return np.asarray(held)

    def dlpack(self, held: Any) -> Any:
        return held


register(Xla())
