"""Poolings with gaps and places, and the way back, as MindSpore gives them (asked once, for these few numbers)."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn
from mycelia.errors import ArgumentError

LINE = ms.Tensor(np.arange(24, dtype=np.float32).reshape(1, 2, 12) % 7)
PLANE = LINE.reshape((1, 2, 3, 4))


def found(out):
    return [x.asnumpy().ravel().tolist() for x in (out if isinstance(out, tuple) else (out,))]


def test_lines_with_gaps_and_places():
    out = nn.MaxPool1d(3, 2, "pad", 1, dilation=2, return_indices=True)(LINE)
    assert found(out) == [[3, 5, 5, 5, 4, 6, 6, 5, 5, 5], [3, 5, 5, 5, 11, 1, 1, 7, 7, 7]]
    assert out[1].dtype is ms.int64
    assert found(nn.MaxPool1d(3, 2, "pad", 1, dilation=2)(LINE)) == found(out)[:1]


def test_planes_with_places_and_back():
    for compiled in (lambda f: f, ms.jit):
        out = compiled(nn.MaxPool2d(2, 2, "pad", 0, return_indices=True))(PLANE)
        assert found(out) == [[5, 6, 6, 5], [5, 6, 1, 7]]
        back = compiled(nn.MaxUnpool2d(2))(*out)
        assert found(back) == [[0, 0, 0, 0, 0, 5, 6, 0, 0, 6, 0, 0, 0, 0, 0, 5]]
    single = nn.MaxPool2d(2, 2, "pad", 0, return_indices=True)(PLANE[0])
    assert [x.shape for x in single] == [(2, 1, 2)] * 2


def test_grids_with_places():
    out = nn.AdaptiveMaxPool2d(2, True)(PLANE)
    assert found(out) == [[5, 6, 5, 6, 6, 5, 6, 5], [5, 6, 5, 6, 1, 7, 8, 7]]
    flat = PLANE.asnumpy().reshape(2, 12)
    np.testing.assert_array_equal(
        np.take_along_axis(flat, out[1].asnumpy().reshape(2, 4), 1), out[0].asnumpy().reshape(2, 4)
    )


def test_gaps_and_places_are_for_padding_by_numbers():
    for options in ({"dilation": 2}, {"return_indices": True}):
        with pytest.raises(ArgumentError, match="are for pad_mode 'pad'"):
            nn.MaxPool1d(3, 2, **options)


def test_weights_of_lines_have_four_axes():
    assert nn.Conv1d(2, 4, 3).weight.shape == (4, 2, 1, 3)
    assert nn.Conv1dTranspose(2, 4, 3).weight.shape == (2, 4, 1, 3)
