"""Loops parted at borders (index-set splitting): each part of a tensor that is put together has a loop of its own.

A tensor made of parts (joined, padded, the gradient of slices) is one expression that asks, at each element, where it
is, and computes all parts there, those that are not taken at indices held within their bounds:

    for i < 1024: y[i] = select(i < 256, f(a[min(i, 255)]), g(b[max(i - 256, 0)]))
    for i < 256: y[i] = f(a[i]);  for i < 768: y[i + 256] = g(b[i])

So every element is computed once, and read as it lies: the gates of a recurrence went four times through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from mycelia.loops import Datum, Expr, Index, Kernel, Store, Sweep, Variable, const, datum, index, position
from mycelia.loops.index import Atom
from mycelia.types import bool_

MOST = 8  # parts of a loop
LONGEST = 1024  # expressions in all parts together: each is code of its own
Range = tuple[int, int]
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
DECIDED: dict[str, Callable[[Range, Range], tuple[bool, bool]]] = {
    "lt": lambda a, b: (a[1] < b[0], a[0] >= b[1]),
    "le": lambda a, b: (a[1] <= b[0], a[0] > b[1]),
    "gt": lambda a, b: (a[0] > b[1], a[1] <= b[0]),
    "ge": lambda a, b: (a[0] >= b[1], a[1] < b[0]),
}  # whether a comparison of numbers in these ranges always holds, and whether it never does


def at_borders(kernel: Kernel) -> Kernel:
    """The kernel, with the last loop of its sweeps parted where an expression asks on which side of a border it is."""
    if not kernel.rows:
        return kernel  # threads share the loop itself
    sweeps = tuple(part for sweep in kernel.sweeps for part in _parts(sweep))
    return kernel if sweeps == kernel.sweeps else replace(kernel, sweeps=sweeps)


def _parts(sweep: Sweep) -> Iterator[Sweep]:
    cuts = _cuts(sweep)
    if not cuts:
        yield sweep
        return
    v = sweep.columns[-1]
    for begin, end in pairwise((0, *cuts, v.extent)):
        here = Variable(end - begin)
        new: dict[Atom, Index] = {v: index(here) + begin}
        stores = [
            Store(a.buffer, settled_index(a.offset.substitute(new)), settled(a.value.substitute(new)))
            for a in sweep.actions
        ]
        yield Sweep((*sweep.columns[:-1], here), (), tuple(stores))


def _cuts(sweep: Sweep) -> list[int]:
    """Where the last loop of a sweep is to be parted; nowhere, where its turns depend on one another."""
    plain = not sweep.folds and not sweep.after and all(isinstance(a, Store) for a in sweep.actions)
    if not plain or not sweep.columns:
        return []
    v = sweep.columns[-1]
    if not isinstance(v.extent, int) or v.within is not None:
        return []
    expressions = [e for a in sweep.actions for e in a.value.walk()]
    found = {cut for e in expressions if e.kind in TURNED for cut in _border(e, v) if 0 < cut < v.extent}
    few = len(found) < MOST and (len(found) + 1) * len(set(expressions)) <= LONGEST
    return sorted(found) if few else []


def _border(e: Expr, v: Variable) -> Iterator[int]:
    """The first turn of a loop at which the answer to a comparison of its counter with a number is another one."""
    (x, y), kind = e.args, e.kind
    if x.kind == "const":
        x, y, kind = y, x, TURNED[kind]
    if x.kind != "position" or y.kind != "const" or not _counts(x):
        return
    at = x.attribute
    if isinstance(at.constant, int) and at == index(v) + at.constant:
        yield int(y.attribute) - at.constant + (kind in ("le", "gt"))


def _counts(e: Expr) -> bool:
    """Whether an index is held by its element type as it is."""
    return e.dtype.kind == "i" and e.dtype.bits >= 32


def settled(e: Expr) -> Expr:
    """The expression without questions whose answers the bounds of its loops know.

    >>> from mycelia.loops import binary, select
    >>> from mycelia.types import float32, int64
    >>> near = binary("lt", position(index(Variable(8)), int64), const(8, int64))
    >>> settled(select(near, const(1, float32), const(2, float32)))
    1.0
    """
    done: dict[Expr, Expr] = {}
    for x in e.walk():
        done[x] = _settled(x, tuple(done[a] for a in x.args))
    return done[e]


def _settled(e: Expr, args: tuple[Expr, ...]) -> Expr:
    if e.kind == "load":
        buffer, at = e.attribute
        return Expr("load", (), e.dtype, (buffer, settled_index(at)))
    if e.kind == "position":
        return position(settled_index(e.attribute), e.dtype)
    if e.kind == "select" and args[0].kind == "const":
        return args[1] if args[0].attribute else args[2]
    if e.kind in ("and", "or") and e.dtype is bool_:
        for known, other in (args, args[::-1]):
            if known.kind == "const":
                return other if bool(known.attribute) == (e.kind == "and") else known
    if e.kind == "not" and e.dtype is bool_ and args[0].kind == "const":
        return const(not args[0].attribute, bool_)
    if len(args) == 2 and (x := _range(args[0])) is not None and (y := _range(args[1])) is not None:
        always, never = DECIDED[e.kind](x, y) if e.kind in DECIDED else (False, False)
        if always or never:
            return const(always, bool_)
        first_is_less = x[1] <= y[0]
        if e.kind in ("min", "max") and (first_is_less or y[1] <= x[0]):
            return args[0] if first_is_less == (e.kind == "min") else args[1]
    return e if args == e.args else Expr(e.kind, args, e.dtype, e.attribute)


def _range(e: Expr) -> Range | None:
    """Between which numbers an index or a constant stays, if that is known."""
    if not _counts(e):
        return None
    if e.kind == "const":
        return int(e.attribute), int(e.attribute)
    if e.kind == "position" and isinstance(e.attribute.low, int) and isinstance(e.attribute.high, int):
        return e.attribute.low, e.attribute.high
    return None


def settled_index(at: Index) -> Index:
    """The index, in which what came out of such questions is the number itself."""
    new: dict[Atom, Index] = {}
    for atom, _ in at.terms:
        if isinstance(atom, Datum):
            value = settled(atom.value)
            if value.kind == "position":
                new[atom] = value.attribute
            elif value.kind == "const":
                new[atom] = Index(int(value.attribute))
            elif value is not atom.value:
                new[atom] = datum(value, atom.low, atom.high)
    return at.substitute(new) if new else at
