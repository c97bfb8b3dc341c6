"""Poolings: one loop over windows, each read whole; gradients write or add into the window they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod

from mycelia.frozen import frozen
from mycelia.ir import Value
from mycelia.loops import (
    Buffer,
    Expr,
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
    neutral,
    position,
    select,
)
from mycelia.lowering.body import Body
from mycelia.lowering.nest import shape_loops
from mycelia.lowering.plain import offset_of, wide_enough, zero
from mycelia.lowering.steps import follows, lower_step, reads_elements
from mycelia.lowering.values import full_index
from mycelia.primitives import AvgPool, AvgPoolGrad, MaxPool, MaxPoolGrad, MaxPoolPick
from mycelia.primitives.indexing import within
from mycelia.primitives.pooling import Pool
from mycelia.sizes import Dim, known_equal, known_less, low
from mycelia.types import int64


@reads_elements.register
def _(op: Pool) -> bool:
    return True


@follows.register
def _(op: Pool) -> bool:
    return True


@frozen
class _Windows:
    """The windows of a pooling over images of this shape: loops over them, and what each sees."""

    op: Pool
    image: tuple[Dim, ...]

    @cached_property
    def _index(self) -> tuple[tuple[Variable, ...], tuple[Index, ...]]:
        return full_index(self.op.output(self.image))

    @property
    def loops(self) -> tuple[Variable, ...]:
        return tuple(v for v in self._index[0] if not known_equal(v.extent, 1))

    @property
    def at(self) -> tuple[Index, ...]:
        return self._index[1]

    def places(self) -> Iterator[tuple[tuple[Index, ...], Expr | None]]:
        """Each element of the window: its index in the image, and whether it is not padding if that is open."""
        for offsets in product(*(range(k) for k in self.op.window)):
            index, inside = list(self.at[:2]), None
            for d, k in enumerate(offsets):
                i = self.at[2 + d] * self.op.strides[d] + (k - self.op.padding[d][0])
                last = self.image[2 + d] - 1
                if low(i.low) < 0 or not known_less(i.high, last + 1):
                    where = position(i, int64)
                    below = binary("le", where, position(Index(last), int64))
                    fits = binary("and", binary("ge", where, const(0, int64)), below)
                    inside = fits if inside is None else binary("and", inside, fits)
                    i = within(where, last)
                index.append(i)
            yield tuple(index), inside

    def seen(self, read: Callable[[Sequence[Index]], Expr], filler: float) -> list[Expr]:
        """The elements of the window, with `filler` for padding."""
        out = []
        for at, inside in self.places():
            e = read(at)
            out.append(e if inside is None else select(inside, e, const(filler, e.dtype)))
        return out

    def count(self, like: Expr) -> Expr:
        """How many elements of the window are not padding, or how many it has where padding counts."""
        if getattr(self.op, "count_padding", True):
            return const(prod(self.op.window), like.dtype)
        one, zero = const(1, like.dtype), const(0, like.dtype)
        total: Expr | None = None
        for _, inside in self.places():
            more = one if inside is None else select(inside, one, zero)
            total = more if total is None else total + more
        assert total is not None
        return total

    @property
    def tile(self) -> bool:
        """Whether every element of the image is in exactly one window."""
        exact = all(
            k == s and not any(pad) and known_equal(n % k, 0)
            for k, s, pad, n in zip(self.op.window, self.op.strides, self.op.padding, self.image[2:], strict=True)
        )
        return exact

    def launch(self, actions: Sequence[Store | Update], body: Body) -> None:
        """One kernel over all windows. Images are rows, so that windows of one image may write on one another."""
        kernel = shape_loops(Kernel((), (Sweep(self.loops, (), tuple(actions)),)))
        columns = kernel.sweeps[0].columns
        if any(isinstance(a, Update) for a in actions):
            rows = tuple(v for v in columns if v in self.loops[:1] and self.image[0] > 1)
            rest = tuple(v for v in columns if v not in rows)
            kernel = Kernel(rows or (Variable(1),), (Sweep(rest, (), tuple(kernel.sweeps[0].actions)),))
        elif len(columns) > 1:
            kernel = Kernel(columns[:-1], (Sweep(columns[-1:], (), kernel.sweeps[0].actions),))
        work = prod(self.op.output(self.image)) * prod(self.op.window)
        body.steps.append(Launch(kernel, 2 * work if len(columns) > 1 else 0))


def _largest(seen: Sequence[Expr]) -> Expr:
    best = seen[0]
    for e in seen[1:]:
        best = binary("max", best, e)
    return best


def _first_largest(seen: Sequence[Expr]) -> list[Expr]:
    """For each element, whether it is the first of the largest ones; not-a-number is larger than everything."""
    best = _largest(seen)
    found: Expr | None = None
    out = []
    for e in seen:
        equal = binary("eq", e, best)
        if e.dtype.is_float:
            equal = binary("or", equal, Expr("isnan", (e,), equal.dtype))
        mine = equal if found is None else binary("and", equal, Expr("not", (found,), equal.dtype))
        found = equal if found is None else binary("or", found, equal)
        out.append(mine)
    return out


@lower_step.register
def _(op: MaxPool, v: Value, body: Body) -> None:
    (x,) = v.inputs
    windows, out = _Windows(op, x.shape), body.memory[v]
    if not v.tensor.empty:
        seen = windows.seen(lambda at: body.element(x, at), neutral("max", v.dtype))
        windows.launch([Store(out, offset_of(windows.at, out.strides), _largest(seen))], body)


@lower_step.register
def _(op: AvgPool, v: Value, body: Body) -> None:
    (x,) = v.inputs
    windows, out = _Windows(op, x.shape), body.memory[v]
    if known_equal(v.tensor.size, 0):
        return
    first, *rest = windows.seen(lambda at: body.element(x, at), 0)
    total = first
    for e in rest:
        total = total + e
    windows.launch([Store(out, offset_of(windows.at, out.strides), total / windows.count(total))], body)


@lower_step.register
def _(op: MaxPoolPick, v: Value, body: Body) -> None:
    t, x = v.inputs
    windows, out = _Windows(op, x.shape), body.memory[v]
    if known_equal(v.tensor.size, 0):
        return
    chosen = _first_largest(windows.seen(lambda at: body.element(x, at), neutral("max", x.dtype)))
    picked: Expr = const(0, v.dtype)
    for e, here in zip(windows.seen(lambda at: body.element(t, at), 0), chosen, strict=True):
        picked = select(here, e, picked)
    windows.launch([Store(out, offset_of(windows.at, out.strides), picked)], body)


def _give(windows: _Windows, shares: Sequence[Expr], v: Value, body: Body) -> None:
    """Write into each window what its elements get, or add it where windows overlap."""
    with wide_enough(body.memory[v], body) as out:
        _give_into(windows, shares, out, body)


def _give_into(windows: _Windows, shares: Sequence[Expr], out: Buffer, body: Body) -> None:
    if not windows.tile:
        body.steps.append(zero(out, out.type))
    actions: list[Store | Update] = []
    for (at, inside), share in zip(windows.places(), shares, strict=True):
        offset = offset_of(at, out.strides)
        share = cast(share, out.type.dtype)
        if windows.tile:
            actions.append(Store(out, offset, share))
        else:
            given = share if inside is None else select(inside, share, const(0, share.dtype))
            actions.append(Update(out, offset, "add", given))
    if prod(windows.op.output(windows.image)):
        windows.launch(actions, body)


@lower_step.register
def _(op: MaxPoolGrad, v: Value, body: Body) -> None:
    ct, x = v.inputs
    windows = _Windows(op, x.shape)
    given = body.element(ct, windows.at)
    chosen = _first_largest(windows.seen(lambda at: body.element(x, at), neutral("max", x.dtype)))
    _give(windows, [select(here, given, const(0, v.dtype)) for here in chosen], v, body)


@lower_step.register
def _(op: AvgPoolGrad, v: Value, body: Body) -> None:
    (ct,) = v.inputs
    windows = _Windows(op, op.shape)
    given = body.element(ct, windows.at)
    share = given / windows.count(given)
    _give(windows, [share] * prod(op.window), v, body)
