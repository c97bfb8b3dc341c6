"""Choosing, converting, and stopping gradients, element by element."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import loops
from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Mistake, Operand, Pair, Sample, Value, each_part, zero_gradient
from mycelia.loops import Expr
from mycelia.primitives.creation import lift
from mycelia.primitives.elementwise import NUMBER, Elementwise, unbroadcast
from mycelia.primitives.family import ALL, draw, given
from mycelia.primitives.unary import Unary
from mycelia.sizes import same
from mycelia.types import Array, DType, Shape, TensorType, bool_, float32, float64, int32

__all__ = [
    "Cast",
    "InPlaceOf",
    "Select",
    "StopGradient",
    "cast",
    "in_place_of",
    "select",
    "stop_gradient",
]


class Select(Elementwise):
    """`x` where the condition holds, else y.

    >>> Select().reference(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 4.])
    """

    cheap: ClassVar[bool] = True
    arity, dtypes, oracle = 3, ALL, np.where
    in_parts = each_part

    def infer(self, condition: TensorType, *branches: TensorType) -> TensorType:
        if condition.dtype is not bool_:
            raise DTypeError(
                f"select needs a bool to choose by, not {condition.dtype!r}",
                given=given((condition, *branches)),
                hint="compare it with something, for example `condition != 0`",
            )
        x = super().infer(*branches)
        return x if same(condition.shape, x.shape) else super().infer(condition.with_dtype(x.dtype), *branches)

    def scalar(self, condition: Expr, x: Expr, y: Expr) -> Expr:  # type: ignore[override]  # of three elements
        return loops.select(condition, x, y)

    def vjp(self, ct: Value, out: Value, condition: Value, x: Value, y: Value) -> Cotangents:
        nothing = p.zeros_like(ct)
        dx, dy = p.select(condition, ct, nothing), p.select(condition, nothing, ct)
        return None, unbroadcast(dx, x.shape), unbroadcast(dy, y.shape)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        shapes: list[tuple[Shape, Shape, Shape]] = [
            ((2, 4), (2, 4), (2, 4)),
            ((), (), ()),
            ((2, 1), (4,), (2, 4)),
            ((4,), (2, 4), ()),
            ((2, 4), (), (1,)),
            ((0, 2), (2,), (1, 2)),
        ]
        for c, x, y in shapes:
            yield Sample(cls(), (draw(*c) > 0, draw(*x, seed=1), draw(*y, seed=2)))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        two, three, flags = TensorType(float32, (2,)), TensorType(float32, (3,)), TensorType(bool_, (2,))
        yield Mistake(lambda: cls().infer(two, two, two), DTypeError, "needs a bool to choose by")
        yield Mistake(lambda: cls().infer(flags, two, three), ShapeError, "select cannot broadcast")
        yield Mistake(lambda: cls().infer(flags, three, three), ShapeError, "select cannot broadcast")
        yield Mistake(lambda: cls().infer(flags, two, two.with_dtype(int32)), DTypeError, "one element type")


@frozen
class Cast(Unary):
    """The same numbers as another element type: floats lose their fraction in integers, and non-zero is true.

    >>> Cast(int32).reference(np.array([1.7, -1.7]))
    array([ 1, -1], dtype=int32)
    """

    cheap: ClassVar[bool] = True
    dtype: DType
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        return TensorType(self.dtype, shape)

    def reference(self, x: Array) -> Any:  # type: ignore[override]  # of one array
        if x.dtype.kind == "c" and self.dtype.is_complex:
            return x.astype(self.dtype.numpy)
        if x.dtype.kind == "c":  # of a complex number, the real part; it is true unless both are zero
            return x != 0 if self.dtype is bool_ else loops.converted(x.real, self.dtype)
        return loops.converted(x, self.dtype)

    def scalar(self, x: Expr) -> Expr:  # type: ignore[override]  # of one element
        return loops.cast(x, self.dtype)

    def in_parts(self, x: Any) -> Any:
        if not isinstance(x, Pair):
            real = p.cast(x, self.dtype.part)
            return Pair(real, p.zeros_like(real))
        if self.dtype.is_complex:
            return Pair(*(p.cast(part, self.dtype.part) for part in x))
        if self.dtype is bool_:
            return p.logical_or(p.cast(x.real, bool_), p.cast(x.imag, bool_))
        return p.cast(x.real, self.dtype)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (p.cast(ct, x.dtype) if self.dtype.is_inexact and x.dtype.is_inexact else None,)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 3, low=0.0, high=100.0)
        yield from (Sample(cls(dtype), (x,), smooth=dtype.bits >= 32) for dtype in ALL)
        yield Sample(cls(float32), (np.array([-3, 0, 2, 1 << 24]),))
        yield Sample(cls(float32), (np.array([True, False]),))
        yield Sample(cls(bool_), (np.array([0.0, -0.0, 0.3, math.nan, -2.0]),))
        yield Sample(cls(int32), (np.array([-1.7, 1.7, 0.5]),))
        for dtype in (float32, float64):
            far = np.array(
                [-1.0, -1.5, 7e4, 2.9e9, -3e9, 1e19, -1e19, 1e30, math.nan, math.inf, -math.inf], dtype.numpy
            )
            yield from (Sample(cls(d), (far,), note="does not fit") for d in ALL if d.is_integer)


class StopGradient(Unary):
    """x, as a constant to every gradient."""

    cheap: ClassVar[bool] = True
    name, dtypes, oracle = "stop_gradient", ALL, np.positive
    in_parts = each_part
    vjp = zero_gradient("that is what it is for")

    def reference(self, x: Array) -> Any:  # type: ignore[override]  # of one array
        return x

    def scalar(self, x: Expr) -> Expr:  # type: ignore[override]  # of one element
        return x

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(), (draw(2, 3),), smooth=False, note="the gradient is zero by decree")


class InPlaceOf(Elementwise):
    """The new value of a variable; to every gradient it is the variable, whatever the new value was computed from.

    >>> InPlaceOf().reference(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 2.])
    """

    cheap: ClassVar[bool] = True
    name, arity, dtypes, oracle = "in_place_of", 2, ALL, staticmethod(lambda new, old: np.broadcast_arrays(new, old)[0])
    in_parts = each_part

    def reference(self, new: Array, old: Array) -> Any:  # type: ignore[override]  # of two arrays
        return new if new.shape == old.shape else np.broadcast_arrays(new, old)[0].copy()

    def scalar(self, new: Expr, old: Expr) -> Expr:  # type: ignore[override]  # of two elements
        return new

    def vjp(self, ct: Value, out: Value, new: Value, old: Value) -> Cotangents:
        return None, unbroadcast(ct, old.shape)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(), (draw(2, 3), draw(2, 3)), smooth=False, note="the gradient is another one by decree")


def select(condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition` holds, else y; of x and y one may be a Python number.

    >>> flags = p.constant([True, False])
    >>> str(select(flags, p.constant([1.0, 2.0]), 0.0).type)
    'f64[2]'
    """
    if type(x) in NUMBER:
        x = lift(x, y)
    elif type(y) in NUMBER:
        y = lift(y, x)
    return Select()(condition, x, y)


def cast(x: Operand, dtype: DType) -> Operand:
    """`x` as another element type; itself where it is that already.

    >>> cast(p.constant([1.5]), float32).dtype
    float32
    """
    return x if x.dtype is dtype else Cast(dtype)(x)


in_place_of, stop_gradient = InPlaceOf(), StopGradient()
