"""Comparisons: bools from two elements. Nothing flows back through them. Of bools, false is less than true."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Pair, zero_gradient
from mycelia.primitives.binary import Binary
from mycelia.primitives.elementwise import lifted
from mycelia.primitives.family import ALL
from mycelia.types import Shape, TensorType, bool_

__all__ = [
    "Comparison",
    "Equal",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "NotEqual",
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
]


class Comparison(Binary, abstract=True):
    """A question about two elements; anything compared with nan is false, except that it is not equal."""

    cheap: ClassVar[bool] = True
    dtypes = ALL
    points = (0.0, -0.0, 1.0, -1.0, math.inf, math.nan)
    vjp = zero_gradient("its output is a bool")

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        return TensorType(bool_, shape)


class Greater(Comparison):
    """Whether x > y.

    >>> Greater().reference(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    array([False,  True])
    """

    kind, oracle = "gt", np.greater


class GreaterEqual(Comparison):
    """Whether x >= y."""

    name, kind, oracle = "greater_equal", "ge", np.greater_equal


class Less(Comparison):
    """Whether x < y."""

    kind, oracle = "lt", np.less


class LessEqual(Comparison):
    """Whether x <= y."""

    name, kind, oracle = "less_equal", "le", np.less_equal


class Equal(Comparison):
    """Whether x == y."""

    kind, oracle, commutative = "eq", np.equal, True

    def in_parts(self, x: Pair, y: Pair) -> Any:
        return p.logical_and(equal(x.real, y.real), equal(x.imag, y.imag))


class NotEqual(Comparison):
    """Whether x != y."""

    name, kind, oracle, commutative = "not_equal", "ne", np.not_equal, True

    def in_parts(self, x: Pair, y: Pair) -> Any:
        return p.logical_or(not_equal(x.real, y.real), not_equal(x.imag, y.imag))


greater, greater_equal, less, less_equal = (lifted(op()) for op in (Greater, GreaterEqual, Less, LessEqual))
equal, not_equal = lifted(Equal()), lifted(NotEqual())
