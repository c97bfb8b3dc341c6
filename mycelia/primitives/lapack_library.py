"""LAPACK itself, as NumPy's wheels bring it, for large matrices: without NumPy's copies, and in their element type.
NumPy computes in float64 always. It is asked where it was built otherwise, and if matrices are small or complex.

LAPACK has its matrices in columns. So it is given the transpose of ours, which lies there already: U^T U of it is our
L L^T, its left singular vectors are our right ones, and its factors solve ours as the transpose.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from mycelia.types import Array

FROM = 64  # rows and columns from which it is faster than NumPy: below, calls take longer than copies
BAND = 128  # rows that are copied at a time, so that what is read across stays in the cache
ALONE = 320  # rows or columns up to which one thread is as fast as two
LETTERS = {"float32": "s", "float64": "d"}


@cache
def _symbol(name: str) -> Any:
    """A function of the library that NumPy brings, or None if it does not have it under its usual name."""
    try:
        return getattr(ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__), name)
    except (ImportError, OSError, AttributeError):
        return None


def routine(name: str, dtype: str) -> Any:
    """A routine of LAPACK with whole numbers of 64 bits, or None if it is not there."""
    return _symbol(f"scipy_{LETTERS[dtype]}{name}_64_") if dtype in LETTERS else None


def fitting(function: Callable[..., Any], *inputs: Array) -> Any:
    """Call a function of matrices, on one thread where they are small. A thread that was asked for once waits for more
    work for milliseconds, busily, on a processor that the next kernel needs.

    >>> fitting(np.linalg.det, np.eye(2)).item()
    1.0
    """
    count, choose = _symbol("scipy_openblas_get_num_threads64_"), _symbol("scipy_openblas_set_num_threads64_")
    before = count() if count is not None and choose is not None and min(inputs[0].shape[-2:]) < ALONE else 1
    if before == 1:
        return function(*inputs)
    choose(1)
    try:
        return function(*inputs)
    finally:
        choose(before)


def is_direct(name: str, *inputs: Array) -> bool:
    """Whether LAPACK is asked itself."""
    x = inputs[0]
    large = min(x.shape[-2:]) >= FROM and x.size > 0
    return large and len({y.dtype for y in inputs}) == 1 and routine(name, x.dtype.name) is not None


def _call(name: str, dtype: np.dtype[Any], *args: Any) -> int:
    """Call a routine; what it says of its success. Texts are letters, numbers are passed by address."""
    info = ctypes.c_int64(0)
    given: list[Any] = []
    for x in (*args, info):
        if isinstance(x, np.ndarray):
            given.append(ctypes.c_void_p(x.ctypes.data))
        elif isinstance(x, bytes):
            given.append(x)
        else:
            given.append(ctypes.byref(x if isinstance(x, ctypes.c_int64) else ctypes.c_int64(x)))
    lengths = [ctypes.c_size_t(1) for x in args if isinstance(x, bytes)]  # of texts, as Fortran passes them
    routine(name, dtype.name)(*given, *lengths)
    return info.value


def _refuse(info: int, what: str) -> None:
    if info:
        raise np.linalg.LinAlgError(f"{what}: LAPACK's info is {info}")


def cholesky(x: Array) -> Array:
    """The lower triangular L with L @ L.T the symmetric part of a matrix, or of each of a batch.

    >>> cholesky(np.array([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    if not is_direct("potrf", x):
        return np.asarray(np.linalg.cholesky((x + np.conj(np.swapaxes(x, -1, -2))) * x.dtype.type(0.5)))
    if x.ndim > 2:
        return np.stack([cholesky(part) for part in x])
    n = len(x)
    lower = np.zeros_like(x, order="C")
    bands = [slice(i, i + BAND) for i in range(0, n, BAND)]
    for band in bands:
        left = slice(0, band.stop)
        lower[band, left] = x[band, left] + x[left, band].T
        lower[band, left] *= x.dtype.type(0.5)
    _refuse(_call("potrf", x.dtype, b"U", n, lower, n), "the matrix is not positive definite")
    for band in bands:  # above the diagonal is what was there
        lower[band, band] = np.tril(lower[band, band])
    return lower


def solve(a: Array, b: Array) -> Array:
    """The matrix X with A @ X = B, or one for each of a batch.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([[2.0], [8.0]])).tolist()
    [[1.0], [2.0]]
    """
    if not is_direct("getrf", a, b):
        return np.asarray(np.linalg.solve(a, b))
    if a.ndim > 2:
        return np.stack([solve(*pair) for pair in zip(a, b, strict=True)])
    n, columns = b.shape
    factors, pivots, found = np.array(a, order="C"), np.zeros(n, np.int64), np.array(b.T, order="C")
    _refuse(_call("getrf", a.dtype, n, n, factors, n, pivots), "the matrix is singular")
    _refuse(_call("getrs", a.dtype, b"T", n, columns, factors, n, pivots, found, n), "the equations have no solution")
    return found.T


def svd(x: Array) -> tuple[Array, Array, Array]:
    """U, s and V^H of a matrix or of each of a batch, with as many columns as the smaller side.

    >>> svd(np.array([[0.0, 2.0], [1.0, 0.0]]))[1].tolist()
    [2.0, 1.0]
    """
    if not is_direct("gesdd", x):
        found = np.linalg.svd(x, False)
        return found.U, found.S, found.Vh
    if x.ndim > 2:
        us, all_values, vs = zip(*map(svd, x), strict=True)
        return np.stack(us), np.stack(all_values), np.stack(vs)
    m, n = x.shape
    k = min(m, n)
    u, values, vh = (np.empty(shape, x.dtype) for shape in ((m, k), (k,), (k, n)))
    given, integers, size = np.array(x, order="C"), np.empty(8 * k, np.int64), np.empty(1, x.dtype)
    for asked in (True, False):  # how much room it wants, and then with it
        room = size if asked else np.empty(int(size[0] * 1.001) + 1, x.dtype)  # the number was rounded
        args = (b"S", n, m, given, n, values, vh, n, u, k, room, -1 if asked else len(room), integers)
        _refuse(_call("gesdd", x.dtype, *args), "singular values were not found")
    return u, values, vh
