"""How far the edges of two shapes are from each other, in pictures or volumes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.train.metrics.metric import Metric, rearrange_inputs, same_shape
from mycelia.types import Array

DISTANCES = {
    "euclidean": lambda gap: np.sqrt(np.square(gap).sum(-1)),
    "chessboard": lambda gap: np.abs(gap).max(-1),
    "taxicab": lambda gap: np.abs(gap).sum(-1),
}
BLOCK = 1 << 20  # pairs of points whose distances are computed together


class _Edges(Metric):
    """The edges of what has a label in the last two pictures."""

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        if distance_metric not in DISTANCES:
            raise ArgumentError(f"distance_metric is one of {', '.join(DISTANCES)}, not {distance_metric!r}")
        self.distance_metric = distance_metric
        self.clear()

    def clear(self) -> None:
        self.edges: tuple[Array, Array] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        if len(inputs) != 3:
            raise ArgumentError(
                f"{type(self).__name__} takes a prediction, the truth and a label, and got {len(inputs)} inputs"
            )
        label = inputs[2]
        if isinstance(label, bool) or not isinstance(label, int | float | np.integer | np.floating):
            raise ArgumentError(f"the label is a number, not {label!r}")
        said, true = self._taken(inputs[:2], "prediction", "truth")
        same_shape(self, said, true)
        said, true = (a if a.dtype == bool else a == label for a in (said, true))
        if not said.any() and not true.any():
            raise ArgumentError(f"the label {label} is in neither of the two pictures")
        self.edges = self.outlined(said, true)

    def outlined(self, said: Array, true: Array) -> tuple[Array, Array]:
        return outline(said), outline(true)

    def between(self, backwards: bool = False) -> Array:
        """From each point of an edge the way to the nearest of the other one."""
        self._measured(self.edges is not None)
        assert self.edges is not None, "asked before"
        start, end = self.edges[::-1] if backwards else self.edges
        return nearest_distances(start, end, self.distance_metric)


def outline(shape: Array) -> Array:
    """The points of a shape that have a neighbour, along an axis, outside; beyond the picture all is outside.

    >>> outline(np.ones((3, 3), bool)).astype(int)
    array([[1, 1, 1],
           [1, 0, 1],
           [1, 1, 1]])
    """
    inside = shape.copy()
    padded = np.pad(shape, 1)
    for axis in range(shape.ndim):
        for step in (0, 2):
            window = [slice(1, -1)] * shape.ndim
            window[axis] = slice(step, step + shape.shape[axis])
            inside &= padded[tuple(window)]
    return np.asarray(shape & ~inside)


def nearest_distances(start: Array, end: Array, metric: str) -> Array:
    """From each point of `start` the distance to the nearest point of `end`; infinite if there is none.

    >>> nearest_distances(np.array([1, 0, 0], bool), np.array([0, 0, 1], bool), "taxicab")
    array([2.])
    """
    here, there = np.argwhere(start), np.argwhere(end)
    if not len(there):
        return np.full(len(here), np.inf)
    size = max(1, BLOCK // len(there))
    parts = [here[i : i + size, None] - there[None] for i in range(0, len(here), size)]
    return np.concatenate([DISTANCES[metric](p).min(1).astype(float) for p in parts] or [np.zeros(0)])


class HausdorffDistance(_Edges):
    """The longest way from a point of one edge to the nearest of the other; of the last pictures given.

    `percentile` takes that share of the ways instead of the longest; `directed` looks from the prediction only; with
    `crop` the picture ends where both shapes do.

    >>> metric = HausdorffDistance()
    >>> metric.update(np.array([[1, 0, 0]]), np.array([[0, 0, 1]]), 1)
    >>> metric.eval()
    2.0
    """

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool = False,
        crop: bool = True,
    ) -> None:
        if percentile is not None and (isinstance(percentile, bool) or not 0 <= percentile <= 100):
            raise ArgumentError(f"percentile is a number from 0 to 100, not {percentile!r}")
        super().__init__(distance_metric)
        self.percentile, self.directed, self.crop = percentile, bool(directed), bool(crop)

    def outlined(self, said: Array, true: Array) -> tuple[Array, Array]:
        if self.crop:
            places = np.argwhere(said | true)
            box = tuple(slice(a, b + 1) for a, b in zip(places.min(0), places.max(0), strict=True))
            said, true = said[box].squeeze(), true[box].squeeze()
            said, true = np.atleast_1d(said), np.atleast_1d(true)
        return outline(said), outline(true)

    def eval(self) -> float:
        ways = [self._longest(self.between())]
        if not self.directed:
            ways.append(self._longest(self.between(backwards=True)))
        return max(ways)

    def _longest(self, distances: Array) -> float:
        if not distances.size:
            return float("inf")
        return float(distances.max() if self.percentile is None else np.percentile(distances, self.percentile))


class MeanSurfaceDistance(_Edges):
    """The mean way from a point of the predicted edge to the true one; of the last pictures given.

    `symmetric` gives the mean of it and of the way back.

    >>> metric = MeanSurfaceDistance()
    >>> metric.update(np.array([[1, 1, 0]]), np.array([[0, 1, 1]]), 1)
    >>> metric.eval()
    0.5
    """

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = bool(symmetric)

    def eval(self) -> float:
        ways = [self.between()]
        if self.symmetric:
            ways.append(self.between(backwards=True))
        if not all(w.size for w in ways):
            return float("inf")
        return self.mean(ways)

    def mean(self, ways: list[Array]) -> float:
        return float(np.mean([w.mean() for w in ways]))


class RootMeanSquareDistance(MeanSurfaceDistance):
    """The root of the mean square of the ways from a point of the predicted edge to the true one.

    >>> metric = RootMeanSquareDistance()
    >>> metric.update(np.array([[1, 1, 1, 0]]), np.array([[0, 0, 1, 1]]), 1)
    >>> round(metric.eval(), 4)
    1.291
    """

    def mean(self, ways: list[Array]) -> float:
        return float(np.sqrt(np.mean([np.square(w).mean() for w in ways])))
