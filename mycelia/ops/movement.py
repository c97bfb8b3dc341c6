"""Other shapes of the same elements: reshaped, transposed, joined, parted, repeated, padded."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from builtins import slice as _slice
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, common, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import Axis, axes_of, axis_of, method, sizes, tensor

__all__ = [
    "atleast_1d",
    "broadcast_to",
    "cat",
    "chunk",
    "concat",
    "concatenate",
    "diff",
    "expand_as",
    "expand_dims",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "hstack",
    "moveaxis",
    "movedim",
    "narrow",
    "pad",
    "permute",
    "ravel",
    "repeat_elements",
    "repeat_interleave",
    "reshape",
    "reverse",
    "roll",
    "slice",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "swapaxes",
    "swapdims",
    "t",
    "tensor_split",
    "tile",
    "transpose",
    "unbind",
    "unsqueeze",
    "unstack",
    "view",
    "view_as",
    "vstack",
]


def _own(out: Any, x: Tensor) -> Tensor:
    """The result, never the operand itself: writing into one must not change the other."""
    return x.alias() if out is x else out


@method()
def reshape(input: Any, *shape: Any) -> Tensor:
    """The same elements, in order, under another shape; one extent may be -1 and is computed.

    >>> reshape(Tensor([1, 2, 3, 4]), (2, -1)).tolist()
    [[1, 2], [3, 4]]
    """
    x, wanted = tensor(input), sizes(*shape)
    if wanted.count(-1) > 1:
        raise ShapeError(f"only one extent can be computed, and {wanted} leaves {wanted.count(-1)} open")
    return _own(p.reshape(x, wanted), x)


@method()
def view(input: Any, *shape: Any) -> Tensor:
    """The same elements under another shape.

    >>> view(Tensor([1, 2, 3, 4]), 2, 2).shape
    (2, 2)
    """
    return reshape(input, *shape)


@method("view_as", "reshape_as")
def view_as(input: Any, other: Any) -> Tensor:
    """The same elements under the shape of another tensor.

    >>> view_as(Tensor([1, 2]), Tensor([[5], [6]])).shape
    (2, 1)
    """
    return reshape(input, tensor(other).shape)


def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Axes from `start_dim` to `end_dim` as one.

    >>> flatten(Tensor([[[1, 2], [3, 4]]])).shape
    (1, 4)
    """
    if order not in ("C", "F"):
        raise ArgumentError(f"flatten has no order {order!r}", hint='"C" is row-major, "F" column-major')
    x = tensor(input)
    if order == "F":
        x = p.transpose(x, (0, *reversed(range(1, x.ndim))))
    if x.ndim == 0:
        return p.reshape(x, (1,))
    first, last = axis_of(x, min(start_dim, x.ndim) if x.ndim == 1 else start_dim, x.ndim == 1), axis_of(x, end_dim)
    if first > last:
        return reshape(x, (*x.shape, 1)) if x.ndim == 1 and start_dim == 1 else x.alias()
    return _own(p.reshape(x, (*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :])), x)


