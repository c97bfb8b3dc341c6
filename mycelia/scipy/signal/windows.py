"""Windows: numbers that rise and fall, by which pieces of signals are multiplied. With `sym=False` they are periods."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.names import boundary as _boundary

__all__ = [
    "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine", "exponential", "flattop",
    "gaussian", "general_cosine", "general_gaussian", "general_hamming", "get_window", "hamming", "hann", "kaiser",
    "lanczos", "nuttall", "parzen", "triang", "tukey",
]  # fmt: skip


def _made(M: Any, sym: bool, rule: Callable[[int], Any]) -> Tensor:
    """A window of M numbers; a period is one longer, without its last."""
    count = index(M)
    if count < 0:
        raise ArgumentError(f"a window has no number or more, not {count}")
    if count <= 1:
        return Tensor(numpy.ones(count))
    values = rule(count if sym else count + 1)
    return Tensor(numpy.asarray(values if sym else values[:-1], "float64"))


def boxcar(M: int, sym: bool = True) -> Tensor:
    """Ones.

    >>> boxcar(2).tolist()
    [1.0, 1.0]
    """
    return _made(M, sym, numpy.ones)


def triang(M: int, sym: bool = True) -> Tensor:
    """A triangle that is not 0 at its ends.

    >>> triang(3).tolist()
    [0.5, 1.0, 0.5]
    """

    def rule(n: int) -> Any:
        away = numpy.abs(numpy.arange(n) - (n - 1) / 2)
        return 1 - away / (n / 2) if n % 2 == 0 else 1 - away / ((n + 1) / 2)

    return _made(M, sym, rule)


def bartlett(M: int, sym: bool = True) -> Tensor:
    """A triangle that is 0 at its ends.

    >>> bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _made(M, sym, numpy.bartlett)


def parzen(M: int, sym: bool = True) -> Tensor:
    """The window of Parzen, made of cubes.

    >>> round(parzen(3).tolist()[1], 4)
    1.0
    """

    def rule(n: int) -> Any:
        away = numpy.abs(numpy.arange(-(n - 1) / 2.0, (n - 1) / 2.0 + 0.5, 1.0)) / (n / 2.0)
        inner = 1 - 6 * away**2 + 6 * away**3
        return numpy.where(away * (n / 2.0) <= (n - 1) / 4.0, inner, 2 * (1 - away) ** 3)

    return _made(M, sym, rule)


def bohman(M: int, sym: bool = True) -> Tensor:
    """The window of Bohman.

    >>> bohman(3).tolist()
    [0.0, 1.0, 0.0]
    """

    def rule(n: int) -> Any:
        away = numpy.abs(numpy.linspace(-1, 1, n)[1:-1])
        inner = (1 - away) * numpy.cos(numpy.pi * away) + 1.0 / numpy.pi * numpy.sin(numpy.pi * away)
        return numpy.concatenate([[0.0], inner, [0.0]])

    return _made(M, sym, rule)


def general_cosine(M: int, a: Any, sym: bool = True) -> Tensor:
    """A sum of cosines with these weights.

    >>> general_cosine(3, [0.5, 0.5]).tolist()
    [0.0, 1.0, 0.0]
    """
    weights = a.numbers() if isinstance(a, Tensor) else numpy.asarray(a)

    def rule(n: int) -> Any:
        turn = numpy.linspace(-numpy.pi, numpy.pi, n)
        return sum(w * numpy.cos(k * turn) for k, w in enumerate(weights))

    return _made(M, sym, rule)


def general_hamming(M: int, alpha: float, sym: bool = True) -> Tensor:
    """A raised cosine.

    >>> general_hamming(3, 0.5).tolist()
    [0.0, 1.0, 0.0]
    """
    return general_cosine(M, [alpha, 1.0 - alpha], sym)


