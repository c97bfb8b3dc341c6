"""Checks of arguments, each a function that returns the good value or tells what was wrong."""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mycelia.errors import ArgumentError, DTypeError

E = TypeVar("E", bound=enum.Enum)


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> float:
    """A real number within [low, high], or (low, high] when it must be `above`.

    >>> number("prob", 0.5, 0, 1)
    0.5
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise DTypeError(f"{name} must be a number, not {type(value).__name__}", given={name: repr(value)})
    checked = float(value)
    if not low <= checked <= high or (above and checked == low):
        raise ArgumentError(f"{name} must be in {'(' if above else '['}{low}, {high}]", given={name: value})
    return checked


def integer(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> int:
    """A whole number within [low, high].

    >>> integer("size", 3, 1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise DTypeError(f"{name} must be an int, not {type(value).__name__}", given={name: repr(value)})
    checked = int(value)
    if not low <= checked <= high:
        raise ArgumentError(f"{name} must be in [{low}, {high}]", given={name: value})
    return checked


def flag(name: str, value: Any) -> bool:
    """True or False.

    >>> flag("expand", True)
    True
    """
    if not isinstance(value, (bool, np.bool_)):
        raise DTypeError(f"{name} must be a bool, not {type(value).__name__}", given={name: repr(value)})
    return bool(value)


def text(name: str, value: Any) -> str:
    """A string.

    >>> text("name", "a")
    'a'
    """
    if not isinstance(value, str):
        raise DTypeError(f"{name} must be a str, not {type(value).__name__}", given={name: repr(value)})
    return value


def existing_file(name: str, value: Any, what: str = "file") -> Path:
    """The path of a file that is there.

    >>> import os
    >>> existing_file("filename", os.__file__).name
    'os.py'
    """
    if not Path(text(name, value)).is_file():
        raise ArgumentError(f"there is no such {what}", given={name: value})
    return Path(value)


def member(name: str, value: Any, kind: type[E]) -> E:
    """A member of an enumeration.

    >>> member("mode", enum.Enum("Mode", "A").A, enum.Enum).name
    'A'
    """
    if not isinstance(value, kind):
        raise DTypeError(
            f"{name} must be a {kind.__name__}, not {type(value).__name__}",
            given={name: repr(value)},
            hint=f"one of {', '.join(kind.__members__)}",
        )
    return value


def sequence(name: str, value: Any, *lengths: int) -> tuple[Any, ...]:
    """A sequence with one of the lengths, as a tuple.

    >>> sequence("mean", [1, 2, 3], 1, 3)
    (1, 2, 3)
    """
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        raise DTypeError(f"{name} must be a sequence, not {type(value).__name__}", given={name: repr(value)})
    if lengths and len(value) not in lengths:
        raise ArgumentError(f"{name} must have {' or '.join(map(str, lengths))} elements", given={name: value})
    return tuple(value)


def span(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> tuple[float, float]:
    """An interval (min, max) within [low, high].

    >>> span("scale", (0.5, 1), 0)
    (0.5, 1.0)
    """
    first, last = (number(name, v, low, high) for v in sequence(name, value, 2))
    if first > last:
        raise ArgumentError(f"{name} must be (min, max) with min <= max", given={name: value})
    return first, last


def pair_of(name: str, value: Any, check: Callable[..., Any], *bounds: float) -> tuple[Any, Any]:
    """One value for both directions, or a pair of them.

    >>> pair_of("size", 4, integer, 1)
    (4, 4)
    """
    if isinstance(value, numbers.Real):
        return (check(name, value, *bounds),) * 2
    first, second = (check(name, v, *bounds) for v in sequence(name, value, 2))
    return first, second


def check_random_transform_ops(transforms: Any) -> tuple[Any, ...]:
    """A sequence of at least one callable.

    >>> len(check_random_transform_ops([abs]))
    1
    """
    ops = sequence("transforms", transforms)
    if not ops:
        raise ArgumentError("transforms must not be empty")
    for i, op in enumerate(ops):
        if not callable(op):
            raise DTypeError(f"transforms[{i}] must be callable, not {type(op).__name__}", given={"value": repr(op)})
    return ops
