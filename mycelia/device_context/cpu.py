"""The processor as a device."""

from __future__ import annotations

from types import SimpleNamespace

from mycelia.api.context import set_context

__all__ = ["device_count", "is_available", "op_tuning", "threads_num"]


def device_count() -> int:
    """How many devices of this kind there are.

    >>> device_count()
    1
    """
    return 1


def is_available() -> bool:
    """Whether there is one.

    >>> is_available()
    True
    """
    return True


def threads_num(num: int) -> None:
    """How many threads compute: the setting `runtime_num_threads`, which says what decides that here.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     threads_num(2)
    """
    set_context(runtime_num_threads=num)


op_tuning = SimpleNamespace(threads_num=threads_num)
