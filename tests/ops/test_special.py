"""Bessel functions beside SciPy, in all ranges; their slopes beside what the books say."""

import numpy as np
import pytest
from scipy import special

import mycelia as ms
from mycelia import Tensor, ops

SLOPES = {
    "i0": special.i1,
    "i0e": lambda x: special.i1e(x) - np.sign(x) * special.i0e(x),
    "i1": lambda x: special.i0(x) - special.i1(x) / x,
    "i1e": lambda x: special.i0e(x) - special.i1e(x) * (np.sign(x) + 1 / x),
    "j0": lambda x: -special.j1(x),
    "j1": lambda x: special.j0(x) - special.j1(x) / x,
    "y0": lambda x: -special.y1(x),
    "y1": lambda x: special.y0(x) - special.y1(x) / x,
    "k0": lambda x: -special.k1(x),
    "k0e": lambda x: special.k0e(x) - special.k1e(x),
    "k1": lambda x: -special.k0(x) - special.k1(x) / x,
    "k1e": lambda x: special.k1e(x) - special.k0e(x) - special.k1e(x) / x,
}
POSITIVE = np.concatenate([np.geomspace(1e-8, 0.5, 9), np.linspace(0.6, 25, 61), np.geomspace(26, 600, 15)])


def points(name):
    return POSITIVE if name[0] in "ky" else np.concatenate([-POSITIVE[::-1], POSITIVE])


@pytest.mark.parametrize("name", SLOPES)
def test_values_and_slopes_are_those_of_the_books(name):
    x = points(name)
    function, want = getattr(ops, f"bessel_{name}"), getattr(special, name)(x)
    got = function(Tensor(x)).asnumpy()
    close = {"rtol": 2e-13, "atol": 1e-13 if name[0] in "jy" else 0.0}  # waves go through zero
    np.testing.assert_allclose(got, want, **close)
    slope = ms.jit(ms.grad(lambda x: function(x).sum()))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(slope, SLOPES[name](x), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", SLOPES)
def test_edges_are_limits(name):
    x = np.array([0.0, -0.0, np.inf, np.nan] + ([] if name[0] in "ky" else [-np.inf]))
    with np.errstate(all="ignore"):
        want = getattr(special, name)(x)
    if name[0] in "jy":
        want[np.isinf(x)] = 0.0  # SciPy has nan where waves die away
    if name in ("i0", "i1"):
        want[np.isinf(x)] = np.abs(x[np.isinf(x)]) if name == "i0" else x[np.isinf(x)]
    np.testing.assert_allclose(getattr(ops, f"bessel_{name}")(Tensor(x)).asnumpy(), want, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_other_types_are_computed_in_float64(dtype):
    x = np.array([1, 2, 5, 9], dtype)
    got = ops.bessel_j0(Tensor(x))
    wide = special.j0(x.astype(np.float64))
    assert got.dtype == (ms.float32 if dtype == "int32" else ms.Tensor(x).dtype)
    np.testing.assert_array_equal(got.asnumpy(), wide.astype(got.asnumpy().dtype))


def test_large_numbers_are_finite_as_long_as_they_can_be():
    want = np.exp(356.0) * special.i0e(712.0) * np.exp(356.0)
    np.testing.assert_allclose(ops.bessel_i0(Tensor(np.array([712.0]))).asnumpy(), [want], rtol=1e-12)


def test_below_zero_there_is_no_second_kind():
    assert all(np.isnan(getattr(ops, f"bessel_{n}")(Tensor([-1.0])).item()) for n in ("y0", "y1", "k0", "k1e"))
