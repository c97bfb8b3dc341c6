"""Texts about tensors: what Python will write when the numbers are known. It happens after the program, or inside it.

`f"{x:.2f}"` is a `LateText`: a function of Python, and its arguments as they were when it was asked for, in which
values of the graph stand where numbers will be. It can be printed, kept, returned and be a part of another text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mycelia.eager import Tensor, wrap
from mycelia.frozen import frozen
from mycelia.ir import Value


@frozen(eq=False)
class Shown:
    """A place in a text for the numbers of a tensor, or for a Python number of this kind."""

    value: Any
    kind: type | None = None

    def of(self, data: Any) -> Any:
        """What Python shows, when these are the numbers."""
        if isinstance(data, Tensor):
            data = data._data
        return wrap(data) if self.kind is None else self.kind(data.item())


@frozen(eq=False)
class Nested:
    """A list, tuple or dictionary in a text, as it was."""

    kind: type
    parts: tuple[Any, ...]
    keys: tuple[Any, ...] = ()

    def built(self, parts: Sequence[Any]) -> Any:
        return self.kind(zip(self.keys, parts, strict=True)) if self.keys else self.kind(parts)


@frozen(eq=False)
class LateText:
    """A text that Python writes when the numbers are known."""

    function: Callable[..., str]
    args: tuple[Any, ...]


class Raw(str):
    """A text that stands for an object which shows itself so."""

    def __repr__(self) -> str:
        return str(self)


def places(part: Any) -> Iterator[Shown]:
    """The places for numbers, in order."""
    if isinstance(part, Shown):
        yield part
    for inner in part.args if isinstance(part, LateText) else part.parts if isinstance(part, Nested) else ():
        yield from places(inner)


def replaced(part: Any, new: Callable[[Any], Any]) -> Any:
    """The same words with other values in their places."""
    if isinstance(part, Shown):
        return Shown(new(part.value), part.kind)
    if isinstance(part, LateText):
        return LateText(part.function, tuple(replaced(x, new) for x in part.args))
    if isinstance(part, Nested):
        return Nested(part.kind, tuple(replaced(x, new) for x in part.parts), part.keys)
    return part


def said(part: Any, data: Callable[[Shown], Any]) -> Any:
    """The words, when `data` gives the numbers of each place."""
    if isinstance(part, Shown):
        return part.of(data(part))
    if isinstance(part, LateText):
        return part.function(*[said(x, data) for x in part.args])
    return part.built([said(x, data) for x in part.parts]) if isinstance(part, Nested) else part


def values(part: Any) -> list[Value]:
    """The values of the graph in a text."""
    return [place.value for place in places(part)]


# -------------------------------------------------------------------------------------------------------------- saying


class _Withheld(threading.local):
    """What a program says while nobody knows yet whether it will end well."""

    words: list[Callable[[], None]] | None = None


_kept = _Withheld()


@contextmanager
def keeping() -> Iterator[list[Callable[[], None]]]:
    """Inside the block nothing is printed: the list has what is to be printed if all ends well."""
    before, _kept.words = _kept.words, []
    try:
        yield _kept.words
    finally:
        _kept.words = before


@frozen(eq=False)
class Printing:
    """`print(...)` in a program."""

    words: tuple[Any, ...]
    settings: dict[str, Any]

    @property
    def fallible(self) -> bool:
        """Whether writing the words may raise."""
        return any(map(may_raise, self.words))

    def __call__(self, *arrays: Any) -> None:
        found = iter(arrays)
        words = [said(w, lambda place: next(found)) for w in self.words]
        if _kept.words is None:
            print(*words, **self.settings)
        else:
            _kept.words.append(lambda: print(*words, **self.settings))


def may_raise(part: Any) -> bool:
    """Whether writing this may raise, as a format may that does not fit its numbers."""
    if isinstance(part, LateText):
        plain = part.function in SURE or (part.function is format and part.args[1:] in ((), ("",)))
        return not plain or any(map(may_raise, part.args))
    return isinstance(part, Nested) and any(map(may_raise, part.parts))


def together(*parts: str) -> str:
    """An f-string of its parts."""
    return "".join(parts)


SURE = (str, repr, ascii, together)
