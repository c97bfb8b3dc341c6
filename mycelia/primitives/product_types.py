"""The element types of products: of two operands, of the sums that are made of them, and of the result.

A contraction or convolution says the element type of its result, or None: that of its operands, which then agree. The
products are summed in `summed_in`, whatever computes them: floats in at least 32 bits and no fewer than an operand has,
integers in the type of the result, where they wrap as all integer arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mycelia.errors import DTypeError
from mycelia.ir import Op, Sample, Value
from mycelia.primitives.family import INTS, NUMBERS, check_dtype, draw, given
from mycelia.types import (
    Array,
    DType,
    Shape,
    TensorType,
    accumulator,
    bfloat16,
    dtype_of,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    uint8,
)

MIXED = (
    (float16, float32, float32),
    (float32, float16, float16),
    (bfloat16, bfloat16, float32),
    (bfloat16, float32, bfloat16),
    (float64, float32, float32),
    (float32, int8, float32),
    (int8, int8, int32),
    (uint8, int8, int32),
    (int8, int8, float32),
    (int16, int8, int16),
)  # of the operands and the result, for samples


def product_type(op: Any, x: TensorType, y: TensorType) -> DType:
    """The element type of the result of `op` on these operands, or an error."""
    result: DType | None = op.dtype
    if result is None:
        if x.dtype is not y.dtype or x.dtype not in NUMBERS:
            check_dtype(op, x, y)
        return x.dtype
    allowed = operand_types(result)
    for operand in (x, y):
        if operand.dtype not in allowed:
            raise DTypeError(
                f"{op.name} has no {result!r} result of operands {x.dtype!r} and {y.dtype!r}",
                given=given((x, y)),
                hint="operands are numbers, and a floating one gives a floating result: cast the operand or the result",
            )
    return result


def operand_types(result: DType | None) -> tuple[DType, ...]:
    """What may be multiplied to a result of this element type.

    >>> from mycelia.types import bool_, float32, int32
    >>> int32 in operand_types(float32), float32 in operand_types(int32), operand_types(bool_)
    (True, False, ())
    """
    if result is not None and result not in NUMBERS:
        return ()
    return INTS if result is not None and result.is_integer else NUMBERS


def summed_in(result: DType, x: DType, y: DType) -> DType:
    """The element type in which products of numbers of types `x` and `y` are summed to a `result`.

    >>> from mycelia.types import bfloat16, float16, float32, float64, int8, int32
    >>> summed_in(bfloat16, bfloat16, bfloat16), summed_in(float32, float64, float16), summed_in(int32, int8, int8)
    (float32, float64, int32)
    """
    floats = [d for d in (result, x, y) if d.is_float]
    return max((accumulator(d) for d in floats), key=lambda d: d.bits) if floats else result


def in_short_units(units: frozenset[str], result: DType, x: DType, y: DType) -> bool:
    """Whether a processor with these units multiplies such operands as they are, exactly as far as it sums them.

    >>> from mycelia.types import int8, int32, uint8
    >>> in_short_units(frozenset({"int8"}), int32, uint8, int8), in_short_units(frozenset(), int32, int8, int8)
    (True, False)
    """
    if x in (float16, bfloat16):
        return x.name in units and x is y and result in (x, float32)
    return "int8" in units and x in (int8, uint8) and y is int8 and result in (int32, float32)


def widened(result: DType, x: Array, y: Array) -> tuple[Array, Array]:
    """Both operands in the element type in which their products are summed."""
    wide = summed_in(result, dtype_of(x), dtype_of(y)).numpy
    return x.astype(wide, copy=False), y.astype(wide, copy=False)


def named(result: DType, *operands: Value) -> DType | None:
    """How a product of these operands says the type of its result: not at all, where it is that of all of them.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float16, float32
    >>> x = p.zeros(float16, (2,))
    >>> named(float16, x, x), named(float32, x, x)
    (None, float32)
    """
    return None if all(x.dtype is result for x in operands) else result


def rounded(x: Array, dtype: DType) -> Array:
    """Sums as numbers of the result's type."""
    return np.asarray(x).astype(dtype.numpy, copy=False)


def mixed(op: Callable[[DType], Op], x: Shape, y: Shape) -> Iterator[Sample]:
    """Samples of an op with operands of different element types."""
    for left, right, result in MIXED:
        operands = [_drawn(s, d, seed) for seed, (s, d) in enumerate(((x, left), (y, right)))]
        coarse = any(d in (float16, bfloat16) for d in (left, right, result))  # for finite differences
        yield Sample(op(result), tuple(operands), smooth=not coarse)


def _drawn(shape: Shape, dtype: DType, seed: int) -> Array:
    low, high = (-100.0 if dtype.kind == "i" else 0.0, 100.0) if dtype.is_integer else (-2.0, 2.0)
    return draw(*shape, low=low, high=high, seed=seed).astype(dtype.numpy)
