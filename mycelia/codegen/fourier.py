"""Fourier transforms: one function for all lengths, over numbers of a given type.

    void fourier(ptr operands[3], i64 stage[], i64 me, i64 all)

A transform is a list of stages: `runtime/fourier.py` plans it, `records.StageWord` says what a stage is given. The
driver runs them one after the other, each on all threads. The chief one transforms columns of a matrix, one in each
lane of a vector, by Stockham's passes between two working memories of a thread: no number is ever moved by reversing
the bits of its place, and every load, store and operation is of whole vectors. A long transform is two such stages
(Bailey's four steps): columns of a matrix, then its rows, which the first stage leaves as panels whose vectors run down
the columns. A batch of short ones is one stage, whose columns are the lines of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from llvmlite import ir

from mycelia.codegen import scalar
from mycelia.codegen.butterflies import Complexes, butterfly
from mycelia.codegen.loop_writer import LoopWriter, pointer
from mycelia.codegen.records import CODES, Pass, Passage, StageKind, StageWord
from mycelia.codegen.scalar import i1, i8, i64, register_type, splat
from mycelia.codegen.tiles import tile_type
from mycelia.loops import FourierKind
from mycelia.options import Options

PASS = ir.FunctionType(ir.VoidType(), [pointer, pointer, i64, i64, i64, i64, pointer, i1])
CHUNK = 2048  # elements that a thread changes one by one at a time


def fourier_name(kind: FourierKind) -> str:
    """The name of the function for numbers of this type."""
    return f"fourier.{kind.dtype.short}.{kind.lanes}"


def emit_fourier(kind: FourierKind, options: Options) -> str:
    """The IR of the function, for LLVM's optimiser."""
    module = ir.Module("fourier")
    module.triple = options.target.triple
    passes = [_Pass(module, kind, options, sort, r).function for sort, r in CODES]
    _Stage(module, kind, options, passes).run()
    return f"; optimise\n{module}"


class _Vectors(LoopWriter):
    """Complex numbers in vectors: how they are read and written."""

    def __init__(self, module: ir.Module, kind: FourierKind, options: Options, f: ir.Function) -> None:
        super().__init__(scalar.Builder(options.fast_math, f.append_basic_block("entry")))
        self.module, self.kind, self.function = module, kind, f
        f.attributes.add("nounwind")
        self.lanes, self.bytes = kind.lanes, kind.dtype.itemsize
        self.element, self.vector = register_type(kind.dtype), register_type(kind.dtype, kind.lanes)

    def number(self, base: ir.Value, place: ir.Value | int) -> ir.Value:
        """The address of a real number."""
        return self.at(base, i64(place) if isinstance(place, int) else place, self.element)

    def read(self, base: ir.Value, place: ir.Value | int, kind: ir.Type | None = None) -> ir.Value:
        return self.b.load(self.number(base, place), typ=kind or self.element, align=self.bytes)

    def write(self, value: ir.Value, base: ir.Value, place: ir.Value | int) -> None:
        self.b.store(value, self.number(base, place), align=self.bytes)

    def row(self, base: ir.Value, n: ir.Value) -> Complexes:
        """A row of a panel, or of the working memory."""
        first = self.number(base, self.b.mul(n, i64(2 * self.lanes)))
        return Complexes(self.b, self.read(first, 0, self.vector), self.read(first, self.lanes, self.vector))

    def put_row(self, x: Complexes, base: ir.Value, n: ir.Value) -> None:
        first = self.number(base, self.b.mul(n, i64(2 * self.lanes)))
        self.write(x.re, first, 0)
        self.write(x.im, first, self.lanes)

    def apart(self, address: ir.Value, swap: ir.Value) -> Complexes:
        """Complex numbers that lie one after the other, as two vectors."""
        whole = self.read(address, 0, ir.VectorType(self.element, 2 * self.lanes))
        halves = [self.shuffled(whole, whole, range(side, 2 * self.lanes, 2)) for side in (0, 1)]
        return self.swapped(Complexes(self.b, *halves), swap)

    def together(self, x: Complexes, address: ir.Value, swap: ir.Value) -> None:
        x = self.swapped(x, swap)
        order = [side * self.lanes + n for n in range(self.lanes) for side in (0, 1)]
        self.write(self.shuffled(x.re, x.im, order), address, 0)

    def swapped(self, x: Complexes, swap: ir.Value) -> Complexes:
        """Real and imaginary parts exchanged, if so."""
        return Complexes(self.b, self.b.select(swap, x.im, x.re), self.b.select(swap, x.re, x.im))

    def mirrored(self, rows: Sequence[Complexes]) -> list[Complexes]:
        sides = [self.transposed([getattr(x, side) for x in rows]) for side in ("re", "im")]
        return [Complexes(self.b, re, im) for re, im in zip(*sides, strict=True)]


