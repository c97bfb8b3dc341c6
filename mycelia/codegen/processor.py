"""The machine at hand as a target, and a target as LLVM's object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from llvmlite import binding

from mycelia.onednn.processor import tiles
from mycelia.target import Target, vector_bytes

# Where tiles are announced and cannot be used, products in bfloat16 take twice the time of those in float32.
# Without VNNI the library multiplies int8 by an instruction that saturates at 16 bits: 127 * 127 * 2 becomes 32767.
UNITS = {
    "bfloat16": ("avx512bf16", "amx-bf16"),
    "float16": ("avx512fp16", "amx-fp16"),
    "int8": ("avx512vnni", "avxvnni"),
}


def host() -> Target:
    """The machine at hand.

    >>> host().vector_bytes in (16, 32, 64)
    True
    """
    features = binding.get_host_cpu_features()
    width = vector_bytes()
    wide = ",-prefer-256-bit" if width == 64 else ""
    return Target(
        binding.get_default_triple(),
        binding.get_host_cpu_name(),
        features.flatten() + wide,
        width,
        len(os.sched_getaffinity(0)),
        units_of(features, tiles()),
        *_caches(),
    )


def units_of(features: Mapping[str, bool], tiled: bool) -> frozenset[str]:
    """The types for whose products a processor has units of its own; `tiled` says whether its tiles can be used.

    >>> sorted(units_of({"avx512bf16": True}, False)), sorted(units_of({"avx512bf16": True, "amx-bf16": True}, False))
    (['bfloat16'], [])
    """
    found = {name for name, units in UNITS.items() if any(features.get(u) for u in units)}
    return frozenset(found - {"bfloat16"} if features.get("amx-bf16") and not tiled else found)


CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
USUAL = {1: 32 << 10, 2: 512 << 10, 3: 16 << 20}  # where the system does not tell


def _caches() -> tuple[int, ...]:
    """Bytes of the caches of each level, as the system tells them."""
    found = dict(USUAL)
    for cache in sorted(CACHES.glob("index*")):
        try:
            level, size, kind = ((cache / name).read_text().strip() for name in ("level", "size", "type"))
        except OSError:
            continue
        if kind != "Instruction" and int(level) in found and size[-1:] == "K" and size[:-1].isdecimal():
            found[int(level)] = int(size[:-1]) << 10
    return tuple(found[level] for level in (1, 2, 3))


def machine(target: Target) -> binding.TargetMachine:
    """LLVM's object for a target. Level 2: level 0 aborts the process on AVX-512 masks."""
    found = binding.Target.from_triple(target.triple)
    return found.create_target_machine(cpu=target.cpu, features=target.features, opt=2, reloc="pic")
