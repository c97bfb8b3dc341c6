"""Indexing by data: elements at positions that are known only when the program runs. Positions are clamped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Operand, Purity, Reader, Sample, Value, each_part
from mycelia.loops import Expr, Index, binary, cast, const, datum
from mycelia.primitives.family import ALL, Shaped, check_dims, check_dtype, draw, given, mapping, names
from mycelia.primitives.windows import fold, whole
from mycelia.sizes import Dim, known_equal
from mycelia.types import Array, DType, Shape, TensorType, bool_, float32, int32, int64

__all__ = [
    "DynamicSlice",
    "DynamicUpdate",
    "Gather",
    "dynamic_slice",
    "dynamic_update",
    "gather",
]


def check_indices(op: Op, *indices: TensorType) -> None:
    """Complain unless all indices are integers."""
    for i in indices:
        if not i.dtype.is_integer:
            raise DTypeError(
                f"{op.name} needs integers as positions, not {i.dtype!r}",
                given=given(indices),
                hint="cast them to int32",
            )


def within(i: Expr, last: Dim) -> Index:
    """An integer of the data as an index from 0 to `last`, clamped."""
    i = cast(i, int32) if i.dtype.bits < 32 else i
    if not isinstance(last, int) and i.dtype.bits < 64:
        i = cast(i, int64)
    end = last if not isinstance(last, int) else min(last, (1 << i.dtype.bits - 1) - 1)
    i = binary("min", i, const(end, i.dtype))
    if i.dtype.kind == "i":  # last, so that an axis which turns out to be empty is read at its first place
        i = binary("max", i, const(0, i.dtype))
    return datum(i, 0, last)


@frozen
class Gather(Op):
    """Slices of `x` along `axis`, at `indices`: `x.shape[:axis] + indices.shape + x.shape[axis + 1:]`.

    >>> Gather(0).reference(np.array([10.0, 20.0, 30.0]), np.array([2, 0, 9]))
    array([30., 10., 30.])
    """

    axis: int
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    purity: ClassVar[Purity] = Purity.TOTAL

    in_parts = each_part

    def infer(self, x: TensorType, indices: TensorType) -> TensorType:
        check_dims(self, x, (self.axis,), "axis")
        check_indices(self, indices)
        if known_equal(x.shape[self.axis], 0) and not indices.empty:
            raise ShapeError(f"gather from an axis without elements, of {x}", given={"axis": self.axis})
        return TensorType(x.dtype, x.shape[: self.axis] + indices.shape + x.shape[self.axis + 1 :])

    def reference(self, x: Array, indices: Array) -> Array:
        return np.take(x, indices.astype(np.int64), self.axis, mode="clip")

    def element(self, index: Sequence[Index], x: Reader, indices: Reader) -> Expr:
        if x.type.empty:
            return const(0, x.type.dtype)
        end = self.axis + indices.type.rank
        at = within(indices.at(index[self.axis : end]), x.type.shape[self.axis] - 1)
        return x.at([*index[: self.axis], at, *index[end:]])

    def vjp(self, ct: Value, out: Value, x: Value, indices: Value) -> Cotangents:
        return p.scatter_add(p.zeros_like(x), indices, ct, self.axis), None

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, indices: Value) -> Any:
        if not mapped[1]:
            return gather(x, indices, self.axis + 1)
        if not mapped[0]:
            return p.moveaxis(gather(x, indices, self.axis), self.axis, 0)
        return batched_gather(x, indices, self.axis)

    def axes(self, x: TensorType, indices: TensorType) -> str:
        a = names(x.rank + indices.rank)
        before, after = a[: x.rank], a[x.rank :]
        operand = ["1" if i == self.axis else n for i, n in enumerate(before)]
        return mapping([operand, after], before[: self.axis] + after + before[self.axis + 1 :])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x, i = draw(4, 2, 6), np.array([[0, 3, 1, 0], [2, 2, 9, -1]], np.int32)
        yield from (Sample(cls(axis), (x, i)) for axis in range(3))
        yield Sample(cls(1), (x, np.array(1)))
        yield Sample(cls(0), (x, np.array([3, 1], np.uint8)))
        yield Sample(cls(0), (draw(1, 4), np.array([0, 1, -1])))
        yield Sample(cls(0), (x, np.zeros((0, 2), np.int64)))
        yield Sample(cls(0), (draw(0, 2), np.zeros(0, np.int64)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x, i = TensorType(float32, (2, 0)), TensorType(int32, (3,))
        yield Mistake(lambda: cls(2).infer(x, i), ShapeError, "gather along an axis that f32[2, 0] does not have")
        yield Mistake(lambda: cls(0).infer(x, i.with_dtype(float32)), DTypeError, "needs integers as positions")
        yield Mistake(lambda: cls(1).infer(x, i), ShapeError, "gather from an axis without elements")


def rows_of_batch(indices: Any, extent: int) -> Any:
    """Indices per element of a batch, as indices into the batch axis joined with an axis of `extent`."""
    size = indices.shape[0]
    dtype = int32 if size * extent < 1 << 31 else int64
    inside = p.maximum(p.minimum(p.cast(indices, int64), max(extent - 1, 0)), 0)
    batch = p.iota(dtype, (size, *(1,) * (len(indices.shape) - 1)), 0)
    return p.cast(inside, dtype) + batch * extent


def batched_gather(x: Operand, indices: Any, axis: int) -> Operand:
    """Gather for each element of a batch, which is the first axis of both operands; `axis` counts after it.

    >>> batched_gather(p.zeros(float32, (5, 2, 9)), p.zeros(int32, (5, 3)), 1).shape
    (5, 2, 3)
    """
    rows = gather(fold(p.moveaxis(x, axis + 1, 1)), rows_of_batch(indices, x.shape[axis + 1]), 0)
    rank = len(indices.shape) - 1  # rows are (batch, *indices, *x before axis, *x after axis)
    order = (0, *(1 + rank + i for i in range(axis)), *(1 + i for i in range(rank)))
    return p.transpose(rows, (*order, *(i for i in range(len(rows.shape)) if i not in order)))


def clamped_start(start: Array, extent: int, size: int) -> int:
    """Where a window of `size` begins when it must fit.

    >>> clamped_start(np.array(7), 8, 3), clamped_start(np.array(-2), 8, 3)
    (5, 0)
    """
    return min(max(int(start), 0), extent - size)


def check_starts(op: Op, x: TensorType, sizes: Shape, starts: Sequence[TensorType]) -> None:
    """Complain unless there is one integer per axis, and the window fits."""
    check_indices(op, *starts)
    if not len(sizes) == len(starts) == x.rank or any(s.shape for s in starts):
        raise ShapeError(
            f"{op.name} needs a size and a scalar start for each axis of {x}",
            given={"sizes": sizes, **given(starts)},
        )
    if any(not 0 <= n <= e for n, e in zip(sizes, x.shape, strict=True)):
        raise ShapeError(f"{op.name}: a window of shape {sizes} does not fit into {x}")


@frozen
class DynamicSlice(Shaped):
    """A window of `sizes` of `x`, which begins at `starts`; starts are moved so that the window fits.

    >>> DynamicSlice((2,)).reference(np.arange(5), np.array(4))
    array([3, 4])
    """

    sizes: tuple[int, ...]
    name: ClassVar[str] = "dynamic_slice"
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    in_parts = each_part

    def infer(self, x: TensorType, *starts: TensorType) -> TensorType:
        check_starts(self, x, self.sizes, starts)
        return TensorType(x.dtype, self.sizes)

    def local(self, shape: Shape, *inputs: TensorType) -> Op:
        return DynamicSlice(shape)

    def reference(self, x: Array, *starts: Array) -> Array:
        return x[_window(x.shape, self.sizes, starts)]

    def element(self, index: Sequence[Index], x: Reader, *starts: Reader) -> Expr:
        if x.type.empty:
            return const(0, x.type.dtype)
        room = [e - n for e, n in zip(x.type.shape, self.sizes, strict=True)]
        return x.at([i + within(s.at(()), r) if r else i for i, s, r in zip(index, starts, room, strict=True)])

    def vjp(self, ct: Value, out: Value, x: Value, *starts: Value) -> Cotangents:
        return dynamic_update(p.zeros_like(x), ct, starts), *(None for _ in starts)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, *starts: Value) -> Any:
        if not any(mapped[1:]):
            return dynamic_slice(x, (p.zeros(int32, ()), *starts), (size, *self.sizes))
        (x,) = whole(size, mapped[:1], (x,))
        for axis, (n, start) in enumerate(zip(self.sizes, whole(size, mapped[1:], starts), strict=True)):
            extent = x.shape[axis + 1]
            if n != extent:
                x = batched_gather(x, _positions(start, extent - n, n), axis)
        return x

    def axes(self, x: TensorType, *starts: TensorType) -> str:
        a = ["1" if n != e else c for c, n, e in zip(names(x.rank), self.sizes, x.shape, strict=True)]
        return mapping([a, *([] for _ in starts)], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for sizes, starts in [((2, 2, 3), (1, 0, 2)), ((4, 1, 6), (0, 1, 0)), ((3, 2, 2), (9, -1, 3))]:
            yield Sample(cls(sizes), (draw(4, 2, 6), *(np.array(s, np.int32) for s in starts)))
        yield Sample(cls(()), (draw(),))
        yield Sample(cls((0, 2)), (draw(3, 2), np.array(1), np.array(0)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x, i = TensorType(float32, (2, 3)), TensorType(int32, ())
        yield Mistake(lambda: cls((1, 4)).infer(x, i, i), ShapeError, "a window of shape (1, 4) does not fit")
        yield Mistake(lambda: cls((1, 2)).infer(x, i), ShapeError, "a scalar start for each axis")
        yield Mistake(lambda: cls((1, 2)).infer(x, i, i.with_dtype(float32)), DTypeError, "needs integers")


class DynamicUpdate(Op):
    """`x` with a window replaced by `update`, which begins at `starts`; starts are moved so that the window fits.

    >>> DynamicUpdate().reference(np.zeros(5), np.ones(2), np.array(4))
    array([0., 0., 0., 1., 1.])
    """

    name = "dynamic_update"
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    purity: ClassVar[Purity] = Purity.TOTAL
    native: ClassVar[Lowered] = Lowered.STEP

    in_parts = each_part

    def infer(self, x: TensorType, update: TensorType, *starts: TensorType) -> TensorType:
        check_dtype(self, x, update)
        check_starts(self, x, update.shape, starts)
        return x

    def reference(self, x: Array, update: Array, *starts: Array) -> Array:
        out = x.copy()
        out[_window(x.shape, update.shape, starts)] = update
        return out

    def vjp(self, ct: Value, out: Value, x: Value, update: Value, *starts: Value) -> Cotangents:
        old = dynamic_update(ct, p.zeros_like(update), starts)
        return old, dynamic_slice(ct, starts, update.shape), *(None for _ in starts)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, update: Value, *starts: Value) -> Any:
        x, update = whole(size, mapped[:2], (x, update))
        if not any(mapped[2:]):
            return dynamic_update(x, update, (p.zeros(int32, ()), *starts))
        if 0 in update.shape:
            return x
        rank = len(starts)
        here = p.ones(bool_, ())
        for axis, start in enumerate(whole(size, mapped[2:], starts)):
            n, extent = update.shape[axis + 1], x.shape[axis + 1]
            if n == extent:
                continue
            at = p.iota(int32, (size, extent), 1) - _positions(start, extent - n, 1)
            hit = p.logical_and(p.greater_equal(at, 0), p.less(at, n))
            here = p.logical_and(here, p.reshape(hit, (size, *(extent if i == axis else 1 for i in range(rank)))))
            update = batched_gather(update, at, axis)
        return p.select(here, update, x)

    def axes(self, x: TensorType, update: TensorType, *starts: TensorType) -> str:
        a = ["1" if n != e else c for c, n, e in zip(names(x.rank), update.shape, x.shape, strict=True)]
        return mapping([a, a, *([] for _ in starts)], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for sizes, starts in [((2, 2, 3), (1, 0, 2)), ((4, 1, 6), (0, 1, 0)), ((3, 2, 2), (9, -1, 3))]:
            yield Sample(cls(), (draw(4, 2, 6), draw(*sizes, seed=1), *(np.array(s, np.int32) for s in starts)))
        yield Sample(cls(), (draw(), draw(seed=1)))
        yield Sample(cls(), (draw(3, 2), draw(0, 2), np.array(1), np.array(0)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x, i = TensorType(float32, (2, 3)), TensorType(int32, ())
        yield Mistake(lambda: cls().infer(x, x.with_shape((3, 3)), i, i), ShapeError, "does not fit into f32[2, 3]")
        yield Mistake(lambda: cls().infer(x, x, i), ShapeError, "a scalar start for each axis")
        yield Mistake(lambda: cls().infer(x, x.with_dtype(int32), i, i), DTypeError, "operands of one element type")


def _window(extents: Shape, sizes: Shape, starts: Sequence[Array]) -> tuple[slice, ...]:
    begins = [clamped_start(s, e, n) for s, e, n in zip(starts, extents, sizes, strict=True)]
    return tuple(slice(b, b + n) for b, n in zip(begins, sizes, strict=True))


def _positions(start: Any, room: int, count: int) -> Any:
    """For each start of a batch, `count` positions from it on, once it is clamped to leave room."""
    begin = p.cast(p.maximum(p.minimum(p.cast(start, int64), room), 0), int32)
    return p.reshape(begin, (begin.shape[0], 1)) + p.iota(int32, (1, count), 1)


def gather(x: Operand, indices: Any, axis: int) -> Operand:
    """Slices of x along `axis`, at `indices`.

    >>> gather(p.zeros(float32, (9, 4)), p.zeros(int32, (2, 3)), 0).shape
    (2, 3, 4)
    """
    out: Operand = Gather(axis)(x, indices)
    return out


def dynamic_slice(x: Operand, starts: Sequence[Any], sizes: Sequence[int]) -> Operand:
    """A window of x that begins at `starts`.

    >>> dynamic_slice(p.zeros(float32, (9, 4)), (p.zeros(int32, ()),) * 2, (2, 4)).shape
    (2, 4)
    """
    out: Operand = DynamicSlice(tuple(sizes))(x, *starts)
    return out


def dynamic_update(x: Operand, update: Any, starts: Sequence[Any]) -> Operand:
    """`x` with the window that begins at `starts` replaced.

    >>> dynamic_update(p.zeros(float32, (9, 4)), p.ones(float32, (2, 4)), (p.zeros(int32, ()),) * 2).shape
    (9, 4)
    """
    out: Operand = DynamicUpdate()(x, update, *starts)
    return out
