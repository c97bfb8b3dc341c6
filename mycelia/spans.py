"""Spans of time that somebody may want to see: a row that was waited for, something that was compiled, a user's mark.

Whoever spends the time tells it here, if anybody listens; `mycelia.api.profiling` listens while it records.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from time import perf_counter_ns

from mycelia.frozen import frozen


@frozen
class TimedSpan:
    """Something that took time, in nanoseconds of `perf_counter_ns`. A mark takes none."""

    name: str
    kind: str  # "input", "compile", "user", "step"
    begin: int
    end: int
    thread: int = field(default_factory=threading.get_ident)


listeners: list[Callable[[TimedSpan], None]] = []


def tell(new: TimedSpan) -> None:
    """Tell all who listen."""
    for listen in listeners:
        listen(new)


@contextmanager
def span(name: str, kind: str) -> Iterator[None]:
    """What happens inside the block is told when it is over.

    >>> told = []
    >>> listeners.append(told.append)
    >>> with span("half an hour", "user"):
    ...     pass
    >>> listeners.remove(told.append)
    >>> told[0].name, told[0].end >= told[0].begin
    ('half an hour', True)
    """
    begin = perf_counter_ns()
    try:
        yield
    finally:
        tell(TimedSpan(name, kind, begin, perf_counter_ns()))
