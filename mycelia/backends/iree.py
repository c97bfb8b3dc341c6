"""IREE: StableHLO in, a program for the processor or for a Vulkan device out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mycelia.backends.backend import register
from mycelia.backends.hlo import ReadsHlo, Run
from mycelia.errors import CompileError
from mycelia.stablehlo import Module
from mycelia.types import Array

EXACT = ("--iree-input-demote-f64-to-f32=false", "--iree-opt-const-eval=false")
HOST = ("--iree-llvmcpu-target-cpu=host",)
INSTALL = "it needs IREE: pip install 'mycelia[iree]'"


class Iree(ReadsHlo):
    """Programs that IREE compiles for a target and runs with a driver."""

    def __init__(self, name: str, target: str, driver: str, flags: Sequence[str] = ()) -> None:
        super().__init__()
        self.name = name  # type: ignore[misc]  # one class, several back ends
        self.target, self.driver, self.flags = target, driver, (*EXACT, *flags)

    def missing(self) -> str:
        if not _installed():
            return INSTALL
        return "" if self._found else f"no device answers the driver {self.driver!r}"

    def devices(self) -> tuple[str, ...]:
        return tuple(d["name"] for d in self._found) if _installed() else ()

    @cached_property
    def _found(self) -> list[dict[str, Any]]:
        try:
            return list(self.runtime.get_driver(self.driver).query_available_devices())
        except Exception:  # whatever a driver that is not there raises
            return []

    @cached_property
    def runtime(self) -> Any:
        return import_module("iree.runtime")

    @cached_property
    def config(self) -> Any:
        return self.runtime.Config(self.driver)

    def load(self, program: Module) -> Run:
        compiler = import_module("iree.compiler")
        try:
            binary = compiler.compile_str(
                program.text, target_backends=[self.target], input_type="stablehlo", extra_args=list(self.flags)
            )
        except compiler.CompilerToolError as refused:
            raise CompileError(
                f"IREE refuses a program for {self.name}: {refused}",
                hint="an element type that the device lacks? cast to float32 or int32, or run it on the CPU",
            ) from refused
        context = self.runtime.SystemContext(config=self.config)
        context.add_vm_module(self.runtime.VmModule.copy_buffer(context.instance, binary))
        main = context.modules["program"]["main"]

        def run(held: Sequence[Any]) -> Sequence[Any]:
            results = main(*held)
            return results if isinstance(results, tuple | list) else [results]

        return run

    def put(self, array: Array) -> Any:
        return self.runtime.asdevicearray(self.config.device, np.ascontiguousarray(array).reshape(array.shape))

    def get(self, held: Any) -> Array:
        try:
            array = np.array(held.to_host())
        except ValueError:  # Vulkan cannot write to memory of NumPy's that does not begin with a page
            array = self._staged(held)
        array.flags.writeable = False
        return array

    def _staged(self, held: Any) -> Array:
        """What a device holds, through memory of its own that the processor can see."""
        r, view, device = self.runtime, held._buffer_view, self.config.device
        source = view.get_buffer()
        room = device.allocator.allocate_buffer(
            memory_type=int(r.MemoryType.HOST_LOCAL | r.MemoryType.DEVICE_VISIBLE),
            allowed_usage=int(r.BufferUsage.TRANSFER_TARGET | r.BufferUsage.MAPPING_SCOPED),
            allocation_size=source.byte_length(),
        )
        arrived = device.create_semaphore(0)
        before, after = (r.HalFence.create_at(arrived, n) for n in range(2))
        device.queue_copy(source, room, wait_semaphores=before, signal_semaphores=after)
        after.wait()
        raw = room.map().asarray(view.shape, r.HalElementType.map_to_dtype(view.element_type))
        return np.array(raw, held.dtype)


def _installed() -> bool:
    """Whether compiler and runtime can be imported."""
    if find_spec("iree") is None:
        return False
    return find_spec("iree.compiler") is not None and find_spec("iree.runtime") is not None


register(Iree("iree", "llvm-cpu", "local-task", HOST))
register(Iree("iree-vulkan", "vulkan-spirv", "vulkan"))
