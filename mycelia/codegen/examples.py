"""Sequences of several examples: taken apart into one for each, and put together again."""

from __future__ import annotations

from llvmlite import ir

from mycelia.codegen.heap import Heap, count, item_bytes
from mycelia.codegen.scalar import i64, room
from mycelia.sizes import Dim
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
    out = b.call(heap.sequence(), [record, length, heap.size(b, record, item_bytes(element))])
    source, target = Heap.get(b, x, 2), Heap.get(b, out, 2)

    def one(k: ir.Value) -> None:
        there = _item(heap, b, record, source, k, wide)
        here = _item(heap, b, record, target, k, element)
        if isinstance(element, TensorType):
            nbytes = heap.size(b, record, element.nbytes)
            heap.copy(b, here, Heap.beyond(b, there, b.mul(i, nbytes)), nbytes)
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
    many = heap.size(b, record, size)
    seen = room(b, pointer)  # any example that has something: all have as many elements
    b.store(NULL, seen)

    def look(i: ir.Value) -> None:
        known = b.load(seen, typ=pointer)
        b.store(b.select(b.icmp_unsigned("==", known, NULL), _at(b, xs, i), known), seen)

    count(b, many, look)
    known = b.load(seen, typ=pointer)
    with b.if_then(b.icmp_unsigned("==", known, NULL)):
        b.ret(NULL)
    length = Heap.get(b, known, 0, i64)
    out = b.call(heap.sequence(), [record, length, heap.size(b, record, item_bytes(wide))])
    target = Heap.get(b, out, 2)

    def one(k: ir.Value) -> None:
        here = _item(heap, b, record, target, k, wide)
        if isinstance(element, TensorType):
            nbytes = heap.size(b, record, element.nbytes)

            def row(i: ir.Value) -> None:
                _row(heap, b, record, Heap.beyond(b, here, b.mul(i, nbytes)), _at(b, xs, i), k, nbytes, element)

            count(b, many, row)
            return
        inner = b.call(heap.bump(), [record, heap.size(b, record, 8 * size)])
        count(b, many, lambda i: _row(heap, b, record, _place(b, inner, i), _at(b, xs, i), k, i64(8), element))
        b.store(b.call(join(heap, element, wide), [record, inner]), here)

    count(b, length, one)
    b.ret(out)
    return f


def examples(together: Type) -> Dim:
    """How many examples the tensors of a sequence hold.

    >>> from mycelia.types import float32
    >>> examples(SequenceType(SequenceType(TensorType(float32, (5, 2)))))
    5
    """
    while isinstance(together, SequenceType):
        together = together.element
    assert isinstance(together, TensorType)
    return together.shape[0]


def _row(
    heap: Heap, b: ir.IRBuilder, record: ir.Value, target: ir.Value, x: ir.Value, k: ir.Value, nbytes: ir.Value, t: Type
) -> None:
    """Element `k` of the sequence `x`, or zeros if there is no sequence."""
    with b.if_else(b.icmp_unsigned("==", x, NULL)) as (missing, given):
        with missing:
            heap.clear(b, target, nbytes)
        with given:
            heap.copy(b, target, _item(heap, b, record, Heap.get(b, x, 2), k, t), nbytes)


def _item(heap: Heap, b: ir.IRBuilder, record: ir.Value, data: ir.Value, k: ir.Value, t: Type) -> ir.Value:
    return Heap.beyond(b, data, b.mul(k, heap.size(b, record, item_bytes(t))))


def _place(b: ir.IRBuilder, handles: ir.Value, i: ir.Value) -> ir.Value:
    return b.gep(handles, [i], inbounds=True, source_etype=pointer)


def _at(b: ir.IRBuilder, handles: ir.Value, i: ir.Value) -> ir.Value:
    return b.load(_place(b, handles, i), typ=pointer)
