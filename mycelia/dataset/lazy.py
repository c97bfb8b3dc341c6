"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """A method whose result becomes an attribute.

    `functools.cached_property` of Python 3.11 holds one lock per class while it computes, and a process that is forked
    meanwhile by another thread waits for it forever. Here two threads may compute the same, and agree on the first.

    >>> class Some:
    ...     @lazy
    ...     def answer(self):
    ...         return 42
    >>> Some().answer
    42
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        made: T = instance.__dict__.setdefault(self.name, self.make(instance))
        return made