class _Pass(_Vectors):
    """Writes one pass of a transform: butterflies of one radix over all rows of a block.

    void pass(ptr source, ptr target, i64 source step, i64 target step, i64 m, i64 s, ptr factors, i1 swap)
    """

    def __init__(self, module: ir.Module, kind: FourierKind, options: Options, sort: str, radix: int) -> None:
        f = ir.Function(module, PASS, f"{sort}.{radix}")
        f.linkage = "internal"
        f.attributes.add("noinline")
        super().__init__(module, kind, options, f)
        f.args[0].add_attribute("noalias")
        f.args[1].add_attribute("noalias")
        self.sort, self.radix = sort, radix
        self._write()

    def _write(self) -> None:
        b, r = self.b, self.radix
        source, target, source_step, target_step, m, s, factors, swap = self.function.args

        def load(n: ir.Value) -> Complexes:
            if self.sort == "first":
                return self.apart(self.number(source, b.mul(n, source_step)), swap)
            return self.row(source, n)

        def store(x: Complexes, n: ir.Value) -> None:
            if self.sort == "final":
                self.together(x, self.number(target, b.mul(n, target_step)), swap)
            else:
                self.put_row(x, target, n)

        def turn(p: ir.Value) -> None:
            turns = [] if self.sort in ("last", "final") else self._factors(factors, p)
            first, out = b.mul(s, p), b.mul(s, b.mul(p, i64(r)))
            across = b.mul(s, m)

            def one(q: ir.Value) -> None:
                xs = [load(b.add(b.add(first, q), b.mul(across, i64(t)))) for t in range(r)]
                ys = butterfly(xs)
                ys[1:] = [y * w for y, w in zip(ys[1:], turns, strict=True)] if turns else ys[1:]
                for u, y in enumerate(ys):
                    store(y, b.add(b.add(out, q), b.mul(s, i64(u))))

            self.loop(i64(0), s, i64(1), one)

        self.loop(i64(0), m, i64(1), turn)
        b.ret_void()

    def _factors(self, table: ir.Value, p: ir.Value) -> list[Complexes]:
        first = self.number(table, self.b.mul(p, i64(2 * (self.radix - 1))))
        numbers = [splat(self.b, self.read(first, n), self.lanes) for n in range(2 * (self.radix - 1))]
        return [Complexes(self.b, re, im) for re, im in zip(numbers[::2], numbers[1::2], strict=True)]


