"""One function of a driver being written: where its buffers are, and the code of each kind of step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, singledispatchmethod
from typing import TYPE_CHECKING

from llvmlite import ir

from mycelia.codegen.examples import examples, join, split
from mycelia.codegen.extents import numbers_of, span
from mycelia.codegen.heap import JUMP, Heap, count, item_bytes
from mycelia.codegen.invoke import invoke
from mycelia.codegen.kernel import pointer
from mycelia.codegen.records import HEAD, PHASES, STAGE, THREADS, TIMES, Size
from mycelia.codegen.scalar import i8, i32, i64, room, seen_as
from mycelia.cost import shared_from, worth
from mycelia.loops import (
    Birth,
    Block,
    Branch,
    Buffer,
    Copy,
    Enter,
    FourierCall,
    FourierKind,
    Host,
    Invoke,
    Launch,
    Plan,
    Repeat,
    RoutineCall,
    Runtime,
    Slot,
    Step,
    Stop,
    Stream,
    TileKind,
    Tiles,
)
from mycelia.loops.status import STOPPED, TOO_DEEP
from mycelia.sizes import Dim, Sym, known_equal
from mycelia.types import TensorType

if TYPE_CHECKING:
    from mycelia.codegen.driver import Driver

VOID = ir.VoidType()
FLUSH = 0x9FC0  # MXCSR: all exceptions masked, subnormal numbers are zero in and out
GRADUAL = 0x1F80  # the same, with subnormal numbers
NATIVE_STACK = 1 << 30  # bytes of the thread's own stack in which programs with procedures run
RESERVE = 1 << 23  # of those, for kernels and libraries


def flush(b: ir.IRBuilder, module: ir.Module, wanted: bool, control: ir.Value | None = None) -> None:
    """If `wanted`, subnormal numbers are zero from here on, in this thread: they make loops ten times slower."""
    control = control or room(b, i32)
    b.store(i32(FLUSH if wanted else GRADUAL), control)
    name = "llvm.x86.sse.ldmxcsr"
    ldmxcsr = module.globals.get(name) or ir.Function(module, ir.FunctionType(VOID, [pointer]), name)
    b.call(ldmxcsr, [control])


class EmittedFunction:
    """One function being written: where its buffers are, and the steps so far."""

    def __init__(
        self, driver: Driver, function: ir.Function, table: ir.Value, plan: Plan,
        passed: ir.Value | None = None, depth: ir.Value | None = None,
    ) -> None:  # fmt: skip
        self.driver, self.function, self.table, self.plan = driver, function, table, plan
        self.passed, self.depth = passed, depth if depth is not None else i64(0)
        self.arguments: dict[Buffer, int] = {}
        self.top = ir.IRBuilder(function.append_basic_block("entry"))
        self.start = function.append_basic_block("start")
        self.b = ir.IRBuilder(self.start)
        self.base: ir.Value = pointer(None)
        self.known: dict[tuple[bool, int], ir.Value] = {}
        self.status = room(self.top, i32)
        self.top.store(i32(0), self.status)
        self.stack_before: tuple[ir.Value, ir.Value] | None = None  # the free byte, and whether a segment was added
        self.module, self.heap = driver.module, driver.heap

    # -------------------------------------------------------------------------------------------- pointers

    def slot(self, n: int, passed: bool = False) -> ir.Value:
        """A pointer of the table, loaded once."""
        key = (passed, n)
        if key not in self.known:
            table = self.passed if passed else self.table
            where = self.top.gep(table, [i64(n)], inbounds=True, source_etype=pointer)
            self.known[key] = self.top.load(where, typ=pointer)
        return self.known[key]

    def pointed(self, kind: str, number: int = 0) -> ir.Value:
        """The pointer of the table to what is said."""
        return self.slot(self.driver.slots[Slot(kind, number)])

    def number(self, n: Dim | Sym) -> ir.Value:
        """A size: a constant, or what the table of numbers says."""
        if isinstance(n, int):
            return i64(n)
        place = self.driver.number_at(n)
        where = self.b.gep(self.numbers(), [i64(place)], inbounds=True, source_etype=i64)
        return self.b.load(where, typ=i64)

    def numbers(self) -> ir.Value:
        return self.pointed("numbers")

    def at(self, buffer: Buffer, nbytes: Dim = 0) -> ir.Value:
        """The address of a buffer, or of a byte inside it."""
        if buffer in self.arguments:
            place = self.slot(self.arguments[buffer], passed=True)
        else:
            where = self.plan.places[buffer]
            if where.slot is None:
                return Heap.beyond(self.b, self.base, self.number(where.offset + nbytes))
            place = self.slot(where.slot)
        return place if known_equal(nbytes, 0) else Heap.beyond(self.b, place, self.number(nbytes))

    def heap_record(self) -> ir.Value:
        return self.pointed("heap")

    def flush_subnormals(self) -> None:
        self.before = room(self.top, i32)
        name = "llvm.x86.sse.stmxcsr"
        save = self.module.globals.get(name) or ir.Function(self.module, ir.FunctionType(VOID, [pointer]), name)
        self.b.call(save, [self.before])
        flush(self.b, self.module, self.driver.options.fast_math.flush)

    def enter(self, arena: Dim) -> None:
        """Take room from the stack of procedures, or give up when calls or the thread's own stack are at their end."""
        b, record = self.b, self.heap_record()
        free = Heap.get(b, record, 4, i64)
        end, deepest = Heap.get(b, record, 5, i64), Heap.get(b, record, 6, i64)
        following = b.add(free, self.number(arena))
        here = b.ptrtoint(self.status, i64)
        bad = b.or_(b.icmp_unsigned(">", self.depth, deepest), b.icmp_unsigned("<", here, Heap.get(b, record, 7, i64)))
        with b.if_then(bad, likely=False):
            b.ret(i32(TOO_DEEP))
        full = b.icmp_unsigned(">", following, end)
        with b.if_then(full, likely=False):
            b.call(self.heap.grow(), [record, self.number(arena)])
        free = Heap.get(b, record, 4, i64)
        Heap.set(b, record, 4, b.add(free, self.number(arena)))
        self.stack_before = free, full
        self.base = b.inttoptr(free, pointer)

    def bound_stack(self) -> None:
        """Note how far the stack of this thread may grow."""
        limit = self.b.sub(self.b.ptrtoint(self.status, i64), i64(NATIVE_STACK - RESERVE))
        Heap.set(self.b, self.heap_record(), 7, limit)

    def guard_memory(self) -> None:
        """Come back here when there is no memory left, wherever that is noticed."""
        status = self.heap.guard(self.b, self.heap_record(), room(self.top, ir.ArrayType(i64, JUMP)))
        with self.b.if_then(self.b.icmp_unsigned("!=", status, i32(0)), likely=False):
            self.release()
            self._leave(status)

    def release(self) -> None:
        if self.driver.uses_heap:
            self.b.call(self.driver.release(), [self.heap_record()])

    def finish(self) -> None:
        self._leave(self.b.load(self.status, typ=i32))
        self.top.branch(self.start)

    def _leave(self, status: ir.Value) -> None:
        if self.stack_before is not None:
            free, grown = self.stack_before
            Heap.set(self.b, self.heap_record(), 4, free)
            with self.b.if_then(grown, likely=False):
                self.b.call(self.heap.shrink(), [self.heap_record()])
        else:
            if self.driver.unit.program.procedures:
                self.b.call(self.heap.unstack(), [self.heap_record()])
            load = self.module.globals["llvm.x86.sse.ldmxcsr"]
            self.b.call(load, [self.before])
        self.b.ret(status)

    def now(self) -> ir.Value | None:
        """The time, if somebody wants to know."""
        if Slot("clock") not in self.driver.slots:
            return None
        return self.b.call(self.heap.external("llvm.readcyclecounter", i64), [])

    def took(self, number: int, begin: ir.Value | None) -> None:
        """Note of a step when it began last, how long it took in all, and how often it ran."""
        if begin is None:
            return
        clock, end = self.pointed("clock"), self.now()
        known = (begin, self.b.sub(end, begin), i64(1))
        for i, word in enumerate(known):
            place = TIMES * number + i
            Heap.set(self.b, clock, place, self.b.add(Heap.get(self.b, clock, place, i64), word) if i else word)

    # -------------------------------------------------------------------------------------------- steps

    def block(self, block: Block) -> None:
        for step in block.steps:
            self.step(step)

    def step(self, step: Step) -> None:
        number, following = next(self.driver.steps)
        assert following is step, f"{step} is written as step {number}, which is {following}"
        begin = self.now()
        self.write(step, number)
        self.took(number, begin)

    @singledispatchmethod
    def write(self, step: object, number: int) -> None:
        raise AssertionError(f"{step} is no step")

    @write.register
    def _(self, step: Launch, number: int) -> None:
        extent = span(step.kernel)
        if known_equal(extent, 0):
            return
        function, total = self.driver.kernel(step.kernel), self.number(extent)
        places = [self.at(buffer) for buffer in step.kernel.buffers()]
        if sizes := numbers_of(step.kernel):
            where = self.driver.number_at(*sizes)
            places.append(self.b.gep(self.numbers(), [i64(where)], inbounds=True, source_etype=i64))
        table = self._pointers(places)
        grain = 1 if step.kernel.rows else 64
        shared, together = worth(step.work, shared_from(self.driver.options.target)), self.driver.together
        if shared is False or together is False or self.driver.options.threads == 1:
            self.b.call(function, [table, i64(0), total])
        elif shared is True and together is True:
            self._share(function, table, total, grain)
        else:
            asked = [self.number(n) for n in (shared, together) if n is not True]
            enough = reduce(self.b.and_, [self.b.icmp_signed(">", n, i64(0)) for n in asked])
            with self.b.if_else(enough) as (then, otherwise):
                with then:
                    self._share(function, table, total, grain)
                with otherwise:
                    self.b.call(function, [table, i64(0), total])

    def _pointers(self, places: Sequence[ir.Value]) -> ir.Value:
        """An array of pointers."""
        table = room(self.top, ir.ArrayType(pointer, max(len(places), 1)))
        for i, place in enumerate(places):
            self.b.store(place, self.b.gep(table, [i64(i)], inbounds=True, source_etype=pointer))
        return table

    def _share(self, function: ir.Function, table: ir.Value, total: ir.Value, grain: int) -> None:
        work = room(self.top, ir.ArrayType(i64, 4))
        for n, value in enumerate((seen_as(function, pointer), table, total, i64(grain))):
            Heap.set(self.b, work, n, value)
        run = self.heap.external("GOMP_parallel", VOID, pointer, pointer, i32, i32)
        self.b.call(run, [seen_as(self.driver.share(), pointer), work, i32(0), i32(0)])

    @write.register
    def _(self, step: Invoke, number: int) -> None:
        operands = (*step.inputs, *step.outputs)
        places = [self.at(o.buffer, o.offset * o.buffer.type.dtype.itemsize) for o in operands]
        own = self.plan.rooms.get(number)
        places.append(pointer(None) if own is None else Heap.beyond(self.b, self.base, self.number(own)))
        if isinstance(step.call, Tiles):
            self._multiply(step.call.kind, self._pointers(places), self.pointed("call", number))
            return
        if isinstance(step.call, FourierCall):
            self._transform(step.call.kind, self._pointers(places), self.pointed("call", number))
            return
        if isinstance(step.call, RoutineCall):
            self._run_routine(step.call, self._pointers(places), self.pointed("call", number))
            return
        library = [self.pointed("set_handle"), self.pointed("execute")]
        given = [self.pointed("call", number), self._pointers(places), i64(len(operands)), *library]
        code = self.b.call(invoke(self.heap), given)
        self.b.store(self.b.or_(self.b.load(self.status, typ=i32), code), self.status)

    def _multiply(self, kind: TileKind, operands: ir.Value, sizes: ir.Value) -> None:
        """Run a function of tiles."""
        self._run_own(self.driver.own_function(kind), operands, sizes, Heap.get(self.b, sizes, Size.threads, i64))

    def _transform(self, kind: FourierKind, operands: ir.Value, words: ir.Value) -> None:
        """Run the stages of a Fourier transform, one after the other."""
        function, threads = self.driver.own_function(kind), Heap.get(self.b, words, Size.threads, i64)

        def stage(n: ir.Value) -> None:
            place = self.b.add(i64(HEAD), self.b.mul(n, i64(STAGE)))
            given = self.b.gep(words, [place], inbounds=True, source_etype=i64)
            self._run_own(function, operands, given, threads)

        count(self.b, Heap.get(self.b, words, 0, i64), stage)

    def _run_own(self, function: ir.Function, operands: ir.Value, sizes: ir.Value, threads: ir.Value) -> None:
        """Run a function of ours, on several threads where the work is worth it."""
        work = room(self.top, ir.ArrayType(i64, 4))
        run = self.heap.external("GOMP_parallel", VOID, pointer, pointer, i32, i32)
        with self.b.if_else(self.b.icmp_signed("==", threads, i64(1))) as (alone, together):
            with alone:
                self.b.call(function, [operands, sizes, i64(0), i64(1)])
            with together:
                for n, value in enumerate((seen_as(function, pointer), operands, sizes, threads)):
                    Heap.set(self.b, work, n, value)
                self.b.call(run, [seen_as(self.driver.share_own(), pointer), work, i32(0), i32(0)])

    def _run_routine(self, call: RoutineCall, operands: ir.Value, sizes: ir.Value) -> None:
        """Run all phases of a routine, each on several threads where the work is worth it."""
        function = self.driver.routine(call)
        work = room(self.top, ir.ArrayType(i64, 5))
        run = self.heap.external("GOMP_parallel", VOID, pointer, pointer, i32, i32)
        phases, threads = (Heap.get(self.b, sizes, n, i64) for n in (PHASES, THREADS))
        for n, value in enumerate((seen_as(function, pointer), operands, sizes, threads)):
            Heap.set(self.b, work, n, value)

        def phase(n: ir.Value) -> None:
            with self.b.if_else(self.b.icmp_signed("==", threads, i64(1))) as (alone, together):
                with alone:
                    self.b.call(function, [operands, sizes, n, i64(0), i64(1)])
                with together:
                    Heap.set(self.b, work, 4, n)
                    self.b.call(run, [seen_as(self.driver.share_routine(), pointer), work, i32(0), i32(0)])

        count(self.b, phases, phase)

    @write.register
    def _(self, step: Copy, number: int) -> None:
        self._copy(self.at(step.target), self.at(step.source), step.source.type.nbytes)

    def _copy(self, target: ir.Value, source: ir.Value, nbytes: Dim) -> None:
        self.heap.copy(self.b, target, source, nbytes if isinstance(nbytes, int) else self.number(nbytes))

    def _clear(self, target: ir.Value, nbytes: Dim) -> None:
        self.heap.clear(self.b, target, nbytes if isinstance(nbytes, int) else self.number(nbytes))

    @write.register
    def _(self, step: Birth, number: int) -> None:
        count = self.b.load(self.at(step.count), typ=i64)
        self.b.call(self.driver.birth(step.name), [self.numbers(), count])

    @write.register
    def _(self, step: Stop, number: int) -> None:
        flags = [self.b.load(self.at(flag), typ=i8) for flag in step.flags]
        bad = self.b.icmp_unsigned("!=", reduce(self.b.or_, flags), i8(0))
        self._leave_if(self.b.select(bad, i32(STOPPED), i32(0)))

    @write.register
    def _(self, step: Branch, number: int) -> None:
        taken = self.b.icmp_unsigned("!=", self.b.load(self.at(step.predicate), typ=i8), i8(0))
        with self.b.if_else(taken) as (then, otherwise):
            with then:
                self.block(step.then)
            with otherwise:
                self.block(step.otherwise)

    @write.register
    def _(self, step: Repeat, number: int) -> None:
        b = self.b
        turns = self.at(step.count)
        b.store(i64(0), turns)
        length = self._length(step)
        for s in step.writing:
            if not s.fixed:
                start = length if step.condition is None else i64(0)
                made = b.call(self.heap.sequence(), [self.heap_record(), start, self.number(_item(s))])
                b.store(made, self.at(s.handle))
        head, body, done = (b.append_basic_block(n) for n in ("turn", "body", "done"))
        b.branch(head)
        b.position_at_end(head)
        if step.condition is not None:
            assert step.predicate is not None
            self.block(step.condition)
            more = b.icmp_unsigned("!=", b.load(self.at(step.predicate), typ=i8), i8(0))
        else:
            more = b.icmp_signed("<", b.load(turns, typ=i64), length)
        b.cbranch(more, body, done)
        b.position_at_end(body)
        turn = b.load(turns, typ=i64)
        where = b.sub(b.sub(length, i64(1)), turn) if step.reverse else turn
        for s in step.reading:
            self._read(s, where)
        self.block(step.body)
        for s in step.writing:
            if step.condition is not None and not s.fixed:
                self._append(s)
            else:
                self._copy(self._element(s, where), self.at(s.item), s.item.type.nbytes)
        b.store(b.add(b.load(turns, typ=i64), i64(1)), turns)
        self.poll()
        b.branch(head)
        b.position_at_end(done)

    def _append(self, s: Stream) -> None:
        nbytes = _item(s)
        given = [self.heap_record(), self.b.load(self.at(s.handle), typ=pointer), self.at(s.item)]
        if isinstance(nbytes, int):
            self.b.call(self.heap.append(nbytes), given)
        else:
            self.b.call(self.heap.append(None), [*given, self.number(nbytes)])

    def _length(self, step: Repeat) -> ir.Value:
        if isinstance(step.length, Buffer):
            return self.b.load(self.at(step.length), typ=i64)
        return self.number(0 if step.length is None else step.length)

    def _element(self, s: Stream, where: ir.Value) -> ir.Value:
        if s.fixed:
            return Heap.beyond(self.b, self.at(s.handle), self.b.mul(where, self.number(s.item.type.nbytes)))
        data = Heap.get(self.b, self.b.load(self.at(s.handle), typ=pointer), 2)
        return Heap.beyond(self.b, data, self.b.mul(where, self.number(_item(s))))

    def _read(self, s: Stream, where: ir.Value) -> None:
        size = s.item.type.nbytes
        if s.fixed:
            self._copy(self.at(s.item), self._element(s, where), size)
            return
        missing = self.b.icmp_unsigned("==", self.b.load(self.at(s.handle), typ=pointer), pointer(None))
        with self.b.if_else(missing) as (then, otherwise):  # a null sequence of cotangents is all zero
            with then:
                self._clear(self.at(s.item), size)
            with otherwise:
                self._copy(self.at(s.item), self._element(s, where), size)

    @write.register
    def _(self, step: Enter, number: int) -> None:
        table = self._pointers([self.at(buffer) for buffer in (*step.inputs, *step.outputs)])
        deeper = self.b.add(self.depth, i64(1))
        self._leave_if(self.b.call(self.driver.procedures[step.procedure], [self.table, table, deeper]))

    @write.register
    def _(self, step: Host, number: int) -> None:
        buffers = (*step.inputs, *step.outputs)
        table = self._pointers([self.at(buffer) for buffer in buffers])
        extents = [self.number(n) for buffer in buffers for n in buffer.type.shape]
        sizes = room(self.top, ir.ArrayType(i64, max(len(extents), 1)))
        for i, n in enumerate(extents):
            Heap.set(self.b, sizes, i, n)
        python = seen_as(self.pointed("host", number), ir.FunctionType(i32, [pointer] * 2).as_pointer())
        self._leave_if(self._from_python(lambda: self.b.call(python, [table, sizes])))

    def poll(self) -> None:
        """If the word is set that tells of signals, let Python look at them, and give up if a handler raises."""
        words = self.pointed("poll")
        word = self.b.load_atomic(words, "monotonic", 8, typ=i64)
        with self.b.if_then(self.b.icmp_unsigned("!=", word, i64(0)), likely=False):
            Heap.set(self.b, words, 0, i64(0))
            look = seen_as(Heap.get(self.b, words, 1), ir.FunctionType(i32, []).as_pointer())
            self._leave_if(self._from_python(lambda: self.b.call(look, [])))

    def _from_python(self, call: Callable[[], ir.Value]) -> ir.Value:
        """What a call of Python gives, which computes with subnormal numbers."""
        control = room(self.top, i32)
        flush(self.b, self.module, False, control)
        code = call()
        flush(self.b, self.module, self.driver.options.fast_math.flush, control)
        return code

    def _leave_if(self, code: ir.Value) -> None:
        """Give up if a call failed: its results are not there."""
        with self.b.if_then(self.b.icmp_unsigned("!=", code, i32(0)), likely=False):
            if self.stack_before is None:
                self.release()
            self._leave(code)

    @write.register
    def _(self, step: Runtime, number: int) -> None:
        SERVICES[step.service](self, step)

    # -------------------------------------------------------------------------------------------- services

    def make_frame(self, step: Runtime) -> None:
        fields = step.types
        size = sum(item_bytes(t) for t in fields)
        made = self.b.call(self.heap.bump(), [self.heap_record(), self.number(size + 8)])
        at = 0
        for source, t in zip(step.inputs, fields, strict=True):
            self._copy(Heap.beyond(self.b, made, self.number(at)), self.at(source), _bytes(t))
            at += item_bytes(t)
        self.b.store(made, self.at(step.outputs[0]))

    def open_frame(self, step: Runtime) -> None:
        held = self.b.load(self.at(step.inputs[0]), typ=pointer)
        with self.b.if_else(self.b.icmp_unsigned("==", held, pointer(None))) as (then, otherwise):
            with then:
                for target, t in zip(step.outputs, step.types, strict=True):
                    self._clear(self.at(target), _bytes(t))
            with otherwise:
                at = 0
                for target, t in zip(step.outputs, step.types, strict=True):
                    self._copy(self.at(target), Heap.beyond(self.b, held, self.number(at)), _bytes(t))
                    at += item_bytes(t)

    def null(self, step: Runtime) -> None:
        self.b.store(pointer(None), self.at(step.outputs[0]))

    def add(self, step: Runtime) -> None:
        x, y = (self.b.load(self.at(i), typ=pointer) for i in step.inputs)
        total = self.b.call(self.heap.add(step.types[0]), [self.heap_record(), x, y])
        self.b.store(total, self.at(step.outputs[0]))

    def split(self, step: Runtime) -> None:
        one, together = step.types
        size = examples(together)
        x = self.b.load(self.at(step.inputs[0]), typ=pointer)
        made = self.b.call(self.heap.sequence(), [self.heap_record(), self.number(size), i64(8)])
        handles = Heap.get(self.b, made, 2)

        def part(i: ir.Value) -> None:
            of_one = self.b.call(split(self.heap, one, together), [self.heap_record(), x, i])
            self.b.store(of_one, self.b.gep(handles, [i], inbounds=True, source_etype=pointer))

        count(self.b, self.number(size), part)
        self.b.store(made, self.at(step.outputs[0]))

    def join(self, step: Runtime) -> None:
        x, out = self.b.load(self.at(step.inputs[0]), typ=pointer), self.at(step.outputs[0])
        self.b.store(pointer(None), out)
        with self.b.if_then(self.b.icmp_unsigned("!=", x, pointer(None))):
            handles = Heap.get(self.b, x, 2)
            self.b.store(self.b.call(join(self.heap, *step.types), [self.heap_record(), handles]), out)


def _bytes(t: object) -> Dim:
    return t.nbytes if isinstance(t, TensorType) else 8


def _item(s: Stream) -> Dim:
    return item_bytes(s.item.type)


SERVICES: dict[str, Callable[[EmittedFunction, Runtime], None]] = {
    "make_frame": EmittedFunction.make_frame,
    "open_frame": EmittedFunction.open_frame,
    "null": EmittedFunction.null,
    "add": EmittedFunction.add,
    "split": EmittedFunction.split,
    "join": EmittedFunction.join,
}
