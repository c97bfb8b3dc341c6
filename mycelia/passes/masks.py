"""What is read where a mask holds, changed element by element and written there again, is a choice: `z[m] = z[m] * 2`
is `where(m, z * 2, z)`, which needs no positions and runs in vectors.

What nobody asked for is computed, too. Up to `everywhere` additions for an element that takes no
longer than to ask each element whether it is one of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from mycelia import primitives as p
from mycelia.cost import chosen_up_to
from mycelia.ir import Function, Op, Reader, Value, names_in, toposort, type_names
from mycelia.loops import Buffer, load
from mycelia.passes.inner import Pass
from mycelia.primitives import Broadcast, Full, Gather, Positions, ScatterUpdate
from mycelia.primitives.elementwise import Elementwise
from mycelia.sizes import Dim, known_equal
from mycelia.types import DType, TensorType


def choose_by_masks(fn: Function) -> Function:
    """Write by a choice where a mask says where, for the narrowest vectors."""
    return _chosen(fn, chosen_up_to(16))


def masks_for(everywhere: int) -> Pass:
    """The pass, for a processor that computes so much for each element in the time of one question."""

    def choose_by_masks(fn: Function) -> Function:
        return _chosen(fn, everywhere)

    return choose_by_masks


def _chosen(fn: Function, everywhere: int) -> Function:
    if not any(isinstance(v.op, Positions) for v in fn.values()):
        return fn

    def visit(v: Value, inputs: tuple[Value, ...]) -> Value:
        made = v.again(inputs)
        return _choice(made, everywhere) if isinstance(v.op, ScatterUpdate) else made

    after = fn.mapped(visit)
    return fn if after == fn else _without_unread(after)


def _choice(v: Value, everywhere: int) -> Value:
    """An update as a choice, if it is one."""
    table, places, new = v.inputs
    if not isinstance(places.op, Positions) or v.op.axis != 0:  # type: ignore[union-attr]  # it is a scatter
        return v
    (mask,) = places.inputs
    if not known_equal(mask.shape[0], table.shape[0]):
        return v
    whole = _Everywhere(places, table.shape[0], everywhere).value(new)
    if whole is None:
        return v
    rows: Value = p.reshape(mask, (mask.shape[0], *(1,) * (len(table.shape) - 1)))
    return p.select(rows, whole, table)  # type: ignore[no-any-return]


class _Everywhere:
    """What was computed of chosen elements, computed of all; and what that takes, in additions for each."""

    def __init__(self, places: Value, extent: Dim, most: int) -> None:
        self.places, self.extent, self.left = places, extent, most
        assert isinstance(places.op, Positions), f"{places} has no number that is born"
        self.count = places.op.born
        self.done: dict[Value, Value | None] = {}

    def value(self, v: Value) -> Value | None:
        """A value of all elements in place of one of those that were chosen; None if it is not made one by one, or
        takes too much.
        """
        if v not in self.done:
            self.done[v] = self._made(v)
        return self.done[v]

    def _made(self, v: Value) -> Value | None:
        if self.count not in type_names(v.type):
            return v
        if isinstance(v.op, Gather):
            here = v.op.axis == 0 and v.inputs[1] is self.places and known_equal(v.inputs[0].shape[0], self.extent)
            return v.inputs[0] if here else None
        first, *rest = v.shape
        if first != self.places.shape[0] or self.count in type_names(v.tensor.with_shape(tuple(rest))):
            return None
        op: Op
        if isinstance(v.op, Full | Broadcast):
            op = replace(v.op, shape=(self.extent, *rest))
        elif isinstance(v.op, Elementwise):
            op = v.op
            self.left -= _weight(op, tuple(x.dtype for x in v.inputs))
        else:
            return None
        inputs = [self.value(x) for x in v.inputs] if self.left >= 0 else [None]
        return None if None in inputs else Value(op, tuple(x for x in inputs if x is not None))


@lru_cache(maxsize=1000)
def _weight(op: Elementwise, dtypes: tuple[DType, ...]) -> int:
    """What an element takes, in additions."""
    inputs = [Buffer.dense(f"input{n}", TensorType(dtype, ())) for n, dtype in enumerate(dtypes)]
    made = op.element((), *[Reader(b.type, lambda at, b=b: load(b, tuple(at))) for b in inputs])  # type: ignore[misc]
    return sum(part.cost for part in made.walk())


def _without_unread(fn: Function) -> Function:
    """Without the positions whose number nobody mentions any more."""
    effects = fn.effects
    for effect in fn.effects:
        if isinstance(effect.op, Positions):
            kept = tuple(e for e in effects if e is not effect)
            read = toposort((*kept, *fn.results))
            if effect not in read and not any(effect.op.born in names_in(v) for v in read):
                effects = kept
    if effects == fn.effects:
        return fn
    return Function(fn.params, fn.results, effects).mapped(lambda v, inputs: v.again(inputs))
