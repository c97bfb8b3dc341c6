"""Arrays put together and taken apart, and elements added at their ends."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, as_dtype, cast, common
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import in_type
from mycelia.numpy.shapes import atleast_1d, atleast_2d, atleast_3d, expand_dims, ravel
from mycelia.ops.arguments import axis_of, sizes

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "delete",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "insert",
    "row_stack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]


def _together(arrays: Any, dtype: Any) -> list[Tensor]:
    """Arrays in one element type."""
    if isinstance(arrays, Tensor):
        arrays = [arrays[i] for i in range(len(arrays))]
    made = [asarray(a) for a in arrays]
    if not made:
        raise ShapeError("there is no array to join", hint="give one at least")
    wanted = as_dtype(dtype) if dtype is not None else reduce(common, [a.dtype for a in made])
    return [cast(a, wanted) for a in made]


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Tensor:
    """Arrays one after the other along an axis; without one, all their elements in a row.

    >>> concatenate([[1, 2], [3]]).tolist(), concatenate(([[1]], [[2]]), axis=None).tolist()
    ([1, 2, 3], [1, 2])
    """
    parts = _together(arrays, dtype)
    if axis is None:
        return ops.cat([ravel(a) for a in parts], 0)
    if any(a.ndim == 0 for a in parts):
        raise ShapeError("arrays without axes cannot be joined along one", hint="use stack")
    return ops.cat(parts, axis_of(parts[0], axis))


def concat(arrays: Any, axis: int | None = 0) -> Tensor:
    """Arrays one after the other along an axis; without one, all their elements in a row.

    >>> concat([[1, 2], [3]]).tolist()
    [1, 2, 3]
    """
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, dtype: Any = None) -> Tensor:
    """Arrays of one shape along a new axis.

    >>> stack([[1, 2], [3, 4]], 1).tolist()
    [[1, 3], [2, 4]]
    """
    parts = _together(arrays, dtype)
    return ops.stack(parts, axis_of(parts[0], axis, 1))


def unstack(x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it.

    >>> [t.tolist() for t in unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = asarray(x)
    place = axis_of(x, axis)
    return tuple(x[(slice(None),) * place + (i,)] for i in range(x.shape[place]))


def _each(grow: Any, tup: Any, dtype: Any) -> list[Tensor]:
    return [grow(a) for a in _together(tup, dtype)]


def hstack(tup: Any, dtype: Any = None) -> Tensor:
    """Arrays side by side: along the second axis, vectors along the first.

    >>> hstack([[1, 2], [3]]).tolist()
    [1, 2, 3]
    """
    parts = _each(atleast_1d, tup, dtype)
    return ops.cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tup: Any, dtype: Any = None) -> Tensor:
    """Arrays below each other; a vector is a row.

    >>> vstack([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return ops.cat(_each(atleast_2d, tup, dtype), 0)


row_stack = vstack


def dstack(tup: Any) -> Tensor:
    """Arrays of three axes at least, joined along the third.

    >>> dstack([[1, 2], [3, 4]]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return ops.cat(_each(atleast_3d, tup, None), 2)


def column_stack(tup: Any) -> Tensor:
    """Vectors as columns, and matrices, side by side.

    >>> column_stack([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    return ops.cat([expand_dims(atleast_1d(a), 1) if a.ndim < 2 else a for a in _together(tup, None)], 1)


def block(arrays: Any) -> Tensor:
    """Arrays in nested lists put together: the innermost along the last axis, the next along the one before it.

    >>> block([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    depth = _depth(arrays)
    rank = max(depth, _rank(arrays))
    return _block(arrays, rank, depth)


def _depth(arrays: Any) -> int:
    return 1 + max(map(_depth, arrays)) if isinstance(arrays, list) and arrays else 0


def _rank(arrays: Any) -> int:
    return max(map(_rank, arrays)) if isinstance(arrays, list) else asarray(arrays).ndim


def _block(arrays: Any, rank: int, depth: int) -> Tensor:
    if isinstance(arrays, list):
        return ops.cat(_together([_block(a, rank, depth - 1) for a in arrays], None), rank - depth)
    x = asarray(arrays)
    return ops.reshape(x, (1,) * (rank - x.ndim) + x.shape)


# ----------------------------------------------------------------------------------------------------------- apart


def _cuts(x: Tensor, at: Any, axis: int, even: bool) -> tuple[Tensor, ...]:
    place = axis_of(x, axis)
    extent = x.shape[place]
    if isinstance(at, int | numpy.integer):
        if at < 1:
            raise ArgumentError(f"an array has at least one part, not {at}")
        if even and extent % at:
            raise ShapeError(f"{extent} elements are not {at} equal parts", hint="use array_split")
        more = extent % at
        ends = [i * (extent // at) + min(i, more) for i in range(1, at)]
    else:
        ends = list(sizes(at))
    head = (slice(None),) * place
    return tuple([x[(*head, slice(a, b))] for a, b in zip([0, *ends], [*ends, extent], strict=True)])


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Equal parts along an axis; or parts between these positions.

    >>> [t.tolist() for t in split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    """
    return _cuts(asarray(x), indices_or_sections, axis, True)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Parts along an axis that differ in size by at most one; or parts between these positions.

    >>> [t.tolist() for t in array_split([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    return _cuts(asarray(x), indices_or_sections, axis, False)


def _of_rank(x: Any, rank: int, name: str) -> Tensor:
    x = asarray(x)
    if x.ndim < rank:
        raise ShapeError(f"{name} takes arrays of {rank} axes at least", given={"shape": x.shape})
    return x


def hsplit(x: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along the second axis, of a vector along its only one.

    >>> [t.tolist() for t in hsplit([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    """
    x = _of_rank(x, 1, "hsplit")
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(x: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along the first axis of an array of two axes at least.

    >>> [t.tolist() for t in vsplit([[1], [2]], 2)]
    [[[1]], [[2]]]
    """
    return split(_of_rank(x, 2, "vsplit"), indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along the third axis.

    >>> [t.tolist() for t in dsplit([[[1, 2]]], 2)]
    [[[[1]]], [[[2]]]]
    """
    return split(_of_rank(x, 3, "dsplit"), indices_or_sections, 2)


# --------------------------------------------------------------------------------------------------- more and fewer


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """An array with another behind it along an axis; without one, all their elements in a row.

    >>> append([1, 2], [[3]]).tolist()
    [1, 2, 3]
    """
    return concatenate((arr, values), axis)


def _chosen(obj: Any, extent: int) -> Any:
    """Positions from 0 on that an index along an axis means, as a NumPy array; and whether it was one number."""
    if isinstance(obj, slice):
        return numpy.arange(extent)[obj]
    found = obj.numbers() if isinstance(obj, Tensor) else numpy.asarray(obj)
    if found.dtype.kind == "b":
        if found.shape != (extent,):
            raise ShapeError("a mask has one element for each position", given={"mask": found.shape, "extent": extent})
        return numpy.flatnonzero(found)
    if found.size == 0:
        return numpy.zeros(found.shape, "int64")
    if found.dtype.kind not in "iu":
        raise ArgumentError("positions are whole numbers", given={"obj": obj})
    return found


def delete(arr: Any, obj: Any, axis: int | None = None) -> Tensor:
    """An array without the slices at positions of an axis, or without elements of the flattened one.

    >>> delete([1, 2, 3, 4], [0, -1]).tolist()
    [2, 3]
    """
    x = asarray(arr)
    if axis is None:
        x, axis = ravel(x), 0
    place = axis_of(x, axis)
    extent = x.shape[place]
    gone = _chosen(obj, extent)
    if numpy.any((gone < -extent) | (gone >= extent)):
        raise ArgumentError(f"an axis of {extent} has no such positions", given={"obj": obj})
    kept = numpy.delete(numpy.arange(extent), gone)
    return ops.gather(x, Tensor(kept.astype("int64")), place)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Tensor:
    """An array with other slices before positions of an axis, or of the flattened one.

    >>> insert([1, 2, 3], 1, [8, 9]).tolist(), insert([1, 2, 3], [0, 3], 7).tolist()
    ([1, 8, 9, 2, 3], [7, 1, 2, 3, 7])
    """
    x = asarray(arr)
    if axis is None:
        x, axis = ravel(x), 0
    place = axis_of(x, axis)
    extent = x.shape[place]
    at = _chosen(obj, extent)
    new = in_type(asarray(values), x.dtype)
    if numpy.any((at < -extent) | (at > extent)):
        raise ArgumentError(f"there is no such position along an axis of {extent}", given={"obj": obj})
    at = numpy.where(at < 0, at + extent, at)
    if at.size == 1:
        new = ops.reshape(new, (1,) * (x.ndim - new.ndim) + new.shape)
        if at.ndim == 0:
            new = ops.moveaxis(new, 0, place)
        count = new.shape[place]
        at = numpy.full(count, at.reshape(()))
    shape = (*x.shape[:place], at.size, *x.shape[place + 1 :])
    new = ops.broadcast_to(new, shape)
    order = numpy.argsort(numpy.concatenate([at, numpy.arange(extent)]), kind="stable")
    return ops.gather(ops.cat([new, x], place), Tensor(order.astype("int64")), place)
