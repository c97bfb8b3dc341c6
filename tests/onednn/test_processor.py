"""What the processor says of itself, and that nothing is used that it does not describe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia.onednn import processor
from mycelia.onednn.constants import BEFORE_TILES
from mycelia.onednn.library import SAID, library
from mycelia.onednn.processor import NOTHING, Leaf, asked, has_tiles, tiles

TELLS = Path("/proc/cpuinfo")
PALETTES, FIRST = Leaf(1, 0, 0, 0), Leaf(0x04002000, 0x00080040, 16, 0)  # what a processor with AMX answers


@pytest.mark.skipif(not TELLS.exists(), reason="the system does not tell")
def test_the_processor_and_the_system_name_the_same_maker():
    said = next(line for line in TELLS.read_text().splitlines() if line.startswith("vendor_id"))
    leaf = asked(0)
    name = b"".join(n.to_bytes(4, "little") for n in (leaf.ebx, leaf.edx, leaf.ecx))
    assert said.split(":")[1].strip() == name.decode()


@pytest.mark.parametrize(
    ("palettes", "first"),
    [
        (NOTHING, NOTHING),
        (NOTHING, FIRST),
        (PALETTES, NOTHING),
        (PALETTES, Leaf(FIRST.eax, 8 << 16, 16, 0)),
        (PALETTES, Leaf(FIRST.eax, 64, 16, 0)),
        (PALETTES, Leaf(FIRST.eax, FIRST.ebx, 0, 0)),
    ],
)
def test_tiles_of_no_size_are_none(palettes, first):
    assert has_tiles(PALETTES, FIRST)
    assert not has_tiles(palettes, first)


def test_where_no_machine_code_may_be_written_nothing_is_known(monkeypatch):
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError("no memory is both written and run here")

    monkeypatch.setattr(processor.mmap, "mmap", refuse)
    assert asked(0) == NOTHING
    assert not tiles()


def test_the_library_uses_no_tiles_that_the_processor_does_not_describe():
    isa = library().value("dnnl_get_effective_cpu_isa")
    assert tiles() or isa <= BEFORE_TILES


@pytest.mark.parametrize("said", SAID)
def test_users_may_tell_the_library_what_to_use(said):
    program = "from mycelia.onednn.library import library; print(library().value('dnnl_get_effective_cpu_isa'))"
    env = {"PATH": "", said: "SSE41"}
    run = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert int(run.stdout) == 1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8"])
def test_a_large_product_of_short_numbers_runs_on_this_processor(dtype):
    x = np.random.default_rng(0).integers(-2, 3, (256, 256)).astype(np.float32)  # sums that all of them hold
    t = ms.Tensor(x).astype(getattr(ms, dtype))
    product = ms.jit(lambda a: ms.ops.matmul(a, a))
    got = product(t).astype(ms.float32).asnumpy()
    wanted = x @ x
    if dtype == "int8":
        wanted = wanted.astype(np.int64).astype(np.int8).astype(np.float32)
    assert np.abs(got - wanted).max() <= (1 if dtype == "bfloat16" else 0)
