"""Functions that reduce or accumulate along axes, with dim and keepdim instead of axis and keep_dims."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code="no-any-return, no-untyped-call"

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "nansum",
    "norm",
    "prod",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]


def cast(x: Any, dtype: Any) -> Any:
    """A tensor of another element type, if one is asked for."""
    return x if dtype is None else x.astype(dtype)


def _wide(x: Tensor, dtype: Any) -> Any:
    return dtype if dtype is not None or x.dtype.is_float else "int64"


def places(found: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Numbers and where they were found, as whole numbers of 64 bits."""
    return found[0], found[1].astype("int64")


def _extreme(two: Any, one: Any, pair: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    truth("an extreme", "keepdim", keepdim)
    if isinstance(dim, Tensor):
        return two(input, dim)
    return one(input) if dim is None else pair(input, dim, keepdim)


def _median(input: Any, dim: Any, keepdim: bool) -> Any:
    truth("median", "keepdim", keepdim)
    if dim is None:
        return ops.median(input.reshape(-1), -1)[0]
    return places(ops.median(input, dim, keepdim))


def _norm(input: Any, order: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    x = cast(input, dtype)
    return ops.vector_norm(x, 2.0 if order in ("fro", None) else order, dim, keepdim)


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements along axes are true, or not zero.

    >>> all(Tensor([True, False])).item()
    False
    """
    return ops.all(input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether any element along axes is true, or not zero.

    >>> any(Tensor([True, False])).item()
    True
    """
    return ops.any(input, dim, keepdim)


def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest element along axes.

    >>> amax(Tensor([1.0, 3.0])).item()
    3.0
    """
    return ops.amax(input, dim, keepdim)


def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest element along axes.

    >>> amin(Tensor([1.0, 3.0])).item()
    1.0
    """
    return ops.amin(input, dim, keepdim)


def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Where the largest element is: along an axis, or in the flattened tensor.

    >>> argmax(Tensor([1.0, 3.0])).item()
    1
    """
    return ops.argmax(input, dim, keepdim)


def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Where the smallest element is: along an axis, or in the flattened tensor.

    >>> argmin(Tensor([1.0, 3.0])).item()
    0
    """
    return ops.argmin(input, dim, keepdim).astype("int64")


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements along axes are not zero.

    >>> count_nonzero(Tensor([0, 2])).item()
    1
    """
    return ops.count_nonzero(input, dim, dtype="int64")


def cummax(input: Any, dim: Any) -> Any:
    """The largest element so far along an axis, and where it is.

    >>> cummax(Tensor([1, 3, 2]), 0)[0].tolist()
    [1, 3, 3]
    """
    return ops.cummax(input, dim)


def cummin(input: Any, dim: Any) -> Any:
    """The smallest element so far along an axis, and where it is.

    >>> cummin(Tensor([1, 3, 2]), 0)[0].tolist()
    [1, 1, 1]
    """
    return ops.cummin(input, dim)


def cumsum(input: Any, dim: Any, dtype: Any = None) -> Any:
    """The running sum along an axis; that of whole numbers is int64.

    >>> cumsum(Tensor([1, 2]), 0).tolist()
    [1, 3]
    """
    return ops.cumsum(input, dim, _wide(input, dtype))


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow.

    >>> logsumexp(Tensor([0.0]), 0).item()
    0.0
    """
    return ops.logsumexp(input, dim, keepdim)


def max(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element; along an axis, also where it is; or the larger of two tensors.

    >>> max(Tensor([1.0, 3.0])).item()
    3.0
    """
    return _extreme(ops.maximum, ops.amax, ops.max, input, dim, keepdim)


def min(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element; along an axis, also where it is; or the smaller of two tensors.

    >>> min(Tensor([1.0, 3.0])).item()
    1.0
    """
    return _extreme(ops.minimum, ops.amin, ops.min, input, dim, keepdim)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The arithmetic mean along axes.

    >>> mean(Tensor([1.0, 3.0])).item()
    2.0
    """
    return ops.mean(cast(input, dtype), dim, keepdim)


def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The middle one of the elements; along an axis, also where it is.

    >>> median(Tensor([3.0, 1.0, 2.0])).item()
    2.0
    """
    return _median(input, dim, keepdim)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of the elements that are numbers.

    >>> nansum(Tensor([1.0, float("nan")])).item()
    1.0
    """
    return ops.nansum(input, dim, keepdim, dtype=dtype)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The length of vectors along axes, by the norm of an order.

    >>> norm(Tensor([3.0, 4.0])).item()
    5.0
    """
    return _norm(input, p, dim, keepdim, dtype)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product along axes; that of whole numbers is int64.

    >>> prod(Tensor([2.0, 3.0])).item()
    6.0
    """
    return ops.prod(input, dim, keepdim, dtype)


def std(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    """The standard deviation along axes, over n - correction.

    >>> round(std(Tensor([1.0, 3.0])).item(), 4)
    1.4142
    """
    return ops.std(input, dim, correction, keepdim)


def std_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    """The standard deviation and the mean along axes.

    >>> std_mean(Tensor([1.0, 3.0]))[1].item()
    2.0
    """
    return ops.std_mean(input, dim, correction, keepdim)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum along axes; that of whole numbers is int64.

    >>> sum(Tensor([1, 2])).item()
    3
    """
    return ops.sum(input, dim, keepdim, dtype=dtype)


def var(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    """The variance along axes, over n - correction.

    >>> var(Tensor([1.0, 3.0])).item()
    2.0
    """
    return ops.var(input, dim, correction, keepdim)


def var_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    """The variance and the mean along axes.

    >>> var_mean(Tensor([1.0, 3.0]))[0].item()
    2.0
    """
    return ops.var_mean(input, dim, correction, keepdim)
