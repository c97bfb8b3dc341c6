"""Interning (hash consing): equal things are one object, for as long as somebody holds it, whichever thread asks."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Generic, TypeVar
from weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]  # as weakref itself forgets

Thing = TypeVar("Thing")


class _Kept(ref[Thing]):
    """A thing that somebody else holds, and its key."""

    __slots__ = ("key",)

    key: Hashable


class Interned(Generic[Thing]):
    """What there is, by a key that says all about it. Two threads that make the same thing at once get one of the two.

    >>> class Name:
    ...     pass
    >>> names = Interned[Name]()
    >>> first = names.keep("a", Name())
    >>> names.keep("a", Name()) is first, names.get("a") is first, names.get("b")
    (True, True, None)
    """

    __slots__ = ("_forget", "_known", "_lock")

    def __init__(self) -> None:
        self._known: dict[Hashable, _Kept[Thing]] = {}
        self._lock = threading.RLock()  # a collection may run in between, and what it frees may come here

        def forget(kept: Any, known: Any = self._known) -> None:
            _remove_dead_weakref(known, kept.key)  # unless something else is there by now; nobody comes in between

        self._forget = forget

    def get(self, key: Hashable) -> Thing | None:
        """What there is under the key."""
        found = self._known.get(key)
        return None if found is None else found()

    def keep(self, key: Hashable, made: Thing) -> Thing:
        """What there is under the key already, else `made`."""
        kept = _Kept(made, self._forget)
        kept.key = key
        with self._lock:
            found = self._known.setdefault(key, kept)
            if found is not kept:
                there = found()
                if there is not None:
                    return there
                self._known[key] = kept
        return made