class _Stage(_Vectors):
    """Writes the function that runs one stage."""

    def __init__(self, module: ir.Module, kind: FourierKind, options: Options, passes: Sequence[ir.Function]) -> None:
        super().__init__(module, kind, options, ir.Function(module, tile_type(), fourier_name(kind)))
        self.passes = passes

    def run(self) -> None:
        b = self.b
        operands, words, self.me, self.all = self.function.args
        self.words = words
        self.word = {s: self.load(words, i64(s)) for s in StageWord}
        self.is_swapped = {
            s: b.icmp_signed("!=", self.word[s], i64(0)) for s in (StageWord.swap_source, StageWord.swap_target)
        }
        self.source, self.target = (self._operand(operands, s) for s in (StageWord.source, StageWord.target))
        room = b.load(self.at(operands, i64(2), pointer), typ=pointer)
        mine = b.add(self.word[StageWord.work], b.mul(self.me, self.word[StageWord.work_bytes]))
        self.work = b.gep(room, [mine], source_etype=i8)
        done = b.append_basic_block("done")
        choice = b.switch(self.word[StageWord.kind], done)
        for kind in StageKind:
            block = b.append_basic_block(kind.name)
            choice.add_case(i64(kind), block)
            b.position_at_end(block)
            if kind is StageKind.columns:
                self._columns()
            else:
                self._elements(getattr(self, f"_{kind.name}"))
            b.branch(done)
        b.position_at_end(done)
        b.ret_void()

    def _operand(self, operands: ir.Value, side: StageWord) -> ir.Value:
        base = self.b.load(self.at(operands, self.word[side], pointer), typ=pointer)
        return self.b.gep(base, [self.word[StageWord(side + 1)]], source_etype=i8)

    def _table(self, which: StageWord) -> ir.Value:
        return self.b.inttoptr(self.word[which], pointer)

    def _is(self, which: StageWord) -> ir.Value:
        return self.b.icmp_signed("!=", self.word[which], i64(0))

    # -------------------------------------------------------------------------------------------- columns

    def _columns(self) -> None:
        """Blocks of columns, each by one thread."""
        b, word = self.b, self.word
        blocks = b.udiv(b.add(word[StageWord.columns], i64(self.lanes - 1)), i64(self.lanes))

        def job(n: ir.Value) -> None:
            line, block = b.udiv(n, blocks), b.urem(n, blocks)
            left = b.sub(word[StageWord.columns], b.mul(block, i64(self.lanes)))
            self._block(line, block, self.least(left, i64(self.lanes)))

        self.loop(self.me, b.mul(word[StageWord.lines], blocks), self.all, job)

    def _side(self, base: ir.Value, line: ir.Value, column: ir.Value, first: StageWord) -> ir.Value:
        """Where the columns of a block begin, of those that lie in lines."""
        steps = self.word[StageWord(first + 2)], self.word[StageWord(first + 4)]
        place = self.b.add(self.b.mul(line, steps[0]), self.b.mul(column, steps[1]))
        return self.number(base, self.b.mul(place, i64(2)))

    def _block(self, line: ir.Value, block: ir.Value, count: ir.Value) -> None:
        """Transform columns: bring them to the working memory, pass for pass between its halves, and away."""
        b, word = self.b, self.word
        length, column = word[StageWord.length], b.mul(block, i64(self.lanes))
        whole = b.icmp_signed("==", count, i64(self.lanes))
        source, target = (
            self._side(base, line, column, s)
            for base, s in ((self.source, StageWord.source), (self.target, StageWord.target))
        )
        blocks = b.udiv(b.add(word[StageWord.columns], i64(self.lanes - 1)), i64(self.lanes))
        panel_size = b.mul(length, i64(2 * self.lanes))
        panel = self.number(self.source, b.mul(b.add(b.mul(line, blocks), block), panel_size))
        halves = self.work, self.number(self.work, panel_size)
        fill = b.select(whole, word[StageWord.fill], word[StageWord.rest_fill])
        drain = b.select(whole, word[StageWord.drain], word[StageWord.rest_drain])
        begin = b.select(self._is(StageWord.source_panels), panel, source)
        start = self._filled(fill, begin, source, halves[0], count)
        steps = [b.mul(word[s], i64(2)) for s in (StageWord.source_rows, StageWord.target_rows)]
        last = b.sub(word[StageWord.passes], i64(1))
        to_target = b.and_(b.icmp_signed("==", drain, i64(Passage.directly)), b.not_(self._is(StageWord.target_panels)))

        def one(n: ir.Value, held: Sequence[ir.Value]) -> list[ir.Value]:
            record = self.at(self.words, b.add(i64(len(StageWord)), b.mul(n, i64(len(Pass)))), i64)
            told = {p: self.load(record, i64(p)) for p in Pass}
            other = b.select(b.icmp_unsigned("==", held[0], halves[0]), halves[1], halves[0])
            into = b.select(b.and_(to_target, b.icmp_signed("==", n, last)), target, other)
            swap = b.select(
                b.icmp_signed("==", n, last),
                self.is_swapped[StageWord.swap_target],
                self.is_swapped[StageWord.swap_source],
            )
            code = b.select(whole, told[Pass.code], told[Pass.rest_code])
            factors = b.inttoptr(told[Pass.factors], pointer)
            given = [held[0], into, *steps, told[Pass.blocks], told[Pass.side], factors, swap]
            self._choose(code, [partial(b.call, f, given) for f in self.passes])
            return [into]

        (found,) = self.carried(i64(0), word[StageWord.passes], i64(1), [start], one)
        with b.if_then(self._is(StageWord.target_panels)):
            self._turned_panels(found, line, block, count)
        with b.if_then(b.icmp_signed("==", drain, i64(Passage.squares))):
            self._squares(found, target, StageWord.target_lanes, out=True)
        with b.if_then(b.icmp_signed("==", drain, i64(Passage.elements))):
            self._one_by_one(found, target, count, StageWord.target_rows, out=True)

    def _choose(self, code: ir.Value, ways: Sequence[Callable[[], object]]) -> None:
        b = self.b
        done = b.append_basic_block("chosen")
        choice = b.switch(code, done)
        for n, way in enumerate(ways):
            block = b.append_basic_block(f"way{n}")
            choice.add_case(i64(n), block)
            b.position_at_end(block)
            way()
            b.branch(done)
        b.position_at_end(done)

    def _filled(self, fill: ir.Value, begin: ir.Value, source: ir.Value, work: ir.Value, count: ir.Value) -> ir.Value:
        """Where the first pass reads: at the source itself, or what was brought into the working memory."""
        b = self.b
        with b.if_then(b.icmp_signed("==", fill, i64(Passage.squares))):
            self._squares(work, source, StageWord.source_lanes, out=False)
        with b.if_then(b.icmp_signed("==", fill, i64(Passage.elements))):
            self._one_by_one(work, source, count, StageWord.source_rows, out=False)
        return b.select(b.icmp_signed("==", fill, i64(Passage.directly)), begin, work)

    def _squares(self, work: ir.Value, outside: ir.Value, lanes: StageWord, out: bool) -> None:
        """Columns whose elements lie side by side: squares of as many columns as rows; what is left one by one."""
        b, n = self.b, self.lanes
        step = b.mul(self.word[lanes], i64(2))
        length = self.word[StageWord.length]
        whole = b.and_(length, i64(-n))
        swap = self.is_swapped[StageWord.swap_target if out else StageWord.swap_source]

        def square(first: ir.Value) -> None:
            places = [self.number(outside, b.add(b.mul(first, i64(2)), b.mul(step, i64(i)))) for i in range(n)]
            if out:
                rows = [self.row(work, b.add(first, i64(i))) for i in range(n)]
                for x, place in zip(self.mirrored(rows), places, strict=True):
                    self.together(x, place, swap)
            else:
                for i, x in enumerate(self.mirrored([self.apart(place, swap) for place in places])):
                    self.put_row(x, work, b.add(first, i64(i)))

        self.loop(i64(0), whole, i64(n), square)
        rows = StageWord.target_rows if out else StageWord.source_rows
        self._one_by_one(work, outside, i64(n), rows, out, whole)

    def _one_by_one(
        self,
        work: ir.Value,
        outside: ir.Value,
        count: ir.Value,
        rows: StageWord,
        out: bool,
        first: ir.Value | None = None,
    ) -> None:
        """Elements of `count` columns, from row `first` on. Lanes beyond them get what the last one has."""
        b = self.b
        row_step, lane_step = (b.mul(self.word[s], i64(2)) for s in (rows, StageWord(rows + 1)))
        swap = self.is_swapped[StageWord.swap_target if out else StageWord.swap_source]
        most = b.sub(count, i64(1))

        def element(row: ir.Value, lane: ir.Value) -> None:
            column = lane if out else self.least(lane, most)
            place = self.number(outside, b.add(b.mul(row, row_step), b.mul(column, lane_step)))
            kept = self.number(work, b.add(b.mul(row, i64(2 * self.lanes)), lane))
            if out:
                self._put(Complexes(b, self.read(kept, 0), self.read(kept, self.lanes)), place, swap)
            else:
                x = self._get(place, swap)
                self.write(x.re, kept, 0)
                self.write(x.im, kept, self.lanes)

        def row(n: ir.Value) -> None:
            self.loop(i64(0), count if out else i64(self.lanes), i64(1), lambda lane: element(n, lane))

        self.loop(first or i64(0), self.word[StageWord.length], i64(1), row)

    def _turned_panels(self, found: ir.Value, line: ir.Value, block: ir.Value, count: ir.Value) -> None:
        """Leave a block as columns of panels whose rows are these columns, each number turned by its row and column."""
        b, n, word = self.b, self.lanes, self.word
        length, columns = word[StageWord.length], word[StageWord.target_columns]
        turns = self.number(self._table(StageWord.turns), b.mul(b.mul(block, length), i64(2)))
        lane_turns = self._table(StageWord.lane_turns)
        last = b.sub(length, i64(1))
        column = b.mul(block, i64(n))

        def panel(k: ir.Value) -> None:
            rows = []
            for i in range(n):
                row = self.least(b.add(b.mul(k, i64(n)), i64(i)), last)
                place = b.mul(row, i64(2))
                base = [splat(b, self.read(turns, b.add(place, i64(side))), n) for side in (0, 1)]
                rows.append(self.row(found, row) * (Complexes(b, *base) * self.row(lane_turns, row)))
            which = b.add(b.mul(line, word[StageWord.target_panels]), k)
            first = b.add(b.mul(which, columns), column)
            for i, x in enumerate(self.mirrored(rows)):
                with b.if_then(b.icmp_signed("<", i64(i), count), likely=True):
                    self.put_row(x, self.target, b.add(first, i64(i)))

        self.loop(i64(0), word[StageWord.target_panels], i64(1), panel)

    # -------------------------------------------------------------------------------------------- one by one

    def _elements(self, one: Callable[[ir.Value, ir.Value, ir.Value], None]) -> None:
        """Every element of every line of the target, in chunks that threads share."""
        b, word = self.b, self.word
        chunks = b.udiv(b.add(word[StageWord.columns], i64(CHUNK - 1)), i64(CHUNK))

        def job(n: ir.Value) -> None:
            line, first = b.udiv(n, chunks), b.mul(b.urem(n, chunks), i64(CHUNK))
            bases = [
                self.number(base, b.mul(line, word[step]))
                for base, step in ((self.source, StageWord.source_line), (self.target, StageWord.target_line))
            ]
            end = self.least(b.add(first, i64(CHUNK)), word[StageWord.columns])
            self.loop(first, end, i64(1), lambda k: one(bases[0], bases[1], k))

        self.loop(self.me, b.mul(word[StageWord.lines], chunks), self.all, job)

    def _get(self, base: ir.Value, swap: ir.Value | None = None, place: ir.Value | None = None) -> Complexes:
        first = base if place is None else self.number(base, self.b.mul(place, i64(2)))
        x = Complexes(self.b, self.read(first, 0), self.read(first, 1))
        return x if swap is None else self.swapped(x, swap)

    def _put(self, x: Complexes, base: ir.Value, swap: ir.Value | None = None, place: ir.Value | None = None) -> None:
        first = base if place is None else self.number(base, self.b.mul(place, i64(2)))
        x = x if swap is None else self.swapped(x, swap)
        self.write(x.re, first, 0)
        self.write(x.im, first, 1)

    def _multiply(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        b, length = self.b, self.word[StageWord.length]
        inside = b.icmp_signed("<", k, length)
        at = self.least(k, b.sub(length, i64(1)))
        x = self._get(source, self.is_swapped[StageWord.swap_source], at) * self._get(
            self._table(StageWord.table), None, at
        )
        zero = ir.Constant(self.element, 0.0)
        kept = Complexes(b, b.select(inside, x.re, zero), b.select(inside, x.im, zero))
        self._put(kept, target, self.is_swapped[StageWord.swap_target], k)

    def _widen(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        self._put(Complexes(self.b, self.read(source, k), ir.Constant(self.element, 0.0)), target, None, k)

    def _narrow(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        self.write(self._get(source, None, k).re, target, k)

    def _halve(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        self._put(self._get(source, None, k), target, None, k)

    def _mirror(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        """x[k], and from the middle on the conjugate of x[n - k]; the first number is real."""
        b, n = self.b, self.word[StageWord.columns]
        beyond = b.icmp_signed(">=", k, self.word[StageWord.length])
        x = self._get(source, None, b.select(beyond, b.sub(n, k), k))
        im = b.select(beyond, b.fneg(x.im), x.im)
        im = b.select(b.icmp_signed("==", k, i64(0)), ir.Constant(self.element, 0.0), im)
        self._put(Complexes(b, x.re, im), target, None, k)

    def _split(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        """Of even + i odd: the sum of both transforms, which are even and odd if k becomes -k and one conjugates."""
        b, h = self.b, self.word[StageWord.length]
        at = b.select(b.icmp_signed("==", k, h), i64(0), k)
        back = b.select(b.icmp_signed("==", k, i64(0)), i64(0), b.sub(h, k))
        z, mirrored = self._get(source, None, at), self._get(source, None, back).conjugate()
        even, odd = (z + mirrored).scaled(0.5), (z - mirrored).scaled(0.5)
        turned = odd * self._get(self._table(StageWord.table), None, k)
        self._put(even.minus_i(turned), target, None, k)

    def _join(self, source: ir.Value, target: ir.Value, k: ir.Value) -> None:
        """The other way, twice as large; the first and the last number are real."""
        b, h = self.b, self.word[StageWord.length]
        x, mirrored = self._get(source, None, k), self._get(source, None, b.sub(h, k)).conjugate()
        zero = ir.Constant(self.element, 0.0)
        first = b.icmp_signed("==", k, i64(0))
        x, mirrored = (Complexes(b, y.re, b.select(first, zero, y.im)) for y in (x, mirrored))
        odd = (x - mirrored) * self._get(self._table(StageWord.table), None, k)
        self._put((x + mirrored).plus_i(odd), target, None, k)
