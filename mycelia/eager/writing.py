"""Arrays that a program is writing in place now. Whoever reads one waits until it has been written, and no longer.

A program may write into the memory of a tensor only if nobody else holds that memory; it asks how often the array is
referred to. The order makes this safe. The writer enters the array here, then counts, then writes. A reader refers to
the array first, then looks here. If the reader was first, the writer counts it, and writes elsewhere; if the writer was
first, the reader finds the array here, waits, and holds it meanwhile, so that the next writer writes elsewhere.
"""

from __future__ import annotations

import threading
from typing import Any

from mycelia.threads.hurry import hurry

writing: dict[int, threading.RLock] = {}  # by the identity of an array: held until it has been written


def written(data: Any) -> Any:
    """The array, when nobody writes into it."""
    lock = writing.get(id(data))
    if lock is not None:
        with hurry, lock:
            pass
    return data
