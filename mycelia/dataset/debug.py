"""Debugging: hooks that see what goes into a map and what every operation of it gives, in debug mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from copy import copy
from typing import Any

import numpy as np

from mycelia.frozen import frozen


class DebugHook(ABC):
    """Sees the columns before the first operation of a map and after each one; it may stand among the operations too.

    `compute` gets all columns as one tuple. What it returns is not used: a hook looks on.

    >>> class Types(DebugHook):
    ...     def compute(self, *args):
    ...         print(*(type(column).__name__ for column in args[0]))
    >>> Types(prev_op_name="Decode")(1, "a")
    [Dataset debugger] Print the [OUTPUT] of the operation [Decode].
    int str
    (1, 'a')
    """

    prev_op_name: str | None = None
    is_first_op: bool | None = None

    def __init__(self, prev_op_name: str | None = None) -> None:
        self.prev_op_name = prev_op_name

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        if self.prev_op_name:
            side = "INPUT" if self.is_first_op else "OUTPUT"
            print(f"[Dataset debugger] Print the [{side}] of the operation [{self.prev_op_name}].", flush=True)
        self.compute(args)  # the place for a breakpoint
        return args

    @abstractmethod
    def compute(self, *args: Any) -> Any:
        """Look at the columns, which are the tuple `args[0]`."""

    def set_previous_op_name(self, prev_op_name: str) -> None:
        """Say which operation the hook looks at.

        >>> hook = PrintDataHook(); hook.set_previous_op_name("Decode"); hook.prev_op_name
        'Decode'
        """
        self.prev_op_name = prev_op_name

    def set_is_first(self, is_first_op: bool) -> None:
        """Say whether the hook stands before its operation, and so sees what goes into the map.

        >>> hook = PrintDataHook(); hook.set_is_first(True); hook.is_first_op
        True
        """
        self.is_first_op = is_first_op

    def at(self, operation: str, *, first: bool = False) -> DebugHook:
        """The same hook at an operation; what it remembers is shared.

        >>> PrintDataHook().at("Decode").prev_op_name
        'Decode'
        """
        placed = copy(self)
        placed.set_previous_op_name(operation)
        placed.set_is_first(first)
        return placed


class PrintMetaDataHook(DebugHook):
    """Prints element type and shape of every column, or what is known of those that are no arrays.

    >>> import numpy as np
    >>> _ = PrintMetaDataHook()(np.zeros((2, 3), "float32"), "word")
    Column 0. The dtype is [float32]. The shape is [(2, 3)].
    Column 1. The type is [<class 'str'>]. The size is [4].
    """

    def __init__(self) -> None:
        super().__init__()

    def compute(self, *args: Any) -> Any:
        """Print a line for every column."""
        for number, column in enumerate(args[0]):
            print(f"Column {number}. {_known(column)}", flush=True)
        return args


def _known(column: Any) -> str:
    """What is known of a column: arrays have a type and a shape, Pillow images a size."""
    if hasattr(column, "dtype") and hasattr(column, "shape"):
        return f"The dtype is [{column.dtype}]. The shape is [{column.shape}]."
    told = f"The type is [{type(column)}]."
    if hasattr(column, "size"):
        return f"{told} The shape is [{column.size}]."
    return f"{told} The size is [{len(column)}]." if isinstance(column, Sized) else told


class PrintDataHook(DebugHook):
    """Prints the values of every column.

    >>> _ = PrintDataHook()([1, 2], 3)
    Column 0. The data is [[1, 2]].
    Column 1. The data is [3].
    """

    def __init__(self) -> None:
        super().__init__()

    def compute(self, *args: Any) -> Any:
        """Print a line for every column; a Pillow image is printed as its pixels."""
        for number, column in enumerate(args[0]):
            shown = np.asarray(column) if hasattr(column, "__array_interface__") else column
            print(f"Column {number}. The data is [{shown}].", flush=True)
        return args


@frozen
class HookedOperation:
    """An operation with hooks before and after it."""

    operation: Callable[..., Any]
    before: tuple[DebugHook, ...]
    after: tuple[DebugHook, ...]

    @property
    def __name__(self) -> str:
        return _name(self.operation)

    def __call__(self, *values: Any) -> Any:
        for hook in self.before:
            hook(*values)
        made = self.operation(*values)
        for hook in self.after:
            hook(*(made if isinstance(made, tuple) else (made,)))
        return made


def hooked(operations: Sequence[Callable[..., Any]], hooks: Sequence[DebugHook]) -> tuple[Callable[..., Any], ...]:
    """The operations with the hooks before the first and after each; hooks among them learn what they stand behind.

    >>> hooked([abs], [])
    (<built-in function abs>,)
    """
    made: list[Callable[..., Any]] = []
    last = ""
    for operation in operations:
        if isinstance(operation, DebugHook):
            made.append(operation.at(last) if last else operation)
            continue
        before = () if last or not hooks else tuple(h.at(_name(operation), first=True) for h in hooks)
        last = _name(operation)
        made.append(HookedOperation(operation, before, tuple(h.at(last) for h in hooks)) if hooks else operation)
    return tuple(made)


def _name(operation: Any) -> str:
    return str(getattr(operation, "__name__", type(operation).__name__))


__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]
