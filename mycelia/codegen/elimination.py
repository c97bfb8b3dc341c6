"""Small matrices by elimination: equations, determinants and Cholesky factors, one function for all sizes of a kind.

    void eliminate(ptr operands[], i64 sizes[], i64 phase, i64 me, i64 all)

Operands are the inputs and outputs of the call and room, see `own_routines.py`. Threads share the matrices of a batch.
All is computed in 64 bits, as LAPACK is by NumPy. The row with the largest number goes up; a matrix is singular when
that number is 0. What has no answer is nan, and is told where all numbers are finite: of others nobody can tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from mycelia.codegen import vecmath
from mycelia.codegen.loop_writer import LoopWriter, pointer
from mycelia.codegen.scalar import i64, memory_type
from mycelia.loops import EliminationCall
from mycelia.loops.elimination import COLUMNS, COUNT, SIZE

f64, i1, i8 = ir.DoubleType(), ir.IntType(1), ir.IntType(8)
NAN = ir.Constant(f64, float("nan"))


def elimination_name(call: EliminationCall) -> str:
    """The name of the function for calls of this kind."""
    return f"eliminate.{call.kind}.{call.dtype.short}"


def emit_elimination(call: EliminationCall, kind: ir.FunctionType, triple: str) -> str:
    """The IR of the function, for LLVM's optimiser."""
    module = ir.Module("elimination")
    module.triple = triple
    function = ir.Function(module, kind, elimination_name(call))
    function.attributes.add("nounwind")
    _Elimination(function, call).run()
    return f"; optimise\n{module}"


