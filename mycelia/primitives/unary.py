"""Functions of one element. Their functions are the ops themselves: `exp = Exp()`, so `exp(x)`."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Cotangents, Pair, Value, each_part, zero_gradient
from mycelia.loops import Expr, binary, const, unary
from mycelia.primitives import complex_formulas as formulas
from mycelia.primitives.elementwise import Elementwise
from mycelia.primitives.family import BITS, NUMBERS
from mycelia.types import Array, Shape, TensorType, bool_

__all__ = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Erf",
    "Erfc",
    "Exp",
    "Exp2",
    "Expm1",
    "Floor",
    "IsFinite",
    "IsNan",
    "Log",
    "Log1p",
    "Negative",
    "Not",
    "Reciprocal",
    "Round",
    "Rsqrt",
    "Sigmoid",
    "Sign",
    "SignBit",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
    "Tanh",
    "Trunc",
    "Unary",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "is_finite",
    "is_nan",
    "log",
    "log1p",
    "logical_not",
    "negative",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sign_bit",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


class Unary(Elementwise, abstract=True):
    """A function of one element."""

    arity = 1


class Negative(Unary):
    """-x; unsigned integers wrap.

    >>> Negative().reference(np.array([1.0, -2.0]))
    array([-1.,  2.])
    """

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle = NUMBERS, "neg", np.negative
    points = (0.0, -0.0, 1e30)
    in_parts = each_part

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (-ct,)


class Abs(Unary):
    """|x|, with slope 0 at 0."""

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle = NUMBERS, "abs", np.abs
    points = (0.0, -0.0, -1.0, -math.inf)

    def in_parts(self, x: Pair) -> Any:
        return formulas.size(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        if x.dtype.is_complex:
            return (p.cast(ct, x.dtype) * p.conj(p.sign(x)),)
        return (ct * p.sign(x),)

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        return TensorType(x.dtype.part, shape)


class Sign(Unary):
    """-1, 0 or 1; nan stays nan. Of a complex number, the one of length 1 in its direction, and 0 of 0."""

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle = NUMBERS, "sign", np.sign
    points = (0.0, 1e-30, -1e-30, math.inf, math.nan)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.sign(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        """It is constant between jumps, but of a complex number it turns."""
        if not x.dtype.is_complex:
            return (None,)
        length = p.abs(x)
        nothing = p.equal(length, 0.0)
        across = ct - p.cast(p.real(ct * out), x.dtype) * p.conj(out)
        slope = p.select(nothing, p.zeros_like(length), 1.0 / p.select(nothing, p.ones_like(length), length))
        return (across * p.cast(slope, x.dtype),)


class Sqrt(Unary):
    """The square root."""

    kind, oracle, domain = "sqrt", np.sqrt, (0.1, 2.0)
    points = (0.0, 1e-30, 1e30, math.inf, -1.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.sqrt(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct / (2.0 * out),)


class Rsqrt(Unary):
    """1 / sqrt(x)."""

    kind, domain = "rsqrt", (0.1, 2.0)
    points = (1e-30, 1e30, 4.0)

    @staticmethod
    def oracle(x: Array) -> Any:
        return 1 / np.sqrt(x)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.reciprocal(formulas.sqrt(x))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (-0.5 * ct * out * out * out,)


class Reciprocal(Unary):
    """1 / x."""

    cheap: ClassVar[bool] = True
    oracle, domain = np.reciprocal, (0.5, 2.0)
    points = (-0.5, 1e-30, -1e30)

    def scalar(self, x: Expr) -> Expr:  # type: ignore[override]  # of one element
        return const(1.0, x.dtype) / x

    def in_parts(self, x: Pair) -> Pair:
        return formulas.reciprocal(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (-ct * out * out,)


class Exp(Unary):
    """The exponential.

    >>> Exp().reference(np.array([0.0]))
    array([1.])
    """

    kind, oracle = "exp", np.exp
    points = (0.0, -80.0, 80.0, -1e4, 1e4, math.inf, -math.inf)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.exp(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * out,)


class Exp2(Unary):
    """Two to the power x."""

    kind = "exp2"
    points = (0.0, 1.0, 88.0, -100.0, 127.0, 1e4, -1e4)

    @staticmethod
    def oracle(x: Array) -> Any:
        if x.dtype != np.float32:
            return np.exp2(x)
        return np.exp2(x.astype(np.float64)).astype(np.float32)  # NumPy's own misses 2**127 by a bit on AVX-512

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * out * math.log(2.0),)


def _expm1(x: Any) -> Any:
    """NumPy's, which loses the zero beside a real part that overflows."""
    found = np.expm1(x)
    if not np.iscomplexobj(found):
        return found
    return _complex(found.real, np.where(x.imag == 0, x.imag, found.imag), found)


