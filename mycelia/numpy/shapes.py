"""The same elements in another arrangement: shapes, axes, order along axes."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.arguments import axis_tuple, unchanged
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import Axis, axes_of, axis_of, sizes, tensor
from mycelia.primitives.family import broadcast_shapes as _broadcast_shapes

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "resize",
    "roll",
    "rollaxis",
    "rot90",
    "shape",
    "size",
    "squeeze",
    "swapaxes",
    "tile",
    "transpose",
    "trim_zeros",
]


class NoSuchAxis(ShapeError, IndexError):
    """An axis was named that there is not."""


def shape(a: Any) -> tuple[int, ...]:
    """How many elements there are along each axis.

    >>> shape([[1, 2, 3]])
    (1, 3)
    """
    return asarray(a).shape


def ndim(a: Any) -> int:
    """How many axes there are.

    >>> ndim([[1, 2, 3]])
    2
    """
    return asarray(a).ndim


def size(a: Any, axis: int | None = None) -> int:
    """How many elements there are, in all or along an axis.

    >>> size([[1, 2, 3]]), size([[1, 2, 3]], 1)
    (3, 3)
    """
    x = asarray(a)
    return x.size if axis is None else x.shape[axis_of(x, axis)]


def reshape(x: Any, shape: Any = None, order: str = "C", *, new_shape: Any = None, copy: bool | None = None) -> Tensor:
    """The same elements, in order, under another shape; one extent may be -1 and is computed.

    The order "F" reads and writes them with the first axis running fastest. `new_shape` is another name of it.

    >>> reshape([1, 2, 3, 4], (2, -1)).tolist(), reshape([1, 2, 3, 4], (2, 2), "F").tolist()
    ([[1, 2], [3, 4]], [[1, 3], [2, 4]])
    """
    if (new_shape is None) == (shape is None):
        raise CallError("reshape needs one shape", given={"new_shape": new_shape, "shape": shape})
    x, wanted = asarray(x), sizes(new_shape if shape is None else shape)
    if order in ("C", "A", "K"):
        out = ops.reshape(x, wanted)
    elif order == "F":
        out = transpose(ops.reshape(transpose(x), wanted[::-1]))
    else:
        raise ArgumentError(f"reshape has no order {order!r}", hint='"C" is row-major, "F" column-major')
    return unchanged(out) if copy else out


def ravel(x: Any, order: str = "C") -> Tensor:
    """All axes as one; in the order "F" with the first axis running fastest.

    >>> ravel([[1, 2], [3, 4]]).tolist()
    [1, 2, 3, 4]
    """
    return reshape(x, (-1,), order) if asarray(x).size else reshape(x, (0,))


def resize(a: Any, new_shape: Any) -> Tensor:
    """The elements in another shape, repeated from the beginning if there are too few.

    >>> resize([1, 2, 3], (2, 2)).tolist()
    [[1, 2], [3, 1]]
    """
    x, wanted = ravel(a), sizes(new_shape)
    count = prod(wanted)
    if not x.size:
        return ops.zeros(wanted, x.dtype)
    return ops.reshape(ops.tile(x, (-(-count // x.size) or 1,))[:count], wanted)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Tensor:
    """The axes in another order; without one, reversed.

    >>> transpose([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    x = asarray(a)
    return ops.transpose(x, tuple(reversed(range(x.ndim))) if axes is None else sizes(axes))


def permute_dims(x: Any, axes: Sequence[int]) -> Tensor:
    """The axes in another order.

    >>> permute_dims([[1, 2, 3]], (1, 0)).shape
    (3, 1)
    """
    return transpose(x, axes)


def matrix_transpose(x: Any) -> Tensor:
    """The last two axes exchanged.

    >>> matrix_transpose([[1, 2, 3]]).shape
    (3, 1)
    """
    return swapaxes(x, -1, -2)


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged.

    >>> swapaxes([[1, 2, 3]], 0, 1).shape
    (3, 1)
    """
    return ops.swapaxes(asarray(x), axis1, axis2)


def moveaxis(a: Any, source: Axis, destination: Axis) -> Tensor:
    """Axes taken out and put elsewhere.

    >>> moveaxis([[[1, 2, 3]]], 2, 0).shape
    (3, 1, 1)
    """
    return ops.moveaxis(asarray(a), axis_tuple(source), axis_tuple(destination))


def rollaxis(x: Any, axis: int, start: int = 0) -> Tensor:
    """An axis taken out and put before another.

    >>> rollaxis([[[1, 2, 3]]], 2).shape
    (3, 1, 1)
    """
    x = asarray(x)
    place = axis_of(x, axis)
    if not isinstance(start, int) or not -x.ndim <= start <= x.ndim:
        raise ShapeError(f"there is no place {start!r} among {x.ndim} axes", hint=f"from {-x.ndim} to {x.ndim}")
    start = start + x.ndim if start < 0 else start
    return ops.moveaxis(x, place, start - 1 if place < start else start)


def expand_dims(a: Any, axis: Axis = 0) -> Tensor:
    """New axes of extent 1.

    >>> expand_dims([1, 2], 0).shape, expand_dims([1, 2], (0, 2)).shape
    ((1, 2), (1, 2, 1))
    """
    x = asarray(a)
    wanted = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    rank = x.ndim + len(wanted)
    if any(isinstance(i, int) and not -rank <= i < rank for i in wanted):
        raise NoSuchAxis(
            f"{rank} axes have no axis {axis}", given={"shape": x.shape}, hint=f"from {-rank} to {rank - 1}"
        )
    places = [axis_of(x, i, len(wanted)) for i in wanted]
    if len(set(places)) != len(places):
        raise ShapeError(f"an axis is named twice in {axis}", given={"shape": x.shape})
    rest = iter(x.shape)
    return ops.reshape(x, tuple(1 if i in places else next(rest) for i in range(x.ndim + len(places))))


def squeeze(a: Any, axis: Axis = None) -> Tensor:
    """Without axes of extent 1: all of them, or those named.

    >>> squeeze([[[1, 2]]]).shape
    (2,)
    """
    x = asarray(a)
    places = [i for i, n in enumerate(x.shape) if n == 1] if axis is None else axes_of(x, axis) if axis != () else ()
    if any(x.shape[i] != 1 for i in places):
        raise ShapeError("only axes of extent 1 can be left out", given={"shape": x.shape, "axis": axis})
    return ops.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in places))


def _atleast(rank: int, arys: tuple[Any, ...]) -> Any:
    made = []
    for x in map(asarray, arys):
        before = {2: (1,), 3: (1,)}.get(rank, ()) if x.ndim == 1 else (1,) * (rank - x.ndim) if not x.ndim else ()
        grown = before + x.shape
        made.append(ops.reshape(x, grown + (1,) * (rank - len(grown))) if x.ndim < rank else x)
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Any) -> Any:
    """Arrays with one axis at least.

    >>> atleast_1d(3).shape
    (1,)
    """
    return _atleast(1, arys)


def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes at least; new ones come first.

    >>> atleast_2d([1, 2]).shape
    (1, 2)
    """
    return _atleast(2, arys)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes at least: a vector becomes (1, n, 1), a matrix (m, n, 1).

    >>> atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _atleast(3, arys)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape that others are repeated to when they are combined.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return tuple(_broadcast_shapes(*[sizes(s) for s in args]))


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """Elements repeated to a shape.

    >>> broadcast_to([1, 2], (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return ops.broadcast_to(asarray(array), sizes(shape))


def broadcast_arrays(*args: Any) -> list[Tensor]:
    """Arrays repeated to the shape that they have in common.

    >>> [a.shape for a in broadcast_arrays([1, 2], [[3]])]
    [(1, 2), (1, 2)]
    """
    arrays = [asarray(a) for a in args]
    wanted = broadcast_shapes(*[a.shape for a in arrays])
    return [a if a.shape == wanted else ops.broadcast_to(a, wanted) for a in arrays]


def tile(a: Any, reps: Any) -> Tensor:
    """The whole array repeated so many times along each axis.

    >>> tile([1, 2], 2).tolist(), tile([1, 2], (2, 1)).tolist()
    ([1, 2, 1, 2], [[1, 2], [1, 2]])
    """
    x, times = asarray(a), sizes(reps)
    rank = max(x.ndim, len(times))
    x = ops.reshape(x, (1,) * (rank - x.ndim) + x.shape)
    times = (1,) * (rank - len(times)) + times
    if any(isinstance(n, int) and n == 0 for n in (*times, *x.shape)):
        return ops.zeros(tuple(n * t for n, t in zip(x.shape, times, strict=True)), x.dtype)
    return ops.tile(x, times) if rank else unchanged(x)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Every element repeated along an axis, or of the flattened array; each so many times, or as often as it says.

    >>> repeat([1, 2], 2).tolist(), repeat([1, 2], [0, 3]).tolist()
    ([1, 1, 2, 2], [2, 2, 2])
    """
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    place = axis_of(x, axis)
    counts = repeats if isinstance(repeats, int) else asarray(repeats)
    if isinstance(counts, int):
        if counts < 0:
            raise ArgumentError(f"nothing is repeated {counts} times")
        wide = ops.expand_dims(x, place + 1)
        wide = ops.broadcast_to(wide, (*x.shape[: place + 1], counts, *x.shape[place + 1 :]))
        return ops.reshape(wide, (*x.shape[:place], x.shape[place] * counts, *x.shape[place + 1 :]))
    times = counts.numbers()
    if times.dtype.kind not in "iub" or (times < 0).any():
        raise ArgumentError("how often each is repeated is a whole number from 0 on", given={"repeats": repeats})
    if times.size == 1:
        return repeat(x, int(times.reshape(())), place)
    if times.shape != (x.shape[place],):
        raise ShapeError("there is one number of repeats for each element", given={"shape": x.shape, "repeats": times})
    return ops.gather(x, Tensor([i for i, t in enumerate(times) for _ in range(int(t))], "int64"), place)


def flip(m: Any, axis: Axis = None) -> Tensor:
    """The order along axes reversed; along all, if none is named.

    >>> flip([1, 2, 3]).tolist()
    [3, 2, 1]
    """
    x = asarray(m)
    places = axes_of(x, axis) if axis != () else ()
    return ops.flip(x, places) if places else unchanged(x)


def fliplr(m: Any) -> Tensor:
    """The second axis reversed.

    >>> fliplr([[1, 2]]).tolist()
    [[2, 1]]
    """
    return flip(m, 1)


def flipud(m: Any) -> Tensor:
    """The first axis reversed.

    >>> flipud([1, 2]).tolist()
    [2, 1]
    """
    return flip(m, 0)


def roll(a: Any, shift: Any, axis: Axis = None) -> Tensor:
    """Elements moved along axes, or through all of them; what leaves at the end comes in at the beginning.

    >>> roll([1, 2, 3], 1).tolist()
    [3, 1, 2]
    """
    x = asarray(a)
    if axis is None:
        return ops.reshape(roll(ravel(x), sum(sizes(shift)), 0), x.shape)
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    shifts = sizes(shift)
    many = max(len(axes), len(shifts))
    if {len(axes), len(shifts)} - {1, many}:
        raise ShapeError("there is one shift for each axis", given={"shift": shift, "axis": axis})
    for by, place in zip(shifts * (many // len(shifts)), axes * (many // len(axes)), strict=True):
        place = axis_of(x, place)
        extent = x.shape[place]
        if isinstance(extent, int) and extent == 0:
            continue
        cut = -by % extent
        head = (slice(None),) * place
        x = ops.cat([x[(*head, slice(cut, None))], x[(*head, slice(None, cut))]], place)
    return unchanged(x)


def rot90(a: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """The plane of two axes turned k times by 90 degrees, from the first to the second.

    >>> rot90([[1, 2], [3, 4]]).tolist()
    [[2, 4], [1, 3]]
    """
    x = asarray(a)
    if len(axes) != 2:
        raise CallError("rot90 turns a plane of two axes", given={"axes": axes})
    first, second = axis_of(x, axes[0]), axis_of(x, axes[1])
    if first == second:
        raise ShapeError("rot90 needs two axes that differ", given={"axes": axes})
    k %= 4
    if k == 2:
        return flip(x, (first, second))
    if k == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if k == 3 else unchanged(x)


def trim_zeros(filt: Any, trim: str = "fb") -> Tensor:
    """A vector without the zeros in front ("f"), behind ("b"), or both.

    >>> trim_zeros([0, 1, 0, 2, 0]).tolist()
    [1, 0, 2]
    """
    x = tensor(filt)
    if x.ndim != 1 or set(trim.lower()) - set("fb"):
        raise ArgumentError("trim_zeros takes a vector and a text of f and b", given={"shape": x.shape, "trim": trim})
    places = x.numbers().nonzero()[0]
    if not places.size:
        return x[:0]
    return x[int(places[0]) if "f" in trim.lower() else 0 : int(places[-1]) + 1 if "b" in trim.lower() else x.size]
