"""Matrices that hold few numbers, as the tensors that they are made of: checked, and multiplied with dense ones."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.eager.promotion import common
from mycelia.errors import ShapeError
from mycelia.ops.choice import gather, unsorted_segment_sum
from mycelia.ops.random import must_hold
from mycelia.primitives.contraction import row_of_each
from mycelia.primitives.family import NUMBERS
from mycelia.types import int32, int64, uint32, uint64


def rows(starts: Tensor, columns: Tensor, width: int) -> Tensor:
    """The row of each number.

    >>> rows(Tensor([0, 0, 1]), Tensor([3]), 5).tolist()
    [1]
    """
    _well_formed(starts, columns, width)
    return cast(row_of_each(starts, columns.shape[0])[0], starts.dtype)


def product(starts: Tensor, columns: Tensor, values: Tensor, dense: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A matrix of this shape times a dense one; numbers are of a type that holds those of both.

    >>> product(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), Tensor([[1.0], [2.0]]), (1, 2)).tolist()
    [[10.0]]
    """
    if not isinstance(dense, Tensor) or dense.ndim != 2 or dense.shape[0] != shape[1] or values.ndim != 1:
        raise ShapeError(f"a matrix of shape {shape} has no product with this", given={"dense": dense})
    dtype = common(values.dtype, dense.dtype)
    values, dense = cast(values, dtype), cast(dense, dtype)
    if dtype not in NUMBERS:
        parts = gather(dense, columns, 0) * values.reshape(-1, 1)
        return unsorted_segment_sum(parts, rows(starts, columns, shape[1]), shape[0])
    if starts.dtype is not columns.dtype or starts.dtype not in (int32, int64):
        starts, columns = cast(starts, int64), cast(columns, int64)
    _well_formed(starts, columns, shape[1])
    return p.sparse_product(starts, columns, values, dense)


def _well_formed(starts: Tensor, columns: Tensor, width: int) -> None:
    """An error unless rows follow one another, from the first number to the last, and columns exist."""
    rising = p.reduce_all(p.less_equal(starts[:-1], starts[1:]))
    ends = p.logical_and(p.equal(starts[0], 0), p.equal(starts[-1], columns.shape[0]))
    words = "starts of rows rise from 0 to the number of columns that are given"
    must_hold(p.logical_and(rising, ends), words, starts.shape)
    if columns.shape[0] != 0:
        unsigned = uint64 if columns.dtype.bits == 64 else uint32  # where those below 0 are the largest: read once
        inside = p.less(p.reduce_max(p.cast(columns, unsigned), (0,)), width)
        must_hold(inside, f"columns of a matrix with {width} of them lie from 0 to {width - 1}", columns.shape)
