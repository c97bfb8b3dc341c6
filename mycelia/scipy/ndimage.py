"""Images of any number of axes, by SciPy's names: filters, shapes and measurements.

Beyond an image lies, by its `mode`, its mirror image ("reflect": d c b a | a b c d; "mirror": d c b | a b c d), its
edge ("nearest"), its other end ("wrap"), or a number ("constant").
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import boundary as _boundary
from mycelia.numpy.creation import asarray
from mycelia.numpy.padding import pad
from mycelia.ops.arguments import axes_of, axis_of
from mycelia.scipy.measurements import (
    center_of_mass,
    maximum,
    mean,
    minimum,
    real,
    standard_deviation,
    sum_labels,
    variance,
)
from mycelia.types import float64

__all__ = [
    "binary_closing", "binary_dilation", "binary_erosion", "binary_opening", "center_of_mass", "convolve", "convolve1d",
    "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude",
    "gaussian_laplace", "generate_binary_structure", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening",
    "laplace", "maximum", "maximum_filter", "maximum_filter1d", "mean", "median_filter", "minimum", "minimum_filter",
    "minimum_filter1d", "percentile_filter", "prewitt", "rank_filter", "sobel", "standard_deviation", "sum_labels",
    "uniform_filter", "uniform_filter1d", "variance",
]  # fmt: skip

_MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip


def _widened(x: Tensor, around: Sequence[tuple[int, int]], mode: Any, cval: float) -> Tensor:
    """An image with what lies beyond it."""
    modes = [mode] * x.ndim if isinstance(mode, str) else list(mode)
    for axis, (one, sides) in enumerate(zip(modes, around, strict=True)):
        if one not in _MODES:
            raise ArgumentError(f"there is no mode {one!r}", hint=", ".join(_MODES))
        if sides == (0, 0):
            continue
        widths = [sides if i == axis else (0, 0) for i in range(x.ndim)]
        if _MODES[one] == "constant":
            x = pad(x, widths, "constant", constant_values=cval)
        else:
            x = pad(x, widths, _MODES[one])
    return x


def _as_given(out: Tensor, input: Any) -> Tensor:
    """The result in the element type of the image, as SciPy has it."""
    dtype = asarray(input).dtype
    return out if dtype.is_float or dtype.kind == "c" else cast(ops.trunc(out), dtype)


# --------------------------------------------------------------------------------------------------------- filters


def _slid(x: Tensor, weights: Any, mode: Any, cval: float, origin: Any, axes: Sequence[int]) -> Tensor:
    """Weights times what lies under them, which are as many as `axes`."""
    sizes = weights.shape
    origins = (origin,) * len(axes) if isinstance(origin, int) else tuple(origin)
    around = [(0, 0)] * x.ndim
    for a, n, o in zip(axes, sizes, origins, strict=True):
        if not -(n // 2) <= o <= (n - 1) // 2:
            raise ArgumentError(f"an origin lies inside of its window of {n}", given={"origin": origin})
        around[a] = (n // 2 + o, n - 1 - n // 2 - o)
    wide = _widened(x, around, mode, cval)
    total: Any = None
    for place in product(*map(range, sizes)):
        cut = [slice(None)] * x.ndim
        for a, i in zip(axes, place, strict=True):
            cut[a] = slice(i, i + x.shape[a])
        part = wide[tuple(cut)] * weights[place]
        total = part if total is None else total + part
    return total


def correlate(input: Any, weights: Any, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0) -> Tensor:
    """Weights slid over an image.

    >>> correlate([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]).tolist()
    [2.0, 3.0, 3.0]
    """
    x, w = real(input), asarray(weights)
    if x.ndim != w.ndim:
        raise ShapeError("weights have as many axes as the image", given={"input": x.shape, "weights": w.shape})
    return _as_given(_slid(x, cast(w, x.dtype), mode, cval, origin, range(x.ndim)), input)


def convolve(input: Any, weights: Any, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0) -> Tensor:
    """Weights slid over an image backwards.

    >>> convolve([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]).tolist()
    [1.0, 1.0, 2.0]
    """
    w = asarray(weights)
    origins = [origin] * w.ndim if isinstance(origin, int) else list(origin)
    turned = [-o - (n % 2 == 0) for o, n in zip(origins, w.shape, strict=True)]
    return correlate(input, ops.flip(w, tuple(range(w.ndim))), mode, cval, turned)


def correlate1d(
    input: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    """Weights slid over an image along one axis.

    >>> correlate1d([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]).tolist()
    [2.0, 3.0, 3.0]
    """
    x, w = real(input), asarray(weights)
    if w.ndim != 1 or not w.shape[0]:
        raise ShapeError("weights are a vector", given={"weights": w.shape})
    return _as_given(_slid(x, cast(w, x.dtype), mode, cval, origin, [axis_of(x, axis)]), input)


def convolve1d(
    input: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    """Weights slid over an image along one axis, backwards.

    >>> convolve1d([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]).tolist()
    [1.0, 1.0, 2.0]
    """
    w = asarray(weights)
    return correlate1d(input, ops.flip(w, (0,)), axis, mode, cval, -origin - (w.shape[0] % 2 == 0))


def _bell(sigma: float, order: int, radius: int) -> Any:
    """A bell, or its derivative: the polynomial before it follows from that of one order less."""
    places = numpy.arange(-radius, radius + 1)
    square = sigma * sigma
    bell = numpy.exp(-0.5 / square * places**2)
    bell = bell / bell.sum()
    poly = numpy.zeros(order + 1)
    poly[0] = 1
    step = numpy.diag(numpy.arange(1, order + 1), 1) + numpy.diag(numpy.ones(order) / -square, -1)
    for _ in range(order):
        poly = step.dot(poly)
    return (places[:, None] ** numpy.arange(order + 1)).dot(poly) * bell


def gaussian_filter1d(
    input: Any, sigma: float, axis: int = -1, order: int = 0, mode: str = "reflect", cval: float = 0.0,
    truncate: float = 4.0, *, radius: int | None = None,
) -> Tensor:  # fmt: skip
    """An image blurred along one axis by a bell, or by a derivative of it.

    >>> gaussian_filter1d([1.0, 1.0, 1.0], 1.0).tolist()
    [1.0, 1.0, 1.0]
    """
    if order < 0:
        raise ArgumentError(f"the order of a derivative is 0 or more, not {order}")
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    weights = _bell(float(sigma), order, reach)[::-1].copy()
    return correlate1d(input, Tensor(weights), axis, mode, cval, 0)


def _each(input: Any, axes: Any) -> tuple[Tensor, tuple[int, ...]]:
    x = asarray(input)
    return x, tuple(range(x.ndim)) if axes is None else axes_of(x, axes)


def _many(value: Any, count: int, name: str) -> list[Any]:
    found = [value] * count if isinstance(value, int | float | str) or value is None else list(value)
    if len(found) != count:
        raise ArgumentError(f"{name} is one for all axes, or one for each of {count}", given={name: value})
    return found


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, mode: Any = "reflect", cval: float = 0.0, truncate: float = 4.0, *,
    radius: Any = None, axes: Any = None,
) -> Tensor:  # fmt: skip
    """An image blurred by a bell, or by a derivative of it.

    >>> gaussian_filter([[1.0, 1.0], [1.0, 1.0]], 1.0).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    x, along = _each(input, axes)
    count = len(along)
    settings = zip(along, _many(sigma, count, "sigma"), _many(order, count, "order"), _many(mode, count, "mode"),
                   _many(radius, count, "radius"), strict=True)  # fmt: skip
    for a, s, o, m, r in settings:
        x = gaussian_filter1d(x, s, a, o, m, cval, truncate, radius=r) if s > 1e-15 else x
    return x


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    """The mean of so many numbers around each, along an axis.

    >>> uniform_filter1d([1.0, 2.0, 3.0], 3).tolist()[1]
    2.0
    """
    if size < 1:
        raise ArgumentError(f"a mean is of one number or more, not {size}")
    return correlate1d(input, Tensor(numpy.full(size, 1.0 / size)), axis, mode, cval, origin)


