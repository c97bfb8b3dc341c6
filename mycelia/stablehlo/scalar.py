"""Scalar expressions as StableHLO, over whole tensors: every elementwise op says its formula once, for all back ends.

Half precision is computed in float32 and rounded at the end, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mycelia.loops import Expr
from mycelia.loops.convert import stepping_stone
from mycelia.loops.functions import ELEMENTARY
from mycelia.stablehlo.writer import Term, Writer
from mycelia.types import DType, Shape, TensorType, accumulator, bool_, int32, int64, uint32, uint64

UNARY = {
    "neg": "negate", "abs": "abs", "not": "not", "sqrt": "sqrt", "rsqrt": "rsqrt", "floor": "floor", "ceil": "ceil",
    "rint": "round_nearest_even", "sign": "sign",
}  # fmt: skip
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or",
    "xor": "xor", "atan2": "atan2",
}  # fmt: skip
COMPARISONS = {"lt": "LT", "le": "LE", "gt": "GT", "ge": "GE", "eq": "EQ", "ne": "NE"}


def written(e: Expr, w: Writer, known: Mapping[Expr, Term], shape: Shape) -> Term:
    """An expression of `known` ones, each a tensor of this shape."""
    return w.convert(_Scalars(w, dict(known), shape).of(e), e.dtype)


class _Scalars:
    def __init__(self, w: Writer, known: dict[Expr, Term], shape: Shape) -> None:
        self.w, self.shape = w, shape
        self.known = {e: w.convert(x, accumulator(e.dtype)) for e, x in known.items()}

    def of(self, root: Expr) -> Term:
        for e in root.walk():
            if e not in self.known:
                self.known[e] = self.one(e, *[self.known[a] for a in e.args])
        return self.known[root]

    def number(self, value: float | int | bool, dtype: DType) -> Term:
        return self.w.full(value, TensorType(dtype, self.shape))

    def one(self, e: Expr, *args: Term) -> Term:
        w = self.w
        if e.kind == "const":
            return w.convert(self.number(e.attribute, e.dtype), accumulator(e.dtype))
        if e.kind == "cast":
            return self.cast(args[0], e.dtype)
        if e.kind == "select":
            return w.select(*args)
        if e.kind in COMPARISONS:
            return w.compare(COMPARISONS[e.kind], *args)
        if e.kind in SPECIAL:
            return SPECIAL[e.kind](self, *args)
        if e.kind in ELEMENTARY:
            return self.elementary(e, args[0])
        if e.kind in UNARY:
            if args[0].dtype.kind == "u" and e.kind in ("abs", "sign"):
                return args[0] if e.kind == "abs" else w.binary("minimum", args[0], self.number(1, args[0].dtype))
            return w.op(UNARY[e.kind], args, args[0].type)
        assert e.kind in BINARY, f"there is no StableHLO for the scalar function {e.kind}"
        return w.op(BINARY[e.kind], args, args[0].type)

    def elementary(self, e: Expr, x: Term) -> Term:
        said = ELEMENTARY[e.kind].stablehlo
        return self.w.op(said, (x,), x.type) if isinstance(said, str) else self.of(said(*e.args))

    def cast(self, x: Term, dtype: DType) -> Term:
        w = self.w
        if dtype is bool_:
            return w.compare("NE", x, w.zeros(x.type))
        if x.dtype.kind == "f" and dtype.is_integer:
            return self.whole(x, dtype)
        return w.convert(w.convert(x, dtype), accumulator(dtype))

    def whole(self, x: Term, dtype: DType) -> Term:
        """As `loops.converted`, which says what becomes of numbers that do not fit."""
        w, bits = self.w, stepping_stone(dtype)
        via = int32 if bits == 32 else int64
        limit = 2.0 ** (bits - 1)
        exact = bits == 64 or x.dtype.bits < 64  # whether no number lies between the least one and the next below it
        above = w.compare("GE" if exact else "GT", x, self.number(-limit if exact else -limit - 1, x.dtype))
        fits = w.binary("and", above, w.compare("LT", x, self.number(limit, x.dtype)))
        minimum = self.number(-(1 << bits - 1), via)
        out = w.select(fits, w.convert(w.select(fits, x, w.zeros(x.type)), via), minimum)
        if dtype is uint64:
            over = w.compare("GE", x, self.number(limit, x.dtype))
            upper = w.binary("and", over, w.compare("LT", x, self.number(2 * limit, x.dtype)))
            rest = w.binary("subtract", x, self.number(limit, x.dtype))
            high = w.convert(w.select(upper, rest, w.zeros(x.type)), via)
            out = w.select(upper, w.binary("xor", high, minimum), out)
        return w.convert(out, dtype)

    def sign_bit(self, x: Term) -> Term:
        bits = self.w.op("bitcast_convert", (x,), x.type.with_dtype(int64 if x.dtype.bits == 64 else int32))
        return self.w.compare("LT", bits, self.w.zeros(bits.type))

    def nan(self, x: Term) -> Term:
        return self.w.compare("NE", x, x)

    def trunc(self, x: Term) -> Term:
        below = self.w.compare("LT", x, self.w.zeros(x.type))
        return self.w.select(below, self.w.op("ceil", (x,), x.type), self.w.op("floor", (x,), x.type))

    def shift_left(self, x: Term, y: Term) -> Term:
        return self.shifted("shift_left", x, y)

    def shift_right(self, x: Term, y: Term) -> Term:
        return self.shifted("shift_right_arithmetic" if x.dtype.kind == "i" else "shift_right_logical", x, y)

    def shifted(self, name: str, x: Term, y: Term) -> Term:
        """Bits that are moved out are gone, however far; a negative amount, read without its sign, is far."""
        w, zero, last = self.w, self.w.zeros(y.type), self.number(x.dtype.bits - 1, y.dtype)
        inside = w.binary("and", w.compare("GE", y, zero), w.compare("LE", y, last))
        if name == "shift_right_arithmetic":
            return w.binary(name, x, w.select(inside, y, last))
        return w.select(inside, w.binary(name, x, w.select(inside, y, zero)), zero)

    def high_word(self, x: Term, y: Term) -> Term:
        assert x.dtype is uint32, f"the upper half of a product of {x.dtype!r}"
        product = self.w.binary("multiply", self.w.convert(x, uint64), self.w.convert(y, uint64))
        return self.w.convert(self.w.binary("shift_right_logical", product, self.number(32, uint64)), uint32)

    def quotient(self, x: Term, y: Term) -> Term:
        return self.divided("divide", x, y)

    def remainder(self, x: Term, y: Term) -> Term:
        return self.divided("remainder", x, y)

    def divided(self, name: str, x: Term, y: Term) -> Term:
        """Of integers, by zero, it is zero."""
        if x.dtype.kind == "f":
            return self.w.binary(name, x, y)
        bad = self.w.compare("EQ", y, self.w.zeros(y.type))
        safe = self.w.binary(name, x, self.w.select(bad, self.number(1, y.dtype), y))
        return self.w.select(bad, self.w.zeros(x.type), safe)

    def power(self, x: Term, y: Term) -> Term:
        """Of integers by repeated squaring, over all bits of the exponent; a negative exponent gives 0."""
        w = self.w
        if x.dtype.kind == "f":
            return w.binary("power", x, y)
        zero, one = w.zeros(x.type), self.number(1, x.dtype)
        result, square, rest = one, x, y
        for _ in range(x.dtype.bits):
            odd = w.compare("NE", w.binary("and", rest, one), zero)
            result = w.select(odd, w.binary("multiply", result, square), result)
            square, rest = w.binary("multiply", square, square), w.binary("shift_right_logical", rest, one)
        return w.select(w.compare("LT", y, zero), zero, result) if x.dtype.kind == "i" else result


SPECIAL: dict[str, Callable[..., Term]] = {
    "isnan": _Scalars.nan,
    "signbit": _Scalars.sign_bit,
    "shl": _Scalars.shift_left,
    "trunc": _Scalars.trunc,
    "shr": _Scalars.shift_right,
    "mulhi": _Scalars.high_word,
    "div": _Scalars.quotient,
    "mod": _Scalars.remainder,
    "pow": _Scalars.power,
}
