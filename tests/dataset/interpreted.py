"""Routines run by Python, over arrays that refuse an index outside, in the place of machine code.

What machine code does leaves no trace of its lines: here tests come to them, and see where they read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mycelia.runtime.routine import Routine

KINDS = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}  # as routines see their arrays


class Inside:
    """The memory of an array as whole numbers of Python, which wrap around as those of machine code do."""

    def __init__(self, array: np.ndarray) -> None:
        assert array.flags.c_contiguous
        self.flat = array.reshape(-1).view(KINDS[array.itemsize])
        self.bits = 8 * array.itemsize
        self.signed = self.bits > 8

    def __getitem__(self, i: int) -> int:
        assert 0 <= i < len(self.flat), "read outside of an array"
        return int(self.flat[i])

    def __setitem__(self, i: int, value: int) -> None:
        assert 0 <= i < len(self.flat), "written outside of an array"
        value &= (1 << self.bits) - 1
        self.flat[i] = value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every routine is run by Python; gives the names of those that were called."""
    called: list[str] = []

    def call(self: Routine, *args: Any) -> int:
        called.append(self.python.__name__)
        return self.python(*(Inside(a) if isinstance(a, np.ndarray) else int(a) for a in args))

    monkeypatch.setattr(Routine, "__call__", call)
    monkeypatch.setattr(Routine, "ready", lambda self: True)
    yield called
    assert called, "no routine was called: the test shows nothing of them"
