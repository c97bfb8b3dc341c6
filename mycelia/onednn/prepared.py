"""A primitive ready to run: created once, then executed from machine code with raw pointers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from mycelia.onednn.constants import Arg, Query, post_op_arg
from mycelia.onednn.layout import Layout, Packed
from mycelia.onednn.library import ExecArg, OneDnnError, Owned, Refused, library
from mycelia.onednn.post_ops import PostOp
from mycelia.threads.openmp import with_team

OPERAND, SCRATCHPAD = int(Query.operand), int(Arg.scratchpad)
ALIGNMENT = 64  # of the scratchpad that `run` makes; a cache line


class Port:
    """One operand of an execution: set its memory's data handle, then execute."""

    __slots__ = ("arg", "layout", "memory", "name", "owner")

    def __init__(self, name: str, arg: int, layout: Layout | Packed) -> None:
        self.name, self.arg, self.layout = name, arg, layout
        lib = library()
        self.memory = lib.create("dnnl_memory_create", layout.address, lib.engine, None)
        self.owner = Owned(self.memory, "dnnl_memory_destroy")

    @property
    def bytes(self) -> int:
        """How much memory the operand spans."""
        return self.layout.bytes


class Primitive:
    """What oneDNN made of a descriptor: code, and what it wants. `implementation` is the name of the code that it
    picked, such as `brg:avx512_core` or `ref:any`. One that is shared outlives whoever uses it.
    """

    def __init__(self, descriptor: Owned, shared: bool = False) -> None:
        self.descriptor, self.shared = descriptor, shared
        self.owner = Owned(library().create("dnnl_primitive_create", descriptor.address), "dnnl_primitive_destroy")
        self.address = self.owner.address
        self.scratch = self.layout(SCRATCHPAD).bytes
        name = ctypes.c_char_p()
        library().call("dnnl_primitive_desc_query", descriptor.address, Query.implementation, 0, ctypes.byref(name))
        self.implementation = (name.value or b"").decode()

    def layout(self, arg: int) -> Packed:
        """Where an operand lies."""
        asked = library().functions["dnnl_primitive_desc_query_md"]
        return Packed(asked(self.descriptor.address, OPERAND, arg), self.descriptor)

    def close(self) -> None:
        """Give it back."""
        self.owner.close()
        self.descriptor.close()


class Prepared:
    """A created primitive and everything that machine code needs to execute it.

    For each port `dnnl_memory_set_data_handle(port.memory, pointer)`, then
    `dnnl_primitive_execute(primitive, stream, len(ports), args)`. The ports are in order of declaration; a
    scratchpad, if one is needed, is the last. Two executions of one `Prepared` must not overlap:
    they share the memory objects.
    """

    def __init__(self, made: Primitive, operands: Iterable[tuple[str, int, Layout | None]]) -> None:
        """Operands are laid out as said; the primitive is asked where nothing is, or where oneDNN was to choose."""
        self.made, self.primitive, self.stream = made, made.address, library().stream
        ports = [
            Port(name, arg, made.layout(arg) if layout is None or layout.strides is None else layout)
            for name, arg, layout in operands
        ]
        self.scratch = made.scratch
        if self.scratch:
            ports.append(Port("scratchpad", SCRATCHPAD, made.layout(SCRATCHPAD)))
        self.ports = tuple(ports)
        self._args = (ExecArg * len(ports))(*[ExecArg(port.arg, port.memory) for port in ports])
        self.args = ctypes.addressof(self._args)

    @property
    def implementation(self) -> str:
        """The name of the code that runs."""
        return self.made.implementation

    @property
    def reference(self) -> bool:
        """Whether oneDNN found only its plain loops, hundreds of times slower than its real code."""
        return self.implementation.startswith("ref")

    def port(self, name: str) -> Port:
        """The operand called `name`."""
        return next(port for port in self.ports if port.name == name)

    def bytes(self, name: str) -> int:
        """The size of the operand `name`; 0 when there is no such operand."""
        return sum(port.bytes for port in self.ports if port.name == name)

    def run(self, *operands: np.ndarray[Any, Any] | int) -> None:
        """Execute on arrays or addresses, one for each port in order; a scratchpad left out is made here."""
        pointers = [operand if isinstance(operand, int) else operand.ctypes.data for operand in operands]
        room = np.empty(0, np.uint8)
        if len(pointers) == len(self.ports) - 1 and self.ports[-1].name == "scratchpad":
            room = np.empty(self.scratch + ALIGNMENT, np.uint8)
            pointers.append(-(-room.ctypes.data // ALIGNMENT) * ALIGNMENT)
        if len(pointers) != len(self.ports):
            raise OneDnnError(
                f"{len(operands)} operands for {len(self.ports)} ports", given={"ports": [s.name for s in self.ports]}
            )
        lib = library()
        for port, pointer in zip(self.ports, pointers, strict=True):
            lib.call("dnnl_memory_set_data_handle", port.memory, pointer)
        count = len(self.ports)
        with_team(lambda n: lib.call("dnnl_primitive_execute", self.primitive, self.stream, n, self._args))(count)

    def close(self) -> None:
        """Give the primitive and its memory objects back; also happens when this object is collected."""
        for port in self.ports:
            port.owner.close()
        if not self.made.shared:
            self.made.close()

    def settle(self) -> None:
        """Give back what only questions about layouts need, half of the memory: it goes on to run."""
        self.made.descriptor.close()

    def __repr__(self) -> str:
        return f"Prepared({self.implementation}, {', '.join(port.name for port in self.ports)})"


def prepare(descriptor: Owned, operands: Iterable[tuple[str, int]]) -> Prepared:
    """The primitive of a descriptor, whose operands are laid out as it says."""
    return Prepared(Primitive(descriptor), [(name, arg, None) for name, arg in operands])


def describe_primitive(create: str, *arguments: Any, asked: dict[str, object]) -> Owned:
    """A primitive descriptor; a refusal tells what was asked for."""
    try:
        return Owned(library().create(create, *arguments), "dnnl_primitive_desc_destroy")
    except Refused as refusal:
        raise Refused(f"oneDNN refuses this {_noun(create)}: {refusal}", given=asked) from refusal


def _noun(create: str) -> str:
    return create.removeprefix("dnnl_").removesuffix("_primitive_desc_create").replace("_", " ")


def post_op_operands(post_ops: tuple[PostOp, ...]) -> list[tuple[str, int]]:
    """The extra ports that the chain reads: `operand0` for the first step, and so on."""
    return [(f"operand{i}", post_op_arg(i)) for i, step in enumerate(post_ops) if step.operand is not None]
