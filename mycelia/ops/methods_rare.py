"""Methods of tensors that few programs call: by places, in place, at random; and those of complex numbers, which all
tensors here are not.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import truth, whole
from mycelia.eager import Generator, Tensor, as_dtype, assign, cast, created
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ops import (
    activation,
    choice,
    linalg,
    movement,
    numbers,
    order,
    random,
    scattering,
    statistics,
    trigonometry,
)
from mycelia.ops.arguments import axis_of, extents, method, number, sizes, tensor
from mycelia.types import bool_, int32, int64

__all__ = ["addbmm"]


# ----------------------------------------------------------------------------------------------------- shapes and parts


@method()
def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """The elements in their order in another shape: those that are too many left out, and zeros where there are none.

    >>> Tensor([[1, 2], [3, 4]]).resize(2, 3).tolist()
    [[1, 2, 3], [4, 0, 0]]
    """
    shape = extents(*new_shape)
    count = prod(shape)
    flat = p.reshape(self, (self.size,))
    kept = p.take(flat, 0, 0, min(count, self.size))
    return p.reshape(p.pad(kept, (0,), (count - kept.size,)), shape)


@method()
def select(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The part at one place of an axis, `x.select(dim, index)`; or elements where a condition holds, and others where
    it does not, `x.select(condition, y)`.

    >>> Tensor([[1, 2], [3, 4]]).select(1, 0).tolist(), Tensor([1, 2]).select(Tensor([True, False]), 5).tolist()
    ([1, 3], [1, 5])
    """
    given = [*args, *kwargs.values()]
    if len(given) != 2 or not set(kwargs) <= {"dim", "index", "condition", "y", "other", "input"}:
        raise ArgumentError("select takes (dim, index) or (condition, y)", given={"args": args} | kwargs)
    named = {**dict(zip(("condition", "y"), args, strict=False)), **kwargs}
    if isinstance(given[0], Tensor) or "condition" in kwargs:
        condition: Any = named["condition"]
        other: Any = named.get("y", named.get("other", named.get("input")))
        return choice.where(condition, self, other if isinstance(other, Tensor) else number(other, self))
    axis = axis_of(self, kwargs.get("dim", given[0]))
    return self[(slice(None),) * axis + (kwargs.get("index", given[-1]),)]


@method()
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sums that leave a shape which broadcasts to this one.

    >>> Tensor([[1, 2], [3, 4]]).sum_to_size((1, 2)).tolist()
    [[4, 6]]
    """
    shape = sizes(*size)
    extra = self.ndim - len(shape)
    if extra < 0 or any(e not in (1, n) for e, n in zip(shape, self.shape[max(extra, 0) :], strict=True)):
        raise ShapeError(f"a tensor of shape {self.shape} cannot be summed to {shape}")
    once = [extra + i for i, e in enumerate(shape) if e == 1 and self.shape[extra + i] != 1]
    return p.reshape(p.reduce_sum(self, (*range(extra), *once)), shape) if extra or once else self.alias()


@method()
def choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """For each element the one of `choices` that it numbers, at its place.

    >>> Tensor([2, 0]).choose([[1, 2], [3, 4], [5, 6]]).tolist()
    [5, 2]
    """
    rows = [tensor(c) for c in choices] if isinstance(choices, list | tuple) else list(choices)
    if not self.dtype.is_integer:
        raise DTypeError(f"choose is asked of whole numbers, not of {self.dtype!r}")
    if mode == "raise":
        inside = self.numbers()
        if inside.size and not (inside.min() >= 0 and inside.max() < len(rows)):
            raise ArgumentError(f"choose has {len(rows)} choices", given={"least": inside.min(), "most": inside.max()})
    elif mode not in ("clip", "wrap"):
        raise ArgumentError(f"choose has no mode {mode!r}", hint='choose "clip", "wrap" or "raise"')
    which = p.remainder(self, len(rows)) if mode == "wrap" else p.minimum(p.maximum(self, 0), len(rows) - 1)
    shape = np.broadcast_shapes(self.shape, *[r.shape for r in rows])
    out = p.broadcast(rows[0], shape)
    for k, row in enumerate(rows[1:], 1):
        out = p.select(p.broadcast(p.equal(which, k), shape), p.broadcast(row, shape), out)
    return out


@method()
def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where values would go in this row, which is in order.

    >>> Tensor([1.0, 2.0, 5.0]).searchsorted(Tensor([2.0, 4.0])).tolist()
    [1, 2]
    """
    return cast(statistics.searchsorted(self, v, side=side, sorter=sorter), int32)


