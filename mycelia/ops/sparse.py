"""Matrices that hold few numbers: by their places (COO), or row by row (CSR). Loaded when first asked for.

Functions of elements act on the numbers that are held, as in MindSpore: `coo_cos` leaves zeros that are not held alone.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code="no-any-return, no-untyped-call"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia import ops
from mycelia.checks import only, whole
from mycelia.eager import Tensor, as_dtype, wrap
from mycelia.eager.convert import shown
from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import listening
from mycelia.ops import held_rows
from mycelia.types import DType

__all__ = ["COOTensor", "CSRTensor"]

ELEMENTWISE = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "inv",
    "isfinite", "isinf", "isnan", "log", "log1p", "neg", "relu", "relu6", "round", "sigmoid", "sin", "sinh",
    "softsign", "sqrt", "square", "tan", "tanh",
)  # fmt: skip


class _Sparse:
    """What both kinds share: the numbers that are held, and the shape of the whole."""

    values: Tensor
    _shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many axes the whole has."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """How many numbers are held."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """How many bytes one number takes."""
        return self.values.itemsize

    @property
    def dtype(self) -> DType:
        """The type of the numbers."""
        return self.values.dtype

    def __repr__(self) -> str:
        told = ", ".join(f"{k}={_told(v)}" for k, v in self._parts())
        return f"{type(self).__name__}(shape={list(self._shape)}, dtype={self.dtype}, {told})"

    def _parts(self) -> list[tuple[str, Tensor]]:
        return [("values", self.values)]


def _told(x: Tensor) -> str:
    """A tensor as MindSpore prints it inside of a sparse one: numbers without commas."""
    head, _, numbers = shown(x.numbers()).partition("value=")
    return f"{head}value={numbers.lstrip(' ').replace(',', '')}"


class RowTensor:
    """Rows of a tensor, by their numbers; the others are zero.

    >>> RowTensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2)).dense_shape
    (3, 2)
    """

    def __init__(
        self, indices: Any = None, values: Any = None, shape: Sequence[int] | None = None, row_tensor: Any = None
    ) -> None:
        if row_tensor is not None:
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        if not isinstance(indices, Tensor) or not isinstance(values, Tensor) or shape is None:
            raise ArgumentError("a RowTensor needs the numbers of rows and the rows as tensors, and a shape")
        self.indices, self.values = indices, values
        self.dense_shape = tuple(whole("RowTensor", "shape", e, least=0) for e in shape)
        if indices.ndim != 1 or values.shape != (indices.size, *self.dense_shape[1:]):
            raise ShapeError(
                f"rows of shape {values.shape} with numbers of shape {indices.shape} are none of {self.dense_shape}"
            )


RowTensorInner = RowTensor  # as MindSpore calls it among its own files


class COOTensor(_Sparse):
    """A tensor by the places of the numbers that it holds, one row each, and the numbers.

    >>> COOTensor(Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0]), (2, 3)).to_dense().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """

    @listening
    def __init__(
        self, indices: Any = None, values: Any = None, shape: Sequence[int] | None = None, coo_tensor: Any = None
    ) -> None:
        if coo_tensor is not None:
            indices, values, shape = coo_tensor.indices, coo_tensor.values, coo_tensor.shape
        if not isinstance(indices, Tensor) or not isinstance(values, Tensor) or shape is None:
            raise ArgumentError("a COOTensor needs places and numbers as tensors, and a shape")
        self.indices, self.values = indices, values
        self._shape = tuple(whole("COOTensor", "shape", e, least=0) for e in shape)
        if indices.shape != (values.size, len(self._shape)) or values.ndim != 1:
            raise ShapeError(
                f"{values.shape} numbers of a tensor of shape {self._shape} do not stand at places {indices.shape}",
                hint="places have a row for each number, and a column for each axis",
            )

    def _parts(self) -> list[tuple[str, Tensor]]:
        return [("indices", self.indices), ("values", self.values)]

    def to_tuple(self) -> tuple[Tensor, Tensor, tuple[int, ...]]:
        """The places, the numbers and the shape.

        >>> COOTensor(Tensor([[0]]), Tensor([1.0]), (2,)).to_tuple()[2]
        (2,)
        """
        return self.indices, self.values, self._shape

    def to_dense(self) -> Tensor:
        """The whole; numbers at the same place are added.

        >>> COOTensor(Tensor([[0], [0]]), Tensor([1.0, 2.0]), (2,)).to_dense().tolist()
        [3.0, 0.0]
        """
        return ops.scatter_nd(self.indices, self.values, self._shape)

    def coalesce(self) -> COOTensor:
        """The same, with places in order and each of them once.

        >>> COOTensor(Tensor([[1], [0], [1]]), Tensor([1.0, 2.0, 3.0]), (2,)).coalesce().values.tolist()
        [2.0, 4.0]
        """
        places = self.indices.numbers()
        rows, belongs = np.unique(places, axis=0, return_inverse=True)
        sums = ops.unsorted_segment_sum(self.values, wrap(belongs.reshape(-1).astype(np.int64)), len(rows))
        return COOTensor(wrap(rows), sums, self._shape)

    def astype(self, dst_type: Any) -> COOTensor:
        """The same with numbers of another type.

        >>> COOTensor(Tensor([[0]]), Tensor([1.5]), (2,)).astype("int32").values.tolist()
        [1]
        """
        return COOTensor(self.indices, self.values.astype(dst_type), self._shape)

    def to_csr(self) -> CSRTensor:
        """The same row by row.

        >>> COOTensor(Tensor([[1, 0]]), Tensor([1.0]), (2, 2)).to_csr().indptr.tolist()
        [0, 0, 1]
        """
        if self.ndim != 2:
            raise ShapeError(f"only a matrix goes row by row, and this has shape {self._shape}")
        places = self.indices.numbers()
        order = np.lexsort((places[:, 1], places[:, 0]))
        counts = np.bincount(places[:, 0], minlength=self._shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(places.dtype)
        return CSRTensor(
            wrap(starts), wrap(places[order, 1]), ops.gather(self.values, wrap(order.astype(np.int64)), 0), self._shape
        )

    def abs(self) -> COOTensor:
        """The same with absolute values.

        >>> COOTensor(Tensor([[0]]), Tensor([-1.5]), (2,)).abs().values.tolist()
        [1.5]
        """
        return self._with(ops.abs(self.values))

    def add(self, other: COOTensor, thresh: Any) -> COOTensor:
        """The sum, without numbers that are smaller than `thresh`.

        >>> a = COOTensor(Tensor([[0]]), Tensor([1.0]), (2,))
        >>> a.add(a, Tensor(0.0)).values.tolist()
        [2.0]
        """
        return coo_add(self, other, thresh)

    def _with(self, values: Tensor) -> COOTensor:
        return COOTensor(self.indices, values, self._shape)

    def __neg__(self) -> COOTensor:
        return self._with(-self.values)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, COOTensor):
            return coo_add(self, other, Tensor(0, self.dtype))
        return other + self.to_dense()

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __mul__(self, other: Any) -> COOTensor:
        return self._with(self.values * _at(self, other))

    def __truediv__(self, other: Any) -> COOTensor:
        return self._with(self.values / _at(self, other))


class CSRTensor(_Sparse):
    """A matrix row by row: where each row begins among the numbers, the column of each, and the numbers.

    >>> CSRTensor(Tensor([0, 1, 2]), Tensor([0, 1]), Tensor([1.0, 2.0]), (2, 2)).to_dense().tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """

    @listening
    def __init__(
        self, indptr: Any = None, indices: Any = None, values: Any = None, shape: Sequence[int] | None = None,
        csr_tensor: Any = None,
    ) -> None:  # fmt: skip
        if csr_tensor is not None:
            indptr, indices, values, shape = csr_tensor.to_tuple()
        if not all(isinstance(t, Tensor) for t in (indptr, indices, values)) or shape is None:
            raise ArgumentError("a CSRTensor needs starts, columns and numbers as tensors, and a shape")
        self.indptr, self.indices, self.values = indptr, indices, values
        self._shape = tuple(whole("CSRTensor", "shape", e, least=0) for e in shape)
        if len(self._shape) < 2 or indptr.shape != (self._shape[0] + 1,) or indices.shape != values.shape[:1]:
            raise ShapeError(
                f"starts {indptr.shape}, columns {indices.shape} and numbers {values.shape} make no {self._shape}",
                hint="there is one start more than rows, and a column for each number",
            )

    def _parts(self) -> list[tuple[str, Tensor]]:
        return [("indptr", self.indptr), ("indices", self.indices), ("values", self.values)]

    def to_tuple(self) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
        """The starts, the columns, the numbers and the shape.

        >>> CSRTensor(Tensor([0, 1]), Tensor([0]), Tensor([1.0]), (1, 2)).to_tuple()[3]
        (1, 2)
        """
        return self.indptr, self.indices, self.values, self._shape

    def rows(self) -> Tensor:
        """The row of each number.

        >>> CSRTensor(Tensor([0, 0, 1]), Tensor([0]), Tensor([1.0]), (2, 2)).rows().tolist()
        [1]
        """
        return held_rows.rows(self.indptr, self.indices, self._shape[1])

    def to_coo(self) -> COOTensor:
        """The same by places.

        >>> CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([1.0]), (1, 2)).to_coo().indices.tolist()
        [[0, 1]]
        """
        return COOTensor(ops.stack([self.rows(), self.indices], 1), self.values, self._shape)

    def to_dense(self) -> Tensor:
        """The whole.

        >>> CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2)).to_dense().tolist()
        [[0.0, 5.0]]
        """
        return self.to_coo().to_dense()

    def astype(self, dst_type: Any) -> CSRTensor:
        """The same with numbers of another type.

        >>> CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.5]), (1, 2)).astype("int32").values.tolist()
        [5]
        """
        return CSRTensor(self.indptr, self.indices, self.values.astype(dst_type), self._shape)

    def mv(self, dense_vector: Any) -> Tensor:
        """The product with a matrix of one column.

        >>> CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2)).mv(Tensor([[1.0], [2.0]])).tolist()
        [[10.0]]
        """
        return csr_mv(self, dense_vector)

    def sum(self, axis: int) -> Tensor:
        """The sums of rows, as a matrix of one column.

        >>> CSRTensor(Tensor([0, 2]), Tensor([0, 1]), Tensor([5.0, 1.0]), (1, 2)).sum(1).tolist()
        [[6.0]]
        """
        return csr_reduce_sum(self, axis)

    def mm(self, matrix: Any) -> Any:
        """The product with a matrix; that with another one held row by row is held so, too.

        >>> CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2)).mm(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[15.0, 20.0]]
        """
        if isinstance(matrix, CSRTensor):
            return dense_to_sparse_csr(self.mm(matrix.to_dense()))
        return held_rows.product(self.indptr, self.indices, self.values, matrix, self._shape)

    def abs(self) -> CSRTensor:
        """The same with absolute values.

        >>> CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([-5.0]), (1, 2)).abs().values.tolist()
        [5.0]
        """
        return self._with(ops.abs(self.values))

    def add(self, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
        """Alpha times this matrix and beta times another.

        >>> a = CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2))
        >>> a.add(a, Tensor(1.0), Tensor(2.0)).values.tolist()
        [15.0]
        """
        return csr_add(self, b, alpha, beta)

    def _with(self, values: Tensor) -> CSRTensor:
        return CSRTensor(self.indptr, self.indices, values, self._shape)

    def __neg__(self) -> CSRTensor:
        return self._with(-self.values)

    def __add__(self, other: Any) -> CSRTensor:
        return csr_add(self, other, 1, 1) if isinstance(other, CSRTensor) else NotImplemented

    def __sub__(self, other: Any) -> CSRTensor:
        return csr_add(self, other, 1, -1) if isinstance(other, CSRTensor) else NotImplemented

    def __mul__(self, other: Any) -> CSRTensor:
        return csr_mul(self, other)

    def __truediv__(self, other: Any) -> CSRTensor:
        return self._with(self.values / _at(self.to_coo(), other))


def _at(x: COOTensor, other: Any) -> Any:
    """The numbers of a dense one where a sparse one holds some."""
    if isinstance(other, _Sparse):
        raise ArgumentError("one that holds few numbers is multiplied with a dense one, or divided by it")
    return ops.gather_nd(ops.broadcast_to(other if isinstance(other, Tensor) else Tensor(other), x.shape), x.indices)


def _elementwise(kind: Any, name: str) -> Callable[[Any], Any]:
    function = getattr(ops, name)

    def each(x: Any) -> Any:
        if not isinstance(x, kind):
            raise ArgumentError(f"a {kind.__name__} is needed, not {type(x).__name__}", hint=f"use ops.{name}")
        if isinstance(x, COOTensor):
            return COOTensor(x.indices, function(x.values), x.shape)
        return CSRTensor(x.indptr, x.indices, function(x.values), x.shape)

    each.__name__ = each.__qualname__ = f"{kind.__name__[:3].lower()}_{name}"
    each.__doc__ = f"`{name}` of the numbers that are held."
    return listening(each)


for _name in ELEMENTWISE:
    globals()[f"coo_{_name}"] = _elementwise(COOTensor, _name)
    globals()[f"csr_{_name}"] = _elementwise(CSRTensor, _name)
    __all__ += [f"coo_{_name}", f"csr_{_name}"]


def _offered(function: Callable[..., Any]) -> Callable[..., Any]:
    __all__.append(function.__name__)
    return listening(function)


@_offered
def coo_add(x1: COOTensor, x2: COOTensor, thresh: Any) -> COOTensor:
    """The sum, without numbers that are smaller than `thresh`.

    >>> a = COOTensor(Tensor([[0]]), Tensor([1.0]), (2,))
    >>> coo_add(a, a, Tensor(0.0)).values.tolist()
    [2.0]
    """
    if x1.shape != x2.shape:
        raise ShapeError(f"tensors of shapes {x1.shape} and {x2.shape} cannot be added")
    both = COOTensor(ops.cat([x1.indices, x2.indices]), ops.cat([x1.values, x2.values]), x1.shape).coalesce()
    keep = np.flatnonzero(np.abs(both.values.numbers()) >= np.asarray(Tensor(thresh).numbers()))
    at = wrap(keep.astype(np.int64))
    return COOTensor(ops.gather(both.indices, at, 0), ops.gather(both.values, at, 0), x1.shape)


@_offered
def coo_concat(sp_input: Sequence[COOTensor], concat_dim: int = 0) -> COOTensor:
    """Tensors one behind the other along an axis.

    >>> a = COOTensor(Tensor([[0]]), Tensor([1.0]), (2,))
    >>> coo_concat((a, a)).to_dense().tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    first = sp_input[0]
    axis = whole("coo_concat", "concat_dim", concat_dim) % first.ndim
    places, before = [], 0
    for x in sp_input:
        if (*x.shape[:axis], *x.shape[axis + 1 :]) != (*first.shape[:axis], *first.shape[axis + 1 :]):
            raise ShapeError(f"tensors of shapes {first.shape} and {x.shape} do not fit along axis {axis}")
        moved = x.indices.asnumpy()
        moved[:, axis] += before
        places.append(moved)
        before += x.shape[axis]
    rows = np.concatenate(places)
    order = np.lexsort(rows.T[::-1])
    values = ops.gather(ops.cat([x.values for x in sp_input]), wrap(order.astype(np.int64)), 0)
    return COOTensor(wrap(rows[order]), values, (*first.shape[:axis], before, *first.shape[axis + 1 :]))


