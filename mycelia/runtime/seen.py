"""Arrays that come again: most inputs of a program are the same objects at each call, and are not looked at again."""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from gc import get_referents
from operator import itemgetter
from typing import Any

import numpy as np

from mycelia.types import Array

PATIENCE = 3  # changes, after which a place is expected to change each time


class Seen:
    """The arrays of the last call, by their identity, as long as they live: all are compared at once, without a loop in
    Python. Places where another array comes each time are left out of that.

    >>> import numpy as np
    >>> weight, seen = np.zeros(3), Seen(2)
    >>> for i in range(5):
    ...     arrays = (weight, np.full(2, i))
    ...     places = seen.changed(arrays)
    ...     seen.keep(arrays, places)
    ...     print(list(places))
    [0, 1]
    [1]
    [1]
    [1]
    [1]
    """

    def __init__(self, count: int) -> None:
        self._changes = [-1] * count
        self._watch = _Watch(range(count), ())

    def changed(self, arrays: tuple[Array, ...]) -> Sequence[int]:
        """The places of arrays that are other objects than those that were kept, or may be."""
        watch = self._watch  # another thread may put another one in its place
        now = watch.take(arrays) if watch.restless else arrays
        if (list(map(id, now)) if watch.few else identities(now)) == watch.known.all:
            return watch.restless
        moved = [i for i, x, known in zip(watch.places, now, watch.known.ids, strict=True) if id(x) != known]
        return sorted([*watch.restless, *moved])

    def keep(self, arrays: tuple[Array, ...], places: Sequence[int]) -> None:
        """Know the arrays at these places from now on, which have changed, and are as they should be."""
        watch = self._watch
        if places is watch.restless:
            return
        for i in places:
            self._changes[i] += 1
        if any(self._changes[i] >= PATIENCE and i in watch.position for i in places):
            known = [i for i in watch.places if self._changes[i] < PATIENCE]
            places = [i for i in known if i in places or watch.known.ids[watch.position[i]] == id(arrays[i])]
            watch = _Watch(known, tuple([i for i, n in enumerate(self._changes) if n >= PATIENCE]))
        watch.note(arrays, places)
        self._watch = watch


class _Watch:
    """Which places are compared, and what is known of them."""

    def __init__(self, places: Sequence[int], restless: tuple[int, ...]) -> None:
        self.places, self.restless = places, restless
        self.position = {i: k for k, i in enumerate(places)}
        self.take: Callable[[tuple[Array, ...]], tuple[Array, ...]] = taker(places) if restless else tuple
        self.few = len(places) <= FEW
        self.known = _Known(len(places))
        self.references: list[Any] = [None] * len(places)

    def note(self, arrays: tuple[Array, ...], places: Sequence[int]) -> None:
        """Know the arrays at these places."""
        known = self.known
        for i in places:
            if (k := self.position.get(i)) is not None:
                self.references[k] = weakref.ref(arrays[i], partial(known.gone, k))
                known.ids[k] = id(arrays[i])
        now = self.take(arrays)
        known.all = identities(now) if list(map(id, now)) == known.ids else None


class _Known:
    """The identities of arrays. References to those tell it when one goes, and it has none to them: so what is not used
    any more goes at once, and is nothing that has to be collected.
    """

    __slots__ = ("all", "ids")

    def __init__(self, count: int) -> None:
        self.ids = [0] * count
        self.all: bytes | list[int] | None = None  # as they are compared, while all arrays live

    def gone(self, k: int, _: object) -> None:
        """An array goes, and its identity may soon be another one's."""
        self.ids[k], self.all = 0, None


FEW = 8  # things whose identities Python lists as quickly as they can be copied
_ITEMS = tuple.__basicsize__  # where a tuple refers to its elements: behind the object's head
_WORD = ctypes.sizeof(ctypes.c_void_p)
_PROBE = object(), object()
_raw = getattr(ctypes, "_string_at", ctypes.string_at)  # without a function of Python around it
_DIRECT = _raw(id(_PROBE) + _ITEMS, 2 * _WORD) == b"".join(id(x).to_bytes(_WORD, sys.byteorder) for x in _PROBE)


def identities(things: tuple[Any, ...]) -> bytes | list[int]:
    """The identities of things, in a form that is compared quickly.

    >>> x, y = object(), object()
    >>> identities((x, y)) == identities((x, y)), identities((x, y)) == identities((y, x))
    (True, False)
    """
    count = len(things)
    return _raw(id(things) + _ITEMS, count * _WORD) if count > FEW and _DIRECT else list(map(id, things))


_TYPE = object.__basicsize__ - _WORD  # where an object refers to its class: at the end of its head
_TELLS = all(_raw(id(x) + _TYPE, _WORD) == id(type(x)).to_bytes(_WORD, sys.byteorder) for x in (1, "a", _PROBE, Seen))


class Classes:
    """Whether objects, which whoever asks must hold, are of these classes: all are read at once, from memory.

    >>> class Box: pass
    >>> class Crate(Box): pass
    >>> boxes = [Box() for _ in range(3)]
    >>> classes = Classes(boxes, [Box] * 3)
    >>> same = classes()
    >>> boxes[1].__class__ = Crate
    >>> same, classes()
    (True, False)
    """

    tells = _TELLS  # whether this Python keeps a class where we look for it

    def __init__(self, things: Sequence[Any], classes: Sequence[type]) -> None:
        addresses = np.array([id(x) + _TYPE for x in things], np.uint64)
        first = int(addresses.min())
        words = (int(addresses.max()) - first) // _WORD + 1
        memory: Any = (ctypes.c_size_t * words).from_address(first)
        self._memory = np.frombuffer(memory, np.uintp)
        self._places = ((addresses - np.uint64(first)) // np.uint64(_WORD)).astype(np.intp)
        self._known = np.array([id(c) for c in classes], np.uintp).tobytes()

    def __call__(self) -> bool:
        return self._memory[self._places].tobytes() == self._known


_VERSION = object.__basicsize__ + _WORD  # where a dictionary keeps it: behind its head and the number of its items


def version(of: dict[Any, Any]) -> bytes | None:
    """What is another one after each change of a dictionary; None where Python does not tell.

    >>> about = {"a": 1}
    >>> before = version(about)
    >>> about["a"] = 2
    >>> before is None or before != version(about)
    True
    """
    return _raw(id(of) + _VERSION, 8) if _VERSIONS else None


def _has_versions() -> bool:
    """Whether a dictionary, here that of a class, keeps a version where we look for it."""
    probe = type("Probe", (), {})
    (of,) = get_referents(vars(probe))
    found: list[bytes] = []
    for name, held in (("a", 1), ("a", True), ("b", 1), ("a", None)):
        setattr(probe, name, held)
        now = _raw(id(of) + _VERSION, 8)
        if now in found or now != _raw(id(of) + _VERSION, 8):
            return False
        found.append(now)
    return True


_VERSIONS = _has_versions()


def taker(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function that gives the elements of a tuple at these places.

    >>> taker([2, 0])((5, 6, 7)), taker([1])((5, 6, 7)), taker([])((5, 6, 7))
    ((7, 5), (6,), ())
    """
    if len(places) > 1:
        return itemgetter(*places)
    if places:
        (only,) = places
        return lambda things: (things[only],)
    return lambda things: ()
