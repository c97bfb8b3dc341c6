"""Distances between two shapes: there and back, by counting all pairs of points."""

import numpy as np
import pytest

from mycelia.train import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance
from mycelia.train.metrics.surfaces import outline

SEEDS = range(4)


def shapes(seed):
    rng = np.random.default_rng(seed)
    return [(rng.random((7, 9)) < share).astype(int) for share in (0.2, 0.5)]


def ways(a, b):
    """From each point of the outline of `a` the way to the nearest of that of `b`."""
    start, end = (np.argwhere(outline(x == 1)) for x in (a, b))
    return np.sqrt(((start[:, None] - end[None]) ** 2).sum(-1)).min(1)


def measured(metric, a, b):
    metric.update(a, b, 1)
    return metric.eval()


@pytest.mark.parametrize("seed", SEEDS)
def test_one_way_is_the_mean_over_the_points_of_the_first(seed):
    a, b = shapes(seed)
    for first, second in ((a, b), (b, a)):
        there = ways(first, second)
        assert measured(MeanSurfaceDistance(), first, second) == pytest.approx(there.mean())
        assert measured(RootMeanSquareDistance(), first, second) == pytest.approx(np.sqrt((there**2).mean()))


@pytest.mark.parametrize("metric", [MeanSurfaceDistance, RootMeanSquareDistance])
@pytest.mark.parametrize("seed", SEEDS)
def test_both_ways_are_the_same_from_either_side(metric, seed):
    a, b = shapes(seed)
    assert measured(metric(symmetric=True), a, b) == pytest.approx(measured(metric(symmetric=True), b, a))
    assert measured(metric(), a, b) != pytest.approx(measured(metric(), b, a))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_longest_way_of_all(seed):
    a, b = shapes(seed)
    there, back = ways(a, b), ways(b, a)
    assert measured(HausdorffDistance(), a, b) == pytest.approx(max(there.max(), back.max()))
    assert measured(HausdorffDistance(directed=True), a, b) == pytest.approx(there.max())
