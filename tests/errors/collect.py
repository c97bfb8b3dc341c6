"""A mistake of a user: a small function that is called wrongly, and what is said about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mycelia as ms

GROUPS: dict[str, dict[str, Mistake]] = {}


@dataclass(frozen=True)
class Mistake:
    """A function, what it is called with, and whether it is one for `jit` too."""

    function: Callable[..., Any]
    given: tuple[Any, ...]
    jit: bool

    @property
    def name(self) -> str:
        return self.function.__name__.replace("_", " ").strip()

    def eagerly(self) -> BaseException:
        """What Python raises."""
        return raised(self.function, self.given)

    def compiled(self) -> BaseException:
        """What the compiled function raises."""
        return raised(ms.jit(self.function), self.given)


def mistake(*given: Any, jit: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: calling the function with these arguments is a mistake."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        group = function.__module__.rpartition(".")[2]
        GROUPS.setdefault(group, {})[function.__name__] = Mistake(function, given, jit)
        return function

    return note


def raised(function: Callable[..., Any], given: tuple[Any, ...]) -> BaseException:
    """What a call raises."""
    try:
        got = function(*given)
    except Exception as error:
        return error
    raise AssertionError(f"{function.__name__} is no mistake: it gives {got}")


def told(error: BaseException) -> str:
    """The kind of an error and its message; a place without the number of its line, and the caret moved with it."""
    lines = f"{type(error).__name__}: {error}".splitlines()
    for i, line in enumerate(lines):
        found = re.match(r"( +at \w+\.py:)(\d+)(  .*)", line)
        if found is not None:
            lines[i] = f"{found[1]}N{found[3]}".split("  # noqa")[0]
            if i + 1 < len(lines) and set(lines[i + 1]) == {" ", "^"}:
                lines[i + 1] = lines[i + 1][len(found[2]) - 1 :]
        lines[i] = re.sub(r'File "(?:.*[/\\\\])?(\w+\.py)", line \d+', r'File "\1", line N', lines[i])
    return "\n".join(lines)
