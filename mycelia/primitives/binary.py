"""Functions of two elements. A Python number among the operands takes the element type of the other."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Cotangents, Pair, Value, each_part, operators, zero_gradient
from mycelia.loops import Expr, binary, const, select, unary
from mycelia.loops.interpret import power as power_of_floats
from mycelia.primitives import complex_formulas as formulas
from mycelia.primitives.elementwise import Elementwise, lifted, unbroadcast
from mycelia.primitives.family import BITS, INTS, NUMBERS
from mycelia.types import Array

__all__ = [
    "Add",
    "And",
    "Atan2",
    "Binary",
    "Divide",
    "FloorDivide",
    "Fmod",
    "Maximum",
    "Minimum",
    "Multiply",
    "Or",
    "Power",
    "Remainder",
    "ShiftLeft",
    "ShiftRight",
    "Subtract",
    "Xor",
    "add",
    "atan2",
    "divide",
    "floor_divide",
    "fmod",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "shift_left",
    "shift_right",
    "subtract",
]


class Binary(Elementwise, abstract=True):
    """A function of two elements. Its gradient is said by `pull`, without a thought of broadcasting."""

    arity = 2

    def vjp(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        dx, dy = self.pull(ct, out, x, y)
        return unbroadcast(dx, x.shape), unbroadcast(dy, y.shape)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        """Cotangents of the operands, each of the shape of the output."""
        raise AssertionError(f"{self.name} has no gradient")


class Add(Binary):
    """x + y.

    >>> Add().reference(np.array([1.0, 2.0]), np.array(1.0))
    array([2., 3.])
    """

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle, commutative = NUMBERS, "add", np.add, True
    in_parts = each_part

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return ct, ct


class Subtract(Binary):
    """x - y."""

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle = NUMBERS, "sub", np.subtract
    in_parts = each_part

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return ct, -ct


class Multiply(Binary):
    """x * y."""

    cheap: ClassVar[bool] = True
    dtypes, kind, oracle, commutative = NUMBERS, "mul", np.multiply, True

    def in_parts(self, x: Pair, y: Pair) -> Pair:
        return formulas.times(x, y)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return ct * y, ct * x


class Divide(Binary):
    """x / y, of floating numbers."""

    cheap: ClassVar[bool] = True
    kind, oracle, domain = "div", np.divide, (0.5, 2.0)
    points = (0.0, -1.0, 3.0, math.inf)

    def in_parts(self, x: Pair, y: Pair) -> Pair:
        return formulas.over(x, y)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        dx = ct / y
        return dx, -dx * out


class FloorDivide(Binary):
    """The largest whole number not above x / y; integers divided by zero give zero, and of infinities it is x / y.

    >>> FloorDivide().reference(np.array([7, -7]), np.array([2, 2]))
    array([ 3, -4])
    """

    name = "floor_divide"
    dtypes, domain = NUMBERS, (0.7, 9.0)
    points = (-128.0, -7.0, -2.0, -1.0, -0.0, 0.0, 1.0, 3.0, math.inf, -math.inf)
    oracle = staticmethod(lambda x, y: _floor_divided(x, y))
    vjp = zero_gradient("it is constant between jumps")

    def scalar(self, x: Expr, y: Expr) -> Expr:  # type: ignore[override]  # of two elements
        return _floor_divide_float(x, y) if x.dtype.is_float else _floor_divide_int(x, y)


class Fmod(Binary):
    """What is left of x after whole multiples of y: it has the sign of x; of integers divided by zero it is zero.

    >>> Fmod().reference(np.array([7, -7]), np.array([2, 2]))
    array([ 1, -1])
    """

    dtypes, kind, oracle, domain = NUMBERS, "mod", np.fmod, (0.7, 9.0)
    points = (-128.0, -7.0, -1.0, -0.0, 0.1, 3.0, math.inf, -math.inf, math.nan)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return ct, -ct * p.trunc(x / y)


class Remainder(Binary):
    """x - y * floor(x / y): it has the sign of y; of integers divided by zero it is zero.

    >>> Remainder().reference(np.array([7, -7]), np.array([2, 2]))
    array([1, 1])
    """

    dtypes, domain = NUMBERS, (0.7, 9.0)
    points = (-128.0, -7.0, -2.0, -1.0, -0.0, 0.0, 1.0, 3.0, 6.0)
    oracle = np.remainder

    def scalar(self, x: Expr, y: Expr) -> Expr:  # type: ignore[override]  # of two elements
        r = binary("mod", x, y)
        if x.dtype.is_float:
            r = select(binary("eq", r, const(0.0, r.dtype)), _zero_signed_as(y), r)
        return select(_other_side(r, y), r + y, r)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return ct, -ct * p.floor(x / y)


def _zero_signed_as(x: Expr) -> Expr:
    return select(unary("signbit", x), const(-0.0, x.dtype), const(0.0, x.dtype))


def _other_side(r: Expr, y: Expr) -> Expr:
    """Whether a remainder of truncated division lies on the other side of zero than the divisor."""
    zero = const(0, r.dtype)
    return binary("and", binary("ne", r, zero), binary("ne", binary("lt", r, zero), binary("lt", y, zero)))


def _floor_divide_int(x: Expr, y: Expr) -> Expr:
    truncated = x / y
    return select(_other_side(binary("mod", x, y), y), truncated - const(1, x.dtype), truncated)


def _floor_divide_float(x: Expr, y: Expr) -> Expr:
    """Through the remainder, which is exact: 1 // 0.1 is 9, though 1 / 0.1 rounds to 10."""
    zero, half, one = (const(c, x.dtype) for c in (0.0, 0.5, 1.0))
    r = binary("mod", x, y)
    nearly = (x - r) / y
    nearly = select(_other_side(r, y), nearly - one, nearly)
    below = unary("floor", nearly)
    whole = select(binary("gt", nearly - below, half), below + one, below)
    whole = select(binary("eq", nearly, zero), _zero_signed_as(x / y), whole)
    infinite = const(math.inf, x.dtype)
    for plain in (unary("abs", x), unary("abs", y)):
        whole = select(binary("eq", plain, infinite), x / y, whole)
    return select(binary("eq", y, zero), x / y, whole)


