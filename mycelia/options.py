"""How a program is to be compiled: everything that is not in the program itself, in one frozen value.

It is made in one place, `mycelia.api.options`, and passed down: nothing below reads the environment or a setting.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.target import Target

KEEPING = ("everything", "dots", "nothing", "auto")
STAGES = ("source", "graph", "passes", "program", "kernels", "llvm", "memory")


@frozen
class FastMath:
    """The freedoms of floating-point arithmetic (the fast-math contract): what may differ from IEEE 754, op by op."""

    fuse: bool = True  # x * y + z with one rounding instead of two
    flush: bool = True  # numbers too small for full precision (subnormal) are zero


@frozen
class Memory:
    """Which values of a program wait in memory until they are read for the last time. The others are computed again.

    >>> Memory("dots"), Memory(budget=2**20).budget
    (Memory(keep='dots', budget=None), 1048576)
    >>> Memory("most")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: there is no policy 'most' of what is kept
    ...
    """

    keep: str = "everything"  # of KEEPING
    budget: int | None = None  # bytes that a program may compute in; what is kept follows from it

    def __post_init__(self) -> None:
        if self.keep not in KEEPING:
            raise ArgumentError(
                f"there is no policy {self.keep!r} of what is kept", hint=f"keep one of {', '.join(KEEPING)}"
            )
        whole = isinstance(self.budget, int) and not isinstance(self.budget, bool)
        if self.budget is not None and (not whole or self.budget < 0):
            raise ArgumentError(
                f"a memory budget is a number of bytes, not {self.budget!r}", hint="64 * 2**20 is 64 MiB"
            )
        if self.budget is not None and self.keep != "everything":
            raise ArgumentError(
                f"either what is kept is said, {self.keep!r}, or a budget of {self.budget} bytes",
                hint="a budget chooses what is kept: leave `keep` out",
            )


ALL_KEPT = Memory()


@frozen
class Wishes:
    """What one function asks of the compiler, where others do not: see `jit`."""

    memory: Memory = ALL_KEPT
    without: frozenset[str] = frozenset()  # names of passes that do not run
    verify: bool = False  # check that the function is legal after each pass


NOTHING_ASKED = Wishes()


@frozen
class Options:
    """For which machine, with how many threads, with which freedoms, and what a developer wants to see.

    >>> Options(Target("x86_64", "generic", "", 32, 2), 2, show=frozenset({"grap"}))
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: there is no stage 'grap' to show
    ...
    """

    target: Target
    threads: int
    fast_math: FastMath = FastMath()
    without: frozenset[str] = field(default=frozenset())  # names of passes that do not run
    show: frozenset[str] = field(default=frozenset())  # of STAGES: what is printed on the way
    verify: bool = False  # check that the function is legal after each pass
    cache: Path | None = None  # where machine code is kept; None: nowhere
    memory: Memory = ALL_KEPT
    warm: bool = True  # programs that were kept there are taken as they are; else only their objects are
    clocked: bool = False  # a program notes the time at each of its steps
    asks: int = 0  # so many results, the first ones, are questions: if one is true, a program stops before it does more

    def __post_init__(self) -> None:
        for stage in sorted(self.show - set(STAGES)):
            raise ArgumentError(f"there is no stage {stage!r} to show", hint=f"choose from {', '.join(STAGES)}")
        if self.threads < 1:
            raise ArgumentError(f"a program runs on one thread at least, not on {self.threads}")