@_offered
def csr_add(a: CSRTensor, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
    """Alpha times one matrix and beta times another.

    >>> a = CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2))
    >>> csr_add(a, a, Tensor(1.0), Tensor(2.0)).values.tolist()
    [15.0]
    """
    if a.shape != b.shape:
        raise ShapeError(f"matrices of shapes {a.shape} and {b.shape} cannot be added")
    x, y = a.to_coo(), b.to_coo()
    values = ops.cat([ops.mul(x.values, alpha), ops.mul(y.values, beta)])
    return COOTensor(ops.cat([x.indices, y.indices]), values, a.shape).coalesce().to_csr()


@_offered
def csr_softmax(logits: CSRTensor, dtype: Any) -> CSRTensor:
    """Exponentials of the numbers that are held, which add up to one in each row.

    >>> csr_softmax(CSRTensor(Tensor([0, 2]), Tensor([0, 1]), Tensor([1.0, 1.0]), (1, 2)), "float32").values.tolist()
    [0.5, 0.5]
    """
    rows, count = logits.rows(), logits.shape[0]
    top = ops.stop_gradient(ops.unsorted_segment_max(logits.values, rows, count))
    raised = ops.exp(logits.values - ops.gather(top, rows, 0))
    share = raised / ops.gather(ops.unsorted_segment_sum(raised, rows, count), rows, 0)
    return CSRTensor(logits.indptr, logits.indices, share.astype(as_dtype(dtype)), logits.shape)


@_offered
def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """The whole matrix.

    >>> csr_to_dense(CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2))).tolist()
    [[0.0, 5.0]]
    """
    return csr_tensor.to_dense()


@_offered
def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """The same matrix by places.

    >>> csr_to_coo(CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2))).indices.tolist()
    [[0, 1]]
    """
    return tensor.to_coo()


@_offered
def csr_mv(csr_tensor: CSRTensor, dense: Any) -> Tensor:
    """The product of a matrix and one of one column.

    >>> csr_mv(CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2)), Tensor([[1.0], [2.0]])).tolist()
    [[10.0]]
    """
    return held_rows.product(csr_tensor.indptr, csr_tensor.indices, csr_tensor.values, dense, csr_tensor.shape)


@_offered
def csr_mul(x: CSRTensor, y: Any) -> CSRTensor:
    """The numbers that are held times those of a matrix at the same places.

    >>> csr_mul(CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2)), Tensor([[7.0, 2.0]])).values.tolist()
    [10.0]
    """
    return CSRTensor(x.indptr, x.indices, x.values * _at(x.to_coo(), y), x.shape)


@_offered
def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """The sums of rows, as a matrix of one column.

    >>> csr_reduce_sum(CSRTensor(Tensor([0, 2]), Tensor([0, 1]), Tensor([5.0, 1.0]), (1, 2)), 1).tolist()
    [[6.0]]
    """
    only("csr_reduce_sum", "axis", axis % csr_tensor.ndim, 1, "a matrix is held row by row")
    sums = ops.unsorted_segment_sum(csr_tensor.values, csr_tensor.rows(), csr_tensor.shape[0])
    return sums.reshape(-1, 1)


@_offered
def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """The numbers of a tensor that are not zero, by their places.

    >>> dense_to_sparse_coo(Tensor([[1.0, 0.0], [-5.0, 0.0]])).indices.tolist()
    [[0, 0], [1, 0]]
    """
    places = np.argwhere(tensor.numbers() != 0)
    at = wrap(places.astype(np.int64))
    return COOTensor(at.astype("int32"), ops.gather_nd(tensor, at), tensor.shape)


@_offered
def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """The numbers of a matrix that are not zero, row by row.

    >>> dense_to_sparse_csr(Tensor([[1.0, 0.0], [-5.0, 0.0]])).indptr.tolist()
    [0, 1, 2]
    """
    return dense_to_sparse_coo(tensor).to_csr()


class SparseTensor(COOTensor):
    """What a COOTensor was called in older programs.

    >>> SparseTensor(Tensor([[0, 1]]), Tensor([1.0]), (1, 2)).to_dense().tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, indices: Any, values: Any, shape: Sequence[int]) -> None:
        super().__init__(indices, values, shape)
