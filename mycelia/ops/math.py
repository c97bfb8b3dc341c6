"""Functions of one number, applied to every element."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

import ml_dtypes

from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.ops.arguments import floated, method, number, tensor
from mycelia.types import bool_

__all__ = [
    "abs",
    "absolute",
    "bitwise_not",
    "ceil",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "frac",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_not",
    "logit",
    "nan_to_num",
    "neg",
    "negative",
    "reciprocal",
    "round",
    "rsqrt",
    "sgn",
    "sign",
    "signbit",
    "sqrt",
    "square",
    "trunc",
]


@method("abs", "absolute")
def abs(input: Any) -> Tensor:
    """The distance from zero.

    >>> abs(Tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return p.abs(tensor(input))


@method("neg", "negative")
def neg(input: Any) -> Tensor:
    """The number with the other sign.

    >>> neg(Tensor([1, -2])).tolist()
    [-1, 2]
    """
    return p.negative(tensor(input))


@method("sign", "sgn")
def sign(input: Any) -> Tensor:
    """-1, 0 or 1.

    >>> sign(Tensor([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return p.sign(tensor(input))


@method()
def sqrt(x: Any) -> Tensor:
    """The square root.

    >>> sqrt(Tensor([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return p.sqrt(floated(x))


def length(squares: Any) -> Tensor:
    """The root of a sum of squares. Where the sum is 0 it has a corner: the derivative there is 0, and not infinite.

    >>> length(Tensor([0.0, 9.0])).tolist()
    [0.0, 3.0]
    """
    nothing = squares == 0
    return p.select(nothing, number(0.0, squares), p.sqrt(p.select(nothing, number(1.0, squares), squares)))


@method()
def rsqrt(input: Any) -> Tensor:
    """One over the square root.

    >>> rsqrt(Tensor([4.0])).tolist()
    [0.5]
    """
    return p.rsqrt(floated(input))


@method()
def square(input: Any) -> Tensor:
    """The number times itself.

    >>> square(Tensor([3])).tolist()
    [9]
    """
    x = tensor(input)
    return x * x


@method()
def reciprocal(input: Any) -> Tensor:
    """One over the number.

    >>> reciprocal(Tensor([4.0])).tolist()
    [0.25]
    """
    return p.reciprocal(floated(input))


@method()
def exp(input: Any) -> Tensor:
    """E to the power.

    >>> exp(Tensor([0.0])).tolist()
    [1.0]
    """
    return p.exp(floated(input))


@method()
def exp2(input: Any) -> Tensor:
    """Two to the power.

    >>> exp2(Tensor([0.0])).tolist()
    [1.0]
    """
    return p.exp2(floated(input))


@method()
def expm1(input: Any) -> Tensor:
    """E to the power, less one, exact near zero.

    >>> expm1(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.expm1(floated(input))


@method()
def log(input: Any) -> Tensor:
    """The natural logarithm.

    >>> log(Tensor([1.0])).tolist()
    [0.0]
    """
    return p.log(floated(input))


@method()
def log1p(input: Any) -> Tensor:
    """The logarithm of one more, exact near zero.

    >>> log1p(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.log1p(floated(input))


@method()
def log2(input: Any) -> Tensor:
    """The logarithm to base 2.

    >>> log2(Tensor([8.0])).item()
    3.0
    """
    return p.log(floated(input)) * (1.0 / python.log(2.0))


@method()
def log10(input: Any) -> Tensor:
    """The logarithm to base 10.

    >>> log10(Tensor([100.0])).item()
    2.0
    """
    return p.log(floated(input)) * (1.0 / python.log(10.0))


@method()
def erf(input: Any) -> Tensor:
    """The error function.

    >>> erf(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.erf(floated(input))


@method()
def erfc(input: Any) -> Tensor:
    """One minus the error function.

    >>> erfc(Tensor([0.0])).tolist()
    [1.0]
    """
    return p.erfc(floated(input))


@method()
def floor(input: Any) -> Tensor:
    """The nearest whole number below.

    >>> floor(Tensor([1.7, -1.2])).tolist()
    [1.0, -2.0]
    """
    return _rounded(p.floor, input)


@method()
def ceil(input: Any) -> Tensor:
    """The nearest whole number above.

    >>> ceil(Tensor([1.2])).tolist()
    [2.0]
    """
    return _rounded(p.ceil, input)


@method()
def round(input: Any, *, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimals, the even one of two.

    >>> round(Tensor([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    """
    if decimals:
        scale = 10.0 ** max(decimals, -decimals)
        x = floated(input)
        return _rounded(p.round, x * scale) / scale if decimals > 0 else _rounded(p.round, x / scale) * scale
    return _rounded(p.round, input)


@method("__round__")
def _rounded_to(self: Tensor, ndigits: int | None = None) -> Tensor:
    """What Python's `round` gives of a tensor: a tensor."""
    return round(self, decimals=ndigits or 0)


@method()
def trunc(input: Any) -> Tensor:
    """The nearest whole number towards zero.

    >>> trunc(Tensor([-1.7])).tolist()
    [-1.0]
    """
    return _rounded(p.trunc, input)


def _rounded(function: Any, input: Any) -> Tensor:
    x = tensor(input)
    return function(x) if x.dtype.is_inexact else x.alias()  # of complex numbers it is refused


@method()
def frac(input: Any) -> Tensor:
    """What is left when the whole part is taken away.

    >>> frac(Tensor([1.25])).tolist()
    [0.25]
    """
    x = tensor(input)
    return x - trunc(x)


@method()
def logical_not(input: Any) -> Tensor:
    """True where the element is zero or false.

    >>> logical_not(Tensor([True, False])).tolist()
    [False, True]
    """
    return p.logical_not(truth(input))


@method("bitwise_not", "invert")
def bitwise_not(input: Any) -> Tensor:
    """Every bit flipped; of a bool, the other one.

    >>> bitwise_not(Tensor([0, 5])).tolist()
    [-1, -6]
    """
    return p.logical_not(tensor(input))


@method()
def isnan(input: Any) -> Tensor:
    """Whether the element is not a number.

    >>> isnan(Tensor([1.0, float("nan")])).tolist()
    [False, True]
    """
    x = tensor(input)
    return p.is_nan(x) if x.dtype.is_inexact else p.not_equal(x, x)


@method()
def isfinite(input: Any) -> Tensor:
    """Whether the element is neither infinite nor nan.

    >>> isfinite(Tensor([1.0, float("inf")])).tolist()
    [True, False]
    """
    x = tensor(input)
    return p.is_finite(x) if x.dtype.is_inexact else p.equal(x, x)


@method()
def isinf(input: Any) -> Tensor:
    """Whether the element is infinite.

    >>> isinf(Tensor([1.0, float("-inf")])).tolist()
    [False, True]
    """
    x = floated(input)
    return p.abs(x) == python.inf


@method()
def signbit(input: Any) -> Tensor:
    """Whether the sign is negative, that of zero too.

    >>> signbit(Tensor([1.0, -1.0, -0.0])).tolist()
    [False, True, True]
    """
    x = tensor(input)
    return p.sign_bit(x) if x.dtype.is_float else x < 0


@method()
def logit(input: Any, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of the sigmoid; with `eps`, of x kept that far from 0 and 1.

    >>> logit(Tensor([0.5])).tolist()
    [0.0]
    """
    x = floated(input)
    if eps is not None:
        x = p.minimum(p.maximum(x, number(eps, x)), number(1.0 - eps, x))
    return p.log(x) - p.log1p(p.negative(x))


@method()
def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Numbers in place of nan (0) and infinities (the largest and the smallest).

    >>> nan_to_num(Tensor([float("nan"), 1.0]), nan=5.0).tolist()
    [5.0, 1.0]
    """
    x = tensor(input)
    if not x.dtype.is_inexact:
        return x.copy()  # all of them are numbers
    if x.dtype.is_complex:
        return p.complex_of(*(nan_to_num(part, nan, posinf, neginf) for part in (p.real(x), p.imag(x))))
    largest = float(_largest(x))
    x = p.select(p.is_nan(x), number(nan or 0.0, x), x)
    x = p.select(x == python.inf, number(largest if posinf is None else posinf, x), x)
    return p.select(x == -python.inf, number(-largest if neginf is None else neginf, x), x)


def _largest(x: Tensor) -> float:
    return float(ml_dtypes.finfo(x.dtype.numpy).max)  # type: ignore[no-untyped-call]  # NumPy's knows no bfloat16


def squared(x: Tensor) -> Tensor:
    """The square of the distance from zero, a real number.

    >>> squared(Tensor([3 + 4j])).tolist()
    [25.0]
    """
    if not x.dtype.is_complex:
        return x * x
    a, b = p.real(x), p.imag(x)
    return a * a + b * b


def truth(x: Any) -> Tensor:
    """Whether each element is not zero.

    >>> truth(Tensor([0, 2])).tolist()
    [False, True]
    """
    x = tensor(x)
    return x if x.dtype is bool_ else x != 0


absolute, negative, sgn, invert = abs, neg, sign, bitwise_not