def uniform_filter(
    input: Any, size: Any = 3, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, *, axes: Any = None
) -> Tensor:
    """The mean of a box around each number.

    >>> uniform_filter([1.0, 2.0, 3.0]).tolist()[1]
    2.0
    """
    x, along = _each(input, axes)
    count = len(along)
    for a, n, m, o in zip(along, _many(size, count, "size"), _many(mode, count, "mode"), _many(origin, count, "origin"),
                          strict=True):  # fmt: skip
        x = uniform_filter1d(x, n, a, m, cval, o) if n > 1 else x
    return x


def _separate(input: Any, axis: int, mode: Any, cval: float, smooth: list[float]) -> Tensor:
    x = asarray(input)
    where = axis_of(x, axis)
    modes = _many(mode, x.ndim, "mode")
    out = correlate1d(x, Tensor([-1.0, 0.0, 1.0], float64), where, modes[where], cval, 0)
    for a in range(x.ndim):
        out = out if a == where else correlate1d(out, Tensor(smooth, float64), a, modes[a], cval, 0)
    return out


def prewitt(input: Any, axis: int = -1, mode: Any = "reflect", cval: float = 0.0) -> Tensor:
    """How an image changes along an axis, by differences that are summed along the others.

    >>> prewitt([1.0, 2.0, 4.0]).tolist()
    [1.0, 3.0, 2.0]
    """
    return _separate(input, axis, mode, cval, [1.0, 1.0, 1.0])


