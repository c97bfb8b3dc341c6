"""Windows of signals: weights that fade towards both ends."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.checks import number, truth, whole
from mycelia.eager import Tensor, as_dtype, wrap
from mycelia.errors import DTypeError
from mycelia.types import Array, float32

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _window(name: str, weights: Callable[[int], Array], length: Any, periodic: bool, dtype: Any) -> Tensor:
    """So many weights; those of a period are one more, without the last."""
    wanted = float32 if dtype is None else as_dtype(dtype)
    if not wanted.is_float:
        raise DTypeError(f"{name} gives floating numbers, not {wanted!r}", hint="say float32")
    count = whole(name, "window_length", int(length) if isinstance(length, Tensor) else length, least=0)
    longer = count + 1 if truth(name, "periodic", periodic) and count > 1 else count
    return wrap(np.asarray(weights(longer)[:count], wanted.numpy))


def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Weights in a triangle.

    >>> bartlett_window(5, False).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return _window("bartlett_window", np.bartlett, window_length, periodic, dtype)


def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Weights of three cosines.

    >>> [round(w, 2) for w in blackman_window(4).tolist()[1:]]
    [0.34, 1.0, 0.34]
    """
    return _window("blackman_window", np.blackman, window_length, periodic, dtype)


def hamming_window(
    window_length: Any, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Tensor:
    """Alpha less beta times a cosine.

    >>> [round(w, 2) for w in hamming_window(4).tolist()]
    [0.08, 0.54, 1.0, 0.54]
    """
    a, b = number("hamming_window", "alpha", alpha), number("hamming_window", "beta", beta)

    def weights(count: int) -> Array:
        return np.ones(count) if count < 2 else a - b * np.cos(2 * np.pi * np.arange(count) / (count - 1))

    return _window("hamming_window", weights, window_length, periodic, dtype)


def hann_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Half of one less a cosine.

    >>> [round(w, 2) for w in hann_window(4).tolist()]
    [0.0, 0.5, 1.0, 0.5]
    """
    return _window("hann_window", np.hanning, window_length, periodic, dtype)


def kaiser_window(window_length: Any, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Tensor:
    """Weights by a Bessel function, steeper for a larger beta.

    >>> kaiser_window(1).tolist()
    [1.0]
    """
    steep = number("kaiser_window", "beta", beta)
    return _window("kaiser_window", lambda count: np.kaiser(count, steep), window_length, periodic, dtype)
