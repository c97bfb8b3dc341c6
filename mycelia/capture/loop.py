"""Loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia.capture.stage import current
from mycelia.capture.world import Unstageable


class Range:
    """`range` of numbers that are not known yet."""

    def __init__(self, *ends: Any) -> None:
        self.ends = ends


def while_(test: Callable[[], Any], body: Callable[[], None], get: Any, put: Any, names: Sequence[str]) -> None:
    """`while test(): body()`."""
    while True:
        goes = test()
        stage = current()
        if stage is not None and stage.symbolic(goes):
            raise Unstageable("a loop goes on by a tensor")
        if not goes:
            return
        body()


def for_(
    iterable: Any, body: Callable[[Any], None], get: Any, put: Any, names: Sequence[str], stops: Callable[[], Any]
) -> None:
    """`for item in iterable: body(item)`."""
    for item in iterable:
        body(item)
        if any(f is True for f in stops()):
            return
