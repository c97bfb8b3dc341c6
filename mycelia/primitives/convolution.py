"""Convolution and its two gradients. Each is linear in both operands, and the three are closed under vjp."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Purity, Sample, Value
from mycelia.primitives.family import Shaped, draw, given, mapping
from mycelia.primitives.product_types import mixed, named, operand_types, product_type, rounded, widened
from mycelia.primitives.windows import (
    Padding,
    check_windows,
    fold,
    inside,
    offsets,
    on_space,
    padded,
    slid,
    unfold,
    whole,
)
from mycelia.types import Array, DType, Shape, TensorType, dtype_of, float32, int32

__all__ = [
    "Conv",
    "ConvInputGrad",
    "ConvWeightGrad",
    "conv",
]


@frozen
class Convolution(Op, abstract=True):
    """The family: `x: N C *S`, `w: O C/groups *K`, `y: N O *P`. The result has element type `dtype`, or that of both
    operands.
    """

    strides: tuple[int, ...]
    padding: Padding
    dilation: tuple[int, ...]
    groups: int
    dtype: DType | None = field(default=None, kw_only=True)
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """What the operands may be."""
        return operand_types(self.dtype)

    def output(self, x: Shape, w: Shape) -> Shape:
        """The shape of y, or an error."""
        rank = len(self.strides) + 2
        if len(x) != rank or len(w) != rank:
            raise ShapeError(
                f"{self.name} over {rank - 2} spatial axes needs operands of rank {rank}",
                given={"input": x, "weight": w},
                hint="the input is (batch, channels, *space), the weight (out, channels / groups, *window)",
            )
        if x[1] != w[1] * self.groups or w[0] % self.groups or self.groups < 1:
            raise ShapeError(
                f"{self.name}: {x[1]} channels do not fit a weight for {w[1]} channels in each of {self.groups} groups",
                given={"input": x, "weight": w, "groups": self.groups},
                hint="the weight is (out, channels / groups, *window), and groups divide out",
            )
        check_windows(self.name, w[2:], self.strides, self.padding, self.dilation)
        return (x[0], w[0], *slid(self.name, x[2:], w[2:], self.strides, self.padding, self.dilation))

    def grouped(self, x: Array) -> Array:
        """`N C *S` as `N groups C/groups S`."""
        channels = x.shape[1] // self.groups
        return np.ascontiguousarray(x).reshape(x.shape[0], self.groups, channels, prod(x.shape[2:]))

    def names(self, x: str, y: str, out: str) -> str:
        """An axes rule from the letters of the first two axes; groups keep channels whole."""
        space = ["1"] * len(self.strides)
        first = [[*(c if self.groups == 1 or c == "n" else "1" for c in letters), *space] for letters in (x, y, out)]
        return mapping(first[:2], first[2])

    def like(self, kind: type[Any], **more: Any) -> Any:
        """An op of the family over the same windows, whose result has the type of its operands unless it is said."""
        return kind(strides=self.strides, padding=self.padding, dilation=self.dilation, groups=self.groups, **more)

    def flow(self, kind: type[Any], a: Value, b: Value, *, to: Value, **more: Any) -> Value | None:
        """The cotangent of an operand, by an op of the family over two other values; None for whole numbers."""
        if not to.type.differentiable:
            return None
        found: Value = self.like(kind, dtype=named(to.dtype, a, b), **more)(a, b)
        return found


@frozen
class Conv(Convolution):
    """y[n, o, p] = sum over c, k of x[n, c, p * stride + k * dilation - low] * w[o, c, k].

    >>> Conv((1,), ((0, 0),), (1,), 1).reference(np.ones((1, 1, 4)), np.ones((1, 1, 2)))
    array([[[2., 2., 2.]]])
    """

    def infer(self, x: TensorType, w: TensorType) -> TensorType:
        return TensorType(product_type(self, x, w), self.output(x.shape, w.shape))

    def reference(self, x: Array, w: Array) -> Array:
        shape, result = self.output(x.shape, w.shape), self.dtype or dtype_of(x)
        image, weight = widened(result, x, w)
        image = padded(image, self.padding)
        out = self.grouped(np.zeros(shape, image.dtype))
        for at, seen in offsets(image, w.shape[2:], self.strides, self.dilation, shape[2:]):
            matrix = weight[on_space(at)].reshape(self.groups, w.shape[0] // self.groups, w.shape[1])
            out += matrix @ self.grouped(seen)
        return rounded(out.reshape(shape), result)

    def vjp(self, ct: Value, out: Value, x: Value, w: Value) -> Cotangents:
        to_x = self.flow(ConvInputGrad, ct, w, to=x, shape=x.shape)
        return to_x, self.flow(ConvWeightGrad, x, ct, to=w, shape=w.shape)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, w: Value) -> Any:
        if not mapped[1]:
            return unfold(self(fold(x), w), size)
        x, w = whole(size, mapped, (x, w))  # each element of the batch becomes a group
        return _ungroup(replace(self, groups=self.groups * size)(_group(x), fold(w)), size)

    def axes(self, x: TensorType, w: TensorType) -> str:
        return self.names("nc", "oc", "no")

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for op, x, w, _ in examples():
            yield Sample(op.like(cls), (draw(*x), draw(*w, seed=1)))
        op, x, w, _ = next(iter(examples()))
        yield from mixed(lambda dtype: op.like(cls, dtype=dtype), x, w)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op = cls((1, 1), ((0, 0), (0, 0)), (1, 1), 1)
        x, w = TensorType(float32, (1, 3, 8, 8)), TensorType(float32, (4, 2, 3, 3))
        good = w.with_shape((4, 3, 3, 3))
        yield Mistake(lambda: op.infer(x, w), ShapeError, "3 channels do not fit a weight for 2 channels")
        yield Mistake(lambda: op.infer(x, w.with_shape((4, 3, 3))), ShapeError, "needs operands of rank 4")
        yield Mistake(lambda: op.infer(x, w.with_shape((4, 3, 9, 9))), ShapeError, "the window does not fit")
        yield Mistake(lambda: op.infer(x, good.with_dtype(int32)), DTypeError, "operands of one element type")
        yield Mistake(lambda: replace(op, strides=(0, 1)).infer(x, good), ArgumentError, "stride and dilation >= 1")
        yield Mistake(lambda: replace(op, padding=((0, -1), (0, 0))).infer(x, good), ArgumentError, "padding")


@frozen
class GradientOfConvolution(Convolution, Shaped, abstract=True):
    """The family of the two gradients, which must be told the shape they lead to."""

    shape: Shape

    def check(self, x: Shape, w: Shape, y: Shape, inputs: tuple[TensorType, TensorType]) -> TensorType:
        """The type of the gradient, if the three shapes belong together."""
        dtype = product_type(self, *inputs)
        if self.output(x, w) != y:
            raise ShapeError(
                f"{self.name}: no convolution of shapes {x} and {w} has an output of shape {y}",
                given=given(inputs),
                hint=f"its output has shape {self.output(x, w)}",
            )
        return TensorType(dtype, self.shape)


@frozen
class ConvInputGrad(GradientOfConvolution):
    """The cotangent of the input of a convolution, from that of its output and the weight: a transposed convolution."""

    name: ClassVar[str] = "conv_input_grad"

    def infer(self, ct: TensorType, w: TensorType) -> TensorType:
        return self.check(self.shape, w.shape, ct.shape, (ct, w))

    def reference(self, ct: Array, w: Array) -> Array:
        result = self.dtype or dtype_of(ct)
        cotangent, weight = widened(result, ct, w)
        image, ys = padded(np.zeros(self.shape, weight.dtype), self.padding), self.grouped(cotangent)
        for at, seen in offsets(image, w.shape[2:], self.strides, self.dilation, ct.shape[2:]):
            matrix = weight[on_space(at)].reshape(self.groups, w.shape[0] // self.groups, w.shape[1])
            seen += (matrix.swapaxes(1, 2) @ ys).reshape(seen.shape)
        return rounded(inside(image, self.shape, self.padding), result)

    def vjp(self, ct: Value, out: Value, y: Value, w: Value) -> Cotangents:
        return self.flow(Conv, ct, w, to=y), self.flow(ConvWeightGrad, ct, y, to=w, shape=w.shape)

    def vmap(self, size: int, mapped: tuple[bool, ...], ct: Value, w: Value) -> Any:
        n, c, *space = self.shape
        if not mapped[1]:
            return unfold(replace(self, shape=(size * n, c, *space))(fold(ct), w), size)
        ct, w = whole(size, mapped, (ct, w))
        op = replace(self, groups=self.groups * size, shape=(n, size * c, *space))
        return _ungroup(op(_group(ct), fold(w)), size)

    def axes(self, ct: TensorType, w: TensorType) -> str:
        return self.names("no", "oc", "nc")

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for op, x, w, y in examples():
            yield Sample(op.like(cls, shape=x), (draw(*y), draw(*w, seed=1)))
        op, x, w, y = next(iter(examples()))
        yield from mixed(lambda dtype: op.like(cls, shape=x, dtype=dtype), y, w)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op = cls((1,), ((0, 0),), (1,), 1, (2, 3, 8))
        ct, w = TensorType(float32, (2, 4, 8)), TensorType(float32, (4, 3, 3))
        yield Mistake(lambda: op.infer(ct, w), ShapeError, "its output has shape (2, 4, 6)")


@frozen
class ConvWeightGrad(GradientOfConvolution):
    """The cotangent of the weight of a convolution, from its input and the cotangent of its output."""

    name: ClassVar[str] = "conv_weight_grad"

    def infer(self, x: TensorType, ct: TensorType) -> TensorType:
        return self.check(x.shape, self.shape, ct.shape, (x, ct))

    def reference(self, x: Array, ct: Array) -> Array:
        result = self.dtype or dtype_of(x)
        image, cotangent = widened(result, x, ct)
        image, ys = padded(image, self.padding), self.grouped(cotangent)
        out = np.zeros(self.shape, image.dtype)
        for at, seen in offsets(image, self.shape[2:], self.strides, self.dilation, ct.shape[2:]):
            products = ys @ self.grouped(seen).swapaxes(2, 3)  # for each of N and groups
            out[on_space(at)] = products.sum(0).reshape(self.shape[:2])
        return rounded(out, result)

    def vjp(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return self.flow(ConvInputGrad, y, ct, to=x, shape=x.shape), self.flow(Conv, x, ct, to=y)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, ct: Value) -> Any:
        x, ct = whole(size, mapped, (x, ct))
        o, *rest = self.shape
        op = replace(self, groups=self.groups * size, shape=(size * o, *rest))
        return unfold(op(_group(x), _group(ct)), size)

    def axes(self, x: TensorType, ct: TensorType) -> str:
        return self.names("nc", "no", "oc")

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for op, x, w, y in examples():
            yield Sample(op.like(cls, shape=w), (draw(*x), draw(*y, seed=1)))
        op, x, w, y = next(iter(examples()))
        yield from mixed(lambda dtype: op.like(cls, shape=w, dtype=dtype), x, y)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op = cls((1,), ((0, 0),), (1,), 1, (4, 3, 3))
        x, ct = TensorType(float32, (2, 3, 8)), TensorType(float32, (2, 4, 8))
        yield Mistake(lambda: op.infer(x, ct), ShapeError, "conv_weight_grad: no convolution of shapes")


def _group(x: Any) -> Any:
    """`B N C *S` as `N B*C *S`."""
    moved = p.moveaxis(x, 0, 1)
    return p.reshape(moved, (moved.shape[0], moved.shape[1] * moved.shape[2], *moved.shape[3:]))


def _ungroup(x: Any, size: int) -> Any:
    """`N B*C *S` as `B N C *S`."""
    return p.moveaxis(p.reshape(x, (x.shape[0], size, x.shape[1] // size, *x.shape[2:])), 1, 0)


def examples() -> Iterable[tuple[Conv, Shape, Shape, Shape]]:
    """Convolutions with the shapes of their input, weight and output."""
    same: Padding = ((1, 1), (1, 1))
    none: Padding = ((0, 0), (0, 0))
    for op, x, w in [
        (Conv((1, 1), none, (1, 1), 1), (2, 2, 4, 5), (4, 2, 3, 2)),
        (Conv((1, 1), same, (1, 1), 1), (2, 2, 4, 3), (2, 2, 3, 3)),
        (Conv((2, 3), ((1, 0), (0, 2)), (1, 1), 1), (1, 2, 5, 6), (2, 2, 3, 2)),
        (Conv((1, 2), ((2, 1), (0, 0)), (2, 3), 1), (1, 1, 4, 6), (2, 1, 2, 2)),
        (Conv((1, 1), same, (1, 1), 2), (2, 4, 3, 3), (6, 2, 3, 3)),
        (Conv((2, 1), same, (1, 1), 3), (1, 3, 4, 3), (3, 1, 2, 3)),  # depthwise
        (Conv((1, 1), none, (1, 1), 1), (2, 3, 2, 2), (4, 3, 1, 1)),
        (Conv((3,), ((2, 0),), (2,), 1), (2, 2, 9), (3, 2, 3)),
        (Conv((1, 1, 2), ((0, 0), (1, 0), (0, 0)), (1, 1, 1), 1), (1, 1, 2, 3, 3), (2, 1, 2, 2, 2)),
    ]:
        yield op, x, w, op.output(x, w)


def conv(
    x: Any, w: Any, strides: Any = None, padding: Any = None, dilation: Any = None, groups: int = 1,
    dtype: DType | None = None,
) -> Any:  # fmt: skip
    """The convolution of x (N C *S) with w (O C/groups *K). `dtype` is that of the result.

    >>> conv(p.zeros(float32, (1, 3, 8, 8)), p.zeros(float32, (4, 3, 3, 3)), strides=(2, 2)).shape
    (1, 4, 3, 3)
    """
    rank = len(x.shape) - 2
    ones, none = (1,) * rank, ((0, 0),) * rank
    op = Conv(tuple(strides or ones), tuple(padding or none), tuple(dilation or ones), groups, dtype=dtype)
    return op(x, w)
