"""Operations on complex numbers as objects: a table of names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, DTypeError
from mycelia.ops import complexes, fourier
from mycelia.ops.arguments import sizes, tensor
from mycelia.ops.primitive import declare

__all__: list[str] = []


def _length(x: Any) -> Tensor:
    """The distance of complex numbers from zero."""
    return p.abs(tensor(x))


def _conjugate_transpose(x: Any, perm: Any) -> Tensor:
    """The conjugate, with its axes in another order."""
    return complexes.conj(p.transpose(tensor(x), sizes(perm)))


def _fft_with_size(
    x: Any,
    signal_ndim: int,
    inverse: bool,
    real: bool,
    norm: str = "backward",
    onesided: bool = True,
    signal_sizes: Any = (),
) -> Tensor:
    """The Fourier transform of the last axes, or its inverse, of complex numbers or of real ones."""
    if signal_ndim not in (1, 2, 3):
        raise ArgumentError(f"FFTWithSize transforms 1, 2 or 3 axes, not {signal_ndim!r}", hint="or use ops.fftn")
    x, axes = tensor(x), tuple(range(-signal_ndim, 0))
    if real == x.dtype.is_complex and not inverse:
        kind = "real" if real else "complex"
        raise DTypeError(f"FFTWithSize(real={real}) takes {kind} numbers, not {x.dtype!r}", hint="choose the other")
    if real and inverse and onesided:
        return fourier.irfftn(x, sizes(signal_sizes) or None, axes, norm)
    if real and not inverse and onesided:
        return fourier.rfftn(x, None, axes, norm)
    out = (fourier.ifftn if inverse else fourier.fftn)(x, None, axes, norm)
    return complexes.real(out) if real and inverse else out


_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "Angle": ("", complexes.angle),
    "Complex": ("", complexes.combined),
    "ComplexAbs": ("", _length),
    "Conj": ("", complexes.conj),
    "ConjugateTranspose": ("", _conjugate_transpose),
    "FFTWithSize": ("signal_ndim, inverse, real, norm='backward', onesided=True, signal_sizes=()", _fft_with_size),
    "Imag": ("", complexes.imag),
    "Polar": ("", complexes.polar),
    "Real": ("", complexes.real),
}
for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
