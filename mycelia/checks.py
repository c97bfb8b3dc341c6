"""Checks of arguments: one question, one set of words, everywhere. What passes is returned as the type it was meant as.

`owner` is whose argument it is: a name such as "Dense", or the object or class itself. A value of a wrong type is a
TypeError too, another one a ValueError.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from mycelia.errors import ArgumentError, CallError, MyceliaError, brief
from mycelia.sizes import Sym

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)


def _refuse(kind: type[MyceliaError], owner: Any, name: str, meant: str, value: Any, hint: str) -> NoReturn:
    array = bool(getattr(value, "shape", ()))
    shown = brief(value) if array else repr(value)[:200]
    shown = f"{type(value).__name__} {shown}" if kind is CallError and not array else shown
    whose = owner if isinstance(owner, str) else (owner if isinstance(owner, type) else type(owner)).__name__
    raise kind(f"{name} of {whose} is {meant}, not {shown}", hint=hint)


def whole(owner: Any, name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """A whole number, at least `least` and at most `most`.

    >>> whole("Dense", "in_channels", 3, least=1)
    3
    """
    if isinstance(value, Sym):
        return value  # type: ignore[return-value]  # a size that is known when the program runs
    if isinstance(value, bool) or not isinstance(value, Integral):
        _refuse(CallError, owner, name, _bounded("a whole number", least, most), value, _example(least, most))
    found = int(value)
    if (least is not None and found < least) or (most is not None and found > most):
        _refuse(ArgumentError, owner, name, _bounded("a whole number", least, most), value, _example(least, most))
    return found


def _bounded(kind: str, least: float | None, most: float | None, above: float | None = None) -> str:
    words = {"from": least, "above": above, "up to": most}
    return " ".join([kind, *(f"{word} {bound}" for word, bound in words.items() if bound is not None)])


def _example(least: int | None, most: int | None) -> str:
    example = 1 if least is None else max(least, 1)
    return f"give an int, such as {example if most is None else min(example, most)}"


def number(
    owner: Any,
    name: str,
    value: Any,
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
) -> float:
    """A number, at least `least`, above `above` and at most `most`.

    >>> number("Adam", "eps", 1e-8, above=0)
    1e-08
    """
    meant = _bounded("a number", least, most, above)
    example = float(most if most is not None else max(least or 0.0, above or 0.0, 1.0))
    if isinstance(value, bool) or not isinstance(value, Real):
        _refuse(CallError, owner, name, meant, value, f"give a number, such as {example!r}")
    found = float(value)
    low = (least is None or found >= least) and (above is None or found > above)
    if not low or not (most is None or found <= most):
        _refuse(ArgumentError, owner, name, meant, value, f"give a number, such as {example!r}")
    return found


def share(owner: Any, name: str, value: Any, whole: bool = False) -> float:
    """A number from 0 that stays below 1, or, where the whole is a share too, up to 1.

    >>> share("Dropout", "p", 0.1)
    0.1
    """
    meant = "at least 0 and at most 1" if whole else "at least 0 and below 1"
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        _refuse(CallError, owner, name, meant, value, "for example 0.9")
    if not 0 <= value <= 1 or (value == 1 and not whole):
        _refuse(ArgumentError, owner, name, meant, value, "for example 0.9")
    return float(value)


def truth(owner: Any, name: str, value: Any) -> bool:
    """True or False.

    >>> truth("Dense", "has_bias", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        _refuse(CallError, owner, name, "True or False", value, "say True or False")
    return bool(value)


def text(owner: Any, name: str, value: Any) -> str:
    """A text.

    >>> text("Primitive", "name", "add")
    'add'
    """
    if not isinstance(value, str):
        _refuse(CallError, owner, name, "a text", value, "give a str")
    return value


def choice(owner: Any, name: str, value: T, options: Sequence[T]) -> T:
    """One of several values.

    >>> choice("RNN", "nonlinearity", "tanh", ("tanh", "relu"))
    'tanh'
    """
    if not any(type(value) is type(o) and value == o for o in options):
        *first, last = [repr(o) for o in options]
        meant = f"{', '.join(first)} or {last}" if first else last
        _refuse(ArgumentError, owner, name, meant, value, "choose one of these")
    return value


def member(owner: Any, name: str, value: Any, kind: type[E]) -> E:
    """A member of an enumeration.

    >>> member("Pad", "mode", enum.Enum("Mode", "A").A, enum.Enum).name
    'A'
    """
    if not isinstance(value, kind):
        _refuse(CallError, owner, name, f"a {kind.__name__}", value, f"one of {', '.join(kind.__members__)}")
    return value


def sequence(owner: Any, name: str, value: Any, *lengths: int) -> tuple[Any, ...]:
    """A sequence with one of the lengths, as a tuple.

    >>> sequence("Normalize", "mean", [1, 2, 3], 1, 3)
    (1, 2, 3)
    """
    counted = f" of {' or '.join(map(str, lengths))} elements" if lengths else ""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        _refuse(CallError, owner, name, f"a sequence{counted}", value, "give a list or a tuple")
    if lengths and len(value) not in lengths:
        _refuse(ArgumentError, owner, name, f"a sequence{counted}", value, f"this one has {len(value)}")
    return tuple(value)


def span(
    owner: Any, name: str, value: Any, least: float | None = None, most: float | None = None
) -> tuple[float, float]:
    """An interval (min, max) within bounds.

    >>> span("RandomResize", "scale", (0.5, 1), 0)
    (0.5, 1.0)
    """
    first, last = (number(owner, name, v, least, most) for v in sequence(owner, name, value, 2))
    if first > last:
        _refuse(ArgumentError, owner, name, "(min, max) with min <= max", value, f"give ({last}, {first})")
    return first, last


def pair(owner: Any, name: str, value: Any, check: Callable[..., T], *bounds: float) -> tuple[T, T]:
    """One value for both directions, or a pair of them.

    >>> pair("Resize", "size", 4, whole, 1)
    (4, 4)
    """
    both = (value, value) if isinstance(value, Real) else sequence(owner, name, value, 2)
    first, second = (check(owner, name, v, *bounds) for v in both)
    return first, second


def existing_file(owner: Any, name: str, value: Any) -> Path:
    """The path of a file that is there.

    >>> import os
    >>> existing_file("Vocab", "filename", os.__file__).name
    'os.py'
    """
    if not Path(text(owner, name, value)).is_file():
        _refuse(ArgumentError, owner, name, "the name of a file", value, "there is no such file")
    return Path(value)


def only(owner: Any, name: str, value: T, known: T, why: str) -> T:
    """A value that must be this one: MindSpore's signature has it, and here nothing else has a meaning.

    >>> only("EmbeddingLookup", "target", "CPU", "CPU", "there is one device")
    'CPU'
    """
    if value is not known and (type(value) is not type(known) or value != known):
        _refuse(ArgumentError, owner, name, f"{known!r} here", value, why)
    return value
