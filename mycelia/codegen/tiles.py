"""Tiled products: one function for every batch of matrix products over numbers of given element types.

    void tiles(ptr operands[4], i64 sizes[], i64 me, i64 all)

GotoBLAS's blocking: a part of the right operand that fits a large cache and a part of the left one that fits the second
level are copied into panels, and a tile of the result stays in registers while a column of one panel meets a row of
the other. The operands are block-scatter matrices, as in TBLIS: tables say where each row, column and term lies, so
every contraction and every convolution is a matrix product without a copy of its own; converting and gathering happen
while panels are filled. Sizes and tables are read at run time: one function serves all shapes.

The job of a thread is a part of the rows and columns of one product of the batch, over all its terms: no thread waits
for another.
What is copied for rows and columns beyond the edge is that of the last one: it reaches no element that is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from mycelia.codegen import scalar
from mycelia.codegen.loop_writer import LoopWriter, pointer
from mycelia.codegen.records import TERMS, Size, left_rows
from mycelia.codegen.scalar import i64, memory_type, register_type, splat
from mycelia.loops import TileKind
from mycelia.options import Options
from mycelia.types import DType

UNROLLED = 4  # terms of a tile's loop


def tile_name(kind: TileKind) -> str:
    """The name of the function for operands and sums of these types."""
    types = ".".join(d.short for d in (kind.lhs, kind.rhs, kind.out))
    return f"tiles.{types}.{kind.rows}x{kind.vectors}x{kind.lanes}"


def tile_type() -> ir.FunctionType:
    """What the driver calls: operands, sizes, the number of this thread and that of all."""
    return ir.FunctionType(ir.VoidType(), [pointer, pointer, i64, i64])


def emit_tiles(kind: TileKind, options: Options) -> str:
    """The IR of the function, for LLVM's optimiser."""
    module = ir.Module("tiles")
    module.triple = options.target.triple
    _Writer(module, kind, options).run()
    return f"; optimise\n{module}"


