"""Filters and measurements of images are SciPy's; gradients are slopes.

G: (6, 7); T: (3, 4, 5); V: 9 numbers; W: weights; K: (3, 2) weights; I: whole numbers; B: truths; L: labels;
F: a footprint.
"""

import numpy as np
import pytest

from mycelia.scipy import ndimage
from tests.scipy.judged import cases_of, compiled_is_eager, gradients_are_slopes, same_values, smooth_names

rng = np.random.default_rng(4)
ARRAYS = {
    "G": rng.normal(size=(6, 7)), "T": rng.normal(size=(3, 4, 5)), "V": rng.normal(size=9), "W": rng.normal(size=4),
    "K": rng.normal(size=(3, 2)), "I": rng.integers(0, 9, (6, 7)), "B": rng.random((6, 7)) < 0.6,
    "L": rng.integers(0, 4, (6, 7)), "F": np.array([[1, 0, 1], [1, 1, 0]], bool),
}  # fmt: skip
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
CASES = [f'ndimage.correlate(G, K, mode="{m}", cval=0.7)' for m in MODES]
CASES += [f'ndimage.gaussian_filter(G, 0.8, mode="{m}", cval=0.7)' for m in MODES]
CASES += [f'ndimage.median_filter(G, 3, mode="{m}", cval=0.7)' for m in MODES]
CASES += cases_of("""
ndimage.convolve(G, K); ndimage.convolve(G, K, origin=(1, 0)); ndimage.correlate(G, K, origin=(-1, -1))
ndimage.correlate(I, np.ones((3, 3))); ndimage.correlate1d(G, W, axis=0); ndimage.correlate1d(V, W, origin=1)
ndimage.convolve1d(G, W); ndimage.convolve1d(V, W[:3], mode="wrap", origin=-1)
ndimage.gaussian_filter1d(G, 1.3, axis=0)
ndimage.gaussian_filter1d(V, 1.0, order=1); ndimage.gaussian_filter1d(V, 1.0, order=2, radius=3)
ndimage.gaussian_filter(T, (0.5, 0, 1.0)); ndimage.gaussian_filter(G, 1.0, order=(0, 1))
ndimage.gaussian_filter(V, 9.0)
ndimage.uniform_filter(G, 3); ndimage.uniform_filter(T, (2, 1, 3)); ndimage.uniform_filter1d(V, 4); ndimage.prewitt(G)
ndimage.sobel(G, 0); ndimage.sobel(T); ndimage.laplace(G); ndimage.gaussian_laplace(G, 0.9)
ndimage.gaussian_gradient_magnitude(G, 0.9); ndimage.median_filter(G, footprint=F); ndimage.median_filter(V, 4)
ndimage.rank_filter(G, 1, 3); ndimage.rank_filter(G, -2, footprint=F); ndimage.percentile_filter(G, 30, 3)
ndimage.percentile_filter(G, -20, 3); ndimage.maximum_filter(G, (2, 3)); ndimage.minimum_filter(G, footprint=F)
ndimage.maximum_filter(I, 3); ndimage.maximum_filter1d(G, 3, axis=0); ndimage.minimum_filter1d(V, 4, origin=1)
ndimage.binary_dilation(B); ndimage.binary_erosion(B); ndimage.binary_erosion(B, border_value=1)
ndimage.binary_dilation(B, iterations=2); ndimage.binary_dilation(B, structure=F)
ndimage.binary_erosion(B, structure=F)
ndimage.binary_opening(B); ndimage.binary_closing(B); ndimage.generate_binary_structure(3, 2)
ndimage.grey_dilation(G, 3); ndimage.grey_dilation(G, footprint=F); ndimage.grey_erosion(G, (2, 3))
ndimage.grey_opening(G, 3); ndimage.grey_closing(G, 3); ndimage.sum_labels(G); ndimage.sum_labels(G, L)
ndimage.sum_labels(G, L, [1, 2]); ndimage.mean(G, L, [1, 3]); ndimage.variance(G, L, 2)
ndimage.standard_deviation(G, L, [1, 2, 3]); ndimage.maximum(G, L, [1, 2]); ndimage.minimum(G)
ndimage.center_of_mass(G * G); ndimage.center_of_mass(G * G, L, [1, 2])
""")


@pytest.mark.many("case", CASES, pack=100)
def test_values_are_those_of_scipy(case):
    same_values(case, ARRAYS, 1e-9)


@pytest.mark.many("case", [c for c in CASES if smooth_names(c, ARRAYS)])
def test_gradients_are_slopes(case):
    gradients_are_slopes(case, ARRAYS)


@pytest.mark.slow
def test_compiled_is_eager():
    compiled_is_eager(CASES, ARRAYS, "images")


def test_mistakes_are_told():
    with pytest.raises(ValueError, match="there is no mode"):
        ndimage.correlate1d([1.0], [1.0, 1.0], mode="edge")
    with pytest.raises(ValueError, match="needs a size"):
        ndimage.median_filter([1.0])
    with pytest.raises(ValueError, match="as many axes as the image"):
        ndimage.correlate([1.0], [[1.0]])
