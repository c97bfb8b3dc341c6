"""Sums, means, extremes and other numbers that stand for many, along axes."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod as product
from typing import Any

from mycelia import checks
from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.eager import Tensor, as_dtype, cast, common
from mycelia.ops.arguments import Axis, axes_of, axis_of, floated, method, number, tensor
from mycelia.ops.math import length, squared, truth
from mycelia.types import bool_, float32, int32, int64

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "prod",
    "ptp",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]


def _accumulating(x: Tensor, dtype: Any) -> Tensor:
    """Whole numbers are summed as int64, so that the sum fits."""
    if dtype is not None:
        return cast(x, as_dtype(dtype))
    return x if x.dtype.is_inexact or (x.dtype.kind == "u" and x.dtype.bits > 16) else cast(x, int64)


def sum(input: Any, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum along axes.

    >>> sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), 1).tolist()
    [3.0, 7.0]
    """
    x = _accumulating(tensor(input), dtype)
    return p.reduce_sum(x, None if dim is None else axes_of(x, dim), keepdim)


def mean(x: Any, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """The arithmetic mean along axes; that of whole numbers is whole, rounded towards zero.

    >>> mean(Tensor([1.0, 2.0, 6.0])).item(), mean(Tensor([1, 2])).item()
    (3.0, 1)
    """
    x = tensor(x)
    axes = axes_of(x, axis)
    if not x.dtype.is_integer:
        return p.mean(floated(x), axes, keep_dims)
    total = p.reduce_sum(cast(x, int64), axes, keep_dims)
    count = p.full(product(x.shape[a] for a in axes), int64, ())
    return cast(p.sign(total) * p.floor_divide(p.abs(total), count), x.dtype)


def prod(input: Any, axis: Axis = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """The product along axes.

    >>> prod(Tensor([2.0, 3.0, 4.0])).item()
    24.0
    """
    x = _accumulating(tensor(input), dtype)
    return p.reduce_prod(x, axes_of(x, axis), keep_dims)


def amax(input: Any, axis: Axis = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The largest element along axes; of those where `where` holds, and not below `initial`.

    >>> amax(Tensor([[1.0, 2.0], [3.0, 0.0]]), 1).tolist()
    [2.0, 3.0]
    """
    x = _masked(tensor(input), initial, where)
    out = p.reduce_max(x, axes_of(x, axis), keepdims)
    return out if initial is None else p.maximum(out, number(initial, out))


def amin(input: Any, axis: Axis = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The smallest element along axes; of those where `where` holds, and not above `initial`.

    >>> amin(Tensor([[1.0, 2.0], [3.0, 0.0]]), 1).tolist()
    [1.0, 0.0]
    """
    x = _masked(tensor(input), initial, where)
    out = p.reduce_min(x, axes_of(x, axis), keepdims)
    return out if initial is None else p.minimum(out, number(initial, out))


def _masked(x: Tensor, initial: Any, where: Any) -> Tensor:
    if where is None:
        return x
    return p.select(truth(where), x, number(0 if initial is None else initial, x))


def max(
    input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """The largest element along an axis, and where it is. Without an axis: of all, and 0.

    >>> values, positions = max(Tensor([[1.0, 2.0], [3.0, 0.0]]), 1)
    >>> values.tolist(), positions.tolist()
    ([2.0, 3.0], [1, 0])
    """
    return _extreme(amax, argmax, input, axis, keepdims, initial, where)


def min(
    input: Any, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """The smallest element along an axis, and where it is. Without an axis: of all, and 0.

    >>> min(Tensor([[1.0, 2.0], [3.0, 0.0]]), 1)[1].tolist()
    [0, 1]
    """
    return _extreme(amin, argmin, input, axis, keepdims, initial, where)


def _extreme(
    value: Any, position: Any, input: Any, axis: int | None, keepdims: bool, initial: Any, where: Any
) -> tuple[Tensor, Tensor]:
    checks.truth("an extreme", "keepdims", keepdims)
    if axis is None:
        return value(input, axis, initial=initial, where=where), Tensor(0)
    values = value(input, axis, keepdims, initial=initial, where=where)
    x = _masked(tensor(input), initial, where)
    if initial is not None:
        x = (p.maximum if value is amax else p.minimum)(x, number(initial, x))
    return values, cast(position(x, axis, keepdims), int64)


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the largest element is: along an axis, or in the flattened tensor. The first of several.

    >>> argmax(Tensor([1.0, 5.0, 2.0])).item(), argmax(Tensor([[1, 2], [4, 3]]), 1).tolist()
    (1, [1, 0])
    """
    return cast(_position(p.arg_max, tensor(input), dim, keepdim), int64)


def argmin(input: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element is: along an axis, or in the flattened tensor. The first of several.

    >>> argmin(Tensor([[1, 2], [4, 3]]), 1).tolist()
    [0, 1]
    """
    return _position(p.arg_min, tensor(input), axis, keepdims)


def _position(function: Any, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    x = cast(x, int32) if x.dtype is bool_ else x
    checks.truth("a position", "keepdims", keepdims)
    if axis is None:
        out = function(p.reshape(x, (x.size,)), 0)
        return p.reshape(out, (1,) * x.ndim) if keepdims else out
    place = axis_of(x, axis)
    out = function(x, place)
    return p.expand_dims(out, (place,)) if keepdims else out


def all(input: Any, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Whether all elements are true, or not zero.

    >>> all(Tensor([True, False])).item()
    False
    """
    x = truth(input)
    return p.reduce_all(x, axes_of(x, axis), keep_dims)


def any(input: Any, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Whether any element is true, or not zero.

    >>> any(Tensor([True, False])).item()
    True
    """
    x = truth(input)
    return p.reduce_any(x, axes_of(x, axis), keep_dims)


@method()
def count_nonzero(x: Any, axis: Axis = None, keep_dims: bool = False, dtype: Any = int32) -> Tensor:
    """How many elements are not zero.

    >>> count_nonzero(Tensor([0, 3, 4])).item()
    2
    """
    flags = cast(truth(x), as_dtype(dtype))
    return p.reduce_sum(flags, axes_of(flags, axis), keep_dims)


@fused
def var_mean(input: Any, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The variance (the mean square distance from the mean, over n - ddof) and the mean.

    >>> [t.item() for t in var_mean(Tensor([1.0, 3.0]))]
    [1.0, 2.0]
    """
    x = floated(input)
    if x.dtype.bits < 32:  # squares of half-precision numbers soon leave their range
        spread, center = var_mean(cast(x, float32), axis, ddof, keepdims)
        return cast(spread, x.dtype), cast(center, x.dtype)
    axes = axes_of(x, axis)
    center = p.mean(x, axes, True)
    away = x - center
    count = product(x.shape[a] for a in axes)
    spread = p.reduce_sum(squared(away), axes, keepdims) * p.one_over(count - int(ddof), x.dtype.part)
    return spread, center if keepdims else p.reshape(center, spread.shape)


@method()
@fused
def var(input: Any, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """The variance: the mean square distance from the mean, over n - ddof.

    >>> var(Tensor([1.0, 3.0])).item()
    1.0
    """
    return var_mean(input, axis, ddof, keepdims)[0]


@method()
@fused
def std(input: Any, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation: the root of the variance.

    >>> std(Tensor([1.0, 3.0])).item()
    1.0
    """
    return std_mean(input, axis, ddof, keepdims)[0]


@fused
def std_mean(input: Any, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean.

    >>> [t.item() for t in std_mean(Tensor([1.0, 3.0]))]
    [1.0, 2.0]
    """
    x = floated(input)
    spread, center = var_mean(cast(x, float32) if x.dtype.bits < 32 else x, axis, ddof, keepdims)
    return cast(length(spread), x.dtype.part), cast(center, x.dtype)


@method()
@fused
def logsumexp(input: Any, dim: Axis, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials, without overflow.

    >>> logsumexp(Tensor([0.0, 0.0]), 0).item() > 0.69
    True
    """
    x = floated(input)
    axes = axes_of(x, dim)
    checks.truth("logsumexp", "keepdim", keepdim)
    top = p.stop_gradient(p.reduce_max(x, axes, True))
    top = p.select(p.is_finite(top), top, number(0, top))  # inf - inf would be nan
    out = p.log(p.reduce_sum(p.exp(x - top), axes, True)) + top
    return out if keepdim else p.reshape(out, tuple(e for a, e in enumerate(x.shape) if a not in axes))


@method()
@fused
def nansum(input: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of the elements that are numbers.

    >>> nansum(Tensor([1.0, float("nan")])).item()
    1.0
    """
    x = tensor(input)
    if not x.dtype.is_inexact:
        return sum(x, axis, keepdims, dtype=dtype)  # all of them are numbers
    return sum(p.select(p.is_nan(x), number(0, x), x), axis, keepdims, dtype=dtype)


@method()
@fused
def nanmean(input: Any, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are numbers.

    >>> nanmean(Tensor([1.0, 3.0, float("nan")])).item()
    2.0
    """
    x = floated(input)
    counted = cast(p.logical_not(p.is_nan(x)), x.dtype)
    out = nansum(x, axis, keepdims) / sum(counted, axis, keepdims)
    return out if dtype is None else cast(out, as_dtype(dtype))


def cumsum(x: Any, axis: int, dtype: Any = None) -> Tensor:
    """The running sum along an axis.

    >>> cumsum(Tensor([1, 2, 3]), 0).tolist()
    [1, 3, 6]
    """
    x = tensor(x)
    if dtype is not None:
        x = cast(x, as_dtype(dtype))
    elif not x.dtype.is_inexact:
        x = cast(x, common(x.dtype, int32) if x.dtype.kind != "u" else x.dtype)
    return p.cumsum(x, axis_of(x, axis))


@method("cumsum")
def tensor_cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along an axis; of all elements, one row after the other, if none is given.

    >>> Tensor([[1, 2], [3, 4]]).cumsum().tolist()
    [1, 3, 6, 10]
    """
    return cumsum(x, axis, dtype) if axis is not None else cumsum(p.reshape(tensor(x), (-1,)), 0, dtype)


@method()
def cumprod(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The running product along an axis.

    >>> cumprod(Tensor([1.0, 2.0, 3.0]), 0).tolist()
    [1.0, 2.0, 6.0]
    """
    x = tensor(input) if dtype is None else cast(tensor(input), as_dtype(dtype))
    axis, size = axis_of(x, dim), 1
    while size < x.shape[axis]:  # doubling: each element times the product that ends `size` places before it
        low = [size if a == axis else 0 for a in range(x.ndim)]
        before = p.pad(p.take(x, axis, 0, x.shape[axis] - size), low, [0] * x.ndim, 1)
        x, size = x * before, 2 * size
    return x if size > 1 else x.alias()


@method()
def ptp(input: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The distance between the largest and the smallest element.

    >>> ptp(Tensor([1.0, 4.0])).item()
    3.0
    """
    return amax(input, axis, keepdims) - amin(input, axis, keepdims)


reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min = sum, mean, prod, amax, amin
reduce_all, reduce_any = all, any
