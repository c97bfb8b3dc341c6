"""The functions of elements that a custom operator may call: of tensors, and of NumPy arrays when Python runs it."""

from __future__ import annotations

import math as python
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from mycelia.ops import activation, arithmetic, math, trigonometry
from mycelia.types import Array


class Intrinsic(NamedTuple):
    """A function of elements."""

    of_tensors: Callable[..., Any]
    of_arrays: Callable[..., Any]
    arity: int = 1


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    by_element = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(by_element(x), np.result_type(x, np.float16))[()]


FUNCTIONS: dict[str, Intrinsic] = {
    **{
        name: Intrinsic(getattr(math, name), getattr(np, name))
        for name in (
            "abs", "exp", "exp2", "expm1", "floor", "ceil", "trunc", "round", "isnan", "isinf", "isfinite", "log",
            "log1p", "log2", "log10", "sign", "sqrt", "square", "reciprocal",
        )
    },
    **{
        name: Intrinsic(getattr(trigonometry, name), getattr(np, name))
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{
        name: Intrinsic(getattr(trigonometry, name), getattr(np, f"arc{name[1:]}"))
        for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")
    },
    "sigmoid": Intrinsic(activation.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "rsqrt": Intrinsic(math.rsqrt, lambda x: 1 / np.sqrt(x)),
    "erf": Intrinsic(math.erf, _each(python.erf)),
    "erfc": Intrinsic(math.erfc, _each(python.erfc)),
    "atan2": Intrinsic(arithmetic.atan2, np.arctan2, 2),
    "power": Intrinsic(arithmetic.pow, np.power, 2),
    "ceil_div": Intrinsic(lambda x, y: (x + y - 1) // y, lambda x, y: (x + y - 1) // y, 2),
}  # fmt: skip
CASTS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
"""Element types that are functions of an element too."""


class ScheduleHint:
    """`with block_realize(c):` and `with attr(name, value):` say how to compute, not what: nothing here."""

    def __init__(self, *args: Any) -> None:
        self.args = args

    def __enter__(self) -> ScheduleHint:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _zeros(shape: Any, dtype: Any = "float32") -> Array:
    return np.zeros(shape, getattr(dtype, "numpy", dtype))


def _grid(shape: Any) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


PYTHON: dict[str, Any] = {
    **{name: function.of_arrays for name, function in FUNCTIONS.items() if name not in ("abs", "round")},
    "abs": np.abs,
    "round": np.round,
    **{name: getattr(np, name) for name in CASTS if name != "bool"},
    **dict.fromkeys(("serial", "vectorize", "parallel", "reduce"), range),
    **dict.fromkeys(("output_tensor", "allocate"), _zeros),
    **dict.fromkeys(("block_realize", "attr"), ScheduleHint),
    "grid": _grid,
}
"""What the words of the language mean when Python runs a function on NumPy arrays."""
