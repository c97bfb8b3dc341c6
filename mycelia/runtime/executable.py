"""Something that runs: machine code, its table of pointers, its arena. One call from Python is one native call."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from mycelia.codegen.heap import WORDS
from mycelia.errors import MyceliaError, OutOfMemory
from mycelia.loops import Note, Repeat
from mycelia.loops.status import INTERRUPTED, NO_MEMORY, RAISED, TOO_DEEP
from mycelia.runtime.arena import Arena
from mycelia.runtime.assemble import Assembled, Numbers, arrange
from mycelia.runtime.deep import DEEPEST, on_deep_stack
from mycelia.runtime.interrupts import Poll
from mycelia.runtime.link import RELEASE, Code
from mycelia.runtime.memory import address, maker
from mycelia.runtime.threads import restricted, with_team
from mycelia.sizes import Sym, evaluated, solver
from mycelia.types import Array


class Handle(np.ndarray[Any, Any]):
    """A sequence or a frame that a program gave back: its address, and the heap that it lies in."""

    owner: Kept | None = None


class Kept:
    """What a program allocated and its results still need. It is let go with the last of them."""

    def __init__(self, heap: Array, release: Callable[[int], None], code: Code) -> None:
        self._words = np.zeros_like(heap)
        self._words[:4] = heap[:4]
        self._release, self._code = release, code
        heap[:4] = 0

    def __del__(self) -> None:
        self._release(self._words.ctypes.data)


class Calls:
    """How many native calls were made: one per step is what we promise."""

    count = 0


KEPT = 64  # arrangements of one program: sizes that come again cost nothing


class Running:
    """A program arranged for actual sizes, with what was learned of its arguments."""

    def __init__(self, executable: Executable, sizes: tuple[int, ...]) -> None:
        assembled = executable.assembled
        self.sizes = sizes
        self.arrangement = arrange(assembled, executable.numbers, sizes)
        self.table = self.arrangement.table
        self.address = self.table.ctypes.data
        program, unit = assembled.unit.program, assembled.unit
        self.table[unit.slots.heap] = executable.heap.ctypes.data
        if unit.clock is not None:
            self.table[unit.clock] = executable.clock.ctypes.data
        at = dict(zip(assembled.names, sizes, strict=True))
        self.inputs = [  # those that are updated come first, so that the others can be compared with them
            (i, s, b.type.dtype.numpy, b.type.shape if b.type.static else evaluated(b.type.shape, at))
            for i, (s, b) in enumerate(zip(assembled.inputs, program.inputs, strict=True))
        ]
        self.inputs.sort(key=lambda about: about[0] not in executable.owned)
        self.known: list[Callable[[], Array | None]] = [lambda: None] * len(self.inputs)
        about = zip(assembled.outputs, program.outputs, self.arrangement.shapes, assembled.donated, strict=True)
        self.fresh = [
            (i, s, maker(b.type.with_shape(shape))) for i, (s, b, shape, donor) in enumerate(about) if donor is None
        ]


class Executable:
    """A compiled function of arrays."""

    def __init__(self, code: Code, assembled: Assembled, wanted: tuple[Sym, ...]) -> None:
        self.code, self.assembled, self.numbers = code, assembled, Numbers(assembled, wanted)
        self._wanted, self._busy = wanted, False
        self._inner: Executable | None = None
        unit = assembled.unit
        run = restricted(code.function("run", ctypes.c_int32, ctypes.c_void_p), assembled.threads)
        self._run = on_deep_stack(run) if unit.program.routines else with_team(run)
        self._polls = bool(unit.program.routines) or any(isinstance(s, Repeat) for s in unit.program.block.walk())
        self.heap = np.zeros(WORDS, np.int64)
        if unit.program.routines:
            self.heap[6] = DEEPEST
        self.clock = np.zeros(len(unit.program.block.steps) + 1, np.int64)  # in cycles, when it was asked for
        self.owned = {d for d in assembled.donated if d is not None}
        self._owned_slots = np.array([assembled.inputs[i] for i in sorted(self.owned)], np.intp)
        self._release = code.function(RELEASE, None, ctypes.c_void_p)
        self._handles = [i for i, b in enumerate(unit.program.outputs) if b in unit.program.handles]
        self._solve = solver([b.type.shape for b in unit.program.inputs], assembled.names)
        self._running: dict[tuple[int, ...], Running] = {}

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a user should know of how the program computes."""
        return self.assembled.unit.program.notes

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The results. Arrays are taken as they are when they are dense and of the right type, else copied. Programs
        take turns; another thread waits. Only Python that a program calls can call a program that runs: that call has a
        table of its own.
        """
        wanted = len(self.assembled.inputs)
        assert len(arrays) == wanted, f"{len(arrays)} arrays where {wanted} were compiled"
        with Arena.turn:
            if self._busy:
                self._inner = self._inner or Executable(self.code, self.assembled, self._wanted)
                return self._inner(*arrays)
            self._busy = True
            try:
                return self._call(self._at(arrays), arrays)
            finally:
                self._busy = False

    def _at(self, arrays: tuple[Array, ...]) -> Running:
        """The program at the sizes of these arrays, made now if they are new."""
        sizes = self._solve(*[x.shape for x in arrays]) if self.assembled.names else ()
        running = self._running.get(sizes)
        if running is None:
            running = self._running[sizes] = Running(self, sizes)
            while len(self._running) > KEPT:
                del self._running[next(iter(self._running))]
        elif len(self._running) > 1:  # the one that was used last goes last
            self._running[sizes] = self._running.pop(sizes)
        return running

    def _call(self, running: Running, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        table = running.table
        held = list(arrays)
        known = running.known
        for i, slot, dtype, shape in running.inputs:
            x = arrays[i]
            if known[i]() is x:
                continue
            if x.dtype != dtype or not x.flags.c_contiguous or x.shape != shape:
                assert x.shape == shape, f"an array of shape {x.shape} where {shape} was compiled"
                x = np.ascontiguousarray(x, dtype).reshape(shape)
            pointer = address(x)
            if i in self.owned:  # a parameter that is updated in place comes again
                known[i] = weakref.ref(x)
            elif self.owned and pointer in table[self._owned_slots]:
                x = x.copy()  # it must not change while it is read
                pointer = address(x)
            held[i] = x
            table[slot] = pointer
        results: list[Any] = [None] * len(self.assembled.outputs)
        for i, slot, make in running.fresh:
            results[i] = out = make()
            table[slot] = address(out)
        Calls.count += 1
        slots = self.assembled.unit.slots
        self.heap[8] = table[slots.numbers]
        depth = Arena.depth
        try:
            table[slots.arena] = Arena.take(running.arrangement.arena)
            status = self._polled(running.address) if self._polls else self._run(running.address)
        finally:
            Arena.depth = depth
        if status:
            self._complain(status)
        if self.numbers.varying:
            self._cut(running, results)
        for i, donor in enumerate(self.assembled.donated):
            if donor is not None:
                results[i] = held[donor]
        if self._handles:
            owner = Kept(self.heap, self._release, self.code)
            for i in self._handles:
                results[i] = results[i].view(Handle)
                results[i].owner = owner
        return tuple(results)

    def _polled(self, address: int) -> int:
        """Run a program with loops, which look at signals."""
        before = Poll.running
        try:
            Poll.enter()
            return self._run(address)
        finally:
            Poll.running = before

    def _cut(self, running: Running, results: list[Any]) -> None:
        """Results whose sizes came out of data, as large as they turned out to be."""
        counts = running.arrangement.numbers[self.numbers.births].tolist()
        shapes = self.numbers.shapes(*running.sizes, *counts)
        for i in self.numbers.varying:
            results[i] = results[i].reshape(-1)[: prod(shapes[i])].reshape(shapes[i]).copy()

    def _complain(self, status: int) -> None:
        if status & RAISED:
            raise self.assembled.raised.pop()
        if status & INTERRUPTED:
            raise Poll.raised.pop()
        if status & TOO_DEEP:
            raise MyceliaError(
                f"a recursive function went too deep: more than {DEEPEST} calls inside one another, or no room left",
                hint="check that it ends, or write it as a loop",
            )
        if status & NO_MEMORY:
            raise OutOfMemory(
                "a compiled program needs more memory than there is, for what turns of loops and calls leave behind",
                hint="check that the loop ends; with fewer turns, or gradients of fewer of them, it needs less",
            )
        raise MyceliaError(f"a library call failed with status {status}")
