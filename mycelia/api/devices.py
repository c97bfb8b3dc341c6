"""The device of a session: which back end runs compiled programs."""

from __future__ import annotations

from typing import NamedTuple

from mycelia.backends import NATIVE, Backend, usable
from mycelia.names import listening


class Device(NamedTuple):
    """A device: its kind, and which of them.

    >>> str(Device("CPU", 0))
    'CPU:0'
    """

    device_target: str
    device_id: int

    def __str__(self) -> str:
        return f"{self.device_target}:{self.device_id}"


_current: Backend = usable(NATIVE)


@listening
def set_device(device_target: str, device_id: int | None = None) -> None:
    """Run compiled programs on this device from now on. Eager mode computes on the processor always.

    >>> set_device("CPU")
    >>> set_device("Ascend")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: device_target cannot be 'Ascend': Mycelia has no back end for it
    ...
    """
    global _current
    _current = usable(device_target, device_id or 0)


def get_current_device() -> Device:
    """The device that compiled programs run on.

    >>> get_current_device()
    Device(device_target='CPU', device_id=0)
    """
    return Device(_current.name, 0)


def use(backend: Backend) -> None:
    """Run compiled programs by this back end from now on."""
    global _current
    _current = backend


def current() -> Backend:
    """The back end of the session."""
    return _current
