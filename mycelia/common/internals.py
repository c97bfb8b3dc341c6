"""Parts of MindSpore's machinery that programs ask for by their own paths, and what is left of them here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mycelia import types as typing
from mycelia.eager import Tensor

__all__ = [
    "PynativeExecutor", "Registry", "Security", "Tensor", "cell_attr_register", "pynative_executor", "security",
    "typing", "vm_impl_registry",
]  # fmt: skip


class Security:
    """Whether MindSpore was built without what shows data: nothing is left out here.

    >>> security.enable_security()
    False
    """

    def enable_security(self) -> bool:
        """Whether summaries, dumps and profiles are left out."""
        return False


security = Security()


class PynativeExecutor:
    """What runs operations one by one.

    >>> pynative_executor.sync()
    """

    def sync(self) -> None:
        """Wait for all that was asked for, which is done."""


pynative_executor = PynativeExecutor()


class Registry:
    """Functions by the operation that they compute, given by a decorator.

    >>> table = Registry()
    >>> @table.register("Twice")
    ... def twice(self):
    ...     return lambda x: x * 2
    >>> table.get("Twice")(None)(3), table.get("Thrice")
    (6, None)
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}

    def register(self, prim: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator that keeps a function for an operation: its name, its class, or itself."""

        def kept(function: Callable[..., Any]) -> Callable[..., Any]:
            self.functions[_name(prim)] = function
            return function

        return kept

    def get(self, prim: Any, default: Any = None) -> Any:
        """The function of an operation."""
        return self.functions.get(_name(prim), default)


def _name(prim: Any) -> str:
    return prim if isinstance(prim, str) else getattr(prim, "__name__", type(prim).__name__)


vm_impl_registry = Registry()


def cell_attr_register(fn: Callable[..., Any] | None = None, attrs: Any = None) -> Callable[..., Any]:
    """A decorator for the `__init__` of a cell, which noted in old versions what it was given: `Cell` prints that here.

    >>> cell_attr_register(lambda self, n: n)(None, 3)
    3
    """
    if fn is None:
        return lambda function: cell_attr_register(function, attrs)

    @wraps(fn)
    def made(self: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(self, *args, **kwargs)

    return made
