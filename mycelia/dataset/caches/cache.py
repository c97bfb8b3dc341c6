"""Caches: rows kept after they were read once, in memory up to a size, and beyond it in a temporary file."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import weakref
from collections.abc import Hashable
from itertools import count
from typing import Any, Protocol

from mycelia.checks import text, truth, whole
from mycelia.dataset.flow.request import Row
from mycelia.dataset.flow.rowbytes import bytes_of, row_of
from mycelia.dataset.plan.origins import Data, copied
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array

MEGABYTE = 1 << 20
log = logging.getLogger("mycelia.dataset")
_numbers = count()


class Fetched(Protocol):
    """Whatever makes a row when the cache has none."""

    def fetch(self, index: int) -> Row: ...


@frozen
class CacheStat:
    """How full a cache is, and how often it helped.

    >>> CacheStat(num_mem_cached=2, num_disk_cached=1, bytes=30, hits=0, misses=3).avg_cache_sz
    10
    """

    num_mem_cached: int
    num_disk_cached: int
    bytes: int
    hits: int
    misses: int

    @property
    def avg_cache_sz(self) -> int:
        """The bytes of an average row."""
        return self.bytes // max(1, self.num_mem_cached + self.num_disk_cached)


class DatasetCache:
    """Room for rows of one source; `size` in megabytes, 0 for no limit.

    Rows beyond it are read again every time or, with `spilling`, kept in a temporary file that goes with the cache.
    Worker processes have a cache each; threads share one. There is no cache server: the cache lives in the process that
    reads, so `hostname`, `port`, `num_connections` and `prefetch_size` are checked, kept, and change nothing.

    >>> cache = DatasetCache(session_id=1, size=1, spilling=True)
    >>> cache.get_stat()
    CacheStat(num_mem_cached=0, num_disk_cached=0, bytes=0, hits=0, misses=0)
    """

    def __init__(
        self,
        session_id: int,
        size: int = 0,
        spilling: bool = False,
        hostname: str | None = None,
        port: int | None = None,
        num_connections: int | None = None,
        prefetch_size: int | None = None,
    ) -> None:
        self.session_id = whole(self, "session_id", session_id, 1, 2**32 - 1)
        self.size = whole(self, "size", size, 0, 2**64 - 1)
        self.spilling = truth(self, "spilling", spilling)
        self.hostname = None if hostname is None else text(self, "hostname", hostname)
        self.port = None if port is None else whole(self, "port", port, 1025, 65535)
        self.num_connections = None if num_connections is None else whole(self, "num_connections", num_connections, 1)
        self.prefetch_size = None if prefetch_size is None else whole(self, "prefetch_size", prefetch_size, 1)
        self.rows: dict[Hashable, Row] = {}
        self.bytes = self.hits = self.misses = 0
        self.lock = threading.Lock()
        self.spilled = _Spilled()

    def __reduce__(self) -> tuple[Any, ...]:
        server = (self.hostname, self.port, self.num_connections, self.prefetch_size)
        return DatasetCache, (self.session_id, self.size, self.spilling, *server)

    def row(self, owner: Hashable, index: int, data: Fetched) -> Row:
        """A row of one's own, from the cache when it is there; `owner` tells sources apart that share a cache."""
        key = owner, index
        found = self.rows.get(key)
        if found is not None:
            self.hits += 1
            return tuple(map(copied, found))  # later steps may write into what they are given
        spilled = self.spilled.get(key)
        if spilled is not None:
            self.hits += 1
            return spilled
        row = data.fetch(index)
        weight = sum(getattr(v, "nbytes", 64) for v in row)
        with self.lock:
            self.misses += 1
            if key in self.rows or self.spilled.holds(key):
                pass  # another thread was faster
            elif not self.size or self.bytes + weight <= self.size * MEGABYTE:
                self.rows[key] = tuple(map(copied, row))
                self.bytes += weight
            elif self.spilling:
                self.spilled.put(key, row)
        return row

    def get_stat(self) -> CacheStat:
        """How full the cache is, and how often it helped.

        >>> DatasetCache(1).get_stat().hits
        0
        """
        spilled = self.spilled
        held = self.bytes + spilled.bytes
        return CacheStat(len(self.rows), len(spilled.places), held, self.hits, self.misses)


class _Spilled:
    """Rows in a temporary file without a name, which ends with this object."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: as a forked process does, which must not write into the file of its parent."""
        self.places: dict[Hashable, tuple[int, int]] = {}
        self.bytes = 0
        self.file: Any = None
        self.full = False
        self.owner = os.getpid()

    def holds(self, key: Hashable) -> bool:
        """Whether this process put the row here."""
        return key in self.places and self.owner == os.getpid()

    def get(self, key: Hashable) -> Row | None:
        """A row, when it is there; threads may ask at once."""
        if not self.holds(key):
            return None
        start, size = self.places[key]
        return row_of(memoryview(os.pread(self.file.fileno(), size, start)))

    def put(self, key: Hashable, row: Row) -> None:
        """Keep a row. When the disk is full no more rows are kept, and those that are not are read again."""
        if self.owner != os.getpid():
            self.forget()
        if self.full:
            return
        try:
            content = bytes_of(row)
        except ArgumentError:
            return  # it holds more than arrays and texts, and is read again
        try:
            if self.file is None:
                self.file = tempfile.TemporaryFile(prefix="mycelia-cache-", buffering=0)  # noqa: SIM115 - see finalize
                weakref.finalize(self, self.file.close)
            if os.pwrite(self.file.fileno(), content, self.bytes) < len(content):
                raise OSError("no space is left for the whole row")
        except OSError as error:
            self.full = True
            log.warning("a cache spills no more rows after %d bytes: %s", self.bytes, error)
            return
        self.places[key] = self.bytes, len(content)
        self.bytes += len(content)


class CachedData:
    """Rows of a source that come from a cache when they can."""

    def __init__(self, data: Data, cache: DatasetCache) -> None:
        self.data, self.cache, self.number = data, cache, next(_numbers)
        self.class_indexing = getattr(data, "class_indexing", {})

    @property
    def columns(self) -> tuple[str, ...]:
        return self.data.columns

    def __len__(self) -> int:
        return len(self.data)

    def fetch(self, index: int) -> Row:
        return self.cache.row(self.number, index, self.data)

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        return self.data.where(index)

    def labels(self, column: str) -> Array:
        return self.data.labels(column)
