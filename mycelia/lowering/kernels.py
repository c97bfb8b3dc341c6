"""From a group to its kernel: sweeps, scratch rows, and blocks of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from mycelia.ir import Value
from mycelia.loops import (
    Buffer,
    Expr,
    Fold,
    Index,
    Kernel,
    Launch,
    Store,
    Sweep,
    Update,
    Variable,
    binary,
    cast,
    const,
    index,
    load,
    neutral,
)
from mycelia.loops.index import Atom
from mycelia.lowering.across import in_tiles
from mycelia.lowering.borders import at_borders
from mycelia.lowering.group import Group
from mycelia.lowering.nest import shape_loops
from mycelia.lowering.values import weigh
from mycelia.sizes import known_equal, same
from mycelia.types import TensorType, accumulator

BLOCK = 256  # columns that one row of a column reduction takes
ROWS = 4  # rows that are added to the totals of columns at a time
SHORT = 24  # expressions of a row: beside more of them reading and writing the totals takes no time
VECTOR = 16  # columns of whole vectors of every type
NARROW = 64  # columns that some vectors take side by side: additions to one wait for one another


def kernel_of(group: Group, stored: Callable[[Value], Buffer | None], aside: int) -> Launch:
    """The kernel that computes a group. `stored` tells where a member goes, if anyone outside reads it; rows of up to
    `aside` bytes are kept aside between sweeps.
    """
    kernel = _columns(group, stored) if group.is_column else _rows(group, stored, aside)
    if not kernel.sweeps:  # nobody needs what the group computes
        return Launch(kernel, 0)
    kernel = down_several_rows(at_borders(in_tiles(_with_rows(shape_loops(kernel)))))
    work = prod(group.domain) * (2 + weigh([group.expression(m) for m in group.members]))
    return Launch(kernel, work if _has_parts(kernel) else 0)


def _has_parts(kernel: Kernel) -> bool:
    loops = kernel.rows or (kernel.sweeps[0].columns[:1] if len(kernel.sweeps) == 1 else ())
    return any(not known_equal(v.extent, 1) for v in loops)


def _store(group: Group, buffer: Buffer, value: Expr, at: tuple[Index, ...]) -> Store:
    offset = Index(0)
    for i, stride in zip(at, buffer.strides, strict=True):
        offset = offset + i * stride
    return Store(buffer, offset, value)


def _rows(group: Group, stored: Callable[[Value], Buffer | None], aside: int) -> Kernel:
    """Reductions over inner axes: a sweep for every round of folds."""
    rows, columns = group.axes(reduced=False), group.axes(reduced=True)
    if group.reduced is None:
        rows, columns = [], rows
    sweep_of = _Sweeps(group)
    count = 1 + max(sweep_of(m) for m in group.members)
    places, scratch = _places(group, stored, sweep_of, aside)
    sweeps = []
    for n in range(count):
        swap = {e: p for e, (p, made) in places.items() if made < n}
        folds = tuple((f, _swapped(e, swap)) for m, (f, e) in group.folds.items() if sweep_of(m) == n)
        actions: list[Store | Update] = []
        for m, e in group.full.items():
            if sweep_of(m) != n:
                continue
            buffer = stored(m)
            value = _swapped(e, swap)
            if buffer is not None:
                actions.append(_store(group, buffer, value, group.at))
            elif e in places:
                actions.append(Store(places[e][0].attribute[0], places[e][0].attribute[1], value))
        after = [
            _store(group, b, Expr("folded", (), f.dtype, f), _row_at(group, m))
            for m, (f, _) in group.folds.items()
            if sweep_of(m) == n and (b := stored(m)) is not None
        ]
        after += [
            _store(group, b, e, _row_at(group, m))
            for m, e in group.rows.items()
            if sweep_of(m) == n + 1 and (b := stored(m)) is not None
        ]
        if folds or actions or after:
            sweeps.append(Sweep(tuple(columns), folds, tuple(actions), tuple(after)))
    return Kernel(tuple(rows), tuple(sweeps), tuple(scratch))


def _with_rows(kernel: Kernel) -> Kernel:
    """Rows to share among threads: the outer loops of a plain kernel; at least one for sweeps to belong to."""
    (sweep, *more) = kernel.sweeps
    if kernel.rows or (not more and not sweep.folds and not sweep.after and len(sweep.columns) < 2):
        return kernel
    if more or sweep.folds or sweep.after:
        return Kernel((Variable(1),), kernel.sweeps, kernel.scratch)
    return Kernel(sweep.columns[:-1], (Sweep(sweep.columns[-1:], (), sweep.actions),))


def _row_at(group: Group, m: Value) -> tuple[Index, ...]:
    return next(at for shape, at in group._row_indices() if same(shape, m.shape))


class _Sweeps:
    """In which round of loops each member can be computed."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.of_fold: dict[Fold, int] = {}
        self.memo: dict[Expr, int] = {}
        for m in group.members:
            if m in group.folds:
                fold, e = group.folds[m]
                self.of_fold[fold] = self.expression(e)

    def __call__(self, m: Value) -> int:
        return self.expression(self.group.expression(m))

    def expression(self, e: Expr) -> int:
        for x in e.walk() if e not in self.memo else ():
            if x not in self.memo:
                after = self.of_fold[x.attribute] + 1 if x.kind == "folded" else 0
                self.memo[x] = max([after, *(self.memo[a] for a in x.args)])
        return self.memo[e]


