"""Room for batches: large arrays whose memory is used again once nobody refers to it.

Fresh memory of tens of megabytes costs a page fault for every 4 KB; a batch that takes the place of one that was let go
costs none.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import defaultdict, deque
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from mycelia.types import Array

SMALL = 1 << 18  # below this the allocator is quick
KEPT = 4  # blocks of one size that wait for use, and more of them while they are small
LIGHT = 1 << 25  # bytes of such blocks


class _Store:
    """Blocks that wait, by size."""

    def __init__(self) -> None:
        self.free: defaultdict[int, deque[Array]] = defaultdict(deque)
        self.lock = threading.RLock()  # a collector may return a block while this thread takes one

    def take(self, size: int) -> Array:
        with self.lock:
            waiting = self.free.get(size)
            return waiting.pop() if waiting else np.empty(size, np.uint8)  # the newest may be in the cache

    def give(self, block: Array) -> None:
        with self.lock:
            waiting = self.free[block.size]
            if len(waiting) < KEPT or (len(waiting) + 1) * block.size <= LIGHT:
                waiting.append(block)
            while sum(map(len, self.free.values())) > 4 * KEPT and self._waiting() > 2 * LIGHT:
                oldest = next(size for size, blocks in self.free.items() if blocks)
                self.free[oldest].popleft()
                if not self.free[oldest]:
                    del self.free[oldest]

    def _waiting(self) -> int:
        return sum(size * len(blocks) for size, blocks in self.free.items())

    def forget(self) -> None:
        """Begin anew in a forked process, where a thread that was not copied may have held the lock."""
        self.free.clear()
        self.lock = threading.RLock()


_store = _Store()
os.register_at_fork(after_in_child=_store.forget)


def room(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array of that shape, its contents undefined; its memory comes back when the last view of it is gone.

    >>> room((2, 3), np.dtype("float32")).shape
    (2, 3)
    """
    size = prod(shape) * dtype.itemsize
    if size < SMALL or dtype.hasobject:
        return np.empty(shape, dtype)
    block = _store.take(size)
    # a second owner: views of it refer to it and not to the block, so its end means that all of them are gone
    owner = np.frombuffer(block.data, np.uint8)
    weakref.finalize(owner, _store.give, block).atexit = False
    return owner.view(dtype).reshape(shape)


class Places:
    """Where the columns of the next row of a batch may be written: asked column by column, by the step that makes it.

    >>> whole = np.zeros((2, 3)); places = Places(); places.stand((whole[1],))
    >>> places.of(0).shape, places.of(1) is None
    ((3,), True)
    """

    def __init__(self) -> None:
        self.ready: tuple[Array | None, ...] = ()

    def stand(self, ready: tuple[Array | None, ...]) -> None:
        """The places of the next row, one for each of its columns; None where there is none.

        >>> places = Places(); places.stand((None,)); places.of(0) is None
        True
        """
        self.ready = ready

    def of(self, column: int) -> Array | None:
        """The place of one column of the next row.

        >>> Places().of(0) is None
        True
        """
        return self.ready[column] if column < len(self.ready) else None


class Selected(Places):
    """The places of some columns of rows that have more.

    >>> whole = np.zeros((2, 3)); places = Places(); places.stand((whole[1],)); below = Selected(places, (4,))
    >>> below.of(4) is places.of(0), below.of(0) is None
    (True, True)
    """

    def __init__(self, above: Places, columns: tuple[int, ...]) -> None:
        super().__init__()
        self.above, self.columns = above, columns

    def of(self, column: int) -> Array | None:
        """The place that a column has above, if it goes there."""
        return self.above.of(self.columns.index(column)) if self.columns.count(column) == 1 else None
