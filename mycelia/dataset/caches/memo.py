"""Cached maps: what operations made of a row is kept, and found again by the content of the row."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from mycelia.dataset import random
from mycelia.dataset.arrays import as_value
from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.flow.request import Row
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

_numbers = count()


@dataclass
class Remembered:
    """Operations whose results a cache keeps. They must not be random: a row would look the same in every epoch.

    >>> cache = DatasetCache(session_id=1)
    >>> double = Remembered.by([lambda x: x * 2], cache)
    >>> double(np.array(3)), double(np.array(3)), cache.get_stat().hits
    ((array(6),), (array(6),), 1)
    """

    operations: Sequence[Callable[..., Any]]
    session_id: int
    size: int
    spilling: bool = False
    cache: DatasetCache = field(init=False, repr=False)
    number: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.cache, self.number = DatasetCache(self.session_id, self.size, self.spilling), next(_numbers)

    @staticmethod
    def by(operations: Sequence[Callable[..., Any]], cache: DatasetCache) -> Remembered:
        """Operations whose results that cache keeps, beside what else it holds."""
        if not isinstance(cache, DatasetCache):
            raise ArgumentError(f"cache must be a DatasetCache, and is {type(cache).__name__}")
        made = Remembered(tuple(operations), cache.session_id, cache.size, cache.spilling)
        made.cache = cache
        return made

    @property
    def __name__(self) -> str:
        return "cached " + ", ".join(getattr(o, "__name__", type(o).__name__) for o in self.operations)

    def __call__(self, *columns: Any) -> Row:
        return self.cache.row("map", self._key(columns), Made(self.operations, columns))

    def _key(self, columns: tuple[Any, ...]) -> int:
        content = hashlib.blake2b(str(self.number).encode(), digest_size=16)
        for value in columns:
            if isinstance(value, np.ndarray) and not value.dtype.hasobject:
                content.update(f"{value.dtype.str}{value.shape}".encode())
                content.update(value.tobytes())
            else:
                content.update(pickle.dumps(value))
        return int.from_bytes(content.digest(), "big")


@frozen
class Made:
    """The one row that operations make of columns."""

    operations: Sequence[Callable[..., Any]]
    columns: tuple[Any, ...]

    def fetch(self, index: int) -> Row:
        values = self.columns
        for operation in self.operations:
            place = random.Key(0, 0, 0, 0)
            random.enter(place)
            made = operation(*values)
            if place.generator is not None:
                name = getattr(operation, "__name__", type(operation).__name__)
                raise ArgumentError(
                    f"a cached map must not be random, and {name} drew a random number",
                    hint="put random operations into a map of their own, after the cached one",
                )
            values = made if isinstance(made, tuple) else (made,)
        return tuple(map(as_value, values))
