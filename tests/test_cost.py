"""Decisions follow from one model of a machine: other machine, other decisions."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import mycelia
from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen import processor
from mycelia.codegen.driver import emit_program
from mycelia.codegen.processor import host
from mycelia.cost import (
    Cost,
    called_from,
    compiled_from,
    kept_aside,
    shared_from,
    streamed_from,
    together_from,
    unrolled_up_to,
    worth,
)
from mycelia.ir import Function
from mycelia.loops import Launch
from mycelia.lowering import lower
from mycelia.passes import optimise
from mycelia.runtime.layout import layout
from mycelia.sizes import Scope, value
from mycelia.target import Target
from mycelia.types import TensorType, float32

ROOT = Path(mycelia.__file__).parent
AVX2 = Target("x86_64", "some", "", 32, 2, frozenset(), 32 << 10, 512 << 10, 32 << 20)
AVX512 = Target("x86_64", "some", "", 64, 2, frozenset(), 48 << 10, 2 << 20, 260 << 20)
DECISIONS = (shared_from, together_from, called_from, kept_aside, streamed_from, unrolled_up_to)
BOTH = pytest.mark.parametrize("target", [AVX2, AVX512], ids=["avx2", "avx512"])


def test_the_decisions_for_two_machines():
    shown = {decide.__name__: (decide(AVX2), decide(AVX512)) for decide in DECISIONS}
    print(*(f"{name:16} {avx2:>10} {avx512:>10}" for name, (avx2, avx512) in shown.items()), sep="\n")
    assert shown == {
        "together_from": (1 << 18, 1 << 19),  # for a thread that sleeps, they must gain ten times as much
        "shared_from": (1 << 15, 1 << 16),  # wider vectors are done sooner: threads must gain more
        "called_from": (1 << 13, 1 << 13),
        "kept_aside": (256 << 10, 512 << 10),
        "streamed_from": (16 << 20, 32 << 20),
        "unrolled_up_to": (24, 48),
    }
    assert (compiled_from(32), compiled_from(64)) == (1 << 15, 1 << 16)


@BOTH
def test_threads_share_what_is_faster_shared(target):
    bound = shared_from(target)
    for work, faster in ((bound // 2, False), (bound * 2, True)):
        one, two = (Cost(flops=work, launches=1).seconds(target, threads) for threads in (1, 2))
        assert (two < one) is faster


def test_computing_and_moving_overlap_and_launches_add_up():
    compute, move = Cost(flops=1e9), Cost(bytes=1e9)
    assert (compute + move).seconds(AVX2) == max(compute.seconds(AVX2), move.seconds(AVX2))
    assert Cost(launches=3).seconds(AVX2, 2) == 3 * Cost(launches=1).seconds(AVX2, 2) > Cost(launches=3).seconds(AVX2)


@pytest.mark.parametrize(("vector_bytes", "shared"), [(32, True), (64, False)])
def test_a_program_is_shared_as_its_target_says(vector_bytes, shared):
    """The same kernel, between the two bounds: two threads for narrow vectors, one for wide ones."""
    chosen = replace(options(), target=replace(host(), vector_bytes=vector_bytes), threads=2)
    fn = optimise(Function.build(lambda x: x + x, TensorType(float32, (130_000,))), chosen)
    program = lower(fn, {}, chosen)
    (step,) = program.block.steps
    assert isinstance(step, Launch)
    assert together_from(AVX2) < step.work < together_from(AVX512)
    driver = emit_program(layout(program, chosen), chosen, "run").modules[0]
    assert ("GOMP_parallel" in driver) is shared


def test_a_row_is_kept_aside_where_it_fits_the_cache_of_a_core():
    def softmax(x):
        e = p.exp(x - p.reduce_max(x, (1,), True))
        return e / p.reduce_sum(e, (1,), True)

    fn = Function.build(softmax, TensorType(float32, (4, 30_000)))  # 120 kB a row

    def aside(l2):
        chosen = replace(options(), target=replace(host(), l2=l2))
        return sum(len(s.kernel.scratch) for s in lower(optimise(fn, chosen), {}, chosen).block.walk())

    assert (aside(512 << 10), aside(128 << 10)) == (1, 0)


def test_what_depends_on_a_size_is_decided_when_it_is_known():
    n = Scope().name("n", hint=8, low=2, high=1000)
    assert worth(n, 2000) is False
    assert worth(n * 1000, 1000) is True
    assert value(worth(n, 100), dict.fromkeys(n.names(), 150)) == 50


def test_the_machine_at_hand_tells_its_caches():
    here = host()
    assert 8 << 10 <= here.l1 <= here.l2 <= here.l3
    assert here.registers in (16, 32)


def test_caches_are_as_large_as_the_system_says(tmp_path, monkeypatch):
    told = [("1", "48K", "Data"), ("1", "64K", "Instruction"), ("2", "2048K", "Unified"), ("3", "36M", "Unified"),
            ("4", "9K", "Unified")]  # fmt: skip
    for i, texts in enumerate(told):
        folder = tmp_path / f"index{i}"
        folder.mkdir()
        for name, text in zip(("level", "size", "type"), texts, strict=True):
            (folder / name).write_text(text + "\n")
    (tmp_path / "index9").mkdir()  # it does not tell
    monkeypatch.setattr(processor, "CACHES", tmp_path)
    assert processor._caches() == (48 << 10, 2048 << 10, processor.USUAL[3])


def test_no_threshold_hides_in_the_compiler():
    """A power of two among the constants of a module is a decision about a machine: it belongs into cost.py."""
    allowed = {"codegen/emitted_function.py", "codegen/heap.py"}  # bits, and stacks
    allowed |= {"eager/dispatch.py"}  # where the value of cost.py is put
    found = []
    for package in ("lowering", "passes", "codegen", "schedule", "eager"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.parse(path.read_text()).body:
                value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                if isinstance(value, ast.BinOp) and isinstance(value.op, ast.LShift):
                    found.append(path.relative_to(ROOT).as_posix())
    assert set(found) <= allowed
