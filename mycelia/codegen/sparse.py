"""Products with matrices that hold few numbers, row by row: one function for all sizes, over numbers of a given type.

    void sparse(ptr operands[6], i64 sizes[], i64 phase, i64 me, i64 all)

Operands are where rows begin, columns, numbers, the dense matrix, the result and room, see `own_routines.py`. Threads
share rows. If the dense matrix is one column, the sum of a row has several parts side by side; else vectors of columns
are added up side by side. So a sum is the same on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from mycelia.codegen.loop_writer import LoopWriter, pointer
from mycelia.codegen.scalar import constant, from_memory, i32, i64, memory_type, splat, to_memory
from mycelia.loops import SparseCall
from mycelia.loops.sparse import COUNT, HEIGHT, ROWS, WIDTH

PARTS = 4  # of the sum of a row
VECTORS = 4  # of columns, added up side by side


def sparse_name(call: SparseCall) -> str:
    """The name of the function for calls of this kind."""
    return f"sparse.{call.dtype.short}.{call.index.short}.{call.lanes}"


def emit_sparse(call: SparseCall, kind: ir.FunctionType, triple: str) -> str:
    """The IR of the function, for LLVM's optimiser."""
    module = ir.Module("sparse")
    module.triple = triple
    function = ir.Function(module, kind, sparse_name(call))
    function.attributes.add("nounwind")
    _Sparse(function, call).run()
    return f"; optimise\n{module}"


class _Sparse(LoopWriter):
    """Writes the function."""

    def __init__(self, function: ir.Function, call: SparseCall) -> None:
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")))
        self.dtype, self.lanes, self.function = call.dtype, call.lanes, function
        self.element, self.index = memory_type(call.dtype), i32 if call.index.bits == 32 else i64

    def run(self) -> None:
        operands, sizes, _, me, all_ = self.function.args
        b = self.b
        self.starts, self.columns, self.values, self.dense, self.out = (
            b.load(self.at(operands, i64(n), pointer), typ=pointer) for n in range(5)
        )
        rows, self.count, height, self.width = (self.load(sizes, i64(n)) for n in (ROWS, COUNT, HEIGHT, WIDTH))
        self.last = b.sub(height, i64(1))
        first, end = (b.sdiv(b.mul(rows, n), all_) for n in (me, b.add(me, i64(1))))
        with b.if_else(b.icmp_signed("==", self.width, i64(1))) as (column, matrix):
            with column:
                self.loop(first, end, i64(1), self._number)
            with matrix:
                self.loop(first, end, i64(1), self._row)
        b.ret_void()

    def _clamped(self, base: ir.Value, place: ir.Value, last: ir.Value) -> ir.Value:
        """A position of the data, from 0 to the last."""
        b = self.b
        i = self.load(base, place, self.index)
        i = b.sext(i, i64) if self.index is i32 else i
        i = self.least(i, last)
        return b.select(b.icmp_signed("<", i, i64(0)), i64(0), i)

    def _ends(self, row: ir.Value) -> tuple[ir.Value, ir.Value]:
        return self._clamped(self.starts, row, self.count), self._clamped(
            self.starts, self.b.add(row, i64(1)), self.count
        )

    def _read(self, base: ir.Value, place: ir.Value, lanes: int = 1) -> ir.Value:
        kind = memory_type(self.dtype, lanes)
        loaded = self.b.load(self.at(base, place, self.element), typ=kind, align=self.dtype.itemsize)
        return from_memory(self.b, loaded, self.dtype)

    def _write(self, value: ir.Value, place: ir.Value) -> None:
        stored = to_memory(self.b, value, self.dtype)
        self.b.store(stored, self.at(self.out, place, self.element), align=self.dtype.itemsize)

    def _plus(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.fadd(x, y) if self.dtype.is_float else self.b.add(x, y)

    def _times(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.fmul(x, y) if self.dtype.is_float else self.b.mul(x, y)

    # ----------------------------------------------------------------------------------------------- of one column

    def _number(self, row: ir.Value) -> None:
        """The sum of a row: several parts side by side, what is left one by one behind their sum."""
        b, (begin, end) = self.b, self._ends(row)
        whole = b.sub(end, i64(PARTS - 1))

        def several(i: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            return [self._plus(held[0], self._times(self._read(self.values, i, PARTS), self._chosen(i, PARTS)))]

        def one(i: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            number = self._read(self.dense, self._place(i))
            return [self._plus(held[0], self._times(self._read(self.values, i), number))]

        (parts,) = self.carried(begin, whole, i64(PARTS), [constant(0, self.dtype, PARTS)], several)
        count = b.select(b.icmp_signed("<", begin, end), b.sub(end, begin), i64(0))
        left = b.sub(end, b.and_(count, i64(PARTS - 1)))
        (total,) = self.carried(left, end, i64(1), [self._added(parts)], one)
        self._write(total, row)

    def _place(self, i: ir.Value) -> ir.Value:
        """What a column says, or the last place there is: no other is beyond it if it is read as positive."""
        b = self.b
        place = self.load(self.columns, i, self.index)
        place = b.zext(place, i64) if self.index is i32 else place
        return b.select(b.icmp_unsigned("<", place, self.last), place, self.last)

    def _chosen(self, first: ir.Value, lanes: int) -> ir.Value:
        """The numbers that columns side by side say; by single loads, because gathers take twice as long on Zen."""
        found = ir.Constant(memory_type(self.dtype, lanes), None)
        for n in range(lanes):
            place = self._place(self.b.add(first, i64(n)))
            number = self.b.load(self.at(self.dense, place, self.element), typ=self.element)
            found = self.b.insert_element(found, number, i32(n))
        return from_memory(self.b, found, self.dtype)

    def _added(self, lanes: ir.Value) -> ir.Value:
        """The sum of the lanes, by halves."""
        count = PARTS
        while count > 1:
            count //= 2
            halves = (self.shuffled(lanes, lanes, range(n, n + count)) for n in (0, count))
            lanes = self._plus(*halves)
        return self.b.extract_element(lanes, i32(0))

    # ---------------------------------------------------------------------------------------------- of many columns

    def _row(self, row: ir.Value) -> None:
        b, lanes = self.b, VECTORS * self.lanes
        ends, place = self._ends(row), b.mul(row, self.width)
        column: ir.Value = i64(0)
        vectors = VECTORS
        while lanes:
            walk: Callable[[ir.Value], None] = lambda j, n=lanes, m=vectors: self._walk(ends, place, j, n // m, m)  # type: ignore[misc] # noqa: E731
            self.loop(column, b.sub(self.width, i64(lanes - 1)), i64(lanes), walk)
            column = b.add(column, b.mul(b.sdiv(b.sub(self.width, column), i64(lanes)), i64(lanes)))
            lanes, vectors = (lanes // VECTORS if vectors > 1 else lanes // 2), 1

    def _walk(
        self, ends: tuple[ir.Value, ir.Value], place: ir.Value, column: ir.Value, lanes: int, vectors: int
    ) -> None:
        b = self.b

        def turn(i: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            at = b.add(b.mul(self._clamped(self.columns, i, self.last), self.width), column)
            value = self._read(self.values, i)
            value = splat(b, value, lanes) if lanes > 1 else value
            return [
                self._plus(h, self._times(value, self._read(self.dense, b.add(at, i64(n * lanes)), lanes)))
                for n, h in enumerate(held)
            ]

        found = self.carried(*ends, i64(1), [constant(0, self.dtype, lanes)] * vectors, turn)
        for n, total in enumerate(found):
            self._write(total, b.add(b.add(place, column), i64(n * lanes)))
