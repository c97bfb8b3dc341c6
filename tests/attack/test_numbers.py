"""Numbers at the edge of what their type can hold."""

from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

HALF = np.linspace(-300, 300, 4096).astype(np.float16) + np.float16(400)


def both(fn: Any, *args: Any) -> list[Any]:
    """What a function gives eagerly and compiled."""
    return [fn(*args).asnumpy(), ms.jit(fn)(*args).asnumpy()]


@pytest.mark.parametrize("name", ["mean", "std"])
def test_statistics_of_half_precision_do_not_overflow_on_the_way(name: str) -> None:
    wanted = getattr(np, name)(HALF.astype(np.float64))
    for got in both(getattr(ops, name), Tensor(HALF)):
        assert got.dtype == np.float16
        np.testing.assert_allclose(got, wanted, rtol=1e-3)


def test_layer_norm_of_large_half_precision_numbers_has_mean_zero_and_variance_one() -> None:
    for got in both(lambda x: ops.layer_norm(x, (4096,)), Tensor(HALF)):
        assert got.dtype == np.float16
        wide = got.astype(np.float64)
        assert abs(wide.mean()) < 1e-3
        assert abs(wide.std() - 1) < 1e-3


def test_the_mean_of_nothing_is_not_a_number() -> None:
    for got in both(lambda x: ops.mean(x, 0), Tensor(np.zeros((0, 3), np.float32))):
        assert got.shape == (3,)
        assert np.isnan(got).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_powers_of_integers_wrap_around_as_in_numpy(dtype: Any) -> None:
    x, y = np.array([3, 7, 2, 5, 0, 1], dtype), np.array([39, 22, 63, 17, 0, 100], dtype)
    for got in both(lambda x, y: x**y, Tensor(x), Tensor(y)):
        np.testing.assert_array_equal(got, x**y)
    for got in both(lambda x: x**39, Tensor(x)):
        np.testing.assert_array_equal(got, x ** dtype(39))


def test_integers_to_a_negative_power_keep_the_whole_part() -> None:
    x = Tensor(np.array([-2, -1, -1, 1, 2, 0], np.int32))
    y = Tensor(np.array([-1, -1, -2, -5, -3, -1], np.int32))
    for got in both(lambda x, y: x**y, x, y):
        np.testing.assert_array_equal(got, [0, -1, 1, 1, 0, 0])
