"""Pooling: the largest element or the mean of each window, over the trailing axes of `N C *S`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Operand, Purity, Sample, Value
from mycelia.primitives.family import FLOATS, NUMBERS, Shaped, check_dtype, draw, given, mapping, names, wide
from mycelia.primitives.windows import Padding, check_windows, fold, inside, offsets, padded, slid, unfold, whole
from mycelia.types import Array, DType, Shape, TensorType, bool_, float32, int32

__all__ = [
    "AvgPool",
    "AvgPoolGrad",
    "MaxPool",
    "MaxPoolGrad",
    "MaxPoolPick",
    "avg_pool",
    "max_pool",
]


@frozen
class Pool(Op, abstract=True):
    """The family: windows slide over `x: N C *S`; each holds at least one element that is not padding."""

    window: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Padding
    dtypes: ClassVar[tuple[DType, ...]] = FLOATS
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    def output(self, x: Shape) -> Shape:
        """The shape of the pooled tensor, or an error."""
        if len(x) != len(self.window) + 2:
            raise ShapeError(
                f"{self.name} over {len(self.window)} spatial axes needs an operand of rank {len(self.window) + 2}",
                given={"operand": x},
                hint="the operand is (batch, channels, *space)",
            )
        check_windows(self.name, self.window, self.strides, self.padding, self.ones)
        if any(max(around) >= k for around, k in zip(self.padding, self.window, strict=True)):
            raise ArgumentError(
                f"{self.name}: a window could lie in the padding alone",
                given={"window": self.window, "padding": self.padding},
                hint="padding must be smaller than the window",
            )
        return (*x[:2], *slid(self.name, x[2:], self.window, self.strides, self.padding, self.ones))

    @property
    def ones(self) -> tuple[int, ...]:
        return (1,) * len(self.window)

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        return unfold(self.batched(size)(*map(fold, whole(size, mapped, inputs))), size)

    def batched(self, size: int) -> Op:
        """The op on `size` times as many images."""
        return self

    def axes(self, *inputs: TensorType) -> str:
        a = [*names(2), *("1" for _ in self.window)]
        return mapping([a] * len(inputs), a)


class MaxPool(Pool):
    """The largest element of each window; padding never wins."""

    name, dtypes = "max_pool", NUMBERS

    def infer(self, x: TensorType) -> TensorType:
        check_dtype(self, x)
        return TensorType(x.dtype, self.output(x.shape))

    def reference(self, x: Array) -> Array:
        shape, image = self.output(x.shape), padded(wide(x), self.padding, least(x))
        seen = offsets(image, self.window, self.strides, self.ones, shape[2:])
        _, out = next(seen)
        for _, more in seen:
            out = np.maximum(out, more)
        return out.astype(x.dtype)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (MaxPoolGrad(self.window, self.strides, self.padding)(ct, x),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for attributes, x, _ in examples():
            yield Sample(cls(**attributes), (distinct(*x),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield from _mistakes(cls((2, 2), (2, 2), ((0, 0), (0, 0))))


class Chosen(Pool, abstract=True):
    """The family of the gradients: they move numbers between each window and the first of its largest elements."""

    def places(self, x: Array) -> Array:
        """For each window, where its first largest element is among the elements of the padded input."""
        image = padded(wide(x), self.padding, least(x))
        where = np.arange(image.size).reshape(image.shape)
        shape = self.output(x.shape)[2:]
        seen = [v for _, v in offsets(image, self.window, self.strides, self.ones, shape)]
        place = [v for _, v in offsets(where, self.window, self.strides, self.ones, shape)]
        best = np.argmax(np.stack(seen), 0)
        return np.asarray(np.take_along_axis(np.stack(place), best[None], 0)[0])

    def check(self, y: TensorType, x: TensorType, expected: Shape) -> None:
        check_dtype(self, y, x)
        if y.shape != expected:
            raise ShapeError(
                f"{self.name} needs an operand of shape {expected}, not {y.shape}",
                given=given((y, x)),
                hint="the shapes of a pooling and of its operand belong together",
            )


class MaxPoolGrad(Chosen):
    """The cotangent of the input of a maximum pooling: each window gives its cotangent to its first largest element."""

    name = "max_pool_grad"

    def infer(self, ct: TensorType, x: TensorType) -> TensorType:
        self.check(ct, x, self.output(x.shape))
        return x

    def reference(self, ct: Array, x: Array) -> Array:
        around = padded(np.zeros(x.shape, wide(ct).dtype), self.padding)
        np.add.at(around.reshape(-1), self.places(x), wide(ct))
        return inside(around, x.shape, self.padding).astype(ct.dtype)

    def vjp(self, ct: Value, out: Value, y: Value, x: Value) -> Cotangents:
        return MaxPoolPick(self.window, self.strides, self.padding)(ct, x), None

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for attributes, x, y in examples():
            yield Sample(cls(**attributes), (draw(*y), distinct(*x)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op, x = cls((2,), (2,), ((0, 0),)), TensorType(float32, (1, 1, 6))
        yield Mistake(lambda: op.infer(x, x), ShapeError, "needs an operand of shape (1, 1, 3)")


class MaxPoolPick(Chosen):
    """From each window of the first operand, the element at the place of the second's first largest element."""

    name = "max_pool_pick"

    def infer(self, t: TensorType, x: TensorType) -> TensorType:
        self.check(t, x, x.shape)
        return TensorType(t.dtype, self.output(x.shape))

    def reference(self, t: Array, x: Array) -> Array:
        return padded(t, self.padding).reshape(-1)[self.places(x)]

    def vjp(self, ct: Value, out: Value, t: Value, x: Value) -> Cotangents:
        return MaxPoolGrad(self.window, self.strides, self.padding)(ct, x), None

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for attributes, x, _ in examples():
            yield Sample(cls(**attributes), (draw(*x, seed=1), distinct(*x)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op, x = cls((2,), (2,), ((0, 0),)), TensorType(float32, (1, 1, 6))
        yield Mistake(lambda: op.infer(x.with_shape((1, 1, 3)), x), ShapeError, "needs an operand of shape (1, 1, 6)")


@frozen
class Average(Pool, abstract=True):
    """The family of means, which are linear. Padding counts as zeros, or not at all."""

    count_padding: bool

    def counts(self, x: Shape, y: Shape, dtype: Any) -> Array:
        """How many elements each window has."""
        if self.count_padding:
            return np.asarray(prod(self.window), dtype)
        image = padded(np.ones((1, 1, *x[2:]), dtype), self.padding)
        return np.asarray(sum(v for _, v in offsets(image, self.window, self.strides, self.ones, y[2:])))


@frozen
class AvgPool(Average):
    """The mean of each window."""

    name: ClassVar[str] = "avg_pool"

    def infer(self, x: TensorType) -> TensorType:
        check_dtype(self, x)
        return TensorType(x.dtype, self.output(x.shape))

    def reference(self, x: Array) -> Array:
        shape, image = self.output(x.shape), padded(wide(x), self.padding)
        total = sum(v for _, v in offsets(image, self.window, self.strides, self.ones, shape[2:]))
        return np.asarray(total / self.counts(x.shape, shape, image.dtype)).astype(x.dtype)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (p.AvgPoolGrad(self.window, self.strides, self.padding, self.count_padding, x.shape)(ct),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for attributes, x, _ in examples():
            yield from (Sample(cls(**attributes, count_padding=count), (draw(*x),)) for count in (True, False))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op = cls((2, 2), (2, 2), ((0, 0), (0, 0)), True)
        yield from _mistakes(op)
        whole_numbers = TensorType(int32, (1, 1, 4, 4))
        yield Mistake(lambda: op.infer(whole_numbers), DTypeError, "avg_pool needs a floating element type")


@frozen
class AvgPoolGrad(Average, Shaped):
    """The cotangent of the input of a mean pooling: each window gives every element its share."""

    shape: Shape
    name: ClassVar[str] = "avg_pool_grad"

    def infer(self, ct: TensorType) -> TensorType:
        check_dtype(self, ct)
        if ct.shape != self.output(self.shape):
            raise ShapeError(
                f"{self.name} to shape {self.shape} needs an operand of shape {self.output(self.shape)}",
                given={"operand": ct},
                hint="the shapes of a pooling and of its operand belong together",
            )
        return TensorType(ct.dtype, self.shape)

    def reference(self, ct: Array) -> Array:
        around = padded(np.zeros(self.shape, wide(ct).dtype), self.padding)
        share = wide(ct) / self.counts(self.shape, ct.shape, around.dtype)
        for _, seen in offsets(around, self.window, self.strides, self.ones, ct.shape[2:]):
            seen += share
        return inside(around, self.shape, self.padding).astype(ct.dtype)

    def vjp(self, ct: Value, out: Value, y: Value) -> Cotangents:
        return (AvgPool(self.window, self.strides, self.padding, self.count_padding)(ct),)

    def batched(self, size: int) -> Op:
        return replace(self, shape=(size * self.shape[0], *self.shape[1:]))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for attributes, x, y in examples():
            yield from (Sample(cls(**attributes, count_padding=count, shape=x), (draw(*y),)) for count in (True, False))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op = cls((2,), (2,), ((0, 0),), True, (1, 1, 6))
        yield Mistake(
            lambda: op.infer(TensorType(float32, (1, 1, 6))), ShapeError, "needs an operand of shape (1, 1, 3)"
        )


def least(x: Array) -> Any:
    """A number not larger than any other of the element type of `x`.

    >>> least(np.zeros(1)), least(np.zeros(1, "int8"))
    (-inf, -128)
    """
    return np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf


def distinct(*shape: int) -> Array:
    """Numbers for samples that are far apart, so that no small step changes which is the largest."""
    order = np.random.default_rng(prod(shape)).permutation(prod(shape))
    return (order.reshape(shape) * 0.25 - prod(shape) / 8).astype(np.float32)


def examples() -> Iterable[tuple[dict[str, Any], Shape, Shape]]:
    """Windows, strides and paddings, with the shapes of operand and result."""
    for window, strides, padding, x in [
        ((2, 2), (2, 2), ((0, 0), (0, 0)), (2, 2, 4, 6)),
        ((3, 2), (2, 1), ((1, 1), (0, 1)), (1, 2, 5, 4)),
        ((3, 3), (1, 1), ((1, 1), (1, 1)), (2, 1, 3, 3)),
        ((2, 3), (3, 2), ((0, 1), (2, 0)), (1, 1, 5, 4)),
        ((3,), (2,), ((0, 0),), (2, 2, 8)),
        ((2, 1, 2), (2, 1, 1), ((0, 0), (0, 0), (1, 0)), (1, 1, 4, 2, 2)),
    ]:
        attributes: dict[str, Any] = {"window": window, "strides": strides, "padding": padding}
        yield attributes, x, MaxPool(**attributes).output(x)


def _mistakes(op: Any) -> Iterable[Mistake]:
    x = TensorType(float32, (1, 1, 4, 4))
    yield Mistake(lambda: op.infer(x.with_shape((1, 4, 4))), ShapeError, f"{op.name} over 2 spatial axes")
    yield Mistake(lambda: op.infer(x.with_shape((1, 1, 1, 4))), ShapeError, "the window does not fit")
    yield Mistake(lambda: replace(op, padding=((2, 0), (0, 0))).infer(x), ArgumentError, "smaller than the window")
    yield Mistake(lambda: replace(op, strides=(0, 1)).infer(x), ArgumentError, "cannot slide a window like this")
    yield Mistake(lambda: op.infer(x.with_dtype(bool_)), DTypeError, f"{op.name} needs a")


def max_pool(x: Operand, window: Any, strides: Any = None, padding: Any = None) -> Operand:
    """The largest element of each window.

    >>> max_pool(p.zeros(float32, (1, 3, 8, 8)), (2, 2)).shape
    (1, 3, 4, 4)
    """
    return MaxPool(tuple(window), tuple(strides or window), tuple(padding or ((0, 0),) * len(window)))(x)


def avg_pool(x: Operand, window: Any, strides: Any = None, padding: Any = None, count_padding: bool = True) -> Operand:
    """The mean of each window.

    >>> avg_pool(p.zeros(float32, (1, 3, 8, 8)), (2, 2)).shape
    (1, 3, 4, 4)
    """
    return AvgPool(tuple(window), tuple(strides or window), tuple(padding or ((0, 0),) * len(window)), count_padding)(x)
