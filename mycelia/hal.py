"""What devices there are."""

from __future__ import annotations

from mycelia.api.devices import get_current_device
from mycelia.backends import backend, backends, known, usable

__all__ = ["device_count", "devices", "get_device_name", "is_available", "is_initialized"]


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
