"""Values from nothing: a repeated number, given data, positions. And the few words that transforms need."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Pair, Purity, Sample, Value, algebra
from mycelia.ir.pattern import Pattern
from mycelia.loops import Expr, Index, const, position
from mycelia.primitives.family import ALL, NUMBERS, Shaped, mapping
from mycelia.sizes import Dim, Sym, least
from mycelia.types import (
    Array,
    DType,
    Shape,
    TensorType,
    Type,
    bfloat16,
    bool_,
    dtype_of,
    float32,
    float64,
    int8,
    int32,
    int64,
    type_of,
)

__all__ = [
    "ADD",
    "ZEROS",
    "Constant",
    "Extent",
    "Full",
    "Iota",
    "Number",
    "constant",
    "full",
    "iota",
    "lift",
    "one_over",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

Number = float | int | bool | complex


def exact(number: Number, dtype: DType) -> Number:
    """A Python number as the kind of number that `dtype` holds; itself, if it holds no such number.

    >>> exact(2, float32), exact(1, bool_), exact(0.5, int32)
    (2.0, True, 0.5)
    """
    if dtype.is_complex:
        return complex(number)
    if isinstance(number, complex):
        return number
    if dtype.kind == "f":
        return float(number)
    if dtype.kind == "b":
        return bool(number)
    return int(number) if math.isfinite(number) and int(number) == number else number


def check_number(number: Number, dtype: DType) -> None:
    """Complain unless `dtype` holds the number."""
    if isinstance(number, complex):
        if not dtype.is_complex:
            raise DTypeError(
                f"{number} is not a number of type {dtype!r}", hint="cast the other operand to complex64 first"
            )
        return
    if not dtype.is_integer:
        return
    if not isinstance(exact(number, dtype), int):
        raise DTypeError(
            f"{number} is not a number of type {dtype!r}", hint="cast the other operand to a floating dtype first"
        )
    low, high = _range(dtype)
    if not low <= number <= high:
        raise DTypeError(f"{number} does not fit {dtype!r}", hint=f"{dtype!r} holds {low} to {high}")


def halves(number: Number) -> tuple[float, float]:
    """The real and the imaginary part of a number.

    >>> halves(2 - 1j), halves(3)
    ((2.0, -1.0), (3.0, 0.0))
    """
    whole = complex(number)
    return whole.real, whole.imag


@lru_cache(maxsize=16)
def _range(dtype: DType) -> tuple[int, int]:
    return int(np.iinfo(dtype.numpy).min), int(np.iinfo(dtype.numpy).max)


@frozen
class Numbered(Op, abstract=True):
    """An op with a number among its attributes. 0.0 and -0.0 differ, and nan is nan."""

    purity: ClassVar[Purity] = Purity.TOTAL

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return type(self), *(repr(a) if isinstance(a, float | complex) else a for a in self.attributes().values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbered) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@frozen(eq=False)
class Full(Numbered, Shaped):
    """A tensor with every element equal to `number`.

    >>> Full(2, float32, (2,)).reference()
    array([2., 2.], dtype=float32)
    """

    number: Number
    dtype: DType
    shape: Shape
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", exact(self.number, self.dtype))

    def infer(self) -> TensorType:
        check_number(self.number, self.dtype)
        return TensorType(self.dtype, self.shape)

    def reference(self) -> Array:
        return np.full(self.shape, self.number, self.dtype.numpy)

    def element(self, index: Sequence[Index]) -> Expr:
        assert not isinstance(self.number, complex), "complex numbers are in parts here"
        return const(self.number, self.dtype)

    def in_parts(self) -> Pair:
        return Pair(*(full(x, self.dtype.part, self.shape) for x in halves(self.number)))

    def vjp(self, ct: Value, out: Value) -> Cotangents:
        return ()

    def vmap(self, size: int, mapped: tuple[bool, ...]) -> Value:
        return full(self.number, self.dtype, (size, *self.shape))

    def axes(self) -> str:
        return mapping([], ["1"] * len(self.shape))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(1, dtype, (2,)), ()) for dtype in ALL)
        yield Sample(cls(2.5, float32, (2, 3)), ())
        yield Sample(cls(-math.inf, float32, ()), ())
        yield Sample(cls(-0.0, float64, (0, 2)), ())
        yield Sample(cls(math.nan, bfloat16, (1, 2)), ())

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield Mistake(lambda: full(0.5, int32, ()), DTypeError, "0.5 is not a number of type int32")
        yield Mistake(lambda: full(math.inf, int32, ()), DTypeError, "inf is not a number of type int32")
        yield Mistake(lambda: full(300, int8, ()), DTypeError, "300 does not fit int8")


@frozen(eq=False)
class Constant(Op):
    """Given data. It is copied, so that a later change of the array changes no program.

    >>> Constant(np.arange(3)) == Constant(np.arange(3))
    True
    """

    data: Array
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    def __post_init__(self) -> None:
        data = np.array(self.data, order="C")
        data.flags.writeable = False
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "_hash", hash((data.dtype.str, data.shape, data.tobytes())))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Constant)
            and hash(self) == hash(other)
            and type_of(self.data) == type_of(other.data)
            and self.data.tobytes() == other.data.tobytes()
        )

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]  # set once, above

    def infer(self) -> TensorType:
        return type_of(self.data)

    def reference(self) -> Array:
        return self.data

    native: ClassVar[Lowered] = Lowered.DATA
    purity: ClassVar[Purity] = Purity.TOTAL

    def in_parts(self) -> Pair:
        return Pair(constant(self.data.real), constant(self.data.imag))

    def vjp(self, ct: Value, out: Value) -> Cotangents:
        return ()

    def vmap(self, size: int, mapped: tuple[bool, ...]) -> Value:
        return p.broadcast(self(), (size, *self.data.shape))

    def axes(self) -> str:
        return mapping([], ["1"] * self.data.ndim)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(np.array([[0, 1, 1]], dtype.numpy)), ()) for dtype in ALL)
        yield Sample(cls(np.array([math.nan, -0.0, math.inf, 1e-30])), ())
        yield Sample(cls(np.zeros((0, 2), "f")), ())
        yield Sample(cls(np.array(7)), ())

    def __str__(self) -> str:
        return f"constant[{type_of(self.data)}]"


@frozen
class Iota(Shaped):
    """Positions along `axis`: 0, 1, 2, ...

    >>> Iota(int32, (2, 3), 1).reference()
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """

    dtype: DType
    shape: Shape
    axis: int
    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS

    def infer(self) -> TensorType:
        if self.dtype is bool_:
            raise DTypeError("positions are numbers, not bool", hint="choose an integer or floating dtype")
        if not 0 <= self.axis < len(self.shape):
            raise ShapeError(f"a tensor of shape {self.shape} has no axis {self.axis} to count along")
        return TensorType(self.dtype, self.shape)

    def reference(self) -> Array:
        along = [1] * len(self.shape)
        along[self.axis] = -1
        positions = np.arange(self.shape[self.axis]).astype(self.dtype.numpy)
        return np.ascontiguousarray(np.broadcast_to(positions.reshape(along), self.shape))

    def element(self, index: Sequence[Index]) -> Expr:
        return position(index[self.axis], self.dtype)

    def vjp(self, ct: Value, out: Value) -> Cotangents:
        return ()

    def vmap(self, size: int, mapped: tuple[bool, ...]) -> Value:
        return iota(self.dtype, (size, *self.shape), self.axis + 1)

    def axes(self) -> str:
        return mapping([], ["1"] * len(self.shape))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(dtype, (3,), 0), ()) for dtype in NUMBERS)
        yield from (Sample(cls(int64, (2, 3, 4), axis), ()) for axis in range(3))
        yield Sample(cls(float32, (0, 2), 0), ())

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield Mistake(lambda: iota(bool_, (3,), 0), DTypeError, "positions are numbers")
        yield Mistake(lambda: iota(int32, (3,), 1), ShapeError, "has no axis 1")


@frozen
class Extent(Op):
    """A size as a number, which may be known only when the program runs.

    >>> Extent(3, float32).reference()
    array(3., dtype=float32)
    """

    size: Dim
    dtype: DType
    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self) -> TensorType:
        if self.dtype is bool_:
            raise DTypeError("a size is a number, not bool", hint="compare it with 0")
        return TensorType(self.dtype, ())

    def reference(self) -> Array:
        return np.asarray(self.size).astype(self.dtype.numpy)

    def element(self, index: Sequence[Index]) -> Expr:
        return position(Index(self.size), self.dtype)

    def in_parts(self) -> Pair:
        return Pair(Value(Extent(self.size, self.dtype.part)), zeros(self.dtype.part, ()))

    def vjp(self, ct: Value, out: Value) -> Cotangents:
        return ()

    def vmap(self, size: int, mapped: tuple[bool, ...]) -> Value:
        return p.broadcast(self(), (size,))

    def axes(self) -> str:
        return mapping([], [])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(7, dtype), ()) for dtype in NUMBERS)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        yield Mistake(lambda: cls(2, bool_)(), DTypeError, "a size is a number")


def full(number: Number | Sym, dtype: DType, shape: Shape) -> Value:
    """A tensor with every element equal to `number`, which may be a size.

    >>> full(1, float32, (2,)).type
    TensorType(dtype=float32, shape=(2,))
    """
    if isinstance(number, Sym):
        return p.broadcast(Value(Extent(number, dtype)), shape)  # type: ignore[arg-type]  # typed as an int
    return Value(Full(number, dtype, tuple(shape)))


def one_over(count: Dim, dtype: DType) -> Any:
    """The reciprocal of a number of elements: a number, or what the running program finds.

    >>> one_over(4, float32)
    0.25
    """
    if isinstance(count, int):
        return 1.0 / count if count > 0 else math.nan
    known = full(count, dtype.part, ())
    reciprocal = full(1, dtype.part, ()) / known
    if dtype.is_complex:
        return p.cast(reciprocal, dtype)
    return reciprocal if least(count) > 0 else p.select(p.greater(known, 0), reciprocal, math.nan)


def zeros(dtype: DType, shape: Shape) -> Value:
    """A tensor of zeros.

    >>> str(zeros(float32, (2,)).op)
    'full[number=0.0, dtype=f32, shape=(2,)]'
    """
    return full(0, dtype, shape)


def ones(dtype: DType, shape: Shape) -> Value:
    """A tensor of ones.

    >>> str(ones(int32, ()).op)
    'full[number=1, dtype=i32, shape=()]'
    """
    return full(1, dtype, shape)


def zeros_like(x: Any) -> Value:
    """Zeros of the type of `x`.

    >>> zeros_like(ones(float32, (2,))) is zeros(float32, (2,))
    True
    """
    return full(0, x.dtype, x.shape)


def ones_like(x: Any) -> Value:
    """Ones of the type of `x`.

    >>> ones_like(zeros(float32, (2,))) is ones(float32, (2,))
    True
    """
    return full(1, x.dtype, x.shape)


def constant(data: Any) -> Value:
    """Given data as a value.

    >>> constant(np.arange(3.0)) is constant([0.0, 1.0, 2.0])
    True
    """
    data = np.asarray(data)
    dtype_of(data)
    return Value(Constant(data))


def iota(dtype: DType, shape: Shape, axis: int) -> Value:
    """Positions along `axis`.

    >>> iota(int32, (3,), 0).op.reference()
    array([0, 1, 2], dtype=int32)
    """
    return Value(Iota(dtype, tuple(shape), axis))


def lift(number: Any, like: Any) -> Any:
    """A Python number as a scalar of the element type of `like`. In a pattern a number stays a number.

    >>> lift(2, like=zeros(float32, (3,))) is full(2.0, float32, ())
    True
    """
    return number if isinstance(like, Pattern) else full(number, like.dtype, ())


# Cotangents that are not tensors: the module that defines a kind of value says how to add two, and what zero is.
ADD: dict[type[Type], Callable[[Value, Value], Value]] = {TensorType: lambda x, y: x + y}
ZEROS: dict[type[Type], Callable[[Any], Value]] = {TensorType: lambda t: zeros(t.dtype, t.shape)}

algebra.add = lambda x, y: ADD[type(x.type)](x, y)
algebra.zeros = lambda t: ZEROS[type(t)](t)
algebra.repeat = lambda x, size: p.broadcast(x, (size, *x.shape))
