"""LLVM floats with the operators of mathematics, so that a formula reads as a formula.

A `Number` is an `ir.Value` together with the builder that writes what is done to it. It is one float or a vector of
them; Python's own floats become constants beside it. No instruction carries a fast-math flag: the formulas here
depend on every rounding.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from llvmlite import ir

from mycelia.frozen import frozen


@frozen
class Format:
    """A binary floating-point format: how wide it is, how many bits of it are the fraction."""

    bits: int
    fraction: int  # bits of the fraction, without the leading one that is not stored
    code: str  # of `struct`

    @property
    def floating(self) -> ir.Type:
        return ir.FloatType() if self.bits == 32 else ir.DoubleType()

    @property
    def integer(self) -> ir.Type:
        return ir.IntType(self.bits)

    @property
    def bias(self) -> int:
        """What is added to an exponent when it is stored; also the greatest exponent."""
        return (1 << (self.bits - self.fraction - 2)) - 1

    @property
    def shifter(self) -> float:
        """Added to a small number, it leaves the nearest integer, in the lowest bits of the sum."""
        return math.ldexp(1.5, self.fraction)

    @property
    def epsilon(self) -> float:
        """Half the distance from 1 to the next number: the greatest relative error of one rounding."""
        return math.ldexp(1.0, -self.fraction - 1)

    @property
    def smallest(self) -> float:
        """The smallest number with full precision."""
        return math.ldexp(1.0, 1 - self.bias)

    @property
    def largest(self) -> float:
        return math.ldexp(2 - 2 * self.epsilon, self.bias)

    def round(self, x: float) -> float:
        """`x` as this format holds it.

        >>> F32.round(0.1)
        0.10000000149011612
        """
        return float(struct.unpack(self.code, struct.pack(self.code, x))[0])

    def split(self, high: float, low: float, kept: int) -> tuple[float, float]:
        """`high + low` as a number with only `kept` leading bits, and the rest: products with short integers are exact.

        >>> F64.split(1.0, 2.0**-60, 20)
        (1.0, 8.673617379884035e-19)
        """
        mantissa, exponent = math.frexp(high)
        top = math.ldexp(round(math.ldexp(mantissa, kept)), exponent - kept)
        return top, self.round((high - top) + low)

    def pattern(self, x: float) -> int:
        """The bits of `x`, read as an integer.

        >>> hex(F32.pattern(1.0))
        '0x3f800000'
        """
        return int.from_bytes(struct.pack(self.code, x), "little")


F32, F64 = Format(32, 23, "<f"), Format(64, 52, "<d")


class Lanes:
    """One LLVM value or a vector of them, and the builder that writes what is done to it."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value

    def shaped(self, single: ir.Type) -> ir.Type:
        """`single`, as many as there are here."""
        mine = self.value.type
        return ir.VectorType(single, mine.count) if isinstance(mine, ir.VectorType) else single

    @property
    def single(self) -> ir.Type:
        """The type of one lane."""
        mine = self.value.type
        return mine.element if isinstance(mine, ir.VectorType) else mine

    def lift(self, other: Lanes | float) -> ir.Value:
        """`other` as an operand beside this value; a Python number is repeated in every lane."""
        return other.value if isinstance(other, Lanes) else ir.Constant(self.value.type, other)


class Mask(Lanes):
    """Truth, lane by lane."""

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.builder, self.builder.or_(self.value, other.value))

    def __invert__(self) -> Mask:
        return Mask(self.builder, self.builder.not_(self.value))


class Bits(Lanes):
    """Integers as wide as the floats they stand for."""

    def __add__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.add(self.value, self.lift(other)))

    def __sub__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.sub(self.value, self.lift(other)))

    def __rsub__(self, other: int) -> Bits:
        return Bits(self.builder, self.builder.sub(self.lift(other), self.value))

    def __and__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.and_(self.value, self.lift(other)))

    def __or__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.or_(self.value, self.lift(other)))

    def __xor__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.xor(self.value, self.lift(other)))

    def __lshift__(self, count: int) -> Bits:
        return Bits(self.builder, self.builder.shl(self.value, self.lift(count)))

    def __rshift__(self, count: int) -> Bits:
        """Shifted right; the sign fills the place."""
        return Bits(self.builder, self.builder.ashr(self.value, self.lift(count)))

    def nonzero(self) -> Mask:
        return Mask(self.builder, self.builder.icmp_unsigned("!=", self.value, self.lift(0)))

    def narrowed(self) -> Bits:
        """The lower half of 64 bits."""
        return Bits(self.builder, self.builder.trunc(self.value, self.shaped(ir.IntType(32))))

    def as_float(self) -> Number:
        """The float that has these bits."""
        form = F32 if self.single.width == 32 else F64
        return Number(self.builder, self.builder.bitcast(self.value, self.shaped(form.floating)))

    def to_float(self) -> Number:
        """The float that has this value."""
        form = F32 if self.single.width == 32 else F64
        return Number(self.builder, self.builder.sitofp(self.value, self.shaped(form.floating)))


