"""Something that runs: machine code, its table of pointers, its arena. One call from Python is one native call."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.codegen.driver import TOO_DEEP
from mycelia.codegen.heap import WORDS
from mycelia.errors import MyceliaError
from mycelia.runtime.assemble import Assembled
from mycelia.runtime.deep import DEEPEST, on_deep_stack
from mycelia.runtime.link import RELEASE, Code
from mycelia.runtime.memory import ALIGN, address, maker
from mycelia.runtime.threads import restricted
from mycelia.types import Array

STACK = 1 << 32  # bytes for the tensors of recursive calls


class Handle(np.ndarray[Any, Any]):
    """A sequence or a frame that a program gave back: its address, and the heap that it lies in."""

    owner: Kept | None = None


class Kept:
    """What a program allocated and its results still need. It is let go with the last of them."""

    def __init__(self, heap: Array, release: Callable[[int], None], code: Code) -> None:
        self._words = heap.copy()
        self._release, self._code = release, code
        heap[:4] = 0

    def __del__(self) -> None:
        self._release(self._words.ctypes.data)


class Calls:
    """How many native calls were made: one per step is what we promise."""

    count = 0


class Executable:
    """A compiled function of arrays."""

    def __init__(self, code: Code, assembled: Assembled, threads: int) -> None:
        self.code, self.assembled = code, assembled
        unit = assembled.unit
        self._run = restricted(code.function("run", ctypes.c_int32, ctypes.c_void_p), threads)
        self._arena = np.empty(unit.plan.arena + ALIGN, np.uint8)
        self._heap = np.zeros(WORDS, np.int64)
        if unit.program.routines:
            self._stack = np.empty(STACK, np.uint8)  # pages that are never reached are never there
            self._heap[4:7] = self._stack.ctypes.data, self._stack.ctypes.data + STACK, DEEPEST
            self._run = on_deep_stack(self._run)
        table = np.array(assembled.table, np.uint64)
        table[unit.slots.arena] = -(-self._arena.ctypes.data // ALIGN) * ALIGN
        table[unit.slots.heap] = self._heap.ctypes.data
        self.clock = np.zeros(len(unit.program.block.steps) + 1, np.int64)  # in cycles, when it was asked for
        if unit.clock is not None:
            table[unit.clock] = self.clock.ctypes.data
        self._table, self._address = table, table.ctypes.data
        program = unit.program
        self._owned = {d for d in assembled.donated if d is not None}
        self._inputs = [  # those that are updated come first, so that the others can be compared with them
            (i, s, b.type.dtype.numpy, b.type.shape)
            for i, (s, b) in enumerate(zip(assembled.inputs, program.inputs, strict=True))
        ]
        self._inputs.sort(key=lambda about: about[0] not in self._owned)
        self._owned_slots = np.array([assembled.inputs[i] for i in sorted(self._owned)], np.intp)
        self._known: list[Callable[[], Array | None]] = [lambda: None] * len(self._inputs)
        self._lock = threading.Lock()
        self._release = code.function(RELEASE, None, ctypes.c_void_p)
        self._handles = [i for i, b in enumerate(program.outputs) if b in program.handles]
        self._fresh = [
            (i, s, maker(b.type))
            for i, (s, b, d) in enumerate(zip(assembled.outputs, program.outputs, assembled.donated, strict=True))
            if d is None
        ]

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The results. Arrays are taken as they are when they are dense and of the right type, else copied. The table
        and the arena serve one call at a time; another thread waits.
        """
        with self._lock:
            return self._call(arrays)

    def _call(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        table = self._table
        assert len(arrays) == len(self._inputs), f"{len(arrays)} arrays where {len(self._inputs)} were compiled"
        held = list(arrays)
        known = self._known
        for i, slot, dtype, shape in self._inputs:
            x = arrays[i]
            if known[i]() is x:
                continue
            if x.dtype != dtype or not x.flags.c_contiguous or x.shape != shape:
                assert x.shape == shape, f"an array of shape {x.shape} where {shape} was compiled"
                x = np.ascontiguousarray(x, dtype).reshape(shape)
            pointer = address(x)
            if i in self._owned:  # a parameter that is updated in place comes again
                known[i] = weakref.ref(x)
            elif self._owned and pointer in table[self._owned_slots]:
                x = x.copy()  # it must not change while it is read
                pointer = address(x)
            held[i] = x
            table[slot] = pointer
        results: list[Any] = [None] * len(self.assembled.outputs)
        for i, slot, make in self._fresh:
            results[i] = out = make()
            table[slot] = address(out)
        Calls.count += 1
        status = self._run(self._address)
        if status:
            self._complain(status)
        for i, donor in enumerate(self.assembled.donated):
            if donor is not None:
                results[i] = held[donor]
        if self._handles:
            owner = Kept(self._heap, self._release, self.code)
            for i in self._handles:
                results[i] = results[i].view(Handle)
                results[i].owner = owner
        return tuple(results)

    def _complain(self, status: int) -> None:
        if status & TOO_DEEP:
            raise MyceliaError(
                f"a recursive function went too deep: more than {DEEPEST} calls inside one another, or no memory left",
                hint="check that it ends, or write it as a loop",
            )
        raise MyceliaError(f"a library call failed with status {status}")
