"""Angles of 64 bits that are huge: what is left of them after whole quarter turns (the reduction of Payne and Hanek).

A double is `m 2**e` with a whole `m` of 53 bits. Of `2**e 2/pi` all bits that make multiples of 4 may be left out,
whatever `m` is, and 190 bits after the point are enough: `m` times that window, modulo 4, is the number of quarter
turns with an error below 2**-137, while no double comes closer to a multiple of pi/2 than 2**-62.

It is done one lane at a time, in a function of its own, and only where some lane is huge.
"""

from __future__ import annotations

from functools import cache

from llvmlite import ir

from mycelia.codegen.vecmath.number import F64, Bits, Mask, Number, fma, two_product

WORDS = 19  # of 64 bits, in which 2/pi is written
POINT = 190  # bits of the window after its point; 2 stand before it
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
HUGE = 2.0**60  # an angle that is read in place of one that is not huge: the table does not reach there
NAME = "vecmath.huge_angle"
i64, double, window = ir.IntType(64), ir.DoubleType(), ir.IntType(POINT + 2)
REDUCED = ir.LiteralStructType([i64, double, double])


@cache
def two_over_pi(bits: int) -> int:
    """The whole part of `2**bits * 2 / pi`.

    >>> two_over_pi(20) / 2**20
    0.6366195678710938
    """
    unit = 1 << (bits + 32)  # pi/4 = 4 atan(1/5) - atan(1/239)
    return (unit << bits) // (2 * (4 * _inverse_tangent(5, unit) - _inverse_tangent(239, unit)))


def _inverse_tangent(n: int, unit: int) -> int:
    """The inverse tangent of `1 / n`, in units."""
    power, total, k = unit // n, 0, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power, k = power // (n * n), k + 2
    return total


def reduced(x: Number, huge: Mask, known: tuple[Bits, Number, Number]) -> tuple[Bits, Number, Number]:
    """`n`, `r` and `rest` with `x = n pi/2 + r + rest`: the `known` ones, or worked out where `x` is `huge`."""
    b, vector = x.builder, isinstance(x.value.type, ir.VectorType)
    lanes = x.value.type.count if vector else 1
    some = b.icmp_unsigned("!=", b.bitcast(huge.value, ir.IntType(lanes)), ir.IntType(lanes)(0))
    before, aside, after = b.block, b.append_basic_block("huge"), b.append_basic_block("reduced")
    b.cbranch(some, aside, after)
    b.position_at_end(aside)
    now = [part.value for part in known]
    for lane in range(lanes):
        at = ir.IntType(32)(lane)
        one = b.extract_element(x.value, at) if vector else x.value
        chosen = b.extract_element(huge.value, at) if vector else huge.value
        found = b.call(_function(b.module), [b.select(chosen, one, double(HUGE))])
        for i, parts in enumerate(now):
            old = b.extract_element(parts, at) if vector else parts
            new = b.select(chosen, b.extract_value(found, i), old)
            now[i] = b.insert_element(parts, new, at) if vector else new
    b.branch(after)
    b.position_at_end(after)
    merged = []
    for old, new in zip(known, now, strict=True):
        phi = b.phi(new.type)
        phi.add_incoming(old.value, before)
        phi.add_incoming(new, aside)
        merged.append(phi)
    return Bits(b, merged[0]), Number(b, merged[1]), Number(b, merged[2])


def _function(module: ir.Module) -> ir.Function:
    """The function of one double, written once in a module."""
    known = module.globals.get(NAME)
    if known is not None:
        return known
    digits = two_over_pi(64 * WORDS)
    table = ir.GlobalVariable(module, ir.ArrayType(i64, WORDS + 1), f"{NAME}.digits")
    table.global_constant, table.linkage = True, "internal"
    table.initializer = ir.Constant(table.value_type, [digits >> 64 * i & (1 << 64) - 1 for i in range(WORDS + 1)])
    function = ir.Function(module, ir.FunctionType(REDUCED, [double]), NAME)
    function.linkage = "internal"
    function.attributes.add("noinline")
    function.attributes.add("nounwind")
    _write(ir.IRBuilder(function.append_basic_block()), function.args[0], table)
    return function


def _write(b: ir.IRBuilder, x: ir.Value, table: ir.Value) -> None:
    bits = b.bitcast(x, i64)
    fraction, negative = F64.fraction, b.icmp_signed("<", bits, i64(0))
    mantissa = b.or_(b.and_(bits, i64((1 << fraction) - 1)), i64(1 << fraction))
    exponent = b.sub(b.and_(b.lshr(bits, i64(fraction)), i64(2 * F64.bias + 1)), i64(F64.bias + fraction))
    shift = b.sub(i64(64 * WORDS - POINT), exponent)
    place = b.gep(table, [i64(0), b.lshr(shift, i64(6))], inbounds=True)
    wide = ir.IntType(256)
    words = b.load(b.bitcast(place, wide.as_pointer()), align=8)
    digits = b.trunc(b.lshr(words, b.zext(b.and_(shift, i64(63)), wide)), window)
    quarters = b.mul(digits, b.zext(mantissa, window))  # modulo 4
    nearest = b.lshr(b.add(quarters, window(1 << POINT - 1)), window(POINT))
    left = b.sub(quarters, b.shl(nearest, window(POINT)))
    below = b.icmp_signed("<", left, window(0))
    size = b.select(below, b.neg(left), left)
    empty = b.ctlz(size, ir.IntType(1)(0))
    digits = b.shl(size, empty)
    high, low = (b.trunc(b.lshr(digits, window(POINT + 2 - 53 * k)), i64) for k in (1, 2))
    low = b.and_(low, i64((1 << 53) - 1))
    # size = (high + low 2**-53) 2**(139 - empty), and the point stands before the last POINT bits
    unit = b.sub(i64(F64.bias + POINT + 2 - 53 - POINT), b.trunc(empty, i64))
    one = b.bitcast(b.shl(unit, i64(fraction)), double)
    tiny = b.bitcast(b.shl(b.sub(unit, i64(53)), i64(fraction)), double)
    high, low = b.fmul(b.uitofp(high, double), one), b.fmul(b.uitofp(low, double), tiny)
    turned = b.xor(below, negative)
    r, rest = _times_half_pi(Number(b, high), Number(b, low))
    n = b.trunc(nearest, i64)
    out = ir.Constant(REDUCED, ir.Undefined)
    out = b.insert_value(out, b.select(negative, b.neg(n), n), 0)
    for i, part in enumerate((r.value, rest.value), start=1):
        out = b.insert_value(out, b.select(turned, b.fneg(part), part), i)
    b.ret(out)


def _times_half_pi(high: Number, low: Number) -> tuple[Number, Number]:
    r, rest = two_product(high, HALF_PI[0])
    return r, rest + fma(high, HALF_PI[1], low * HALF_PI[0])
