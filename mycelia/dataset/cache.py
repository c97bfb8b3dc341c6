"""Caches: rows kept in memory after they were read once, up to a size."""

from __future__ import annotations

import threading
from typing import Any

from mycelia.dataset.flow.request import Row
from mycelia.dataset.plan import Data
from mycelia.errors import ArgumentError
from mycelia.types import Array

MEGABYTE = 1 << 20


class DatasetCache:
    """Room for rows of one source; `size` in megabytes, 0 for no limit. Rows beyond it are read again every time.

    Worker processes have a cache each; threads share one.

    >>> cache = DatasetCache(session_id=1, size=1)
    >>> cache.get_stat()
    {'num_rows': 0, 'bytes': 0, 'hits': 0, 'misses': 0}
    """

    def __init__(self, session_id: int, size: int = 0) -> None:
        if session_id < 0 or size < 0:
            raise ArgumentError(f"session_id and size must not be negative; they are {session_id} and {size}")
        self.session_id, self.size = session_id, size
        self.rows: dict[int, Row] = {}
        self.bytes = self.hits = self.misses = 0
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return DatasetCache, (self.session_id, self.size)

    def row(self, index: int, data: Data) -> Row:
        """A row, from memory when it is there."""
        found = self.rows.get(index)
        if found is not None:
            self.hits += 1
            return found
        row = data.fetch(index)
        weight = sum(getattr(v, "nbytes", 64) for v in row)
        with self.lock:
            self.misses += 1
            if index not in self.rows and (not self.size or self.bytes + weight <= self.size * MEGABYTE):
                self.rows[index] = row
                self.bytes += weight
        return row

    def get_stat(self) -> dict[str, int]:
        """How full the cache is, and how often it helped.

        >>> DatasetCache(1).get_stat()["hits"]
        0
        """
        return {"num_rows": len(self.rows), "bytes": self.bytes, "hits": self.hits, "misses": self.misses}


class CachedData:
    """Rows of a source that come from a cache when they can."""

    def __init__(self, data: Data, cache: DatasetCache) -> None:
        self.data, self.cache = data, cache
        self.class_indexing = getattr(data, "class_indexing", {})

    @property
    def columns(self) -> tuple[str, ...]:
        return self.data.columns

    def __len__(self) -> int:
        return len(self.data)

    def fetch(self, index: int) -> Row:
        return self.cache.row(index, self.data)

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        return self.data.where(index)

    def labels(self, column: str) -> Array:
        return self.data.labels(column)
