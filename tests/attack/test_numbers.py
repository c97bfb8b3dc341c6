"""Numbers at the edge of what their type can hold."""

from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops, primitives
from mycelia.ir import Function, interpret
from mycelia.testing import native
from mycelia.types import type_of

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


ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -3.0, 1e-30, 1e30]
BESIDE = [
    "add", "subtract", "multiply", "divide", "floor_divide", "fmod", "remainder", "power", "atan2", "maximum",
    "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BESIDE)
def test_a_number_written_in_the_program_means_what_it_means_in_a_tensor(name: str, dtype: Any) -> None:
    """What the compiler knows of a constant must not change what it is: NaN, infinities, zeros of both signs."""
    odd = np.array(ODD, dtype)
    op = getattr(primitives, name)

    def right(x: Any) -> list[Any]:
        return [op(x, primitives.full(float(k), x.dtype, ())) for k in odd]

    def left(x: Any) -> list[Any]:
        return [op(primitives.full(float(k), x.dtype, ()), x) for k in odd]

    for build in (right, left):
        fn = Function.build(build, type_of(odd))
        with np.errstate(all="ignore"):
            wanted = interpret(fn, odd)
        for k, got, want in zip(ODD, native.compile(fn)(odd), wanted, strict=True):
            message = f"{name} {build.__name__} {k}"
            np.testing.assert_allclose(got, want, rtol=4e-6, atol=0, err_msg=message)
            if name not in ("maximum", "minimum"):  # which of two zeros is larger nobody says
                zeros = (want == 0) & ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got)[zeros], np.signbit(want)[zeros], message)
