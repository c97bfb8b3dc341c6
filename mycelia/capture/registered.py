"""Functions that the layers above model for the interpreter. What they know is loaded when something is captured."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

REGISTERED: dict[Any, Any] = {}  # by their code: (machine, fn, args, options) -> result
_later: list[Callable[[], object]] = []
_loading = RLock()


def registers(load: Callable[[], object]) -> None:
    """`load` registers models, and is called before the first capture: most programs never come there."""
    _later.append(load)


def all_registered() -> None:
    """Let everybody register who has said so."""
    if _later:
        with _loading:  # whoever captures at the same time waits, too
            for load in tuple(_later):
                load()
                _later.remove(load)
