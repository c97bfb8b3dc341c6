"""Movement: the same elements at other places. It costs nothing: it folds into whoever reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.ir import Cotangents, Mistake, Op, Reader, Sample, Value
from mycelia.loops import Expr, Index, binary, const, datum, position, select
from mycelia.primitives.creation import Number, Numbered, check_number, exact
from mycelia.primitives.elementwise import at_broadcast
from mycelia.primitives.family import (
    ALL,
    FLOATS,
    Shaped,
    broadcast_shape,
    check_dims,
    check_dtype,
    draw,
    given,
    mapping,
    names,
)
from mycelia.types import Array, DType, Shape, TensorType, float32, int32, int64, row_major

__all__ = [
    "Broadcast",
    "Concat",
    "Flip",
    "Pad",
    "Reshape",
    "Slice",
    "Transpose",
    "align",
    "broadcast",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "pad",
    "reshape",
    "slice_",
    "spread",
    "take",
    "transpose",
]


@dataclass(frozen=True)
class Reshape(Shaped):
    """The same elements in row-major order, under another shape."""

    shape: Shape
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def infer(self, x: TensorType) -> TensorType:
        if prod(self.shape) != prod(x.shape) or any(e < 0 for e in self.shape):
            raise ShapeError(
                f"cannot reshape {x} to shape {self.shape}",
                given={"elements before": x.size, "elements after": prod(self.shape)},
                hint="the number of elements must stay the same",
            )
        return TensorType(x.dtype, self.shape)

    def reference(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        if x.type.size == 0:
            return const(0, x.type.dtype)
        flat = Index(0)
        for i, stride in zip(index, row_major(self.shape), strict=True):
            flat = flat + i * stride
        return x.at([flat // s % e for s, e in zip(row_major(x.type.shape), x.type.shape, strict=True)])

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (reshape(ct, x.shape),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return reshape(x, (size, *self.shape))

    def axes(self, x: TensorType) -> str:
        """The first axes of groups with equal products correspond: (4, 6) -> (24,) may be split along 4."""
        if not x.size:
            return mapping([["1"] * x.rank], ["1"] * len(self.shape))
        before, after, free = ["1"] * x.rank, ["1"] * len(self.shape), iter(names(52))
        i = j = 0
        while i < x.rank and j < len(self.shape):
            if 1 in (x.shape[i], self.shape[j]):
                i, j = i + (x.shape[i] == 1), j + (self.shape[j] == 1 != x.shape[i])
                continue
            before[i] = after[j] = next(free)
            m, n, i, j = x.shape[i], self.shape[j], i + 1, j + 1
            while m != n:
                if m < n:
                    m, i = m * x.shape[i], i + 1
                else:
                    n, j = n * self.shape[j], j + 1
        return mapping([before], after)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 6)
        yield from (Sample(cls(s), (x,)) for s in [(8, 6), (2, 24), (48,), (6, 8), (2, 2, 2, 6), (2, 1, 4, 6, 1)])
        yield Sample(cls((3,)), (draw(1, 3, 1),))
        yield Sample(cls((1, 1)), (draw(),))
        yield Sample(cls((0, 5)), (draw(3, 0),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((4,)).infer(x), ShapeError, "cannot reshape f32[2, 3] to shape (4,)")
        yield Mistake(lambda: cls((-2, -3)).infer(x), ShapeError, "cannot reshape")


@dataclass(frozen=True)
class Transpose(Op):
    """The axes in another order: axis `i` of the output is axis `permutation[i]` of the input."""

    permutation: tuple[int, ...]
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def infer(self, x: TensorType) -> TensorType:
        if len(self.permutation) != x.rank or sorted(self.permutation) != list(range(x.rank)):
            raise ShapeError(
                f"transpose needs each axis of {x} once",
                given={"permutation": self.permutation},
                hint=f"give a permutation of {tuple(range(x.rank))}",
            )
        return TensorType(x.dtype, tuple([x.shape[i] for i in self.permutation]))

    def reference(self, x: Array) -> Array:
        return x.transpose(self.permutation)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return x.at([index[self.permutation.index(i)] for i in range(len(self.permutation))])

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (transpose(ct, tuple(self.permutation.index(i) for i in range(len(self.permutation)))),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return transpose(x, (0, *(i + 1 for i in self.permutation)))

    def axes(self, x: TensorType) -> str:
        a = names(x.rank)
        return mapping([a], [a[i] for i in self.permutation])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 6)
        yield from (Sample(cls(order), (x,)) for order in [(2, 0, 1), (1, 2, 0), (0, 2, 1)])
        yield Sample(cls(()), (draw(),))
        yield Sample(cls((1, 0)), (draw(0, 3),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((0, 0)).infer(x), ShapeError, "needs each axis of f32[2, 3] once")
        yield Mistake(lambda: cls((0,)).infer(x), ShapeError, "give a permutation of (0, 1)")


@dataclass(frozen=True)
class Broadcast(Shaped):
    """Repeat along new leading axes and along axes of extent 1, as in NumPy."""

    shape: Shape
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def infer(self, x: TensorType) -> TensorType:
        if broadcast_shape(x.shape, self.shape) != self.shape:
            raise ShapeError(
                f"cannot broadcast {x} to shape {self.shape}",
                hint="aligned at the right, each extent must be 1 or equal to the target",
            )
        return TensorType(x.dtype, self.shape)

    def reference(self, x: Array) -> Array:
        return np.broadcast_to(x, self.shape)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return at_broadcast(x, index)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (p.unbroadcast(ct, x.shape),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return broadcast(align(x, len(self.shape)), (size, *self.shape))

    def axes(self, x: TensorType) -> str:
        out = names(len(self.shape))
        before = ["1" if e == 1 else n for e, n in zip(x.shape, out[len(out) - x.rank :], strict=True)]
        return mapping([before], [n if n in before else "1" for n in out])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls((4, 2, 3)), (draw(1, 2, 1),))
        yield Sample(cls((4, 2, 3)), (draw(2, 1),))
        yield Sample(cls((2, 2)), (draw(),))
        yield Sample(cls((2, 1)), (draw(2, 1),))
        yield Sample(cls((2, 0)), (draw(2, 1),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((4, 3)).infer(x), ShapeError, "cannot broadcast f32[2, 3] to shape (4, 3)")
        yield Mistake(lambda: cls((3,)).infer(x), ShapeError, "cannot broadcast f32[2, 3] to shape (3,)")
        yield Mistake(lambda: cls((1, 3)).infer(x), ShapeError, "equal to the target")


@dataclass(frozen=True)
class Slice(Shaped):
    """Elements from `start` up to `stop`, each `step`, along every axis. Steps are positive."""

    start: tuple[int, ...]
    stop: tuple[int, ...]
    step: tuple[int, ...]
    dtypes: ClassVar[tuple[DType, ...]] = ALL

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
        kept = tuple(n - max(o, 0) for n, o in zip(ct.shape, over, strict=True))
        ct = slice_(ct, (0,) * len(kept), kept)
        return (pad(ct, self.start, tuple(max(-o, 0) for o in over), 0),)

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


@dataclass(frozen=True, eq=False)
class Pad(Numbered):
    """`low` elements before and `high` after, along every axis, equal to `number`."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    number: Number

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """What can hold the number."""
        return ALL if self.number in (0, 1) else FLOATS

    def infer(self, x: TensorType) -> TensorType:
        if not len(self.low) == len(self.high) == x.rank or min((*self.low, *self.high, 0)) < 0:
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
        outside = const(self.number, x.type.dtype)
        if x.type.size == 0:
            return outside
        inner = [i - a for i, a in zip(index, self.low, strict=True)]
        value = x.at([clamped(i, e) for i, e in zip(inner, x.type.shape, strict=True)])
        for i, e in zip(inner, x.type.shape, strict=True):
            if i.high >= e:
                value = select(binary("lt", position(i, int64), const(e, int64)), value, outside)
            if i.low < 0:
                value = select(binary("lt", position(i, int64), const(0, int64)), outside, value)
        return value

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


