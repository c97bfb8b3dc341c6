"""Measurements of images: sums, means, extremes of labelled parts, by SciPy's names."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import floated
from mycelia.types import float64

__all__ = ["center_of_mass", "maximum", "mean", "minimum", "real", "standard_deviation", "sum_labels", "variance"]


def real(input: Any) -> Tensor:
    """An image in which sums are exact enough: whole numbers in double precision."""
    x = asarray(input)
    return x if x.dtype.is_float or x.dtype.kind == "c" else cast(x, float64)


def _labelled(labels: Any, index: Any, shape: Any) -> tuple[Tensor, bool]:
    """For each label that is asked for, where it stands: along a first axis; and whether one is asked for alone."""
    if labels is None:
        if index is not None:
            raise ArgumentError("an index chooses among labels, and there are none")
        return ops.ones((1, *shape), float64), True
    marks = asarray(labels)
    if index is None:
        return ops.expand_dims(ops.cast(ops.not_equal(marks, 0), float64), 0), True
    wanted = asarray(index)
    flat = ops.reshape(wanted, (-1, *[1] * marks.ndim))
    return ops.cast(ops.equal(ops.expand_dims(marks, 0), cast(flat, marks.dtype)), float64), not wanted.ndim


def _sums(x: Tensor, belongs: Tensor) -> Tensor:
    return ops.sum(belongs * cast(x, float64), tuple(range(1, belongs.ndim)))


def _alone(found: Tensor, alone: bool) -> Tensor:
    return found[0] if alone else found


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Tensor:
    """The sum of an image, or of what has these labels.

    >>> sum_labels([1.0, 2.0, 4.0], [1, 1, 2], [1, 2]).tolist()
    [3.0, 4.0]
    """
    x = asarray(input)
    belongs, alone = _labelled(labels, index, x.shape)
    return _alone(_sums(x, belongs), alone)


def mean(input: Any, labels: Any = None, index: Any = None) -> Tensor:
    """The mean of an image, or of what has these labels.

    >>> mean([1.0, 2.0, 4.0], [1, 1, 2], [1, 2]).tolist()
    [1.5, 4.0]
    """
    x = asarray(input)
    belongs, alone = _labelled(labels, index, x.shape)
    return _alone(_sums(x, belongs) / _sums(ops.ones_like(x), belongs), alone)


def variance(input: Any, labels: Any = None, index: Any = None) -> Tensor:
    """The variance of an image, or of what has these labels.

    >>> variance([1.0, 3.0, 4.0], [1, 1, 2], [1, 2]).tolist()
    [1.0, 0.0]
    """
    x = cast(asarray(input), float64)
    belongs, alone = _labelled(labels, index, x.shape)
    count = _sums(ops.ones_like(x), belongs)
    level = ops.reshape(_sums(x, belongs) / count, (-1, *[1] * x.ndim))
    away = ops.expand_dims(x, 0) - level
    return _alone(ops.sum(belongs * away * away, tuple(range(1, belongs.ndim))) / count, alone)


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Tensor:
    """The standard deviation of an image, or of what has these labels.

    >>> standard_deviation([1.0, 3.0, 4.0], [1, 1, 2], [1, 2]).tolist()
    [1.0, 0.0]
    """
    square = variance(input, labels, index)
    nothing = ops.equal(square, 0.0)
    return ops.where(nothing, square, ops.sqrt(ops.where(nothing, ops.ones_like(square), square)))


def _end(input: Any, labels: Any, index: Any, largest: bool) -> Tensor:
    x = asarray(input)
    belongs, alone = _labelled(labels, index, x.shape)
    wide = cast(ops.expand_dims(x, 0), float64) + ops.zeros_like(belongs)
    limit = float("-inf") if largest else float("inf")
    kept = ops.where(belongs > 0, wide, ops.zeros_like(wide) + limit)
    found = (ops.amax if largest else ops.amin)(kept, tuple(range(1, belongs.ndim)))
    return cast(_alone(found, alone), x.dtype)


def maximum(input: Any, labels: Any = None, index: Any = None) -> Tensor:
    """The largest number of an image, or of what has these labels.

    >>> maximum([1.0, 3.0, 4.0], [1, 1, 2], [1, 2]).tolist()
    [3.0, 4.0]
    """
    return _end(input, labels, index, True)


def minimum(input: Any, labels: Any = None, index: Any = None) -> Tensor:
    """The smallest number of an image, or of what has these labels.

    >>> minimum([1.0, 3.0, 4.0], [1, 1, 2], [1, 2]).tolist()
    [1.0, 4.0]
    """
    return _end(input, labels, index, False)


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Where the weight of an image, or of what has these labels, lies on average: a number for each axis.

    >>> [v.item() for v in center_of_mass([[0.0, 2.0], [0.0, 2.0]])]
    [0.5, 1.0]
    """
    x = cast(floated(asarray(input)), float64)
    belongs, alone = _labelled(labels, index, x.shape)
    whole = _sums(x, belongs)
    grids = [Tensor(g.astype("float64")) for g in numpy.indices(x.shape)]
    found = [_sums(x * g, belongs) / whole for g in grids]
    if alone:
        return tuple(f[0] for f in found)
    return [tuple(f[i] for f in found) for i in range(whole.shape[0])]