@method()
def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along an axis, and where it is.

    >>> [t.item() for t in Tensor([3.0, 1.0, 2.0]).kthvalue(2)]
    [2.0, 2]
    """
    axis = axis_of(self, dim)
    if not 1 <= whole("kthvalue", "k", k) <= self.shape[axis]:
        raise ArgumentError(f"kthvalue: an axis of {self.shape[axis]} has no element number {k}")
    at = (slice(None),) * axis + (slice(k - 1, k),)
    values, places = (t[at] for t in order.sort(self, axis))
    if truth("kthvalue", "keepdim", keepdim):
        return values, cast(places, int64)
    return movement.squeeze(values, axis), cast(movement.squeeze(places, axis), int64)


@method()
def unique_with_pad(self: Tensor, pad_num: Any) -> tuple[Tensor, Tensor]:
    """The different elements, followed by `pad_num` up to the old length; and which of them each element is.

    >>> [t.tolist() for t in Tensor([1, 2, 2]).unique_with_pad(0)]
    [[1, 2, 0], [0, 1, 1]]
    """
    if self.ndim != 1:
        raise ShapeError(f"unique_with_pad takes one axis, not shape {self.shape}")
    found, which = order.unique(self)
    rest = created(p.Full(pad_num.item() if isinstance(pad_num, Tensor) else pad_num, self.dtype, self.shape))
    return p.take(p.concat([found, rest], 0), 0, 0, self.size), which


# ------------------------------------------------------------------------------------------------------- other elements


@method()
def fill_diagonal(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """The tensor with a number on its diagonal; of a tall matrix, with `wrap`, on one diagonal after the other.

    >>> Tensor([[1, 2], [3, 4]]).fill_diagonal(0).tolist()
    [[0, 2], [3, 0]]
    """
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise ShapeError(f"fill_diagonal takes matrices, or more axes of one size, not shape {self.shape}")
    mask = np.zeros(self.shape, np.bool_)
    np.fill_diagonal(mask, True, truth("fill_diagonal", "wrap", wrap))
    if not wrap and self.ndim == 2:
        mask[self.shape[1] :] = False
    return p.select(Tensor(mask), p.full(fill_value, self.dtype, self.shape), self)


@method()
def index_put(self: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """The tensor with other elements at positions, one tensor of them for each of the first axes; or with them added.

    >>> Tensor([1.0, 2.0, 3.0]).index_put((Tensor([0, 2]),), Tensor([10.0, 20.0]), True).tolist()
    [11.0, 2.0, 23.0]
    """
    truth("index_put", "accumulate", accumulate)
    at = [tensor(i) for i in indices]
    if any(i.dtype is bool_ for i in at):
        at = [tensor(column) for i in at for column in (np.nonzero(i.numbers()) if i.dtype is bool_ else (i,))]
    shape = np.broadcast_shapes(*[i.shape for i in at])
    wide = [p.broadcast(p.select(p.less(i, 0), i + e, i), shape) for i, e in zip(at, self.shape, strict=False)]
    places = p.concat([p.expand_dims(cast(i, int64), (len(shape),)) for i in wide], len(shape))
    new = p.broadcast(cast(tensor(values), self.dtype), (*shape, *self.shape[len(at) :]))
    return (choice.tensor_scatter_add if accumulate else choice.tensor_scatter_update)(self, places, new)


@method()
def itemset(self: Tensor, *args: Any) -> Tensor:
    """The tensor with one other element: at a place counted through all axes, or at one place for each axis.

    >>> Tensor([1.0, 2.0]).itemset(0, 7.0).tolist()
    [7.0, 2.0]
    """
    if not args:
        raise ArgumentError("itemset takes a place and a number", given={"args": args})
    *where, new = args
    place = where[0] if len(where) == 1 else tuple(where)
    flat = 0 if not where else int(np.ravel_multi_index(place, self.shape)) if isinstance(place, tuple) else int(place)
    if not -self.size <= flat < self.size:
        raise ArgumentError(f"itemset: a tensor of {self.size} elements has no element {flat}")
    out = p.scatter_update(p.reshape(self, (self.size,)), tensor(flat % self.size), number(new, self), 0)
    return p.reshape(out, self.shape)


def _with_slices(self: Tensor, dim: int, index: Any, new: Any) -> Tensor:
    """The tensor with other slices at positions of an axis."""
    axis = axis_of(self, dim)
    return p.scatter_update(self, cast(tensor(index), int64), cast(tensor(new), self.dtype), axis)


def _put(self: Tensor, index: Any, source: Any, accumulate: bool = False) -> Tensor:
    """The tensor with other elements at places counted through all axes; or with them added."""
    at, new = tensor(index), cast(tensor(source), self.dtype)
    flat = p.reshape(self, (self.size,))
    places = p.reshape(p.select(p.less(at, 0), at + self.size, at), (at.size,))
    change = p.scatter_add if truth("put_", "accumulate", accumulate) else p.scatter_update
    return p.reshape(change(flat, places, p.reshape(new, (at.size,)), 0), self.shape)


@method()
def index_add(
    self: Tensor, dim: Any = None, index: Any = None, source: Any = None, *, alpha: Any = 1, indices: Any = None,
    y: Any = None, axis: Any = None,
) -> Tensor:  # fmt: skip
    """The tensor with slices added at positions of an axis; older programs give indices, y and axis, in this order.

    >>> Tensor([1.0, 2.0]).index_add(0, Tensor([1]), Tensor([5.0])).tolist()
    [1.0, 7.0]
    """
    if isinstance(dim, Tensor):
        dim, index, source = source, dim, index
    dim, index, source = (old if new is None else new for new, old in ((dim, axis), (index, indices), (source, y)))
    if dim is None or index is None or source is None:
        raise ArgumentError("index_add takes an axis, positions and slices", hint="x.index_add(dim, index, source)")
    return _index_added(self, dim, index, source, alpha=alpha)


def _index_added(self: Tensor, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """The tensor with slices added at positions of an axis."""
    new = tensor(source)
    return choice.index_add(self, cast(tensor(index), int32), new if alpha == 1 else new * alpha, axis_of(self, dim))


def _scattered(self: Tensor, dim: int, index: Any, src: Any, *, reduce: str | None = None) -> Tensor:
    """The tensor with elements of another at positions along an axis; added to what is there, or times it."""
    kinds = {None: "none", "add": "add", "multiply": "mul", "none": "none"}
    if reduce not in kinds:
        raise ArgumentError(f"scatter_ cannot reduce by {reduce!r}", hint='choose None, "add" or "multiply"')
    at = tensor(index)
    new = src if isinstance(src, Tensor) else created(p.Full(src, self.dtype, at.shape))
    part = new[tuple(slice(0, n) for n in at.shape)]
    return choice.tensor_scatter_elements(self, at, part, axis_of(self, dim), kinds[reduce])


@method("scatter_add")
def scatter_add(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor with elements added: of `src` at positions along an axis, `x.scatter_add(dim, index, src)`; or slices
    at rows of positions, `x.scatter_add(indices, updates)`.

    >>> Tensor([1.0, 2.0]).scatter_add(0, Tensor([0, 0]), Tensor([5.0, 6.0])).tolist()
    [12.0, 2.0]
    """
    if len(args) + len(kwargs) == 2:
        return choice.tensor_scatter_add(self, *args, **kwargs)
    names = dict(zip(("dim", "index", "src"), args, strict=False)) | kwargs
    return _scattered(self, names["dim"], names["index"], names["src"], reduce="add")


