"""Convolutions and poolings: windows that slide over the trailing axes of `N C *S`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf

import numpy as np

from mycelia.ir import Value
from mycelia.loops import neutral
from mycelia.primitives import (
    AvgPool,
    AvgPoolGrad,
    Conv,
    ConvInputGrad,
    ConvWeightGrad,
    MaxPool,
    MaxPoolGrad,
    MaxPoolPick,
)
from mycelia.primitives.pooling import Average, Pool
from mycelia.primitives.product_types import summed_in
from mycelia.stablehlo.reduction import COMBINE
from mycelia.stablehlo.rules import emit
from mycelia.stablehlo.writer import Term, Writer, numbers, pairs
from mycelia.types import DType, Shape, TensorType, accumulator, int32

# ------------------------------------------------------------------------------------------------ convolutions


def convolved(
    w: Writer, x: Term, y: Term, result: TensorType, axes: tuple[str, str, str], *,
    strides: Sequence[int], padding: Sequence[tuple[int, int]], spread: Sequence[int], dilation: Sequence[int],
    groups: int = 1, batches: int = 1,
) -> Term:  # fmt: skip
    """A convolution whose operands and result have their first two axes as `axes` says."""
    space = range(len(strides))
    named = [f"[{', '.join([*first, *map(str, space)])}]" for first in axes]
    wide = summed_in(result.dtype, x.dtype, y.dtype)
    out = w.op(
        "convolution", (w.convert(x, wide), w.convert(y, wide)), result.with_dtype(wide),
        window_strides=numbers(strides), padding=pairs(padding), lhs_dilation=numbers(spread),
        rhs_dilation=numbers(dilation), window_reversal=f"array<i1: {', '.join(['false'] * len(strides))}>",
        dimension_numbers=f"#stablehlo.conv<{named[0]}x{named[1]}->{named[2]}>",
        feature_group_count=f"{groups} : i64", batch_group_count=f"{batches} : i64",
        precision_config="[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]",
    )  # fmt: skip
    return w.convert(out, result.dtype)


@emit.register
def _(op: Conv, v: Value, w: Writer, x: Term, weight: Term) -> Term:
    return convolved(
        w, x, weight, v.tensor, ("bf", "oi", "bf"),
        strides=op.strides, padding=op.padding, spread=(1,) * len(op.strides), dilation=op.dilation, groups=op.groups,
    )  # fmt: skip


@emit.register
def _(op: ConvInputGrad, v: Value, w: Writer, ct: Term, weight: Term) -> Term:
    out, per_group, *window = weight.shape
    parts = w.reshape(weight, (op.groups, out // op.groups, per_group, *window))
    swapped = w.transpose(parts, (0, 2, 1, *range(3, len(parts.shape))))
    turned = w.reshape(swapped, (op.groups * per_group, out // op.groups, *window))
    turned = w.op("reverse", (turned,), turned.type, dimensions=numbers(range(2, len(turned.shape))))
    padding = [
        (d * (k - 1) - low, n + low - (p - 1) * s - 1)
        for n, k, p, s, d, (low, _) in zip(
            op.shape[2:], window, ct.shape[2:], op.strides, op.dilation, op.padding, strict=True
        )
    ]
    return convolved(
        w, ct, turned, v.tensor, ("bf", "oi", "bf"),
        strides=(1,) * len(window), padding=padding, spread=op.strides, dilation=op.dilation, groups=op.groups,
    )  # fmt: skip


@emit.register
def _(op: ConvWeightGrad, v: Value, w: Writer, x: Term, ct: Term) -> Term:
    padding = [
        (low, (k - 1) * d + (p - 1) * s + 1 - n - low)
        for n, k, p, s, d, (low, _) in zip(
            x.shape[2:], op.shape[2:], ct.shape[2:], op.strides, op.dilation, op.padding, strict=True
        )
    ]
    return convolved(
        w, x, ct, v.tensor, ("fb", "io", "fb"),
        strides=op.dilation, padding=padding, spread=(1,) * len(op.strides), dilation=op.strides, batches=op.groups,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ poolings


def windowed(w: Writer, x: Term, window: Sequence[int], strides: Sequence[int], combine: str, shape: Shape) -> Term:
    """Each window of the trailing axes folded."""
    scalar = TensorType(x.dtype, ())
    start = w.full(neutral(combine, x.dtype), scalar)
    ones = (1,) * len(x.shape)
    return w.op(
        "reduce_window", (x, start), x.type.with_shape(shape),
        [w.region((scalar, scalar), lambda inner, a, b: [inner.binary(COMBINE[combine], a, b)])],
        window_dimensions=numbers((1, 1, *window)), window_strides=numbers((1, 1, *strides)),
        base_dilations=numbers(ones), window_dilations=numbers(ones), padding=pairs(((0, 0),) * len(ones)),
    )  # fmt: skip


def margin(w: Writer, op: Pool, x: Term, number: float | int) -> Term:
    """`x` with a number around its spatial axes."""
    low, high = ((0, 0, *[around[i] for around in op.padding]) for i in range(2))
    return w.pad(x, low, high, (0,) * len(low), number) if any((*low, *high)) else x


@emit.register
def _(op: MaxPool, v: Value, w: Writer, x: Term) -> Term:
    least = neutral("max", x.dtype)
    return windowed(w, margin(w, op, x, least), op.window, op.strides, "max", v.shape)


def counts(op: Average, x: Shape, y: Shape, dtype: DType, w: Writer) -> Term:
    """How many elements each window has, for all windows."""
    numbers_of = np.broadcast_to(op.counts(x, y, dtype.numpy), (1, 1, *y[2:]))
    return w.broadcast(w.data(numbers_of), y, range(len(y)))


@emit.register
def _(op: AvgPool, v: Value, w: Writer, x: Term) -> Term:
    image = margin(w, op, w.convert(x, accumulator(x.dtype)), 0)
    total = windowed(w, image, op.window, op.strides, "add", v.shape)
    return w.convert(w.binary("divide", total, counts(op, x.shape, v.shape, total.dtype, w)), v.dtype)


@emit.register
def _(op: AvgPoolGrad, v: Value, w: Writer, ct: Term) -> Term:
    wide = w.convert(ct, accumulator(ct.dtype))
    share = w.binary("divide", wide, counts(op, v.shape, ct.shape, wide.dtype, w))
    low = [k - 1 - a for k, (a, _) in zip(op.window, op.padding, strict=True)]
    high = [
        n + a - (p - 1) * s - 1
        for n, p, s, (a, _) in zip(v.shape[2:], ct.shape[2:], op.strides, op.padding, strict=True)
    ]
    apart = w.pad(share, (0, 0, *low), (0, 0, *high), (0, 0, *[s - 1 for s in op.strides]), 0)
    return w.convert(windowed(w, apart, op.window, (1,) * len(op.window), "add", v.shape), v.dtype)


class FirstLargest:
    """For each window of `x`, which of its elements is the first largest; nan is largest."""

    def __init__(self, w: Writer, op: Pool, x: Term) -> None:
        self.w, self.op = w, op
        self.out = op.output(x.shape)
        image = margin(w, op, w.convert(x, accumulator(x.dtype)), -inf)
        self.places = list(product(*map(range, op.window)))
        self.which = w.zeros(TensorType(int32, self.out))
        best = self.seen(image, self.places[0])
        for number, at in enumerate(self.places[1:], 1):
            here = self.seen(image, at)
            larger = w.compare("GT", here, best)
            is_nan, was_nan = (w.compare("NE", e, e) for e in (here, best))
            new = w.binary("and", is_nan, w.op("not", (was_nan,), was_nan.type))
            wins = w.binary("or", larger, new)
            self.which = w.select(wins, w.full(number, self.which.type), self.which)
            best = w.select(wins, here, best)

    def seen(self, image: Term, at: Sequence[int]) -> Term:
        """What one element of the window sees, at all places of the window."""
        ends = [k + (n - 1) * s + 1 for k, n, s in zip(at, self.out[2:], self.op.strides, strict=True)]
        return self.w.slice(image, (0, 0, *at), (*image.shape[:2], *ends), (1, 1, *self.op.strides))

    def here(self, number: int) -> Term:
        """Where the element with this number is the one."""
        return self.w.compare("EQ", self.which, self.w.full(number, self.which.type))


@emit.register
def _(op: MaxPoolPick, v: Value, w: Writer, t: Term, x: Term) -> Term:
    chosen = FirstLargest(w, op, x)
    image = margin(w, op, t, 0)
    out = chosen.seen(image, chosen.places[0])
    for number, at in enumerate(chosen.places[1:], 1):
        out = w.select(chosen.here(number), chosen.seen(image, at), out)
    return out


@emit.register
def _(op: MaxPoolGrad, v: Value, w: Writer, ct: Term, x: Term) -> Term:
    chosen = FirstLargest(w, op, x)
    wide = w.convert(ct, accumulator(ct.dtype))
    nothing = w.zeros(wide.type)
    total = w.zeros(x.type.with_dtype(wide.dtype))
    between = (0, 0, *[s - 1 for s in op.strides])
    for number, at in enumerate(chosen.places):
        mine = w.select(chosen.here(number), wide, nothing)
        low = [k - a for k, (a, _) in zip(at, op.padding, strict=True)]
        high = [n - b - (p - 1) * s - 1 for n, b, p, s in zip(x.shape[2:], low, ct.shape[2:], op.strides, strict=True)]
        total = w.binary("add", total, w.pad(mine, (0, 0, *low), (0, 0, *high), between, 0))
    return w.convert(total, ct.dtype)
