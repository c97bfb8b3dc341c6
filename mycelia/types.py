"""Element types and the types of values. Everything in the compiler is described with these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from mycelia.sizes import Dim, is_static, known_equal, same, text

Shape = tuple[Dim, ...]
Array = np.ndarray[Any, Any]


class DType:
    """An element type. There is one object per element type, so `is` decides equality.

    >>> float32.bits, float32.kind, float32.short, str(float32), str(uint8)
    (32, 'f', 'f32', 'Float32', 'UInt8')
    """

    __slots__ = ("bits", "kind", "name", "numpy", "short")

    def __init__(self, name: str, short: str, kind: str, numpy: np.dtype[Any]) -> None:
        self.name, self.short, self.kind, self.numpy = name, short, kind, numpy
        self.bits = numpy.itemsize * 8

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_inexact(self) -> bool:
        """Whether its numbers are real or complex, so that they can be differentiated."""
        return self.kind in "fc"

    @property
    def part(self) -> DType:
        """The element type of the real part: of a complex type half of it, of others itself.

        >>> complex128.part, float32.part
        (float64, float32)
        """
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    def __str__(self) -> str:
        letters = 2 if self.name.startswith(("uint", "bfloat")) else 1
        return self.name[:letters].upper() + self.name[letters:]

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype_named, (self.name,)


bool_ = DType("bool", "bool", "b", np.dtype(np.bool_))
int8, int16, int32, int64 = (DType(f"int{n}", f"i{n}", "i", np.dtype(f"int{n}")) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType(f"uint{n}", f"u{n}", "u", np.dtype(f"uint{n}")) for n in (8, 16, 32, 64))
float16, float32, float64 = (DType(f"float{n}", f"f{n}", "f", np.dtype(f"float{n}")) for n in (16, 32, 64))
complex64, complex128 = (DType(f"complex{n}", f"c{n}", "c", np.dtype(f"complex{n}")) for n in (64, 128))
bfloat16 = DType("bfloat16", "bf16", "f", np.dtype(ml_dtypes.bfloat16))

DTYPES = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
    complex64, complex128,
)  # fmt: skip
COMPLEX = {float32: complex64, float64: complex128}  # by the type of both parts
_BY_NAME = {d.name: d for d in DTYPES} | {d.short: d for d in DTYPES}
_BY_NUMPY = {d.numpy: d for d in DTYPES}


def dtype_named(name: str) -> DType:
    """The element type called `name`, long or short.

    >>> dtype_named("f32") is dtype_named("float32")
    True
    """
    return _BY_NAME[name]


def dtype_of(array: Array) -> DType:
    """The element type of a NumPy array.

    >>> dtype_of(np.zeros(2, "int32"))
    int32
    """
    return _BY_NUMPY[array.dtype]


class Type:
    """What is known of a value before it exists."""

    __slots__ = ()

    @property
    def differentiable(self) -> bool:
        """Whether cotangents flow through values of this type."""
        return False

    @property
    def static(self) -> bool:
        """Whether everything about its size is known."""
        return True


@dataclass(frozen=True, slots=True, eq=False)
class TensorType(Type):
    """A dense array of one element type. Types are equal if they are so at all sizes.

    >>> str(TensorType(float32, (2, 3)))
    'f32[2, 3]'
    """

    dtype: DType
    shape: Shape

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not TensorType:
            return NotImplemented
        return self.dtype is other.dtype and same(self.shape, other.shape)

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Dim:
        return prod(self.shape)

    @property
    def empty(self) -> bool:
        """Whether it is known to have no elements."""
        return any(known_equal(n, 0) for n in self.shape)

    @property
    def nbytes(self) -> Dim:
        return self.size * self.dtype.itemsize

    @property
    def static(self) -> bool:
        """Whether all dimensions are numbers."""
        return is_static(self.shape)

    @property
    def differentiable(self) -> bool:
        return self.dtype.kind in "fc"

    def with_shape(self, shape: Iterable[Dim]) -> TensorType:
        return TensorType(self.dtype, tuple(shape))

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape)

    def __str__(self) -> str:
        return f"{self.dtype.short}[{', '.join(map(text, self.shape))}]"


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """The results of an op that has several."""

    elements: tuple[Type, ...]

    @property
    def differentiable(self) -> bool:
        return any(e.differentiable for e in self.elements)

    @property
    def static(self) -> bool:
        return all(e.static for e in self.elements)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class SequenceType(Type):
    """A sequence of values of one type whose length is known only when it exists: what a loop leaves behind."""

    element: Type

    @property
    def differentiable(self) -> bool:
        return self.element.differentiable

    @property
    def static(self) -> bool:
        return self.element.static

    def __str__(self) -> str:
        return f"seq<{self.element}>"


@dataclass(frozen=True, slots=True)
class FrameType(Type):
    """The residuals of one activation of a recursive function. A name keeps the type finite; see `frame_fields`."""

    name: str

    @property
    def differentiable(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"frame<{self.name}>"


_FRAMES: dict[str, tuple[Type, ...]] = {}


def define_frame(name: str, fields: tuple[Type, ...]) -> FrameType:
    """Say what a frame holds. Its name says it once: a second definition must agree."""
    assert _FRAMES.setdefault(name, fields) == fields, f"frame {name} is defined twice, differently"
    return FrameType(name)


def frame_fields(frame: FrameType) -> tuple[Type, ...]:
    """What a frame holds; a cotangent frame (`name~`) holds the cotangents of the differentiable fields."""
    if frame.name not in _FRAMES and frame.name.endswith("~"):
        fields = frame_fields(FrameType(frame.name[:-1]))
        return tuple(cotangent_type(f) for f in fields if f.differentiable)
    return _FRAMES[frame.name]


def cotangent_type(t: Type) -> Type:
    """The type of the cotangent of a value of type `t`."""
    if isinstance(t, SequenceType):
        return SequenceType(cotangent_type(t.element))
    if isinstance(t, FrameType):
        return FrameType(t.name + "~")
    return t


def accumulator(dtype: DType) -> DType:
    """The element type in which numbers of this one are added up: 16 bits are too few.

    >>> accumulator(float16), accumulator(float64)
    (float32, float64)
    """
    return float32 if dtype in (float16, bfloat16) else dtype


@lru_cache(maxsize=4096)
def row_major(shape: Shape) -> tuple[Dim, ...]:
    """Strides, in elements, of a dense array in row-major order.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[Dim] = []
    step: Dim = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def type_of(array: Array) -> TensorType:
    """The type of a NumPy array.

    >>> str(type_of(np.zeros((2, 3), "f")))
    'f32[2, 3]'
    """
    return TensorType(_BY_NUMPY[array.dtype], array.shape)
