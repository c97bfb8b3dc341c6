"""What capture must be told about tensors, which live above it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from mycelia.errors import Location, caller
from mycelia.ir import Value


@dataclass(frozen=True)
class World:
    """Tensors, as capture sees them: objects that hold an array, or a value while a graph is written down."""

    tensor: type
    parameter: type  # a tensor with an identity: it is never copied, and assigning to it is an effect
    wrap: Callable[[Value], Any]  # a tensor that holds this value
    value: Callable[[Any], Value]  # what a tensor holds, as a value of the graph
    read: Callable[[Any], Any]  # all that a tensor holds
    write: Callable[[Any, Any], None]  # make it hold that again
    data: Callable[[Any], Any]  # the array or value alone
    hold: Callable[[Any, Any], None]  # make a tensor hold an array or value, and nothing else
    state: tuple[Any, ...]  # tensors that library code reads and changes by itself
    mode: Callable[[Any], AbstractContextManager[Any]]  # inside, ops on tensors write the graph of this stage
    printed: Callable[[Any, Any], bool]  # print these when the program runs; false if that cannot be
    failed: Callable[[type[BaseException], Any, Location | None], bool]  # raise this when the program runs
    concrete: type[BaseException]  # raised when a number is asked for that only exists when the program runs


class Unstageable(BaseException):  # which no program catches by accident
    """Something that a graph cannot do, and Python can: where, and why."""

    def __init__(self, why: str, at: Location | None = None) -> None:
        super().__init__(why)
        self.why, self.at = why, at or caller()
        self.line = 0  # of the captured function, on which it asked for this, directly or by a call
        self.holds: Callable[[], bool] = _always  # whether the reason still stands: set by the capture that gave up


def _always() -> bool:
    return True
