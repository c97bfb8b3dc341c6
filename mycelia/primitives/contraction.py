"""Contractions: products summed over shared axes. The axis notation *is* the op, unless one operand is sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Operand, Pair, Purity, Sample, Value
from mycelia.primitives.family import NUMBERS, broadcast_shape, check_dtype, draw, given, mapping, names, wide
from mycelia.primitives.indexing import check_indices
from mycelia.primitives.ordering import check_sizes
from mycelia.primitives.product_types import mixed, named, operand_types, product_type, rounded, widened
from mycelia.primitives.windows import fold, unfold, whole
from mycelia.sizes import known_equal, low
from mycelia.types import Array, DType, TensorType, bool_, dtype_of, float32, int8, int32, int64

__all__ = [
    "Contract",
    "Matrices",
    "SparseProduct",
    "contract",
    "matmul",
    "matrices",
    "sparse_product",
]


@frozen
class Contract(Op):
    """`lhs, rhs -> out`: multiply over all named axes, then sum those that `out` does not name. The result has element
    type `dtype`, or that of both operands.

    >>> Contract("mk", "kn", "mn").reference(np.ones((2, 3)), np.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
    """

    lhs: str
    rhs: str
    out: str
    dtype: DType | None = None
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """What the operands may be."""
        return operand_types(self.dtype)

    @property
    def equation(self) -> str:
        return f"{self.lhs},{self.rhs}->{self.out}"

    def infer(self, x: TensorType, y: TensorType) -> TensorType:
        if not possible(self.lhs, self.rhs, self.out):
            raise ArgumentError(
                f"{self.equation} is not a contraction of two operands",
                hint="each letter stands once in an operand, and one that only one operand has stays in the output; "
                "sum or take the diagonal of an operand first",
            )
        sizes = dict(zip(self.lhs, x.shape, strict=False))
        fits = len(self.lhs) == len(x.shape) and len(self.rhs) == len(y.shape)
        for axis, size in zip(self.rhs, y.shape, strict=False):
            fits = fits and sizes.setdefault(axis, size) == size
        if not fits:
            self._complain(x, y)
        return TensorType(product_type(self, x, y), tuple([sizes[a] for a in self.out]))

    def _complain(self, x: TensorType, y: TensorType) -> None:
        for letters, t in ((self.lhs, x), (self.rhs, y)):
            if len(letters) != t.rank:
                raise ShapeError(
                    f"{self.equation}: {letters} names {len(letters)} axes, the operand has {t.rank}",
                    given={self.lhs: x, self.rhs: y},
                )
        size = dict(zip(self.lhs, x.shape, strict=True))
        axis, other = next((a, n) for a, n in zip(self.rhs, y.shape, strict=True) if size.get(a, n) != n)
        raise ShapeError(
            f"{self.equation}: axis {axis} has two sizes, {size[axis]} and {other}",
            given={self.lhs: x, self.rhs: y},
            hint="transpose one operand, or check which axis should be contracted",
        )

    def reference(self, x: Array, y: Array) -> Any:
        plan = matrices(self)
        size = dict(zip(self.lhs + self.rhs, x.shape + y.shape, strict=True))
        b, m, k, n = (prod(size[a] for a in group) for group in (plan.batch, plan.rows, plan.summed, plan.columns))
        result = self.dtype or dtype_of(x)
        x, y = widened(result, x, y)
        left, right = x.transpose(plan.left).reshape(b, m, k), y.transpose(plan.right).reshape(b, k, n)
        product = np.matmul(left, right).reshape([size[a] for a in plan.batch + plan.rows + plan.columns])
        return rounded(product.transpose(plan.result), result)

    def in_parts(self, x: Pair, y: Pair) -> Pair:
        real = self(x.real, y.real) - self(x.imag, y.imag)
        return Pair(real, self(x.real, y.imag) + self(x.imag, y.real))

    def vjp(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        def flow(lhs: str, rhs: str, out: str, a: Value, b: Value, to: Value) -> Value | None:
            return Contract(lhs, rhs, out, named(to.dtype, a, b))(a, b) if to.type.differentiable else None

        to_x = flow(self.out, self.rhs, self.lhs, ct, y, x)
        return to_x, flow(self.lhs, self.out, self.rhs, x, ct, y)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, y: Value) -> Any:
        b = next(c for c in names(52) if c not in self.lhs + self.rhs)
        return Contract(b * mapped[0] + self.lhs, b * mapped[1] + self.rhs, b + self.out, self.dtype)(x, y)

    def axes(self, x: TensorType, y: TensorType) -> str:
        return mapping([self.lhs, self.rhs], self.out)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls("mk", "kn", "mn"), (draw(2, 4), draw(4, 6, seed=1)))
        yield Sample(cls("bmk", "kn", "nbm"), (draw(2, 4, 6), draw(6, 2, seed=1)))
        yield Sample(cls("bkm", "bnk", "bmn"), (draw(2, 3, 4), draw(2, 2, 3, seed=1)))
        yield Sample(cls("ij", "ij", ""), (draw(2, 4), draw(2, 4, seed=1)))
        yield Sample(cls("i", "j", "ji"), (draw(2), draw(4, seed=1)))
        yield Sample(cls("ij", "j", "ij"), (draw(2, 4), draw(4, seed=1)))
        yield Sample(cls("", "", ""), (draw(), draw(seed=1)))
        yield Sample(cls("mk", "kn", "mn"), (draw(2, 0), draw(0, 3, seed=1)))
        yield from mixed(lambda dtype: cls("mk", "kn", "mn", dtype), (4, 2), (2, 6))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op, x = cls("mk", "kn", "mn"), TensorType(float32, (2, 3))
        yield Mistake(lambda: op.infer(x, x), ShapeError, "axis k has two sizes, 3 and 2")
        yield Mistake(lambda: op.infer(x, x.with_shape((3,))), ShapeError, "kn names 2 axes, the operand has 1")
        yield Mistake(lambda: op.infer(x.with_shape((2, 3, 4)), x), ShapeError, "mk names 2 axes")
        yield Mistake(lambda: op.infer(x, TensorType(bool_, (3, 2))), DTypeError, "operands of one element type")
        flags = TensorType(bool_, (2, 2))
        yield Mistake(lambda: op.infer(flags, flags), DTypeError, "contract needs a numeric element type")
        yield Mistake(lambda: cls("mk", "kn", "m").infer(x, x), ArgumentError, "is not a contraction of two operands")
        yield Mistake(lambda: cls("mm", "mn", "mn").infer(x, x), ArgumentError, "each letter stands once")
        whole = cls("mk", "kn", "mn", int32)
        y = x.with_shape((3, 2))
        yield Mistake(lambda: whole.infer(x, y.with_dtype(int8)), DTypeError, "has no int32 result of operands float32")
        truth = cls("mk", "kn", "mn", bool_)
        yield Mistake(lambda: truth.infer(x, y), DTypeError, "has no bool result")
        yield Mistake(lambda: matmul(p.zeros(float32, (2, 3)), p.zeros(float32, (2, 3))), ShapeError, "matmul")
        yield Mistake(lambda: matmul(p.zeros(float32, ()), p.zeros(float32, (2,))), ShapeError, "is a scalar")


@lru_cache(maxsize=1024)
def possible(lhs: str, rhs: str, out: str) -> bool:
    """Whether each letter stands once in each, and one that only one operand has stays in the output.

    >>> possible("mk", "kn", "mn"), possible("mk", "kn", "m"), possible("mm", "mk", "mk")
    (True, False, False)
    """
    a, b, c = set(lhs), set(rhs), set(out)
    return (len(a), len(b), len(c)) == (len(lhs), len(rhs), len(out)) and a ^ b <= c <= a | b


@frozen
class Matrices:
    """A contraction as a batch of matrix products: the letters of each side, and the transposes around it."""

    batch: str
    rows: str
    summed: str
    columns: str
    left: tuple[int, ...]
    right: tuple[int, ...]
    result: tuple[int, ...]


@lru_cache(maxsize=1024)
def matrices(op: Contract) -> Matrices:
    """How to see a contraction as a batch of matrix products.

    >>> plan = matrices(Contract("bmk", "kn", "nbm"))
    >>> plan.batch, plan.rows, plan.summed, plan.columns
    ('', 'bm', 'k', 'n')
    """
    batch = "".join(a for a in op.lhs if a in op.rhs and a in op.out)
    rows = "".join(a for a in op.lhs if a not in op.rhs)
    summed = "".join(a for a in op.lhs if a not in op.out)
    columns = "".join(a for a in op.rhs if a not in op.lhs)
    left = tuple(op.lhs.index(a) for a in batch + rows + summed)
    right = tuple(op.rhs.index(a) for a in batch + summed + columns)
    return Matrices(batch, rows, summed, columns, left, right, tuple((batch + rows + columns).index(a) for a in op.out))


def contract(lhs: str, rhs: str, out: str, dtype: DType | None = None) -> Callable[[Any, Any], Any]:
    """The contraction with these axis names, as a function of two operands.

    >>> contract("mk", "kn", "mn")(p.zeros(float32, (2, 3)), p.zeros(float32, (3, 4))).shape
    (2, 4)
    """
    return Contract(lhs, rhs, out, dtype)


def matmul(x: Operand, y: Any, dtype: DType | None = None) -> Operand:
    """The matrix product as in NumPy: vectors are rows or columns, leading axes broadcast. The result is of
    element type `dtype`, or that of both.

    >>> matmul(p.zeros(float32, (5, 1, 2, 3)), p.zeros(float32, (6, 3, 4))).shape
    (5, 6, 2, 4)
    >>> matmul(p.zeros(int8, (2, 3)), p.zeros(int8, (3, 4)), dtype=int32).dtype
    int32
    """
    if not x.shape or not y.shape:
        raise ShapeError(
            "matmul needs vectors or matrices, and one operand is a scalar",
            given=given((x.shape, y.shape)),
            hint="use multiply for scalars",
        )
    common = broadcast_shape(x.shape[:-2], y.shape[:-2])
    if common is None or x.shape[-1] != y.shape[-2 if len(y.shape) > 1 else 0]:
        raise ShapeError(
            f"matmul of shapes {x.shape} and {y.shape}: "
            + ("leading axes do not broadcast" if common is None else "the inner axes differ"),
            given=given((x.shape, y.shape)),
            hint="the last axis of the first operand must equal the last but one of the second",
        )
    batch = names(len(common))
    left, x = _batch_letters(x, batch)
    right, y = _batch_letters(y, batch)
    m, n = "M" * (len(x.shape) > len(left) + 1), "N" * (len(y.shape) > len(right) + 1)
    kept = [a for a in batch if a in left + right]
    out = Contract(left + m + "K", right + "K" + n, "".join(kept) + m + n, dtype)(x, y)
    shaped: Operand = p.reshape(out, (*common, *out.shape[len(kept) :]))
    return shaped


def _batch_letters(x: Any, batch: list[str]) -> tuple[str, Any]:
    """The letters of the leading axes of x that are not merely repeated, and x without those that are."""
    own = len(x.shape) - min(len(x.shape), 2)
    kept = [i for i in range(own) if x.shape[i] != 1]
    letters = "".join(batch[len(batch) - own + i] for i in kept)
    return letters, p.reshape(x, (*(x.shape[i] for i in kept), *x.shape[own:]))


@frozen
class SparseProduct(Op):
    """A matrix, held row by row, times a dense one: row r is the sum of `values[i] * dense[columns[i]]` for all i from
    `starts[r]` up to `starts[r + 1]`. Starts and columns are clamped; starts never fall.

    >>> SparseProduct().reference(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), np.eye(2))
    array([[1., 2.],
           [0., 3.]])
    """

    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL
    name: ClassVar[str] = "sparse_product"

    def infer(self, starts: TensorType, columns: TensorType, values: TensorType, dense: TensorType) -> TensorType:
        check_indices(self, starts, columns)
        check_dtype(self, values, dense)
        operands = starts, columns, values, dense
        check_sizes(*operands)
        if starts.dtype is not columns.dtype or starts.dtype not in (int32, int64):
            raise DTypeError(
                "sparse_product: starts and columns are int32, or both int64", given=given(operands), hint="cast them"
            )
        ranks = tuple(x.rank for x in operands)
        if ranks != (1, 1, 1, 2) or low(starts.shape[0]) < 1 or not known_equal(columns.shape[0], values.shape[0]):
            raise ShapeError(
                "sparse_product: there is a column for each number, one start more than rows, and a dense matrix",
                given=given(operands),
            )
        if known_equal(dense.shape[0], 0) and not values.empty:
            raise ShapeError("sparse_product: a matrix without rows has none to multiply", given=given(operands))
        return dense.with_shape((starts.shape[0] - 1, dense.shape[1]))

    def reference(self, starts: Array, columns: Array, values: Array, dense: Array) -> Array:
        ends = np.clip(starts.astype(np.int64), 0, values.size)
        counts = np.maximum(np.diff(ends), 0)
        before = np.cumsum(counts) - counts
        at = np.arange(counts.sum()) - np.repeat(before - ends[:-1], counts)
        out = np.zeros((counts.size, dense.shape[1]), wide(dense).dtype)
        where = np.clip(columns[at].astype(np.int64), 0, max(dense.shape[0] - 1, 0))
        parts, some = wide(values)[at, None] * wide(dense)[where], counts > 0
        if at.size:
            out[some] = np.add.reduceat(parts, before[some], 0, out.dtype)
        return out.astype(dense.dtype, copy=False)

    def vjp(self, ct: Value, out: Value, starts: Value, columns: Value, values: Value, dense: Value) -> Cotangents:
        if known_equal(values.shape[0], 0) or known_equal(out.tensor.size, 0):
            return None, None, p.zeros_like(values), p.zeros_like(dense)
        rows, held = row_of_each(starts, values.shape[0])
        flow = p.gather(ct, rows, 0)
        flow = p.select(p.broadcast(p.expand_dims(held, (1,)), flow.shape), flow, p.zeros_like(flow))
        by_values = p.reduce_sum(flow * p.gather(dense, columns, 0), (1,))
        spread = p.broadcast(p.expand_dims(values, (1,)), flow.shape) * flow
        return None, None, by_values, p.scatter_add(p.zeros_like(dense), columns, spread, 0)

    def vmap(self, size: int, mapped: tuple[bool, ...], *operands: Value) -> Any:
        starts, columns, values, dense = operands
        if mapped == (False, False, False, True):
            side = p.moveaxis(dense, 0, 1)
            out = sparse_product(starts, columns, values, p.reshape(side, (side.shape[0], -1)))
            return p.moveaxis(p.reshape(out, (out.shape[0], *side.shape[1:])), 1, 0)
        # one matrix with those of all examples as blocks; behind each, a row of what its starts leave out
        starts, columns, values, dense = whole(size, mapped, operands)
        count, height = values.shape[1], dense.shape[1]
        ends = _clamped(starts, count) + p.iota(int64, (size, 1), 0) * count
        last = p.full(size * count, int64, (1,))
        flat = p.concat([p.reshape(ends, (-1,)), last], 0)
        where = _clamped(columns, height - 1) + p.iota(int64, (size, 1), 0) * height
        out = unfold(sparse_product(flat, p.reshape(where, (-1,)), fold(values), fold(dense)), size)
        return p.take(out, 1, 0, starts.shape[1] - 1)

    def axes(self, starts: TensorType, columns: TensorType, values: TensorType, dense: TensorType) -> str:
        return "1, 1, 1, 1 a -> 1 a"

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        starts, columns = np.array([0, 2, 2, 5, 9], np.int32), np.array([0, 2, 1, 1, 0, 2, 0, 1, 2], np.int32)
        for width in (1, 3, 70):
            yield Sample(cls(), (starts, columns, draw(9), draw(3, width, seed=1)))
        outside = np.array([-3, 4, 99], np.int64)
        yield Sample(cls(), (outside, np.array([-1, 7, 0, 1, 1, 2]), draw(6), draw(3, 2, seed=1)))
        yield Sample(cls(), (np.array([1, 3]), np.array([0, 1, 2, 2]), draw(4), draw(3, 1, seed=1)))
        yield Sample(cls(), (np.array([0, 0, 0]), np.zeros(0, np.int64), draw(0), draw(3, 2)))
        yield Sample(cls(), (np.array([0]), np.zeros(0, np.int64), draw(0), draw(0, 2)))
        yield Sample(cls(), (np.array([0, 1]), np.zeros(1, np.int64), draw(1), draw(3, 0)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        i, x, m = TensorType(int32, (4,)), TensorType(float32, (5,)), TensorType(float32, (3, 2))
        columns = i.with_shape((5,))
        yield Mistake(lambda: cls().infer(i, i, x, m), ShapeError, "a column for each number")
        yield Mistake(lambda: cls().infer(i.with_shape((0,)), columns, x, m), ShapeError, "one start more than rows")
        yield Mistake(lambda: cls().infer(i, columns, x, m.with_shape((0, 2))), ShapeError, "a matrix without rows")
        yield Mistake(lambda: cls().infer(i.with_dtype(int8), columns, x, m), DTypeError, "int32, or both int64")
        yield Mistake(lambda: cls().infer(i, columns, x, m.with_dtype(int32)), DTypeError, "one element type")
        yield Mistake(lambda: cls().infer(i.with_dtype(float32), columns, x, m), DTypeError, "integers as positions")


def _clamped(i: Any, last: Any) -> Any:
    return p.maximum(p.minimum(p.cast(i, int64), last), 0)


def row_of_each(starts: Any, count: Any) -> tuple[Any, Any]:
    """The row of each of `count` numbers, int64, and whether one has it: starts that never fall, counted and added up.

    >>> from mycelia.ir import Function, interpret
    >>> fn = Function.build(lambda s: row_of_each(s, 3), TensorType(int64, (4,)))
    >>> [x.tolist() for x in interpret(fn, np.array([0, 1, 1, 3]))]
    [[0, 2, 2], [True, True, True]]
    """
    rows = starts.shape[0] - 1
    ends = _clamped(starts, count)
    marks = p.scatter_add(p.full(0, int64, (count + 1,)), ends, p.full(1, int64, ends.shape), 0)
    found = p.take(p.cumsum(marks, 0), 0, 0, count) - 1
    held = p.logical_and(p.greater_equal(found, 0), p.less(found, rows))
    return p.maximum(p.minimum(found, rows - 1), 0), held


def sparse_product(starts: Any, columns: Any, values: Any, dense: Any) -> Any:
    """A matrix, held row by row, times a dense one.

    >>> places = TensorType(int64, (3,)), TensorType(int64, (4,))
    >>> str(SparseProduct().infer(*places, TensorType(float32, (4,)), TensorType(float32, (2, 5))))
    'f32[2, 5]'
    """
    return SparseProduct()(starts, columns, values, dense)
