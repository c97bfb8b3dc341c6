"""LAPACK, asked without NumPy between: NumPy's results in the element type, and the same answer where there is none."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.primitives import lapack_library
from mycelia.primitives.lapack_library import FROM, is_direct, routine

RNG = np.random.default_rng(3)
N = FROM + 70  # more than a band


def near(got, want, dtype):
    np.testing.assert_allclose(got, want, rtol=0, atol=400 * np.finfo(dtype).eps * np.abs(want).max())
    assert got.dtype == dtype


@pytest.fixture(params=["direct", "by NumPy"])
def way(request, monkeypatch):
    if request.param == "by NumPy":
        monkeypatch.setattr(lapack_library, "routine", lambda name, dtype: None)
    elif routine("potrf", "float64") is None:
        pytest.skip("this NumPy has another LAPACK")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
def test_large_matrices_are_factored_and_solved_as_numpy_does_in_float64(batch, dtype, way):
    x = RNG.normal(size=(*batch, N, N)) + 8 * np.sqrt(N) * np.eye(N)
    tall, b = RNG.normal(size=(*batch, N + 9, N)), RNG.normal(size=(*batch, N, 5))
    x, tall, b = (y.astype(dtype) for y in (x, tall, b))
    wide = x.astype("d")
    lower, found = p.Cholesky().reference(x)
    near(lower, np.linalg.cholesky((wide + np.swapaxes(wide, -1, -2)) / 2), dtype)
    assert found.all()
    near(p.Solve().reference(x, b)[0], np.linalg.solve(wide, b.astype("d")), dtype)
    for given in (tall, np.swapaxes(tall, -1, -2)):
        u, s, vh, _ = p.Svd().reference(given)
        near(s, np.linalg.svd(given.astype("d"))[1], dtype)
        near((u * s[..., None, :]) @ vh, given, dtype)
        assert u.shape[-1] == vh.shape[-2] == N


def test_what_has_no_result_is_told_and_is_no_number(way):
    not_positive, singular, no_number = -np.eye(N), np.zeros((N, N)), np.full((N, N), np.nan)
    for op, inputs in ((p.Cholesky(), [not_positive]), (p.Solve(), [singular, np.ones((N, 1))])):
        *out, found = op.reference(*inputs)
        assert not found
        assert np.isnan(out[0]).all()
    assert np.isnan(p.Svd().reference(no_number)[1]).all()


def test_small_and_complex_matrices_are_numpys():
    assert not is_direct("potrf", np.eye(FROM - 1))
    assert not is_direct("potrf", np.eye(FROM, dtype=complex))
    assert not is_direct("getrf", np.eye(FROM), np.eye(FROM, dtype="f"))
