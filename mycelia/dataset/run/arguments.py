"""What the arguments of steps mean: columns that nobody names, caches, workers, padding, sizes of parts."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.checks import whole
from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.caches.diskcache import DiskCache, OnDisk
from mycelia.dataset.caches.memo import Remembered
from mycelia.dataset.config import MOST_WORKERS
from mycelia.dataset.plan.batching import Padding
from mycelia.dataset.plan.nodes import Node
from mycelia.errors import ArgumentError


def arity(operation: Any) -> int:
    """How many columns an operation takes when nobody says: its own count of plain parameters, at least one."""
    if not inspect.isroutine(operation):
        return 1
    try:
        parameters = inspect.signature(operation).parameters.values()
    except (TypeError, ValueError):
        return 1
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return max(1, sum(p.kind in plain and p.default is inspect.Parameter.empty for p in parameters))


def cached(operations: tuple[Any, ...], cache: DatasetCache | DiskCache | None) -> tuple[Any, ...]:
    if cache is None:
        return operations
    return (OnDisk(operations, cache.folder) if isinstance(cache, DiskCache) else Remembered.by(operations, cache),)


def workers_of(value: int | None) -> int | None:
    """The number of workers that was asked for, if any was.

    >>> workers_of(None), workers_of(3)
    (None, 3)
    """
    return None if value is None else whole("dataset", "num_parallel_workers", value, 1, MOST_WORKERS)


def padding_of(given: Padding | None, plan: Node) -> Padding:
    padding = dict(given or {})
    plan.index_of(tuple(padding), "pad_info")
    return {k: v if isinstance(v, tuple | list) else (None, v) for k, v in padding.items()}


def parts_of(sizes: Sequence[float], total: int) -> list[int]:
    if all(isinstance(s, float) for s in sizes):
        if not np.isclose(sum(sizes), 1) or min(sizes) <= 0:
            raise ArgumentError(
                f"fractions must be positive and sum to 1, and are {list(sizes)}",
                hint="for example [0.8, 0.2]; whole numbers are numbers of rows",
            )
        counts = [round(s * total) for s in sizes]
        counts[0] += total - sum(counts)
    else:
        counts = [whole("split", "sizes", s, 1) for s in sizes]
        if sum(counts) != total:
            raise ArgumentError(f"the sizes sum to {sum(counts)}, and there are {total} rows")
    if min(counts) < 1:
        raise ArgumentError(f"a part would be empty: {total} rows make {counts}")
    return counts
