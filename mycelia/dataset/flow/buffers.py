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
KEPT = 4  # blocks of one size that wait for use


class _Store:
    """Blocks that wait, by size."""

    def __init__(self) -> None:
        self.free: defaultdict[int, deque[Array]] = defaultdict(deque)
        self.lock = threading.RLock()  # a collector may return a block while this thread takes one

    def take(self, size: int) -> Array:
        with self.lock:
            waiting = self.free.get(size)
            return waiting.popleft() if waiting else np.empty(size, np.uint8)

    def give(self, block: Array) -> None:
        with self.lock:
            waiting = self.free[block.size]
            if len(waiting) < KEPT:
                waiting.append(block)
            while sum(map(len, self.free.values())) > 4 * KEPT:
                oldest = next(size for size, blocks in self.free.items() if blocks)
                self.free[oldest].popleft()
                if not self.free[oldest]:
                    del self.free[oldest]

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


class _Desk(threading.local):
    """What this thread was offered and has not taken."""

    places: tuple[Array | None, ...] = ()


_desk = _Desk()


def offer(places: tuple[Array | None, ...]) -> None:
    """Where the columns of the next row would best be written; the operation that makes them may take the place.

    >>> a = np.zeros((2, 3)); offer((a[1],)); taken((3,), np.dtype(float)) is not None
    True
    """
    _desk.places = places


def taken(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """A place of that kind that was offered, once; None when there is none.

    >>> offer(()); taken((3,), np.dtype(float)) is None
    True
    """
    for place in _desk.places:
        if place is not None and place.shape == shape and place.dtype == dtype:
            _desk.places = ()
            return place
    return None
