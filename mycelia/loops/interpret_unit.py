"""What a unit means: its steps one after the other, on bytes. The third judge, after those of graphs and of kernels.

Every buffer lies where the plan puts it, in one arena of bytes for each block that is entered. The arena is full of
what is no number before anything is written. So a buffer at a wrong place, or one that is overwritten while it is
needed, shows in the results. Kernels run by `loops/interpret.py`, library calls by `loops/meaning.py`; what loops and
calls leave behind lies in a list, and a handle is a place in it.

A kernel of symbolic sizes is read from its text with numbers in the place of names, when it runs: sizes that come out
of data are known then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatchmethod
from typing import Any

import numpy as np

from mycelia.loops.expr import Buffer
from mycelia.loops.interpret import run
from mycelia.loops.kernel import Kernel
from mycelia.loops.meaning import called
from mycelia.loops.parser import ProgramReader
from mycelia.loops.printer import show
from mycelia.loops.program import (
    Birth,
    Block,
    Branch,
    Copy,
    Enter,
    Host,
    Invoke,
    Launch,
    Plan,
    Repeat,
    Runtime,
    Stop,
    Stream,
)
from mycelia.loops.status import Stopped
from mycelia.loops.unit import Unit
from mycelia.sizes import Dim, Name, evaluated, solver, value
from mycelia.types import Array, FrameType, SequenceType, TensorType, Type, frame_fields

NOTHING = 0xFF  # what bytes are that nobody has written: as numbers they are none


def interpret_unit(unit: Unit, *inputs: Array) -> tuple[Array, ...]:
    """The results at these arrays, which stay as they are."""
    return _Machine(unit, inputs).run()


class _Machine:
    """The table of a unit, its heap, and the sizes that are known."""

    def __init__(self, unit: Unit, inputs: Sequence[Array]) -> None:
        self.unit, binding = unit, unit.binding
        shapes = [t.shape for t in binding.inputs]
        names = binding.names
        self.sizes: dict[Name, int] = dict(zip(names, solver(shapes, names)(*[x.shape for x in inputs]), strict=True))
        for name in binding.births:
            assert name.most is not None, f"{name} does not come out of data"
            self.sizes[name] = value(name.most, self.sizes)
        self.heap: list[list[bytes]] = [[]]  # sequences and frames; nobody has handle 0
        self.table: dict[int, Array] = {}
        for n, slot in enumerate(binding.table):
            if slot.kind == "input":
                self.table[n] = _bytes(np.array(inputs[slot.number], binding.inputs[slot.number].dtype.numpy))
            elif slot.kind == "output":
                self.table[n] = self.room(binding.outputs[slot.number].nbytes)
            elif slot.kind == "constant":
                self.table[n] = _bytes(np.array(binding.constants[slot.number]))
        self.rooms = {r.step: r.room for r in binding.recipes}

    def number(self, n: Dim) -> int:
        """A size as it is now."""
        return value(n, self.sizes)

    def room(self, nbytes: Dim) -> Array:
        return np.full(self.number(nbytes), NOTHING, np.uint8)

    def place(self, plan: Plan) -> None:
        """Find the places that depend on sizes: library calls need nothing here."""
        if plan.stack is not None:
            known = [0 if isinstance(i.who, int) else self.number(i.nbytes) for i in plan.stack.items]
            offsets = plan.stack.offsets(known)
            self.sizes.update(zip((*plan.stack.names, plan.stack.arena), offsets, strict=True))

    def run(self) -> tuple[Array, ...]:
        program, binding = self.unit.program, self.unit.binding
        frame = _Frame(self, self.unit.plan, {})
        frame.block(program.block)
        results = []
        for i, (buffer, t) in enumerate(zip(program.outputs, binding.outputs, strict=True)):
            sized: TensorType = evaluated(t, self.sizes)
            flat = frame.at(buffer)[: sized.nbytes].view(sized.dtype.numpy)
            results.append(flat.reshape(sized.shape).copy())
            assert i not in binding.handles, "a unit that gives handles has no results outside"
        return tuple(results)

    # -------------------------------------------------------------------------------------------- the heap

    def made(self, items: list[bytes]) -> int:
        self.heap.append(items)
        return len(self.heap) - 1

    def added(self, t: Type, x: int, y: int) -> int:
        """The sum of two sequences or frames of cotangents; null is zero."""
        if not x or not y:
            return x or y
        kinds = frame_fields(t) if isinstance(t, FrameType) else [_element(t)] * len(self.heap[x])
        return self.made([self._added(u, a, b) for u, a, b in zip(kinds, self.heap[x], self.heap[y], strict=True)])

    def _added(self, t: Type, x: bytes, y: bytes) -> bytes:
        if not isinstance(t, TensorType):
            return _word(self.added(t, _handle(x), _handle(y)))
        a, b = (np.frombuffer(z, t.dtype.numpy) for z in (x, y))
        return bytes((a + b).astype(t.dtype.numpy).tobytes())

    def split(self, t: Type, together: Type, x: int, i: int) -> int:
        """What example `i` has, in a sequence of several."""
        if not x:
            return 0
        one, wide = _element(t), _element(together)
        if isinstance(one, TensorType):
            n = self.number(one.nbytes)
            return self.made([item[i * n : (i + 1) * n] for item in self.heap[x]])
        return self.made([_word(self.split(one, wide, _handle(item), i)) for item in self.heap[x]])

    def join(self, t: Type, together: Type, xs: Sequence[int]) -> int:
        """The sequences of all examples as one."""
        known = next((x for x in xs if x), 0)
        if not known:
            return 0
        one, wide = _element(t), _element(together)
        items = []
        for k in range(len(self.heap[known])):
            if isinstance(one, TensorType):
                n = self.number(one.nbytes)
                items.append(b"".join(self.heap[x][k] if x else bytes(n) for x in xs))
            else:
                items.append(_word(self.join(one, wide, [_handle(self.heap[x][k]) if x else 0 for x in xs])))
        return self.made(items)


class _Frame:
    """One block with memory of its own."""

    def __init__(self, machine: _Machine, plan: Plan, passed: Mapping[str, Array]) -> None:
        self.machine, self.plan, self.passed = machine, plan, passed
        machine.place(plan)
        self.arena = machine.room(plan.arena)
        self.places = {b.name: place for b, place in plan.places.items()}

    def at(self, buffer: Buffer) -> Array:
        """The bytes from where a buffer begins."""
        if buffer.name in self.passed:
            return self.passed[buffer.name]
        place = self.places[buffer.name]
        return self.machine.table[place.slot] if place.slot is not None else self.arena[self.number(place.offset) :]

    def number(self, n: Dim) -> int:
        return self.machine.number(n)

    def flat(self, buffer: Buffer, offset: int = 0) -> Array:
        """The elements of a buffer, in the order of memory, from one on."""
        itemsize = buffer.type.dtype.itemsize
        last = sum(
            (self.number(n) - 1) * self.number(s) for n, s in zip(buffer.type.shape, buffer.strides, strict=True)
        )
        empty = any(self.number(n) == 0 for n in buffer.type.shape)
        whole = self.at(buffer)[: 0 if empty else (last + 1) * itemsize]
        assert empty or whole.nbytes == (last + 1) * itemsize, f"{buffer} does not fit into the memory that it has"
        return whole[offset * itemsize :].view(buffer.type.dtype.numpy)

    def word(self, buffer: Buffer) -> Array:
        """The eight bytes of a count or a handle."""
        return self.at(buffer)[:8].view(np.int64)

    def true(self, buffer: Buffer) -> bool:
        return bool(self.at(buffer)[0])

    def block(self, block: Block) -> None:
        for step in block.steps:
            self.step(step)

    @singledispatchmethod
    def step(self, step: object) -> None:
        raise AssertionError(f"{step} is no step")

    @step.register
    def _(self, step: Launch) -> None:
        kernel = sized_kernel(step.kernel, self.machine.sizes)
        own = {b.name: b for b in step.kernel.buffers()}
        run(kernel, {b: self.flat(own[b.name]) for b in kernel.buffers()})

    @step.register
    def _(self, step: Invoke) -> None:
        operands = [self.flat(o.buffer, self.number(o.offset)) for o in (*step.inputs, *step.outputs)]
        with np.errstate(all="ignore"):
            called(evaluated(step.call, self.machine.sizes), operands)

    @step.register
    def _(self, step: Copy) -> None:
        n = self.number(step.source.type.nbytes)
        self.at(step.target)[:n] = self.at(step.source)[:n].copy()

    @step.register
    def _(self, step: Branch) -> None:
        self.block(step.then if self.true(step.predicate) else step.otherwise)

    @step.register
    def _(self, step: Enter) -> None:
        procedure = next(r for r in self.machine.unit.program.procedures if r.name == step.procedure)
        pairs = zip((*procedure.inputs, *procedure.outputs), (*step.inputs, *step.outputs), strict=True)
        passed = {inner.name: self.at(outer) for inner, outer in pairs}
        _Frame(self.machine, self.machine.unit.procedures[procedure.name], passed).block(procedure.block)

    @step.register
    def _(self, step: Host) -> None:
        arrays = [self.flat(b).reshape([self.number(n) for n in b.type.shape]).copy() for b in step.inputs]
        given = step.call(arrays, [b.type for b in step.outputs])
        for buffer, result in zip(step.outputs, given, strict=True):
            self.flat(buffer)[:] = np.asarray(result, buffer.type.dtype.numpy).reshape(-1)

    @step.register
    def _(self, step: Birth) -> None:
        self.machine.sizes[step.name] = int(self.word(step.count)[0])

    @step.register
    def _(self, step: Stop) -> None:
        if any(map(self.true, step.flags)):
            raise Stopped("a program was asked whether it can go on, and cannot")

    # -------------------------------------------------------------------------------------------- loops

    @step.register
    def _(self, step: Repeat) -> None:
        turns = self.word(step.count)
        turns[0] = 0
        length = self._length(step)
        for s in step.writing:
            if not s.fixed:
                blank = bytes([NOTHING]) * self.number(s.item.type.nbytes)
                items = [blank] * length if step.condition is None else []
                self.word(s.handle)[0] = self.machine.made(items)
        while self._goes_on(step, int(turns[0]), length):
            where = length - 1 - int(turns[0]) if step.reverse else int(turns[0])
            for s in step.reading:
                self._read(s, where)
            self.block(step.body)
            for s in step.writing:
                self._write(s, where, append=step.condition is not None)
            turns[0] += 1

    def _goes_on(self, step: Repeat, turn: int, length: int) -> bool:
        if step.condition is None:
            return turn < length
        assert step.predicate is not None, "a condition leaves its answer somewhere"
        self.block(step.condition)
        return self.true(step.predicate)

    def _length(self, step: Repeat) -> int:
        if isinstance(step.length, Buffer):
            return int(self.word(step.length)[0])
        return self.number(step.length or 0)

    def _read(self, s: Stream, where: int) -> None:
        n = self.number(s.item.type.nbytes)
        if s.fixed:
            self.at(s.item)[:n] = self.at(s.handle)[where * n : (where + 1) * n]
            return
        handle = int(self.word(s.handle)[0])
        found = self.machine.heap[handle][where] if handle else bytes(n)  # a null sequence of cotangents is all zero
        self.at(s.item)[:n] = np.frombuffer(found, np.uint8)

    def _write(self, s: Stream, where: int, append: bool) -> None:
        n = self.number(s.item.type.nbytes)
        item = self.at(s.item)[:n].copy()
        if s.fixed:
            self.at(s.handle)[where * n : (where + 1) * n] = item
            return
        items = self.machine.heap[int(self.word(s.handle)[0])]
        if append:
            items.append(item.tobytes())
        else:
            items[where] = item.tobytes()

    # -------------------------------------------------------------------------------------------- services

    @step.register
    def _(self, step: Runtime) -> None:
        getattr(self, f"serve_{step.service}")(step)

    def _nbytes(self, t: Type) -> int:
        return self.number(t.nbytes) if isinstance(t, TensorType) else 8

    def serve_make_frame(self, step: Runtime) -> None:
        fields = [self.at(b)[: self._nbytes(t)].tobytes() for b, t in zip(step.inputs, step.types, strict=True)]
        self.word(step.outputs[0])[0] = self.machine.made(fields)

    def serve_open_frame(self, step: Runtime) -> None:
        handle = int(self.word(step.inputs[0])[0])
        for i, (buffer, t) in enumerate(zip(step.outputs, step.types, strict=True)):
            n = self._nbytes(t)
            self.at(buffer)[:n] = np.frombuffer(self.machine.heap[handle][i] if handle else bytes(n), np.uint8)

    def serve_null(self, step: Runtime) -> None:
        self.word(step.outputs[0])[0] = 0

    def serve_add(self, step: Runtime) -> None:
        x, y = (int(self.word(b)[0]) for b in step.inputs)
        self.word(step.outputs[0])[0] = self.machine.added(step.types[0], x, y)

    def serve_split(self, step: Runtime) -> None:
        one, together = step.types
        x = int(self.word(step.inputs[0])[0])
        parts = [self.machine.split(one, together, x, i) for i in range(self.number(_examples(together)))]
        self.word(step.outputs[0])[0] = self.machine.made([_word(part) for part in parts])

    def serve_join(self, step: Runtime) -> None:
        one, together = step.types
        x = int(self.word(step.inputs[0])[0])
        parts = [_handle(item) for item in self.machine.heap[x]] if x else []
        self.word(step.outputs[0])[0] = self.machine.join(one, together, parts)


# ------------------------------------------------------------------------------------------------ actual sizes


class _Sized(ProgramReader):
    """Kernels, with numbers in the place of sizes, when these are known."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.numbers: dict[Name, int] | None = None
        self._depth = 0  # sizes inside sizes stay what they are

    def size(self) -> Any:
        self._depth += 1
        found = super().size()
        self._depth -= 1
        return found if self._depth or self.numbers is None else value(found, self.numbers)


def sized_kernel(kernel: Kernel, sizes: Mapping[Name, int]) -> Kernel:
    """The kernel at actual sizes; itself if it depends on none. Its buffers have the same names."""
    text = show(kernel)
    if not text.startswith("size "):
        return kernel
    reader = _Sized(text)
    reader.size_lines()
    by_text = {name.text: n for name, n in sizes.items()}
    reader.numbers = {name: by_text[text] for text, name in reader.sizes.items() if text in by_text}
    while reader.skip("buffer"):
        reader.declared()
    return reader.kernel()


def _bytes(x: Array) -> Array:
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)


def _element(t: Type) -> Type:
    assert isinstance(t, SequenceType), f"{t} is no sequence"
    return t.element


def _examples(together: Type) -> Dim:
    while isinstance(together, SequenceType):
        together = together.element
    assert isinstance(together, TensorType), f"{together} holds no examples"
    return together.shape[0]


def _word(handle: int) -> bytes:
    return int(handle).to_bytes(8, "little")


def _handle(word: bytes) -> int:
    return int.from_bytes(word[:8], "little")
