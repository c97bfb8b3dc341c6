"""Reductions: fold along axes, which disappear. And running sums and positions of extremes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any as Anything
from typing import ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.checks import truth
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Operand, Pair, Purity, Sample, Value, each_part, zero_gradient
from mycelia.primitives import complex_formulas as formulas
from mycelia.primitives.family import BOOLS, NUMBERS, check_dims, check_dtype, draw, mapping, names, wide
from mycelia.sizes import known_equal
from mycelia.types import Array, DType, TensorType, bool_, float32, int32, int64

__all__ = [
    "All",
    "Any",
    "ArgMax",
    "ArgMin",
    "Cummax",
    "Cummin",
    "Cumsum",
    "Cumulative",
    "Max",
    "Min",
    "Prod",
    "Reduction",
    "Sum",
    "arg_max",
    "arg_min",
    "axes_of",
    "cummax",
    "cummin",
    "cumsum",
    "mean",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
]


@frozen
class Reduction(Op, abstract=True):
    """The family: fold `combine` over `dims`."""

    dims: tuple[int, ...]
    combine: ClassVar[str]
    oracle: ClassVar[Anything]
    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS
    native: ClassVar[Lowered] = Lowered.FOLD
    summed: ClassVar[str] = "1"  # how an axis that disappears may be split: not at all
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self, x: TensorType) -> TensorType:
        check_dims(self, x, self.dims)
        if x.dtype not in self.dtypes:
            check_dtype(self, x)
        return TensorType(x.dtype, tuple([e for i, e in enumerate(x.shape) if i not in self.dims]))

    def reference(self, x: Array) -> Anything:
        out = type(self).oracle(wide(x), self.dims)
        return out if out.dtype == x.dtype else out.astype(x.dtype)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Anything:
        return type(self)(tuple(d + 1 for d in self.dims))(x)

    def axes(self, x: TensorType) -> str:
        a = names(x.rank)
        kept = [n for i, n in enumerate(a) if i not in self.dims]
        return mapping([[n if n in kept or self.combine == "add" else "1" for n in a]], kept)

    def spread(self, y: Anything, x: Anything) -> Anything:
        """A value of the shape of the result, repeated to the shape of `x`."""
        return p.broadcast(p.expand_dims(y, self.dims), x.shape)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 3)
        x = x > 0.3 if cls.dtypes == BOOLS else x
        yield from (Sample(cls(dims), (x,)) for dims in [(0,), (0, 2), (0, 1, 2), (2,), ()])
        yield Sample(cls(()), (np.array(x[0, 0, 0]),))
        yield Sample(cls((1,)), (x[:0],))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(cls.dtypes[-1], (2, 3))
        wrong = float32 if cls.dtypes == BOOLS else bool_
        yield Mistake(lambda: cls((2,)).infer(x), ShapeError, f"{cls.name} along an axis that {x} does not have")
        yield Mistake(lambda: cls((1, 1)).infer(x), ShapeError, f"{cls.name} names an axis twice")
        yield Mistake(lambda: cls((0,)).infer(x.with_dtype(wrong)), DTypeError, f"{cls.name} needs a")


class Sum(Reduction):
    """The sum over `dims`, in the element type of the operand (half precision is added up in float32).

    >>> Sum((0,)).reference(np.ones((2, 3)))
    array([2., 2., 2.])
    """

    combine, oracle = "add", np.add.reduce

    in_parts = each_part

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (self.spread(ct, x),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from super().samples()
        yield Sample(cls((0,)), (draw(0, 2),))


class Prod(Reduction):
    """The product over `dims`. The gradient multiplies the other factors, so zeros among them do no harm."""

    combine, oracle = "mul", np.multiply.reduce

    def in_parts(self, x: Pair) -> Pair:
        kept = [i for i in range(len(x.real.shape)) if i not in self.dims]
        last, order = len(kept), (*kept, *self.dims)
        shape = tuple(x.real.shape[i] for i in kept)
        count = prod(x.real.shape[d] for d in self.dims)
        if count == 0:
            return Pair(p.ones(x.real.dtype, shape), p.zeros(x.real.dtype, shape))
        rows = Pair(*(p.reshape(p.transpose(part, order), (*shape, count)) for part in x))
        while rows.real.shape[last] > 1:  # multiply the two halves, again and again; one without a partner stays
            size = rows.real.shape[last]
            half = size // 2
            first, second, rest = (
                Pair(*(p.take(part, last, *span) for part in rows))
                for span in ((0, half), (half, 2 * half), (2 * half, size))
            )
            rows = formulas.times(first, second)
            if size % 2:
                rows = Pair(*(p.concat([a, b], last) for a, b in zip(rows, rest, strict=True)))
        return Pair(*(p.reshape(part, shape) for part in rows))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        kept = [i for i in range(len(x.shape)) if i not in self.dims]
        order = (*kept, *self.dims)
        count = prod(x.shape[d] for d in self.dims)
        last = len(kept)
        rows = p.reshape(p.transpose(x, order), (*(x.shape[i] for i in kept), count))
        halves = []
        while rows.shape[last] > 1:  # multiply the two halves, again and again
            size = rows.shape[last]
            rows = p.pad(rows, (0,) * (last + 1), (0,) * last + (size % 2,), 1)
            middle = rows.shape[last] // 2
            left, right = p.take(rows, last, 0, middle), p.take(rows, last, middle, 2 * middle)
            halves.append((left, right, size))
            rows = left * right
        ct = p.reshape(ct, (*ct.shape, 1))
        for left, right, size in reversed(halves):
            ct = p.take(p.concat([ct * right, ct * left], last), last, 0, size)
        if count == 0:
            return (p.zeros_like(x),)
        return (p.transpose(p.reshape(ct, tuple(x.shape[i] for i in order)), np.argsort(order).tolist()),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from super().samples()
        yield Sample(cls((0,)), (draw(0, 2),))
        yield Sample(cls((0,)), (np.array([[2, 0, 1], [0, 0, 3], [5, 1, 7]], "f"),), note="zeros among the factors")


class Selection(Reduction, abstract=True):
    """One of the elements; nan wins. Elements that are equally extreme share the cotangent equally."""

    def infer(self, x: TensorType) -> TensorType:
        out = super().infer(x)
        if any(x.shape[d] == 0 for d in self.dims):
            raise ShapeError(
                f"{self.name} of no elements has no value",
                given={"operand": x, "dims": self.dims},
                hint="give at least one element: is a slice or a mask empty?",
            )
        return out

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        chosen = p.cast(p.equal(x, self.spread(out, x)), x.dtype)
        share = ct / p.reduce_sum(chosen, self.dims)
        return (chosen * self.spread(share, x),)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield from super().mistakes()
        empty = TensorType(float32, (2, 0))
        yield Mistake(lambda: cls((1,)).infer(empty), ShapeError, f"{cls.name} of no elements has no value")


class Max(Selection):
    """The largest element along `dims`."""

    combine, oracle = "max", np.maximum.reduce


class Min(Selection):
    """The smallest element along `dims`."""

    combine, oracle = "min", np.minimum.reduce


class All(Reduction):
    """Whether all elements along `dims` are true."""

    combine, oracle, dtypes = "and", np.logical_and.reduce, BOOLS
    vjp = zero_gradient("its output is a bool")


class Any(Reduction):
    """Whether any element along `dims` is true."""

    combine, oracle, dtypes = "or", np.logical_or.reduce, BOOLS
    vjp = zero_gradient("its output is a bool")


@frozen
class Cumulative(Op, abstract=True):
    """The family: what a fold along `axis` has come to at each element."""

    axis: int
    combine: ClassVar[str]
    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self, x: TensorType) -> TensorType:
        check_dims(self, x, (self.axis,), "axis")
        check_dtype(self, x)
        return x

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Anything:
        return type(self)(self.axis + 1)(x)

    def axes(self, x: TensorType) -> str:
        a = ["1" if i == self.axis else n for i, n in enumerate(names(x.rank))]
        return mapping([a], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(axis), (draw(2, 4, 3),)) for axis in range(3))
        yield Sample(cls(0), (draw(0, 2),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls(2).infer(x), ShapeError, f"{cls.name} along an axis that f32[2, 3] does not have")
        yield Mistake(lambda: cls(0).infer(x.with_dtype(bool_)), DTypeError, f"{cls.name} needs a numeric")


class Cumsum(Cumulative):
    """The running sum along `axis`.

    >>> Cumsum(0).reference(np.arange(4))
    array([0, 1, 3, 6])
    """

    combine = "add"
    in_parts = each_part

    def reference(self, x: Array) -> Array:
        return np.cumsum(x, self.axis, wide(x).dtype).astype(x.dtype, copy=False)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (p.flip(p.cumsum(p.flip(ct, (self.axis,)), self.axis), (self.axis,)),)


class CumulativeExtreme(Cumulative, abstract=True):
    """The extreme elements so far; nan is extreme. Of equal ones the first has the cotangent."""

    oracle: ClassVar[np.ufunc]

    @staticmethod
    @abstractmethod
    def better(x: Value, y: Value) -> Value: ...

    def reference(self, x: Array) -> Array:
        found: Array = type(self).oracle.accumulate(wide(x), self.axis)
        return found.astype(x.dtype, copy=False)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        axis, rank = self.axis, x.tensor.rank
        extent = x.shape[axis]
        if known_equal(x.tensor.size, 0):
            return (p.zeros_like(x),)
        low = tuple(int(a == axis) for a in range(rank))
        before = p.pad(p.take(out, axis, 0, extent - 1), low, (0,) * rank, 0)
        place: Value = p.Iota(int64, x.shape, axis)()
        newer = p.logical_or(type(self).better(x, before), p.equal(place, 0))
        if x.dtype.is_float:
            newer = p.logical_or(newer, p.logical_and(p.is_nan(x), p.logical_not(p.is_nan(before))))
        where = Cummax(axis)(p.select(newer, place, p.zeros_like(place)))
        order = [*(a for a in range(rank) if a != axis), axis]
        rows = p.transpose(where, order)
        flat = p.reshape(rows, (-1, extent))
        flat = p.reshape(flat + p.Iota(int64, flat.shape, 0)() * p.full(extent, int64, ()), (-1,))
        total = p.scatter_add(p.zeros_like(p.reshape(x, (-1,))), flat, p.reshape(p.transpose(ct, order), (-1,)), 0)
        return (p.transpose(p.reshape(total, rows.shape), np.argsort(order).tolist()),)


class Cummax(CumulativeExtreme):
    """The largest element so far along `axis`.

    >>> Cummax(0).reference(np.array([1, 3, 2]))
    array([1, 3, 3])
    """

    combine, oracle = "max", np.maximum

    @staticmethod
    def better(x: Value, y: Value) -> Value:
        return p.greater(x, y)  # type: ignore[no-any-return]


class Cummin(CumulativeExtreme):
    """The smallest element so far along `axis`.

    >>> Cummin(0).reference(np.array([3, 1, 2]))
    array([3, 1, 1])
    """

    combine, oracle = "min", np.minimum

    @staticmethod
    def better(x: Value, y: Value) -> Value:
        return p.less(x, y)  # type: ignore[no-any-return]


def places_of(extent: int) -> DType:
    """The integers that count the places along an axis, its end included.

    >>> places_of(7), places_of(1 << 31)
    (int32, int64)
    """
    return int32 if extent < 1 << 31 else int64


@frozen
class Position(Op, abstract=True):
    """The family: where along `axis` the extreme element is, the first of equals; nan is extreme."""

    axis: int
    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS
    extreme: ClassVar[type[Reduction]]
    oracle: ClassVar[Anything]
    purity: ClassVar[Purity] = Purity.TOTAL
    vjp = zero_gradient("its output is an integer")

    def infer(self, x: TensorType) -> TensorType:
        check_dims(self, x, (self.axis,), "axis")
        check_dtype(self, x)
        if x.shape[self.axis] == 0:
            raise ShapeError(
                f"{self.name} of no elements has no value",
                given={"operand": x, "axis": self.axis},
                hint="give at least one element: is a slice or a mask empty?",
            )
        return TensorType(places_of(x.shape[self.axis]), x.shape[: self.axis] + x.shape[self.axis + 1 :])

    def reference(self, x: Array) -> Anything:
        return np.asarray(type(self).oracle(wide(x), self.axis)).astype(places_of(x.shape[self.axis]).numpy)

    def expand(self, x: Value) -> Anything:
        fold = self.extreme((self.axis,))
        hit = p.equal(x, fold.spread(fold(x), x))
        if x.dtype.is_float:
            hit = p.logical_or(hit, p.is_nan(x))
        extent = x.shape[self.axis]
        return Min((self.axis,))(p.select(hit, p.iota(places_of(extent), x.shape, self.axis), extent))

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Anything:
        return type(self)(self.axis + 1)(x)

    def axes(self, x: TensorType) -> str:
        a = ["1" if i == self.axis else n for i, n in enumerate(names(x.rank))]
        return mapping([a], [n for i, n in enumerate(a) if i != self.axis])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(axis), (draw(2, 4, 3),)) for axis in range(3))
        yield Sample(cls(0), (np.array([1, 3, 3, 1, 2], "f"),), note="ties")
        yield Sample(cls(0), (np.array([1, np.nan, 3, np.nan, -1], "f"),), smooth=False, note="nan")
        yield Sample(cls(1), (draw(0, 2),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 0))
        yield Mistake(lambda: cls(1).infer(x), ShapeError, f"{cls.name} of no elements has no value")
        yield Mistake(lambda: cls(2).infer(x), ShapeError, f"{cls.name} along an axis that f32[2, 0] does not have")
        yield Mistake(lambda: cls(0).infer(x.with_dtype(bool_)), DTypeError, f"{cls.name} needs a numeric")


class ArgMax(Position):
    """Where the largest element along `axis` is."""

    name, extreme, oracle = "arg_max", Max, np.argmax


class ArgMin(Position):
    """Where the smallest element along `axis` is."""

    name, extreme, oracle = "arg_min", Min, np.argmin


Dims = int | Sequence[int] | None


def axes_of(x: Anything, dims: Dims) -> tuple[int, ...]:
    """Axes as counted from the front; None means all of them.

    >>> axes_of(p.zeros(float32, (2, 3, 4)), -1), axes_of(p.zeros(float32, (2, 3)), None)
    ((2,), (0, 1))
    """
    return _counted(len(x.shape), dims if dims is None or isinstance(dims, int) else tuple(dims))


@lru_cache(maxsize=4096)
def _counted(rank: int, dims: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if dims is None:
        return tuple(range(rank))
    chosen = (dims,) if isinstance(dims, int) else dims
    return tuple(sorted(d + rank if -rank <= d < 0 else d for d in chosen))


@lru_cache(maxsize=4096)
def _over(op: type[Reduction], axes: tuple[int, ...]) -> Reduction:
    """The reduction over these axes, made once."""
    return op(axes)


def _reduce(op: type[Reduction], x: Operand, dims: Dims, keepdims: bool) -> Operand:
    axes = axes_of(x, dims)
    out = _over(op, axes)(x) if axes else x
    return p.expand_dims(out, axes) if keepdims is not False and truth("a reduction", "keepdims", keepdims) else out


def reduce_sum(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """The sum over `dims`, or over everything.

    >>> reduce_sum(p.zeros(float32, (2, 3)), -1, keepdims=True).shape
    (2, 1)
    """
    return _reduce(Sum, x, dims, keepdims)


def reduce_prod(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """The product over `dims`, or over everything.

    >>> reduce_prod(p.zeros(float32, (2, 3)), 0).shape
    (3,)
    """
    return _reduce(Prod, x, dims, keepdims)


def reduce_max(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """The largest element along `dims`, or of all.

    >>> reduce_max(p.zeros(float32, (2, 3)), 0).shape
    (3,)
    """
    return _reduce(Max, x, dims, keepdims)


def reduce_min(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """The smallest element along `dims`, or of all.

    >>> reduce_min(p.zeros(float32, (2, 3)), 0).shape
    (3,)
    """
    return _reduce(Min, x, dims, keepdims)


def reduce_all(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """Whether all elements along `dims` are true.

    >>> reduce_all(p.zeros(bool_, (2, 3)), 0).shape
    (3,)
    """
    return _reduce(All, x, dims, keepdims)


def reduce_any(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """Whether any element along `dims` is true.

    >>> reduce_any(p.zeros(bool_, (2, 3)), 0).shape
    (3,)
    """
    return _reduce(Any, x, dims, keepdims)


def mean(x: Operand, dims: Dims = None, keepdims: bool = False) -> Operand:
    """The arithmetic mean over `dims`, or over everything.

    >>> mean(p.zeros(float32, (2, 3)), -1).shape
    (2,)
    """
    if x.dtype.bits < 32:  # the sum of half-precision numbers may not be one, while their mean is
        return p.cast(mean(p.cast(x, float32), dims, keepdims), x.dtype)
    count = prod(x.shape[d] for d in axes_of(x, dims))
    out: Operand = reduce_sum(x, dims, keepdims) * p.one_over(count, x.dtype)
    return out


def cumsum(x: Operand, axis: int) -> Operand:
    """The running sum along `axis`.

    >>> cumsum(p.zeros(float32, (2, 3)), -1).op
    Cumsum(axis=1)
    """
    return Cumsum(*axes_of(x, axis))(x)


def cummax(x: Operand, axis: int) -> Operand:
    """The largest element so far along `axis`.

    >>> cummax(p.zeros(float32, (2, 3)), -1).op
    Cummax(axis=1)
    """
    return Cummax(*axes_of(x, axis))(x)


def cummin(x: Operand, axis: int) -> Operand:
    """The smallest element so far along `axis`.

    >>> cummin(p.zeros(float32, (2, 3)), -1).op
    Cummin(axis=1)
    """
    return Cummin(*axes_of(x, axis))(x)


def arg_max(x: Operand, axis: int) -> Operand:
    """Where the largest element along `axis` is.

    >>> str(arg_max(p.zeros(float32, (2, 3)), -1).type)
    'i32[2]'
    """
    return ArgMax(*axes_of(x, axis))(x)


def arg_min(x: Operand, axis: int) -> Operand:
    """Where the smallest element along `axis` is.

    >>> str(arg_min(p.zeros(float32, (2, 3)), -1).type)
    'i32[2]'
    """
    return ArgMin(*axes_of(x, axis))(x)