def hann(M: int, sym: bool = True) -> Tensor:
    """A raised cosine that is 0 at its ends.

    >>> hann(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return general_hamming(M, 0.5, sym)


def hamming(M: int, sym: bool = True) -> Tensor:
    """A raised cosine that is 0.08 at its ends.

    >>> [round(v, 4) for v in hamming(3).tolist()]
    [0.08, 1.0, 0.08]
    """
    return general_hamming(M, 0.54, sym)


def blackman(M: int, sym: bool = True) -> Tensor:
    """The window of Blackman.

    >>> round(blackman(3).tolist()[1], 4)
    1.0
    """
    return general_cosine(M, [0.42, 0.50, 0.08], sym)


def nuttall(M: int, sym: bool = True) -> Tensor:
    """The window of Nuttall.

    >>> round(nuttall(3).tolist()[1], 4)
    1.0
    """
    return general_cosine(M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym)


def blackmanharris(M: int, sym: bool = True) -> Tensor:
    """The window of Blackman and Harris.

    >>> round(blackmanharris(3).tolist()[1], 4)
    1.0
    """
    return general_cosine(M, [0.35875, 0.48829, 0.14128, 0.01168], sym)


def flattop(M: int, sym: bool = True) -> Tensor:
    """A window with a flat top.

    >>> round(flattop(3).tolist()[1], 4)
    1.0
    """
    return general_cosine(M, [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368], sym)


def barthann(M: int, sym: bool = True) -> Tensor:
    """The window of Bartlett and Hann.

    >>> round(barthann(3).tolist()[1], 4)
    1.0
    """

    def rule(n: int) -> Any:
        away = numpy.abs(numpy.arange(n) / (n - 1.0) - 0.5)
        return 0.62 - 0.48 * away + 0.38 * numpy.cos(2 * numpy.pi * away)

    return _made(M, sym, rule)


def cosine(M: int, sym: bool = True) -> Tensor:
    """Half a wave.

    >>> round(cosine(3).tolist()[1], 4)
    1.0
    """
    return _made(M, sym, lambda n: numpy.sin(numpy.pi / n * (numpy.arange(n) + 0.5)))


def lanczos(M: int, *, sym: bool = True) -> Tensor:
    """The middle of sin(x) / x.

    >>> round(lanczos(3).tolist()[1], 4)
    1.0
    """
    return _made(M, sym, lambda n: numpy.sinc(2.0 * numpy.arange(n) / (n - 1) - 1.0))


def exponential(M: int, center: float | None = None, tau: float = 1.0, sym: bool = True) -> Tensor:
    """Falls by a factor of e every `tau` steps from the centre, which only a period can have elsewhere.

    >>> round(exponential(3).tolist()[0], 4)
    0.3679
    """
    if sym and center is not None:
        raise ArgumentError("the centre of a symmetric window is its middle", hint="sym=False")

    def rule(n: int) -> Any:
        middle = (n - 1) / 2 if center is None else center
        return numpy.exp(-numpy.abs(numpy.arange(n) - middle) / tau)

    return _made(M, sym, rule)


def gaussian(M: int, std: float, sym: bool = True) -> Tensor:
    """A bell of this standard deviation.

    >>> round(gaussian(3, 1.0).tolist()[0], 4)
    0.6065
    """
    return general_gaussian(M, 1.0, std, sym)


def general_gaussian(M: int, p: float, sig: float, sym: bool = True) -> Tensor:
    """exp(-|n / sig|^2p / 2).

    >>> round(general_gaussian(3, 1.0, 1.0).tolist()[0], 4)
    0.6065
    """
    return _made(M, sym, lambda n: numpy.exp(-0.5 * numpy.abs((numpy.arange(n) - (n - 1.0) / 2.0) / sig) ** (2 * p)))


def tukey(M: int, alpha: float = 0.5, sym: bool = True) -> Tensor:
    """Ones with cosines at both ends, which take a share alpha.

    >>> tukey(3, 0.5).tolist()
    [0.0, 1.0, 0.0]
    """
    if alpha <= 0:
        return boxcar(M, sym)
    if alpha >= 1:
        return hann(M, sym)

    def rule(n: int) -> Any:
        places, width = numpy.arange(n), int(numpy.floor(alpha * (n - 1) / 2.0))
        rising = 0.5 * (1 + numpy.cos(numpy.pi * (-1 + 2.0 * places / alpha / (n - 1))))
        falling = 0.5 * (1 + numpy.cos(numpy.pi * (-2.0 / alpha + 1 + 2.0 * places / alpha / (n - 1))))
        return numpy.where(places <= width, rising, numpy.where(places >= n - width - 1, falling, 1.0))

    return _made(M, sym, rule)


def kaiser(M: int, beta: float, sym: bool = True) -> Tensor:
    """The window of Kaiser.

    >>> round(kaiser(3, 0.0).tolist()[1], 4)
    1.0
    """
    return _made(M, sym, lambda n: numpy.kaiser(n, beta))


_NAMED: dict[str, Callable[..., Tensor]] = {
    "barthann": barthann, "bartlett": bartlett, "blackman": blackman, "blackmanharris": blackmanharris,
    "bohman": bohman, "boxcar": boxcar, "rectangular": boxcar, "cosine": cosine, "exponential": exponential,
    "flattop": flattop, "gaussian": gaussian, "general_cosine": general_cosine,
    "general_gaussian": general_gaussian, "general_hamming": general_hamming, "hamming": hamming, "hann": hann,
    "kaiser": kaiser, "lanczos": lanczos, "nuttall": nuttall, "parzen": parzen, "triang": triang, "tukey": tukey,
}  # fmt: skip


def get_window(window: Any, Nx: int, fftbins: bool = True) -> Tensor:
    """A window by its name, by a tuple of its name and settings, or by a number: Kaiser's beta.

    >>> get_window("hann", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    if isinstance(window, int | float) and not isinstance(window, bool):
        return kaiser(Nx, float(window), not fftbins)
    name, *settings = (window,) if isinstance(window, str) else window
    if name not in _NAMED:
        raise ArgumentError(f"there is no window {name!r}", hint=", ".join(_NAMED))
    return _NAMED[name](Nx, *settings, sym=not fftbins)


_boundary(globals())
