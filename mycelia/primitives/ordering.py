"""Elements in order: positions that put them there, the elements themselves, the first of them, places among others.

All of them have one meaning of order: equal elements (both zeros are) keep their places, and nan is largest. A routine
computes them (`routines/ordering.py`).
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Purity, Sample, Several, Value, zero_gradient
from mycelia.loops.interpret import ordered
from mycelia.primitives.family import ALL, check_dims, check_dtype, draw, given, names
from mycelia.primitives.windows import whole
from mycelia.sizes import Dim, NeedsSize, Sym, comes_from_data, known_equal, least
from mycelia.types import Array, DType, TensorType, TupleType, float32, int32, int64

__all__ = ["Ordering", "Search", "Sort", "TopK", "order_of", "search", "sort", "topk"]


def apart(*shape: int) -> Array:
    """Numbers in no order of which no two are close together.

    >>> np.ptp(np.diff(np.sort(apart(9)))).item()
    0.0
    """
    size = prod(shape)
    return (np.random.default_rng(size).permutation(size).reshape(shape) * 0.25 - 1.0).astype("f")


def check_sizes(*operands: TensorType) -> None:
    """A routine is told its sizes before the program runs: where they come out of data, Python runs the line."""
    sizes: list[Any] = [n for t in operands for n in t.shape]
    for n in filter(comes_from_data, sizes):
        raise NeedsSize(n)


def as_large_as_can_be(x: Any, number: Any) -> Any:
    """`x`; along axes that are as long as data say, with numbers behind it up to the length that they can have."""
    behind = [_missing(n) for n in x.shape]
    return p.pad(x, [0] * len(behind), behind, number) if any(type(n) is Sym for n in behind) else x


def _missing(n: Any) -> Any:
    """By how much a size is smaller than it can be, if it comes out of data."""
    if type(n) is not Sym or not comes_from_data(n) or len(n.names()) > 1:
        return 0
    (name,) = n.names()
    return name.most - n if name.most is not None and known_equal(n, name.alone()) else 0


def last_of(dtype: DType, descending: bool) -> Any:
    """A number that no other comes after; equal ones keep their order.

    >>> last_of(float32, False), last_of(float32, True), last_of(int32, True)
    (nan, -inf, -2147483648)
    """
    if dtype.is_float:
        return -np.inf if descending else np.nan
    if not dtype.is_integer:
        return not descending
    info = np.iinfo(dtype.numpy)
    return int(info.min if descending else info.max)


def first(x: Any, shape: Sequence[Dim]) -> Any:
    """The part of this shape with which a value begins."""
    equal = all(a is b or known_equal(a, b) for a, b in zip(x.shape, shape, strict=True))
    return x if equal else p.slice_(x, [0] * len(shape), shape)


@frozen
class InOrder(Op, abstract=True):
    """The family: rows along `axis` in order, the smallest element first or, if `descending`, the largest."""

    axis: int
    descending: bool
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    def checked(self, x: TensorType) -> TensorType:
        """The type of positions of all elements."""
        check_dims(self, x, (self.axis,), "axis")
        check_dtype(self, x)
        check_sizes(x)
        return x.with_dtype(int64)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return type(self)(self.axis + 1, self.descending)(x)

    def axes(self, x: TensorType) -> str:
        a = " ".join("1" if i == self.axis else n for i, n in enumerate(names(x.rank)))
        return f"{a} -> {a}, {a}" if isinstance(self, Several) else f"{a} -> {a}"

    @classmethod
    def made(cls, axis: int, descending: bool) -> InOrder:
        """The op for a sample of which an axis has three elements at least."""
        return cls(axis, descending)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls.made(axis, axis == 1), (apart(3, 4, 5),)) for axis in range(3))
        yield Sample(cls.made(0, False), (apart(64),))
        yield Sample(cls.made(0, True), (np.array([1, 3, 3, 1, 2], "f"),), smooth=False, note="ties")
        odd = np.array([1, np.nan, -0.0, np.inf, 0.0, -np.nan, -np.inf, -0.0], "f")
        for descending in (False, True):
            yield Sample(cls.made(0, descending), (odd,), smooth=False, note="nan and zeros")
        yield Sample(cls.made(1, False), (apart(0, 4),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls.made(2, False).infer(x), ShapeError, f"{cls.name} along an axis that f32[2, 3]")


class Ordering(InOrder):
    """The positions, int64, that put elements in order along `axis`.

    >>> Ordering(0, False).reference(np.array([3, 1, 2]))
    array([1, 2, 0])
    """

    vjp = zero_gradient("its output is an integer")

    def infer(self, x: TensorType) -> TensorType:
        return self.checked(x)

    def reference(self, x: Array) -> Array:
        return ordered(x, self.descending, self.axis)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from super().samples()
        yield Sample(cls(1, False), (apart(2, 0),))


class Sort(InOrder, Several):
    """The elements in order along `axis`, and where they were, int64.

    >>> Sort(0, True).reference(np.array([3, 1, 2]))
    (array([3, 2, 1]), array([0, 2, 1]))
    """

    def infer(self, x: TensorType) -> TupleType:
        return TupleType((x, self.checked(x)))

    def reference(self, x: Array) -> tuple[Array, Array]:
        order = ordered(x, self.descending, self.axis)
        return np.take_along_axis(x, order, self.axis), order

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        return (put_back(ct[0], out[1], x, self.axis),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from super().samples()
        yield Sample(cls(1, False), (apart(2, 0),))


@frozen
class TopK(InOrder, Several):
    """The first `count` elements in order along `axis`, and where they were, int64.

    >>> TopK(0, True, 2).reference(np.array([3, 1, 2]))
    (array([3, 2]), array([0, 2]))
    """

    count: Dim
    name: ClassVar[str] = "topk"

    def infer(self, x: TensorType) -> TupleType:
        positions = self.checked(x)
        extent = x.shape[self.axis]
        if least(extent - self.count) < 0 or least(self.count) < 0:
            raise too_few(x, self.axis, self.count)
        shape = (*x.shape[: self.axis], self.count, *x.shape[self.axis + 1 :])
        return TupleType((x.with_shape(shape), positions.with_shape(shape)))

    def reference(self, x: Array) -> tuple[Array, Array]:
        first = (slice(None),) * self.axis + (slice(self.count),)
        order = ordered(x, self.descending, self.axis)[first]
        return np.take_along_axis(x, order, self.axis), order

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return TopK(self.axis + 1, self.descending, self.count)(x)

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        return (put_back(ct[0], out[1], x, self.axis),)

    @classmethod
    def made(cls, axis: int, descending: bool) -> TopK:
        return cls(axis, descending, 3)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from super().samples()
        yield Sample(cls(0, True, 0), (apart(4),))
        yield Sample(cls(0, True, 4), (apart(4),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield from super().mistakes()
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls(1, False, 4).infer(x), ShapeError, "an axis of 3 has no 4 first elements")


def too_few(x: TensorType, axis: int, count: Dim) -> ShapeError:
    """What is wrong with more elements than an axis has."""
    extent = x.shape[axis]
    return ShapeError(
        f"an axis of {extent} has no {count} first elements",
        given={"operand": x, "axis": axis},
        hint=f"count is at most {extent}",
    )


def put_back(ct: Any, positions: Any, x: Any, axis: int) -> Any:
    """What flows to elements that were put in order: each cotangent to where its element was."""
    shape = x.shape
    outer, inner, length, kept = prod(shape[:axis]), prod(shape[axis + 1 :]), shape[axis], ct.shape[axis]
    rows = outer, kept, inner
    before, column = (p.iota(int64, rows, i) for i in (0, 2))
    place = (before * length + p.reshape(positions, rows)) * inner + column
    flat = p.full(0, ct.dtype, (outer * length * inner,))
    if known_equal(outer * length * inner, 0):
        return p.reshape(flat, shape)
    return p.reshape(p.scatter_update(flat, p.reshape(place, (-1,)), p.reshape(ct, (-1,)), 0), shape)


@frozen
class Search(Op):
    """Where values would go in sequences that are in order along the last axis: before equal elements, or behind them
    (`right`). One sequence serves all values; several have the axes of the values before the last.

    >>> Search(False).reference(np.array([1, 3, 5]), np.array([3, 6]))
    array([1, 3])
    """

    right: bool
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL
    vjp = zero_gradient("its output is an integer")

    def infer(self, sequence: TensorType, values: TensorType) -> TensorType:
        check_dtype(self, sequence, values)
        check_sizes(sequence, values)
        if sequence.rank == 0 or (
            sequence.rank > 1 and (sequence.rank != values.rank or not _same(sequence.shape[:-1], values.shape[:-1]))
        ):
            raise ShapeError(
                f"search: sequences of shape {sequence.shape} do not fit values of shape {values.shape}",
                given=given((sequence, values)),
                hint="one sequence for all, or the same axes before the last",
            )
        return values.with_dtype(int64)

    def reference(self, sequence: Array, values: Array) -> Array:
        if sequence.dtype.kind not in "?iuf":  # NumPy does not know where others have nan
            sequence, values = sequence.astype(np.float32), values.astype(np.float32)

        def found(row: Array, wanted: Array) -> Array:
            return np.asarray(np.searchsorted(row, wanted, "right" if self.right else "left"))

        if sequence.ndim == 1 or not values.size:
            return found(sequence.reshape(-1), values)
        count = prod(values.shape[:-1])
        pairs = [x.reshape(count, x.shape[-1]) for x in (sequence, values)]
        return np.stack([found(*pair) for pair in zip(*pairs, strict=True)]).reshape(values.shape)

    def vmap(self, size: int, mapped: tuple[bool, ...], sequence: Value, values: Value) -> Any:
        if not mapped[0]:
            if len(sequence.shape) == 1:
                return Search(self.right)(sequence, values)
            sequence = whole(size, (False,), (sequence,))[0]
        elif not mapped[1]:
            values = whole(size, (False,), (values,))[0]
        if len(sequence.shape) > 2 or len(values.shape) == 2:
            return Search(self.right)(sequence, values)
        flat = p.reshape(values, (size, -1))  # one sequence for all values of an example
        return p.reshape(Search(self.right)(sequence, flat), values.shape)

    def axes(self, sequence: TensorType, values: TensorType) -> str:
        a = names(values.rank)
        rows = [*a[:-1], "1"] if sequence.rank > 1 else ["1"]
        return f"{' '.join(rows)}, {' '.join(a)} -> {' '.join(a)}"

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        row = np.array([-0.0, 0, 0.5, 1, 1, 2, 3], "f")  # in order as numbers of all kinds
        for right in (False, True):
            yield Sample(cls(right), (row, np.array([0, 1, 9, 0.5, -0.0, 3, 2.5], "f")), smooth=False)
        rows = np.stack([row, row + 1, row * 2, row]).reshape(2, 2, 7)
        yield Sample(cls(False), (rows, draw(2, 2, 5, seed=1)), smooth=False)
        yield Sample(cls(False), (row, np.array(0.5, "f")), smooth=False)
        yield Sample(cls(True), (draw(0), draw(3)), smooth=False)
        yield Sample(cls(True), (row, draw(2, 0)), smooth=False)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x, other = TensorType(float32, (2, 3)), TensorType(float32, (3, 3))
        yield Mistake(lambda: cls(False).infer(x, other), ShapeError, "do not fit values of shape (3, 3)")
        yield Mistake(lambda: cls(False).infer(x, x.with_dtype(int32)), DTypeError, "operands of one element type")


def _same(x: tuple[Dim, ...], y: tuple[Dim, ...]) -> bool:
    return len(x) == len(y) and all(known_equal(a, b) for a, b in zip(x, y, strict=True))


def order_of(x: Any, axis: int, descending: bool = False) -> Any:
    """The positions, int64, that put `x` in order along an axis; equal elements keep their order, and nan is largest.

    >>> from mycelia.ir import Function, interpret
    >>> fn = Function.build(lambda x: order_of(x, 0), TensorType(float32, (3,)))
    >>> interpret(fn, np.array([3, 1, 2], "f"))[0]
    array([1, 2, 0])
    """
    return first(Ordering(axis, descending)(as_large_as_can_be(x, last_of(x.dtype, descending))), x.shape)


def sort(x: Any, axis: int, descending: bool = False) -> Any:
    """The elements in order along an axis, and where they were.

    >>> [str(r.type) for r in sort(p.zeros(float32, (2, 3)), 1)]
    ['f32[2, 3]', 'i64[2, 3]']
    """
    values, positions = Sort(axis, descending)(as_large_as_can_be(x, last_of(x.dtype, descending)))
    return first(values, x.shape), first(positions, x.shape)


def topk(x: Any, axis: int, count: Dim, descending: bool = True) -> Any:
    """The `count` largest elements along an axis, in order, and where they were; or the smallest.

    >>> [str(r.type) for r in topk(p.zeros(float32, (2, 3)), 1, 2)]
    ['f32[2, 2]', 'i64[2, 2]']
    """
    if 0 <= count <= x.shape[axis]:  # of a size that is a name, the program relies on it from now on
        return TopK(axis, descending, count)(x)
    raise too_few(x.type, axis, count)


def search(sequence: Any, values: Any, right: bool = False) -> Any:
    """Where values would go in sequences that are in order.

    >>> str(search(p.zeros(float32, (5,)), p.zeros(float32, (2, 3))).type)
    'i64[2, 3]'
    """
    if len(sequence.shape) > 1:
        return Search(right)(sequence, values)
    return first(Search(right)(sequence, as_large_as_can_be(values, 0)), values.shape)