class _Elimination(LoopWriter):
    """Writes the function."""

    def __init__(self, function: ir.Function, call: EliminationCall) -> None:
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")))
        self.call, self.function, self.element = call, function, memory_type(call.dtype)

    def run(self) -> None:
        operands, sizes, _, me, all_ = self.function.args
        b, call = self.b, self.call
        count, self.size, self.columns = (self.load(sizes, i64(n)) for n in (COUNT, SIZE, COLUMNS))
        places = [b.load(self.at(operands, i64(n), pointer), typ=pointer) for n in range(call.operands + 1)]
        self.x, *self.others, room = places
        self.width = b.add(self.size, self.columns)  # of a row of the matrix, and behind it that of the right side
        self.work = self.at(room, b.mul(me, b.mul(self.size, self.width)), f64)
        first, end = (b.sdiv(b.mul(count, n), all_) for n in (me, b.add(me, i64(1))))
        self.loop(first, end, i64(1), {"cholesky": self._cholesky}.get(call.kind, self._matrix))
        b.ret_void()

    # --------------------------------------------------------------------------------------------------------- numbers

    def _given(self, base: ir.Value, place: ir.Value) -> ir.Value:
        loaded = self.b.load(self.at(base, place, self.element), typ=self.element, align=self.call.dtype.itemsize)
        return loaded if self.element == f64 else self.b.fpext(loaded, f64)

    def _give(self, value: ir.Value, base: ir.Value, place: ir.Value) -> None:
        value = value if self.element == f64 else self.b.fptrunc(value, self.element)
        self.b.store(value, self.at(base, place, self.element), align=self.call.dtype.itemsize)

    def _place(self, row: ir.Value, column: ir.Value) -> ir.Value:
        return self.at(self.work, self.b.add(self.b.mul(row, self.width), column), f64)

    def _at(self, row: ir.Value, column: ir.Value) -> ir.Value:
        return self.b.load(self._place(row, column), typ=f64, align=8)

    def _put(self, value: ir.Value, row: ir.Value, column: ir.Value) -> None:
        self.b.store(value, self._place(row, column), align=8)

    def _is(self, kind: str, x: ir.Value, y: ir.Value | float) -> ir.Value:
        return self.b.fcmp_ordered(kind, x, ir.Constant(f64, y) if isinstance(y, float) else y)

    def _size_of(self, x: ir.Value) -> ir.Value:
        return self.b.select(self._is("<", x, 0.0), self.b.fneg(x), x)

    def _back(self, i: ir.Value) -> ir.Value:
        """The same row from below."""
        return self.b.sub(self.b.sub(self.size, i64(1)), i)

    def _copied(self, base: ir.Value, number: ir.Value, columns: ir.Value, behind: ir.Value) -> ir.Value:
        """Read a matrix; given is 0, or nan if one of its numbers is not finite."""
        b = self.b
        begin = b.mul(number, b.mul(self.size, columns))

        def row(r: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            def cell(c: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
                x = self._given(base, b.add(begin, b.add(b.mul(r, columns), c)))
                self._put(x, r, b.add(behind, c))
                return [b.fadd(held[0], b.fsub(x, x))]

            return self.carried(i64(0), columns, i64(1), held, cell)

        return self.carried(i64(0), self.size, i64(1), [ir.Constant(f64, 0.0)], row)[0]

    # ----------------------------------------------------------------------------------------- equations, determinants

    def _matrix(self, number: ir.Value) -> None:
        b, one, zero = self.b, ir.Constant(f64, 1.0), ir.Constant(f64, 0.0)
        finite = self._copied(self.x, number, self.size, i64(0))
        if self.call.kind == "solve":
            finite = b.fadd(finite, self._copied(self.others[0], number, self.columns, self.size))

        def step(c: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            sign, product, logs, regular = held
            pivot, swapped = self._pivot(c)
            self._clear_below(c, pivot)
            size = self._size_of(pivot)
            sign = b.select(swapped, b.fneg(sign), sign)
            if self.call.kind == "slogdet":
                sign = b.fmul(sign, b.select(self._is("<", pivot, 0.0), b.fneg(one), one))
                logs = b.fadd(logs, vecmath.emit(b, "log", size))
            return [sign, b.fmul(product, pivot), logs, b.and_(regular, b.not_(self._is("==", pivot, 0.0)))]

        start = [one, one, zero, i1(1)]
        sign, product, logs, regular = self.carried(i64(0), self.size, i64(1), start, step)
        if self.call.kind == "solve":
            self._solutions(number, regular)
            self._found(number, b.or_(regular, b.fcmp_unordered("uno", finite, finite)))
        elif self.call.kind == "determinant":
            self._give(b.select(regular, b.fmul(sign, product), zero), self.others[0], number)
        else:
            self._give(b.select(regular, sign, zero), self.others[0], number)
            self._give(b.select(regular, logs, ir.Constant(f64, float("-inf"))), self.others[1], number)

    def _pivot(self, c: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The largest number of a column, whose row goes up; and whether that was another row."""
        b = self.b

        def larger(r: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            size = self._size_of(self._at(r, c))
            more = self._is(">", size, held[0])
            return [b.select(more, size, held[0]), b.select(more, r, held[1])]

        start = [self._size_of(self._at(c, c)), c]
        _, best = self.carried(b.add(c, i64(1)), self.size, i64(1), start, larger)
        swapped = b.icmp_signed("!=", best, c)

        def swap(j: ir.Value) -> None:
            upper, lower = self._at(c, j), self._at(best, j)
            self._put(lower, c, j)
            self._put(upper, best, j)

        with b.if_then(swapped):
            self.loop(c, self.width, i64(1), swap)
        return self._at(c, c), swapped

    def _clear_below(self, c: ir.Value, pivot: ir.Value) -> None:
        b = self.b

        def row(r: ir.Value) -> None:
            factor = b.fdiv(self._at(r, c), pivot)
            self.loop(b.add(c, i64(1)), self.width, i64(1), lambda j: self._less(r, c, j, factor))

        self.loop(b.add(c, i64(1)), self.size, i64(1), row)

    def _less(self, row: ir.Value, other: ir.Value, column: ir.Value, factor: ir.Value) -> None:
        """A number of a row, less that of another one times a factor."""
        product = self.b.fmul(factor, self._at(other, column))
        self._put(self.b.fsub(self._at(row, column), product), row, column)

    def _solutions(self, number: ir.Value, regular: ir.Value) -> None:
        b, out = self.b, self.others[1]
        begin = b.mul(number, b.mul(self.size, self.columns))

        def row(i: ir.Value) -> None:
            c = self._back(i)
            pivot = self._at(c, c)

            def solution(j: ir.Value) -> None:
                found = b.fdiv(self._at(c, b.add(self.size, j)), pivot)
                found = b.select(regular, found, NAN)
                self._put(found, c, b.add(self.size, j))
                self._give(found, out, b.add(begin, b.add(b.mul(c, self.columns), j)))

            def above(r: ir.Value) -> None:
                factor = self._at(r, c)
                self.loop(self.size, self.width, i64(1), lambda j: self._less(r, c, j, factor))

            self.loop(i64(0), self.columns, i64(1), solution)
            self.loop(i64(0), c, i64(1), above)

        self.loop(i64(0), self.size, i64(1), row)

    def _found(self, number: ir.Value, whether: ir.Value) -> None:
        self.b.store(self.b.zext(whether, i8), self.at(self.others[-1], number, i8), align=1)

    # -------------------------------------------------------------------------------------------------------- Cholesky

    def _cholesky(self, number: ir.Value) -> None:
        """The factor lies across in the room, so that rows are subtracted from rows."""
        b, zero, half = self.b, ir.Constant(f64, 0.0), ir.Constant(f64, 0.5)
        finite = self._copied(self.x, number, self.size, i64(0))
        root = self.function.module.declare_intrinsic("llvm.sqrt", [f64])

        def symmetric(r: ir.Value) -> None:
            def cell(c: ir.Value) -> None:
                self._put(b.fmul(b.fadd(self._at(r, c), self._at(c, r)), half), r, c)

            self.loop(r, self.size, i64(1), cell)

        def step(c: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            left, behind = self._at(c, c), b.add(c, i64(1))
            pivot = b.call(root, [left])
            self._put(pivot, c, c)
            self.loop(behind, self.size, i64(1), lambda j: self._put(b.fdiv(self._at(c, j), pivot), c, j))

            def row(r: ir.Value) -> None:
                factor = self._at(c, r)
                self.loop(r, self.size, i64(1), lambda j: self._less(r, c, j, factor))

            self.loop(behind, self.size, i64(1), row)
            return [b.and_(held[0], self._is(">", left, 0.0))]

        self.loop(i64(0), self.size, i64(1), symmetric)
        (found,) = self.carried(i64(0), self.size, i64(1), [i1(1)], step)
        begin = b.mul(number, b.mul(self.size, self.size))

        def give(r: ir.Value) -> None:
            def cell(c: ir.Value) -> None:
                value = b.select(b.icmp_signed("<=", c, r), self._at(c, r), zero)
                value = b.select(found, value, NAN)
                self._give(value, self.others[0], b.add(begin, b.add(b.mul(r, self.size), c)))

            self.loop(i64(0), self.size, i64(1), cell)

        self.loop(i64(0), self.size, i64(1), give)
        self._found(number, b.or_(found, b.fcmp_unordered("uno", finite, finite)))
