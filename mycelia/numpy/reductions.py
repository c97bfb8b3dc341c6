"""Numbers that stand for many, along axes: sums, means, extremes, and running sums and products."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import inf
from math import prod as _product
from typing import Any

from mycelia import checks, ops
from mycelia import primitives as p
from mycelia.eager import Tensor, as_dtype, cast, floating
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import iinfo, in_type
from mycelia.numpy.shapes import ravel
from mycelia.ops.arguments import Axis, axes_of, axis_of
from mycelia.ops.math import squared, truth
from mycelia.sizes import Sym
from mycelia.types import DType, bool_, float32, int64, uint64

__all__ = [
    "all",
    "alltrue",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "sometrue",
    "std",
    "sum",
    "var",
]


def axes_to_fold(x: Tensor, axis: Axis) -> tuple[int, ...]:
    """The axes that are folded, from the front: all of them for None, and none for ().

    >>> axes_to_fold(Tensor([[1]]), -1), axes_to_fold(Tensor([[1]]), ())
    ((1,), ())
    """
    return () if isinstance(axis, tuple | list) and not axis else axes_of(x, axis)


def folded_shape(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape that is left when axes are folded.

    >>> folded_shape(Tensor([[1, 2]]), (1,), True)
    (1, 1)
    """
    checks.truth("a reduction", "keepdims", keepdims)
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)


def extreme_of(dtype: DType, largest: bool) -> Any:
    """The largest or the smallest number of an element type.

    >>> from mycelia.types import int8
    >>> extreme_of(int8, True), extreme_of(float32, False)
    (127, -inf)
    """
    if dtype is bool_:
        return largest
    if dtype.is_float:
        return inf if largest else -inf
    return iinfo(dtype).max if largest else iinfo(dtype).min


def summed_type(x: Tensor, dtype: Any) -> DType:
    """The element type in which numbers are added up: whole ones in 64 bits, so that the sum fits.

    >>> summed_type(Tensor([1], "int8"), None), summed_type(Tensor([1.0]), None)
    (int64, float32)
    """
    if dtype is not None:
        return as_dtype(dtype)
    return uint64 if x.dtype.kind == "u" else int64 if x.dtype.kind in "bi" else x.dtype


def _masked(x: Tensor, where: Any, otherwise: Any) -> Tensor:
    """Elements, and another number in place of those that do not count."""
    if where is True:
        return x
    return ops.where(where, x, ops.full_like(x, otherwise))


def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    """The sum along axes, of those elements where `where` holds, and `initial`.

    >>> sum([[1.0, 2.0], [3.0, 4.0]], 1).tolist(), sum([1, 2], initial=10).item()
    ([3.0, 7.0], 13)
    """
    x = asarray(a)
    x = _masked(cast(x, summed_type(x, dtype)), where, 0)
    axes = axes_to_fold(x, axis)
    out = p.reduce_sum(x, axes, keepdims) if axes else x + 0
    return out if initial is None else out + initial


def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    """The product along axes, of those elements where `where` holds, and `initial`.

    >>> prod([2.0, 3.0, 4.0]).item()
    24.0
    """
    x = asarray(a)
    x = _masked(cast(x, summed_type(x, dtype)), where, 1)
    axes = axes_to_fold(x, axis)
    out = p.reduce_prod(x, axes, keepdims) if axes else x + 0
    return out if initial is None else out * initial


def _extreme(largest: bool, a: Any, axis: Axis, keepdims: bool, initial: Any, where: Any) -> Tensor:
    x = asarray(a)
    if where is not True and initial is None:
        raise ArgumentError("a maximum or minimum with a mask needs an initial number", hint="give `initial`")
    better = ops.maximum if largest else ops.minimum
    x = _masked(x, where, extreme_of(x.dtype, not largest))
    axes = axes_to_fold(x, axis)
    count = _product(x.shape[i] for i in axes)
    if isinstance(count, int) and count == 0:
        if initial is None and _product(folded_shape(x, axes, False)) != 0:
            raise ShapeError(
                "nothing is neither large nor small", given={"shape": x.shape, "axis": axis}, hint="give `initial`"
            )
        shape = folded_shape(x, axes, keepdims)
        return ops.full(shape, extreme_of(x.dtype, False) if initial is None else initial, dtype=x.dtype)
    found = (p.reduce_max if largest else p.reduce_min)(_comparable(x), axes, keepdims) if axes else x.copy()
    found = cast(found, x.dtype)
    return found if initial is None else better(found, initial)


