"""Elements in order: a stable sort with positions beside the elements, and a search by halves."""

from __future__ import annotations

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.primitives import Ordering, Search, Sort, TopK
from mycelia.primitives.ordering import InOrder
from mycelia.stablehlo.rules import emit, inlined
from mycelia.stablehlo.writer import Term, Writer
from mycelia.types import TensorType, bool_, int8, int64


@emit.register
def _(op: Ordering, v: Value, w: Writer, x: Term) -> Term:
    return _sorted(op, w, x)[1]


@emit.register
def _(op: Sort, v: Value, w: Writer, x: Term) -> list[Term]:
    return _sorted(op, w, x)


@emit.register
def _(op: TopK, v: Value, w: Writer, x: Term) -> list[Term]:
    types = TensorType(x.dtype, x.shape), TensorType(int64, x.shape)
    found = Function.build(lambda *both: [p.take(y, op.axis, 0, op.count) for y in both], *types)
    return [held[0] for held in inlined(found, w, [(y,) for y in _sorted(op, w, x)])]


def _sorted(op: InOrder, w: Writer, x: Term) -> list[Term]:
    """Elements and positions in order: two operands of one sort, of which the elements are compared."""
    keys = w.convert(x, int8) if x.dtype is bool_ else x
    places = w.op("iota", (), TensorType(int64, x.shape), iota_dimension=f"{op.axis} : i64")
    scalar, place = TensorType(keys.dtype, ()), TensorType(int64, ())

    def comes_first(inner: Writer, a: Term, b: Term, *_: Term) -> list[Term]:
        if op.descending:
            a, b = b, a
        less = inner.compare("LT", a, b)
        if not keys.dtype.is_float:
            return [less]
        behind = inner.binary("and", inner.compare("NE", b, b), inner.compare("EQ", a, a))  # nan is largest
        return [inner.binary("or", less, behind)]

    region = w.region((scalar, scalar, place, place), comes_first)
    values, positions = w.several(
        "sort", (keys, places), (keys.type, places.type), [region],
        dimension=f"{op.axis} : i64", is_stable="true",
    )  # fmt: skip
    return [w.convert(values, x.dtype), positions]


@emit.register
def _(op: Search, v: Value, w: Writer, sequence: Term, values: Term) -> Term:
    found = Function.build(lambda row, x: _found(op, row, x), sequence.type, values.type)
    return inlined(found, w, [(sequence,), (values,)])[0][0]


def _found(op: Search, row: Value, x: Value) -> Value:
    """The half in which each value would go, again and again; several sequences lie one after the other."""
    count, shape = row.shape[-1], x.shape
    low = p.full(0, int64, shape)
    if count == 0 or x.tensor.size == 0:
        return low
    if row.dtype is bool_:
        row, x = p.cast(row, int8), p.cast(x, int8)
    begin = low
    if len(row.shape) > 1:
        for axis in range(len(shape) - 1):
            begin = begin * shape[axis] + p.iota(int64, shape, axis)
        begin, row = begin * count, p.reshape(row, (-1,))
    high = low + count
    for _ in range(count.bit_length()):
        middle = p.minimum(p.floor_divide(low + high, p.full(2, int64, ())), p.full(count - 1, int64, ()))
        found = p.gather(row, begin + middle, 0)
        before = p.less_equal(found, x) if op.right else p.less(found, x)
        if x.dtype.is_float:
            last = p.is_nan(x)
            before = p.logical_or(before, last if op.right else p.logical_and(last, p.equal(found, found)))
        before = p.logical_and(before, p.less(low, high))
        low, high = p.select(before, middle + 1, low), p.select(before, high, p.minimum(middle, high))
    return low
