"""Texts about tensors: an f-string whose numbers are known when the program runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mycelia.capture.world import Unstageable

CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}


@dataclass(frozen=True, eq=False)
class Text:
    """Pieces of text, and values with their conversion and format. It can be printed, and be a part of another text; a
    program that does anything else with it needs the text itself, so Python must run it.
    """

    pieces: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("__") else _refused()

    def _needed(self, *_: Any) -> Any:
        raise _refused()

    __eq__ = __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __lt__ = __le__ = __gt__ = __ge__ = _needed
    __str__ = __repr__ = __format__ = _needed
    __len__ = __iter__ = __contains__ = __getitem__ = __bool__ = __hash__ = __ne__ = _needed


def _refused() -> Unstageable:
    return Unstageable("a tensor is turned into text")


def written(pieces: tuple[Any, ...]) -> str:
    """The text.

    >>> written(("x is ", (0.5, -1, ".2f"), "!"))
    'x is 0.50!'
    """
    return "".join(p if isinstance(p, str) else format(CONVERSIONS[p[1]](p[0]), p[2]) for p in pieces)