class _Writer(LoopWriter):
    def __init__(self, module: ir.Module, kind: TileKind, options: Options) -> None:
        self.module, self.kind, self.fuse = module, kind, options.fast_math.fuse
        self.function = ir.Function(module, tile_type(), tile_name(kind))
        self.function.attributes.add("nounwind")
        super().__init__(scalar.Builder(options.fast_math, self.function.append_basic_block("entry")))
        self.element = register_type(kind.out)
        self.vector = register_type(kind.out, kind.lanes)

    # -------------------------------------------------------------------------------------------- the nest

    def run(self) -> None:
        b = self.b
        operands, sizes, me, together = self.function.args
        self.size = {s: self.load(sizes, i64(s)) for s in Size}
        self.table = {s: b.inttoptr(self.size[s], pointer) for s in Size if s >= Size.lhs_batch}
        self.lhs, self.rhs, self.out, room = (b.load(self.at(operands, i64(n), pointer), typ=pointer) for n in range(4))
        left, right = rooms(self.kind, self.size[Size.job_columns], b)
        mine = b.gep(room, [b.mul(me, b.add(left, right))], source_etype=ir.IntType(8))
        self.left, self.right = mine, b.gep(mine, [left], source_etype=ir.IntType(8))
        self.tile = scalar.room(b, ir.ArrayType(self.element, self.kind.rows * self.kind.columns))
        row_jobs = self._pieces(Size.rows, Size.job_rows)
        column_jobs = self._pieces(Size.columns, Size.job_columns)
        each = b.mul(row_jobs, column_jobs)
        jobs = b.mul(each, self.size[Size.batch])

        def job(n: ir.Value) -> None:
            batch, rest = b.udiv(n, each), b.urem(n, each)
            rows = b.mul(b.udiv(rest, column_jobs), self.size[Size.job_rows])
            columns = b.mul(b.urem(rest, column_jobs), self.size[Size.job_columns])
            self._job(batch, rows, columns)

        self.loop(me, jobs, together, job)
        b.ret_void()

    def _pieces(self, whole: Size, part: Size) -> ir.Value:
        size = self.size[part]
        return self.b.udiv(self.b.add(self.size[whole], self.b.sub(size, i64(1))), size)

    def _job(self, batch: ir.Value, row: ir.Value, column: ir.Value) -> None:
        b, size = self.b, self.size
        last_row = self.least(size[Size.rows], b.add(row, size[Size.job_rows]))
        last_column = self.least(size[Size.columns], b.add(column, size[Size.job_columns]))
        lhs, rhs, out = (
            self.at(base, self.load(self.table[table], batch), memory_type(dtype))
            for base, table, dtype in (
                (self.lhs, Size.lhs_batch, self.kind.lhs),
                (self.rhs, Size.rhs_batch, self.kind.rhs),
                (self.out, Size.out_batch, self.kind.out),
            )
        )
        height = i64(left_rows(self.kind))

        def terms(first: ir.Value) -> None:
            count = self.least(i64(TERMS), b.sub(size[Size.terms], first))
            is_first = b.icmp_signed("==", first, i64(0))
            self._fill_right(rhs, first, count, column, last_column)

            def rows(top: ir.Value) -> None:
                bottom = self.least(last_row, b.add(top, height))
                self._fill_left(lhs, first, count, top, bottom)
                self._multiply(out, count, is_first, (top, bottom), (column, last_column))

            self.loop(row, last_row, height, rows)

        self.loop(i64(0), size[Size.terms], i64(TERMS), terms)

    # -------------------------------------------------------------------------------------------- panels

    def _fill_left(self, lhs: ir.Value, first: ir.Value, count: ir.Value, top: ir.Value, bottom: ir.Value) -> None:
        """Rows `top` to `bottom` of some terms: for each tile of rows, for each term, its elements side by side."""
        height = self.kind.rows
        terms = self.at(self.table[Size.lhs_terms], first, i64)

        def panel(row: ir.Value) -> None:
            target = self.at(self.left, self.b.mul(self.b.sub(row, top), count), self.element)
            bases = self._bases(lhs, self.kind.lhs, self.table[Size.lhs_rows], row, Size.rows, height)
            self._gather(target, bases, terms, count, self.kind.lhs)

        self.loop(top, bottom, i64(height), panel)

    def _fill_right(self, rhs: ir.Value, first: ir.Value, count: ir.Value, left: ir.Value, right: ir.Value) -> None:
        """Columns `left` to `right` of some terms: for each tile of columns, for each term, its elements in a row."""
        b, width, dtype = self.b, self.kind.columns, self.kind.rhs
        terms = self.at(self.table[Size.rhs_terms], first, i64)

        def panel(column: ir.Value) -> None:
            target = self.at(self.right, b.mul(b.sub(column, left), count), self.element)
            with b.if_else(self._dense(column, 1)) as (dense, scattered):
                with dense:
                    base = self.at(rhs, self.load(self.table[Size.rhs_columns], column), memory_type(dtype))

                    def term(k: ir.Value) -> None:
                        source = self.at(base, self.load(terms, k), memory_type(dtype))
                        place = self.at(target, b.mul(k, i64(width)), self.element)
                        for v in range(self.kind.vectors):
                            at = i64(v * self.kind.lanes)
                            lanes = memory_type(dtype, self.kind.lanes)
                            read = b.load(self.at(source, at, memory_type(dtype)), typ=lanes, align=dtype.itemsize)
                            b.store(self._wide(read, dtype), self.at(place, at, self.element), align=self._align())

                    self.loop(i64(0), count, i64(1), term)
                with scattered:
                    bases = self._bases(rhs, dtype, self.table[Size.rhs_columns], column, Size.columns, width)
                    self._gather(target, bases, terms, count, dtype)

        self.loop(left, right, i64(width), panel)

    def _dense(self, column: ir.Value, bit: int) -> ir.Value:
        flags = self.load(self.table[Size.dense], self.b.udiv(column, i64(self.kind.columns)))
        return self.b.icmp_signed("!=", self.b.and_(flags, i64(bit)), i64(0))

    def _bases(
        self, base: ir.Value, dtype: DType, table: ir.Value, first: ir.Value, whole: Size, count: int
    ) -> list[ir.Value]:
        """Where the rows or columns of a tile begin; beyond the edge, where the last one does."""
        edge = self.b.sub(self.size[whole], i64(1))
        places = [self.least(self.b.add(first, i64(n)), edge) for n in range(count)]
        return [self.at(base, self.load(table, place), memory_type(dtype)) for place in places]

    def _gather(
        self, target: ir.Value, bases: Sequence[ir.Value], terms: ir.Value, count: ir.Value, dtype: DType
    ) -> None:
        b = self.b

        def term(k: ir.Value) -> None:
            offset = self.load(terms, k)
            place = self.at(target, b.mul(k, i64(len(bases))), self.element)
            for n, base in enumerate(bases):
                read = b.load(self.at(base, offset, memory_type(dtype)), typ=memory_type(dtype), align=dtype.itemsize)
                b.store(self._wide(read, dtype), self.at(place, i64(n), self.element), align=self._align())

        self.loop(i64(0), count, i64(1), term)

    def _wide(self, value: ir.Value, dtype: DType) -> ir.Value:
        """An element of an operand as it is summed."""
        read = scalar.from_memory(self.b, value, dtype)
        return read if dtype is self.kind.out else scalar.emit(self.b, "cast", self.kind.out, dtype, [read])

    def _align(self) -> int:
        return self.kind.out.itemsize

    # -------------------------------------------------------------------------------------------- tiles

    def _multiply(
        self, out: ir.Value, count: ir.Value, is_first: ir.Value,
        rows: tuple[ir.Value, ir.Value], columns: tuple[ir.Value, ir.Value],
    ) -> None:  # fmt: skip
        """All tiles of the rows and columns whose panels are filled."""
        b, kind = self.b, self.kind

        def across(column: ir.Value) -> None:
            right = self.at(self.right, b.mul(b.sub(column, columns[0]), count), self.element)
            dense = self._dense(column, 2)

            def down(row: ir.Value) -> None:
                left = self.at(self.left, b.mul(b.sub(row, rows[0]), count), self.element)
                sums = self._sums(left, right, count)
                whole = b.icmp_signed("<=", b.add(row, i64(kind.rows)), rows[1])
                with b.if_else(b.and_(dense, whole)) as (then, otherwise):
                    with then:
                        self._store_vectors(out, row, column, sums, is_first)
                    with otherwise:
                        self._store_elements(out, (row, rows[1]), (column, columns[1]), sums, is_first)

            self.loop(rows[0], rows[1], i64(kind.rows), down)

        self.loop(columns[0], columns[1], i64(kind.columns), across)

    def _sums(self, left: ir.Value, right: ir.Value, count: ir.Value) -> Sequence[ir.Value]:
        """The tile, row by row, in registers."""
        b, kind = self.b, self.kind

        def terms(k: ir.Value, sums: Sequence[ir.Value], unrolled: int) -> list[ir.Value]:
            made = list(sums)
            row = self.at(left, b.mul(k, i64(kind.rows)), self.element)
            column = self.at(right, b.mul(k, i64(kind.columns)), self.element)
            for u in range(unrolled):
                ys = [
                    b.load(
                        self.at(column, i64(u * kind.columns + v * kind.lanes), self.element),
                        typ=self.vector,
                        align=self._align(),
                    )
                    for v in range(kind.vectors)
                ]
                for r in range(kind.rows):
                    x = b.load(self.at(row, i64(u * kind.rows + r), self.element), typ=self.element)
                    wide = splat(b, x, kind.lanes)
                    for v, y in enumerate(ys):
                        n = r * kind.vectors + v
                        made[n] = self._added(made[n], wide, y)
            return made

        zero = scalar.constant(0, self.kind.out, kind.lanes)
        start = [zero] * (kind.rows * kind.vectors)
        even = b.and_(count, i64(-UNROLLED))
        most = self.carried(i64(0), even, i64(UNROLLED), start, lambda k, s: terms(k, s, UNROLLED))
        return self.carried(even, count, i64(1), most, lambda k, s: terms(k, s, 1))

    def _added(self, total: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        b = self.b
        if self.kind.out.kind != "f":
            return b.add(total, b.mul(x, y))
        if not self.fuse:
            return b.fadd(total, b.fmul(x, y))
        return scalar.intrinsic(b, "fma", x, y, total)

    def _store_vectors(
        self, out: ir.Value, row: ir.Value, column: ir.Value, sums: Sequence[ir.Value], is_first: ir.Value
    ) -> None:
        b, kind = self.b, self.kind
        across = self.load(self.table[Size.out_columns], column)
        for r in range(kind.rows):
            offset = self.load(self.table[Size.out_rows], b.add(row, i64(r)))
            base = self.at(out, b.add(offset, across), self.element)
            for v in range(kind.vectors):
                place = self.at(base, i64(v * kind.lanes), self.element)
                self._store(place, sums[r * kind.vectors + v], self.vector, is_first)

    def _store(self, place: ir.Value, value: ir.Value, kind: ir.Type, is_first: ir.Value) -> None:
        """Into the result, or onto what earlier terms left there."""
        b = self.b
        before = b.block
        more, done = b.append_basic_block("more"), b.append_basic_block("stored")
        b.cbranch(is_first, done, more)
        b.position_at_end(more)
        old = b.load(place, typ=kind, align=self._align())
        total = b.fadd(old, value) if self.kind.out.kind == "f" else b.add(old, value)
        b.branch(done)
        b.position_at_end(done)
        final = b.phi(kind)
        final.add_incoming(value, before)
        final.add_incoming(total, more)
        b.store(final, place, align=self._align())

    def _store_elements(
        self, out: ir.Value, rows: tuple[ir.Value, ir.Value], columns: tuple[ir.Value, ir.Value],
        sums: Sequence[ir.Value], is_first: ir.Value,
    ) -> None:  # fmt: skip
        """A tile at the edge, or one whose columns do not lie side by side: through memory, one by one."""
        b, kind = self.b, self.kind
        for n, value in enumerate(sums):
            b.store(value, self.at(self.tile, i64(n * kind.lanes), self.element), align=self._align())
        bottom = self.least(rows[1], b.add(rows[0], i64(kind.rows)))
        right = self.least(columns[1], b.add(columns[0], i64(kind.columns)))

        def row(r: ir.Value) -> None:
            base = self.at(out, self.load(self.table[Size.out_rows], r), self.element)
            kept = self.at(self.tile, b.mul(b.sub(r, rows[0]), i64(kind.columns)), self.element)

            def column(c: ir.Value) -> None:
                value = b.load(self.at(kept, b.sub(c, columns[0]), self.element), typ=self.element)
                place = self.at(base, self.load(self.table[Size.out_columns], c), self.element)
                self._store(place, value, self.element, is_first)

            self.loop(columns[0], right, i64(1), column)

        self.loop(rows[0], bottom, i64(1), row)


def rooms(kind: TileKind, columns: ir.Value, b: ir.IRBuilder) -> tuple[ir.Value, ir.Value]:
    """Bytes of the left and of the right panels of one thread, for jobs of so many columns."""
    return i64(left_rows(kind) * TERMS * kind.out.itemsize), b.mul(columns, i64(TERMS * kind.out.itemsize))
