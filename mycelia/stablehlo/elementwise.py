"""Elementwise ops by their scalar formulas; values from nothing; random bits."""

from __future__ import annotations

from math import prod

from mycelia.ir import Value
from mycelia.loops import Buffer, Expr, binary, const, load
from mycelia.primitives import Barrier, Constant, Extent, Full, Iota, RandomBits
from mycelia.primitives.elementwise import Elementwise
from mycelia.primitives.random import ROUNDS, WEYL, philox_round
from mycelia.stablehlo.rules import emit
from mycelia.stablehlo.scalar import written
from mycelia.stablehlo.writer import Term, Writer
from mycelia.types import DType, TensorType, int64, uint32


def unknown(dtype: DType) -> Expr:
    """A scalar that stands for something."""
    return load(Buffer.dense("operand", TensorType(dtype, ())), ())


@emit.register
def _(op: Elementwise, v: Value, w: Writer, *inputs: Term) -> Term:
    operands = [unknown(x.dtype) for x in inputs]
    known = {e: w.broadcast(x, v.shape) for e, x in zip(operands, inputs, strict=True)}
    return written(op.scalar(*operands), w, known, v.shape)


@emit.register
def _(op: Barrier, v: Value, w: Writer, x: Term, after: Term) -> Term:
    return x  # what is kept and what is computed again is the other compiler's choice


@emit.register
def _(op: Full, v: Value, w: Writer) -> Term:
    assert not isinstance(op.number, complex), "complex numbers are in parts here"
    return w.full(op.number, v.tensor)


@emit.register
def _(op: Extent, v: Value, w: Writer) -> Term:
    assert isinstance(op.size, int), f"the size {op.size} is not known"
    return w.full(op.size, v.tensor)


@emit.register
def _(op: Constant, v: Value, w: Writer) -> Term:
    return w.data(op.data)


@emit.register
def _(op: Iota, v: Value, w: Writer) -> Term:
    positions = w.op("iota", (), v.tensor.with_dtype(int64), iota_dimension=f"{op.axis} : i64")
    return w.convert(positions, v.dtype)


@emit.register
def _(op: RandomBits, v: Value, w: Writer, key: Term, counter: Term) -> Term:
    """Philox, a block of four words at a time."""
    batch, count = key.shape[:-1], prod(op.shape)
    if not v.tensor.size:
        return w.zeros(v.tensor)
    shape = (*batch, -(-count // 4))

    def word(x: Term, i: int) -> Term:
        start, stop = [0] * len(x.shape), list(x.shape)
        start[-1], stop[-1] = i, i + 1
        return w.broadcast(w.reshape(w.slice(x, start, stop), batch), shape, range(len(batch)))

    keys, high = ([unknown(uint32) for _ in range(2)] for _ in range(2))
    block = unknown(uint32)
    known = {e: word(x, i) for x, es in ((key, keys), (counter, high)) for i, e in enumerate(es)}
    positions = w.op("iota", (), TensorType(int64, shape), iota_dimension=f"{len(batch)} : i64")
    known[block] = w.convert(positions, uint32)
    words = [block, const(0, uint32), *high]
    for _ in range(ROUNDS):
        words = philox_round(words, keys)
        keys = [binary("add", k, const(x, uint32)) for k, x in zip(keys, WEYL, strict=True)]
    columns = [w.reshape(written(e, w, known, shape), (*shape, 1)) for e in words]
    together = w.op("concatenate", columns, TensorType(uint32, (*shape, 4)), dimension=f"{len(shape)} : i64")
    flat = w.reshape(together, (*batch, shape[-1] * 4))
    return w.reshape(w.slice(flat, [0] * len(flat.shape), (*batch, count)), v.shape)
