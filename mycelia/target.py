"""The machine that code is written for, as numbers: what the compiler may know of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A processor: what LLVM calls it, how wide its vectors are, how many cores a program may use, and for which of
    bfloat16, float16 and int8 it has units that multiply and add up in 32 bits.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    cores: int
    short_units: frozenset[str] = frozenset()
