"""Complex numbers: their parts, lengths and angles, and how they are made of real numbers."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import DTypeError, ShapeError
from mycelia.ops.arguments import floated, method, pair, tensor
from mycelia.ops.creation import zeros_like
from mycelia.types import DType, float32, float64

__all__ = [
    "angle",
    "conj",
    "imag",
    "is_complex",
    "isreal",
    "polar",
    "real",
    "view_as_complex",
    "view_as_real",
]


@method()
def real(input: Any) -> Tensor:
    """The real part; real numbers as they are.

    >>> real(Tensor([1 + 2j])).tolist()
    [1.0]
    """
    x = tensor(input)
    return p.real(x) if x.dtype.is_complex else x.alias()


@method()
def imag(input: Any) -> Tensor:
    """The imaginary part, which is zero of real numbers.

    >>> imag(Tensor([1 + 2j])).tolist()
    [2.0]
    """
    x = tensor(input)
    return p.imag(x) if x.dtype.is_complex else zeros_like(x)


@method()
def conj(input: Any) -> Tensor:
    """The number with the other imaginary part; real numbers as they are.

    >>> conj(Tensor([1 + 2j])).tolist()
    [(1-2j)]
    """
    x = tensor(input)
    return p.conj(x) if x.dtype.is_complex else x.alias()


@method()
def angle(input: Any) -> Tensor:
    """The angle between a number and the positive real axis, from -pi to pi.

    >>> angle(Tensor([1j, -1.0])).tolist()
    [1.5707963267948966, 3.141592653589793]
    """
    x = tensor(input)
    if x.dtype.is_complex:
        return p.angle(x)
    x = floated(x)
    return p.atan2(x * 0, x)


def polar(abs: Any, angle: Any) -> Tensor:
    """The complex number of this length, at this angle.

    >>> polar(Tensor([2.0]), Tensor([0.0])).tolist()
    [(2+0j)]
    """
    length, turn = pair(abs, angle, _half_of_complex)
    return p.complex_of(length * p.cos(turn), length * p.sin(turn))


def combined(real: Any, imag: Any) -> Tensor:
    """The complex number with these parts, float32 or float64.

    >>> combined(Tensor([1.0]), Tensor([2.0])).tolist()
    [(1+2j)]
    """
    return p.complex_of(*pair(real, imag, _half_of_complex))


def _half_of_complex(dtype: DType) -> DType:
    """The element type of a part that is given with this one."""
    if dtype.is_complex:
        raise DTypeError(f"a part of a complex number is real, not {dtype!r}", hint="take ops.real or ops.abs of it")
    return float64 if dtype is float64 else float32


@method()
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers.

    >>> is_complex(Tensor([1j])), is_complex(Tensor([1.0]))
    (True, False)
    """
    return tensor(input).dtype.is_complex


@method()
def isreal(input: Any) -> Tensor:
    """Whether the imaginary part of each element is zero.

    >>> isreal(Tensor([1j, 2.0])).tolist()
    [False, True]
    """
    x = tensor(input)
    return p.imag(x) == 0 if x.dtype.is_complex else p.logical_or(x == x, x != x)


def view_as_real(input: Any) -> Tensor:
    """The real and the imaginary part, along a further axis at the end.

    >>> view_as_real(Tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    x = tensor(input)
    if not x.dtype.is_complex:
        raise DTypeError(f"view_as_real takes complex numbers, not {x.dtype!r}", hint="stack it with zeros")
    return p.concat([p.expand_dims(part, (x.ndim,)) for part in (p.real(x), p.imag(x))], x.ndim)


def view_as_complex(input: Any) -> Tensor:
    """The complex numbers whose real and imaginary parts lie along the last axis.

    >>> view_as_complex(Tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    x = tensor(input)
    if not x.ndim or x.shape[-1] != 2:
        raise ShapeError(
            f"view_as_complex takes pairs along the last axis, and the shape is {x.shape}",
            hint="the last axis must hold two numbers",
        )
    x = cast(x, _half_of_complex(floating(x.dtype)))
    last = x.ndim - 1
    return p.complex_of(*(p.reshape(p.take(x, last, i, i + 1), x.shape[:-1]) for i in range(2)))