def sobel(input: Any, axis: int = -1, mode: Any = "reflect", cval: float = 0.0) -> Tensor:
    """How an image changes along an axis, by differences that are smoothed along the others.

    >>> sobel([1.0, 2.0, 4.0]).tolist()
    [1.0, 3.0, 2.0]
    """
    return _separate(input, axis, mode, cval, [1.0, 2.0, 1.0])


def laplace(input: Any, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None) -> Tensor:
    """The sum of second differences.

    >>> laplace([0.0, 1.0, 0.0]).tolist()
    [1.0, -2.0, 1.0]
    """
    x, along = _each(input, axes)
    modes = _many(mode, len(along), "mode")
    kernel, total = Tensor([1.0, -2.0, 1.0], float64), ops.zeros_like(x)
    for a, m in zip(along, modes, strict=True):
        total = total + correlate1d(x, kernel, a, m, cval, 0)
    return total


def gaussian_laplace(input: Any, sigma: Any, mode: Any = "reflect", cval: float = 0.0) -> Tensor:
    """The sum of second derivatives of a blurred image.

    >>> gaussian_laplace([1.0, 1.0, 1.0], 1.0).shape
    (3,)
    """
    x = asarray(input)
    parts = [gaussian_filter(x, sigma, [2 if i == a else 0 for i in range(x.ndim)], mode, cval) for a in range(x.ndim)]
    return sum(parts[1:], parts[0])


def gaussian_gradient_magnitude(input: Any, sigma: Any, mode: Any = "reflect", cval: float = 0.0) -> Tensor:
    """How steep a blurred image is.

    >>> gaussian_gradient_magnitude([1.0, 1.0, 1.0], 1.0).shape
    (3,)
    """
    x = asarray(input)
    total: Any = 0.0
    for a in range(x.ndim):
        part = gaussian_filter(x, sigma, [1 if i == a else 0 for i in range(x.ndim)], mode, cval)
        total = total + part * part
    nothing = ops.equal(total, 0)
    return ops.where(nothing, ops.zeros_like(total), ops.sqrt(ops.where(nothing, ops.ones_like(total), total)))


# ---------------------------------------------------------------------------------------------------- order filters


def _window(x: Tensor, size: Any, footprint: Any) -> Any:
    """Which places around a number count."""
    if footprint is not None:
        shape = asarray(footprint).numbers().astype(bool)
        if shape.ndim != x.ndim or not shape.any():
            raise ShapeError("a footprint has as many axes as the image, and a place", given={"footprint": shape.shape})
        return shape
    if size is None:
        raise ArgumentError("a filter needs a size, or a footprint")
    return numpy.ones(_many(size, x.ndim, "size"), bool)


