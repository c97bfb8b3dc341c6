"""Running sums along an axis, or extremes: one function for all sizes, over numbers of a given type.

    void prefix(ptr operands[3], i64 sizes[], i64 phase, i64 me, i64 all)

Operands are the numbers, their running sums and room, see `own_routines.py`. Numbers that lie side by side are added up
in squares: every lane of a vector walks along a piece of its own, and then begins where the lane before it has ended.
Squares make chunks of a fixed length, each added up from 0 and then begun where the chunk before it has ended. So a sum
is the same on any number of threads, and sums of numbers that are not negative never fall: a piece begins with the very
number that the one before it ends with. Along other axes vectors of columns walk side by side. Extremes alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from mycelia.codegen.loop_writer import LoopWriter, pointer
from mycelia.codegen.scalar import constant, emit, from_memory, i32, i64, memory_type, register_type, splat, to_memory
from mycelia.loops import PrefixCall, neutral
from mycelia.loops.prefix import CHUNK, INNER, LENGTH, OUTER, TOGETHER
from mycelia.types import accumulator

VECTORS = 4  # vectors of columns that walk side by side


def prefix_name(call: PrefixCall) -> str:
    """The name of the function for calls of this kind."""
    return f"prefix.{call.combine}.{call.dtype.short}.{call.lanes}"


def emit_prefix(call: PrefixCall, kind: ir.FunctionType, triple: str) -> str:
    """The IR of the function, for LLVM's optimiser."""
    module = ir.Module("prefix")
    module.triple = triple
    function = ir.Function(module, kind, prefix_name(call))
    function.attributes.add("nounwind")
    _Prefix(function, call).run()
    return f"; optimise\n{module}"


