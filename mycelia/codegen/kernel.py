"""One LLVM function per kernel: rows, sweeps, nested loops, the last of them in vectors.

    void kernel(ptr buffers[], i64 low, i64 high)

runs the rows from `low` to `high`; a kernel without rows runs that part of its first column instead. Sizes that are not
known yet are numbers in a table, which stands behind the buffers (`extents.py`). Nothing is left
to LLVM's loop passes, which do not run: what does not change inside a loop is computed before it, folds live in
registers, and each fold keeps several partial results so that additions need not wait for one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from llvmlite import ir

from mycelia.codegen import scalar
from mycelia.codegen.extents import numbers_of
from mycelia.codegen.lanes import every_other, index_variables, mask_of, pairs_of, reads, write_pair
from mycelia.codegen.scalar import i32, i64
from mycelia.cost import unrolled_up_to
from mycelia.loops import (
    Buffer,
    Datum,
    Expr,
    Fold,
    Index,
    Kernel,
    Quotient,
    Remainder,
    Store,
    Sweep,
    Update,
    Variable,
    neutral,
)
from mycelia.options import Options
from mycelia.sizes import Dim, Sym, known_equal
from mycelia.sizes import low as least
from mycelia.types import DType, bfloat16, float16, int64

pointer = ir.PointerType()
KERNEL_TYPE = ir.FunctionType(ir.VoidType(), [pointer, i64, i64])


def emit_kernel(
    module: ir.Module, kernel: Kernel, name: str, options: Options, streamed: frozenset[Buffer] = frozenset()
) -> ir.Function:
    """Define `kernel` as the function `name`. Buffers that are `streamed` are written past the cache."""
    function = ir.Function(module, KERNEL_TYPE, name)
    function.attributes.add("nounwind")
    _Emitter(function, kernel, options, streamed).run()
    return function


@dataclass
class _Scope:
    """What has been computed where the builder stands."""

    scalars: dict[Expr, ir.Value] = field(default_factory=dict)
    vectors: dict[Expr, ir.Value] = field(default_factory=dict)
    offsets: dict[Index, ir.Value] = field(default_factory=dict)


class _Emitter:
    def __init__(self, function: ir.Function, kernel: Kernel, options: Options, streamed: frozenset[Buffer]) -> None:
        self.function, self.kernel, self.target, self.streamed = function, kernel, options.target, streamed
        self.b = scalar.Builder(options.fast_math, function.append_basic_block("entry"))
        self.args, self.low, self.high = function.args
        self.variables: dict[Variable, ir.Value] = {}
        self.folds: dict[Fold, ir.Value] = {}
        self.scope = _Scope()
        self.vector: Variable | None = None  # the loop variable that runs in lanes
        self.lanes = 1
        self.coming: list[tuple[Buffer, Index]] = []
        self.pairs: list[tuple[int, int]] = []  # stores of a sweep that fill every other element each
        self.pointers = {b: self._pointer(i) for i, b in enumerate(kernel.buffers())}
        self.numbers: dict[Sym, ir.Value] = {}
        if given := numbers_of(kernel):
            table = self._pointer(len(self.pointers))
            for i, n in enumerate(given):
                self.numbers[n] = self.b.load(self.b.gep(table, [i64(i)], inbounds=True, source_etype=i64), typ=i64)
        for buffer in kernel.scratch:
            row = ir.ArrayType(scalar.memory_type(buffer.type.dtype), max(buffer.type.size, 1))
            self.pointers[buffer] = scalar.room(self.b, row)
            self.pointers[buffer].align = 64

    def _pointer(self, slot: int) -> ir.Value:
        where = self.b.gep(self.args, [i64(slot)], inbounds=True, source_etype=pointer)
        return self.b.load(where, typ=pointer)

    def number(self, n: Dim) -> ir.Value:
        """A size: a constant, or what the table says."""
        return i64(n) if isinstance(n, int) else self.numbers[n]

    def _times(self, n: Dim, factor: int) -> ir.Value:
        """A multiple of a size."""
        return i64(n * factor) if isinstance(n, int) else self.b.mul(self.numbers[n], i64(factor))

    # -------------------------------------------------------------------------------------------- rows and sweeps

    def run(self) -> None:
        if self.kernel.rows:
            self.loop(self.low, self.high, 1, [], self._row)
        else:
            for sweep in self.kernel.sweeps:
                self.sweep(sweep, (self.low, self.high))
        self.b.ret_void()

    def _row(self, row: ir.Value, _: Sequence[ir.Value]) -> list[ir.Value]:
        rest = row
        for v in reversed(self.kernel.rows[1:]):
            self.variables[v] = self.b.urem(rest, self.number(v.extent))
            rest = self.b.udiv(rest, self.number(v.extent))
        self.variables[self.kernel.rows[0]] = rest
        *earlier, last = self.kernel.sweeps
        for sweep in earlier:
            self.sweep(sweep, None)
        self.coming = self._next_row(earlier[0], last) if earlier else []
        self.sweep(last, None)
        self.coming = []
        return []

    def _next_row(self, first: Sweep, last: Sweep) -> list[tuple[Buffer, Index]]:
        """What the first sweep will read of the next row, at the places where the last sweep stands: it is asked for
        early, while there is still something to compute.
        """
        row = self.kernel.rows[-1]
        if first.columns != last.columns or not last.columns:
            return []
        ahead: dict[tuple[Buffer, Index], None] = {}
        for _, e in first.folds:
            for x in e.walk():
                if x.kind == "load":
                    buffer, at = x.attribute
                    step = at.coefficient(row)
                    near = known_equal(at.coefficient(last.columns[-1]), 1) and isinstance(at.constant, int)
                    if isinstance(step, int) and step and near and len(at.terms) > 1:
                        ahead[buffer, at + step] = None
        return list(ahead)

    def sweep(self, sweep: Sweep, flat: tuple[ir.Value, ir.Value] | None) -> None:
        """`flat` is the part of the first column to run, when the kernel has no rows."""
        self.scope = _Scope()
        roots = [e for _, e in sweep.folds] + [a.value for a in sweep.actions]
        width = self._width(sweep, roots)
        small = sum(len(r.walk()) for r in roots) <= unrolled_up_to(self.target)
        unroll = (4 if sweep.folds else 2) if width > 1 and small else 1
        partial = [
            [self._neutral(f, lanes) for lanes in ([width] * unroll if width > 1 else []) + [1]] for f, _ in sweep.folds
        ]
        carried = [p for group in partial for p in group]
        if sweep.columns:
            carried = self._nest(sweep, roots, list(sweep.columns), carried, width, unroll, flat)
        else:
            carried = self._body(sweep, carried, len(partial[0]) if partial else 0, -1)
        parts = iter(carried)
        for (fold, _), group in zip(sweep.folds, partial, strict=True):
            self.folds[fold] = self._finish(fold, [next(parts) for _ in group])
        self.scope = _Scope()
        for action in sweep.after:
            self._store(action)

    def _nest(
        self, sweep: Sweep, roots: list[Expr], columns: list[Variable], carried: list[ir.Value], width: int,
        unroll: int, flat: tuple[ir.Value, ir.Value] | None,
    ) -> list[ir.Value]:  # fmt: skip
        """The loops over `columns`, outermost first; the last one in vectors."""
        v, inner = columns[0], columns[1:]
        self._hoist(sweep, roots, tuple(columns))
        self._hoist_offsets(sweep, tuple(columns))
        low, high = flat or (i64(0), self._end(v))
        known = None if flat or v.within or not isinstance(v.extent, int) else v.extent
        if not inner:
            return self._lanes(sweep, v, low, high, known, carried, width, unroll)

        def body(i: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
            outer = self.scope
            self.scope = _Scope(dict(outer.scalars), dict(outer.vectors), dict(outer.offsets))
            self.variables[v] = i
            out = self._nest(sweep, roots, inner, list(sums), width, unroll, None)
            self.scope = outer
            return out

        return self.loop(low, high, 1, carried, body, known)

    def _end(self, v: Variable) -> ir.Value:
        """Where a loop stops: the last block of a whole may be cut short."""
        if v.within is None:
            return self.number(v.extent)
        block, total = v.within
        left = self.b.sub(self.number(total), self.b.mul(self.variables[block], self.number(v.extent)))
        return self.b.select(self.b.icmp_signed("<", left, self.number(v.extent)), left, self.number(v.extent))

    def _lanes(
        self, sweep: Sweep, v: Variable, low: ir.Value, high: ir.Value, known: int | None, carried: list[ir.Value],
        width: int, unroll: int,
    ) -> list[ir.Value]:  # fmt: skip
        """The innermost loop: whole groups of vectors, then single vectors, then what is left one by one."""
        slots = (unroll if width > 1 else 0) + 1

        def body(step: int, lanes: int) -> Callable[[ir.Value, Sequence[ir.Value]], list[ir.Value]]:
            def emit(i: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
                now = list(sums)
                outer = self.scope
                for turn in range(step // lanes):
                    self.scope = _Scope(outer.scalars.copy(), outer.vectors.copy(), outer.offsets.copy())
                    self.variables[v] = self.b.add(i, i64(turn * lanes)) if turn else i
                    self.vector, self.lanes = (v, lanes) if lanes > 1 else (None, 1)
                    now = self._body(sweep, now, slots, turn if lanes > 1 else -1)
                self.scope, self.vector, self.lanes = outer, None, 1
                return now

            return emit

        steps = [(1, 1)] if width == 1 else [(width * unroll, width), (width, width), (1, 1)]
        if width > 1 and unroll == 1:
            steps = steps[1:]
        start = low
        for step, lanes in steps:
            if known is not None:
                whole = known // step * step
                begun = int(start.constant)
                if whole > begun:
                    carried = self.loop(start, i64(whole), step, carried, body(step, lanes), whole - begun)
                    start = i64(whole)
            elif step == 1:
                carried = self.loop(start, high, 1, carried, body(1, 1))
            else:
                rest = self.b.urem(self.b.sub(high, start), i64(step))
                end = self.b.sub(high, rest)
                carried = self.loop(start, end, step, carried, body(step, lanes))
                start = end
        return carried

    def _body(self, sweep: Sweep, carried: Sequence[ir.Value], slots: int, turn: int) -> list[ir.Value]:
        """Fold and act once. `turn` says which of the partial results takes this vector; -1 is the scalar one."""
        now = list(carried)
        for n, (fold, e) in enumerate(sweep.folds):
            at = n * slots + (turn if turn >= 0 else slots - 1)
            now[at] = scalar.emit(self.b, fold.combine, fold.dtype, fold.dtype, [now[at], self.value(e)])
        values = [self._moved(a) or self.value(a.value) for a in sweep.actions]
        together = set[int]()
        for left, right in self.pairs if self.lanes > 1 else ():
            place = self._address(sweep.actions[left].buffer, self.offset(sweep.actions[left].offset))
            write_pair(self.b, place, sweep.actions[left].buffer.type.dtype, values[left], values[right])
            together |= {left, right}
        for n, (action, value) in enumerate(zip(sweep.actions, values, strict=True)):
            if n in together:
                continue
            if isinstance(action, Update):
                value = scalar.emit(
                    self.b, action.combine, action.value.dtype, action.value.dtype,
                    [self._load(action.buffer, action.offset), value],
                )  # fmt: skip
            self._write(action.buffer, action.offset, value)
        if self.lanes > 1:
            for buffer, place in self.coming:
                self._prefetch(self._address(buffer, self.offset(place)))
        return now

    def _prefetch(self, place: ir.Value) -> None:
        name = "llvm.prefetch.p0"
        module = self.function.module
        prefetch = module.globals.get(name)
        if prefetch is None:
            prefetch = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, i32, i32, i32]), name)
        self.b.call(prefetch, [place, i32(0), i32(3), i32(1)])

    def loop(
        self, low: ir.Value, high: ir.Value, step: int, carried: list[ir.Value],
        body: Callable[[ir.Value, Sequence[ir.Value]], list[ir.Value]], known: int | None = None,
    ) -> list[ir.Value]:  # fmt: skip
        """`for i in range(low, high, step)`, with values carried from turn to turn in registers."""
        if known == 0:
            return carried
        if known is not None and known == step:
            return body(low, carried)
        b, before = self.b, self.b.block
        head, after = b.append_basic_block("loop"), b.append_basic_block("done")
        if known is None:
            b.cbranch(b.icmp_signed("<", low, high), head, after)
        else:
            b.branch(head)
        b.position_at_end(head)
        i = b.phi(i64)
        i.add_incoming(low, before)
        sums = [b.phi(c.type) for c in carried]
        for phi, c in zip(sums, carried, strict=True):
            phi.add_incoming(c, before)
        new = body(i, sums)
        following = b.add(i, i64(step))
        i.add_incoming(following, b.block)
        for phi, c in zip(sums, new, strict=True):
            phi.add_incoming(c, b.block)
        b.cbranch(b.icmp_signed("<", following, high), head, after)
        end = b.block
        b.position_at_end(after)
        if known is not None:
            return new
        merged = []
        for c, n in zip(carried, new, strict=True):
            phi = b.phi(c.type)
            phi.add_incoming(c, before)
            phi.add_incoming(n, end)
            merged.append(phi)
        return merged

    # -------------------------------------------------------------------------------------------- width, folds

    def _width(self, sweep: Sweep, roots: list[Expr]) -> int:
        """How many lanes the innermost loop has: 1 where writing in lanes would go wrong or not pay."""
        if not sweep.columns:
            return 1
        v = sweep.columns[-1]
        self.pairs = pairs_of(sweep.actions, v)
        together = {n for pair in self.pairs for n in pair}
        for n, action in enumerate(sweep.actions):
            atoms = [a for a, _ in action.offset.terms if a is not v and v in index_variables(a)]
            if atoms or (n not in together and not known_equal(action.offset.coefficient(v), 1)):
                return 1
        kinds = {e.dtype for r in roots for e in r.walk()}
        if any(e.kind in ("mod", "pow") and e.args[0].dtype.kind != "f" for r in roots for e in r.walk()):
            return 1
        widest = max((8 if d.bits == 64 else 4) for d in kinds) if kinds else 4
        width = self.target.vector_bytes // widest
        if self.kernel.rows and isinstance(v.extent, int):
            while width > 1 and width > v.extent:
                width //= 2
        return width

    def _neutral(self, fold: Fold, lanes: int) -> ir.Value:
        return scalar.constant(neutral(fold.combine, fold.dtype), fold.dtype, lanes)

    def _finish(self, fold: Fold, parts: list[ir.Value]) -> ir.Value:
        """All partial results as one number."""

        def combine(x: ir.Value, y: ir.Value) -> ir.Value:
            return scalar.emit(self.b, fold.combine, fold.dtype, fold.dtype, [x, y])

        vectors, total = parts[:-1], parts[-1]
        while len(vectors) > 1:
            vectors = [combine(x, y) for x, y in zip(vectors[::2], vectors[1::2], strict=True)]
        if not vectors:
            return total
        left = vectors[0]
        lanes = scalar.lanes_of(left)
        while lanes > 1:
            half = lanes // 2
            undefined = ir.Constant(left.type, ir.Undefined)
            low = self.b.shuffle_vector(left, undefined, mask_of(range(half)))
            high = self.b.shuffle_vector(left, undefined, mask_of(range(half, lanes)))
            left, lanes = combine(low, high), half
        return combine(self.b.extract_element(left, i32(0)), total)

    # -------------------------------------------------------------------------------------------- expressions

    def _hoist(self, sweep: Sweep, roots: list[Expr], inner: tuple[Variable, ...]) -> None:
        """Compute now what does not change in the loops over `inner`: not what they write."""
        varying = set(inner)
        written = {a.buffer for a in sweep.actions}
        changes: dict[Expr, bool] = {}
        for root in roots:
            for e in root.walk():
                if e in changes:
                    continue
                own = e.variables() if e.kind in ("load", "position") else set()
                stored = e.kind == "load" and e.attribute[0] in written
                changes[e] = stored or bool(own & varying) or any(changes[a] for a in e.args)
                if not changes[e] and e.kind != "const":
                    self.value(e)

    def _hoist_offsets(self, sweep: Sweep, inner: tuple[Variable, ...]) -> None:
        roots = [e for _, e in sweep.folds] + [a.value for a in sweep.actions]
        at = [a.offset for a in sweep.actions]
        at += [e.attribute[1] for r in roots for e in r.walk() if e.kind == "load"]
        written = {a.buffer for a in sweep.actions}
        for offset in at:
            still = tuple(
                t for t in offset.terms if not index_variables(t[0]) & set(inner) and not reads(t[0], written)
            )
            outer = Index(offset.constant, still)
            if outer.terms:
                self.offset(outer)

    def value(self, e: Expr) -> ir.Value:
        """The expression in the current lanes; a single number where all lanes agree is spread out."""
        if self.lanes == 1:
            for x in e.walk() if e not in self.scope.scalars else ():
                if x not in self.scope.scalars:
                    self.scope.scalars[x] = self._emit(x, [self.scope.scalars[a] for a in x.args], 1)
            return self.scope.scalars[e]
        for x in e.walk() if e not in self.scope.vectors else ():
            if x not in self.scope.vectors:
                if x in self.scope.scalars:
                    self.scope.vectors[x] = scalar.splat(self.b, self.scope.scalars[x], self.lanes)
                else:
                    self.scope.vectors[x] = self._emit(x, [self.scope.vectors[a] for a in x.args], self.lanes)
        return self.scope.vectors[e]

    def _emit(self, e: Expr, args: list[ir.Value], lanes: int) -> ir.Value:
        if e.kind == "const":
            return scalar.constant(e.attribute, e.dtype, lanes)
        if e.kind == "load":
            return self._load(*e.attribute)
        if e.kind == "position":
            return self._position(e.attribute, e.dtype)
        if e.kind == "folded":
            return scalar.splat(self.b, self.folds[e.attribute], lanes)
        return scalar.emit(self.b, e.kind, e.dtype, e.args[0].dtype, args)

    def _position(self, at: Index, dtype: DType) -> ir.Value:
        kind, step = scalar.register_type(dtype, self.lanes), self._step(at)
        if self.lanes > 1 and dtype.kind in "iu" and dtype.bits == 32 and step is not None:
            steps = ir.Constant(kind, [n * step % (1 << 32) for n in range(self.lanes)])
            return self.b.add(scalar.splat(self.b, self.b.trunc(self.offset(at), i32), self.lanes), steps)
        whole = self.indices(at)
        if dtype.kind == "f":
            return self.b.sitofp(whole, kind)
        return whole if dtype.bits == 64 else self.b.trunc(whole, kind)

    # -------------------------------------------------------------------------------------------- memory

    def _moved(self, action: Store | Update) -> ir.Value | None:
        """An element that goes elsewhere as it lies in memory, where taking it up would mean converting it."""
        e = action.value
        if e.kind != "load" or isinstance(action, Update) or e in self.scope.scalars or e in self.scope.vectors:
            return None
        buffer, at = e.attribute
        moves = buffer.type.dtype is action.buffer.type.dtype and buffer.type.dtype in (float16, bfloat16)
        return self._lying(buffer, at) if moves and (self.lanes == 1 or self._step(at) != 0) else None

    def _load(self, buffer: Buffer, at: Index) -> ir.Value:
        if self.lanes > 1 and self._step(at) == 0:
            return scalar.splat(self.b, self._single(buffer, self.offset(at)), self.lanes)
        return scalar.from_memory(self.b, self._lying(buffer, at), buffer.type.dtype)

    def _lying(self, buffer: Buffer, at: Index) -> ir.Value:
        """The elements as they lie in memory."""
        if self.lanes > 1 and self._step(at) == 2:
            return every_other(self.b, self._address(buffer, self.offset(at)), buffer.type.dtype, self.lanes)
        if self.lanes > 1 and self._step(at) != 1:
            return self._gather(buffer, at)
        place = self._address(buffer, self.offset(at))
        raw = self.b.load(place, typ=scalar.memory_type(buffer.type.dtype, self.lanes))
        raw.align = buffer.type.dtype.itemsize
        return raw

    def _single(self, buffer: Buffer, offset: ir.Value) -> ir.Value:
        raw = self.b.load(self._address(buffer, offset), typ=scalar.memory_type(buffer.type.dtype))
        return scalar.from_memory(self.b, raw, buffer.type.dtype)

    def _gather(self, buffer: Buffer, at: Index) -> ir.Value:
        out = ir.Constant(scalar.memory_type(buffer.type.dtype, self.lanes), ir.Undefined)
        for lane, address in enumerate(self._addresses(buffer, at)):
            one = self.b.load(address, typ=scalar.memory_type(buffer.type.dtype))
            out = self.b.insert_element(out, one, i32(lane))
        return out

    def _addresses(self, buffer: Buffer, at: Index) -> Iterator[ir.Value]:
        """Where each lane reads. Equal steps are counted from the first lane."""
        if self._is_even(at):
            kind, step = scalar.memory_type(buffer.type.dtype), at.coefficient(cast("Variable", self.vector))
            first = self._address(buffer, self.offset(at))
            for lane in range(self.lanes):
                yield self.b.gep(first, [self._times(step, lane)], inbounds=True, source_etype=kind)
            return
        places = self.indices(at)
        for lane in range(self.lanes):
            yield self._address(buffer, self.b.extract_element(places, i32(lane)))

    def _store(self, action: Store) -> None:
        self._write(action.buffer, action.offset, self.value(action.value))

    def _write(self, buffer: Buffer, at: Index, value: ir.Value) -> None:
        place, dtype = self._address(buffer, self.offset(at)), buffer.type.dtype
        as_it_lies = value.type == scalar.memory_type(dtype, self.lanes)
        instruction = self.b.store(value if as_it_lies else scalar.to_memory(self.b, value, dtype), place)
        instruction.align = buffer.type.dtype.itemsize
        if self.lanes > 1 and buffer in self.streamed:
            instruction.align = self.lanes * buffer.type.dtype.itemsize
            instruction.set_metadata("nontemporal", self.function.module.add_metadata([i32(1)]))

    def _address(self, buffer: Buffer, offset: ir.Value) -> ir.Value:
        kind = scalar.memory_type(buffer.type.dtype)
        return self.b.gep(self.pointers[buffer], [offset], inbounds=True, source_etype=kind)

    def _step(self, at: Index) -> int | None:
        """How far apart neighbouring lanes are: None where that is not one number, known now."""
        if self.vector is None:
            return 0
        step = at.coefficient(self.vector)
        return step if isinstance(step, int) and self._is_even(at) else None

    def _is_even(self, at: Index) -> bool:
        """Whether all neighbouring lanes are equally far apart."""
        return all(atom is self.vector or self.vector not in index_variables(atom) for atom, _ in at.terms)

    def offset(self, at: Index) -> ir.Value:
        """An index as a number, in the first lane."""
        found = self.scope.offsets.get(at)
        if found is not None:
            return found
        total: ir.Value | None = None
        zero: Dim = 0
        outer = [t for t in at.terms if self.vector is None or self.vector not in index_variables(t[0])]
        rest = [t for t in at.terms if t not in outer]
        known = self.scope.offsets.get(Index(at.constant, tuple(outer))) if rest else None
        if known is not None:
            total, terms, constant = known, rest, zero
        else:
            terms, constant = list(at.terms), at.constant
        for atom, c in terms:
            term = self._atom(atom)
            term = term if known_equal(c, 1) else self.b.mul(term, self.number(c))
            total = term if total is None else self.b.add(total, term)
        if total is None:
            total = self.number(constant)
        elif not known_equal(constant, 0):
            total = self.b.add(total, self.number(constant))
        self.scope.offsets[at] = total
        return total

    def _atom(self, atom: object) -> ir.Value:
        if isinstance(atom, Variable):
            return self.variables[atom]
        if isinstance(atom, Quotient):
            return self._divided(atom, self.offset(atom.index))
        if isinstance(atom, Remainder):
            return self._remaining(atom, self.offset(atom.index))
        assert isinstance(atom, Datum), f"{atom} is no atom"
        lanes, self.lanes = self.lanes, 1
        vector, self.vector = self.vector, None
        single = self._wide(self.value(atom.value), atom.value.dtype)
        self.lanes, self.vector = lanes, vector
        return single

    def _wide(self, value: ir.Value, dtype: DType) -> ir.Value:
        kind = scalar.register_type(int64, scalar.lanes_of(value))
        if dtype.bits == 64:
            return value
        return self.b.sext(value, kind) if dtype.kind == "i" else self.b.zext(value, kind)

    def _divisor(self, n: Dim) -> ir.Value:
        """A size to divide by. One that turns out to be 0 belongs to what is read and not used."""
        by = self.number(n)
        return by if least(n) > 0 else self.b.select(self.b.icmp_signed("<", by, i64(1)), i64(1), by)

    def _divided(self, atom: Quotient, x: ir.Value) -> ir.Value:
        by = scalar.splat(self.b, self._divisor(atom.divisor), scalar.lanes_of(x))
        if least(atom.index.low) >= 0:
            return self.b.udiv(x, by)
        return self.b.sdiv(self.b.sub(x, self._remaining(Remainder(atom.index, atom.divisor), x)), by)

    def _remaining(self, atom: Remainder, x: ir.Value) -> ir.Value:
        by = scalar.splat(self.b, self._divisor(atom.divisor), scalar.lanes_of(x))
        if least(atom.index.low) >= 0:
            return self.b.urem(x, by)
        return self.b.urem(self.b.add(self.b.srem(x, by), by), by)

    def indices(self, at: Index) -> ir.Value:
        """An index as a number in every lane."""
        if self.lanes == 1:
            return self.offset(at)
        total = scalar.splat(self.b, self.number(at.constant), self.lanes)
        for atom, c in at.terms:
            term = self._atom_lanes(atom)
            term = term if known_equal(c, 1) else self.b.mul(term, scalar.splat(self.b, self.number(c), self.lanes))
            total = self.b.add(total, term)
        return total

    def _atom_lanes(self, atom: object) -> ir.Value:
        assert isinstance(atom, Variable | Quotient | Remainder | Datum), f"{atom} is no atom"
        if atom is self.vector:
            lanes = ir.Constant(ir.VectorType(i64, self.lanes), list(range(self.lanes)))
            return self.b.add(scalar.splat(self.b, self.variables[atom], self.lanes), lanes)
        if self.vector not in index_variables(atom):
            return scalar.splat(self.b, self._atom(atom), self.lanes)
        if isinstance(atom, Quotient):
            return self._divided(atom, self.indices(atom.index))
        if isinstance(atom, Remainder):
            return self._remaining(atom, self.indices(atom.index))
        assert isinstance(atom, Datum), f"{atom} is no atom"
        return self._wide(self.value(atom.value), atom.value.dtype)


__all__ = ["KERNEL_TYPE", "emit_kernel", "pointer"]
