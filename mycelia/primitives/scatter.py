"""Writing at positions that are known only when the program runs: combining there, or replacing; they are clamped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Operand, Purity, Sample, Value, each_part
from mycelia.primitives.family import ALL, NUMBERS, check_dims, check_dtype, draw, given, mapping, names, wide
from mycelia.primitives.indexing import check_indices, rows_of_batch
from mycelia.primitives.windows import fold, unfold, whole
from mycelia.sizes import known_equal
from mycelia.types import Array, DType, TensorType, float32, int32, int64

__all__ = [
    "Scatter",
    "ScatterAdd",
    "ScatterMax",
    "ScatterMin",
    "ScatterMul",
    "ScatterUpdate",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_update",
]


@frozen
class Scatter(Op, abstract=True):
    """`x` with its slices along `axis`, at `indices`, combined with `updates`, one after the other in row-major order.

    `combine` names what becomes of a slice and its update, as in `loops.Update`.
    """

    axis: int
    combine: ClassVar[str]
    dtypes: ClassVar[tuple[DType, ...]]
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> TensorType:
        check_dims(self, x, (self.axis,), "axis")
        check_indices(self, indices)
        check_dtype(self, x, updates)
        expected = x.shape[: self.axis] + indices.shape + x.shape[self.axis + 1 :]
        if updates.shape != expected or (known_equal(x.shape[self.axis], 0) and not indices.empty):
            raise ShapeError(
                f"{self.name} into {x} along axis {self.axis} needs updates of shape {expected}, not {updates.shape}",
                given=given((x, indices, updates)),
                hint="updates have the shape that gather with the same indices gives",
            )
        return x

    def places(self, x: Array, indices: Array) -> Any:
        """The index under which NumPy finds the slices."""
        return (*(slice(None),) * self.axis, np.clip(indices.astype(np.int64), 0, max(x.shape[self.axis] - 1, 0)))

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, indices: Value, updates: Value) -> Any:
        x, updates = whole(size, (mapped[0], mapped[2]), (x, updates))
        if not mapped[1]:
            return type(self)(self.axis + 1)(x, indices, updates)
        rank = len(indices.shape) - 1
        rows = rows_of_batch(indices, x.shape[self.axis + 1])
        flat = fold(p.moveaxis(x, self.axis + 1, 1))
        order = (0, *(i + self.axis + 1 for i in range(rank)))
        rest = tuple(i for i in range(len(updates.shape)) if i not in order)
        out = unfold(type(self)(0)(flat, rows, p.transpose(updates, order + rest)), size)
        return p.moveaxis(out, 1, self.axis + 1)

    def axes(self, x: TensorType, indices: TensorType, updates: TensorType) -> str:
        a = ["1" if i == self.axis else n for i, n in enumerate(names(x.rank))]
        return mapping([a, ["1"] * indices.rank, a[: self.axis] + ["1"] * indices.rank + a[self.axis + 1 :]], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        i = np.array([[0, 3, 1, 0], [2, 2, 9, -1]], np.int32)
        for axis, shape in [(0, (2, 4, 2, 6)), (1, (4, 2, 4, 6)), (2, (4, 2, 2, 4))]:
            yield Sample(cls(axis), (draw(4, 2, 6), i, draw(*shape, seed=1)))
        yield Sample(cls(1), (draw(4, 2, 6), np.array(1), draw(4, 6)))
        yield Sample(cls(0), (draw(1, 4), np.array([0, 1, -1]), draw(3, 4, seed=1)))
        yield Sample(cls(0), (draw(3, 2), np.zeros(0, np.int64), draw(0, 2)))
        yield Sample(cls(0), (draw(5), np.array([4, 4, 0, 4, 1, 0]), draw(6, seed=1)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x, i = TensorType(float32, (2, 3)), TensorType(int32, (4,))
        yield Mistake(lambda: cls(0).infer(x, i, x), ShapeError, "needs updates of shape (4, 3), not (2, 3)")
        yield Mistake(lambda: cls(2).infer(x, i, x), ShapeError, f"{cls.name} along an axis that")
        empty, some = x.with_shape((0, 3)), x.with_shape((4, 3))
        yield Mistake(lambda: cls(0).infer(empty, i, some), ShapeError, f"{cls.name} into f32[0, 3]")
        yield Mistake(lambda: cls(0).infer(x, i.with_dtype(float32), x), DTypeError, "needs integers as positions")
        yield Mistake(lambda: cls(0).infer(x, i, x.with_dtype(int32)), DTypeError, "operands of one element type")


class ScatterAdd(Scatter):
    """`x` with `updates` added to its slices along `axis`, at `indices`; equal indices add up.

    >>> ScatterAdd(0).reference(np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 5.0, 1.0]))
    array([5., 0., 2.])
    """

    name = "scatter_add"
    combine = "add"
    dtypes = NUMBERS

    in_parts = each_part

    def reference(self, x: Array, indices: Array, updates: Array) -> Array:
        out = wide(x).copy()
        np.add.at(out, self.places(x, indices), wide(updates))
        return out.astype(x.dtype, copy=False)

    def vjp(self, ct: Value, out: Value, x: Value, indices: Value, updates: Value) -> Cotangents:
        return ct, None, p.gather(ct, indices, self.axis)


class ScatterUpdate(Scatter):
    """`x` with its slices along `axis`, at `indices`, replaced by `updates`; of equal indices the last one wins.

    >>> ScatterUpdate(0).reference(np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]))
    array([5., 0., 3.])
    """

    name = "scatter_update"
    combine = "set"
    dtypes = ALL

    in_parts = each_part

    def reference(self, x: Array, indices: Array, updates: Array) -> Array:
        out = x.copy()
        out[self.places(x, indices)] = updates
        return out

    def vjp(self, ct: Value, out: Value, x: Value, indices: Value, updates: Value) -> Cotangents:
        """The old numbers matter where nothing was written, and an update where it was the last."""
        untouched = scatter_update(ct, indices, p.zeros_like(updates), self.axis)
        return untouched, None, p.select(self._lasting(x, indices, updates), p.gather(ct, indices, self.axis), 0)

    def _lasting(self, x: Value, indices: Value, updates: Value) -> Any:
        """Whether no later update goes to the same place, for each element of `updates`."""
        turns = p.reshape(p.iota(int64, (indices.tensor.size,), 0), indices.shape)
        last = scatter_update(p.zeros(int64, (x.shape[self.axis],)), indices, turns, 0)
        lasting = p.equal(p.gather(last, indices, 0), turns)
        shape = (*(1,) * self.axis, *indices.shape, *(1,) * (len(x.shape) - self.axis - 1))
        return p.broadcast(p.reshape(lasting, shape), updates.shape)


class ScatterMul(Scatter):
    """`x` with its slices along `axis`, at `indices`, multiplied by `updates`; equal indices multiply one another.

    >>> ScatterMul(0).reference(np.ones(3), np.array([2, 0, 2]), np.array([2.0, 5.0, 3.0]))
    array([5., 1., 6.])
    """

    name = "scatter_mul"
    combine = "mul"
    dtypes = NUMBERS

    def reference(self, x: Array, indices: Array, updates: Array) -> Array:
        out = wide(x).copy()
        np.multiply.at(out, self.places(x, indices), wide(updates))
        return out.astype(x.dtype, copy=False)

    def vjp(self, ct: Value, out: Value, x: Value, indices: Value, updates: Value) -> Cotangents:
        """The product of all others, also where one factor is zero."""
        zero = p.equal(updates, 0)
        others = p.select(zero, p.ones_like(updates), updates)
        product = scatter_mul(p.ones_like(x), indices, others, self.axis)
        zeros = scatter_add(p.zeros_like(x), indices, p.cast(zero, x.dtype), self.axis)
        none, rest = p.equal(zeros, 0), p.gather(ct * x * product, indices, self.axis) / others
        left = p.gather(zeros, indices, self.axis) - p.cast(zero, x.dtype)  # zeros among the other updates there
        return p.select(none, ct * product, 0), None, p.select(p.equal(left, 0), rest, 0)


class _ScatterExtreme(Scatter, abstract=True):
    """The larger or the smaller of a slice and its updates. The gradient is shared by those that are equal to it."""

    dtypes = NUMBERS
    oracle: ClassVar[Any]

    def reference(self, x: Array, indices: Array, updates: Array) -> Array:
        out = x.copy()
        type(self).oracle.at(out, self.places(x, indices), updates)
        return out

    def vjp(self, ct: Value, out: Value, x: Value, indices: Value, updates: Value) -> Cotangents:
        mine = p.cast(p.equal(x, out), x.dtype)
        theirs = p.cast(p.equal(updates, p.gather(out, indices, self.axis)), x.dtype)
        share = ct / scatter_add(mine, indices, theirs, self.axis)
        return share * mine, None, p.gather(share, indices, self.axis) * theirs

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        """Those of all, with numbers that lie apart: finite differences must not step over one another."""
        for sample in super().samples():
            x, indices, updates = sample.inputs
            apart = np.random.default_rng(0).permutation(x.size + updates.size).astype(np.float32) / 32 - 2
            first, second = apart[: x.size].reshape(x.shape), apart[x.size :].reshape(updates.shape)
            yield Sample(sample.op, (first, indices, second))


class ScatterMax(_ScatterExtreme):
    """`x` with its slices along `axis`, at `indices`, raised to `updates` where these are larger.

    >>> ScatterMax(0).reference(np.zeros(3), np.array([2, 0, 2]), np.array([2.0, -5.0, 3.0]))
    array([0., 0., 3.])
    """

    name = "scatter_max"
    combine = "max"
    oracle = np.maximum


class ScatterMin(_ScatterExtreme):
    """`x` with its slices along `axis`, at `indices`, lowered to `updates` where these are smaller.

    >>> ScatterMin(0).reference(np.zeros(3), np.array([2, 0, 2]), np.array([2.0, -5.0, -3.0]))
    array([-5.,  0., -3.])
    """

    name = "scatter_min"
    combine = "min"
    oracle = np.minimum


def scatter_add(x: Operand, indices: Any, updates: Any, axis: int) -> Operand:
    """`x` with `updates` added to its slices along `axis`, at `indices`.

    >>> scatter_add(p.zeros(float32, (9, 4)), p.zeros(int32, (2,)), p.zeros(float32, (2, 4)), 0).shape
    (9, 4)
    """
    out: Operand = ScatterAdd(axis)(x, indices, updates)
    return out


def scatter_update(x: Operand, indices: Any, updates: Any, axis: int) -> Operand:
    """`x` with `updates` in place of its slices along `axis`, at `indices`; of equal indices the last one wins.

    >>> scatter_update(p.zeros(float32, (9, 4)), p.zeros(int32, (2,)), p.zeros(float32, (2, 4)), 0).shape
    (9, 4)
    """
    out: Operand = ScatterUpdate(axis)(x, indices, updates)
    return out


def scatter_mul(x: Operand, indices: Any, updates: Any, axis: int) -> Operand:
    """`x` with its slices along `axis`, at `indices`, multiplied by `updates`.

    >>> scatter_mul(p.zeros(float32, (9, 4)), p.zeros(int32, (2,)), p.zeros(float32, (2, 4)), 0).shape
    (9, 4)
    """
    out: Operand = ScatterMul(axis)(x, indices, updates)
    return out


def scatter_max(x: Operand, indices: Any, updates: Any, axis: int) -> Operand:
    """`x` with its slices along `axis`, at `indices`, raised to `updates`.

    >>> scatter_max(p.zeros(float32, (9, 4)), p.zeros(int32, (2,)), p.zeros(float32, (2, 4)), 0).shape
    (9, 4)
    """
    out: Operand = ScatterMax(axis)(x, indices, updates)
    return out


def scatter_min(x: Operand, indices: Any, updates: Any, axis: int) -> Operand:
    """`x` with its slices along `axis`, at `indices`, lowered to `updates`.

    >>> scatter_min(p.zeros(float32, (9, 4)), p.zeros(int32, (2,)), p.zeros(float32, (2, 4)), 0).shape
    (9, 4)
    """
    out: Operand = ScatterMin(axis)(x, indices, updates)
    return out