def _places(
    group: Group, stored: Callable[[Value], Buffer | None], sweep_of: _Sweeps, aside: int
) -> tuple[dict[Expr, tuple[Expr, int]], list[Buffer]]:
    """Where later sweeps find members that earlier ones computed: in memory, or in a scratch row."""
    places: dict[Expr, tuple[Expr, int]] = {}
    scratch: list[Buffer] = []
    latest = max(sweep_of(m) for m in group.members)
    for m, e in group.full.items():
        made = sweep_of(m)
        if made == latest or e.kind in ("load", "const"):
            continue
        later = [group.expression(u) for u in group.members if sweep_of(u) > made]
        if not any(e in x.walk() for x in later):
            continue
        buffer = stored(m)
        if buffer is not None:
            places[e] = load(buffer, group.at), made
        elif weigh([e]) >= 8:
            axes = sorted(group.reduced or ())
            row = TensorType(m.dtype, tuple(group.domain[i] for i in axes))
            if row.static and row.nbytes <= aside:  # it lies on the stack
                scratch.append(Buffer.dense(f"scratch{len(scratch)}", row))
                places[e] = load(scratch[-1], tuple(group.at[i] for i in axes)), made
    return places, scratch


def _swapped(e: Expr, swap: dict[Expr, Expr]) -> Expr:
    """The expression with whole subexpressions replaced."""
    if not swap:
        return e
    done: dict[Expr, Expr] = dict(swap)
    for x in e.walk():
        if x not in done:
            args = tuple(done[a] for a in x.args)
            done[x] = x if args == x.args else Expr(x.kind, args, x.dtype, x.attribute)
    return done[e]


def _columns(group: Group, stored: Callable[[Value], Buffer | None]) -> Kernel:
    """Reductions over outer axes: each row keeps a block of columns in scratch and runs down through them."""
    assert group.reduced is not None
    kept = [i for i in range(len(group.domain)) if i not in group.reduced]
    rows, summed = group.axes(reduced=False), group.axes(reduced=True)
    last = rows.pop()
    block, column, width = in_blocks(last, BLOCK)
    here: dict[Atom, Index] = {last: index(block) * width + index(column)}
    scratch: list[Buffer] = []
    zero, down, out = [], [], []
    for m, (fold, e) in group.folds.items():
        target = stored(m)
        assert target is not None, "a reduction over columns is read outside its group"
        wide = accumulator(m.dtype)
        total = Buffer.dense(f"scratch{len(scratch)}", TensorType(wide, (width,)))
        scratch.append(total)
        zero.append(Store(total, index(column), const(neutral(fold.combine, fold.dtype), wide)))
        down.append(Update(total, index(column), fold.combine, cast(e.substitute(here), wide)))
        offset = _store(group, target, e, tuple(group.at[i] for i in kept)).offset.substitute(here)
        out.append(Store(target, offset, cast(load(total, (index(column),)), m.dtype)))
    sweeps = (
        Sweep((column,), (), tuple(zero)),
        Sweep((*summed, column), (), tuple(down)),
        Sweep((column,), (), tuple(out)),
    )
    return Kernel((*rows, block), sweeps, tuple(scratch))


def down_several_rows(kernel: Kernel) -> Kernel:
    """The kernel where totals of columns, which lie in scratch, take several rows at a time, in their order: each time
    all totals are read and written.
    """
    sweeps = tuple(part for sweep in kernel.sweeps for part in _several_rows(sweep, kernel.scratch))
    return kernel if sweeps == kernel.sweeps else replace(kernel, sweeps=sweeps)


def _several_rows(sweep: Sweep, scratch: Sequence[Buffer]) -> list[Sweep]:
    if len(sweep.columns) < 2 or sweep.folds or sweep.after:
        return [sweep]
    *outer, rows, column = sweep.columns
    extent, here = rows.extent, index(column)
    if not isinstance(extent, int) or rows.within is not None or extent < ROWS or (extent % ROWS and outer):
        return [sweep]
    totals = [a for a in sweep.actions if isinstance(a, Update) and a.combine != "set" and a.buffer in scratch]
    terms = [x for a in totals for x in a.value.walk()]
    read = {x.attribute[0] for x in terms if x.kind == "load"}
    if (
        len(totals) < len(sweep.actions)
        or len(terms) > SHORT
        or any(a.offset != here or a.buffer in read for a in totals)
    ):
        return [sweep]

    def part(of: Variable, first: int, several: int) -> Sweep:
        actions = []
        for a in totals:
            total = load(a.buffer, (here,))
            for n in range(several):
                row: dict[Atom, Index] = {rows: index(of) * several + (first + n)}
                total = binary(a.combine, total, a.value.substitute(row))
            actions.append(Store(a.buffer, here, total))
        return Sweep((*outer, of, column), (), tuple(actions))

    whole, rest = divmod(extent, ROWS)
    found = [part(Variable(whole), 0, ROWS)]
    return [*found, part(Variable(rest), whole * ROWS, 1)] if rest else found


def in_blocks(loop: Variable, widest: int) -> tuple[Variable, Variable, int]:
    """A loop as blocks of columns: the loop over blocks, the loop over one block, and its width. The width divides
    the extent if there is such a width; else the last block is cut short, as it is where sizes are not known yet.
    """
    if isinstance(loop.extent, int):
        width = _block(loop.extent, widest)
        if width < loop.extent or loop.extent <= widest:
            return Variable(loop.extent // width), Variable(width), width
        widest = VECTOR * -(-loop.extent // (-(-loop.extent // widest) * VECTOR))  # as many for each block
    block = Variable((loop.extent + (widest - 1)) // widest)
    return block, Variable(widest, within=(block, loop.extent)), widest


def _block(columns: int, widest: int) -> int:
    """The widest block of whole vectors that divides the columns, or all of them."""
    for width in (widest, widest // 2, widest // 4, widest // 8):
        if width < NARROW:
            break
        if columns % width == 0 and columns > width:
            return width
    return columns