def _floor_divided(x: Array, y: Array) -> Any:
    """NumPy knows no quotient of infinities; the array API standard, and MindSpore, do."""
    whole = np.floor_divide(x, y)
    return whole if whole.dtype.kind in "iu" else np.where(np.isinf(x) | np.isinf(y), np.divide(x, y), whole)


def _power(x: Array, y: Array) -> Any:
    """NumPy refuses integers to a negative power: they are whole for 1 and -1, and 0 is left of the others."""
    if x.dtype.kind == "c":
        return np.power(x, y)
    if x.dtype.kind not in "iu":
        return power_of_floats(x, y)
    odd = np.where(y & 1, x, x * x)  # for 1 and -1 all that matters of the exponent
    return np.where(y < 0, np.where(abs(x) == 1, odd, 0), np.power(x, np.maximum(y, 0))).astype(x.dtype)


class Power(Binary):
    """x to the power y. Integers wrap around; to a negative power they give the whole part, and 0 gives 0.

    >>> Power().reference(np.array([3, -1, 2]), np.array([39, -3, -1]))
    array([4052555153018976267,                  -1,                   0])
    """

    dtypes, oracle, domain = NUMBERS, _power, (0.3, 2.0)
    points = (0.0, 1.0, 2.0, -3.0, 0.5)

    def in_parts(self, x: Pair, y: Pair) -> Pair:
        return formulas.power(x, y)

    def scalar(self, x: Expr, y: Expr) -> Expr:  # type: ignore[override]  # of two elements
        power = binary("pow", x, y)
        if x.dtype.kind != "i":
            return power
        zero, one = const(0, x.dtype), const(1, x.dtype)
        whole = select(binary("eq", binary("and", y, one), one), x, x * x)
        unit = binary("or", binary("eq", x, one), binary("eq", x, const(-1, x.dtype)))
        return select(binary("lt", y, zero), select(unit, whole, zero), power)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        at_zero = p.equal(x, 0.0)
        exponent = p.select(p.logical_and(at_zero, p.equal(y, 0.0)), p.ones_like(y), y - 1.0)  # x**0 is flat at 0
        dx = ct * y * p.power(x, exponent)
        dy = ct * out * p.log(p.select(at_zero, p.ones_like(x), x))  # 0**y is flat for positive y
        return dx, dy


