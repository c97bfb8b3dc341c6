"""The machine that code is written for, as numbers: what the compiler may know of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A processor: what LLVM calls it, how wide its vectors are, how many cores a program may use."""

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    cores: int