def _log1p(x: Any) -> Any:
    """NumPy's, which is not accurate near 0 for complex numbers."""
    found = np.log1p(x)
    if not np.iscomplexobj(found):
        return found
    near = (np.abs(x.real) < 0.5) & (np.abs(x.imag) < 0.5)
    a, b = (np.where(near, part, 0) for part in (x.real, x.imag))
    return _complex(np.where(near, 0.5 * np.log1p(a * (2 + a) + b * b), found.real), found.imag, found)


def _complex(real: Any, imag: Any, like: Any) -> Any:
    made = np.empty_like(like)
    made.real, made.imag = real, imag
    return made


class Expm1(Unary):
    """exp(x) - 1, accurate near 0."""

    kind, oracle = "expm1", _expm1
    points = (0.0, 1e-7, -1e-7, -80.0, 80.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.expm1(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * (out + 1.0),)


class Log(Unary):
    """The natural logarithm."""

    kind, oracle, domain = "log", np.log, (0.1, 2.0)
    points = (0.0, 1e-30, 1.0, 1e30, math.inf, -1.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.log(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct / x,)


class Log1p(Unary):
    """log(1 + x), accurate near 0."""

    kind, oracle, domain = "log1p", _log1p, (-0.9, 2.0)
    points = (-1.0, 0.0, 1e-7, -1e-7, 1e30)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.log1p(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct / (1.0 + x),)


class Tanh(Unary):
    """The hyperbolic tangent."""

    kind, oracle = "tanh", np.tanh
    points = (0.0, 1e-7, -20.0, 20.0, 1e4, -math.inf)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.tanh(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * (1.0 - out * out),)


class Sigmoid(Unary):
    """1 / (1 + exp(-x))."""

    kind = "sigmoid"
    points = (0.0, -80.0, 80.0, 1e4, -1e4)

    @staticmethod
    def oracle(x: Array) -> Any:
        small = np.exp(-np.abs(x))  # never overflows
        return np.where(x >= 0, 1 / (1 + small), small / (1 + small))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * out * (1.0 - out),)


class Erf(Unary):
    """The error function."""

    kind = "erf"
    points = (0.0, 1e-7, -0.5, 4.0, -6.0, 30.0)

    @staticmethod
    def oracle(x: Array) -> Any:
        return np.asarray(_ERF(x), x.dtype)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * (2.0 / math.sqrt(math.pi)) * p.exp(-x * x),)


class Erfc(Unary):
    """One minus the error function, without what the difference would lose."""

    kind = "erfc"
    points = (0.0, 1e-7, -0.5, 0.5, 4.0, 5.0, 9.0, -6.0, 30.0, math.inf, -math.inf)

    @staticmethod
    def oracle(x: Array) -> Any:
        return np.asarray(_ERFC(x), x.dtype)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * (-2.0 / math.sqrt(math.pi)) * p.exp(-x * x),)


_ERF, _ERFC = np.frompyfunc(math.erf, 1, 1), np.frompyfunc(math.erfc, 1, 1)


