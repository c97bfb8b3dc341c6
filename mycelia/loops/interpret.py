"""What kernels and scalar expressions mean: all iterations at once, in NumPy. Slow, obvious, the judge of codegen.

Half-precision numbers are held as float32 between a load and a store, as generated code does. Promises are checked:
an index that leaves its buffer, or a number of the data that leaves its bounds, is an error here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from mycelia.loops.convert import converted
from mycelia.loops.expr import Buffer, Expr, Fold, neutral
from mycelia.loops.functions import ELEMENTARY
from mycelia.loops.index import Atom, Datum, Index, Quotient, Remainder, Variable
from mycelia.loops.kernel import Kernel, Store, Sweep, Update, mention, mention_index
from mycelia.types import Array, DType

Memory = dict[Buffer, Array]  # the elements of each buffer, in the order of its strides


def run(kernel: Kernel, memory: Memory) -> None:
    """Run a kernel on buffers, in place.

    >>> from mycelia.loops import Sweep, binary, load
    >>> from mycelia.types import TensorType, float32
    >>> x, y = (Buffer.dense(name, TensorType(float32, (3,))) for name in "xy")
    >>> i = Variable(3)
    >>> at = Index(0, ((i, 1),))
    >>> double = Kernel((i,), (Sweep((), actions=(Store(y, at, binary("add", load(x, (at,)), load(x, (at,)))),)),))
    >>> memory = {x: np.arange(3, dtype="f"), y: np.zeros(3, "f")}
    >>> run(double, memory)
    >>> memory[y]
    array([0., 2., 4.], dtype=float32)
    """
    rows = prod(v.extent for v in kernel.rows)
    scratch = {b: np.zeros((rows, b.type.size), b.type.dtype.numpy) for b in kernel.scratch}
    folds: dict[Fold, Array] = {}
    with np.errstate(all="ignore"):
        for sweep in kernel.sweeps:
            if chained(sweep):
                _one_by_one(kernel, sweep, memory, scratch, folds)
                continue
            inner = _Iterations(kernel.rows, sweep.columns, memory, scratch, folds)
            if _folds_what_it_stores(sweep):
                inner.act(sweep.actions)
                folds.update({fold: inner.fold(fold, e) for fold, e in sweep.folds})
            else:  # what is stored may lie in the memory of what is folded
                found = {fold: inner.fold(fold, e) for fold, e in sweep.folds}
                inner.act(sweep.actions)
                folds.update(found)
            _Iterations(kernel.rows, (), memory, scratch, folds).act(sweep.after)


def chained(sweep: Sweep) -> bool:
    """Whether a turn of the loops reads what an earlier one has stored, as running sums do: at another place, or at one
    that several turns have in common.
    """
    places: dict[Buffer, list[Index]] = {}
    for a in sweep.actions:
        places.setdefault(a.buffer, []).append(a.offset)
    found: dict[Buffer, None] = {}
    for a in sweep.actions:
        mention_index(a.offset, found)
        for x in a.value.walk():
            if x.kind == "load":
                buffer, at = x.attribute
                mention_index(at, found)
                own = at.variables() >= set(sweep.columns)
                if any(at != where or not own for where in places.get(buffer, ())):
                    return True
    return not places.keys().isdisjoint(found)


def _folds_what_it_stores(sweep: Sweep) -> bool:
    found: dict[Buffer, None] = {}
    for _, e in sweep.folds:
        mention(e, found)
    return any(a.buffer in found for a in sweep.actions)


def _one_by_one(
    kernel: Kernel, sweep: Sweep, memory: Memory, scratch: Mapping[Buffer, Array], folds: dict[Fold, Array]
) -> None:
    """A sweep in the order of its loops; rows still all at once."""
    assert not sweep.folds, "a sweep that reads what it has stored folds nothing"
    for turn in np.ndindex(*[v.extent for v in sweep.columns]):
        at = {v: np.asarray(i) for v, i in zip(sweep.columns, turn, strict=True)}
        _Iterations(kernel.rows, (), memory, scratch, folds, at).act(sweep.actions)
    _Iterations(kernel.rows, (), memory, scratch, folds).act(sweep.after)


def evaluate(e: Expr, at: Mapping[Variable, Array], memory: Memory) -> Array:
    """The numbers of an expression, where loop variables have these values, which broadcast together.

    >>> from mycelia.loops import const
    >>> from mycelia.types import float32
    >>> evaluate(const(2.0, float32) * const(1.5, float32), {}, {})
    array(3., dtype=float32)
    """
    with np.errstate(all="ignore"):
        return stored(_Iterations((), (), memory, {}, {}, dict(at)).value(e), e.dtype)


@dataclass
class _Iterations:
    """All iterations of one nest of loops: one axis per row variable, then one per column variable."""

    rows: tuple[Variable, ...]
    columns: tuple[Variable, ...]
    memory: Memory
    scratch: Mapping[Buffer, Array]
    folds: Mapping[Fold, Array]
    at: dict[Variable, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loops = (*self.rows, *self.columns)
        self.shape = tuple(v.extent for v in loops)
        for axis, v in enumerate(loops):
            self.at[v] = np.arange(v.extent).reshape([-1 if i == axis else 1 for i in range(len(loops))])
        self.known: dict[Expr, Array] = {}
        self.real = self._real(loops)

    def _real(self, loops: Sequence[Variable]) -> Array | None:
        """Which iterations there are, where the last block of a loop is cut short; None: all of them."""
        found = np.ones(self.shape, bool)
        for v in {*loops, *self.at}:
            if v.within is not None and v.within[0] in self.at:
                block, total = v.within
                found &= np.broadcast_to(self.at[block] * v.extent + self.at[v] < total, self.shape)
        return None if found.all() else found

    def act(self, actions: Sequence[Store | Update]) -> None:
        """Compute all values, then store: what is stored may lie in the memory of what is read."""
        values = [stored(self.value(a.value), a.buffer.type.dtype) for a in actions]
        places = [self.place(a.buffer, a.offset) for a in actions]
        for action, value, (where, flat) in zip(actions, values, places, strict=True):
            value, where = (np.broadcast_to(x, self.shape) for x in (value, where))
            if self.real is not None:
                value, where = value[self.real], where[self.real]
            if isinstance(action, Store) or action.combine == "set":
                flat[where] = value  # of several at one place the last one stays
            else:
                COMBINE[action.combine].at(flat, where, value)
        self.known.clear()

    def fold(self, fold: Fold, e: Expr) -> Array:
        value = np.broadcast_to(self.value(e), self.shape)
        if self.real is not None:
            value = np.where(self.real, value, np.asarray(neutral(fold.combine, fold.dtype), value.dtype))
        axes = tuple(range(len(self.rows), len(self.shape)))
        start = np.asarray(neutral(fold.combine, fold.dtype), value.dtype)
        return np.asarray(COMBINE[fold.combine].reduce(value, axes, initial=start), value.dtype)

    def value(self, e: Expr) -> Array:
        """The numbers of an expression at all iterations, of a shape that broadcasts to them."""
        for x in e.walk():
            if x not in self.known:
                self.known[x] = held(self.one(x), x.dtype)
        return self.known[e]

    def one(self, e: Expr) -> Any:
        match e.kind:
            case "const":
                return np.asarray(e.attribute, register(e.dtype))
            case "load":
                where, flat = self.place(*e.attribute)
                return flat[where]
            case "position":
                return self.index(e.attribute)
            case "folded":
                value = self.folds[e.attribute]
                return value.reshape(value.shape + (1,) * len(self.columns))
            case "cast":
                return stored(self.known[e.args[0]], e.dtype)
            case _:
                meaning = ELEMENTARY[e.kind].numpy if e.kind in ELEMENTARY else MEANING[e.kind]
                return meaning(*[self.known[a] for a in e.args])

    def place(self, buffer: Buffer, offset: Index) -> tuple[Array, Array]:
        """Where in which flat array the elements are."""
        where = self.index(offset)
        if buffer not in self.scratch:
            flat = self.memory[buffer]
        else:
            private = self.scratch[buffer]
            row = np.arange(len(private)).reshape([v.extent for v in self.rows] + [1] * len(self.columns))
            where, flat = where + row * private.shape[1], private.reshape(-1)
        if self.real is not None:
            where = np.where(self.real, where, 0)
        inside = where.size == 0 or 0 in self.shape or (where.min() >= 0 and where.max() < flat.size)
        assert inside, f"{buffer}[{offset}] leaves the buffer, which has {flat.size} elements"
        return where, flat

    def index(self, i: Index) -> Array:
        out: Array = np.asarray(i.constant)
        for atom, coefficient in i.terms:
            out = out + coefficient * self.atom(atom)
        return out

    def atom(self, atom: Atom) -> Array:
        match atom:
            case Variable():
                return self.at[atom]
            case Quotient():
                return self.index(atom.index) // atom.divisor
            case Remainder():
                return self.index(atom.index) % atom.divisor
            case Datum():
                number = self.value(atom.value).astype(np.int64)
                kept = number.size == 0 or (number.min() >= atom.low and number.max() <= atom.high)
                assert kept, f"{atom} was promised to stay within {atom.low} and {atom.high}"
                return number
            case _:
                raise AssertionError(f"{atom} is no atom of an index")


@lru_cache(maxsize=64)
def register(dtype: DType) -> Any:
    """How an element is held while computing."""
    return np.dtype(np.float32) if dtype.kind == "f" and dtype.bits == 16 else dtype.numpy


def held(x: Any, dtype: DType) -> Array:
    """Numbers as they are held."""
    return np.asarray(x).astype(register(dtype), copy=False)


def stored(x: Array, dtype: DType) -> Array:
    """Numbers as they lie in memory."""
    return converted(x, dtype)


def _divide(x: Array, y: Array) -> Any:
    """Of integers: truncated, and 0 where the divisor is 0."""
    if x.dtype.kind == "f":
        return np.divide(x, y)
    divisor = np.where(y == 0, 1, y).astype(y.dtype)
    return np.where(y == 0, 0, (x - np.fmod(x, divisor)) // divisor)


def _modulo(x: Array, y: Array) -> Any:
    """With the sign of the dividend; of integers 0 where the divisor is 0."""
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    return np.where(y == 0, 0, np.fmod(x, np.where(y == 0, 1, y).astype(y.dtype)))


def power(x: Array, y: Array) -> Any:
    """A floating number to the power of another, as C has it. NumPy takes the square root where one exponent 0.5 is
    given for all, and that is another number for -inf and -0.0.

    >>> power(np.array([-0.0, 4.0]), np.array(0.5))
    array([0., 2.])
    """
    out = np.power(x, y)
    half = np.equal(y, 0.5)
    if not half.any():
        return out
    return np.where(half, np.where(np.isneginf(x), np.inf, out + 0), out).astype(out.dtype)


def _power(x: Array, y: Array) -> Any:
    """Of integers: 0 where the exponent is negative."""
    if x.dtype.kind == "f":
        return power(x, y)
    return np.where(y < 0, 0, np.power(x, np.maximum(y, 0).astype(y.dtype)))


def _high_half(x: Array, y: Array) -> Any:
    """The upper half of the product of two 32-bit numbers."""
    wide = np.uint64 if x.dtype.kind == "u" else np.int64
    return x.astype(wide) * y.astype(wide) >> np.asarray(32, wide)


COMBINE: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}

MEANING: dict[str, Callable[..., Any]] = {
    **COMBINE,
    "sub": np.subtract,
    "div": _divide,
    "mod": _modulo,
    "pow": _power,
    "atan2": np.arctan2,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "mulhi": _high_half,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "select": np.where,
    "neg": np.negative,
    "abs": np.abs,
    "not": np.invert,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "trunc": np.trunc,
    "sign": np.sign,
    "signbit": np.signbit,
    "isnan": np.isnan,
}


def ordered(x: Array, descending: bool, axis: int = 1) -> Array:
    """Positions that put an array in order along an axis; equal elements keep their order, and nan is largest."""
    x = x.astype(np.float32) if x.dtype.kind not in "?iufc" else x  # NumPy does not know where others have nan
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    found: Array = x.shape[axis] - 1 - backwards
    return found
