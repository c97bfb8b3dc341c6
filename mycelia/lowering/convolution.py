"""Convolutions: a call of the library on channels-last images, or loops for the element types it has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from mycelia.cost import called_from
from mycelia.ir import Value
from mycelia.loops import (
    Buffer,
    ConvolutionCall,
    Expr,
    Fold,
    Index,
    Invoke,
    Kernel,
    Launch,
    Moves,
    Operand,
    Store,
    Strided,
    Sweep,
    TileKind,
    Variable,
    binary,
    cast,
    const,
    folded,
    index,
    load,
    position,
    select,
)
from mycelia.lowering import tiled_convolution
from mycelia.lowering.body import Body
from mycelia.lowering.plain import offset_of, zero
from mycelia.lowering.steps import layout_of, lower_step
from mycelia.lowering.tiles import in_library, is_refused, slow, tile_kind
from mycelia.lowering.values import full_index, in_order
from mycelia.primitives import Conv, ConvInputGrad, ConvWeightGrad
from mycelia.primitives.convolution import Convolution
from mycelia.primitives.indexing import within
from mycelia.primitives.product_types import summed_in
from mycelia.sizes import Dim, hint, known_equal, known_less, low
from mycelia.types import TensorType, bfloat16, float16, float32, int64, row_major

Tiling = Callable[[Any, Value, Value, Buffer, TileKind, Body], None]  # of an op, its operands and its result


def channels_last(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """Strides of (batch, channels, *space) with the channels of one place side by side."""
    if shape[1] == 1 or prod(shape[2:]) == 1:
        return row_major(tuple(shape))
    rank = len(shape)
    return in_order(shape, [rank, 0, *range(rank - 1, 1, -1)])


@layout_of.register(Conv)
@layout_of.register(ConvInputGrad)
def _(op: Convolution, result: int, type: TensorType) -> tuple[Dim, ...] | None:
    return channels_last(type.shape) if type.dtype in (float32, float16, bfloat16) else None


def _in_library(v: Value, body: Body) -> bool:
    """Whether the library has this convolution, with something to compute. It has no gradients of whole numbers."""
    x, y = v.inputs
    differentiable = isinstance(v.op, Conv) or x.dtype.is_float
    sizes = (*x.shape, *y.shape, *v.shape)
    return differentiable and 0 not in sizes and in_library(v.dtype, x.dtype, y.dtype, body.shared)


def _otherwise(v: Value, body: Body, work: Dim, tiles: Tiling, loops: Callable[..., None]) -> None:
    """A convolution that the library has not: by tiles, or by loops where it is small."""
    x, y = v.inputs
    kind = tile_kind(x.dtype, y.dtype, v.dtype, body.shared.options)
    if kind and hint(work) >= called_from(body.shared.options.target):
        tiles(v.op, x, y, body.memory[v], kind, body)
        return
    slow(v, work, body.shared)
    loops(v.op, x, y, v, body)


def _image(x: Value, body: Body) -> tuple[Buffer, Strided]:
    strides = channels_last(x.shape)
    return body.dense(x, strides), Strided(x.shape, strides, x.dtype)


def _laid(out: Buffer) -> Strided:
    return Strided(out.type.shape, out.strides, out.type.dtype)


def _call(op: Convolution, direction: str, x: Strided, w: TensorType, out: Strided) -> ConvolutionCall:
    moves = Moves(op.strides, op.padding, op.dilation, op.groups)
    return ConvolutionCall(direction, x, Strided(w.shape, row_major(w.shape), w.dtype), out, moves)


def _invoked(body: Body, call: ConvolutionCall, inputs: Sequence[Buffer], out: Buffer) -> bool:
    """Call the library, unless it has refused the call."""
    if not call.bias and is_refused(call, body.shared):
        return False
    body.steps.append(Invoke(call, tuple(Operand(b) for b in inputs), (Operand(out),)))
    return True


@lower_step.register
def _(op: Conv, v: Value, body: Body) -> None:
    x, w = v.inputs
    out = body.memory[v]
    if _in_library(v, body):
        image, layout = _image(x, body)
        if _invoked(body, _call(op, "forward", layout, w.tensor, _laid(out)), [image, body.dense(w)], out):
            return
    _otherwise(v, body, prod(v.shape) * prod(w.shape[1:]), tiled_convolution.forward, _forward_loops)


def convolve_with_bias(op: Conv, v: Value, out: Buffer, body: Body) -> None:
    """A convolution with a bias for each channel, which the call adds."""
    x, w, bias = v.inputs
    image, layout = _image(x, body)
    call = _call(op, "forward", layout, w.tensor, _laid(out))
    _invoked(body, replace(call, bias=True), [image, body.dense(w), body.dense(bias)], out)


@lower_step.register
def _(op: ConvInputGrad, v: Value, body: Body) -> None:
    ct, w = v.inputs
    out = body.memory[v]
    if _in_library(v, body):
        image, layout = _image(ct, body)
        if _invoked(body, _call(op, "input", _laid(out), w.tensor, layout), [image, body.dense(w)], out):
            return
    _otherwise(v, body, prod(ct.shape) * prod(w.shape[1:]), tiled_convolution.input_gradient, _input_loops)


@lower_step.register
def _(op: ConvWeightGrad, v: Value, body: Body) -> None:
    x, ct = v.inputs
    out = body.memory[v]
    if _in_library(v, body):
        (image, x_layout), (cotangent, ct_layout) = _image(x, body), _image(ct, body)
        if _invoked(body, _call(op, "weight", x_layout, v.tensor, ct_layout), [image, cotangent], out):
            return
    _otherwise(v, body, prod(ct.shape) * prod(v.shape[1:]), tiled_convolution.weight_gradient, _weight_loops)


# ------------------------------------------------------------------------------------------------ loops


def _fold(rows: Sequence[Variable], columns: Sequence[Variable], term: Expr, target: Index, out: Buffer) -> Launch:
    fold = Fold("add", term.dtype)
    total = cast(folded(fold), out.type.dtype)
    sweep = Sweep(
        tuple(c for c in columns if not known_equal(c.extent, 1)), ((fold, term),), (), (Store(out, target, total),)
    )
    kept = tuple(r for r in rows if not known_equal(r.extent, 1)) or (Variable(1),)
    work = prod(r.extent for r in (*rows, *columns))
    return Launch(Kernel(kept, (sweep,)), work)


def _product(v: Value, x: Expr, y: Expr) -> Expr:
    """One term of a sum, in the type in which it is summed."""
    wide = summed_in(v.dtype, *(i.dtype for i in v.inputs))
    return binary("mul", cast(x, wide), cast(y, wide))


def _at(v: Variable) -> Index:
    return index(v) if not known_equal(v.extent, 1) else Index(0)


def _guarded(places: Sequence[Index], extents: Sequence[Dim], read: Callable[[list[Index]], Expr]) -> Expr:
    """An element of an image, 0 where the place lies outside it."""
    inside: Expr | None = None
    at = []
    for i, n in zip(places, extents, strict=True):
        if low(i.low) < 0 or not known_less(i.high, n):
            where = position(i, int64)
            below = binary("lt", where, position(Index(n), int64))
            fits = binary("and", binary("ge", where, const(0, int64)), below)
            inside = fits if inside is None else binary("and", inside, fits)
            i = within(where, n - 1)
        at.append(i)
    e = read(at)
    return e if inside is None else select(inside, e, const(0, e.dtype))


def _slid(op: Convolution, out: Sequence[Index], window: Sequence[Index]) -> list[Index]:
    """Where in the image the window stands."""
    moves = zip(out, window, op.strides, op.dilation, op.padding, strict=True)
    return [o * s + k * d - before for o, k, s, d, (before, _) in moves]


def _forward_loops(op: Conv, x: Value, w: Value, v: Value, body: Body) -> None:
    out = body.memory[v]
    if 0 in (*x.shape, *w.shape, *v.shape):
        body.steps.append(zero(out, v.type))
        return
    rows, at = full_index(v.shape)
    inner = [Variable(n) for n in w.shape[1:]]
    channel, *window = (_at(c) for c in inner)
    group = at[1] // (v.shape[1] // op.groups)
    image, weight = body.operand(x), body.operand(w)
    seen = _guarded(
        _slid(op, at[2:], window), x.shape[2:], lambda i: load(image, (at[0], group * w.shape[1] + channel, *i))
    )
    term = _product(v, seen, load(weight, (at[1], channel, *window)))
    body.steps.append(_fold(rows, inner, term, offset_of(at, out.strides), out))


def _weight_loops(op: ConvWeightGrad, x: Value, ct: Value, v: Value, body: Body) -> None:
    out = body.memory[v]
    if 0 in (*x.shape, *ct.shape, *v.shape):
        body.steps.append(zero(out, v.type))
        return
    rows, at = full_index(v.shape)
    inner = [Variable(n) for n in (ct.shape[0], *ct.shape[2:])]
    batch, *place = (_at(c) for c in inner)
    group = at[0] // (v.shape[0] // op.groups)
    image, cotangent = body.operand(x), body.operand(ct)
    seen = _guarded(
        _slid(op, place, at[2:]), x.shape[2:], lambda i: load(image, (batch, group * v.shape[1] + at[1], *i))
    )
    term = _product(v, seen, load(cotangent, (batch, at[0], *place)))
    body.steps.append(_fold(rows, inner, term, offset_of(at, out.strides), out))


def _input_loops(op: ConvInputGrad, ct: Value, w: Value, v: Value, body: Body) -> None:
    out = body.memory[v]
    if 0 in (*ct.shape, *w.shape, *v.shape):
        body.steps.append(zero(out, v.type))
        return
    rows, at = full_index(v.shape)
    outputs = w.shape[0] // op.groups
    inner = [Variable(n) for n in (outputs, *w.shape[2:])]
    channel, *window = (_at(c) for c in inner)
    group, within_group = at[1] // w.shape[1], at[1] % w.shape[1]
    cotangent, weight = body.operand(ct), body.operand(w)
    place, exact = [], None
    for i, k, s, d, (before, _) in zip(at[2:], window, op.strides, op.dilation, op.padding, strict=True):
        reached = i + before - k * d  # = place * stride
        if s > 1:
            fits = binary("eq", position(reached % s, int64), const(0, int64))
            exact = fits if exact is None else binary("and", exact, fits)
        place.append(reached // s)
    o = group * outputs + channel
    seen = _guarded(place, ct.shape[2:], lambda i: load(cotangent, (at[0], o, *i)))
    if exact is not None:
        seen = select(exact, seen, const(0, seen.dtype))
    term = _product(v, seen, load(weight, (o, within_group, *window)))
    body.steps.append(_fold(rows, inner, term, offset_of(at, out.strides), out))
