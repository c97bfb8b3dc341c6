"""Something that runs: machine code, its table of pointers, its arena. One call from Python is one native call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mycelia.codegen.records import TIMES, WORDS
from mycelia.errors import LibraryFailed, MyceliaError, OutOfMemory
from mycelia.loops import Note, Program, Slot
from mycelia.loops.status import INTERRUPTED, NO_MEMORY, RAISED, STOPPED, TOO_DEEP, Stopped
from mycelia.runtime.arena import Arena
from mycelia.runtime.bind import Bound, arrange
from mycelia.runtime.deep import DEEPEST, on_deep_stack
from mycelia.runtime.interrupts import Poll
from mycelia.runtime.link import RELEASE, Code
from mycelia.runtime.reference import Handle
from mycelia.runtime.results import address, maker
from mycelia.runtime.seen import Seen
from mycelia.sizes import solver
from mycelia.threads.apart import apart
from mycelia.threads.openmp import restricted, with_team
from mycelia.types import Array


class Lease:
    """What a program allocated and its results still need. It is let go with the last of them."""

    def __init__(self, heap: Array, release: Callable[[int], None], code: Code) -> None:
        self._words = np.zeros_like(heap)
        self._words[:4] = heap[:4]
        self._release, self._code = release, code
        heap[:4] = 0

    def __del__(self) -> None:
        self._release(self._words.ctypes.data)


class _Calls:
    """How many native calls were made: one per step is what we promise."""

    def __init__(self) -> None:
        self.count = 0


Calls = _Calls()


KEPT = 16  # arrangements of one program: sizes that come again cost nothing


class Running:
    """A program arranged for actual sizes."""

    def __init__(self, executable: Executable, sizes: tuple[int, ...]) -> None:
        bound, binding = executable.bound, executable.binding
        self.sizes = sizes
        self.arrangement = arrange(bound, sizes)
        self.table = self.arrangement.table
        self.address = self.table.ctypes.data
        for slot, words in executable.words:
            self.table[slot] = words.ctypes.data
        shapes = executable.numbers.taken(*sizes)
        self.inputs = [(slot, dtype, shape) for (slot, dtype), shape in zip(executable.takes, shapes, strict=True)]
        self.arena = 0
        if sizes:
            Arena.expect_more_than(self.arrangement.arena)
        about = zip(bound.outputs, binding.outputs, self.arrangement.shapes, binding.donated, strict=True)
        self.fresh = [
            (i, s, maker(t.with_shape(shape))) for i, (s, t, shape, donor) in enumerate(about) if donor is None
        ]


class Executable:
    """A compiled function of arrays."""

    def __init__(self, code: Code, bound: Bound) -> None:
        self.code, self.bound, self.binding, self.numbers = code, bound, bound.binding, bound.numbers
        self._busy = False
        self._inner: Executable | None = None
        binding = self.binding
        run = restricted(code.function("run", ctypes.c_int32, ctypes.c_void_p), binding.threads)
        if binding.threads > 1 and binding.together is not False:
            run = apart(run)
        self._run = on_deep_stack(run) if binding.procedures else with_team(run)
        self._polls = binding.loops
        self.heap = np.zeros(WORDS, np.int64)
        if binding.procedures:
            self.heap[6] = DEEPEST
        self.clock = np.zeros(TIMES * binding.steps, np.int64)  # when it was asked for, see `codegen.records`
        self.words = [(binding.slot("heap"), self.heap)]
        if Slot("clock") in binding.table:
            self.words.append((binding.slot("clock"), self.clock))
        self._donated = [(i, donor) for i, donor in enumerate(binding.donated) if donor is not None]
        self.owned = {donor for _, donor in self._donated}
        self.takes = [(slot, t.dtype.numpy) for slot, t in zip(bound.inputs, binding.inputs, strict=True)]
        # those that are updated come first, so that the others can be compared with them
        self._order = sorted(range(len(self.takes)), key=lambda i: i not in self.owned)
        self._arena_slot, self._numbers_slot = binding.slot("arena"), binding.slot("numbers")
        self._handles = binding.handles
        if self._handles:
            self._release = code.function(RELEASE, None, ctypes.c_void_p)
        self._solve = solver([t.shape for t in binding.inputs], binding.names)
        self._written: dict[int, int] = {}  # addresses of arrays that are updated
        self._seen = Seen(len(self.takes))  # whose addresses are in the table of the last sizes
        self._slots = np.array(bound.inputs, np.intp)
        self._sized = [i for i, t in enumerate(binding.inputs) if not t.static]
        self._running: dict[tuple[int, ...], Running] = {}
        self._last: Running | None = None
        self._only: Running | None = None  # where there is one for all calls
        self._results: tuple[Any, ...] = (None,) * len(binding.outputs)
        self.program: Program | None = None  # what the code does, of a program with a clock

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a user should know of how the program computes."""
        return self.binding.notes

    @property
    def memory(self) -> int:
        """How many bytes the last call computed in."""
        return self._last.arrangement.arena if self._last is not None else 0

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The results. Arrays are taken as they are when they are dense and of the right type, else copied. Programs
        take turns; another thread waits. Only Python that a program calls can call a program that runs: that call has a
        table of its own.
        """
        assert len(arrays) == len(self.takes), f"{len(arrays)} arrays where {len(self.takes)} were compiled"
        turn = Arena.turn
        if turn.mine():
            return self._in_turn(arrays)
        with turn:
            return self._in_turn(arrays)

    def _in_turn(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        if self._busy:
            self._inner = self._inner or Executable(self.code, self.bound.again())
            return self._inner(*arrays)
        self._busy = True
        try:
            return self._call(self._only or self._at(arrays), arrays)
        finally:
            self._busy = False

    def _at(self, arrays: tuple[Array, ...]) -> Running:
        """The program at the sizes of these arrays, made now if they are new."""
        sizes = self._solve(*[x.shape for x in arrays]) if self.binding.names else ()
        running = self._running.get(sizes)
        if running is None:
            running = self._running[sizes] = Running(self, sizes)
            while len(self._running) > KEPT:
                del self._running[next(iter(self._running))]
        elif len(self._running) > 1:  # the one that was used last goes last
            self._running[sizes] = self._running.pop(sizes)
        if running is not self._last:
            if self._last is not None:  # most arguments are the same
                running.table[self._slots] = self._last.table[self._slots]
                assert all(arrays[i].shape == running.inputs[i][2] for i in self._sized), "a size has two values"
            self._last = running
            self.heap[8] = running.table[self._numbers_slot]
        if not self.binding.names:
            self._only = running
        return running

    def _call(self, running: Running, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        table, held = running.table, arrays
        if changed := self._seen.changed(arrays):
            try:
                held = self._told(running, arrays, changed)
            except BaseException:  # Ctrl-C, say: the table may hold addresses of arrays that were not kept
                self._seen = Seen(len(self.takes))
                raise
        results = list(self._results)
        for i, slot, make in running.fresh:
            results[i] = out = make()
            table[slot] = address(out)
        Calls.count += 1
        depth = Arena.depth
        try:
            start = Arena.take(running.arrangement.arena)
            if start != running.arena:
                running.arena = start
                table[self._arena_slot] = start
            status = self._polled(running.address) if self._polls else self._run(running.address)
        finally:
            Arena.depth = depth
        if status:
            self._complain(status)
        if self.numbers.varying:
            self._cut(running, results)
        for i, donor in self._donated:
            results[i] = held[donor]
        if self._handles:
            owner = Lease(self.heap, self._release, self.code)
            for i in self._handles:
                results[i] = results[i].view(Handle)
                results[i].owner = owner
        return tuple(results)

    def _told(self, running: Running, arrays: tuple[Array, ...], changed: Sequence[int]) -> tuple[Array, ...]:
        """The arrays as the program takes them, when it knows the addresses of those that have changed."""
        held = list(arrays)
        copied: list[int] = []
        if self.owned and not self.owned.isdisjoint(changed):
            changed = self._order  # any of the others may be what is updated now
        for i in changed:
            slot, dtype, shape = running.inputs[i]
            x = arrays[i]
            if x.dtype != dtype or not x.flags.c_contiguous or x.shape != shape:
                assert x.shape == shape, f"an array of shape {x.shape} where {shape} was compiled"
                held[i] = x = np.ascontiguousarray(x, dtype).reshape(shape)
                copied.append(i)
            place = address(x)
            if i in self.owned:
                self._written[i] = place
            elif place in self._written.values():
                held[i] = x = x.copy()  # it must not change while it is read
                place = address(x)
                copied.append(i)
            running.table[slot] = place
        if copied:
            changed = [i for i in changed if i not in copied]
        self._seen.keep(arrays, changed)
        return tuple(held)

    def _polled(self, address: int) -> int:
        """Run a program with loops, which look at signals."""
        before = Poll.running
        try:
            Poll.running = before + 1
            if Poll.thread is None:
                Poll.start()
            return self._run(address)
        except BaseException as error:  # of a handler: it came while this thread waited for the one with the deep stack
            Poll.told = error
            raise
        finally:
            Poll.running = before

    def _cut(self, running: Running, results: list[Any]) -> None:
        """Results whose sizes came out of data, as large as they turned out to be."""
        counts = running.arrangement.numbers[self.numbers.births].tolist()
        shapes = self.numbers.shapes(*running.sizes, *counts)
        for i in self.numbers.varying:
            results[i] = results[i].reshape(-1)[: prod(shapes[i])].reshape(shapes[i]).copy()

    def _complain(self, status: int) -> None:
        if status & STOPPED:
            raise Stopped("a program was asked whether it can go on, and cannot")
        if status & RAISED:
            raise self.bound.raised.pop()
        if status & INTERRUPTED:
            raise Poll.tell()
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
        if any(donor is not None for donor in self.binding.donated):
            raise LibraryFailed(
                f"a library call failed with status {status}, and parameters that the program updates may be wrong now",
                hint="load them again; please report this",
            )
        raise LibraryFailed(f"a library call failed with status {status}", hint="please report this")
