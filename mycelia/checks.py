"""Checks of arguments: one question, one set of words, everywhere. What passes is returned as the type it was meant as.

`owner` is whose argument it is, such as "Dense"; a value of a wrong type is a TypeError too, another one a ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NoReturn, TypeVar

import numpy as np

from mycelia.errors import ArgumentError, CallError, MyceliaError
from mycelia.sizes import Sym

T = TypeVar("T")


def _refuse(kind: type[MyceliaError], owner: str, name: str, meant: str, value: Any, hint: str) -> NoReturn:
    shown = f"{type(value).__name__} {value!r}" if kind is CallError else repr(value)
    raise kind(f"{name} of {owner} is {meant}, not {shown}", hint=hint)


def whole(owner: str, name: str, value: Any, least: int | None = None) -> int:
    """A whole number, at least `least`.

    >>> whole("Dense", "in_channels", 3, least=1)
    3
    """
    meant = "a whole number" + ("" if least is None else f" from {least}")
    hint = f"give an int, such as {1 if least is None else max(least, 1)}"
    if isinstance(value, Sym):
        return value  # type: ignore[return-value]  # a size that is known when the program runs
    if isinstance(value, bool) or not isinstance(value, Integral):
        _refuse(CallError, owner, name, meant, value, hint)
    if least is not None and value < least:
        _refuse(ArgumentError, owner, name, meant, value, hint)
    return int(value)


def number(
    owner: str, name: str, value: Any, least: float | None = None, above: float | None = None, most: float | None = None
) -> float:
    """A number, at least `least`, above `above` and at most `most`.

    >>> number("Adam", "eps", 1e-8, above=0)
    1e-08
    """
    bounds = [f"from {least}"] * (least is not None) + [f"above {above}"] * (above is not None)
    meant = " ".join(["a number", *bounds, *[f"up to {most}"] * (most is not None)])
    hint = "give a number, such as " + repr(float(most if most is not None else max(least or 0.0, above or 0.0, 1.0)))
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        _refuse(CallError, owner, name, meant, value, hint)
    low = (least is None or value >= least) and (above is None or value > above)
    if not low or not (most is None or value <= most):
        _refuse(ArgumentError, owner, name, meant, value, hint)
    return float(value)


def share(owner: str, name: str, value: Any, whole: bool = False) -> float:
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


def truth(owner: str, name: str, value: Any) -> bool:
    """True or False.

    >>> truth("Dense", "has_bias", True)
    True
    """
    if not isinstance(value, bool):
        _refuse(CallError, owner, name, "True or False", value, "say True or False")
    return value


def text(owner: str, name: str, value: Any) -> str:
    """A text.

    >>> text("Primitive", "name", "add")
    'add'
    """
    if not isinstance(value, str):
        _refuse(CallError, owner, name, "a text", value, "give a str")
    return value


def choice(owner: str, name: str, value: T, options: Sequence[T]) -> T:
    """One of several values.

    >>> choice("RNN", "nonlinearity", "tanh", ("tanh", "relu"))
    'tanh'
    """
    if not any(type(value) is type(o) and value == o for o in options):
        *first, last = [repr(o) for o in options]
        meant = f"{', '.join(first)} or {last}" if first else last
        _refuse(ArgumentError, owner, name, meant, value, "choose one of these")
    return value


def only(owner: str, name: str, value: T, known: T, why: str) -> T:
    """A value that must be this one: MindSpore's signature has it, and here nothing else has a meaning.

    >>> only("EmbeddingLookup", "target", "CPU", "CPU", "there is one device")
    'CPU'
    """
    if value is not known and (type(value) is not type(known) or value != known):
        _refuse(ArgumentError, owner, name, f"{known!r} here", value, why)
    return value
