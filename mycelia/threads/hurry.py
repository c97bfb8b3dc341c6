"""Threads that wait for a program have Python change between threads more often, while they wait."""

from __future__ import annotations

import os
import sys
from _thread import get_ident

QUICK = 0.0005  # seconds after which another thread may run; Python's own 0.005, times eight threads, is a long wait


class _Hurry:
    """Who wakes up, and whoever has ended a program, waits for Python to let it run: among eight threads that is a
    multiple of Python's interval, and many steps are shorter. So the interval is short as long as somebody waits, and
    the user's again behind that. An interval that the user has chosen meanwhile, or a shorter one, stays.

    >>> with hurry:
    ...     sys.getswitchinterval() <= QUICK
    True
    >>> sys.getswitchinterval() > QUICK
    True
    """

    def __init__(self) -> None:
        self._who: set[int] = set()
        self._usual = 0.0

    def __enter__(self) -> None:
        self._who.add(get_ident())
        now = sys.getswitchinterval()
        if now > QUICK:
            self._usual = now
            sys.setswitchinterval(QUICK)

    def __exit__(self, *_: object) -> None:
        self._who.discard(get_ident())
        if not self._who:
            self.end()

    def end(self) -> None:
        """Nobody waits."""
        self._who.clear()
        if self._usual and sys.getswitchinterval() == QUICK:
            sys.setswitchinterval(self._usual)


hurry = _Hurry()
os.register_at_fork(after_in_child=hurry.end)
