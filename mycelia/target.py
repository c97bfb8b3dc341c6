"""The machine that code is written for, as numbers: what the compiler may know of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mycelia.frozen import frozen

PROCESSORS = Path("/proc/cpuinfo")


@frozen
class Target:
    """A processor: what LLVM calls it, how wide its vectors are, how many cores a program may use, for which of
    bfloat16, float16 and int8 it has units that multiply and add up in 32 bits, its caches.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    cores: int
    short_units: frozenset[str] = frozenset()
    l1: int = 32 << 10  # bytes of the caches: of a core for data, of a core, of all
    l2: int = 512 << 10
    l3: int = 16 << 20
    bandwidth: float = 1e10  # bytes a second from memory

    @property
    def registers(self) -> int:
        """How many vector registers there are."""
        return 32 if self.vector_bytes == 64 else 16


@cache
def vector_bytes() -> int:
    """How wide the vectors of the machine at hand are, as the system tells: it is asked at import, without LLVM. Where
    the system does not tell, the narrowest is right everywhere.

    >>> vector_bytes() in (16, 32, 64)
    True
    """
    try:
        lines = PROCESSORS.read_text().splitlines()
    except OSError:
        return 16
    flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    return 64 if "avx512f" in flags else 32 if "avx2" in flags else 16
