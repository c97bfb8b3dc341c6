"""Routines that programs call: one function for every kind of call, by element type.

    void routine(ptr operands[], i64 sizes[], i64 phase, i64 me, i64 all)

Operands are those of the call, and behind them its room. A call has phases, of which none begins before all threads
have ended the one before. What depends on the element type is a constant of the function; sizes are read at run time.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from llvmlite import ir

from mycelia.codegen.elimination import elimination_name, emit_elimination
from mycelia.codegen.prefix import emit_prefix, prefix_name
from mycelia.codegen.sparse import emit_sparse, sparse_name
from mycelia.loops import EliminationCall, OrderCall, PrefixCall, RoutineCall, SparseCall
from mycelia.routines.emit import written
from mycelia.routines.ordering import put_in_order
from mycelia.routines.searching import find_places
from mycelia.routines.source import reached
from mycelia.types import DType, bfloat16

i8, i64 = ir.IntType(8), ir.IntType(64)
KINDS = {1: "Octets", 2: "Halves", 4: "Words", 8: "Longs"}
FRACTION = {2: 10, 4: 23, 8: 52}  # bits behind the point


class KeyBits(NamedTuple):
    """What an element type is to `routines.ordering.key_of`."""

    magnitude: int
    infinity: int
    bias: int


def bits_of(dtype: DType) -> KeyBits:
    """The numbers that tell an element type.

    >>> from mycelia.types import float16, uint8
    >>> bits_of(float16), bits_of(uint8)
    (KeyBits(magnitude=32767, infinity=31744, bias=0), KeyBits(magnitude=0, infinity=0, bias=-128))
    """
    half = 1 << 8 * dtype.itemsize - 1
    if dtype.is_float:
        fraction = 7 if dtype is bfloat16 else FRACTION[dtype.itemsize]
        return KeyBits(half - 1, half - (1 << fraction), 0)
    return KeyBits(0, 0, -half if dtype.is_integer and dtype.numpy.kind == "u" else 0)


def routine_name(call: RoutineCall) -> str:
    """The name of the function for calls of this kind."""
    if isinstance(call, PrefixCall):
        return prefix_name(call)
    if isinstance(call, SparseCall):
        return sparse_name(call)
    if isinstance(call, EliminationCall):
        return elimination_name(call)
    if isinstance(call, OrderCall):
        wanted = "".join(("v" if call.values else "", "p" if call.positions else ""))
        return f"order.{wanted}.{call.dtype.short}"
    return f"search.{call.dtype.short}"


def routine_type() -> ir.FunctionType:
    """What the driver calls."""
    return ir.FunctionType(ir.VoidType(), [ir.PointerType()] * 2 + [i64] * 3)


def emit_routine(call: RoutineCall, triple: str) -> str:
    """The IR of the function, for LLVM's optimiser."""
    if isinstance(call, PrefixCall):
        return emit_prefix(call, routine_type(), triple)
    if isinstance(call, SparseCall):
        return emit_sparse(call, routine_type(), triple)
    if isinstance(call, EliminationCall):
        return emit_elimination(call, routine_type(), triple)
    wanted = (call.values, call.positions) if isinstance(call, OrderCall) else None
    return _text(routine_name(call), call.dtype, wanted, triple)


@cache
def _text(name: str, dtype: DType, wanted: tuple[bool, bool] | None, triple: str) -> str:
    module = ir.Module("routine")
    module.triple = triple
    kind, bits = KINDS[dtype.itemsize], bits_of(dtype)
    if wanted is None:
        body = written(reached(find_places, kind), module, "find_places")
        present, constants = (True, True, True), tuple(bits)
    else:
        body = written(reached(put_in_order, kind), module, "put_in_order")
        present = (True, *wanted)
        wide = 2 if dtype.itemsize == 8 else 1
        constants = (*map(int, wanted), wide, *bits)
    body.attributes.add("alwaysinline")
    operands_type = i8.as_pointer().as_pointer()
    kind_of_all = ir.FunctionType(ir.VoidType(), [operands_type, i64.as_pointer(), i64, i64, i64])
    function = ir.Function(module, kind_of_all, name)
    function.attributes.add("nounwind")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    operands, sizes, *rest = function.args

    def operand(n: int, argument: ir.Argument) -> ir.Value:
        return b.bitcast(b.load(b.gep(operands, [i64(n)])), argument.type)

    places = [sum(present[:i]) if here else sum(present) for i, here in enumerate(present)]  # room for what is not
    given = [operand(n, argument) for n, argument in zip((*places, sum(present)), body.args, strict=False)]
    b.call(body, [*given, sizes, *rest, *(i64(n) for n in constants)])
    b.ret_void()
    return f"; optimise\n{module}"
