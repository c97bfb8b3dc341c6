"""Pieces: a part of a tensor, a tensor with a margin, tensors side by side. They fold into whoever reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Mistake, Op, Operand, Pair, Purity, Reader, Sample, Value, each_part
from mycelia.loops import Expr, Index, binary, const, datum, position, select
from mycelia.primitives.creation import Number, Numbered, check_number, exact, halves
from mycelia.primitives.family import (
    ALL,
    FLOATS,
    Shaped,
    check_dims,
    check_dtype,
    draw,
    given,
    mapping,
    names,
)
from mycelia.sizes import Dim, known_equal, known_less, least, positive, same
from mycelia.types import Array, DType, Shape, TensorType, float32, int32, int64

__all__ = [
    "Concat",
    "Pad",
    "Slice",
    "concat",
    "pad",
    "slice_",
    "spread",
    "take",
]


@frozen
class Slice(Shaped):
    """Elements from `start` up to `stop`, each `step`, along every axis. Steps are positive."""

    cheap: ClassVar[bool] = True
    start: tuple[int, ...]
    stop: tuple[int, ...]
    step: tuple[int, ...]
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    in_parts = each_part

    def infer(self, x: TensorType) -> TensorType:
        if not len(self.start) == len(self.stop) == len(self.step) == x.rank or any(
            not (0 <= a <= b <= e and s > 0)
            for a, b, s, e in zip(self.start, self.stop, self.step, x.shape, strict=True)
        ):
            raise ShapeError(
                f"cannot slice {x} like this",
                given=self.attributes(),
                hint="for each axis: 0 <= start <= stop <= extent, and step > 0",
            )
        return TensorType(
            x.dtype,
            tuple([(b - a + s - 1) // s for a, b, s in zip(self.start, self.stop, self.step, strict=True)]),
        )

    def local(self, shape: Shape, *inputs: TensorType) -> Op:
        stop = [
            e if (a, s) == (0, 1) else b for a, b, s, e in zip(self.start, self.stop, self.step, shape, strict=True)
        ]
        return replace(self, stop=tuple(stop))

    def reference(self, x: Array) -> Array:
        return x[tuple(slice(a, b, s) for a, b, s in zip(self.start, self.stop, self.step, strict=True))]

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return x.at([i * s + a for i, a, s in zip(index, self.start, self.step, strict=True)])

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        for axis, step in enumerate(self.step):
            if step > 1:
                ct = spread(ct, axis, step)  # each element, then step - 1 zeros
        over = [a + n - e for a, n, e in zip(self.start, ct.shape, x.shape, strict=True)]
        kept = tuple(n - positive(o) for n, o in zip(ct.shape, over, strict=True))
        ct = slice_(ct, (0,) * len(kept), kept)
        return (pad(ct, self.start, tuple(positive(-o) for o in over), 0),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return Slice((0, *self.start), (size, *self.stop), (1, *self.step))(x)

    def axes(self, x: TensorType) -> str:
        whole = [
            a == 0 and b == e and s == 1 for e, a, b, s in zip(x.shape, self.start, self.stop, self.step, strict=True)
        ]
        a = [n if w else "1" for n, w in zip(names(x.rank), whole, strict=True)]
        return mapping([a], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 7)
        yield Sample(cls((0, 1, 2), (2, 4, 5), (1, 1, 1)), (x,))
        yield Sample(cls((0, 0, 0), (2, 4, 7), (1, 1, 1)), (x,))
        yield Sample(cls((1, 0, 1), (2, 4, 7), (1, 2, 3)), (x,))
        yield Sample(cls((0, 0, 0), (2, 4, 7), (1, 3, 2)), (x,))
        yield Sample(cls((0, 2, 0), (2, 2, 7), (1, 1, 1)), (x,))
        yield Sample(cls((0, 2), (2, 4), (1, 1)), (draw(4, 4),))
        yield Sample(cls((0, 0), (4, 4), (2, 1)), (draw(4, 4),))
        yield Sample(cls((), (), ()), (draw(),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((0, 0), (2, 4), (1, 1)).infer(x), ShapeError, "cannot slice f32[2, 3] like this")
        yield Mistake(lambda: cls((0,), (2,), (1,)).infer(x), ShapeError, "cannot slice")
        yield Mistake(lambda: cls((0, 0), (2, 3), (1, -1)).infer(x), ShapeError, "step > 0")


@frozen(eq=False)
class Pad(Numbered):
    """`low` elements before and `high` after, along every axis, equal to `number`."""

    cheap: ClassVar[bool] = True
    low: tuple[int, ...]
    high: tuple[int, ...]
    number: Number

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """What can hold the number."""
        return ALL if self.number in (0, 1) else FLOATS

    def infer(self, x: TensorType) -> TensorType:
        if not len(self.low) == len(self.high) == x.rank or any(n < 0 for n in (*self.low, *self.high)):
            raise ShapeError(
                f"cannot pad {x} like this",
                given={"low": self.low, "high": self.high},
                hint="give two numbers >= 0 for each axis; use slice to take elements away",
            )
        check_number(self.number, x.dtype)
        return TensorType(x.dtype, tuple([a + e + b for a, e, b in zip(self.low, x.shape, self.high, strict=True)]))

    def reference(self, x: Array) -> Array:
        out = np.full([a + e + b for a, e, b in zip(self.low, x.shape, self.high, strict=True)], self.number, x.dtype)
        out[tuple(slice(a, a + e) for a, e in zip(self.low, x.shape, strict=True))] = x
        return out

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        assert not isinstance(self.number, complex), "complex numbers are in parts here"
        outside = const(self.number, x.type.dtype)
        if x.type.empty:
            return outside
        inner = [i - a for i, a in zip(index, self.low, strict=True)]
        value = x.at([clamped(i, e) for i, e in zip(inner, x.type.shape, strict=True)])
        for i, e in zip(inner, x.type.shape, strict=True):
            if not known_less(i.high, e):
                value = select(binary("lt", position(i, int64), const(e, int64)), value, outside)
            if least(i.low) < 0:
                value = select(binary("lt", position(i, int64), const(0, int64)), outside, value)
        return value

    def in_parts(self, x: Pair) -> Pair:
        return Pair(*(pad(part, self.low, self.high, n) for part, n in zip(x, halves(self.number), strict=True)))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (slice_(ct, self.low, tuple(a + e for a, e in zip(self.low, x.shape, strict=True))),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return pad(x, (0, *self.low), (0, *self.high), self.number)

    def axes(self, x: TensorType) -> str:
        a = [
            n if w == (0, 0) else "1" for n, w in zip(names(x.rank), zip(self.low, self.high, strict=True), strict=True)
        ]
        return mapping([a], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 3)
        yield Sample(cls((0, 1, 0), (0, 0, 2), 0.0), (x,))
        yield Sample(cls((2, 0, 1), (1, 0, 1), 1.0), (x,))
        yield Sample(cls((0, 1, 0), (0, 1, 0), float("-inf")), (x,), smooth=False)
        yield Sample(cls((2, 0), (0, 2), 0.0), (draw(2, 4),))
        yield Sample(cls((0, 0), (0, 2), 1), (draw(2, 0),))
        yield Sample(cls((), (), 0.0), (draw(),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((0, -1), (0, 0), 0).infer(x), ShapeError, "cannot pad f32[2, 3] like this")
        yield Mistake(lambda: cls((0,), (0,), 0).infer(x), ShapeError, "two numbers >= 0 for each axis")
        yield Mistake(lambda: cls((0,) * 2, (0,) * 2, 0.5).infer(x.with_dtype(int32)), DTypeError, "0.5 is not")


@frozen
class Concat(Op):
    """Tensors one after the other along `axis`."""

    cheap: ClassVar[bool] = True
    axis: int
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    purity: ClassVar[Purity] = Purity.TOTAL

    in_parts = each_part

    def infer(self, *parts: TensorType) -> TensorType:
        first = parts[0]
        check_dims(self, first, (self.axis,), "axis")
        check_dtype(self, *parts)
        if any(self._rest(x.shape) != self._rest(first.shape) for x in parts):
            raise ShapeError(
                f"concat along axis {self.axis} needs all other axes equal",
                given=given(parts),
                hint="reshape or slice the operands first",
            )
        total = sum(x.shape[self.axis] for x in parts)
        return first.with_shape((*first.shape[: self.axis], total, *first.shape[self.axis + 1 :]))

    def _rest(self, shape: Shape) -> tuple[int, ...]:
        return (*shape[: self.axis], -1, *shape[self.axis + 1 :])

    def reference(self, *parts: Array) -> Array:
        return np.concatenate(parts, self.axis)

    def element(self, index: Sequence[Index], *parts: Reader) -> Expr:
        chosen: Expr | None = None
        end = sum(x.type.shape[self.axis] for x in parts)
        for x in reversed(parts):
            extent = x.type.shape[self.axis]
            if x.type.empty:
                continue
            at = list(index)
            at[self.axis] = clamped(index[self.axis] - (end - extent), extent)
            here = x.at(at)
            before = binary("lt", position(index[self.axis], int64), const(end, int64))
            chosen = here if chosen is None else select(before, here, chosen)
            end -= extent
        return const(0, parts[0].type.dtype) if chosen is None else chosen

    def vjp(self, ct: Value, out: Value, *parts: Value) -> Cotangents:
        pieces, offset = [], 0
        for x in parts:
            pieces.append(take(ct, self.axis, offset, offset + x.shape[self.axis]))
            offset += x.shape[self.axis]
        return tuple(pieces)

    def vmap(self, size: int, mapped: tuple[bool, ...], *parts: Value) -> Any:
        whole = [x if m else p.broadcast(x, (size, *x.shape)) for x, m in zip(parts, mapped, strict=True)]
        return Concat(self.axis + 1)(*whole)

    def axes(self, *parts: TensorType) -> str:
        a = ["1" if i == self.axis else n for i, n in enumerate(names(parts[0].rank))]
        return mapping([a] * len(parts), a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(0), (draw(2, 4), draw(1, 4, seed=1)))
        yield Sample(cls(0), (draw(2, 4), draw(4, 4, seed=1)))
        yield Sample(cls(1), (draw(2, 1), draw(2, 3, seed=1), draw(2, 2, seed=2)))
        yield Sample(cls(1), (draw(2, 3), draw(2, 0), draw(2, 2)))
        yield Sample(cls(0), (draw(3),))
        yield Sample(cls(0), (draw(0, 2), draw(0, 2)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls(0).infer(x, x.with_shape((2, 4))), ShapeError, "needs all other axes equal")
        yield Mistake(lambda: cls(2).infer(x, x), ShapeError, "along an axis that f32[2, 3] does not have")
        yield Mistake(lambda: cls(0).infer(x, x.with_dtype(int32)), DTypeError, "operands of one element type")


def clamped(i: Index, extent: Dim) -> Index:
    """The index kept within an axis: both sides of a `select` are read, and the read must stay in memory."""
    if least(i.low) >= 0 and known_less(i.high, extent):
        return i
    # an axis from data may have no elements: then its first place is read, which is there
    inside = binary("max", binary("min", position(i, int64), const(extent - 1, int64)), const(0, int64))
    return datum(inside, 0, extent - 1)


def slice_(x: Operand, start: Sequence[int], stop: Sequence[int], step: Sequence[int] | None = None) -> Operand:
    """The elements of x from `start` to `stop` along every axis.

    >>> slice_(p.zeros(float32, (5, 4)), (1, 0), (5, 4), (2, 1)).shape
    (2, 4)
    """
    start, stop, step = tuple(start), tuple(stop), (1,) * len(x.shape) if step is None else tuple(step)
    whole = same(stop, x.shape) and same(start, (0,) * len(start)) and all(s == 1 for s in step)
    return x if whole else Slice(start, stop, step)(x)


def take(x: Operand, axis: int, start: int, stop: int, step: int = 1) -> Operand:
    """The elements of x from `start` to `stop` along one axis.

    >>> take(p.zeros(float32, (5, 4)), 1, 1, 3).shape
    (5, 2)
    """
    starts, stops, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return slice_(x, starts, stops, steps)


def pad(x: Operand, low: Sequence[int], high: Sequence[int], number: Number = 0) -> Operand:
    """`x` with `number` around it.

    >>> pad(p.zeros(float32, (2, 3)), (1, 0), (0, 2)).shape
    (3, 5)
    """
    return (
        Pad(tuple(low), tuple(high), exact(number, x.dtype))(x)
        if not all(known_equal(n, 0) for n in (*low, *high))
        else x
    )


def spread(x: Operand, axis: int, step: int) -> Operand:
    """`x` with step - 1 zeros after each element along `axis`.

    >>> spread(p.zeros(float32, (2, 3)), 1, 4).shape
    (2, 12)
    """
    apart = p.expand_dims(x, (axis + 1,))
    high = [step - 1 if i == axis + 1 else 0 for i in range(len(apart.shape))]
    shape = [e * step if i == axis else e for i, e in enumerate(x.shape)]
    return p.reshape(pad(apart, (0,) * len(high), high), shape)


def concat(parts: Sequence[Any], axis: int) -> Any:
    """Tensors one after the other along `axis`.

    >>> concat([p.zeros(float32, (2, 3)), p.zeros(float32, (1, 3))], 0).shape
    (3, 3)
    """
    return parts[0] if len(parts) == 1 else Concat(axis)(*parts)
