"""Calling a library from machine code: what is called with which memory stands in a list of words.

    executions, then for each: primitive, stream, arguments, memories, then for each memory: object, operand, bytes

So the code does not change when a call is prepared for other sizes: `records.list_of_words` writes what is read. The
operands of a call lie in an array of pointers; the last is the room that belongs to the call itself, operand -1.
"""

from __future__ import annotations

from llvmlite import ir

from mycelia.codegen.heap import Heap, count
from mycelia.codegen.scalar import i32, i64, room, seen_as

pointer = ir.PointerType()
SET_HANDLE = ir.FunctionType(i32, [pointer, pointer])
EXECUTE = ir.FunctionType(i32, [pointer, pointer, i32, pointer])


def invoke(heap: Heap) -> ir.Function:
    """Function `invoke(words, operands, last, set_handle, execute)`: run a list; what the library answers is or-ed."""
    f, b = heap.define("invoke", i32, pointer, pointer, i64, pointer, pointer)
    if b is None:
        return f
    words, operands, last, set_handle, execute = f.args
    status, at = room(b, i32), room(b, i64)
    b.store(i32(0), status)
    b.store(i64(1), at)

    def word(kind: ir.Type = i64) -> ir.Value:
        here = b.load(at, typ=i64)
        b.store(b.add(here, i64(1)), at)
        return b.load(b.gep(words, [here], inbounds=True, source_etype=i64), typ=kind)

    def one(_: ir.Value) -> None:
        primitive, stream, arguments, memories = word(pointer), word(pointer), word(pointer), word()

        def give(_: ir.Value) -> None:
            memory, operand, nbytes = word(pointer), word(), word()
            which = b.select(b.icmp_signed("<", operand, i64(0)), last, operand)
            base = b.load(b.gep(operands, [which], inbounds=True, source_etype=pointer), typ=pointer)
            b.call(seen_as(set_handle, SET_HANDLE.as_pointer()), [memory, Heap.beyond(b, base, nbytes)])

        count(b, memories, give)
        answer = b.call(seen_as(execute, EXECUTE.as_pointer()), [primitive, stream, b.trunc(memories, i32), arguments])
        b.store(b.or_(b.load(status, typ=i32), answer), status)

    count(b, b.load(words, typ=i64), one)
    b.ret(b.load(status, typ=i32))
    return f
