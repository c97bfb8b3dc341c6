"""Complex numbers: how they are made of parts, and taken apart.

A complex value is one value of the graph, with one gradient. What an op does with complex numbers it says by its rule
`in_parts`, by which programs compute with real numbers only (`primitives/pairing.py`). A cotangent of z = a + ib is the
slope along a plus i times the slope along b, as in PyTorch and MindSpore: a step against it goes down. Rules of ops
transpose without conjugating, and `transforms.by_rule` conjugates before and after.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Cotangents, Pair, Value, algebra
from mycelia.primitives.binary import Binary
from mycelia.primitives.family import draw
from mycelia.primitives.unary import Unary
from mycelia.types import COMPLEX, Array, Shape, TensorType, complex64, complex128, dtype_of, float32, float64

__all__ = ["Complex", "Conj", "ImagPart", "RealPart", "angle", "complex_of", "conj", "imag", "real"]


class Complex(Binary):
    """The number with these parts: the real one, and the imaginary one.

    >>> Complex().reference(np.array([1.0]), np.array([-2.0]))
    array([1.-2.j])
    """

    cheap: ClassVar[bool] = True
    dtypes = (float32, float64)

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        return TensorType(COMPLEX[x.dtype], shape)

    def reference(self, x: Array, y: Array) -> Array:  # type: ignore[override]  # of two arrays
        out = np.empty(np.broadcast_shapes(x.shape, y.shape), COMPLEX[dtype_of(x)].numpy)
        out.real, out.imag = x, y
        return out

    def in_parts(self, x: Value, y: Value) -> Pair:
        shape = self.infer(x.tensor, y.tensor).shape
        return Pair(p.broadcast(x, shape), p.broadcast(y, shape))

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return real(ct), -imag(ct)


class OfComplex(Unary, abstract=True):
    """A function of a complex number."""

    cheap: ClassVar[bool] = True
    dtypes = (complex64, complex128)

    @classmethod
    def draw(cls, shape: Shape, seed: int) -> Array:
        return Complex().reference(draw(*shape, seed=seed), draw(*shape, seed=seed + 100))


class ComplexPart(OfComplex, abstract=True):
    """A real number that a complex one has."""

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        return TensorType(x.dtype.part, shape)


class RealPart(ComplexPart):
    """The real part.

    >>> RealPart().reference(np.array([1 + 2j]))
    array([1.])
    """

    name, oracle = "real", np.real

    def in_parts(self, x: Pair) -> Any:
        return x.real

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (Complex()(ct, p.zeros_like(ct)),)


class ImagPart(ComplexPart):
    """The imaginary part.

    >>> ImagPart().reference(np.array([1 + 2j]))
    array([2.])
    """

    name, oracle = "imag", np.imag

    def in_parts(self, x: Pair) -> Any:
        return x.imag

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (Complex()(p.zeros_like(ct), -ct),)


class Conj(OfComplex):
    """The number with the other imaginary part.

    >>> Conj().reference(np.array([1 + 2j]))
    array([1.-2.j])
    """

    oracle = np.conj

    def in_parts(self, x: Pair) -> Pair:
        return Pair(x.real, -x.imag)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (Conj()(ct),)


complex_of, real, imag = Complex(), RealPart(), ImagPart()


def conj(x: Any) -> Any:
    """The conjugate of complex numbers; real ones as they are.

    >>> conj(conj(p.zeros(complex64, (2,)))) is p.zeros(complex64, (2,))
    True
    """
    if not x.dtype.is_complex:
        return x
    return x.inputs[0] if isinstance(x, Value) and isinstance(x.op, Conj) else Conj()(x)


def angle(x: Any) -> Any:
    """The angle between a complex number and the positive real axis.

    >>> str(angle(p.zeros(complex64, (2,))).type)
    'f32[2]'
    """
    return p.atan2(imag(x), real(x))


algebra.conj = conj
