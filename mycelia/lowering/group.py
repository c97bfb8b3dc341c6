"""Groups: anchors that one kernel computes together (fusion).

A group has a domain, the index space its loops run over, and possibly reduced axes. Its members are tensors over the
whole domain, reductions over the reduced axes, and what is computed from those once per row. A member may be read
inside the group only at the element where the loops stand; otherwise it does not fit. Why, with what would be wrong:

    y = sin(x);  exp(y.T)               reads y[j, i] when the loops stand at [i, j]: that element may not be there yet
    s = sum(x, 0);  x - s               rows run side by side, and a sum over rows is finished when all of them are
    s = sum(x, 1);  sum(y, 0)           a row of one is no row of the other: a kernel reduces one set of axes
    k = max(i, 1);  x[k]                the place is known when the fold is finished: no loop can load it on the way
    s = sum(x, 1);  cos(s[::-1])        row i would read what row n - i has yet to finish

Not fitting costs a kernel and a trip through memory, never a result: each of these is `Unfit`, and all that is not
shown to fit is. A group that fits, as its kernel runs (a softmax; `+` is a turn of a loop):

    domain [rows, columns], reduced {1}
    row 0   max: + + + + +  |  exp, sum: + + + + +  |  quotient: + + + + +        full: exp, quotient
    row 1   max: + + + + +  |  exp, sum: + + + + +  |  quotient: + + + + +        folds: max, sum
    ...                     rows are independent: threads share them

Structure decides, not a list of patterns: the gradients of softmax and layer norm, which no list has, fit in the same
way. What groups are worth, on 4096 x 1024 numbers and two threads, with `MOST_MEMBERS` 16 and 1 (every anchor a kernel
of its own):

    softmax                    1 kernel,  2.0 ms, nothing in the arena      4 kernels,  3.9 ms, 16 MB in the arena
    gradient of a layer norm   2 kernels, 4.9 ms, 32 KB                     10 kernels, 6.0 ms, 16 MB

The field calls anchors materialisation points, and this operator fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mycelia.ir import Reader, Value
from mycelia.loops import Buffer, Datum, Expr, Fold, Quotient, Remainder, folded, mention
from mycelia.loops.index import Index, Variable
from mycelia.lowering.values import full_index, is_expression, is_reduction
from mycelia.sizes import Dim, known_equal, same

At = tuple[Index, ...]
MOST_MEMBERS = 16


class Unfit(Exception):
    """The value cannot be computed in this group."""


class Group:
    """Members over one domain, with the expression of each."""

    def __init__(
        self,
        domain: tuple[Dim, ...],
        load: Callable[[Value, At], Expr],
        is_anchor: Callable[[Value], bool],
        order: Sequence[int] | None = None,
    ) -> None:
        self.domain = domain
        self.order = tuple(order) if order is not None else tuple(range(len(domain)))  # of axes in memory
        self.load, self.is_anchor = load, is_anchor
        self.variables, self.at = full_index(domain)
        self.reduced: frozenset[int] | None = None
        self.members: list[Value] = []
        self.full: dict[Value, Expr] = {}  # one element of the domain
        self.rows: dict[Value, Expr] = {}  # one number per row
        self.folds: dict[Value, tuple[Fold, Expr]] = {}
        self.outside: dict[Buffer, None] = {}  # what members read from memory
        self._memo: dict[tuple[Value, At], Expr] = {}

    @property
    def is_column(self) -> bool:
        """Whether the reductions run over outer axes and keep the innermost one."""
        return self.reduced is not None and self._keeps_inner(self.reduced)

    def _keeps_inner(self, reduced: frozenset[int]) -> bool:
        """Whether the innermost axis in memory that has more than one element is kept."""
        inner = [i for i in self.order if not known_equal(self.domain[i], 1)]
        return bool(reduced) and bool(inner) and inner[-1] not in reduced

    def axes(self, reduced: bool) -> list[Variable]:
        """The loop variables of the axes that are reduced, or of those that are kept, as they lie in memory."""
        dims = self.reduced or frozenset()
        return [self.variables[i] for i in self.order if (i in dims) == reduced and not known_equal(self.domain[i], 1)]

    def add(self, v: Value) -> bool:
        """Take `v` in if it fits."""
        if len(self.members) >= MOST_MEMBERS:
            return False
        try:
            if is_reduction(v):
                self._add_reduction(v)
            elif same(v.shape, self.domain) and not self.is_column:
                self.full[v] = _placed(self.element(v, self.at))
            elif self.reduced is not None and not self.is_column:
                self.rows[v] = self._row(v)
            else:
                return False
        except Unfit:
            return False
        self.members.append(v)
        mention(self.expression(v), self.outside)
        return True

    def expression(self, v: Value) -> Expr:
        """What is computed for a member; for a reduction, what it folds."""
        return self.folds[v][1] if v in self.folds else self.full.get(v) or self.rows[v]

    def _add_reduction(self, v: Value) -> None:
        dims = frozenset(v.op.dims)  # type: ignore[union-attr]
        (x,) = v.inputs
        if not same(x.shape, self.domain) or self.reduced not in (None, dims):
            raise Unfit
        if self.members and self.reduced is None and self._keeps_inner(dims):  # its loops are of another kind
            raise Unfit
        expression = _placed(self.read(x, self.at))
        self.folds[v] = Fold(v.op.combine, v.dtype), expression  # type: ignore[union-attr]
        self.reduced = dims

    def _row(self, v: Value) -> Expr:
        for at in self._row_indices():
            if same(v.shape, at[0]):
                out = self.element(v, at[1])
                if any(e.kind == "folded" for e in out.walk()):
                    return _placed(out)
        raise Unfit

    def _row_indices(self) -> list[tuple[tuple[Dim, ...], At]]:
        """The shapes that one number per row can have, without or with the reduced axes, and the index of each."""
        assert self.reduced is not None
        kept = [i for i in range(len(self.domain)) if i not in self.reduced]
        without = tuple(self.domain[i] for i in kept), tuple(self.at[i] for i in kept)
        ones = tuple(1 if i in self.reduced else n for i, n in enumerate(self.domain))
        zeros = tuple(Index(0) if i in self.reduced else self.at[i] for i in range(len(self.domain)))
        return [without, (ones, zeros)]

    def element(self, v: Value, at: At) -> Expr:
        """One element of a value that is an expression."""
        readers = [Reader(x.tensor, self._reader(x)) for x in v.inputs]
        return v.op.element(at, *readers)  # type: ignore[union-attr]

    def _reader(self, x: Value) -> Callable[[Sequence[Index]], Expr]:
        return lambda at: self.read(x, tuple(at))

    def read(self, v: Value, at: At) -> Expr:
        """One element of `v`: of a member, of memory, or computed here."""
        key = (v, at)
        found = self._memo.get(key)
        if found is not None:
            return found
        if v in self.full:
            if at != self.at:  # another turn of the loops makes it
                raise Unfit
            return self.full[v]
        if v in self.folds or v in self.rows:
            own_row = any(at == i for s, i in self._row_indices() if same(s, v.shape))
            if self.is_column or not own_row:  # not finished before the last row is, or made by another row
                raise Unfit
            return folded(self.folds[v][0]) if v in self.folds else self.rows[v]
        if not is_expression(v) or self.is_anchor(v):
            return self.load(v, at)
        out = self._memo[key] = self.element(v, at)
        return out


def _placed(e: Expr) -> Expr:
    """The expression, unless it reads memory at a place that a fold has yet to find."""
    for x in e.walk():
        at = x.attribute[1] if x.kind == "load" else x.attribute if x.kind == "position" else Index(0)
        for inner in _data(at):
            if any(y.kind == "folded" for y in inner.walk()):
                raise Unfit
            _placed(inner)
    return e


def _data(at: Index) -> Iterator[Expr]:
    """The numbers in memory that an index depends on."""
    for atom, _ in at.terms:
        if isinstance(atom, Datum):
            yield atom.value
        elif isinstance(atom, Quotient | Remainder):
            yield from _data(atom.index)