def _comparable(x: Tensor) -> Tensor:
    return cast(x, int64) if x.dtype is bool_ else x


def amax(a: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The largest element along axes, of those where `where` holds, and not below `initial`; nan if one is.

    >>> amax([[1.0, 2.0], [3.0, 0.0]], 1).tolist()
    [2.0, 3.0]
    """
    return _extreme(True, a, axis, keepdims, initial, where)


def amin(a: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The smallest element along axes, of those where `where` holds, and not above `initial`; nan if one is.

    >>> amin([[1.0, 2.0], [3.0, 0.0]], 1).tolist()
    [1.0, 0.0]
    """
    return _extreme(False, a, axis, keepdims, initial, where)


max, min = amax, amin


def ptp(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The distance between the largest and the smallest element.

    >>> ptp([1.0, 4.0]).item()
    3.0
    """
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def mean(a: Any, axis: Axis = None, keepdims: bool = False, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The arithmetic mean along axes, of those elements where `where` holds.

    >>> mean([1.0, 2.0, 6.0]).item()
    3.0
    """
    x = asarray(a)
    exact = floating(x.dtype) if dtype is None or not as_dtype(dtype).is_float else as_dtype(dtype)
    x = cast(x, exact)
    axes = axes_to_fold(x, axis)
    if where is not True:
        kept = ops.broadcast_to(truth(where), x.shape)
        out = sum(x, axes, None, keepdims, where=kept) / sum(kept, axes, exact, keepdims)
    else:
        out = p.mean(x, axes, keepdims) if axes else x + 0
    return in_type(out, dtype)


def _spread(x: Any, axis: Axis, ddof: Any, keepdims: bool, dtype: Any, where: Any, mean_: Any) -> Tensor:
    a = asarray(x)
    exact = floating(a.dtype) if dtype is None else as_dtype(dtype)
    a = cast(a, float32 if exact.bits < 32 else exact if exact.is_complex or not a.dtype.is_complex else a.dtype)
    axes = axes_to_fold(a, axis)
    center = mean(a, axes, True, where=where) if mean_ is None else mean_
    square = squared(a - center)
    if where is True:
        count: Any = _product(a.shape[i] for i in axes) - ddof
        total = sum(square, axes, None, keepdims)
        out = total / (count if isinstance(count, Sym) else Tensor(float(count if count > 0 else 0), total.dtype))
    else:
        kept = ops.broadcast_to(truth(where), a.shape)
        count = ops.maximum(sum(kept, axes, square.dtype, keepdims) - ddof, 0.0)
        out = sum(square, axes, None, keepdims, where=kept) / count
    return cast(out, exact.part if exact.is_complex else exact)


def _correction(ddof: Any, correction: Any) -> Any:
    if correction is not None and ddof != 0:
        raise CallError("ddof and correction are the same", given={"ddof": ddof, "correction": correction})
    return ddof if correction is None else correction


def var(
    x: Any,
    axis: Axis = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Tensor:
    """The variance: the mean square distance from the mean, over n - ddof (also called `correction`).

    >>> var([1.0, 3.0]).item()
    1.0
    """
    return _spread(x, axis, _correction(ddof, correction), keepdims, dtype, where, mean)


def std(
    x: Any,
    axis: Axis = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Tensor:
    """The standard deviation: the root of the variance.

    >>> std([1.0, 3.0]).item()
    1.0
    """
    spread = _spread(x, axis, _correction(ddof, correction), keepdims, dtype, where, mean)
    return _root(spread)


def _root(spread: Tensor) -> Tensor:
    """The square root; where nothing is spread it has a corner, and the derivative there is 0."""
    nothing = spread == 0
    return ops.where(nothing, spread, ops.sqrt(ops.where(nothing, ops.ones_like(spread), spread)))


# -------------------------------------------------------------------------------------------------- truth and places


def all(a: Any, axis: Axis = None, keepdims: bool = False, *, where: Any = True) -> Tensor:
    """Whether all elements are true, or not zero; of those where `where` holds.

    >>> all([True, False]).item()
    False
    """
    x = truth(asarray(a))
    x = x if where is True else ops.logical_or(x, ops.logical_not(where))
    axes = axes_to_fold(x, axis)
    return p.reduce_all(x, axes, keepdims) if axes else x.alias()


def any(a: Any, axis: Axis = None, keepdims: bool = False, *, where: Any = True) -> Tensor:
    """Whether any element is true, or not zero; of those where `where` holds.

    >>> any([True, False]).item()
    True
    """
    x = truth(asarray(a))
    x = x if where is True else ops.logical_and(x, where)
    axes = axes_to_fold(x, axis)
    return p.reduce_any(x, axes, keepdims) if axes else x.alias()


alltrue, sometrue = all, any


def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero.

    >>> count_nonzero([0, 3, 4]).item()
    2
    """
    return sum(truth(asarray(x)), axis, int64, keepdims)


def _place(function: Any, a: Any, axis: int | None, keepdims: bool) -> Tensor:
    checks.truth("a position", "keepdims", keepdims)
    x = asarray(a)
    if (x.size if axis is None else x.shape[axis_of(x, axis)]) == 0:
        raise ShapeError("nothing is neither large nor small", given={"shape": x.shape, "axis": axis})
    x = _comparable(x)
    if axis is None:
        out = function(ravel(x), 0)
        return cast(ops.reshape(out, (1,) * x.ndim) if keepdims else out, int64)
    place = axis_of(x, axis)
    out = cast(function(x, place), int64)
    return ops.expand_dims(out, place) if keepdims else out


def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Where the largest element is: along an axis, or in the flattened array. The first of several.

    >>> argmax([1.0, 5.0, 2.0]).item()
    1
    """
    return _place(p.arg_max, a, axis, keepdims)


def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Where the smallest element is: along an axis, or in the flattened array. The first of several.

    >>> argmin([[1, 2], [4, 3]], 1).tolist()
    [0, 1]
    """
    return _place(p.arg_min, a, axis, keepdims)


# -------------------------------------------------------------------------------------------------------- running


def _along(a: Any, axis: int | None) -> tuple[Tensor, int]:
    x = asarray(a)
    if axis is None:
        return ravel(x), 0
    return x, axis_of(x, axis)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along an axis, or of the flattened array.

    >>> cumsum([1, 2, 3]).tolist()
    [1, 3, 6]
    """
    x, place = _along(a, axis)
    return p.cumsum(cast(x, summed_type(x, dtype)), place)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running product along an axis, or of the flattened array.

    >>> cumprod([1.0, 2.0, 3.0]).tolist()
    [1.0, 2.0, 6.0]
    """
    x, place = _along(a, axis)
    return ops.cumprod(cast(x, summed_type(x, dtype)), place)


def _cumulative(running: Any, first: int, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Tensor:
    a = asarray(x)
    if axis is None and a.ndim != 1:
        raise CallError("an array of several axes needs the axis along which it runs", given={"shape": a.shape})
    place = axis_of(a, 0 if axis is None else axis)
    out = running(a, place, dtype)
    if not include_initial:
        return out
    head = ops.full((*a.shape[:place], 1, *a.shape[place + 1 :]), first, dtype=out.dtype)
    return ops.cat([head, out], place)


def cumulative_sum(x: Any, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """The running sum along an axis; with `include_initial`, from 0.

    >>> cumulative_sum([1, 2, 3], include_initial=True).tolist()
    [0, 1, 3, 6]
    """
    return _cumulative(cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x: Any, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """The running product along an axis; with `include_initial`, from 1.

    >>> cumulative_prod([1, 2, 3]).tolist()
    [1, 2, 6]
    """
    return _cumulative(cumprod, 1, x, axis, dtype, include_initial)
