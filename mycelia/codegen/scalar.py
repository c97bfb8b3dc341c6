"""LLVM instructions of one scalar expression, for one element or for a vector of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from llvmlite import ir

from mycelia.codegen import vecmath
from mycelia.loops.convert import stepping_stone
from mycelia.options import FastMath
from mycelia.types import DType, bfloat16, bool_, float16, float64

i1, i8, i16, i32, i64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
f16, f32, f64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()


class Builder(ir.IRBuilder):  # type: ignore[misc]  # llvmlite has no types
    """A builder that knows the freedoms of floating-point arithmetic."""

    def __init__(self, fast_math: FastMath, block: ir.Block) -> None:
        super().__init__(block)
        self.flags = ("contract",) if fast_math.fuse else ()


def freedoms(b: ir.IRBuilder) -> tuple[str, ...]:
    """The flags of sums and products."""
    return b.flags if isinstance(b, Builder) else ()


def register_type(dtype: DType, lanes: int = 1) -> ir.Type:
    """How an element is held while computing: 16-bit floats as 32-bit ones, truth as one bit."""
    if dtype.kind == "f":
        single: ir.Type = f64 if dtype is float64 else f32
    else:
        single = i1 if dtype is bool_ else ir.IntType(dtype.bits)
    return single if lanes == 1 else ir.VectorType(single, lanes)


def memory_type(dtype: DType, lanes: int = 1) -> ir.Type:
    """How an element lies in memory."""
    if dtype is float16:
        single: ir.Type = f16
    elif dtype is bfloat16:
        single = i16
    elif dtype is bool_:
        single = i8
    else:
        single = register_type(dtype)
    return single if lanes == 1 else ir.VectorType(single, lanes)


def room(b: ir.IRBuilder, kind: ir.Type) -> ir.Value:
    """Memory on the stack, as a plain pointer."""
    made = b.alloca(kind)
    made.type = ir.PointerType()
    return made


def seen_as(value: ir.Value, kind: ir.Type) -> ir.Value:
    """The same value with another static type: llvmlite still types pointers, LLVM does not."""
    other = copy(value)
    other.type = kind
    return other


def lanes_of(value: ir.Value) -> int:
    return int(value.type.count) if isinstance(value.type, ir.VectorType) else 1


def splat(b: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    """The same number in every lane."""
    if lanes == 1 or isinstance(value.type, ir.VectorType):
        return value
    if isinstance(value, ir.Constant):
        return ir.Constant(ir.VectorType(value.type, lanes), [value.constant] * lanes)
    one = b.insert_element(ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined), value, i32(0))
    mask = ir.Constant(ir.VectorType(i32, lanes), [0] * lanes)
    return b.shuffle_vector(one, one, mask)


def constant(value: float | int | bool, dtype: DType, lanes: int) -> ir.Constant:
    kind = register_type(dtype)
    if dtype.kind != "f" and dtype is not bool_:
        value = int(value) & ((1 << dtype.bits) - 1)
        value = value - (1 << dtype.bits) if dtype.kind == "i" and value >> (dtype.bits - 1) else value
    single = int(value) if dtype is bool_ else value
    return ir.Constant(kind, single) if lanes == 1 else ir.Constant(ir.VectorType(kind, lanes), [single] * lanes)


def from_memory(b: ir.IRBuilder, value: ir.Value, dtype: DType) -> ir.Value:
    """A loaded element as it is computed with."""
    lanes = lanes_of(value)
    if dtype is bool_:
        return b.icmp_unsigned("!=", value, ir.Constant(value.type, None if lanes > 1 else 0))
    if dtype is float16:
        return b.fpext(value, register_type(dtype, lanes))
    if dtype is bfloat16:
        wide = b.zext(value, _like(i32, lanes))
        return b.bitcast(b.shl(wide, splat(b, i32(16), lanes)), _like(f32, lanes))
    return value


def to_memory(b: ir.IRBuilder, value: ir.Value, dtype: DType) -> ir.Value:
    """A computed element as it lies in memory."""
    lanes = lanes_of(value)
    if dtype is bool_:
        return b.zext(value, memory_type(dtype, lanes))
    if dtype is float16:
        return b.fptrunc(value, memory_type(dtype, lanes))
    if dtype is bfloat16:
        return _round_to_bfloat16(b, value, lanes)
    return value


def _round_to_bfloat16(b: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    """To nearest, ties to even; not-a-number stays one."""
    bits = b.bitcast(value, _like(i32, lanes))
    odd = b.and_(b.lshr(bits, splat(b, i32(16), lanes)), splat(b, i32(1), lanes))
    rounded = b.add(b.add(bits, splat(b, i32(0x7FFF), lanes)), odd)
    quiet = b.or_(bits, splat(b, i32(0x400000), lanes))
    kept = b.select(b.fcmp_unordered("uno", value, value), quiet, rounded)
    return b.trunc(b.lshr(kept, splat(b, i32(16), lanes)), _like(i16, lanes))


def _like(single: ir.Type, lanes: int) -> ir.Type:
    return single if lanes == 1 else ir.VectorType(single, lanes)


def intrinsic(b: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """Call `llvm.name` overloaded on the type of the first argument."""
    t = args[0].type
    single = t.element if isinstance(t, ir.VectorType) else t
    letter = {f32: "f32", f64: "f64", f16: "f16"}.get(single) or f"i{single.width}"
    full = f"llvm.{name}.v{t.count}{letter}" if isinstance(t, ir.VectorType) else f"llvm.{name}.{letter}"
    found = b.module.globals.get(full)
    if found is None:
        found = ir.Function(b.module, ir.FunctionType(t, [a.type for a in args]), full)
    return b.call(found, args)


def emit(b: ir.IRBuilder, kind: str, dtype: DType, operand: DType, args: Sequence[ir.Value]) -> ir.Value:
    """The instruction `kind` on registers; `operand` is the type of the first argument, `dtype` of the result."""
    if kind in EITHER:
        return EITHER[kind](b, operand, dtype, *args)
    if operand.kind == "f":
        if kind in FLOAT:
            return FLOAT[kind](b, *args)
        return vecmath.emit(b, kind, *args)
    return INTEGER[kind](b, operand, *args)


# ------------------------------------------------------------------------------------------------ floats


def _compare_float(sign: str) -> Callable[..., ir.Value]:
    if sign == "!=":
        return lambda b, x, y: b.fcmp_unordered(sign, x, y)  # not-a-number differs from everything
    return lambda b, x, y: b.fcmp_ordered(sign, x, y)


def _is_number(x: ir.Constant) -> bool:
    """Whether a constant is known to be no not-a-number, in all its lanes."""
    held = x.constant if isinstance(x.constant, list) else [x.constant]
    return all(isinstance(n, float | int) and n == n for n in (getattr(h, "constant", h) for h in held))


def _is_zero(x: ir.Constant) -> bool:
    """Whether a constant is zero in one of its lanes."""
    held = x.constant if isinstance(x.constant, list) else [x.constant]
    return any(getattr(h, "constant", h) == 0 for h in held)


def _extreme_float(sign: str) -> Callable[..., ir.Value]:
    """Maximum or minimum that keeps not-a-number, whichever side it stands on; of two zeros it is the second."""

    def extreme(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
        first = isinstance(x, ir.Constant)
        if first:
            x, y = y, x
        if isinstance(y, ir.Constant) and _is_number(y):
            opposite = {">": "<", "<": ">"}[sign]
            same = "" if first or not _is_zero(y) else "="  # only zeros are equal and yet different
            return b.select(b.fcmp_ordered(opposite + same, x, y), y, x)
        larger = b.select(b.fcmp_ordered(sign, x, y), x, y)  # one instruction, which gives y if there is a nan
        return b.select(b.fcmp_unordered("uno", x, x), x, larger)

    return extreme


def _sign_float(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    zero, one = ir.Constant(x.type, _filled(x, 0.0)), ir.Constant(x.type, _filled(x, 1.0))
    signed = intrinsic(b, "copysign", one, x)
    return b.select(b.fcmp_unordered("une", x, zero), b.select(b.fcmp_unordered("uno", x, x), x, signed), zero)


def _sign_bit(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """Whether the sign is negative, that of zero and of not-a-number too."""
    wide = _like(ir.IntType(64 if _is_double(x) else 32), lanes_of(x))
    return b.icmp_signed("<", b.bitcast(x, wide), ir.Constant(wide, None))


def _filled(x: ir.Value, number: Any) -> Any:
    return [number] * x.type.count if isinstance(x.type, ir.VectorType) else number


FLOAT: dict[str, Callable[..., ir.Value]] = {
    "add": lambda b, x, y: b.fadd(x, y, flags=freedoms(b)),
    "sub": lambda b, x, y: b.fsub(x, y, flags=freedoms(b)),
    "mul": lambda b, x, y: b.fmul(x, y, flags=freedoms(b)),
    "div": lambda b, x, y: b.fdiv(x, y),
    "mod": lambda b, x, y: b.frem(x, y),  # with the sign of the dividend, as C has it
    "neg": lambda b, x: b.fneg(x),
    "abs": lambda b, x: intrinsic(b, "fabs", x),
    "sqrt": lambda b, x: intrinsic(b, "sqrt", x),
    "floor": lambda b, x: intrinsic(b, "floor", x),
    "ceil": lambda b, x: intrinsic(b, "ceil", x),
    "rint": lambda b, x: intrinsic(b, "rint", x),
    "trunc": lambda b, x: intrinsic(b, "trunc", x),
    "sign": _sign_float,
    "signbit": _sign_bit,
    "isnan": lambda b, x: b.fcmp_unordered("uno", x, x),
    "max": _extreme_float(">"),
    "min": _extreme_float("<"),
    **{
        name: _compare_float(sign)
        for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!="))
    },
}

# ------------------------------------------------------------------------------------------------ integers and truth


def _compare_integer(sign: str) -> Callable[..., ir.Value]:
    def compare(b: ir.IRBuilder, t: DType, x: ir.Value, y: ir.Value) -> ir.Value:
        return b.icmp_signed(sign, x, y) if t.kind == "i" else b.icmp_unsigned(sign, x, y)

    return compare


def _extreme_integer(sign: str) -> Callable[..., ir.Value]:
    compare = _compare_integer(sign)
    return lambda b, t, x, y: b.select(compare(b, t, x, y), x, y)


def _divide(signed: str, unsigned: str) -> Callable[..., ir.Value]:
    """Division that gives 0 where the divisor is 0, and never traps."""

    def divide(b: ir.IRBuilder, t: DType, x: ir.Value, y: ir.Value) -> ir.Value:
        zero, one = constant(0, t, lanes_of(x)), constant(1, t, lanes_of(x))
        bad = b.icmp_unsigned("==", y, zero)
        if t.kind == "i":
            least, minus = constant(-(1 << (t.bits - 1)), t, lanes_of(x)), constant(-1, t, lanes_of(x))
            overflow = b.and_(b.icmp_unsigned("==", x, least), b.icmp_unsigned("==", y, minus))
            quotient = getattr(b, signed)(x, b.select(b.or_(bad, overflow), one, y))
            wrapped = x if signed == "sdiv" else zero
            return b.select(bad, zero, b.select(overflow, wrapped, quotient))
        return b.select(bad, zero, getattr(b, unsigned)(x, b.select(bad, one, y)))

    return divide


def _sign_integer(b: ir.IRBuilder, t: DType, x: ir.Value) -> ir.Value:
    zero, one = constant(0, t, lanes_of(x)), constant(1, t, lanes_of(x))
    positive = b.select(b.icmp_unsigned("!=", x, zero), one, zero)
    return b.select(b.icmp_signed("<", x, zero), constant(-1, t, lanes_of(x)), positive) if t.kind == "i" else positive


def _abs_integer(b: ir.IRBuilder, t: DType, x: ir.Value) -> ir.Value:
    return b.select(b.icmp_signed("<", x, constant(0, t, lanes_of(x))), b.neg(x), x) if t.kind == "i" else x


def _mulhi(b: ir.IRBuilder, t: DType, x: ir.Value, y: ir.Value) -> ir.Value:
    """The upper half of the product."""
    wide = _like(ir.IntType(2 * t.bits), lanes_of(x))
    extend = b.sext if t.kind == "i" else b.zext
    product = b.mul(extend(x, wide), extend(y, wide))
    return b.trunc(b.lshr(product, splat(b, ir.IntType(2 * t.bits)(t.bits), lanes_of(x))), x.type)


def _power_integer(b: ir.IRBuilder, t: DType, x: ir.Value, y: ir.Value) -> ir.Value:
    """By repeated squaring, over all bits of the exponent; a negative exponent gives 0."""
    lanes = lanes_of(x)
    zero, one = constant(0, t, lanes), constant(1, t, lanes)
    result, square, rest = one, x, y
    for _ in range(min(t.bits, 64)):
        odd = b.icmp_unsigned("!=", b.and_(rest, one), zero)
        result = b.select(odd, b.mul(result, square), result)
        square, rest = b.mul(square, square), b.lshr(rest, one)
    return b.select(b.icmp_signed("<", y, zero), zero, result) if t.kind == "i" else result


def _shift(b: ir.IRBuilder, t: DType, x: ir.Value, y: ir.Value, left: bool) -> ir.Value:
    """Bits that are moved out are gone, however far; a negative amount, read without its sign, is far."""
    last = constant(t.bits - 1, t, lanes_of(x))
    inside = b.icmp_unsigned("<=", y, last)
    if not left and t.kind == "i":
        return b.ashr(x, b.select(inside, y, last))
    zero = constant(0, t, lanes_of(x))
    amount = b.select(inside, y, zero)
    return b.select(inside, b.shl(x, amount) if left else b.lshr(x, amount), zero)


INTEGER: dict[str, Callable[..., ir.Value]] = {
    "add": lambda b, t, x, y: b.or_(x, y) if t is bool_ else b.add(x, y),
    "sub": lambda b, t, x, y: b.sub(x, y),
    "mul": lambda b, t, x, y: b.and_(x, y) if t is bool_ else b.mul(x, y),
    "div": _divide("sdiv", "udiv"),
    "mod": _divide("srem", "urem"),
    "pow": _power_integer,
    "neg": lambda b, t, x: b.neg(x),
    "not": lambda b, t, x: b.not_(x),
    "abs": _abs_integer,
    "sign": _sign_integer,
    "and": lambda b, t, x, y: b.and_(x, y),
    "or": lambda b, t, x, y: b.or_(x, y),
    "xor": lambda b, t, x, y: b.xor(x, y),
    "shl": lambda b, t, x, y: _shift(b, t, x, y, True),
    "shr": lambda b, t, x, y: _shift(b, t, x, y, False),
    "mulhi": _mulhi,
    "max": _extreme_integer(">"),
    "min": _extreme_integer("<"),
    **{
        name: _compare_integer(sign)
        for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!="))
    },
}

# ------------------------------------------------------------------------------------------------ both


def _cast(b: ir.IRBuilder, source: DType, dest: DType, x: ir.Value) -> ir.Value:
    lanes = lanes_of(x)
    to = register_type(dest, lanes)
    if dest is bool_:
        if source.kind == "f":
            return b.fcmp_unordered("!=", x, ir.Constant(x.type, _filled(x, 0.0)))
        return b.icmp_unsigned("!=", x, ir.Constant(x.type, _filled(x, 0)))
    if source.kind == "f" and dest.kind == "f":
        narrow = b.fptrunc(x, _like(f32, lanes)) if source is float64 else x
        if dest is float16:  # held as 32 bits, but with the numbers of 16
            return b.fpext(b.fptrunc(narrow, memory_type(dest, lanes)), to)
        if dest is bfloat16:
            return from_memory(b, _round_to_bfloat16(b, narrow, lanes), dest)
        if x.type == to:
            return x
        return b.fpext(x, to) if dest is float64 else b.fptrunc(x, to)
    if source.kind == "f":
        return _to_integer(b, x, dest)
    if dest.kind == "f":
        return b.sitofp(x, to) if source.kind == "i" else b.uitofp(x, to)
    if source.bits == dest.bits and source is not bool_:
        return x
    if source is bool_ or dest.bits > source.bits:
        return b.sext(x, to) if source.kind == "i" else b.zext(x, to)
    return b.trunc(x, to)


def _to_integer(b: ir.IRBuilder, x: ir.Value, dest: DType) -> ir.Value:
    """As `loops.converted`, which says what becomes of numbers that do not fit."""
    lanes, bits = lanes_of(x), stepping_stone(dest)
    via = _like(ir.IntType(bits), lanes)

    def number(value: float) -> ir.Constant:
        return ir.Constant(x.type, _filled(x, value))

    least, limit = -(2.0 ** (bits - 1)), 2.0 ** (bits - 1)
    exact = bits == 64 or not _is_double(x)  # whether no number lies between the least one and the next below it
    above = b.fcmp_ordered(">=", x, number(least)) if exact else b.fcmp_ordered(">", x, number(least - 1))
    fits = b.and_(above, b.fcmp_ordered("<", x, number(limit)))
    minimum = splat(b, ir.IntType(bits)(1 << bits - 1), lanes)
    whole = b.select(fits, b.fptosi(b.select(fits, x, number(0.0)), via), minimum)
    if dest.kind == "u" and dest.bits == 64:
        upper = b.and_(b.fcmp_ordered(">=", x, number(limit)), b.fcmp_ordered("<", x, number(2 * limit)))
        over = b.fptosi(b.select(upper, b.fsub(x, number(limit)), number(0.0)), via)
        return b.select(upper, b.xor(over, minimum), whole)
    return b.trunc(whole, register_type(dest, lanes)) if dest.bits < bits else whole


def _is_double(x: ir.Value) -> bool:
    return bool((x.type.element if isinstance(x.type, ir.VectorType) else x.type) == f64)


EITHER: dict[str, Callable[..., ir.Value]] = {
    "cast": _cast,
    "select": lambda b, operand, dtype, c, x, y: b.select(c, x, y),
    "set": lambda b, operand, dtype, old, new: new,
}