class _Prefix(LoopWriter):
    """Writes the function."""

    def __init__(self, function: ir.Function, call: PrefixCall) -> None:
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")))
        self.dtype, self.lanes, self.function = call.dtype, call.lanes, function
        self.element, self.single = memory_type(call.dtype), register_type(call.dtype)
        self.combine, wide = call.combine, accumulator(call.dtype)
        self.nothing = neutral(call.combine, wide)  # what changes no number
        if call.combine == "add" and wide.is_float:
            self.nothing = -0.0  # 0.0 + -0.0 is 0.0
        self.zero = constant(self.nothing, call.dtype, 1)

    def run(self) -> None:
        operands, sizes, phase, me, all_ = self.function.args
        b = self.b
        self.x, self.out, self.room = (b.load(self.at(operands, i64(n), pointer), typ=pointer) for n in range(3))
        self.outer, self.length, self.inner, together = (
            self.load(sizes, i64(n)) for n in (OUTER, LENGTH, INNER, TOGETHER)
        )
        with b.if_else(b.icmp_signed("==", self.inner, i64(1))) as (side_by_side, apart):
            with side_by_side, b.if_else(b.icmp_signed("!=", together, i64(0))) as (shared, alone):
                with shared:
                    self._one_row(phase, me, all_)
                with alone:
                    self.loop(*self._mine(self.outer, me, all_), i64(1), self._row)
            with apart:
                self._columns(me, all_)
        b.ret_void()

    def _mine(self, count: ir.Value, me: ir.Value, all_: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The part of so many things that this thread does."""
        b = self.b
        first, last = (b.sdiv(b.mul(count, n), all_) for n in (me, b.add(me, i64(1))))
        return first, last

    def _sum(self, x: ir.Value, y: ir.Value) -> ir.Value:
        if self.combine == "add":
            return self.b.fadd(x, y) if self.dtype.is_float else self.b.add(x, y)
        wide = accumulator(self.dtype)
        return emit(self.b, self.combine, wide, wide, [x, y])

    def _read(self, place: ir.Value, lanes: int) -> ir.Value:
        kind = memory_type(self.dtype, lanes)
        loaded = self.b.load(self.at(self.x, place, self.element), typ=kind, align=self.dtype.itemsize)
        return from_memory(self.b, loaded, self.dtype)

    def _write(self, value: ir.Value, place: ir.Value) -> None:
        stored = to_memory(self.b, value, self.dtype)
        self.b.store(stored, self.at(self.out, place, self.element), align=self.dtype.itemsize)

    # ------------------------------------------------------------------------------------------ numbers side by side

    def _row(self, row: ir.Value) -> None:
        begin = self.b.mul(row, self.length)

        def chunk(start: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            return [self._sum(held[0], self._chunk(begin, start, held[0]))]

        self.carried(i64(0), self.length, i64(CHUNK), [self.zero], chunk)

    def _one_row(self, phase: ir.Value, me: ir.Value, all_: ir.Value) -> None:
        """The part of a thread in a row that all of them add up: first its chunks, then from where they begin."""
        b = self.b
        begin = b.mul(b.lshr(phase, i64(1)), self.length)
        chunks = b.sdiv(b.add(self.length, i64(CHUNK - 1)), i64(CHUNK))
        first, last = self._mine(chunks, me, all_)

        def total(n: ir.Value) -> None:
            found = self._chunk(begin, b.mul(n, i64(CHUNK)), None)
            b.store(found, self.at(self.room, n, self.single))

        def before(n: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            return [self._sum(held[0], b.load(self.at(self.room, n, self.single), typ=self.single))]

        def chunk(n: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            return [self._sum(held[0], self._chunk(begin, b.mul(n, i64(CHUNK)), held[0]))]

        with b.if_else(b.icmp_signed("==", b.and_(phase, i64(1)), i64(0))) as (adding, writing):
            with adding:
                self.loop(first, last, i64(1), total)
            with writing:
                carry = self.carried(i64(0), first, i64(1), [self.zero], before)
                self.carried(first, last, i64(1), carry, chunk)

    def _chunk(self, begin: ir.Value, start: ir.Value, carry: ir.Value | None) -> ir.Value:
        """The sum of a chunk; with what comes before it, its running sums are written."""
        b, lanes = self.b, self.lanes
        square = lanes * lanes
        end = self.least(b.add(start, i64(CHUNK)), self.length)
        squares = b.add(start, b.mul(b.sdiv(b.sub(end, start), i64(square)), i64(square)))

        def one(i: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            place = b.add(begin, i)
            rows = self.transposed([self._read(b.add(place, i64(n * lanes)), lanes) for n in range(lanes)])
            for n in range(1, lanes):
                rows[n] = self._sum(rows[n - 1], rows[n])
            begins, so_far = ir.Constant(rows[0].type, ir.Undefined), held[0]
            for lane in range(lanes):
                begins = b.insert_element(begins, so_far, i32(lane))
                so_far = self._sum(so_far, b.extract_element(rows[-1], i32(lane)))
            if carry is not None:
                before = splat(b, carry, lanes)
                sums = self.transposed([self._sum(before, self._sum(begins, row)) for row in rows])
                for n, row in enumerate(sums):
                    self._write(row, b.add(place, i64(n * lanes)))
            return [so_far]

        def rest(i: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            place = b.add(begin, i)
            so_far = self._sum(held[0], self._read(place, 1))
            if carry is not None:
                self._write(self._sum(carry, so_far), place)
            return [so_far]

        local = self.carried(start, squares, i64(square), [self.zero], one)
        return self.carried(squares, end, i64(1), local, rest)[0]

    # ------------------------------------------------------------------------------------------------------- columns

    def _columns(self, me: ir.Value, all_: ir.Value) -> None:
        b, width = self.b, VECTORS * self.lanes
        blocks = b.sdiv(b.add(self.inner, i64(width - 1)), i64(width))

        def block(n: ir.Value) -> None:
            begin = b.mul(b.mul(b.sdiv(n, blocks), self.length), self.inner)
            column = b.mul(b.srem(n, blocks), i64(width))
            whole = b.icmp_signed("<=", b.add(column, i64(width)), self.inner)
            with b.if_else(whole) as (wide, narrow):
                with wide:
                    self._walk(b.add(begin, column), self.lanes, VECTORS)
                with narrow:
                    self._narrow(begin, column)

        self.loop(*self._mine(b.mul(self.outer, blocks), me, all_), i64(1), block)

    def _narrow(self, begin: ir.Value, column: ir.Value) -> None:
        """Columns that are fewer: vectors of them, then half as many at a time."""
        b, lanes = self.b, self.lanes
        while lanes:
            end = b.sub(self.inner, i64(lanes - 1))
            walk: Callable[[ir.Value], None] = lambda j, n=lanes: self._walk(b.add(begin, j), n, 1)  # type: ignore[misc] # noqa: E731
            self.loop(column, end, i64(lanes), walk)
            left = b.sub(self.inner, column)
            column = b.add(column, b.mul(b.sdiv(left, i64(lanes)), i64(lanes)))
            lanes //= 2

    def _walk(self, begin: ir.Value, lanes: int, vectors: int) -> None:
        b = self.b

        def turn(i: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            place = b.add(begin, b.mul(i, self.inner))
            made = []
            for n, so_far in enumerate(held):
                at = b.add(place, i64(n * lanes))
                made.append(self._sum(so_far, self._read(at, lanes)))
                self._write(made[-1], at)
            return made

        self.carried(i64(0), self.length, i64(1), [constant(self.nothing, self.dtype, lanes)] * vectors, turn)
