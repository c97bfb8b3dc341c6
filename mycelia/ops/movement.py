"""Other shapes of the same elements: reshaped, transposed, joined, parted, repeated, padded."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from builtins import slice as _slice
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from mycelia import checks
from mycelia import primitives as p
from mycelia.eager import Tensor, wrap
from mycelia.eager.views import repeating_view
from mycelia.eager.views import view as shares_memory
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.ops.arguments import Axis, axes_of, axis_of, method, sizes, tensor

__all__ = [
    "broadcast_to",
    "expand_as",
    "expand_dims",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "repeat_elements",
    "repeat_interleave",
    "reshape",
    "reverse",
    "slice",
    "squeeze",
    "strided_slice",
    "swapaxes",
    "swapdims",
    "t",
    "tile",
    "transpose",
    "unsqueeze",
    "view",
    "view_as",
]


def own(out: Any, x: Tensor) -> Tensor:
    """The result, never the operand itself: writing into one must not change the other."""
    return x.alias() if out is x else out


@method()
@shares_memory
def reshape(input: Any, *shape: Any) -> Tensor:
    """The same elements, in order, under another shape; one extent may be -1 and is computed.

    >>> reshape(Tensor([1, 2, 3, 4]), (2, -1)).tolist()
    [[1, 2], [3, 4]]
    """
    x, wanted = tensor(input), sizes(*shape)
    if wanted.count(-1) > 1:
        raise ShapeError(
            f"only one extent can be computed, and {wanted} leaves {wanted.count(-1)} open",
            given={"shape": x.shape},
            hint="give all extents but one",
        )
    return own(p.reshape(x, wanted), x)


@shares_memory
def view(input: Any, *shape: Any) -> Tensor:
    """The same elements under another shape.

    >>> view(Tensor([1, 2, 3, 4]), 2, 2).shape
    (2, 2)
    """
    return reshape(input, *shape)


@method("view_as", "reshape_as")
@shares_memory
def view_as(input: Any, other: Any) -> Tensor:
    """The same elements under the shape of another tensor.

    >>> view_as(Tensor([1, 2]), Tensor([[5], [6]])).shape
    (2, 1)
    """
    return reshape(input, tensor(other).shape)


@shares_memory
def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Axes from `start_dim` to `end_dim` as one; with the order "F", of the axes in reverse.

    >>> flatten(Tensor([[[1, 2], [3, 4]]])).shape
    (1, 4)
    >>> flatten(Tensor([[1, 2], [3, 4]]), "F", start_dim=0).tolist()
    [1, 3, 2, 4]
    """
    if order not in ("C", "F"):
        raise ArgumentError(f"flatten has no order {order!r}", hint='"C" is row-major, "F" column-major')
    x = tensor(input)
    if order == "F":
        x = p.transpose(x, tuple(reversed(range(x.ndim))))
    if x.ndim == 0:
        return p.reshape(x, (1,))
    first, last = axis_of(x, min(start_dim, x.ndim) if x.ndim == 1 else start_dim, x.ndim == 1), axis_of(x, end_dim)
    if first > last:
        return reshape(x, (*x.shape, 1)) if x.ndim == 1 and start_dim == 1 else x.alias()
    return own(p.reshape(x, (*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :])), x)


