"""What the process holds in memory, as the system tells it: there is no pool, so what is reserved is what is used."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.runtime.arena import Arena

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident() -> tuple[int, int]:
    """Bytes of the process that are in memory now, and at most since the start or the last `forget_peak`.

    >>> now, most = resident()
    >>> 0 < now <= most
    True
    """
    try:
        lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines() if ":" in line)
        now, most = (int(lines[name].split()[0]) << 10 for name in ("VmRSS", "VmHWM"))
    except (OSError, KeyError, ValueError) as error:
        raise ArgumentError(f"the system does not tell how much memory a process holds: {error}") from None
    return now, max(now, most)


def forget_peak() -> None:
    """Let the most begin anew with what is held now.

    >>> forget_peak()
    >>> resident()[1] > 0
    True
    """
    try:
        CLEAR.write_text("5")
    except OSError as error:
        raise ArgumentError(f"the system does not let the peak be forgotten: {error}") from None


def tensors() -> tuple[int, int]:
    """How many tensors there are, and the bytes of the arrays that they hold, each array once. It looks at every object
    of the process, which takes a while.

    >>> x = Tensor([1.0, 2.0])
    >>> tensors()[1] >= x.nbytes
    True
    """
    found = [x for x in gc.get_objects() if isinstance(x, Tensor)]
    arrays: dict[int, Any] = {}
    for x in found:
        data: Any = getattr(x, "_data", None)
        while hasattr(getattr(data, "base", None), "nbytes"):
            data = data.base  # views share what they show
        if isinstance(getattr(data, "nbytes", None), int):
            arrays[id(data)] = data
    return len(found), sum(data.nbytes for data in arrays.values())


def statistics() -> dict[str, int]:
    """All of it by name: MindSpore's names, and ours for tensors and for the memory that programs compute in.

    >>> sorted(statistics())[:3]
    ['arena_memory', 'max_allocated_memory', 'max_reserved_memory']
    """
    now, most = resident()
    count, nbytes = tensors()
    return {
        "total_reserved_memory": now,
        "total_allocated_memory": now,
        "total_idle_memory": 0,
        "max_reserved_memory": most,
        "max_allocated_memory": most,
        "tensors": count,
        "tensor_memory": nbytes,
        "arena_memory": Arena.bytes(),
    }
