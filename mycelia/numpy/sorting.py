"""Elements in order, places in order, different elements, sets of them."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.joining import concatenate
from mycelia.numpy.shapes import ravel
from mycelia.ops.arguments import axis_of
from mycelia.ops.order import in_order, order_of
from mycelia.types import complex64, complex128, int64

__all__ = [
    "argpartition",
    "argsort",
    "in1d",
    "intersect1d",
    "isin",
    "lexsort",
    "msort",
    "partition",
    "searchsorted",
    "setdiff1d",
    "setxor1d",
    "sort",
    "sort_complex",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def _checked(x: Any, axis: int | None, kind: str | None) -> tuple[Tensor, int]:
    if kind not in KINDS:
        raise ArgumentError(f"there is no way to sort called {kind!r}", hint='leave it out, or say "stable"')
    a = asarray(x)
    if axis is None:
        return ravel(a), 0
    return a, axis_of(a, axis)


def argsort(
    a: Any, axis: int | None = -1, kind: str | None = None, *, descending: bool = False, stable: bool = True
) -> Tensor:
    """The positions that put the elements in order along an axis; equal ones keep theirs.

    >>> argsort([3.0, 1.0, 2.0]).tolist(), argsort([1, 2], descending=True).tolist()
    ([1, 2, 0], [1, 0])
    """
    x, place = _checked(a, axis, kind)
    return order_of(x, place, descending)


def sort(
    a: Any, axis: int | None = -1, kind: str | None = None, *, descending: bool = False, stable: bool = True
) -> Tensor:
    """The elements in order along an axis, or all of them.

    >>> sort([3.0, 1.0, 2.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    x, place = _checked(a, axis, kind)
    return in_order(x, place, descending)[0]


def msort(a: Any) -> Tensor:
    """The elements in order along the first axis.

    >>> msort([3, 1, 2]).tolist()
    [1, 2, 3]
    """
    return sort(a, 0)


def _within(kth: Any, x: Tensor, place: int) -> None:
    extent = x.shape[place]
    if any(not -extent <= k < extent for k in numpy.ravel(kth)):
        raise ArgumentError(f"there is no element {kth} among {extent}")


def partition(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
    """An order in which the k-th element stands where it does in the sorted one, and smaller ones before it: that one.

    >>> partition([3, 1, 2], 1).tolist()
    [1, 2, 3]
    """
    x, place = _checked(a, axis, None)
    _within(kth, x, place)
    return sort(x, place)


def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Tensor:
    """The positions that give such an order.

    >>> argpartition([3, 1, 2], 1).tolist()
    [1, 2, 0]
    """
    x, place = _checked(a, axis, None)
    _within(kth, x, place)
    return argsort(x, place)


def lexsort(keys: Sequence[Any], axis: int = -1) -> Tensor:
    """The positions that put elements in order by several keys, of which the last counts most.

    >>> lexsort(([2, 1, 0], [0, 0, 1])).tolist()
    [1, 0, 2]
    """
    rows = [asarray(k) for k in keys]
    if not rows:
        raise ShapeError("lexsort needs a key")
    place = axis_of(rows[0], axis)
    order = argsort(rows[0], place)
    for row in rows[1:]:
        order = ops.gather_elements(order, place, argsort(ops.gather_elements(row, place, order), place))
    return order


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where values would go in a vector that is in order: before equal ones, or behind them ("right").

    >>> searchsorted([1, 3, 5], [3, 4]).tolist()
    [1, 2]
    """
    row, values = asarray(a), asarray(v)
    if row.ndim != 1:
        raise ShapeError("searchsorted looks in a vector", given={"shape": row.shape})
    if side not in ("left", "right"):
        raise ArgumentError(f"there is no side {side!r}", hint='"left" or "right"')
    if sorter is not None:
        row = ops.gather(row, asarray(sorter), 0)
    found = ops.searchsorted(row, ravel(values), right=side == "right")
    return ops.reshape(cast(found, int64), values.shape)


# --------------------------------------------------------------------------------------------------------- different


class UniqueAll(NamedTuple):
    """Different elements, where they first are, which of them each element is, and how often they appear."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Different elements, and how often they appear."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Different elements, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def _unique(x: Any, nans_equal: bool, axis: int | None = None) -> UniqueAll:
    """The places are found in the numbers; the elements are taken from the tensor, so that gradients flow."""
    a = asarray(x)
    _, first, inverse, counts = numpy.unique(
        a.numbers(), return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=nans_equal
    )
    places = wrap(first.astype("int64"))
    values = ops.gather(ravel(a), places, 0) if axis is None else ops.gather(a, places, axis_of(a, axis))
    shape = a.shape if axis is None else (-1,)
    return UniqueAll(values, places, wrap(inverse.reshape(shape).astype("int64")), wrap(counts.astype("int64")))


def unique(
    x: Any,
    return_inverse: bool = False,
    *,
    return_index: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    equal_nan: bool = True,
) -> Any:
    """The different elements in order, or slices along an axis; where they first are, which each is, how many.

    >>> unique([3, 1, 3]).tolist()
    [1, 3]
    """
    found = _unique(x, equal_nan, axis)
    chosen = [found.values]
    chosen += [found.indices] if return_index else []
    chosen += [found.inverse_indices] if return_inverse else []
    chosen += [found.counts] if return_counts else []
    return tuple(chosen) if len(chosen) > 1 else chosen[0]


def unique_all(x: Any) -> UniqueAll:
    """The different elements, where they first are, which of them each element is, and how many there are; a nan is
    like no other.

    >>> [t.tolist() for t in unique_all([3, 1, 3])]
    [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    return _unique(x, False)


def unique_counts(x: Any) -> UniqueCounts:
    """The different elements, and how many there are of each.

    >>> [t.tolist() for t in unique_counts([3, 1, 3])]
    [[1, 3], [1, 2]]
    """
    found = _unique(x, False)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any) -> UniqueInverse:
    """The different elements, and which of them each element is.

    >>> [t.tolist() for t in unique_inverse([3, 1, 3])]
    [[1, 3], [1, 0, 1]]
    """
    found = _unique(x, False)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any) -> Tensor:
    """The different elements.

    >>> unique_values([3, 1, 3]).tolist()
    [1, 3]
    """
    return _unique(x, False).values


# --------------------------------------------------------------------------------------------------------------- sets


def isin(element: Any, test_elements: Any, invert: bool = False, *, assume_unique: bool = False) -> Tensor:
    """Whether each element is one of others.

    >>> isin([[1, 2], [3, 4]], [2, 3]).tolist()
    [[False, True], [True, False]]
    """
    x, others = asarray(element), ravel(test_elements)
    found = ops.any(ops.expand_dims(x, x.ndim) == others, x.ndim)
    return ops.logical_not(found) if invert else found


def in1d(ar1: Any, ar2: Any, invert: bool = False, *, assume_unique: bool = False) -> Tensor:
    """Whether each element of the flattened array is one of others.

    >>> in1d([[1, 2]], [2, 3]).tolist()
    [False, True]
    """
    return isin(ravel(ar1), ar2, invert)


def union1d(ar1: Any, ar2: Any) -> Tensor:
    """The different elements of two arrays, in order.

    >>> union1d([3, 1], [2, 3]).tolist()
    [1, 2, 3]
    """
    return unique(concatenate((ar1, ar2), None))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that two arrays have in common, in order; and where they first are in both.

    >>> intersect1d([3, 1, 2], [2, 3, 5]).tolist()
    [2, 3]
    """
    x, y = ravel(ar1), ravel(ar2)
    _, first, second = numpy.intersect1d(x.numbers(), y.numbers(), assume_unique, return_indices=True)
    places = wrap(first.astype("int64")), wrap(second.astype("int64"))
    found = ops.gather(x, places[0], 0)
    return (found, *places) if return_indices else found


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The different elements of one array that the other does not have, in order (or as they are, if all differ).

    >>> setdiff1d([3, 1, 2], [2, 5]).tolist()
    [1, 3]
    """
    x = ravel(ar1) if assume_unique else unique(ar1)
    return x[isin(x, ar2, invert=True)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """The elements that exactly one of two arrays has, in order.

    >>> setxor1d([3, 1, 2], [2, 5]).tolist()
    [1, 3, 5]
    """
    x, y = (ravel(ar1), ravel(ar2)) if assume_unique else (unique(ar1), unique(ar2))
    return sort(concatenate((x[isin(x, y, invert=True)], y[isin(y, x, invert=True)])))


def sort_complex(a: Any) -> Tensor:
    """Complex numbers in the order of their real parts, and of their imaginary parts where those are equal.

    >>> sort_complex([2, 1]).tolist()
    [(1+0j), (2+0j)]
    """
    x = asarray(a)
    wide = cast(x, complex64 if x.dtype.kind in "fc" and x.dtype.itemsize in (2, 4) else complex128)
    x = x if x.dtype.kind == "c" else wide
    by_imaginary = order_of(ops.imag(x), x.ndim - 1, False)
    x = ops.gather_elements(x, x.ndim - 1, by_imaginary)
    return ops.gather_elements(x, x.ndim - 1, order_of(ops.real(x), x.ndim - 1, False))
