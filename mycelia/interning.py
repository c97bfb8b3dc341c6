"""Interning (hash consing): equal things are one object, for as long as somebody holds it, whichever thread asks."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Thing = TypeVar("Thing")


class Interned(Generic[Thing]):
    """What there is, by a key that says all about it. Two threads that make the same thing at once get one of the two.

    >>> class Name:
    ...     pass
    >>> names = Interned[Name]()
    >>> first = names.keep("a", Name())
    >>> names.keep("a", Name()) is first, names.get("a") is first, names.get("b")
    (True, True, None)
    """

    __slots__ = ("_known", "_lock", "get")

    def __init__(self) -> None:
        self._known: WeakValueDictionary[Hashable, Thing] = WeakValueDictionary()
        self._lock = threading.RLock()  # a collection may run in between, and what it frees may come here
        self.get = self._known.get

    def keep(self, key: Hashable, made: Thing) -> Thing:
        """What there is under the key already, else `made`."""
        with self._lock:
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = made
            return found