class Sin(Unary):
    """The sine."""

    kind, oracle = "sin", np.sin
    points = (0.0, 1e-7, math.pi, 50.0, -1000.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.sin(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * p.cos(x),)


class Cos(Unary):
    """The cosine."""

    kind, oracle = "cos", np.cos
    points = (0.0, math.pi, 50.0, -1000.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.cos(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (-ct * p.sin(x),)


class Tan(Unary):
    """The tangent."""

    kind, oracle, domain = "tan", np.tan, (-1.2, 1.2)
    points = (0.0, 1e-7, 4.0, -10.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.tan(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * (1.0 + out * out),)


class Asin(Unary):
    """The inverse sine."""

    kind, oracle, domain = "asin", np.arcsin, (-0.9, 0.9)
    points = (-1.0, 0.0, 1.0, 1e-7)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.asin(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * p.rsqrt((1.0 - x) * (1.0 + x)),)


class Acos(Unary):
    """The inverse cosine."""

    kind, oracle, domain = "acos", np.arccos, (-0.9, 0.9)
    points = (-1.0, 0.0, 1.0, 1e-7)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.acos(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (-ct * p.rsqrt((1.0 - x) * (1.0 + x)),)


class Atan(Unary):
    """The inverse tangent."""

    kind, oracle = "atan", np.arctan
    points = (0.0, 1e-7, 1e10, -math.inf)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.atan(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct / (1.0 + x * x),)


class Sinh(Unary):
    """The hyperbolic sine."""

    kind, oracle = "sinh", np.sinh
    points = (0.0, 1e-7, -80.0, 80.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.sinh(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * p.cosh(x),)


class Cosh(Unary):
    """The hyperbolic cosine."""

    kind, oracle = "cosh", np.cosh
    points = (0.0, -80.0, 80.0)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.cosh(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * p.sinh(x),)


class Asinh(Unary):
    """The inverse hyperbolic sine."""

    kind, oracle = "asinh", np.arcsinh
    points = (0.0, 1e-7, -1e10, 1e10)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.asinh(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct * p.rsqrt(x * x + 1.0),)


class Acosh(Unary):
    """The inverse hyperbolic cosine."""

    kind, oracle, domain = "acosh", np.arccosh, (1.2, 3.0)
    points = (1.0, 1.0001, 1e10)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.acosh(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        if x.dtype.is_complex:
            return (ct * p.rsqrt(x - 1.0) * p.rsqrt(x + 1.0),)
        return (ct * p.rsqrt((x - 1.0) * (x + 1.0)),)


class Atanh(Unary):
    """The inverse hyperbolic tangent."""

    kind, oracle, domain = "atanh", np.arctanh, (-0.9, 0.9)
    points = (0.0, 1e-7, -1e-7, 0.999)

    def in_parts(self, x: Pair) -> Pair:
        return formulas.atanh(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (ct / ((1.0 - x) * (1.0 + x)),)


class Rounding(Unary, abstract=True):
    """A nearby whole number."""

    cheap: ClassVar[bool] = True
    points = (0.0, -0.5, 0.5, 1.5, 2.5, -3.0, 1e30)
    vjp = zero_gradient("it is constant between jumps")


class Floor(Rounding):
    """The largest whole number not above x."""

    kind, oracle = "floor", np.floor


class Ceil(Rounding):
    """The smallest whole number not below x."""

    kind, oracle = "ceil", np.ceil


class Round(Rounding):
    """The nearest whole number; a half goes to the even one.

    >>> Round().reference(np.array([0.5, 1.5, 2.5]))
    array([0., 2., 2.])
    """

    kind, oracle = "rint", np.rint


class Trunc(Rounding):
    """The nearest whole number towards zero."""

    kind, oracle = "trunc", np.trunc


class Not(Unary):
    """Logical not of bools, every bit flipped of integers.

    >>> Not().reference(np.array([True, False])), Not().reference(np.array([0, 5]))
    (array([False,  True]), array([-1, -6]))
    """

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle, domain = BITS, "not", np.invert, (-9.0, 9.0)
    vjp = zero_gradient("its output is not a real number")


class Predicate(Unary, abstract=True):
    """A question about one number."""

    cheap: ClassVar[bool] = True
    points = (0.0, math.inf, -math.inf, math.nan, 1e30)
    vjp = zero_gradient("its output is a bool")

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        return TensorType(bool_, shape)


class IsNan(Predicate):
    """Whether x is not a number."""

    name, kind, oracle = "is_nan", "isnan", np.isnan

    def in_parts(self, x: Pair) -> Any:
        return p.logical_or(p.is_nan(x.real), p.is_nan(x.imag))


class SignBit(Predicate):
    """Whether the sign of x is negative, that of zero too."""

    name, kind, oracle = "sign_bit", "signbit", np.signbit
    points = (0.0, -0.0, math.inf, -math.inf, -1e-30)


class IsFinite(Predicate):
    """Whether x is neither infinite nor nan."""

    name, oracle = "is_finite", np.isfinite

    def scalar(self, x: Expr) -> Expr:  # type: ignore[override]  # of one element
        return binary("lt", unary("abs", x), const(math.inf, x.dtype))

    def in_parts(self, x: Pair) -> Any:
        return p.logical_and(p.is_finite(x.real), p.is_finite(x.imag))


negative, abs, sign, logical_not = Negative(), Abs(), Sign(), Not()
sqrt, rsqrt, reciprocal = Sqrt(), Rsqrt(), Reciprocal()
exp, exp2, expm1, log, log1p, tanh, sigmoid = Exp(), Exp2(), Expm1(), Log(), Log1p(), Tanh(), Sigmoid()
erf, erfc = Erf(), Erfc()
sin, cos, tan, asin, acos, atan = Sin(), Cos(), Tan(), Asin(), Acos(), Atan()
sinh, cosh, asinh, acosh, atanh = Sinh(), Cosh(), Asinh(), Acosh(), Atanh()
floor, ceil, round, trunc = Floor(), Ceil(), Round(), Trunc()
is_nan, is_finite, sign_bit = IsNan(), IsFinite(), SignBit()
