"""Running sums and extremes in machine code: NumPy's, along any axis, to the same bit on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia.api.options import options
from mycelia.ir import Function
from mycelia.loops.prefix import CHUNK
from mycelia.primitives.family import NUMBERS
from mycelia.primitives.reduction import Cummax, Cummin, Cumsum
from mycelia.runtime.own_routines import sized
from mycelia.runtime.warm import compile
from mycelia.sizes import Scope
from mycelia.transforms import vjp
from mycelia.types import TensorType, bfloat16, float16, float32, float64, int16

DIGITS = {float64: 1e-13, float32: 2e-6, float16: 2e-3, bfloat16: 1e-2}


def compiled(op, *types):
    return compile(Function.build(op, *types), {}, options())


def drawn(dtype, shape):
    return (np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype.numpy)


@pytest.mark.many("dtype", NUMBERS)
def test_they_are_numpy_s_for_every_type_along_any_axis_of_any_size(dtype):
    scope = Scope()
    sizes = tuple(scope.name(n, low=0, hint=9) for n in "abc")
    for axis in (1, 2):
        run = compiled(Cumsum(axis), TensorType(dtype, sizes))
        for shape in ((2, 70, 3), (3, 5, 43), (1, 0, 2), (0, 3, 3), (2, 3, 64), (1, 2, 2 * CHUNK + 77), (2, 129, 1)):
            x = drawn(dtype, shape)
            (got,), want = run(x), Cumsum(axis).reference(x)
            assert got.dtype == want.dtype
            if not dtype.is_float:
                np.testing.assert_array_equal(got, want)
                continue
            exact = np.cumsum(x.astype(np.float64), axis)
            scale = 1 + np.cumsum(np.abs(x).astype(np.float64), axis)
            assert np.all(np.abs(got.astype(np.float64) - exact) <= DIGITS[dtype] * scale), shape


def test_sums_of_negative_zeros_are_negative_zeros_as_numpy_s_are():
    for dtype in (float16, float32, float64):
        for shape, axis in (((3,), 0), ((70,), 0), ((2, 300), 1), ((300, 5), 0), ((1, 2 * CHUNK + 77), 1)):
            x = np.full(shape, -0.0).astype(dtype.numpy)
            x[..., x.shape[-1] // 2 :] = 0.0
            (got,) = compiled(Cumsum(axis), TensorType(dtype, shape))(x)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(np.cumsum(x, axis)))


@pytest.mark.parametrize("dtype", [float32, float64, int16], ids=str)
def test_a_long_row_has_the_same_bits_whoever_shares_it_and_never_falls(dtype, monkeypatch):
    found = []
    for long in (1 << 60, 1):  # each row by one thread, and all threads on each
        monkeypatch.setattr("mycelia.runtime.own_routines.LONG", long)
        sized.cache_clear()
        run = compiled(Cumsum(1), TensorType(dtype, (2, 300_000)))
        x = np.abs(drawn(dtype, (2, 300_000)))
        found.append(run(x)[0])
    sized.cache_clear()
    assert found[0].tobytes() == found[1].tobytes()
    if dtype.is_float:
        assert np.all(np.diff(found[0], axis=1) >= 0)
    else:
        np.testing.assert_array_equal(found[0], Cumsum(1).reference(x))


def test_infinity_and_nan_stay():
    x = np.ones(1000, "f")
    x[[100, 900]] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        want = np.cumsum(x)
    np.testing.assert_allclose(compiled(Cumsum(0), TensorType(float32, (1000,)))(x)[0], want, rtol=1e-6)


@pytest.mark.parametrize("kind", [Cummax, Cummin])
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_extremes_so_far_are_numpy_s_for_every_type_along_any_axis_of_any_size(kind, dtype):
    scope = Scope()
    sizes = tuple(scope.name(n, low=0, hint=9) for n in "abc")
    for axis in (1, 2):
        run = compiled(kind(axis), TensorType(dtype, sizes))
        for shape in ((2, 70, 3), (3, 5, 43), (1, 0, 2), (2, 3, 64), (1, 2, 2 * CHUNK + 77), (2, 129, 1)):
            x = drawn(dtype, shape)
            if dtype.is_float and x.size:
                x.reshape(-1)[x.size // 2] = np.nan
            (got,) = run(x)
            np.testing.assert_array_equal(got.astype("d"), kind(axis).reference(x).astype("d"))


@pytest.mark.parametrize("kind", [Cummax, Cummin])
def test_extremes_of_a_long_row_are_the_same_whoever_shares_it(kind, monkeypatch):
    x = drawn(float32, (2, 300_000))
    for long in (1 << 60, 1):
        monkeypatch.setattr("mycelia.runtime.own_routines.LONG", long)
        sized.cache_clear()
        np.testing.assert_array_equal(compiled(kind(1), TensorType(float32, (2, 300_000)))(x)[0], kind(1).reference(x))
    sized.cache_clear()


def test_of_equal_extremes_the_first_has_the_gradient():
    x = TensorType(float32, (6,))
    fn = vjp(Function.build(Cummax(0), x))
    numbers = np.array([1, 3, 2, 3, 5, 4], "f")
    np.testing.assert_array_equal(compile(fn, {}, options())(numbers, np.arange(6, dtype="f"))[-1], [0, 6, 0, 0, 9, 0])
