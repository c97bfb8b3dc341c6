"""Sequences of several examples: taken apart into one for each, and put together again."""

from __future__ import annotations

from llvmlite import ir

from mycelia.codegen.heap import Heap, count, item_bytes
from mycelia.codegen.scalar import i64
from mycelia.types import SequenceType, TensorType, Type

pointer = ir.PointerType()
NULL = pointer(None)


def split(heap: Heap, t: Type, together: Type) -> ir.Function:
    """Function `split(heap, x, i)`: what example `i` has, a sequence `t`, in a sequence of type `together`."""
    f, b = heap.define(("split", t, together), pointer, pointer, pointer, i64)
    if b is None:
        return f
    assert isinstance(t, SequenceType)
    assert isinstance(together, SequenceType)
    record, x, i = f.args
    with b.if_then(b.icmp_unsigned("==", x, NULL)):
        b.ret(NULL)
    element, wide = t.element, together.element
    length = Heap.get(b, x, 0, i64)
    out = b.call(heap.sequence(), [record, length, i64(item_bytes(element))])
    source, target = Heap.get(b, x, 2), Heap.get(b, out, 2)

    def one(k: ir.Value) -> None:
        there = _item(b, source, k, wide)
        here = _item(b, target, k, element)
        if isinstance(element, TensorType):
            heap.copy(b, here, Heap.beyond(b, there, b.mul(i, i64(element.nbytes))), element.nbytes)
        else:
            b.store(b.call(split(heap, element, wide), [record, b.load(there, typ=pointer), i]), here)

    count(b, length, one)
    b.ret(out)
    return f


def join(heap: Heap, t: Type, together: Type) -> ir.Function:
    """Function `join(heap, xs)`: the sequences `t` of all examples, whose handles lie at `xs`, as one `together`."""
    f, b = heap.define(("join", t, together), pointer, pointer, pointer)
    if b is None:
        return f
    assert isinstance(t, SequenceType)
    assert isinstance(together, SequenceType)
    record, xs = f.args
    element, wide, size = t.element, together.element, examples(together)
    known: ir.Value = NULL  # any example that has something: all have as many elements
    for i in range(size):
        x = Heap.get(b, xs, i)
        known = b.select(b.icmp_unsigned("==", known, NULL), x, known)
    with b.if_then(b.icmp_unsigned("==", known, NULL)):
        b.ret(NULL)
    length = Heap.get(b, known, 0, i64)
    out = b.call(heap.sequence(), [record, length, i64(item_bytes(wide))])
    target = Heap.get(b, out, 2)

    def one(k: ir.Value) -> None:
        here = _item(b, target, k, wide)
        if isinstance(element, TensorType):
            nbytes = element.nbytes

            def row(i: ir.Value) -> None:
                _row(heap, b, Heap.beyond(b, here, b.mul(i, i64(nbytes))), _at(b, xs, i), k, nbytes, element)

            count(b, i64(size), row)
            return
        inner = b.call(heap.bump(), [record, i64(8 * size)])
        count(b, i64(size), lambda i: _row(heap, b, _place(b, inner, i), _at(b, xs, i), k, 8, element))
        b.store(b.call(join(heap, element, wide), [record, inner]), here)

    count(b, length, one)
    b.ret(out)
    return f


def examples(together: Type) -> int:
    """How many examples the tensors of a sequence hold.

    >>> from mycelia.types import float32
    >>> examples(SequenceType(SequenceType(TensorType(float32, (5, 2)))))
    5
    """
    while isinstance(together, SequenceType):
        together = together.element
    assert isinstance(together, TensorType)
    return together.shape[0]


def _row(heap: Heap, b: ir.IRBuilder, target: ir.Value, x: ir.Value, k: ir.Value, nbytes: int, t: Type) -> None:
    """Element `k` of the sequence `x`, or zeros if there is no sequence."""
    with b.if_else(b.icmp_unsigned("==", x, NULL)) as (missing, given):
        with missing:
            heap.clear(b, target, nbytes)
        with given:
            heap.copy(b, target, _item(b, Heap.get(b, x, 2), k, t), nbytes)


def _item(b: ir.IRBuilder, data: ir.Value, k: ir.Value, t: Type) -> ir.Value:
    return Heap.beyond(b, data, b.mul(k, i64(item_bytes(t))))


def _place(b: ir.IRBuilder, handles: ir.Value, i: ir.Value) -> ir.Value:
    return b.gep(handles, [i], inbounds=True, source_etype=pointer)


def _at(b: ir.IRBuilder, handles: ir.Value, i: ir.Value) -> ir.Value:
    return b.load(_place(b, handles, i), typ=pointer)
