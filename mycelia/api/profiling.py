"""Measuring: how long each kernel and each line of the user takes, what it moves, what share of the peak that is."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter_ns, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from mycelia import spans
from mycelia.api import devices
from mycelia.api.options import options
from mycelia.backends import NATIVE
from mycelia.backends.clocked import ClockedBackend
from mycelia.errors import ArgumentError, Location
from mycelia.frozen import frozen
from mycelia.sizes import hint
from mycelia.spans import TimedSpan
from mycelia.types import TensorType

if TYPE_CHECKING:
    from mycelia.runtime.clocked import AboutProgram, AboutStep, ClockedCall

ROUNDS, ENOUGH = 10, 10**9  # calls of a function that is measured, and nanoseconds after which two will do
SHOWN = 30  # steps in a table
ALONE = "(no line)"  # what no line asked for: copies, sums of gradients


@frozen
class StepTime:
    """What one step of a program took, over all calls. `share` is that of the machine's peak: of its multiplications
    for library calls, of its memory's bandwidth for others (more than 1 came out of a cache).
    """

    program: str
    name: str
    kind: str
    lines: tuple[str, ...]
    runs: int
    seconds: float
    products: int  # of one run
    nbytes: int  # of one run
    share: float
    outermost: bool

    @property
    def of_peak(self) -> str:
        """The share in words: what moved faster than memory can came out of a cache."""
        return "cached" if self.share > 1 and not self.products else f"{self.share:.1%}"


@frozen
class LineTime:
    """What one line of the user took, over all calls: its part of every kernel that computes something for it."""

    line: str
    seconds: float
    share: float  # of all


@frozen
class MachinePeak:
    """What the machine can do at best: multiplications with additions, and bytes from and to memory, a second."""

    products: float
    bandwidth: float


@cache
def bandwidth() -> float:
    """Bytes a second that a copy of a large array reads and writes, the best of three; measured once."""
    source = np.ones(4 << 20, np.float64)
    target = np.zeros_like(source)
    best = min(_timed(lambda: np.copyto(target, source)) for _ in range(3))
    return 2 * source.nbytes / best


def _timed(what: Any) -> float:
    begin = perf_counter_ns()
    what()
    return (perf_counter_ns() - begin) / 1e9


@dataclass
class ProfileRecording:
    """What was heard while somebody measured."""

    calls: list[ClockedCall] = field(default_factory=list)
    spans: list[TimedSpan] = field(default_factory=list)
    begin: int = field(default_factory=perf_counter_ns)
    end: int = 0
    threads: list[int] = field(default_factory=list)  # of the calls
    before: list[ClockedCall] = field(default_factory=list)  # calls that do not count: something was compiled

    def heard(self, call: ClockedCall) -> None:
        """Note a call of a program, until the recording is over."""
        if not self.end:
            self.calls.append(call)
            self.threads.append(threading.get_ident())

    def cycle(self) -> float:
        """Nanoseconds of a cycle of the processor's clock: by calls far from one another, else by one."""
        known = [c for c in (*self.before, *self.calls) if len(c.clock) and c.clock[0][0]]
        pairs = zip(known, known[len(known) // 2 :] if len(known) > 1 else (), strict=False)
        far = [(b.begin - a.begin, int(b.clock[0][0] - a.clock[0][0])) for a, b in pairs]
        found = sorted(time / cycles for time, cycles in far if time > 10**6)
        if found:
            return found[len(found) // 2]  # of a call that was interrupted just then it would be another
        return known[-1].cycle if known else 0.0


@contextmanager
def recording() -> Iterator[ProfileRecording]:
    """Inside the block, programs of the processor tell how long their steps take. One such block at a time.

    >>> from mycelia import Tensor, jit
    >>> double = jit(lambda x: x + x)
    >>> with recording() as heard:
    ...     double(Tensor([1.0, 2.0])).tolist()
    [2.0, 4.0]
    >>> heard.calls[0].program.steps[0].name
    'add'
    """
    before = devices.current()
    if before.name != NATIVE or isinstance(before, ClockedBackend):
        why = "it is being measured already" if before.name == NATIVE else f"programs run on {before.name}"
        raise ArgumentError(f"there is nothing to measure: {why}", hint='measure one thing at a time, on the "CPU"')
    heard = ProfileRecording()
    spans.listeners.append(heard.spans.append)
    devices.use(ClockedBackend(heard.heard))
    try:
        yield heard
    finally:
        heard.end = perf_counter_ns()
        devices.use(before)
        spans.listeners.remove(heard.spans.append)


class TimeProfile:
    """How long the steps of programs took, and the lines that they compute for; printed, it is a table.

    The table shows the slowest steps, `steps` and `lines` hold the numbers of all. `save("x.json")` writes a trace that
    chrome://tracing and Perfetto open, `save("x.html")` a page that needs nothing else.

    >>> from mycelia import Tensor, jit
    >>> double = jit(lambda x: x + x)
    >>> _ = double(Tensor([1.0, 2.0]))
    >>> seen = double.profile()
    >>> [(s.name, s.kind) for s in seen.steps], seen.calls >= 2
    ([('add', 'kernel')], True)
    """

    def __init__(self, heard: ProfileRecording) -> None:
        self.recording, self.cycle = heard, heard.cycle()
        self.calls = len(heard.calls)
        self.seconds = sum(c.end - c.begin for c in heard.calls) / 1e9
        self.wall = ((heard.end or perf_counter_ns()) - heard.begin) / 1e9
        self.waited = sum(s.end - s.begin for s in heard.spans if s.kind == "input") / 1e9
        self.compiling = sum(s.end - s.begin for s in heard.spans if s.kind == "compile") / 1e9
        self.memory = max((c.memory for c in heard.calls), default=0)
        self.peak = MachinePeak(_products_at_best(self.cycle), bandwidth())
        self.steps = tuple(sorted(self._steps(), key=lambda s: -s.seconds))
        self.lines = self._lines()

    def _steps(self) -> Iterator[StepTime]:
        together: dict[int, tuple[AboutProgram, Any]] = {}
        for call in self.recording.calls:
            program, total = together.get(id(call.program), (call.program, 0))
            together[id(program)] = program, total + call.clock[:, 1:]
        for program, total in together.values():
            for step, (cycles, runs) in zip(program.steps, total, strict=False):
                if runs:
                    yield self._step(program, step, int(cycles) * self.cycle / 1e9, int(runs))

    def _step(self, program: AboutProgram, step: AboutStep, seconds: float, runs: int) -> StepTime:
        rate = runs / seconds if seconds else 0.0
        share = step.products * rate / self.peak.products if step.products else step.nbytes * rate / self.peak.bandwidth
        lines = tuple(map(_place, step.lines))
        return StepTime(
            program.name, step.name, step.kind, lines, runs, seconds, step.products, step.nbytes, share, step.outermost
        )

    def _lines(self) -> tuple[LineTime, ...]:
        """A step that computes for several lines counts for each, by the number of operations there."""
        found: dict[str, float] = {}
        for step in self.steps:
            if step.kind != "control":  # its time is that of the steps inside
                for line in step.lines or (ALONE,):
                    found[line] = found.get(line, 0.0) + step.seconds / max(len(step.lines), 1)
        total = sum(found.values()) or 1.0
        ordered = sorted(found.items(), key=lambda item: -item[1])
        return tuple(LineTime(line, seconds, seconds / total) for line, seconds in ordered)

    def __str__(self) -> str:
        each = self.seconds / max(self.calls, 1)
        lines = [
            f"{self.calls} calls, {_time(each)} each, {_bytes(self.memory)} of memory to compute in; "
            f"compiling {_time(self.compiling)}, waiting for data {_time(self.waited)}",
            f"at best this machine multiplies {self.peak.products / 1e9:.0f} times in a nanosecond, "
            f"and moves {self.peak.bandwidth / 1e9:.1f} GB/s",
            "",
            f"{'time':>9} {'share':>6} {'runs':>6} {'moved':>9} {'of peak':>7}  step",
        ]
        total = sum(s.seconds for s in self.steps if s.outermost) or 1.0
        for s in self.steps[:SHOWN]:
            inside = "" if s.outermost else "  (inside)"
            told = f"{_time(s.seconds)} {s.seconds / total:6.1%} {s.runs:6} {_bytes(s.nbytes)} {s.of_peak:>7}"
            lines.append(f"{told}  {s.kind}: {_short(s.name)}{inside}")
        rest = [s.seconds for s in self.steps[SHOWN:] if s.outermost]
        if rest:
            lines.append(f"{_time(sum(rest))} {sum(rest) / total:6.1%}  {len(rest)} more, which `steps` holds")
        lines += ["", f"{'time':>9} {'share':>6}  line"]
        lines += [f"{_time(line.seconds)} {line.share:6.1%}  {line.line}" for line in self.lines]
        return "\n".join(lines)

    __repr__ = __str__

    def trace(self) -> dict[str, Any]:
        """Calls, steps and waits as events, in the form that chrome://tracing and Perfetto read."""
        heard, events = self.recording, []
        for call, thread in zip(heard.calls, heard.threads, strict=True):
            events.append(_event(call.program.name, "call", call.begin - heard.begin, call.end - call.begin, thread))
            first = int(min((c[0] for c in call.clock if c[2]), default=0))
            for step, (began, cycles, runs) in zip(call.program.steps, call.clock, strict=False):
                if runs and step.outermost:
                    at = call.begin - heard.begin + (int(began) - first) * self.cycle
                    about = {"bytes": step.nbytes, "products": step.products, "lines": [*map(_place, step.lines)]}
                    events.append(_event(step.name, step.kind, at, int(cycles) * self.cycle, thread, about))
        events += [_event(s.name, s.kind, s.begin - heard.begin, s.end - s.begin, s.thread) for s in heard.spans]
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def save(self, path: str) -> str:
        """Write a trace to a file of kind .json, or a page to one of kind .html; gives the path."""
        from mycelia.api.profile_page import written  # which is not read by who does not measure

        return written(self, path)


def _products_at_best(cycle: float) -> float:
    """Two units in each core, each with a product and its addition for every 32-bit number of a vector, at each turn
    of the clock that counts cycles.
    """
    here = options()
    return 2 * here.threads * here.target.vector_bytes / 4 * 1e9 / cycle if cycle else 1.0


def _event(
    name: str, kind: str, begin: float, took: float, thread: int, about: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A span in the form of a trace, whose times are microseconds.

    >>> event = _event("a kernel", "kernel", 2500.0, 1000.0, 1)
    >>> event["ts"], event["dur"]
    (2.5, 1.0)
    """
    times = {"ts": round(begin / 1e3, 3), "dur": round(took / 1e3, 3)}
    return {"name": name, "cat": kind, "ph": "X", **times, "pid": 0, "tid": thread, "args": about or {}}


def _place(at: Location) -> str:
    """A line of the user, and where in this package it led to."""
    return f"{at}  ({at.inside.title})" if at.inside is not None else str(at)


def _time(seconds: float) -> str:
    """Seconds for people, in nine places.

    >>> _time(0.0123), _time(2.5e-6)
    (' 12.30 ms', '  2.50 us')
    """
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:6.2f} {unit:2}"


def _bytes(number: int) -> str:
    """Bytes for people, in nine places.

    >>> _bytes(3 << 20), _bytes(100)
    (' 3.00 MiB', '   100 B ')
    """
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= size:
            return f"{number / size:5.2f} {unit}"
    return f"{number:6} B "


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}..."


# ---------------------------------------------------------------------------------------------- one function


def profiled(call: Any) -> TimeProfile:
    """The profile of something that is called again and again: first once, to compile what has to be."""
    with recording() as heard:
        call()
        first = list(heard.calls)
        sleep(0.002)  # by the time between calls it is known how long a cycle is
        began = perf_counter_ns()
        for turn in range(ROUNDS):
            if turn >= 2 and perf_counter_ns() - began > ENOUGH:
                break
            call()
        heard.before = first
        heard.calls[: len(first)] = []
        heard.threads[: len(first)] = []
    return TimeProfile(heard)


def invented(types: Sequence[Any]) -> list[Any]:
    """Arrays of these types: small random numbers, and zeros where numbers count or choose."""
    rng = np.random.default_rng(0)
    found = []
    for t in types:
        if not isinstance(t, TensorType):
            raise ArgumentError(f"no array of type {t} can be made up", hint="give profile() the arguments of a call")
        shape = tuple(map(hint, t.shape))
        made = rng.normal(size=shape) * 0.1 if t.dtype.is_float else np.zeros(shape)
        found.append(np.asarray(made).astype(t.dtype.numpy))
    return found
