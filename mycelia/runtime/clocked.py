"""Programs with a clock in them: the same code, which notes how long each of its steps takes, and tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from time import perf_counter_ns
from typing import Any

import numpy as np

from mycelia.codegen.records import TIMES
from mycelia.degradations import subject
from mycelia.errors import Location
from mycelia.frozen import frozen
from mycelia.ir import Function, names_of
from mycelia.loops import Copy, Invoke, Launch, Origin, Program, Step
from mycelia.options import Options
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.runtime.arena import Arena
from mycelia.runtime.executable import Executable
from mycelia.runtime.pairs import Paired
from mycelia.runtime.reference import Reference
from mycelia.runtime.resizable import Resizable
from mycelia.runtime.stages import compiled
from mycelia.sizes import hint
from mycelia.types import Array

_NO_CLOCK = np.zeros((0, TIMES), np.int64)  # of what is interpreted


@frozen
class AboutStep:
    """A step of a program, for people: what it does, for which lines, and what that takes. `outermost` ones are not
    inside of a loop, a branch or a procedure; the time of those that hold others contains that of the others.
    """

    name: str
    kind: str  # "kernel", "library", "copy", "control"
    lines: tuple[Location, ...]  # one for each operation that has one
    products: int  # multiplications, each with its addition
    nbytes: int  # read and written, each once
    outermost: bool


@frozen
class AboutProgram:
    """A program, for people."""

    name: str
    steps: tuple[AboutStep, ...]


@frozen
class ClockedCall:
    """One call of a program: when it began and ended, in nanoseconds of `perf_counter_ns`, and its clock, in cycles."""

    program: AboutProgram
    begin: int
    end: int
    clock: Array  # for each step: when it began last, how long it took in all, how often it ran
    memory: int  # bytes that it computed in

    @cached_property
    def cycle(self) -> float:
        """Nanoseconds of a cycle: what the call took by both clocks, as far as that is known."""
        cycles = sum(int(c[1]) for c, s in zip(self.clock, self.program.steps, strict=True) if s.outermost)
        return (self.end - self.begin) / cycles if cycles else 0.0


def described(program: Program) -> tuple[AboutStep, ...]:
    """The steps of a program, by number."""
    outermost = {id(step) for step in program.block.steps}
    return tuple(about(step, program.origins, id(step) in outermost) for step in program.walk())


def about(step: Step, origins: Mapping[Any, tuple[Origin, ...]], outermost: bool) -> AboutStep:
    """One step, for people. A kernel is called by the operations in it, the last one first."""
    found = list(dict.fromkeys(o for b in step.writes() for o in origins.get(b, ())))
    ops = list(dict.fromkeys(o.op for o in found))
    lines = tuple(o.at for o in found if o.at is not None)
    plain = isinstance(step, Launch | Invoke | Copy)
    nbytes = int(step.cost.bytes) if plain else 0  # type: ignore[union-attr]  # those have a cost
    if isinstance(step, Invoke):
        name = f"{type(step.call).__name__}: {', '.join(ops) or 'product'}"
        return AboutStep(name, "library", lines, int(hint(step.call.multiplications)), nbytes, outermost)
    kind = "kernel" if isinstance(step, Launch) else "copy" if isinstance(step, Copy) else "control"
    return AboutStep(", ".join(ops) or type(step).__name__.lower(), kind, lines, 0, nbytes, outermost)


class Clocked:
    """A compiled function that tells of each of its calls how long the steps took."""

    def __init__(self, made: Executable | Reference, name: str, tell: Callable[[ClockedCall], None]) -> None:
        self.made, self.tell = made, tell
        known = made.program if isinstance(made, Executable) else None
        self.about = AboutProgram(name, described(known) if known is not None else ())

    def __call__(self, *arrays: Array) -> tuple[Any, ...]:
        if not isinstance(self.made, Executable):
            begin = perf_counter_ns()
            out = self.made(*arrays)
            self.tell(ClockedCall(self.about, begin, perf_counter_ns(), _NO_CLOCK, 0))
            return out
        with Arena.turn:  # nobody else runs it meanwhile
            clock = self.made.clock
            clock[:] = 0
            begin = perf_counter_ns()
            results = self.made(*arrays)
            end = perf_counter_ns()
            times = clock.reshape(-1, TIMES).copy()
            self.tell(ClockedCall(self.about, begin, end, times, self.made.memory))
            return results


def clocked(
    fn: Function, donated: Mapping[int, int], options: Options, tell: Callable[[ClockedCall], None]
) -> Clocked | Paired | Resizable:
    """`fn` as machine code with a clock in it. Nothing of it is kept for other processes."""
    name = subject().name

    def real(fn: Function) -> Clocked:
        return Clocked(compiled(fn, donated, options), name, tell)

    def made(fn: Function) -> Clocked | Paired:
        return Paired(fn, real(in_pairs(fn)), donated) if has_complex(fn) else real(fn)

    if names := names_of(fn):
        return Resizable(fn, names, made)
    return made(fn)