@method("flatten")
@shares_memory
def _flatten(self: Tensor, *args: Any, order: str = "C", start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """All axes as one, or those from `start_dim` to `end_dim`, which may also be given by place.

    >>> Tensor([[1, 2], [3, 4]]).flatten().tolist(), Tensor([[[1], [2]]]).flatten(0, 1).shape
    ([1, 2, 3, 4], (2, 1))
    """
    if len(args) > 2 or (args and isinstance(args[0], str) and len(args) > 1):
        raise CallError("flatten takes an order, or the first and the last axis", given={"args": args})
    if args and isinstance(args[0], str):
        order = args[0]
    elif args:
        start_dim, end_dim = (*args, end_dim)[:2]
    return flatten(self, order, start_dim=start_dim, end_dim=end_dim)


@method()
@shares_memory
def ravel(input: Any) -> Tensor:
    """All axes as one.

    >>> ravel(Tensor([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
    return reshape(input, (-1,))


@shares_memory
def transpose(input: Any, dims: Sequence[int]) -> Tensor:
    """The axes in another order.

    >>> transpose(Tensor([[1, 2, 3]]), (1, 0)).shape
    (3, 1)
    """
    x = tensor(input)
    order = tuple(axis_of(x, d) for d in dims)
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(
            f"{tuple(dims)} does not name every axis of a tensor of shape {x.shape} once",
            hint=f"give all of {tuple(range(x.ndim))}, in the order that you want; swapaxes exchanges two",
        )
    return own(p.transpose(x, order), x)


@method("transpose")
@shares_memory
def _transpose(self: Tensor, *axes: Any, dim0: int | None = None, dim1: int | None = None) -> Tensor:
    """Two numbers exchange these axes; all of them, or a tuple, give the axes in another order; nothing reverses them.

    >>> Tensor([[[1, 2, 3]]]).transpose(0, 2).shape
    (3, 1, 1)
    >>> Tensor([[[1, 2, 3]]]).transpose((2, 0, 1)).shape
    (3, 1, 1)
    """
    axes = (*axes, *[d for d in (dim0, dim1) if d is not None])
    if len(axes) == 2 and not any(isinstance(a, tuple | list) for a in axes):
        return swapaxes(self, *axes)
    return _permute(self, *axes)


@method("permute")
@shares_memory
def _permute(self: Tensor, *axes: Any) -> Tensor:
    """The axes in another order; reversed, if none is said.

    >>> Tensor([[1, 2, 3]]).permute(1, 0).shape
    (3, 1)
    """
    return transpose(self, sizes(*axes) if axes and axes[0] is not None else tuple(reversed(range(self.ndim))))


@shares_memory
def permute(input: Any, axis: Sequence[int]) -> Tensor:
    """The axes in another order.

    >>> permute(Tensor([[1, 2, 3]]), (1, 0)).shape
    (3, 1)
    """
    return transpose(input, axis)


@method("swapdims")
@shares_memory
def swapdims(input: Any, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged; `swapaxes` by another name.

    >>> swapdims(Tensor([[1, 2, 3]]), dim0=0, dim1=1).shape
    (3, 1)
    """
    return swapaxes(input, dim0, dim1)


@method("swapaxes")
@shares_memory
def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged.

    >>> swapaxes(Tensor([[1, 2, 3]]), 0, 1).shape
    (3, 1)
    """
    x = tensor(input)
    order = list(range(x.ndim))
    a, b = axis_of(x, axis0), axis_of(x, axis1)
    order[a], order[b] = b, a
    return own(p.transpose(x, order), x)


@method()
@shares_memory
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
@shares_memory
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
    return own(p.transpose(x, order), x)


@method("expand_dims", "unsqueeze")
@shares_memory
def expand_dims(input: Any, axis: int | Sequence[int]) -> Tensor:
    """A new axis of extent 1.

    >>> expand_dims(Tensor([1, 2]), 0).shape
    (1, 2)
    """
    x = tensor(input)
    many = (axis,) if isinstance(axis, int) else tuple(axis)
    return p.expand_dims(x, [axis_of(x, a, more=len(many)) for a in many])


@shares_memory
def unsqueeze(input: Any, dim: int) -> Tensor:
    """A new axis of extent 1.

    >>> unsqueeze(Tensor([1, 2]), 1).shape
    (2, 1)
    """
    return expand_dims(input, dim)


@method()
@shares_memory
def squeeze(input: Any, axis: Axis = None) -> Tensor:
    """Without axes of extent 1: all of them, or those named.

    >>> squeeze(Tensor([[[1], [2]]])).shape
    (2,)
    """
    x = tensor(input)
    named = axes_of(x, axis) if axis is not None and axis != () else range(x.ndim)
    return own(p.reshape(x, [e for a, e in enumerate(x.shape) if e != 1 or a not in named]), x)


@method()
@repeating_view
def broadcast_to(input: Any, *shape: Any) -> Tensor:
    """Repeated to a shape; -1 keeps an extent.

    >>> broadcast_to(Tensor([[1], [2]]), (2, 3)).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    x, wanted = tensor(input), list(sizes(*shape))
    for i in range(1, min(len(wanted), x.ndim) + 1):
        if wanted[-i] == -1:
            wanted[-i] = x.shape[-i]
    return own(p.broadcast(x, wanted), x)


method("expand")(broadcast_to)


@method()
@repeating_view
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
    return own(p.reshape(repeated, [n * s for n, s in zip(times, shape, strict=True)]), x)


method("repeat")(tile)


@method("repeat_interleave")
def repeat_interleave(input: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Every element repeated along an axis, or of the flattened tensor.

    >>> repeat_interleave(Tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    x = ravel(input) if axis is None else tensor(input)
    place = 0 if axis is None else axis_of(x, axis)
    if isinstance(repeats, bool):
        repeats = int(repeats)
    elif isinstance(repeats, int | float | complex | str | None):
        repeats = checks.whole("repeat_interleave", "repeats", repeats, least=0)
    else:
        counts = tensor(repeats).numbers()
        if counts.dtype.kind not in "iu" or (counts < 0).any():
            raise ArgumentError(
                "repeat_interleave repeats by whole numbers from 0",
                given={"repeats": repeats},
                hint="cast them to int64",
            )
        if counts.size > 1:
            return p.gather(x, wrap(np.repeat(np.arange(x.shape[place]), counts)), place)
        repeats = int(counts.item())
    apart = p.expand_dims(x, (place + 1,))
    repeated = p.broadcast(apart, [repeats if a == place + 1 else e for a, e in enumerate(apart.shape)])
    return own(p.reshape(repeated, [repeats * e if a == place else e for a, e in enumerate(x.shape)]), x)


def repeat_elements(x: Any, rep: int, axis: int = 0) -> Tensor:
    """Every element repeated along an axis.

    >>> repeat_elements(Tensor([[1, 2]]), 2, 1).tolist()
    [[1, 1, 2, 2]]
    """
    return repeat_interleave(x, rep, axis)


@method("flip")
def flip(input: Any, *dims: Any) -> Tensor:
    """The order along axes reversed.

    >>> flip(Tensor([1, 2, 3]), (0,)).tolist()
    [3, 2, 1]
    """
    x = tensor(input)
    return own(p.flip(x, axes_of(x, sizes(*dims))), x)


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
    return own(p.flip(x, axes_of(x, axis)), x)


def slice(input_x: Any, begin: Sequence[int], size: Sequence[int]) -> Tensor:
    """So many elements along every axis, from `begin`; -1 means all that are left.

    >>> slice(Tensor([[1, 2], [3, 4]]), (0, 1), (2, 1)).tolist()
    [[2], [4]]
    """
    x = tensor(input_x)
    stop = [e if n == -1 else b + n for b, n, e in zip(begin, size, x.shape, strict=True)]
    return own(p.slice_(x, begin, stop), x)


def strided_slice(input_x: Any, begin: Sequence[int], end: Sequence[int], strides: Sequence[int]) -> Tensor:
    """Elements from `begin` to `end` along the first axes, at these steps.

    >>> strided_slice(Tensor([1, 2, 3, 4]), (0,), (4,), (2,)).tolist()
    [1, 3]
    """
    bounds = zip(begin, end, strides, strict=True)
    return tensor(input_x)[tuple([_slice(*b) for b in bounds])]


movedim = moveaxis
