"""What was compiled is kept on disk; a cache that is broken, foreign or full costs time, never a result."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC

import numpy as np
import pytest

from mycelia import Tensor, jit, ops
from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.degradations import RECORD
from mycelia.ir import Function
from mycelia.passes import PassCount
from mycelia.runtime import cache as cache_module
from mycelia.runtime import warm as warm_module
from mycelia.runtime.cache import Cache, cache_in
from mycelia.runtime.workers import Workers
from mycelia.testing import compile
from mycelia.types import TensorType, float32

X = TensorType(float32, (31, 7))
ONES = np.ones(X.shape, "f")


def program(k: float = 2.0) -> Function:
    return Function.build(lambda x: (p.tanh(x) * k, p.reduce_sum(x * k, (1,))), X)


def right(k: float = 2.0) -> None:
    y, rows = compile(program(k))(ONES)
    np.testing.assert_allclose(y, np.tanh(1) * k, rtol=1e-6)
    np.testing.assert_allclose(rows, 7 * k, rtol=1e-6)


def twice() -> None:
    right()
    right(3.0)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path / "objects"))
    monkeypatch.setenv("MYCELIA_WARM", "1")
    return tmp_path / "objects"


@pytest.fixture
def compiled_texts(monkeypatch):
    """What LLVM was asked to compile."""
    asked: list[str] = []
    ask = Workers.compile

    def noting(self, texts):
        texts = list(texts)
        asked.extend(texts)
        return ask(self, texts)

    monkeypatch.setattr(Workers, "compile", noting)
    return asked


def another_process() -> None:
    """Forget what this process knows of folders."""
    cache_in.cache_clear()


def passes_of(run) -> int:
    before = PassCount.count
    run()
    return PassCount.count - before


def files(cache, ending):
    return [f for f in cache.iterdir() if f.suffix == ending]


def test_the_second_compile_runs_no_pass_and_does_not_call_llvm(cache, compiled_texts):
    assert passes_of(right) > 0
    assert compiled_texts
    compiled_texts.clear()
    assert passes_of(right) == 0
    assert not compiled_texts


def test_a_program_with_several_sizes_out_of_data_is_found_again(cache):
    def chosen(x):
        first = x[x > 1.0]
        return ops.concat((first, first[first > 2.0]))

    x = Tensor([1.0, 2.0, 3.0])
    assert passes_of(lambda: jit(chosen)(x)) > 0
    assert passes_of(lambda: np.testing.assert_array_equal(jit(chosen)(x), [2.0, 3.0, 3.0])) == 0


@pytest.mark.parametrize("off", ["0", "off"])
def test_a_program_is_compiled_anew_where_that_is_wanted(cache, monkeypatch, compiled_texts, off):
    right()
    compiled_texts.clear()
    monkeypatch.setenv("MYCELIA_WARM", off)
    assert passes_of(right) > 0
    assert not compiled_texts  # objects are still found


def test_files_lie_in_the_folder_that_the_environment_says_and_nothing_is_left_unfinished(cache):
    right()
    assert options().cache == cache
    assert {f.suffix for f in cache.iterdir()} == {".o", ".unit"}
    assert all(len(f.stem) == 64 for f in cache.iterdir())


def test_a_program_compiles_only_the_kernels_that_no_program_had_before(cache, compiled_texts):
    right()
    compiled_texts.clear()
    more = Function.build(lambda x: (p.tanh(x) * 2.0, p.reduce_sum(x * 2.0, (1,)), p.cumsum(x, 1)), X)
    compile(more)(ONES)
    assert len(compiled_texts) <= 2  # the driver, and the running sum


def test_other_numbers_are_other_programs(cache, compiled_texts):
    right(2.0)
    compiled_texts.clear()
    right(3.0)
    assert compiled_texts


# ------------------------------------------------------------------------------------------------ what is wrong with it

DAMAGE = {
    "empty": lambda b: b"",
    "cut": lambda b: b[: len(b) // 2],
    "zeros": lambda b: b"\0" * len(b),
    "longer": lambda b: b + b"x",
    "one bit": lambda b: b[:-3] + bytes([b[-3] ^ 1]) + b[-2:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("ending", [".o", ".unit"])
def test_a_damaged_file_is_made_again_and_said_once(cache, damage, ending):
    right()
    for f in files(cache, ending):
        f.write_bytes(damage(f.read_bytes()))
    another_process()
    with pytest.warns(RuntimeWarning, match="is damaged, and made again") as said:
        right()
    assert len(said) == 1
    another_process()
    assert passes_of(right) == 0


TEXTS = {
    "another form": lambda t: t.replace("unit 1", "unit 0", 1),
    "no text": lambda t: "unit 1",
    "an object that is not there": lambda t: t.replace(",", ",0", 1),
    "a slot that is not there": lambda t: t.replace("table input 0", "table input 7"),
    "another word": lambda t: t.replace("threads", "fibres"),
    "no table": lambda t: t.replace("table", "threads"),
    "Python": lambda t: t.replace("threads", "__import__('os').abort()"),
}


@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)
def test_a_whole_file_that_says_something_else_is_made_again(cache, change):
    right()
    (unit,) = files(cache, ".unit")
    files_of = Cache(cache)
    files_of.write(unit.name, change(files_of.read(unit.name).decode()).encode())
    another_process()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        right()
    assert len(said) <= 1
    another_process()
    assert passes_of(right) == 0


def test_other_versions_do_not_meet(cache, monkeypatch):
    right()
    monkeypatch.setattr(warm_module, "_versions", lambda: ("another",))
    assert passes_of(right) > 0
    assert len(files(cache, ".unit")) == 2


def test_a_library_that_needs_more_memory_than_planned_is_not_called(cache):
    fn = Function.build(p.matmul, TensorType(float32, (64, 300)), TensorType(float32, (300, 70)))
    x, y = np.ones((64, 300), "f"), np.ones((300, 70), "f")
    run = compile(fn)
    assert run.binding.calls
    (unit,) = files(cache, ".unit")
    files_of = Cache(cache)
    text = files_of.read(unit.name).decode()
    room = run.binding.recipes[0].room
    files_of.write(unit.name, text.replace(f" room {room}", " room -1").encode())
    another_process()
    with pytest.warns(RuntimeWarning, match="needs more memory"):
        again = compile(fn)
    np.testing.assert_array_equal(again(x, y)[0], run(x, y)[0])


def test_a_folder_that_cannot_be_made_is_said_once(tmp_path, cache, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path / "file" / "objects"))
    with pytest.warns(RuntimeWarning, match="cannot be used") as said:
        twice()
    assert len(said) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_written_is_said_once(tmp_path, cache, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("MYCELIA_CACHE", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="cannot be written") as said:
        twice()
    assert len(said) == 1


def test_a_full_disk_is_said_once_and_nothing_unfinished_stays(cache, monkeypatch):
    def full(*_, **__):
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(cache_module.os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left") as said:
        twice()
    assert len(said) == 1
    assert not list(cache.iterdir())


def test_a_folder_that_others_can_write_is_not_read(cache, compiled_texts):
    right()
    cache.chmod(0o777)
    another_process()
    compiled_texts.clear()
    with pytest.warns(RuntimeWarning, match="can be written by others") as said:
        right()
    assert len(said) == 1
    assert compiled_texts


def test_a_file_that_others_can_write_is_not_read(cache, compiled_texts):
    right()
    for f in cache.iterdir():
        f.chmod(0o666)
    another_process()
    compiled_texts.clear()
    with pytest.warns(RuntimeWarning, match="written by somebody else") as said:
        right()
    assert len(said) == 1
    assert compiled_texts


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_somebody_else_is_not_read(cache):
    right()
    for f in cache.iterdir():
        os.chown(f, 12345, 12345)
    another_process()
    with pytest.warns(RuntimeWarning, match="written by somebody else"):
        right()


def test_what_is_made_belongs_to_this_user_alone(cache):
    right()
    assert cache.stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o077 for f in cache.iterdir()} == {0}


def test_a_file_under_the_name_of_another_is_made_again(cache):
    """Each is whole, and would compute something else."""
    twice()
    one, other = files(cache, ".unit")
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)
    another_process()
    with pytest.warns(RuntimeWarning, match="is damaged") as said:
        twice()
    assert len(said) == 1


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(cache):
    right()
    for f in list(cache.iterdir()):
        f.unlink()
        os.mkfifo(f, 0o600)
    another_process()
    with pytest.warns(RuntimeWarning, match="is not used") as said:
        right()
    assert len(said) == 1


def test_a_folder_that_goes_while_we_run_is_made_again(cache):
    right()
    shutil.rmtree(cache)
    right(3.0)
    assert files(cache, ".unit")
    another_process()
    assert passes_of(lambda: right(3.0)) == 0


def test_what_is_no_folder_is_told_as_such(tmp_path, cache, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("MYCELIA_CACHE", str(file))
    with pytest.warns(RuntimeWarning, match="cannot be used: it is no folder") as said:
        twice()
    assert len(said) == 1


def test_a_folder_that_takes_nothing_is_one_line_of_the_report(cache, monkeypatch):
    def full(*_, **__):
        raise OSError(ENOSPC, "No space left on device", "begun-1-1")

    monkeypatch.setattr(cache_module.os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        twice()
    assert len([d for d in RECORD.times if str(cache) in d.why]) == 1


# ------------------------------------------------------------------------------------------------ size and company


def test_what_was_not_used_for_longest_goes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "LIMIT", 10_000)
    files_of = Cache(tmp_path)
    for i in range(8):
        files_of.write(f"{i}.o", bytes(1000))
        os.utime(tmp_path / f"{i}.o", (i, i))
    os.utime(tmp_path / "0.o", (100, 0))  # used since
    for i in range(8, 12):
        files_of.write(f"{i}.o", bytes(1000))
    left = {f.stem for f in tmp_path.iterdir()}
    assert {"0", "8", "9", "10"} <= left
    assert not {"1", "2"} & left
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) <= 10_000


def test_reading_tells_that_a_file_is_used_and_leaves_when_it_was_written(tmp_path, monkeypatch):
    """By the clock of Python: the system notes that a file was read, too, where it is not told otherwise."""
    files_of, later = Cache(tmp_path), int(time.time()) + 10**6
    files_of.write("a.o", b"x")
    os.utime(tmp_path / "a.o", (1, 1))
    monkeypatch.setattr(cache_module.time, "time_ns", lambda: later * 10**9)
    assert files_of.read("a.o") == b"x"
    assert (tmp_path / "a.o").stat().st_atime == later
    assert (tmp_path / "a.o").stat().st_mtime == 1


@pytest.mark.filterwarnings("ignore:.*may have been written by somebody else")
def test_what_is_no_file_is_not_read(tmp_path):
    files_of = Cache(tmp_path)
    files_of.write("a.o", b"x")
    pipe = tmp_path / "b.o"
    os.mkfifo(pipe, 0o600)

    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(end, (tmp_path / "a.o").read_bytes())
        assert files_of.read("b.o") is None
    finally:
        os.close(end)
    (tmp_path / "c.o").mkdir()
    assert files_of.read("c.o") is None
    assert files_of.read("a.o") == b"x"


def test_files_that_nobody_finishes_go(tmp_path):
    begun, fresh = tmp_path / "begun-1", tmp_path / "begun-2"
    begun.write_bytes(b"")
    fresh.write_bytes(b"")
    os.utime(begun, (1, 1))
    Cache(tmp_path).write("a.o", b"x")
    assert not begun.exists()
    assert fresh.exists()


def _many_writes(folder, number):
    files_of = Cache(folder)
    good = {bytes([i]) * 50_000 for i in range(8)}
    wrong = 0
    for i in range(60):
        files_of.write("same.o", bytes([(i + number) % 8]) * 50_000)
        found = files_of.read("same.o")
        wrong += found not in good
    os._exit(wrong)


def test_processes_that_write_the_same_at_once_read_whole_files(tmp_path):
    context = multiprocessing.get_context("fork")
    running = [context.Process(target=_many_writes, args=(tmp_path, i)) for i in range(4)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert [each.exitcode for each in running] == [0] * 4
    assert [f.name for f in tmp_path.iterdir()] == ["same.o"]


def test_threads_that_compile_the_same_at_once_agree(cache):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: right(), range(8)))


@pytest.mark.parametrize("length", [99, 100, 101])
def test_a_file_that_is_too_large_is_not_kept(cache, monkeypatch, length):
    kept = Cache(cache)
    kept.write("before.o", b"")
    monkeypatch.setattr(cache_module, "LARGEST", 100)
    kept.write("a.o", bytes(length))
    assert (cache / "a.o").exists() == (length <= 100)