class Number(Lanes):
    """A float, or a vector of floats."""

    @property
    def format(self) -> Format:
        assert self.single in (F32.floating, F64.floating), (
            f"vecmath computes in float and double, not in {self.single}"
        )
        return F32 if self.single == F32.floating else F64

    def __add__(self, other: Number | float) -> Number:
        return Number(self.builder, self.builder.fadd(self.value, self.lift(other)))

    __radd__ = __add__

    def __sub__(self, other: Number | float) -> Number:
        return Number(self.builder, self.builder.fsub(self.value, self.lift(other)))

    def __rsub__(self, other: float) -> Number:
        return Number(self.builder, self.builder.fsub(self.lift(other), self.value))

    def __mul__(self, other: Number | float) -> Number:
        return Number(self.builder, self.builder.fmul(self.value, self.lift(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Number | float) -> Number:
        return Number(self.builder, self.builder.fdiv(self.value, self.lift(other)))

    def __rtruediv__(self, other: float) -> Number:
        return Number(self.builder, self.builder.fdiv(self.lift(other), self.value))

    def __neg__(self) -> Number:
        return Number(self.builder, self.builder.fneg(self.value))

    def __abs__(self) -> Number:
        return self.intrinsic("fabs")

    def __lt__(self, other: Number | float) -> Mask:
        return self._compare("<", other)

    def __le__(self, other: Number | float) -> Mask:
        return self._compare("<=", other)

    def __gt__(self, other: Number | float) -> Mask:
        return self._compare(">", other)

    def __ge__(self, other: Number | float) -> Mask:
        return self._compare(">=", other)

    def equals(self, other: Number | float) -> Mask:
        return self._compare("==", other)

    def _compare(self, sign: str, other: Number | float) -> Mask:
        """False wherever one side is not a number."""
        return Mask(self.builder, self.builder.fcmp_ordered(sign, self.value, self.lift(other)))

    def is_nan(self) -> Mask:
        return Mask(self.builder, self.builder.fcmp_unordered("uno", self.value, self.value))

    def is_negative(self) -> Mask:
        """Whether the sign bit is set; that of -0 is."""
        bits = self.bits()
        return Mask(self.builder, self.builder.icmp_signed("<", bits.value, bits.lift(0)))

    def intrinsic(self, name: str, *others: Number | float) -> Number:
        """LLVM's own function `name`, for the type at hand."""
        mine = self.value.type
        lanes = f"v{mine.count}" if isinstance(mine, ir.VectorType) else ""
        mangled = f"llvm.{name}.{lanes}f{self.format.bits}"
        operands = [self.value, *(self.lift(other) for other in others)]
        module = self.builder.module
        function = module.globals.get(mangled)
        if function is None:
            function = ir.Function(module, ir.FunctionType(mine, [mine] * len(operands)), mangled)
        return Number(self.builder, self.builder.call(function, operands))

    def filled(self, value: float) -> Number:
        """`value` in every lane of a number of this kind."""
        return Number(self.builder, self.lift(value))

    def sqrt(self) -> Number:
        return self.intrinsic("sqrt")

    def rint(self) -> Number:
        """The nearest integer, the even one of two."""
        return self.intrinsic("rint")

    def at_least(self, bound: float) -> Number:
        """The greater of this and `bound`; not-a-number stays."""
        return where(self < bound, bound, self)

    def at_most(self, bound: float) -> Number:
        """The lesser of this and `bound`; not-a-number stays."""
        return where(self > bound, bound, self)

    def bits(self) -> Bits:
        return Bits(self.builder, self.builder.bitcast(self.value, self.shaped(self.format.integer)))

    def sign(self) -> Bits:
        """The sign bit alone."""
        return self.bits() & -(1 << (self.format.bits - 1))

    def signed_as(self, other: Number) -> Number:
        """The number, not negative, with the sign of `other`."""
        return (self.bits() | other.sign()).as_float()

    def widened(self) -> Number:
        """The same number in 64 bits."""
        return Number(self.builder, self.builder.fpext(self.value, self.shaped(F64.floating)))

    def narrowed(self) -> Number:
        """The nearest number of 32 bits."""
        return Number(self.builder, self.builder.fptrunc(self.value, self.shaped(F32.floating)))


def fma(x: Number, y: Number | float, z: Number | float) -> Number:
    """`x * y + z`, rounded once."""
    return x.intrinsic("fma", y, z)


def where(mask: Mask, x: Number | float, y: Number | float) -> Number:
    """`x` where the mask holds, else `y`; one of the two is a `Number`."""
    like = x if isinstance(x, Number) else y
    assert isinstance(like, Number), "where(mask, 1.0, 0.0) does not say which format"
    return Number(mask.builder, mask.builder.select(mask.value, like.lift(x), like.lift(y)))


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """`c[0] + c[1]*x + c[2]*x**2 + ...`, by Horner's rule."""
    *rest, last = coefficients
    result = fma(x, last, rest.pop())
    for c in reversed(rest):
        result = fma(result, x, c)
    return result


def two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """The rounded sum, and exactly what the rounding took away."""
    total = x + y
    seen = total - x
    return total, (x - (total - seen)) + (y - seen)


def fast_two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """As `two_sum`, when `abs(x) >= abs(y)`."""
    total = x + y
    return total, y - (total - x)


def two_product(x: Number, y: Number | float) -> tuple[Number, Number]:
    """The rounded product, and exactly what the rounding took away."""
    product = x * y
    return product, fma(x, y, -product)
