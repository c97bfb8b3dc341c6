"""Schur's form by the QR algorithm, where eigenvectors do not give it; and functions of matrices on it, as SciPy's."""

import numpy as np
import pytest
import scipy.linalg

from mycelia.primitives import schur_forms

rng = np.random.default_rng(0)
JORDAN = np.diag(np.ones(4), 1) + 2 * np.eye(5)
MATRICES = {
    "random": rng.normal(size=(6, 6)),
    "symmetric": rng.normal(size=(5, 5)) @ np.eye(5) + np.eye(5),
    "cyclic": np.roll(np.eye(5), 1, 0),
    "jordan": JORDAN,
    "triangular": np.triu(rng.normal(size=(4, 4))),
    "whole": np.round(2 * rng.normal(size=(5, 5))),
    "zero": np.zeros((3, 3)),
    "one": np.ones((1, 1)),
}


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("steps", [False, True], ids=["vectors", "steps"])
def test_a_form_is_triangular_and_means_the_matrix(name, kind, steps, monkeypatch):
    if steps:
        monkeypatch.setattr(schur_forms, "_by_vectors", lambda a: None)
    a = MATRICES[name] + (0.5j * MATRICES[name].T if kind == "complex" else 0)
    t, z = schur_forms.schur(a)
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=1e-12)
    np.testing.assert_allclose(z @ z.conj().T, np.eye(len(a)), atol=1e-12)
    below = np.diag(t, -1) != 0
    assert not np.tril(t, -2).any()
    assert not (below[1:] & below[:-1]).any()
    assert kind == "real" or not below.any()
    for k in np.flatnonzero(below):
        (p, q), (r, s) = t[k : k + 2, k : k + 2]
        assert p == pytest.approx(s), "a block stands for conjugate eigenvalues"
        assert q * r < 0


@pytest.mark.parametrize("name", ["random", "jordan", "one"])
def test_roots_and_logarithms_are_those_of_scipy(name):
    a = MATRICES[name] if name == "jordan" else MATRICES[name] @ MATRICES[name].T + np.eye(len(MATRICES[name]))
    for m in (a, a + 0.3j * a.T):
        np.testing.assert_allclose(schur_forms.root(m), scipy.linalg.sqrtm(m), atol=1e-10)
        np.testing.assert_allclose(schur_forms.logarithm(m), scipy.linalg.logm(m), atol=1e-10)