def _around(x: Tensor, shape: Any, mode: Any, cval: float, origin: Any) -> Tensor:
    """The numbers around each, along a last axis."""
    origins = _many(origin, x.ndim, "origin")
    sides = [(n // 2 + o, n - 1 - n // 2 - o) for n, o in zip(shape.shape, origins, strict=True)]
    wide = _widened(x, sides, mode, cval)
    parts = [
        wide[tuple(slice(int(i), int(i) + e) for i, e in zip(place, x.shape, strict=True))]
        for place in numpy.argwhere(shape)
    ]
    return ops.stack(parts, -1)


def _ranked(
    input: Any, rank: Callable[[int], int], size: Any, footprint: Any, mode: Any, cval: float, origin: Any
) -> Tensor:
    x = asarray(input)
    around = _around(x, _window(x, size, footprint), mode, cval, origin)
    return ops.sort(around, -1)[0][..., rank(around.shape[-1])]


def rank_filter(
    input: Any, rank: int, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0,
) -> Tensor:  # fmt: skip
    """The number at a place in the order of those around each; below 0 it counts from the largest.

    >>> rank_filter([1.0, 3.0, 2.0], 0, 3).tolist()
    [1.0, 1.0, 2.0]
    """

    def chosen(count: int) -> int:
        if not -count <= rank < count:
            raise ArgumentError(f"there is no number {rank} among {count}")
        return rank % count

    return _ranked(input, chosen, size, footprint, mode, cval, origin)


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0
) -> Tensor:
    """The median of the numbers around each.

    >>> median_filter([1.0, 9.0, 2.0], 3).tolist()
    [1.0, 2.0, 2.0]
    """
    return _ranked(input, lambda n: n // 2, size, footprint, mode, cval, origin)


def percentile_filter(
    input: Any, percentile: float, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0,
) -> Tensor:  # fmt: skip
    """The number below which a percentage of those around each lies.

    >>> percentile_filter([1.0, 3.0, 2.0], 100, 3).tolist()
    [3.0, 3.0, 3.0]
    """
    share = percentile + 100.0 if percentile < 0 else percentile
    if not 0 <= share <= 100:
        raise ArgumentError(f"a percentage lies between 0 and 100, not at {percentile}")
    return _ranked(
        input, lambda n: n - 1 if share == 100.0 else int(n * share / 100.0), size, footprint, mode, cval, origin
    )  # fmt: skip


def _extreme(name: str, input: Any, size: Any, footprint: Any, mode: Any, cval: float, origin: Any) -> Tensor:
    x = asarray(input)
    around = _around(x, _window(x, size, footprint), mode, cval, origin)
    return (ops.amax if name == "max" else ops.amin)(around, -1)


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0
) -> Tensor:
    """The largest of the numbers around each.

    >>> maximum_filter([1.0, 9.0, 2.0], 3).tolist()
    [9.0, 9.0, 9.0]
    """
    return _extreme("max", input, size, footprint, mode, cval, origin)


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0
) -> Tensor:
    """The smallest of the numbers around each.

    >>> minimum_filter([1.0, 9.0, 2.0], 3).tolist()
    [1.0, 1.0, 2.0]
    """
    return _extreme("min", input, size, footprint, mode, cval, origin)


def _line(input: Any, size: int, axis: int, origin: int) -> tuple[list[int], list[int]]:
    x = asarray(input)
    where = axis_of(x, axis)
    return [size if a == where else 1 for a in range(x.ndim)], [origin if a == where else 0 for a in range(x.ndim)]


