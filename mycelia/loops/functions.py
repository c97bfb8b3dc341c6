"""Elementary functions of one float: what each means, and what other compilers call it.

Our own machine code for each is in `codegen/vecmath`, under the same name. A new function is a line here, its formula
there, and the op that uses it (`kind = "..."`): three files.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, erfc, log
from typing import Any

import numpy as np

from mycelia.frozen import frozen
from mycelia.loops.expr import Expr, binary, const, unary
from mycelia.types import Array


@frozen
class Elementary:
    """A function: its meaning in NumPy, and its name in StableHLO (or in CHLO, beside it), or a formula in others."""

    numpy: Callable[[Array], Any]
    stablehlo: str | Callable[[Expr], Expr]


def _sigmoid(x: Array) -> Any:
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def _power_of_two(x: Expr) -> Expr:
    return binary("pow", const(2.0, x.dtype), x)


def _log_to(base: float) -> Callable[[Expr], Expr]:
    return lambda x: binary("mul", unary("log", x), const(1 / log(base), x.dtype))


ELEMENTARY: dict[str, Elementary] = {
    "exp": Elementary(np.exp, "stablehlo.exponential"),
    "exp2": Elementary(np.exp2, _power_of_two),
    "expm1": Elementary(np.expm1, "stablehlo.exponential_minus_one"),
    "log": Elementary(np.log, "stablehlo.log"),
    "log2": Elementary(np.log2, _log_to(2.0)),
    "log10": Elementary(np.log10, _log_to(10.0)),
    "log1p": Elementary(np.log1p, "stablehlo.log_plus_one"),
    "tanh": Elementary(np.tanh, "stablehlo.tanh"),
    "sigmoid": Elementary(_sigmoid, "stablehlo.logistic"),
    "erf": Elementary(np.frompyfunc(erf, 1, 1), "chlo.erf"),
    "erfc": Elementary(np.frompyfunc(erfc, 1, 1), "chlo.erfc"),
    "sin": Elementary(np.sin, "stablehlo.sine"),
    "cos": Elementary(np.cos, "stablehlo.cosine"),
    "tan": Elementary(np.tan, "stablehlo.tan"),
    "asin": Elementary(np.arcsin, "chlo.asin"),
    "acos": Elementary(np.arccos, "chlo.acos"),
    "atan": Elementary(np.arctan, "chlo.atan"),
    "sinh": Elementary(np.sinh, "chlo.sinh"),
    "cosh": Elementary(np.cosh, "chlo.cosh"),
    "asinh": Elementary(np.arcsinh, "chlo.asinh"),
    "acosh": Elementary(np.arccosh, "chlo.acosh"),
    "atanh": Elementary(np.arctanh, "chlo.atanh"),
}
