"""How a program is to be compiled: everything that is not in the program itself, in one frozen value.

It is made in one place, `mycelia.api.options`, and passed down: nothing below reads the environment or a setting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mycelia.errors import ArgumentError
from mycelia.target import Target

STAGES = ("graph", "passes", "program", "llvm", "memory")


@dataclass(frozen=True)
class FastMath:
    """The freedoms of floating-point arithmetic (the fast-math contract): what may differ from IEEE 754, op by op."""

    fuse: bool = True  # x * y + z with one rounding instead of two
    flush: bool = True  # numbers too small for full precision (subnormal) are zero


@dataclass(frozen=True)
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
    clocked: bool = False  # a program notes the time at each of its steps

    def __post_init__(self) -> None:
        for stage in sorted(self.show - set(STAGES)):
            raise ArgumentError(f"there is no stage {stage!r} to show", hint=f"choose from {', '.join(STAGES)}")
        if self.threads < 1:
            raise ArgumentError(f"a program runs on one thread at least, not on {self.threads}")
