"""Regions: the functions that are being made, each with the effects it has so far.

An ordered op becomes an effect of the innermost open region when its value is made. So effects are in the order in
which they were asked for, none is lost, and none is made where no function could keep it.

Equal values are one object; but an effect that is asked for twice happens twice, and a computation that may not end is
another one behind another decision. Such values carry a `mark`, which tells them apart:

    closed function      effects are numbered 0, 1, 2, ... and the mark of a partial value is 0
    one being written    an effect has a number of its own, below 0, and a partial value that of its region
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from mycelia.ir.purity import Purity

if TYPE_CHECKING:
    from mycelia.ir.value import Value

_numbers = count(1)


class Region:
    """A function that is being made. Number 0: a closed function is, value by value; others are open."""

    __slots__ = ("effects", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.effects: list[Value] = []

    def adopt(self, effects: Sequence[Value]) -> None:
        """Effects of a region inside this one happen here after all."""
        self.effects.extend(effects)

    def mark(self, purity: Purity) -> int:
        """What tells a new value of this purity from equal ones elsewhere."""
        if purity is Purity.PARTIAL:
            return self.number
        return -next(_numbers) if self.number else len(self.effects)


class _Open(threading.local):
    region: Region | None = None


_open = _Open()


@contextmanager
def region(closed: bool = False) -> Iterator[Region]:
    """Inside the block, effects belong to the region that is given."""
    before = _open.region
    _open.region = made = Region(0 if closed else next(_numbers))
    try:
        yield made
    finally:
        _open.region = before


def innermost() -> Region | None:
    """The region that effects belong to now, on this thread."""
    return _open.region
