"""What devices there are, and what memory is in use."""

from __future__ import annotations

from typing import Any

from mycelia import checks
from mycelia.api.devices import get_current_device
from mycelia.api.memory import forget_peak, resident, statistics
from mycelia.backends import backend, backends, known, usable
from mycelia.names import missing_in
from mycelia.streams import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    empty_cache,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "device_count",
    "devices",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_cur_stream",
    "synchronize",
]


def devices() -> list[str]:
    """All devices that programs can run on here.

    >>> devices()[0]
    'CPU:0'
    """
    return [f"{b.name}:{i}" for b in backends().values() for i in range(len(b.devices()))]


def is_available(device_target: str) -> bool:
    """Whether there is a device of this kind that can be used.

    >>> is_available("CPU"), is_available("GPU")
    (True, False)
    """
    return device_target in known() and bool(backend(device_target).devices())


def is_initialized(device_target: str) -> bool:
    """Whether a device of this kind is ready: all that are available are.

    >>> is_initialized("CPU")
    True
    """
    return is_available(device_target)


def device_count(device_target: str | None = None) -> int:
    """How many devices of this kind there are; of the current kind, if none is named.

    >>> device_count(), device_count("Ascend")
    (1, 0)
    """
    name = get_current_device().device_target if device_target is None else device_target
    return len(backend(name).devices()) if is_available(name) else 0


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """What a device calls itself.

    >>> get_device_name(0)
    'CPU'
    """
    return usable(device_target or get_current_device().device_target, device_id).devices()[device_id]


def get_arch_list(device_target: str | None = None) -> list[str] | None:
    """The architectures of a GPU that programs are made for; None for a processor.

    >>> get_arch_list() is None
    True
    """
    _only_processor("get_arch_list", device_target)
    return None


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """What a GPU is capable of, in two numbers; None for a processor.

    >>> get_device_capability(0) is None
    True
    """
    usable(device_target or get_current_device().device_target, device_id)
    _only_processor("get_device_capability", device_target)
    return None


def get_device_properties(device_id: int, device_target: str | None = None) -> Any:
    """What a GPU or Ascend device tells of itself; None for a processor.

    >>> get_device_properties(0) is None
    True
    """
    usable(device_target or get_current_device().device_target, device_id)
    _only_processor("get_device_properties", device_target)
    return None


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """What the process holds in memory: bytes by name, with how many tensors there are and what they hold.

    >>> stats = memory_stats()
    >>> 0 < stats["total_allocated_memory"] <= stats["max_allocated_memory"]
    True
    """
    _only_processor("memory_stats", device_target)
    return statistics()


def memory_allocated(device_target: str | None = None) -> int:
    """Bytes of the process that are in memory.

    >>> memory_allocated() > 0
    True
    """
    _only_processor("memory_allocated", device_target)
    return resident()[0]


def max_memory_allocated(device_target: str | None = None) -> int:
    """The most of these since the start, or since it was reset.

    >>> max_memory_allocated() >= memory_allocated() - 2**24
    True
    """
    _only_processor("max_memory_allocated", device_target)
    return resident()[1]


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """Let the most begin anew.

    >>> reset_max_memory_allocated()
    >>> max_memory_allocated() > 0
    True
    """
    _only_processor("reset_max_memory_allocated", device_target)
    forget_peak()


def memory_summary(device_target: str | None = None) -> str:
    """The same for people.

    >>> print(memory_summary().splitlines()[0])
    memory of this process
    """
    _only_processor("memory_summary", device_target)
    told = statistics()
    lines = [f"  {name:24} {number / 2**20:10.1f} MiB" for name, number in told.items() if name != "tensors"]
    return "\n".join(["memory of this process", *lines, f"  {'tensors':24} {told['tensors']:10}"])


memory_reserved = memory_allocated  # memory is asked of the system when it is needed: nothing is held back
max_memory_reserved = max_memory_allocated
reset_max_memory_reserved = reset_peak_memory_stats = reset_max_memory_allocated


def _only_processor(owner: str, device_target: str | None) -> None:
    """Complain about a device that is not there."""
    if device_target is not None:
        checks.only(owner, "device_target", device_target, "CPU", "there is the processor")


__getattr__ = missing_in("mycelia.hal")