@method("flatten")
def _flatten(self: Tensor, order: str = "C", *, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """All axes as one, or those from `start_dim` to `end_dim`.

    >>> Tensor([[1, 2], [3, 4]]).flatten().tolist()
    [1, 2, 3, 4]
    """
    return flatten(self, order, start_dim=start_dim, end_dim=end_dim)


@method()
def ravel(input: Any) -> Tensor:
    """All axes as one.

    >>> ravel(Tensor([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
    return reshape(input, (-1,))


def transpose(input: Any, dims: Sequence[int]) -> Tensor:
    """The axes in another order.

    >>> transpose(Tensor([[1, 2, 3]]), (1, 0)).shape
    (3, 1)
    """
    x = tensor(input)
    order = tuple(axis_of(x, d) for d in dims)
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(f"{tuple(dims)} does not name every axis of a tensor of shape {x.shape} once")
    return _own(p.transpose(x, order), x)


@method("transpose", "permute")
def _transpose(self: Tensor, *axes: Any) -> Tensor:
    """The axes in another order; reversed, if none is said.

    >>> Tensor([[1, 2, 3]]).transpose(1, 0).shape
    (3, 1)
    """
    return transpose(self, sizes(*axes) if axes and axes[0] is not None else tuple(reversed(range(self.ndim))))


def permute(input: Any, axis: Sequence[int]) -> Tensor:
    """The axes in another order.

    >>> permute(Tensor([[1, 2, 3]]), (1, 0)).shape
    (3, 1)
    """
    return transpose(input, axis)


@method("swapaxes", "swapdims")
def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged.

    >>> swapaxes(Tensor([[1, 2, 3]]), 0, 1).shape
    (3, 1)
    """
    x = tensor(input)
    order = list(range(x.ndim))
    a, b = axis_of(x, axis0), axis_of(x, axis1)
    order[a], order[b] = b, a
    return _own(p.transpose(x, order), x)


@method()
def t(input: Any) -> Tensor:
    """A matrix with rows and columns exchanged; a vector as it is.

    >>> t(Tensor([[1, 2]])).tolist()
    [[1], [2]]
    """
    x = tensor(input)
    if x.ndim > 2:
        raise ShapeError(f"t is for matrices, and this tensor has shape {x.shape}", hint="use swapaxes or transpose")
    return x.T


@method("moveaxis", "movedim")
def moveaxis(x: Any, source: Axis, destination: Axis) -> Tensor:
    """Axes taken out and put elsewhere.

    >>> moveaxis(Tensor([[[1, 2, 3]]]), 2, 0).shape
    (3, 1, 1)
    """
    x = tensor(x)
    sources, targets = (
        [axis_of(x, a) for a in ((s,) if isinstance(s, int) else s or ())] for s in (source, destination)
    )
    order = [a for a in range(x.ndim) if a not in sources]
    for target, s in sorted(zip(targets, sources, strict=True)):
        order.insert(target, s)
    return _own(p.transpose(x, order), x)


@method("expand_dims", "unsqueeze")
def expand_dims(input: Any, axis: int | Sequence[int]) -> Tensor:
    """A new axis of extent 1.

    >>> expand_dims(Tensor([1, 2]), 0).shape
    (1, 2)
    """
    x = tensor(input)
    many = (axis,) if isinstance(axis, int) else tuple(axis)
    return p.expand_dims(x, [axis_of(x, a, more=len(many)) for a in many])


def unsqueeze(input: Any, dim: int) -> Tensor:
    """A new axis of extent 1.

    >>> unsqueeze(Tensor([1, 2]), 1).shape
    (2, 1)
    """
    return expand_dims(input, dim)


@method()
def squeeze(input: Any, axis: Axis = None) -> Tensor:
    """Without axes of extent 1: all of them, or those named.

    >>> squeeze(Tensor([[[1], [2]]])).shape
    (2,)
    """
    x = tensor(input)
    named = axes_of(x, axis) if axis is not None and axis != () else range(x.ndim)
    return _own(p.reshape(x, [e for a, e in enumerate(x.shape) if e != 1 or a not in named]), x)


@method()
def broadcast_to(input: Any, *shape: Any) -> Tensor:
    """Repeated to a shape; -1 keeps an extent.

    >>> broadcast_to(Tensor([[1], [2]]), (2, 3)).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    x, wanted = tensor(input), list(sizes(*shape))
    for i in range(1, min(len(wanted), x.ndim) + 1):
        if wanted[-i] == -1:
            wanted[-i] = x.shape[-i]
    return _own(p.broadcast(x, wanted), x)


method("expand")(broadcast_to)


@method()
def expand_as(input: Any, x: Any) -> Tensor:
    """Repeated to the shape of another tensor.

    >>> expand_as(Tensor([1]), Tensor([5, 6])).tolist()
    [1, 1]
    """
    return broadcast_to(input, tensor(x).shape)


@method()
def tile(input: Any, *dims: Any) -> Tensor:
    """The whole tensor repeated so many times along each axis.

    >>> tile(Tensor([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    x, times = tensor(input), sizes(*dims)
    rank = max(x.ndim, len(times))
    shape = (1,) * (rank - x.ndim) + x.shape
    times = (1,) * (rank - len(times)) + times
    apart = p.reshape(x, [e for s in shape for e in (1, s)])
    repeated = p.broadcast(apart, [e for n, s in zip(times, shape, strict=True) for e in (n, s)])
    return _own(p.reshape(repeated, [n * s for n, s in zip(times, shape, strict=True)]), x)


method("repeat")(tile)


@method("repeat_interleave")
def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Every element repeated along an axis, or of the flattened tensor.

    >>> repeat_interleave(Tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    x = ravel(input) if axis is None else tensor(input)
    place = 0 if axis is None else axis_of(x, axis)
    if not isinstance(repeats, int):
        counts = tensor(repeats).numbers()
        if counts.size > 1:
            return p.gather(x, wrap(np.repeat(np.arange(x.shape[place]), counts)), place)
        repeats = int(counts.item())
    apart = p.expand_dims(x, (place + 1,))
    repeated = p.broadcast(apart, [repeats if a == place + 1 else e for a, e in enumerate(apart.shape)])
    return _own(p.reshape(repeated, [repeats * e if a == place else e for a, e in enumerate(x.shape)]), x)


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Tensor:
    """Every element repeated along an axis.

    >>> repeat_elements(Tensor([[1, 2]]), 2, 1).tolist()
    [[1, 1, 2, 2]]
    """
    return repeat_interleave(x, rep, axis)


def cat(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors one after the other along an axis.

    >>> cat((Tensor([1, 2]), Tensor([3]))).tolist()
    [1, 2, 3]
    """
    parts = [tensor(x) for x in tensors]
    if not parts:
        raise ArgumentError("nothing was given to concatenate")
    dtype = reduce(common, [x.dtype for x in parts])
    parts = [cast(x, dtype) for x in parts]
    return _own(p.concat(parts, axis_of(parts[0], axis)), parts[0])


def stack(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis.

    >>> stack((Tensor([1, 2]), Tensor([3, 4]))).tolist()
    [[1, 2], [3, 4]]
    """
    parts = [tensor(x) for x in tensors]
    if not parts:
        raise ArgumentError("nothing was given to stack")
    if any(x.shape != parts[0].shape for x in parts):
        raise ShapeError("only tensors of one shape can be stacked", given={"shapes": [x.shape for x in parts]})
    place = axis_of(parts[0], axis, more=1)
    return cat([p.expand_dims(x, (place,)) for x in parts], place)


@method()
def split(tensor: Any, split_size_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """Parts along an axis: of one size (the last may be smaller), or of these sizes.

    >>> [x.tolist() for x in split(Tensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    x = tensor if isinstance(tensor, Tensor) else Tensor(tensor)
    place = axis_of(x, axis)
    extent = x.shape[place]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size <= 0:
            raise ArgumentError(f"parts have a positive size, not {size}")
        bounds = [*range(0, extent, size), extent] if extent else [0, 0]
    else:
        bounds = [0, *np.cumsum(split_size_or_sections).tolist()]
        if bounds[-1] != extent:
            raise ShapeError(
                f"parts of sizes {tuple(split_size_or_sections)} do not make up an axis of {extent}",
                given={"shape": x.shape, "axis": axis},
            )
    return tuple(_own(p.take(x, place, a, b), x) for a, b in pairwise(bounds))


@method()
def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most so many parts of one size along an axis; the last may be smaller.

    >>> [x.tolist() for x in chunk(Tensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    x = tensor(input)
    return split(x, -(-x.shape[axis_of(x, axis)] // chunks) or 1, axis)


@method()
def tensor_split(input: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """So many parts that differ in size by at most one; or parts that begin at these positions.

    >>> [x.tolist() for x in tensor_split(Tensor([1, 2, 3]), (1,))]
    [[1], [2, 3]]
    """
    x = tensor(input)
    parts = np.array_split(np.arange(x.shape[axis_of(x, axis)]), indices_or_sections)
    return split(x, [len(part) for part in parts], axis)


@method("unbind")
def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it.

    >>> [x.tolist() for x in unbind(Tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    x = tensor(input)
    place = axis_of(x, dim)
    return tuple(squeeze(part, place) for part in split(x, 1, place))


def unstack(input_x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it.

    >>> len(unstack(Tensor([[1, 2], [3, 4]])))
    2
    """
    return unbind(input_x, axis)


def hstack(tensors: Sequence[Any]) -> Tensor:
    """Tensors side by side: along the second axis, vectors along the first.

    >>> hstack((Tensor([1]), Tensor([2]))).tolist()
    [1, 2]
    """
    parts = [atleast_1d(x) for x in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(inputs: Sequence[Any]) -> Tensor:
    """Tensors below each other; a vector is a row.

    >>> vstack((Tensor([1, 2]), Tensor([3, 4]))).shape
    (2, 2)
    """
    return cat([x if x.ndim > 1 else p.reshape(x, (1, x.size)) for x in map(tensor, inputs)])


def atleast_1d(inputs: Any) -> Any:
    """A tensor with one axis at least.

    >>> atleast_1d(Tensor(3)).shape
    (1,)
    """
    if isinstance(inputs, tuple | list):
        return tuple(atleast_1d(x) for x in inputs)
    x = tensor(inputs)
    return x if x.ndim else p.reshape(x, (1,))


@method("flip")
def flip(input: Any, *dims: Any) -> Tensor:
    """The order along axes reversed.

    >>> flip(Tensor([1, 2, 3]), (0,)).tolist()
    [3, 2, 1]
    """
    x = tensor(input)
    return _own(p.flip(x, axes_of(x, sizes(*dims))), x)


@method("fliplr")
def fliplr(input: Any) -> Tensor:
    """The second axis reversed.

    >>> fliplr(Tensor([[1, 2]])).tolist()
    [[2, 1]]
    """
    return flip(input, (1,))


@method("flipud")
def flipud(input: Any) -> Tensor:
    """The first axis reversed.

    >>> flipud(Tensor([1, 2])).tolist()
    [2, 1]
    """
    return flip(input, (0,))


@method("reverse")
def reverse(x: Any, axis: Axis) -> Tensor:
    """The order along axes reversed.

    >>> reverse(Tensor([1, 2]), [0]).tolist()
    [2, 1]
    """
    x = tensor(x)
    return _own(p.flip(x, axes_of(x, axis)), x)


@method()
def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along axes; what leaves at the end comes in at the beginning.

    >>> roll(Tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    x = tensor(input)
    if dims is None:
        return p.reshape(roll(ravel(x), shifts, 0), x.shape)
    by = (shifts,) if isinstance(shifts, int) else shifts
    for shift, dim in zip(by, (dims,) if isinstance(dims, int) else dims, strict=True):
        axis = axis_of(x, dim)
        cut = -shift % max(1, x.shape[axis])
        if cut:
            x = p.concat((p.take(x, axis, cut, x.shape[axis]), p.take(x, axis, 0, cut)), axis)
    return _own(x, tensor(input))


@method()
def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """So many elements along an axis, from `start`.

    >>> narrow(Tensor([1, 2, 3]), 0, 1, 2).tolist()
    [2, 3]
    """
    x = tensor(input)
    place = axis_of(x, axis)
    if not 0 <= start <= start + length <= x.shape[place]:
        raise ShapeError(f"an axis of {x.shape[place]} has no {length} elements from {start}")
    return _own(p.take(x, place, start, start + length), x)


@method()
def diff(x: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The differences between neighbours along an axis, n times over.

    >>> diff(Tensor([1, 4, 9])).tolist()
    [3, 5]
    """
    x = tensor(x)
    place = axis_of(x, axis)
    for _ in range(n):
        x = p.take(x, place, 1, x.shape[place]) - p.take(x, place, 0, x.shape[place] - 1)
    return x


def slice(input_x: Any, begin: Sequence[int], size: Sequence[int]) -> Tensor:
    """So many elements along every axis, from `begin`; -1 means all that are left.

    >>> slice(Tensor([[1, 2], [3, 4]]), (0, 1), (2, 1)).tolist()
    [[2], [4]]
    """
    x = tensor(input_x)
    stop = [e if n == -1 else b + n for b, n, e in zip(begin, size, x.shape, strict=True)]
    return _own(p.slice_(x, begin, stop), x)


def strided_slice(input_x: Any, begin: Sequence[int], end: Sequence[int], strides: Sequence[int]) -> Tensor:
    """Elements from `begin` to `end` along the first axes, at these steps.

    >>> strided_slice(Tensor([1, 2, 3, 4]), (0,), (4,), (2,)).tolist()
    [1, 3]
    """
    bounds = zip(begin, end, strides, strict=True)
    return tensor(input_x)[tuple([_slice(*b) for b in bounds])]


def pad(input_x: Any, padding: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """More elements around: (last axis before, after, the axis before it before, after, ...).

    The mode "constant" pads with `value` or 0, "reflect" and "circular" with elements from the other side of the edge
    or of the tensor, "replicate" with the edge.

    >>> pad(Tensor([1.0, 2.0, 3.0]), (1, 1)).tolist(), pad(Tensor([1.0, 2.0, 3.0]), (2, 0), "reflect").tolist()
    ([0.0, 1.0, 2.0, 3.0, 0.0], [3.0, 2.0, 1.0, 2.0, 3.0])
    """
    x, widths = tensor(input_x), sizes(padding)
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ShapeError(
            f"padding {widths} does not give two numbers for each of the last axes", given={"shape": x.shape}
        )
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2) + [widths[i : i + 2] for i in range(len(widths) - 2, -1, -2)]
    if mode == "constant":
        inner = p.slice_(
            x, [max(0, -a) for a, _ in pairs], [e - max(0, -b) for (_, b), e in zip(pairs, x.shape, strict=True)]
        )
        out = p.pad(inner, [max(0, a) for a, _ in pairs], [max(0, b) for _, b in pairs], value or 0)
        return _own(out, x)
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in names:
        raise ArgumentError(f"pad has no mode {mode!r}", hint=f"choose one of {['constant', *names]}")
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            places = np.pad(np.arange(x.shape[axis]), (before, after), names[mode])  # type: ignore[call-overload]  # a name of NumPy's
            x = p.gather(x, wrap(places), axis)
    return x


concat, concatenate, swapdims, movedim = cat, cat, swapaxes, moveaxis
