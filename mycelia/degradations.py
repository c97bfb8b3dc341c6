"""One record of everything that runs slower than it could, or in another way than was asked for.

Whoever takes the slower way writes it down here, with the reason and the user's line; `explain()` reads what concerns
one function, `ms.report()` reads all of it. What can only come from a mistake of our own is a *fault*: it is written
down and warned about, the slower way gives the right result, and with MYCELIA_FAULTS=raise, as in our own tests, it is
raised.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

from mycelia.errors import ArgumentError, CompileError, Location, warn_user
from mycelia.frozen import frozen

KEPT = 1000  # different degradations; older ones are let go


class Instead(Enum):
    """What happened instead."""

    PYTHON = "runs in Python"
    INTERPRETED = "is interpreted"
    AGAIN = "compiled again"
    LIBRARY = "refused by the library"
    SLOW = "computed in a slow way"
    GIVEN_UP = "given up"
    FAULT = "a fault of ours"


@frozen(eq=False)
class Subject:
    """A function of the user that degradations are about. Two of one name are two. Of a strict one (`fullgraph`) it is
    an error if there is no machine code.
    """

    name: str
    strict: bool = False


ELSEWHERE = Subject("eager operations")
CACHE = Subject("the cache of compiled programs")


@frozen
class Degradation:
    """What happened instead of the fast way, to which function, why, and which line asked for it."""

    kind: Instead
    subject: Subject
    why: str
    at: Location | None = None

    def __str__(self) -> str:
        place = [f"  {line}" for line in f"  at {self.at.caret()}".splitlines()] if self.at else []
        return "\n".join([f"{self.kind.value}: {self.why}", *place])


@dataclass
class Record:
    """The degradations of a process, each once, with the number of times it happened."""

    times: dict[Degradation, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, new: Degradation) -> bool:
        """Write one down; whether it is the first of its kind."""
        with self.lock:
            before = self.times.pop(new, 0)
            self.times[new] = before + 1
            while len(self.times) > KEPT:
                del self.times[next(iter(self.times))]
        return not before

    def about(self, subject: Subject, *kinds: Instead) -> list[Degradation]:
        """Those of one function, oldest first."""
        with self.lock:
            return [d for d in self.times if d.subject is subject and (not kinds or d.kind in kinds)]

    def __str__(self) -> str:
        with self.lock:
            times = dict(self.times)
        lines = []
        for subject in dict.fromkeys(d.subject for d in times):
            lines.append(subject.name)
            for d, n in times.items():
                if d.subject is subject:
                    first, *rest = str(d).splitlines()
                    lines += [f"  {first}" + (f" ({n} times)" if n > 1 else ""), *[f"  {line}" for line in rest]]
        return "\n".join(lines) if lines else "nothing: all that was compiled runs as compiled"


RECORD = Record()


class _Here(threading.local):
    subject: Subject = ELSEWHERE


_here = _Here()


def subject() -> Subject:
    """The function that is being captured or compiled on this thread."""
    return _here.subject


@contextmanager
def concerning(subject: Subject) -> Iterator[None]:
    """Inside the block, degradations are about this function."""
    before, _here.subject = _here.subject, subject
    try:
        yield
    finally:
        _here.subject = before


def degrade(kind: Instead, why: str, at: Location | None = None, *, warn: bool = False) -> None:
    """Write down that something happens instead of the fast way, and `warn` the first time."""
    new = Degradation(kind, subject(), why, at)
    if kind is Instead.INTERPRETED and new.subject.strict:
        raise CompileError(f"{new.subject.name} cannot be one native program: {why}", at=at)
    if RECORD.add(new) and warn:
        warn_user(f"{new.subject.name}, {kind.value}: {why}", RuntimeWarning)


def fault(what: str, error: BaseException, at: Location | None = None) -> None:
    """Write down a mistake of our own that a slower way makes good; raise it where faults are to be seen, and where the
    slower way is not wanted.
    """
    if _settings["faults"] == "raise" or subject().strict:
        raise error
    if RECORD.add(Degradation(Instead.FAULT, subject(), f"{what}: {type(error).__name__}: {error}", at)):
        warn_user(f"{what}, which is a fault of ours: {error!r}", RuntimeWarning)


_settings = {"faults": ""}


def install(faults: str) -> None:
    """Say what becomes of faults: they are raised, or written down and warned about."""
    if faults not in ("", "raise"):
        raise ArgumentError(f"MYCELIA_FAULTS cannot be {faults!r}", hint="it is 'raise', or not set")
    _settings["faults"] = faults


class PlainText(str):
    """A text of several lines that a prompt shows as it is.

    >>> PlainText("one\\ntwo")
    one
    two
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def report() -> str:
    """All that ran slower than it could, or in another way than was asked for, with the reasons and your lines.

    Statements that Python runs, programs that were compiled again or interpreted, calls that a library refused, what
    was given up, faults of ours. `explain()` of a jitted function shows what concerns that function.

    >>> import mycelia as ms
    >>> @ms.jit
    ... def half(x):
    ...     n = float(x)
    ...     return x / 2 + n
    >>> half(ms.Tensor(3.0)).item()
    4.5
    >>> "runs in Python: f32[] has no numbers before the program runs" in ms.report()
    True
    """
    return PlainText(RECORD)
