"""Weights that rise and fall: windows for spectra and filters."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import CallError
from mycelia.ops.arguments import floated, tensor
from mycelia.types import float32

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]


def _weights(name: str, M: Any, *more: float) -> Tensor:
    if not isinstance(M, int | float | numpy.integer) or int(M) != M:
        raise CallError(f"the number of weights is a whole number, not {M!r}")
    return tensor(getattr(numpy, name)(int(M), *more).astype(float32.numpy))


def bartlett(M: int) -> Tensor:
    """Weights in a triangle.

    >>> bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _weights("bartlett", M)


def blackman(M: int) -> Tensor:
    """Weights of three cosines.

    >>> blackman(3)[1].item()
    1.0
    """
    return _weights("blackman", M)


def hamming(M: int) -> Tensor:
    """0.54 less 0.46 times a cosine.

    >>> hamming(3)[1].item()
    1.0
    """
    return _weights("hamming", M)


def hanning(M: int) -> Tensor:
    """Half of one less a cosine.

    >>> hanning(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _weights("hanning", M)


def kaiser(M: int, beta: float) -> Tensor:
    """Weights by a Bessel function, steeper for a larger beta.

    >>> kaiser(3, 5.0)[1].item()
    1.0
    """
    return _weights("kaiser", M, beta)


def i0(x: Any) -> Tensor:
    """The modified Bessel function of the first kind and order 0.

    >>> i0(0.0).item()
    1.0
    """
    return ops.bessel_i0(floated(tensor(x)))