@dataclass(frozen=True)
class Concat(Op):
    """Tensors one after the other along `axis`."""

    axis: int
    dtypes: ClassVar[tuple[DType, ...]] = ALL

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
            if x.type.size == 0:
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
        whole = [x if m else broadcast(x, (size, *x.shape)) for x, m in zip(parts, mapped, strict=True)]
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


@dataclass(frozen=True)
class Flip(Op):
    """The order along `dims` reversed."""

    dims: tuple[int, ...]
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def infer(self, x: TensorType) -> TensorType:
        check_dims(self, x, self.dims)
        return x

    def reference(self, x: Array) -> Array:
        return np.flip(x, self.dims)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return x.at(
            [
                Index(e - 1) - i if k in self.dims else i
                for k, (i, e) in enumerate(zip(index, x.type.shape, strict=True))
            ]
        )

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (flip(ct, self.dims),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return flip(x, tuple(d + 1 for d in self.dims))

    def axes(self, x: TensorType) -> str:
        a = ["1" if i in self.dims else n for i, n in enumerate(names(x.rank))]
        return mapping([a], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(dims), (draw(2, 4, 3),)) for dims in [(1,), (0, 2), ()])
        yield Sample(cls((0,)), (draw(0, 2),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((2,)).infer(x), ShapeError, "counted from 0 to 1")
        yield Mistake(lambda: cls((0, 0)).infer(x), ShapeError, "flip names an axis twice")


def clamped(i: Index, extent: int) -> Index:
    """The index kept within an axis: both sides of a `select` are read, and the read must stay in memory."""
    if i.low >= 0 and i.high < extent:
        return i
    inside = binary("min", binary("max", position(i, int64), const(0, int64)), const(extent - 1, int64))
    return datum(inside, 0, extent - 1)


def reshape(x: Any, shape: Sequence[int]) -> Any:
    """`x` under another shape; one extent may be -1 and is computed.

    >>> reshape(p.zeros(float32, (2, 6)), (3, -1)).shape
    (3, 4)
    """
    shape = tuple(shape)
    if -1 in shape:
        known = -prod(shape)
        shape = tuple((prod(x.shape) // known if known else 0) if e == -1 else e for e in shape)
    return x if x.shape == shape else Reshape(shape)(x)


def transpose(x: Any, permutation: Sequence[int] | None = None) -> Any:
    """`x` with its axes in another order, reversed if none is given.

    >>> transpose(p.zeros(float32, (2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    rank = len(x.shape)
    permutation = tuple(reversed(range(rank))) if permutation is None else tuple(permutation)
    return x if permutation == tuple(range(rank)) else Transpose(permutation)(x)


def moveaxis(x: Any, source: int, destination: int) -> Any:
    """`x` with one axis taken out and put elsewhere.

    >>> moveaxis(p.zeros(float32, (2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    order = [i for i in range(len(x.shape)) if i != source]
    order.insert(destination, source)
    return transpose(x, order)


def broadcast(x: Any, shape: Sequence[int]) -> Any:
    """`x` repeated to `shape`, as in NumPy.

    >>> broadcast(p.zeros(float32, (3, 1)), (2, 3, 4)).shape
    (2, 3, 4)
    """
    shape = tuple(shape)
    return x if x.shape == shape else Broadcast(shape)(x)


def align(x: Any, rank: int) -> Any:
    """A mapped operand with axes of extent 1 after its leading one, so that the rest has `rank` axes.

    >>> align(p.zeros(float32, (9, 3)), 2).shape
    (9, 1, 3)
    """
    return reshape(x, (x.shape[0], *(1,) * (rank - len(x.shape) + 1), *x.shape[1:]))


def expand_dims(x: Any, dims: Sequence[int]) -> Any:
    """`x` with axes of extent 1, which are `dims` of the result.

    >>> expand_dims(p.zeros(float32, (3, 4)), (0, 2)).shape
    (1, 3, 1, 4)
    """
    old = iter(x.shape)
    return reshape(x, tuple(1 if i in dims else next(old) for i in range(len(x.shape) + len(dims))))


def slice_(x: Any, start: Sequence[int], stop: Sequence[int], step: Sequence[int] | None = None) -> Any:
    """The elements of x from `start` to `stop` along every axis.

    >>> slice_(p.zeros(float32, (5, 4)), (1, 0), (5, 4), (2, 1)).shape
    (2, 4)
    """
    start, stop, step = tuple(start), tuple(stop), (1,) * len(x.shape) if step is None else tuple(step)
    whole = stop == x.shape and not any(start) and all(s == 1 for s in step)
    return x if whole else Slice(start, stop, step)(x)


def take(x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
    """The elements of x from `start` to `stop` along one axis.

    >>> take(p.zeros(float32, (5, 4)), 1, 1, 3).shape
    (5, 2)
    """
    starts, stops, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return slice_(x, starts, stops, steps)


def pad(x: Any, low: Sequence[int], high: Sequence[int], number: Number = 0) -> Any:
    """`x` with `number` around it.

    >>> pad(p.zeros(float32, (2, 3)), (1, 0), (0, 2)).shape
    (3, 5)
    """
    return Pad(tuple(low), tuple(high), exact(number, x.dtype))(x) if any(low) or any(high) else x


def spread(x: Any, axis: int, step: int) -> Any:
    """`x` with step - 1 zeros after each element along `axis`.

    >>> spread(p.zeros(float32, (2, 3)), 1, 4).shape
    (2, 12)
    """
    apart = expand_dims(x, (axis + 1,))
    high = [step - 1 if i == axis + 1 else 0 for i in range(len(apart.shape))]
    shape = [e * step if i == axis else e for i, e in enumerate(x.shape)]
    return reshape(pad(apart, (0,) * len(high), high), shape)


def concat(parts: Sequence[Any], axis: int) -> Any:
    """Tensors one after the other along `axis`.

    >>> concat([p.zeros(float32, (2, 3)), p.zeros(float32, (1, 3))], 0).shape
    (3, 3)
    """
    return parts[0] if len(parts) == 1 else Concat(axis)(*parts)


def flip(x: Any, dims: Sequence[int]) -> Any:
    """`x` with the order along `dims` reversed.

    >>> flip(p.zeros(float32, (2, 3)), (1,)).shape
    (2, 3)
    """
    return Flip(tuple(dims))(x) if dims else x
