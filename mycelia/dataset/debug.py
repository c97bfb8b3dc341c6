"""Debugging: hooks that see what every operation of a map gives, in debug mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


class DebugHook(ABC):
    """Sees the values after an operation; what it returns goes on in their place.

    >>> class Shapes(DebugHook):
    ...     def compute(self, *args):
    ...         print([a.shape for a in args])
    ...         return args
    """

    @abstractmethod
    def compute(self, *args: Any) -> Any:
        """Look at the values, and give them back."""


class PrintMetaDataHook(DebugHook):
    """Prints element type and shape of what passes.

    >>> import numpy as np
    >>> _ = PrintMetaDataHook().compute(np.zeros((2, 3), "float32"))
    float32 (2, 3)
    """

    def compute(self, *args: Any) -> Any:
        for value in args:
            print(getattr(value, "dtype", type(value).__name__), getattr(value, "shape", ""))
        return args


@dataclass(frozen=True)
class Hooked:
    """An operation with hooks after it."""

    operation: Callable[..., Any]
    hooks: tuple[DebugHook, ...]

    @property
    def __name__(self) -> str:
        return str(getattr(self.operation, "__name__", type(self.operation).__name__))

    def __call__(self, *values: Any) -> Any:
        made = self.operation(*values)
        for hook in self.hooks:
            seen = hook.compute(*(made if isinstance(made, tuple) else (made,)))
            made = seen[0] if isinstance(seen, tuple) and len(seen) == 1 else seen
        return made


def hooked(operations: Sequence[Callable[..., Any]], hooks: Sequence[DebugHook]) -> tuple[Callable[..., Any], ...]:
    """The operations, each with the hooks after it.

    >>> hooked([abs], [])
    (<built-in function abs>,)
    """
    return tuple(Hooked(o, tuple(hooks)) if hooks else o for o in operations)
