"""Streams and events of a device that has done a call when it returns; and settings of how MindSpore runs.

A processor computes in order: whatever was asked of one stream is done before another is asked. So streams are names,
synchronizing waits for nothing, and an event is a moment.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from mycelia import checks
from mycelia.errors import ArgumentError, CallError

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "dispatch_threads_num",
    "empty_cache",
    "launch_blocking",
    "set_cpu_affinity",
    "set_cur_stream",
    "set_memory",
    "synchronize",
]


class Stream:
    """A stream of work, which is done in the order in which it is asked for.

    >>> Stream().query()
    True
    """

    _count = 0

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        checks.choice("Stream", "priority", priority, (0, -1))
        number = kwargs.pop("stream_id", None)
        if kwargs:
            raise CallError(f"Stream has no argument {next(iter(kwargs))}", hint="leave it out")
        if number is None:
            Stream._count += 1
            number = Stream._count
        self.id, self.priority, self.device_name, self.device_id = number, priority, "CPU", 0

    def query(self) -> bool:
        """Whether all that was asked for is done: it is.

        >>> default_stream().query()
        True
        """
        return True

    def synchronize(self) -> None:
        """Wait for what was asked for, which is done.

        >>> default_stream().synchronize()
        """

    def wait_event(self, event: Event) -> None:
        """Let what follows wait for an event, which has been.

        >>> default_stream().wait_event(Event())
        """
        _is(Event, "wait_event", event)

    def wait_stream(self, stream: Stream) -> None:
        """Let what follows wait for another stream, which has done all.

        >>> default_stream().wait_stream(Stream())
        """
        _is(Stream, "wait_stream", stream)

    def record_event(self, event: Event | None = None) -> Event:
        """An event that has been, now.

        >>> default_stream().record_event().query()
        True
        """
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


class Event:
    """A moment of a stream.

    >>> begin, end = Event(enable_timing=True), Event(enable_timing=True)
    >>> begin.record()
    >>> end.record()
    >>> begin.elapsed_time(end) >= 0
    True
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self.enable_timing = checks.truth("Event", "enable_timing", enable_timing)
        self.blocking = checks.truth("Event", "blocking", blocking)
        self._at: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Let this be the moment.

        >>> Event().record()
        """
        if stream is not None:
            _is(Stream, "record", stream)
        self._at = time.perf_counter()

    def query(self) -> bool:
        """Whether it has been: what it would wait for is done.

        >>> Event().query()
        True
        """
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Let what follows on a stream wait for it, which has been.

        >>> Event().wait()
        """
        if stream is not None:
            _is(Stream, "wait", stream)

    def synchronize(self) -> None:
        """Wait for it, which has been.

        >>> Event().synchronize()
        """

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this moment to another.

        >>> e = Event(enable_timing=True)
        >>> e.record()
        >>> e.elapsed_time(e)
        0.0
        """
        _is(Event, "elapsed_time", end_event)
        if not self.enable_timing or not end_event.enable_timing:
            raise ArgumentError("time is told between events that keep it", hint="Event(enable_timing=True)")
        if self._at is None or end_event._at is None:
            raise ArgumentError("an event has not been recorded", hint="call event.record() first")
        return (end_event._at - self._at) * 1000


class StreamCtx:
    """What happens inside `with` is asked of a stream.

    >>> s = Stream()
    >>> with StreamCtx(s):
    ...     current_stream() == s
    True
    """

    def __init__(self, ctx_stream: Stream | None) -> None:
        if ctx_stream is not None:
            _is(Stream, "StreamCtx", ctx_stream)
        self.stream, self._before = ctx_stream, current_stream()

    def __enter__(self) -> None:
        self._before = current_stream()
        if self.stream is not None:
            set_cur_stream(self.stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_cur_stream(self._before)


_first = Stream(stream_id=0)
_current = _first


def default_stream() -> Stream:
    """The stream that work is asked of at first.

    >>> default_stream() == current_stream()
    True
    """
    return _first


def communication_stream() -> Stream:
    """The stream that groups of processes use: that which all use.

    >>> communication_stream()
    Stream(device_name=CPU, device_id:0, stream id:0)
    """
    return _first


def current_stream() -> Stream:
    """The stream that work is asked of now.

    >>> current_stream().id
    0
    """
    return _current


def set_cur_stream(stream: Stream) -> None:
    """Ask work of a stream from now on.

    >>> set_cur_stream(default_stream())
    """
    global _current
    _is(Stream, "set_cur_stream", stream)
    _current = stream


def synchronize() -> None:
    """Wait for all that was asked for, which is done.

    >>> synchronize()
    """


def empty_cache() -> None:
    """Give back memory that is held and not used: none is.

    >>> empty_cache()
    """


def launch_blocking() -> None:
    """Let each call be done when it returns, as it is always.

    >>> launch_blocking()
    """


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Sizes of a pool of memory. There is none here, which it says.

    >>> set_memory()
    """
    given = locals().items()
    usual = {"init_size": "2GB", "increase_size": "2GB", "max_size": "1024GB", "optimize_level": "O0"}
    for name, value in given:
        if value != usual.get(name, "0GB"):
            _says(name, checks.text("set_memory", name, value), "memory is asked of the system when it is needed")


def dispatch_threads_num(threads_num: int) -> None:
    """How many threads hand out work. None are needed here, which it says.

    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     dispatch_threads_num(4)
    >>> len(told)
    1
    """
    checks.whole("dispatch_threads_num", "threads_num", threads_num, least=1)
    _says("threads_num", threads_num, "OMP_NUM_THREADS says how many threads compute")


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: Sequence[str] | None = None,
    module_to_cpu_dict: dict[str, Any] | None = None,
    bind_file: str | None = None,
) -> None:
    """Let this process compute on some processors only, given as ranges such as "0-3"; or on all that there are.

    >>> set_cpu_affinity(False)
    """
    checks.truth("set_cpu_affinity", "enable_affinity", enable_affinity)
    checks.only("set_cpu_affinity", "module_to_cpu_dict", module_to_cpu_dict, None, "threads are not told apart")
    checks.only("set_cpu_affinity", "bind_file", bind_file, None, "give affinity_cpu_list")
    if not enable_affinity:
        return
    if isinstance(affinity_cpu_list, dict):
        raise CallError("affinity_cpu_list is a list of ranges: there is one device", hint='for example ["0-3"]')
    chosen: set[int] = set()
    for part in affinity_cpu_list or ():
        low, _, high = checks.text("set_cpu_affinity", "affinity_cpu_list", part).partition("-")
        if not low.isdigit() or not (high or low).isdigit():
            raise ArgumentError(f"processors are given as '0-3' or '2', not {part!r}")
        chosen |= set(range(int(low), int(high or low) + 1))
    try:
        os.sched_setaffinity(0, chosen or os.sched_getaffinity(0))
    except OSError as error:
        raise ArgumentError(f"this process cannot be bound to processors {sorted(chosen)}: {error}") from None


def _says(name: str, value: Any, why: str) -> None:
    warnings.warn(f"{name}={value!r} has no effect: {why}", UserWarning, stacklevel=3)


def _is(kind: type, owner: str, value: Any) -> None:
    if not isinstance(value, kind):
        raise CallError(f"{owner} takes a {kind.__name__}, not {value!r}")
