"""What every function of vecmath promises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """The greatest error, in units in the last place of the true value, for results of 32 and of 64 bits."""

    f32: float
    f64: float


ACCURACY = {
    "exp": Bound(1.5, 2),
    "exp2": Bound(1.5, 2),
    "expm1": Bound(2, 4),
    "sigmoid": Bound(2, 4),
    "tanh": Bound(2, 4),
    "sinh": Bound(4, 4),
    "cosh": Bound(4, 4),
    "log": Bound(1.5, 2),
    "log2": Bound(1.5, 2),
    "log10": Bound(1.5, 2),
    "log1p": Bound(2, 4),
    "asinh": Bound(4, 4),
    "acosh": Bound(4, 4),
    "atanh": Bound(4, 4),
    "pow": Bound(2, 4),
    "rsqrt": Bound(1.5, 4),
    "sin": Bound(2, 2),
    "cos": Bound(2, 2),
    "tan": Bound(4, 4),
    "asin": Bound(4, 4),
    "acos": Bound(4, 4),
    "atan": Bound(4, 4),
    "atan2": Bound(4, 4),
    "erf": Bound(2, 4),
}