class Atan2(Binary):
    """The angle at which the point with ordinate x and abscissa y is seen: the first operand is the ordinate."""

    kind, oracle, domain = "atan2", np.arctan2, (0.3, 2.0)
    points = (0.0, -0.0, 1.0, -2.0, 1e10)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        scaled = ct / (x * x + y * y)
        return scaled * y, -scaled * x


class Extremum(Binary, abstract=True):
    """One of two numbers; nan wins. Of equal operands each receives half the cotangent, beside nan both receive it."""

    cheap: ClassVar[bool] = True
    dtypes, commutative = NUMBERS, True
    points = (0.0, 1.0, -1.0, math.inf, math.nan)

    def pull(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        tie, nothing = p.equal(x, y), p.zeros_like(ct)
        half = ct * 0.5
        first, second = (x, y) if self.kind == "max" else (y, x)
        dx = p.select(tie, half, p.select(p.less(first, second), nothing, ct))
        dy = p.select(tie, half, p.select(p.less(second, first), nothing, ct))
        return dx, dy


class Maximum(Extremum):
    """The larger of x and y.

    >>> Maximum().reference(np.array([1.0, 5.0]), np.array([3.0, np.nan]))
    array([ 3., nan])
    """

    kind, oracle = "max", np.maximum


class Minimum(Extremum):
    """The smaller of x and y."""

    kind, oracle = "min", np.minimum


class Bitwise(Binary, abstract=True):
    """Logic of bools, or of the bits of integers."""

    cheap: ClassVar[bool] = True
    dtypes, commutative, domain = BITS, True, (-9.0, 9.0)
    vjp = zero_gradient("its output is not a real number")


class And(Bitwise):
    """x and y, bit by bit."""

    kind, oracle = "and", np.bitwise_and


class Or(Bitwise):
    """x or y, bit by bit."""

    kind, oracle = "or", np.bitwise_or


class Xor(Bitwise):
    """Either x or y, bit by bit.

    >>> Xor().reference(np.array([3]), np.array([5]))
    array([6])
    """

    kind, oracle = "xor", np.bitwise_xor


class Shift(Binary, abstract=True):
    """Bits moved; those that are moved out are gone, however far. A negative amount, read without its sign, is far."""

    cheap: ClassVar[bool] = True
    dtypes, domain = INTS, (-9.0, 9.0)
    points = (0.0, 1.0, 7.0, 8.0, -5.0, 32.0, 33.0, -200.0)
    vjp = zero_gradient("its output is an integer")


class ShiftLeft(Shift):
    """`x` with its bits moved up.

    >>> ShiftLeft().reference(np.array([1]), np.array([4]))
    array([16])
    """

    name, kind, oracle = "shift_left", "shl", np.left_shift


class ShiftRight(Shift):
    """`x` with its bits moved down; the sign stays."""

    name, kind, oracle = "shift_right", "shr", np.right_shift


add, subtract, multiply, divide = lifted(Add()), lifted(Subtract()), lifted(Multiply()), lifted(Divide())
floor_divide, remainder, fmod = lifted(FloorDivide()), lifted(Remainder()), lifted(Fmod())
power, atan2 = lifted(Power()), lifted(Atan2())
maximum, minimum = lifted(Maximum()), lifted(Minimum())
logical_and, logical_or, logical_xor = lifted(And()), lifted(Or()), lifted(Xor())
shift_left, shift_right = lifted(ShiftLeft()), lifted(ShiftRight())


def _negative(x: Any) -> Any:
    return p.negative(x)  # which is made later than what is here


operators.update(add=add, subtract=subtract, multiply=multiply, divide=divide, negative=_negative)