for _name, _function in {
    "scatter_div": scattering.tensor_scatter_div,
    "scatter_max": scattering.tensor_scatter_max,
    "scatter_min": scattering.tensor_scatter_min,
    "scatter_mul": scattering.tensor_scatter_mul,
    "scatter_sub": choice.tensor_scatter_sub,
}.items():
    method(_name)(_function)


@method()
def inplace_update(self: Tensor, v: Any, indices: Any) -> Tensor:
    """The tensor with other rows at positions.

    >>> Tensor([[1.0], [2.0]]).inplace_update(Tensor([[5.0]]), (1,)).tolist()
    [[1.0], [5.0]]
    """
    return scattering.inplace_update(self, v, indices)


@method()
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Beta times a matrix, and alpha times the sum of the products of matrices in two batches.

    >>> addbmm(Tensor([[1.0]]), Tensor([[[2.0]], [[3.0]]]), Tensor([[[1.0]], [[1.0]]])).tolist()
    [[6.0]]
    """
    return tensor(input) * beta + p.reduce_sum(linalg.bmm(batch1, batch2), (0,)) * alpha


# ------------------------------------------------------------------------------------------------------------- in place


def _in_place(name: str, function: Callable[..., Any]) -> None:
    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return assign(self, cast(function(self, *args, **kwargs), self.dtype))

    change.__doc__ = f"Hold what `{name}` gives, from now on."
    method(name)(change)


def _drawn(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Random numbers in the shape and the type of a tensor."""

    def drawn(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return cast(draw(self, *args, **kwargs), self.dtype)

    return drawn


def _uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    shares = random.rand(*(self.shape or (1,)), generator=generator)
    return p.reshape(shares * (to - from_) + from_, self.shape)


def _normal(self: Tensor, mean: Any = 0, std: Any = 1, *, generator: Generator | None = None) -> Tensor:
    return random.normal(self.shape, tensor(float(mean)), tensor(float(std)), generator=generator)


def _exponential(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    return p.log1p(p.negative(_uniform(self, generator=generator))) * (-1.0 / lambd)


def _bernoulli(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    return random.bernoulli(self, p, generator=generator)


@method("uniform")
def uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Random numbers between two, in the shape of the tensor.

    >>> bool((Tensor([1.0, 2.0]).uniform(2.0, 3.0) >= 2.0).all())
    True
    """
    return cast(_uniform(self, from_, to, generator=generator), self.dtype)


_CHANGES: dict[str, Callable[..., Any]] = {
    "uniform_": _drawn(_uniform),
    "normal_": _drawn(_normal),
    "exponential_": _drawn(_exponential),
    "bernoulli_": _drawn(_bernoulli),
    "sigmoid_": activation.sigmoid,
    "tanh_": trigonometry.tanh,
    "erfinv_": numbers.erfinv,
    "addmm_": linalg.addmm,
    "masked_fill_": choice.masked_fill,
    "masked_scatter_": scattering.masked_scatter,
    "fill_diagonal_": fill_diagonal,
    "index_put_": index_put,
    "index_add_": _index_added,
    "index_copy_": _with_slices,
    "index_fill_": choice.index_fill,
    "put_": _put,
    "scatter_": _scattered,
    "scatter_add_": scatter_add,
}
for _name, _change in _CHANGES.items():
    _in_place(_name, _change)


# -------------------------------------------------------------------------------------------------------- as in others


@method()
def multinomial(self: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Numbers of classes, drawn by their weights.

    >>> Tensor([0.0, 1.0]).multinomial(2).tolist()
    [1, 1]
    """
    return random.multinomial(self, num_samples, replacement, seed)


@method()
def random_categorical(self: Tensor, num_sample: int, seed: int = 0, dtype: Any = int64) -> Tensor:
    """Numbers of classes, drawn for each row by its scores: the logarithms of weights.

    >>> Tensor([[-100.0, 100.0]]).random_categorical(2).tolist()
    [[1, 1]]
    """
    weights = activation.softmax(self, -1)
    return cast(random.multinomial(weights, num_sample, True, seed or None), as_dtype(dtype))


@method()
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one number, of the same element type.

    >>> Tensor([1.0]).new_full((2,), 3).tolist()
    [3.0, 3.0]
    """
    return created(p.Full(fill_value, self.dtype if dtype is None else as_dtype(dtype), extents(size)))


@method()
def new_empty(self: Tensor, size: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of any numbers (zeros), of the same element type.

    >>> Tensor([1.0]).new_empty((2,)).shape
    (2,)
    """
    return new_full(self, size, 0, dtype=dtype)


@method("soft_shrink")
def soft_shrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Numbers moved towards 0 by `lambd`, to 0 at most.

    >>> Tensor([1.0, 0.1]).soft_shrink().tolist()
    [0.5, 0.0]
    """
    return activation.softshrink(self, lambd)


@method()
def histc(self: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """How many elements lie in each of so many equal parts of a range.

    >>> Tensor([1.0, 2.0, 1.0]).histc(4, 0.0, 3.0).tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    return statistics.histc(self, bins, min, max)


@method()
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """The tensor itself; a parameter says by it whether it is learned.

    >>> Tensor([1.0]).requires_grad_().tolist()
    [1.0]
    """
    if hasattr(self, "requires_grad"):
        self.requires_grad = truth("requires_grad_", "requires_grad", requires_grad)
    elif not truth("requires_grad_", "requires_grad", requires_grad):
        raise ArgumentError(
            "a Tensor is differentiated by who asks: only a Parameter is told", hint="use stop_gradient"
        )
    return self


# ----------------------------------------------------------------------------------------------------- complex numbers


def _turned(self: Tensor) -> Tensor:
    if self.ndim != 2:
        raise ShapeError(f"H is asked of matrices, not of shape {self.shape}", hint="use mH for batches of them")
    return p.conj(p.transpose(self))


def _all_turned(self: Tensor) -> Tensor:
    return p.conj(p.adjoint(self))


setattr(Tensor, "H", property(_turned, doc="The conjugate, rows and columns exchanged."))  # noqa: B010  # types are in signatures.py
setattr(Tensor, "mH", property(_all_turned, doc="The conjugate, the last two axes exchanged."))  # noqa: B010
