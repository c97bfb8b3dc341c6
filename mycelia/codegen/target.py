"""The machine that code is written for."""

from __future__ import annotations

import os
from dataclasses import dataclass

from llvmlite import binding


@dataclass(frozen=True)
class Target:
    """A processor: what LLVM calls it, how wide its vectors are, how many threads share the work."""

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    threads: int

    @staticmethod
    def host() -> Target:
        """The machine at hand.

        >>> Target.host().vector_bytes in (16, 32, 64)
        True
        """
        features = binding.get_host_cpu_features()
        width = 64 if features.get("avx512f") else 32 if features.get("avx2") else 16
        wide = ",-prefer-256-bit" if width == 64 else ""
        threads = int(os.environ.get("OMP_NUM_THREADS", "0")) or len(os.sched_getaffinity(0))
        return Target(
            binding.get_default_triple(), binding.get_host_cpu_name(), features.flatten() + wide, width, threads
        )

    def machine(self) -> binding.TargetMachine:
        """LLVM's object for this target. Level 2: level 0 aborts the process on AVX-512 masks."""
        target = binding.Target.from_triple(self.triple)
        return target.create_target_machine(cpu=self.cpu, features=self.features, opt=2, reloc="pic")
