"""Units: a program with a place for everything, as data. Nothing in it is an address or lives in a process.

A unit is a program, a plan of the memory of each of its blocks, and a `Binding`: all that a process must make before
the code of the program can run (linkers would call it a load image). Codegen reads programs and plans, and
`runtime/bind.py` reads bindings only: a binding and machine code, kept in a file, are enough to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

from mycelia.frozen import frozen
from mycelia.loops.calls import LibraryCall
from mycelia.loops.expr import Buffer
from mycelia.loops.program import Note, Plan, Program, Stack
from mycelia.sizes import Dim, Name, Sym
from mycelia.types import Array, TensorType


@frozen
class Slot:
    """What one pointer of the table points to: the input, output or constant with this number; what the library call
    or the call of Python is told that is the step with this number; or something that there is once, or never.
    """

    MANY: ClassVar[tuple[str, ...]] = ("input", "output", "constant", "call", "host")
    ONCE: ClassVar[tuple[str, ...]] = ("arena", "heap", "numbers", "poll", "clock", "set_handle", "execute")

    kind: str
    number: int = 0


@frozen
class Recipe:
    """A library call of a program: the number of its step, the place of what is called among `Binding.calls`, and the
    bytes of its own that the plan has for it; None where they follow from sizes (see `Stack`). How much a call really
    needs is known by the library, when the call is prepared: that memory is opaque.
    """

    step: int
    call: int
    room: int | None


@frozen
class Callback:
    """A call of Python: the number of its step, and the types of what it takes and gives."""

    step: int
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]


@frozen
class Binding:
    """All that a process must make to run the code of a unit."""

    table: tuple[Slot, ...]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    donated: tuple[int | None, ...]  # for each output, the input whose memory it takes over
    handles: tuple[int, ...]  # the outputs that are sequences or frames
    arena: Dim  # bytes
    stacks: tuple[Stack, ...]  # how places depend on sizes, where they do: of the main block, then of procedures
    calls: tuple[LibraryCall, ...]  # each once
    recipes: tuple[Recipe, ...]
    callbacks: tuple[Callback, ...]
    names: tuple[Name, ...]  # sizes, in the order in which inputs mention them; their scope has what is relied on
    births: tuple[Name, ...]  # sizes that come out of data
    numbers: tuple[Sym, ...]  # what the code wants to know of sizes and places, in this order
    steps: int  # also inside branches, loops and procedures
    loops: bool  # signals are looked at
    procedures: bool  # the stack must be deep
    threads: int
    together: bool | Sym = True  # whether threads share its work, or a number that is positive if they do
    refused: tuple[str, ...] = ()  # calls that the library has nothing for, which are computed in another way
    notes: tuple[Note, ...] = ()
    constants: tuple[Array, ...] = field(default=(), repr=False)

    def slot(self, kind: str, number: int = 0) -> int:
        """Where in the table this stands."""
        return self._slots[Slot(kind, number)]

    @cached_property
    def _slots(self) -> dict[Slot, int]:
        return {slot: n for n, slot in enumerate(self.table)}

    def __reduce__(self) -> Any:
        """Pickled as its text: symbolic sizes have names that mean something in one scope only."""
        from mycelia.loops.unit_text import parse_binding, show_binding  # which know bindings

        return parse_binding, (show_binding(self),)


@frozen
class Unit:
    """A program, the plan of its main block and of each procedure, and its binding. `streamed` buffers are written past
    the cache.
    """

    program: Program
    plan: Plan
    procedures: Mapping[str, Plan]
    streamed: frozenset[Buffer]
    binding: Binding

    def __reduce__(self) -> Any:
        """Pickled as its text. A unit that calls Python has none that means something elsewhere."""
        from mycelia.loops.unit_text import parse_unit, show_unit  # which know units

        return parse_unit, (show_unit(self),)

    def __str__(self) -> str:
        from mycelia.loops.unit_text import show_unit

        return show_unit(self)