def maximum_filter1d(
    input: Any, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    """The largest of the numbers around each, along an axis.

    >>> maximum_filter1d([1.0, 9.0, 2.0], 3).tolist()
    [9.0, 9.0, 9.0]
    """
    sizes, origins = _line(input, size, axis, origin)
    return maximum_filter(input, sizes, None, mode, cval, origins)


def minimum_filter1d(
    input: Any, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    """The smallest of the numbers around each, along an axis.

    >>> minimum_filter1d([1.0, 9.0, 2.0], 3).tolist()
    [1.0, 1.0, 2.0]
    """
    sizes, origins = _line(input, size, axis, origin)
    return minimum_filter(input, sizes, None, mode, cval, origins)


# -------------------------------------------------------------------------------------------------------- morphology


def generate_binary_structure(rank: int, connectivity: int) -> Tensor:
    """The neighbours of a place: those that differ in at most so many axes.

    >>> generate_binary_structure(2, 1).tolist()[0]
    [False, True, False]
    """
    places = numpy.abs(numpy.indices([3] * rank) - 1)
    return Tensor(numpy.asarray(places.sum(0) <= max(connectivity, 1)))


def _structure(x: Tensor, structure: Any) -> Any:
    found = generate_binary_structure(x.ndim, 1) if structure is None else asarray(structure)
    return found.numbers().astype(bool)


def _turned(shape: Any) -> tuple[Any, list[int]]:
    return shape[tuple([slice(None, None, -1)] * shape.ndim)], [-(1 - n % 2) for n in shape.shape]


def _morphed(input: Any, structure: Any, iterations: int, border_value: int, grows: bool) -> Tensor:
    if iterations < 1:
        raise ArgumentError(f"it is done once or more, not {iterations} times", hint="say how often")
    x = asarray(input) != 0
    shape = _structure(x, structure)
    origins = [0] * x.ndim
    if grows:
        shape, origins = _turned(shape)
    for _ in range(iterations):
        around = _around(ops.cast(x, "int32"), shape, "constant", int(bool(border_value)), origins) != 0
        x = ops.any(around, -1) if grows else ops.all(around, -1)
    return x


def binary_dilation(input: Any, structure: Any = None, iterations: int = 1, border_value: int = 0) -> Tensor:
    """Truths, and what is next to one.

    >>> binary_dilation([0, 0, 1, 0]).tolist()
    [False, True, True, True]
    """
    return _morphed(input, structure, iterations, border_value, True)


def binary_erosion(input: Any, structure: Any = None, iterations: int = 1, border_value: int = 0) -> Tensor:
    """Truths, next to which are only others.

    >>> binary_erosion([1, 1, 1, 0]).tolist()
    [False, True, False, False]
    """
    return _morphed(input, structure, iterations, border_value, False)


def binary_opening(input: Any, structure: Any = None, iterations: int = 1) -> Tensor:
    """Truths without what is too small.

    >>> binary_opening([1, 0, 1, 1, 1, 0]).tolist()
    [False, False, True, True, True, False]
    """
    return binary_dilation(binary_erosion(input, structure, iterations), structure, iterations)


def binary_closing(input: Any, structure: Any = None, iterations: int = 1) -> Tensor:
    """Truths with what lies between them.

    >>> binary_closing([0, 1, 0, 1, 0]).tolist()
    [False, True, True, True, False]
    """
    return binary_erosion(binary_dilation(input, structure, iterations), structure, iterations)


def _grey(input: Any, size: Any, footprint: Any, mode: Any, cval: float, grows: bool) -> Tensor:
    x = asarray(input)
    shape = _window(x, size, footprint)
    origins = [0] * x.ndim
    if grows:
        shape, origins = _turned(shape)
    around = _around(x, shape, mode, cval, origins)
    return (ops.amax if grows else ops.amin)(around, -1)


def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0
) -> Tensor:
    """The largest of the numbers around each, seen from them.

    >>> grey_dilation([1.0, 9.0, 2.0], 3).tolist()
    [9.0, 9.0, 9.0]
    """
    return _grey(input, size, footprint, mode, cval, True)


def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0
) -> Tensor:
    """The smallest of the numbers around each.

    >>> grey_erosion([1.0, 9.0, 2.0], 3).tolist()
    [1.0, 1.0, 2.0]
    """
    return _grey(input, size, footprint, mode, cval, False)


def grey_opening(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0
) -> Tensor:
    """An image without peaks that are too small.

    >>> grey_opening([1.0, 9.0, 2.0, 2.0], 3).tolist()
    [1.0, 2.0, 2.0, 2.0]
    """
    return grey_dilation(grey_erosion(input, size, footprint, mode, cval), size, footprint, mode, cval)


def grey_closing(
    input: Any, size: Any = None, footprint: Any = None, mode: Any = "reflect", cval: float = 0.0
) -> Tensor:
    """An image without holes that are too small.

    >>> grey_closing([5.0, 1.0, 5.0, 5.0], 3).tolist()
    [5.0, 5.0, 5.0, 5.0]
    """
    return grey_erosion(grey_dilation(input, size, footprint, mode, cval), size, footprint, mode, cval)


_boundary(globals())
