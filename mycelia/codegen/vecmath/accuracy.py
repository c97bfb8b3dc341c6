"""What every function of vecmath promises. A function that says so is one of its functions: there is no other list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mycelia.codegen.vecmath.number import Number
from mycelia.frozen import frozen

Written = TypeVar("Written", bound=Callable[..., Number])


@frozen
class ErrorBound:
    """The greatest error, in units in the last place of the true value, for results of 32 and of 64 bits."""

    f32: float
    f64: float


ACCURACY: dict[str, ErrorBound] = {}
BY_NAME: dict[str, Callable[..., Number]] = {}


def promised(f32: float, f64: float) -> Callable[[Written], Written]:
    """Makes the function that follows, which writes instructions, a function of vecmath under its own name."""

    def register(function: Written) -> Written:
        name = function.__name__
        assert name not in BY_NAME, f"vecmath has two functions {name}"
        BY_NAME[name], ACCURACY[name] = function, ErrorBound(f32, f64)
        return function

    return register
