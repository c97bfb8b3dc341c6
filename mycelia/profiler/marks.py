"""Marks of the user in a profile: a moment, or a span between two calls."""

from __future__ import annotations

from itertools import count
from threading import Lock
from time import perf_counter_ns

from mycelia import checks, spans
from mycelia.errors import CallError
from mycelia.spans import TimedSpan


class mstx:  # MindSpore's name
    """Marks that appear in the profile that is being recorded; without one they cost next to nothing.

    >>> from mycelia.profiler import profile
    >>> with profile() as seen:
    ...     mstx.mark("here")
    ...     number = mstx.range_start("an epoch")
    ...     mstx.range_end(number)
    >>> [s.name for s in seen.result.recording.spans]
    ['here', 'an epoch']
    """

    _numbers = count(1)
    _open: dict[int, tuple[str, str, int]] = {}
    _lock = Lock()

    @staticmethod
    def mark(message: str, stream: None = None, domain: str = "default") -> None:
        """Mark this moment."""
        now = perf_counter_ns()
        spans.tell(TimedSpan(_named(message, stream, domain), "user", now, now))

    @staticmethod
    def range_start(message: str, stream: None = None, domain: str = "default") -> int:
        """Begin a span; gives its number, for `range_end`."""
        name = _named(message, stream, domain)
        with mstx._lock:
            number = next(mstx._numbers)
            mstx._open[number] = name, domain, perf_counter_ns()
        return number

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """End a span. A number that no span of this domain has is let go, as MindSpore does."""
        checks.whole("mstx.range_end", "range_id", range_id)
        with mstx._lock:
            if mstx._open.get(range_id, ("", None, 0))[1] != domain:
                return
            name, _, begin = mstx._open.pop(range_id)
        spans.tell(TimedSpan(name, "user", begin, perf_counter_ns()))


def _named(message: str, stream: None, domain: str) -> str:
    """What is shown of a mark."""
    checks.only("mstx", "stream", stream, None, "a processor has no streams")
    for name, text in (("message", message), ("domain", domain)):
        if not isinstance(text, str):
            raise CallError(f"{name} of mstx is a text, not {text!r}", hint="give a str")
    return message if domain == "default" else f"{domain}: {message}"
