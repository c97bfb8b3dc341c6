"""What families of primitives share: element types, axis names, checks, and numbers for samples.

References are plain NumPy and may warn as NumPy does (an overflow, a division by zero); whoever runs them chooses,
with `np.errstate`, whether that is worth a word.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Op, Purity
from mycelia.sizes import Dim, known_equal
from mycelia.types import (
    DTYPES,
    Array,
    DType,
    Shape,
    TensorType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int32,
    int64,
)

ALL = tuple(d for d in DTYPES if not d.is_complex)  # complex numbers are pairs of these: see `Op.in_parts`
FLOATS = (float32, float64, float16, bfloat16)  # what is used most stands first, and is found first
INTS = (int32, int64, *(d for d in DTYPES if d.is_integer and d not in (int32, int64)))
NUMBERS = FLOATS + INTS
BOOLS = (bool_,)
BITS = BOOLS + INTS
WORDS = {ALL: "any", FLOATS: "floating", INTS: "integer", NUMBERS: "numeric", BOOLS: "boolean", BITS: "bool or integer"}
HALVES = frozenset((np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)))


@frozen
class Shaped(Op, abstract=True):
    """An op whose attributes name extents of its output, which are smaller on one of several devices."""

    purity: ClassVar[Purity] = Purity.TOTAL

    def local(self, shape: Shape, *inputs: TensorType) -> Op:
        """The op that computes a shard of this shape from inputs of these types."""
        return replace(self, shape=shape)  # type: ignore[call-arg]  # the subclass has the field


def check_dtype(op: Any, *inputs: TensorType) -> None:
    """Complain unless all inputs have one element type, which `op` accepts."""
    first = inputs[0].dtype
    for x in inputs:
        if x.dtype is not first:
            raise DTypeError(
                f"{op.name} needs operands of one element type, not {first!r} and {x.dtype!r}",
                given=given(inputs),
                hint=f"cast one of them, for example to {max(first, x.dtype, key=_width)!r}",
            )
    if first not in op.dtypes and not (first.is_complex and takes_complex(op)):
        words = WORDS.get(op.dtypes, " or ".join(map(repr, op.dtypes)))
        raise DTypeError(
            f"{op.name} needs a {words} element type, not {first!r}",
            given=given(inputs),
            hint=f"cast it first, for example to {op.dtypes[0]!r}",
        )


def takes_complex(op: Any) -> bool:
    """Whether an op says how it is computed on the parts of complex numbers."""
    return type(op).in_parts is not Op.in_parts or type(op).on_pairs is not Op.on_pairs


def given(inputs: Sequence[Any]) -> dict[str, object]:
    """The operands, numbered, for an error."""
    return {f"operand {i}": t for i, t in enumerate(inputs)}


def _width(dtype: DType) -> tuple[bool, int]:
    return dtype.is_inexact, dtype.bits


def check_dims(op: Any, x: TensorType, dims: Sequence[int], what: str = "dims") -> None:
    """Complain unless `dims` are different axes of `x`, counted from the front."""
    if any(not 0 <= d < len(x.shape) for d in dims):
        raise ShapeError(
            f"{op.name} along an axis that {x} does not have",
            given={what: tuple(dims)},
            hint=f"axes of {x} are counted from 0 to {x.rank - 1}" if x.rank else "a scalar has no axes",
        )
    if len(set(dims)) != len(dims):
        raise ShapeError(f"{op.name} names an axis twice", given={what: tuple(dims), "operand": x})


@lru_cache(maxsize=4096)
def broadcast_shape(x: Shape, y: Shape) -> Shape | None:
    """The shape that both broadcast to, as in NumPy, or None.

    >>> broadcast_shape((3, 1), (2, 1, 4)), broadcast_shape((2,), (3,))
    ((2, 3, 4), None)
    """
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    met = [_met(a, b) for a, b in zip(x, y, strict=True)]
    return None if None in [m for m in met if m is None] else tuple(m for m in met if m is not None)


def _met(a: Dim, b: Dim) -> Dim | None:
    """The extent of two axes that are combined: equal, or one of them is 1. What is known is not asked for."""
    if known_equal(a, b) or (isinstance(b, int) and b == 1):
        return a
    if isinstance(a, int) and a == 1:
        return b
    return a if a == b or b == 1 else b if a == 1 else None


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to, as in NumPy.

    >>> broadcast_shapes((3, 1), (2, 1, 4), ())
    (2, 3, 4)
    """
    out: Shape = ()
    for shape in shapes:
        found = broadcast_shape(out, shape)
        if found is None:
            raise ShapeError(f"shapes {', '.join(map(str, shapes))} do not broadcast together")
        out = found
    return out


def names(rank: int) -> list[str]:
    """A name for each axis.

    >>> names(3)
    ['a', 'b', 'c']
    """
    return list(string.ascii_letters[:rank])


def mapping(inputs: Sequence[Sequence[str]], output: Sequence[str]) -> str:
    """An `axes` rule from the names of each axis.

    >>> mapping(["ab", "bc"], "ac")
    'a b, b c -> a c'
    """
    return ", ".join(" ".join(x) for x in inputs) + " -> " + " ".join(output)


def wide(x: Array) -> Array:
    """Half-precision numbers as float32, in which they are computed; others as they are.

    >>> wide(np.zeros(2, "float16")).dtype.name
    'float32'
    """
    return x.astype(np.float32) if x.dtype in HALVES else x


def draw(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Numbers for samples: float32, uniform, the same each time.

    >>> draw(2, 3).shape
    (2, 3)
    """
    return np.asarray(np.random.default_rng((seed, *shape)).uniform(low, high, shape), np.float32)
