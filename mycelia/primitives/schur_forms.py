"""Schur's form of a matrix, and functions of matrices that are computed on it: roots and logarithms.

NumPy binds no routine of LAPACK for it. Where eigenvectors lie well apart, their orthonormal form gives it, which is
looked at before it is believed. Otherwise Householder's reflections make a Hessenberg matrix, and steps of the QR
algorithm with shifts make its subdiagonal vanish: one shift at a time for complex numbers, two conjugate ones (Francis)
for real ones, where pairs of conjugate eigenvalues stay as blocks of two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.types import Array

STEPS = 60  # for one eigenvalue; two or three are usual


def schur(a: Array) -> tuple[Array, Array]:
    """Matrices T and Z: a is Z @ T @ Z^H, Z is unitary, T triangular; for a real matrix up to blocks of two.

    >>> t, z = schur(np.array([[0.0, 1.0], [-2.0, -3.0]]))
    >>> np.round(np.sort(np.diag(t)), 6), np.allclose(z @ t @ z.T, [[0, 1], [-2, -3]])
    (array([-2., -1.]), True)
    """
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("a matrix is not finite")
    return _form(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64))


def _by_vectors(a: Array) -> tuple[Array, Array] | None:
    """The form from all eigenvectors, those of a conjugate pair as real and imaginary part; None if rounding shows."""
    values, vectors = np.linalg.eig(a)
    second = np.zeros(len(a), bool)
    if a.dtype.kind != "c":
        second = values.imag < 0
        vectors = np.where(second, -vectors.imag, vectors.real)
    z = np.linalg.qr(vectors)[0]
    t = z.conj().T @ a @ z
    below = np.tril(t, -1)
    blocks = np.flatnonzero(second) - 1
    below[blocks + 1, blocks] = 0
    if not np.linalg.norm(below) <= 10 * len(a) * np.finfo(np.float64).eps * np.linalg.norm(a):
        return None
    t -= below
    for k in blocks:
        _standardise(t, z, int(k))
    return t, z


def _hessenberg(a: Array) -> tuple[Array, Array]:
    """A matrix H without anything below its subdiagonal, and Z: a is Z @ H @ Z^H."""
    n, h, z = len(a), a.copy(), np.eye(len(a), dtype=a.dtype)
    for k in range(n - 2):
        v = h[k + 1 :, k].copy()
        if not v[1:].any():
            continue
        v[0] += np.linalg.norm(v) * (v[0] / abs(v[0]) if v[0] else 1.0)
        _reflect(h, z, k + 1, v / np.linalg.norm(v))
        h[k + 2 :, k] = 0
    return h, z


def _reflect(h: Array, z: Array, first: int, v: Array, left: int = 0, last: int | None = None) -> None:
    """I - 2 v v^H from both sides of h, on the rows and columns that begin with `first`, and from the right of z."""
    part = slice(first, first + len(v))
    h[part, left:] -= 2 * np.outer(v, v.conj() @ h[part, left:])
    h[:last, part] -= 2 * np.outer(h[:last, part] @ v, v.conj())
    z[:, part] -= 2 * np.outer(z[:, part] @ v, v.conj())


def _start(h: Array, high: int) -> int:
    """Where the block begins that ends at `high`: the subdiagonal is as good as zero there, and becomes zero."""
    size = np.finfo(np.float64).eps
    low = high
    while low > 0:
        around = abs(h[low, low]) + abs(h[low - 1, low - 1])
        if abs(h[low, low - 1]) <= size * (around if around else np.abs(h).max()):
            h[low, low - 1] = 0
            break
        low -= 1
    return low


def _form(a: Array) -> tuple[Array, Array]:
    """The form of a complex matrix, or of a real one with blocks of two."""
    if (found := _by_vectors(a)) is not None:
        return found
    (t, z), real = _hessenberg(a), a.dtype.kind != "c"
    high, turns = len(a) - 1, 0
    while high > 0:
        low = _start(t, high)
        if high - low <= real:
            if low < high:
                _standardise(t, z, low)
            high, turns = low - 1, 0
            continue
        turns += 1
        if turns > STEPS:
            raise np.linalg.LinAlgError("the QR algorithm does not end")
        (_francis if real else _single)(t, z, low, high, turns)
    return np.triu(t, -1 if real else 0), z


def _single(t: Array, z: Array, low: int, high: int, turns: int) -> None:
    """One step with one shift."""
    part = slice(low, high + 1)
    shift = _shift(t[high - 1 : high + 1, high - 1 : high + 1], turns)
    q = np.linalg.qr(t[part, part] - shift * np.eye(high + 1 - low))[0]
    t[part, low:] = q.conj().T @ t[part, low:]
    t[: high + 1, part] = t[: high + 1, part] @ q
    z[:, part] = z[:, part] @ q
    t[part, part] = np.triu(t[part, part], -1)


def _shift(m: Array, turns: int) -> Any:
    """The eigenvalue of two rows that is nearer to the last number (Wilkinson); now and then another number."""
    if turns % 10 == 0:
        return abs(m[1, 0]) + m[1, 1]
    half, product = (m[0, 0] - m[1, 1]) / 2, m[0, 1] * m[1, 0]
    root = np.sqrt(half * half + product)
    if (half * np.conj(root)).real < 0:
        root = -root
    return m[1, 1] - product / (half + root) if half + root else m[1, 1]


def _francis(h: Array, z: Array, low: int, high: int, turns: int) -> None:
    """One step with two shifts (Golub and Van Loan, 7.5.1)."""
    m = h[high - 1 : high + 1, high - 1 : high + 1]
    trace, product = m[0, 0] + m[1, 1], m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    if turns % 10 == 0:
        size = abs(h[high, high - 1]) + abs(h[high - 1, high - 2])
        trace, product = 1.5 * size, size * size
    first, below = h[low, low], h[low + 1, low]
    x = first * first + h[low, low + 1] * below - trace * first + product
    v = np.array([x, below * (first + h[low + 1, low + 1] - trace), below * h[low + 2, low + 1]])
    for k in range(low, high):
        if v[1:].any():
            v[0] += np.copysign(np.linalg.norm(v), v[0])
            _reflect(h, z, k, v / np.linalg.norm(v), max(low, k - 1), min(k + 3, high) + 1)
        if k > low:
            h[k + 1 : k + len(v), k - 1] = 0
        v = h[k + 1 : min(k + 3, high) + 1, k].copy()


def _standardise(h: Array, z: Array, k: int) -> None:
    """Turn two rows: real eigenvalues go to the diagonal, with conjugate ones both its numbers become equal."""
    (a, b), (c, d) = h[k : k + 2, k : k + 2]
    half = (a - d) / 2
    inside = half * half + b * c
    if inside >= 0:
        far = half + np.copysign(np.sqrt(inside), half)
        angle = np.arctan2(c, far) if far or c else 0.0
    else:
        angle = np.arctan2(d - a, b + c) / 2
    cosine, sine = np.cos(angle), np.sin(angle)
    turn, part = np.array([[cosine, -sine], [sine, cosine]]), slice(k, k + 2)
    h[part, k:] = turn.T @ h[part, k:]
    h[: k + 2, part] = h[: k + 2, part] @ turn
    z[:, part] = z[:, part] @ turn
    if inside >= 0:
        h[k + 1, k] = 0


# ------------------------------------------------------------------------------------------------- functions of them


def root(a: Array) -> Array:
    """The matrix whose square is a, with eigenvalues in the right half-plane (Björck and Hammarling).

    >>> root(np.array([[4.0, 1.0], [0.0, 4.0]]))
    array([[2.  , 0.25],
           [0.  , 2.  ]])
    """
    t, z = _form(a.astype(np.complex128))
    return _back((_triangular_root(t), z), a)


def _triangular_root(t: Array) -> Array:
    n = len(t)
    out = np.diag(np.sqrt(np.diag(t)))
    for j in range(1, n):
        for i in range(j - 1, -1, -1):
            rest = t[i, j] - out[i, i + 1 : j] @ out[i + 1 : j, j]
            out[i, j] = rest / (out[i, i] + out[j, j]) if rest else 0.0
    return out


def logarithm(a: Array) -> Array:
    """The matrix whose exponential is a, with eigenvalues of imaginary parts between -pi and pi: roots are taken until
    little but one is left, of which a Padé approximation is the logarithm (Higham, inverse scaling and squaring).

    >>> np.round(logarithm(np.array([[np.e, 1.0], [0.0, np.e]])), 8)
    array([[1.        , 0.36787944],
           [0.        , 1.        ]])
    """
    t, z = _form(a.astype(np.complex128))
    n, diagonal, turns, one = len(t), np.log(np.diag(t)), 0, np.eye(len(t))
    part = t
    while np.abs(part - one).sum(0).max(initial=0.0) > 0.264 and turns < 64:
        part, turns = _triangular_root(part), turns + 1
    nodes, weights = np.polynomial.legendre.leggauss(7)
    rest = part - one
    out = np.zeros_like(t)
    for x, w in zip(nodes, weights, strict=True):
        out += 2.0**turns * w / 2 * np.linalg.solve(one + (x + 1) / 2 * rest, rest)
    out[range(n), range(n)] = diagonal  # known to the last place
    return _back((np.triu(out), z), a)


def _back(form: tuple[Array, Array], a: Array) -> Array:
    """From the triangle to the matrix; a real one, if the matrix was real, or an error if that cannot be."""
    t, z = form
    with np.errstate(all="ignore"):
        out = z @ t @ z.conj().T
    if not np.isfinite(out).all():
        raise np.linalg.LinAlgError("there is no such matrix")
    if a.dtype.kind == "c":
        return out.astype(a.dtype)
    if np.abs(out.imag).max(initial=0.0) > 1e-7 * max(1.0, np.abs(out).max(initial=0.0)):
        raise np.linalg.LinAlgError("there is no such matrix of real numbers")
    return out.real.astype(a.dtype)
