"""Ways through the runtime that are seldom taken: what it falls back on, what it forgets, and who compiles."""

import io
import os
import pickle
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from llvmlite import binding

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.errors import CompileError
from mycelia.ir import Function
from mycelia.primitives import Cumsum
from mycelia.runtime import ahead, resizable, warm, worker
from mycelia.runtime import cache as cache_module
from mycelia.runtime.cache import Cache
from mycelia.runtime.clocked import Clocked
from mycelia.runtime.own_routines import sized
from mycelia.runtime.resizable import Resizable
from mycelia.runtime.stages import Reference
from mycelia.runtime.workers import Worker
from mycelia.sizes import NeedsSize, Scope
from mycelia.testing import compile
from mycelia.types import TensorType, float32, int64

# ---------------------------------------------------------------------------------------- programs for single sizes


@pytest.mark.parametrize("whole", [False, True])
def test_the_last_few_sizes_are_kept_and_all_are_right(monkeypatch, whole):
    monkeypatch.setattr(resizable, "SINGLE", 3)
    monkeypatch.setattr(resizable, "REMEMBERED", 5)
    n = Scope().name("n", low=0, hint=9)
    fn = Function.build(lambda x: x * 2.0, TensorType(float32, (n,)))
    made = []

    def compiled(fn):
        (t,) = fn.types
        if not t.static:
            if not whole:
                raise NeedsSize(n)
            return lambda x: (x * 2.0,)
        made.append(t.shape[0])
        return lambda x, size=t.shape[0]: (np.full(size, 2.0, "f") * x.reshape(size),)

    run, kept, wanted = Resizable(fn, (next(iter(n.names())),), compiled), [], []
    assert run.programs == whole
    assert (run.refused is None) == whole
    for size in (1, 2, 3, 1, 4, 1, 5, 2, 6, 7, 8, 9, 1, 1, 9, 8, 0):
        x = np.arange(size, dtype="f")
        (out,) = run(x)
        np.testing.assert_array_equal(out, x * 2)
        assert run.knows(x)
        if not whole:
            if size not in kept:
                wanted.append(size)
                kept = [*kept, size][-3:]
            assert run.programs == min(3, len(kept))
    assert made == wanted
    assert run.programs <= 3 + whole


@pytest.mark.parametrize("axes", [(0, 2), (0, 1), (1,)])
def test_one_program_is_for_all_sizes_of_loops_in_loops_and_for_none(axes):
    scope = Scope()
    n, m = (scope.name(c, low=0, hint=9) for c in "nm")
    for shape in ((n, m, 4), (n, 5, m)):
        fn = Function.build(lambda x: p.reduce_sum(x * x + 1.0, axes), TensorType(float32, shape))
        run = warm.compile(fn, {}, options())
        for sizes in ((0, 5, 4), (1, 5, 4), (3, 5, 4), (8, 5, 4), (70, 5, 4)):
            x = np.arange(np.prod(sizes), dtype="f").reshape(sizes) % 7
            np.testing.assert_array_equal(run(x)[0], (x * x + 1).sum(axes))
        assert run.programs == 1


def test_a_function_that_is_not_compiled_is_clocked_as_a_whole():
    fn = Function.build(lambda x: p.tanh(x), TensorType(float32, (3,)))
    told = []
    with pytest.warns(RuntimeWarning, match="for once"):
        reference = Reference(fn, {}, CompileError("for once"), options().asks)
    clocked = Clocked(reference, "name", told.append)
    np.testing.assert_allclose(clocked(np.ones(3, "f"))[0], np.tanh(1), rtol=1e-6)
    (call,) = told
    assert call.program.name == "name"
    assert call.begin <= call.end
    assert call.program.steps == ()


# ---------------------------------------------------------------------------------------- files that go meanwhile


