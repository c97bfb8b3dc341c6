"""The README: what was compiled is kept where `MYCELIA_CACHE` says, so a second start is fast."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import mycelia as ms
from mycelia import ops
f = ms.jit(lambda x: ops.tanh(x * 3.0) + x.sum())
print(f(ms.Tensor([1.0, 2.0])).tolist())
from mycelia.passes import PassCount
print(PassCount.count)
"""


def start(cache: Path) -> tuple[str, int]:
    env = {**os.environ, "MYCELIA_CACHE": str(cache), "MYCELIA_WARM": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    program = cache.with_suffix(".py")  # a file: what has no source is not compiled
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, check=True)
    result, passes = done.stdout.splitlines()
    return result, int(passes)


def kept(cache: Path) -> dict[str, int]:
    return {str(p.relative_to(cache)): p.stat().st_mtime_ns for p in cache.rglob("*") if p.is_file()}


def test_a_second_start_compiles_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, passes = start(cache)
    files = kept(cache)
    assert files
    assert passes > 0
    assert start(cache) == (first, 0)  # the same, and no pass has run
    assert kept(cache) == files  # nothing was written, so nothing was compiled


def test_a_cache_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, _ = start(cache)
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert start(cache)[0] == first
    assert start(cache) == (first, 0)
