"""Vectors by the nearest of a few: vector quantisation and k-means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import boundary as _boundary
from mycelia.numpy import random
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import floated

__all__ = ["kmeans", "kmeans2", "vq", "whiten"]


def whiten(obs: Any, check_finite: bool = True) -> Tensor:
    """Columns, each over its standard deviation, unless that is 0.

    >>> whiten([[1.0, 5.0], [3.0, 5.0]]).tolist()
    [[1.0, 5.0], [3.0, 5.0]]
    """
    x = _observed(obs, check_finite)
    away = x - ops.mean(x, 0)
    spread = ops.sqrt(ops.maximum(ops.mean(away * away, 0), 1e-300 * ops.ones((x.shape[-1],), x.dtype)))
    flat = ops.equal(ops.amax(x, 0), ops.amin(x, 0))
    return x / ops.where(flat, ops.ones_like(spread), spread)


def _observed(obs: Any, check_finite: bool) -> Tensor:
    x = floated(asarray(obs))
    if x.ndim not in (1, 2):
        raise ShapeError("observations are the rows of a matrix", given={"shape": x.shape})
    x = ops.expand_dims(x, 1) if x.ndim == 1 else x
    if check_finite and not bool(ops.all(ops.isfinite(x)).item()):
        raise ArgumentError("observations are not all finite", hint="check_finite=False")
    return x


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """For each observation the nearest row of a code book, and how far that is.

    >>> [t.tolist() for t in vq([[0.0], [4.0]], [[1.0], [5.0]])]
    [[0, 1], [1.0, 1.0]]
    """
    x, book = _observed(obs, check_finite), _observed(code_book, check_finite)
    if x.shape[1] != book.shape[1]:
        raise ShapeError("rows of both have as many numbers", given={"obs": x.shape, "code_book": book.shape})
    code = _nearest(x, book)
    away = x - ops.gather(cast(book, x.dtype), code, 0)
    square = ops.sum(away * away, 1)
    nothing = ops.equal(square, 0.0)
    root = ops.sqrt(ops.where(nothing, ops.ones_like(square), square))
    return ops.cast(code, "int32"), ops.where(nothing, ops.zeros_like(square), root)


def _nearest(x: Tensor, book: Tensor) -> Tensor:
    away = ops.expand_dims(x, 1) - ops.expand_dims(cast(book, x.dtype), 0)
    return ops.argmin(ops.sum(away * away, 2), 1)


def _moved(x: Tensor, code: Tensor, count: int) -> tuple[Tensor, Any]:
    """The means of the observations of each code, and how many these are."""
    belongs = cast(ops.equal(ops.expand_dims(code, 0), ops.expand_dims(ops.arange(count), 1)), x.dtype)
    members = ops.sum(belongs, 1, keepdim=True)
    safe = ops.maximum(members, ops.ones_like(members))
    return ops.matmul(belongs, x) / safe, members.numbers()[:, 0]


def _drawn(x: Tensor, count: int, seed: Any) -> Tensor:
    """Some of the observations, each once."""
    stream = random if seed is None else random.default_rng(seed)
    order = stream.permutation(x.shape[0])[:count]
    return ops.gather(x, order, 0)


def kmeans(
    obs: Any, k_or_guess: Any, iter: int = 20, thresh: float = 1e-5, check_finite: bool = True, *, seed: Any = None
) -> tuple[Tensor, Tensor]:
    """A code book of k rows that is near to observations, and how far these are from it on average.

    >>> book, far = kmeans([[0.0], [1.0], [9.0], [10.0]], [[0.0], [9.0]])
    >>> book.tolist(), far.item()
    ([[0.5], [9.5]], 0.5)
    """
    x = _observed(obs, check_finite)
    if iter < 1:
        raise ArgumentError(f"it is tried once at least, not {iter} times")
    guess = k_or_guess if isinstance(k_or_guess, int) else asarray(k_or_guess)
    if not isinstance(guess, int) and guess.size > 1:
        return _settled(x, cast(_observed(guess, check_finite), x.dtype), thresh)
    count = guess if isinstance(guess, int) else int(guess.item())
    if not 1 <= count <= x.shape[0]:
        raise ArgumentError(f"{count} codes cannot be made of {x.shape[0]} observations")
    found = [_settled(x, _drawn(x, count, None if seed is None else seed + i), thresh) for i in range(iter)]
    return min(found, key=lambda one: float(one[1].item()))


def _settled(x: Tensor, book: Tensor, thresh: float) -> tuple[Tensor, Tensor]:
    before = float("inf")
    while True:
        code, far = vq(x, book, False)
        mean = ops.mean(far)
        now = float(mean.item())
        moved, members = _moved(x, code, book.shape[0])
        book = ops.gather(moved, wrap(numpy.flatnonzero(members)), 0)
        if before - now <= thresh:
            return book, mean
        before = now


def kmeans2(
    data: Any, k: Any, iter: int = 10, minit: str = "points", check_finite: bool = True, *, seed: Any = None
) -> tuple[Tensor, Tensor]:
    """A code book after so many rounds, and the code of each observation; `minit` is "points", or "matrix" if k is the
    first code book.

    >>> [t.tolist() for t in kmeans2([[0.0], [1.0], [9.0], [10.0]], [[0.0], [9.0]], minit="matrix")]
    [[[0.5], [9.5]], [0, 0, 1, 1]]
    """
    if minit not in ("points", "matrix"):
        raise ArgumentError(f"there is no way to begin {minit!r}", hint='"points" or "matrix"')
    if iter < 1:
        raise ArgumentError(f"there is one round at least, not {iter}")
    x = _observed(data, check_finite)
    given = asarray(k)
    if minit == "matrix" or given.size > 1:
        book = cast(_observed(given, check_finite), x.dtype)
    else:
        book = _drawn(x, int(given.item()), seed)
    for _ in range(iter):
        code = _nearest(x, book)
        moved, members = _moved(x, code, book.shape[0])
        there = wrap(members[:, None] > 0)
        book = ops.where(there, moved, book)
    return book, ops.cast(code, "int32")


_boundary(globals())