def test_a_cache_whose_files_go_meanwhile_goes_on(tmp_path, monkeypatch):
    files = Cache(tmp_path / "a")
    files.write("a.o", b"x")
    monkeypatch.setattr(os, "utime", refuse)
    os_stat = (tmp_path / "a/a.o").stat()
    monkeypatch.setattr(cache_module, "OFTEN", -(10**9))
    assert files.read("a.o") == b"x"  # that it was used cannot be noted
    assert (tmp_path / "a/a.o").stat().st_mtime == os_stat.st_mtime
    cache_module._remove(str(tmp_path / "a/none.o"))
    (tmp_path / "a/gone.o").symlink_to(tmp_path / "nowhere")
    assert files._trim() == (tmp_path / "a/a.o").stat().st_size
    shutil.rmtree(tmp_path / "a")
    assert files._trim() == 0


def refuse(*_, **__):
    raise OSError("not now")


def test_a_machine_that_tells_nothing_has_nothing_to_spare(monkeypatch):
    assert ahead.available() > 0
    monkeypatch.setattr(ahead.Path, "read_text", lambda self: "MemTotal: 5 kB\nMemAvailable:   12 kB\n")
    assert ahead.available() == 12 * 1024
    monkeypatch.setattr(ahead.Path, "read_text", lambda self: "MemTotal: 5 kB\n")
    assert ahead.available() == 0
    monkeypatch.setattr(ahead.Path, "read_text", refuse)
    assert ahead.available() == 0


# ---------------------------------------------------------------------------------------- threads that share a row


@pytest.mark.many("rows", [1, 2, 5])
def test_running_sums_that_threads_share_are_those_of_one(rows, monkeypatch):
    monkeypatch.setattr("mycelia.runtime.own_routines.LONG", 1)
    x = np.random.default_rng(rows).integers(-50, 50, (rows, 70_001))
    fn = Function.build(lambda x: Cumsum(1)(x), TensorType(int64, x.shape))
    try:
        for threads in (1, 2, 3, 4):
            sized.cache_clear()
            np.testing.assert_array_equal(compile(fn, threads=threads)(x)[0], np.cumsum(x, 1))
    finally:
        sized.cache_clear()


# ---------------------------------------------------------------------------------------- who compiles

IR = """
declare i32 @outside(i32)

define internal i32 @unused(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}

define i32 @used(i32 %x) {
  %a = add i32 %x, 0
  %b = mul i32 %a, 8
  %c = call i32 @outside(i32 %b)
  ret i32 %c
}
"""


def answers(monkeypatch, *texts):
    """What the worker, run here, says to these texts."""
    target, source, sink = options().target, io.BytesIO(), io.BytesIO()
    for request in ((target.triple, target.cpu, target.features), *texts):
        pickle.dump(request, source)
    source.seek(0)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=source))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=sink))
    worker.main()
    monkeypatch.undo()
    sink.seek(0)
    return [pickle.load(sink) for _ in texts]


def code(text: str, level: int) -> bytes:
    """What LLVM makes of a text by itself."""
    target = options().target
    machine = binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=level, reloc="pic"
    )
    return machine.emit_object(binding.parse_assembly(text))


def test_a_worker_answers_each_text_in_its_way(monkeypatch):
    plain, optimised, once, wrong, again = answers(
        monkeypatch, IR, f"; optimise\n{IR}", f"; once\n{IR}", "define i32 @f( {", IR
    )
    assert plain == again == code(IR, 2)
    assert once == code(IR, 0) != plain
    assert type(plain) is type(optimised) is bytes
    assert b"unused" in plain
    assert b"used" in optimised.replace(b"unused", b"")
    assert b"unused" not in optimised
    assert "expected" in wrong
    assert isinstance(wrong, str)


def test_a_worker_that_does_not_end_is_ended():
    made = Worker(options().target)
    assert made.compile(IR) == code(IR, 2)
    with pytest.raises(CompileError, match="LLVM refuses generated code"):
        made.compile("nonsense")
    assert made.alive
    whole, waited = made.process, []

    def wait(timeout=None):
        waited.append(timeout)
        if timeout is not None:
            raise subprocess.TimeoutExpired("it", timeout)
        return whole.wait()

    def kill():
        waited.append("killed")
        whole.kill()

    made.process = SimpleNamespace(stdin=whole.stdin, stdout=whole.stdout, wait=wait, kill=kill)
    made.close()
    made.process = whole
    assert waited == [5, "killed", None]
    assert not made.alive
