"""Reductions that leave out what is not a number."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, as_dtype, cast, floating
from mycelia.errors import ArgumentError
from mycelia.numpy import reductions as r
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import in_type
from mycelia.numpy.logic import isnan
from mycelia.ops.arguments import Axis
from mycelia.ops.math import squared

__all__ = [
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _with(a: Any, number: Any) -> Tensor:
    """The elements, and a number in place of those that are none."""
    x = asarray(a)
    return ops.where(isnan(x), ops.full_like(x, number), x) if x.dtype.kind in "fc" else x


def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Numbers in place of nan (0) and infinities (the largest and the smallest).

    >>> nan_to_num([float("nan"), 1.0]).tolist()
    [0.0, 1.0]
    """
    a = asarray(x)
    return ops.nan_to_num(a, nan, posinf, neginf) if a.dtype.is_inexact else a.alias()


def nansum(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements that are numbers.

    >>> nansum([1.0, float("nan")]).item()
    1.0
    """
    return r.sum(_with(a, 0), axis, dtype, keepdims)


def nanprod(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product of the elements that are numbers.

    >>> nanprod([2.0, float("nan")]).item()
    2.0
    """
    return r.prod(_with(a, 1), axis, dtype, keepdims)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum of the elements that are numbers.

    >>> nancumsum([1.0, float("nan"), 2.0]).tolist()
    [1.0, 1.0, 3.0]
    """
    return r.cumsum(_with(a, 0), axis, dtype)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running product of the elements that are numbers.

    >>> nancumprod([2.0, float("nan"), 2.0]).tolist()
    [2.0, 2.0, 4.0]
    """
    return r.cumprod(_with(a, 1), axis, dtype)


def _extreme(largest: bool, a: Any, axis: Axis, dtype: Any, keepdims: bool) -> Tensor:
    x = asarray(a)
    fold = r.amax if largest else r.amin
    out = fold(_with(x, r.extreme_of(x.dtype, not largest)), axis, keepdims)
    if x.dtype.is_float:  # of no number at all
        out = ops.where(r.all(isnan(x), axis, keepdims), ops.full_like(out, float("nan")), out)
    return in_type(out, dtype)


def nanmax(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The largest of the elements that are numbers.

    >>> nanmax([1.0, float("nan")]).item()
    1.0
    """
    return _extreme(True, a, axis, dtype, keepdims)


def nanmin(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest of the elements that are numbers.

    >>> nanmin([1.0, float("nan")]).item()
    1.0
    """
    return _extreme(False, a, axis, dtype, keepdims)


def _places(largest: bool, a: Any, axis: int | None, keepdims: bool) -> Tensor:
    x = asarray(a)
    place = r.argmax if largest else r.argmin
    if x.dtype.is_float and bool(r.any(r.all(isnan(x), axis)).item()):
        raise ArgumentError("there is no largest or smallest of elements that are all nan", given={"shape": x.shape})
    return place(_with(x, r.extreme_of(x.dtype, not largest)), axis, keepdims=keepdims)


def nanargmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Where the largest of the elements is that are numbers.

    >>> nanargmax([1.0, float("nan"), 3.0]).item()
    2
    """
    return _places(True, a, axis, keepdims)


def nanargmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Where the smallest of the elements is that are numbers.

    >>> nanargmin([float("nan"), 3.0]).item()
    1
    """
    return _places(False, a, axis, keepdims)


def _counted(x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    return r.sum(ops.logical_not(isnan(x)), axis, floating(x.dtype), keepdims)


def nanmean(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The mean of the elements that are numbers.

    >>> nanmean([1.0, 3.0, float("nan")]).item()
    2.0
    """
    x = asarray(a)
    x = cast(x, floating(x.dtype))
    return in_type(nansum(x, axis, None, keepdims) / _counted(x, axis, keepdims), dtype)


def nanvar(a: Any, axis: Axis = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance of the elements that are numbers, over n - ddof.

    >>> nanvar([1.0, 3.0, float("nan")]).item()
    1.0
    """
    x = asarray(a)
    if not x.dtype.is_inexact:
        return r.var(x, axis, ddof, keepdims, dtype=dtype)
    x = x if dtype is None else cast(x, as_dtype(dtype))
    away = x - nanmean(x, axis, None, True)  # infinite ones are no number from here on, and stay
    square = squared(ops.where(isnan(x), ops.zeros_like(away), away))
    count = r.sum(ops.logical_not(isnan(x)), axis, square.dtype, keepdims) - ddof
    out = r.sum(square, axis, None, keepdims) / count
    return ops.where(count > 0, out, ops.full_like(out, float("nan")))


def nanstd(a: Any, axis: Axis = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation of the elements that are numbers.

    >>> nanstd([1.0, 3.0, float("nan")]).item()
    1.0
    """
    return ops.sqrt(nanvar(a, axis, dtype, ddof, keepdims))
