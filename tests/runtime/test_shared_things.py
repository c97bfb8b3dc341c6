"""What threads and processes share is touched under its lock, and begins anew in a child."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from mycelia.api.options import options
from mycelia.errors import CompileError
from mycelia.ir import Function
from mycelia.primitives import Callee, HostCall
from mycelia.runtime import interrupts, warm, workers
from mycelia.runtime.cache import Cache
from mycelia.runtime.reference import Reference
from mycelia.runtime.turn import Turn
from mycelia.runtime.workers import Workers
from mycelia.testing import compile
from mycelia.types import TensorType, float32

X = TensorType(float32, (4,))


class Watched(list):
    """A list that is only touched by whoever holds a lock."""

    def __init__(self, lock):
        super().__init__()
        self.lock, self.times = lock, 0

    def touch(self):
        self.times += 1
        assert self.lock.locked(), "another thread may be there, too"

    def append(self, x):
        self.touch()
        super().append(x)

    def pop(self, *at):
        self.touch()
        return super().pop(*at)

    def __bool__(self):
        self.touch()
        return len(self) > 0


class Idle:
    """A process that compiles nothing."""

    alive = True

    def __init__(self, target=None):
        self.closed = False

    def compile(self, text):
        return text.encode()

    def close(self):
        self.closed = True


@pytest.fixture
def idle(monkeypatch):
    monkeypatch.setattr(workers, "Worker", Idle)
    made = Workers(options().target)
    made._idle = Watched(made._lock)
    return made


def test_workers_that_wait_are_taken_and_given_back_under_the_lock(idle):
    idle.start()
    idle.start()
    assert len(idle._idle) == 1  # one is enough to begin with
    assert idle.compile(["a", "b", "c"]) == [b"a", b"b", b"c"]
    assert 1 <= len(idle._idle) <= max(options().target.cores, 1)
    waiting = list(idle._idle)
    idle.close()
    assert all(w.closed for w in waiting)
    assert len(idle._idle) == 0
    assert idle._idle.times >= 6


def test_a_worker_that_died_is_not_taken(idle):
    dead = Idle()
    dead.alive = False
    list.append(idle._idle, dead)
    assert idle._take() is not dead
    assert len(idle._idle) == 0


def test_a_forked_child_has_no_workers_of_its_parent(monkeypatch):
    monkeypatch.setattr(workers, "Worker", Idle)
    made = Workers(options().target)
    made.start()
    held = made._lock
    with held:  # as another thread might
        child = os.fork()
        if not child:
            os._exit(0 if not made._idle and not made._lock.locked() and made._lock is not held else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(made._idle) == 1


def test_the_thread_that_looks_at_signals_is_begun_once_under_its_lock():
    poll = interrupts._Poll()
    begun, end = [], threading.Event()

    def tick():
        begun.append(threading.current_thread().name)
        end.wait(60)

    class Lock:
        entered = 0

        def __enter__(self):
            self.entered += 1
            assert poll.thread is None or self.entered > 1

        def __exit__(self, *_):
            assert poll.thread is not None

    poll.lock, poll._tick = Lock(), tick
    poll.start()
    poll.start()
    end.set()
    poll.thread.join()
    assert (poll.lock.entered, begun) == (2, ["mycelia-poll"])


def test_a_program_with_loops_is_counted_while_it_runs(monkeypatch):
    """Only then are signals looked at."""
    run = compile(Function.build(lambda x: x + 1.0, X))
    seen = []
    run._polls, usual = True, run._run
    monkeypatch.setattr(run, "_run", lambda address: (seen.append(interrupts.Poll.running), usual(address))[1])
    before = interrupts.Poll.running
    run(np.zeros(4, "f"))
    assert seen == [before + 1]
    assert interrupts.Poll.running == before


def test_ctrl_c_is_noted_on_the_main_thread_only():
    before, found = interrupts.handler_of(interrupts.SIGINT), []

    def elsewhere():
        with interrupts.whole():
            found.append(interrupts.handler_of(interrupts.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    with interrupts.whole():
        found.append(interrupts.handler_of(interrupts.SIGINT))
    assert found == [before, interrupts._note]
    assert interrupts.handler_of(interrupts.SIGINT) is before


def test_programs_are_made_again_when_one_of_our_files_changes(tmp_path, monkeypatch):
    """Its size, when it was written, its name, and that it is there at all, in any folder."""
    root = tmp_path / "mycelia"
    (root / "runtime").mkdir(parents=True)
    (root / "ops" / "deep").mkdir(parents=True)
    first, deep = root / "runtime" / "warm.py", root / "ops" / "deep" / "one.py"
    for file in (first, deep):
        file.write_text("x = 1\n")
        os.utime(file, ns=(10**18, 10**18))
    monkeypatch.setattr(warm, "__file__", str(first))
    known = [warm._versions.__wrapped__()]

    def changed() -> bool:
        known.append(warm._versions.__wrapped__())
        return known[-1] not in known[:-1]

    assert warm._versions.__wrapped__() == known[0]
    deep.write_text("x = 12\n")
    os.utime(deep, ns=(10**18, 10**18))
    assert changed()
    os.utime(deep, ns=(10**18, 10**18 + 1))
    assert changed()
    deep.rename(deep.with_name("two.py"))
    assert changed()
    (root / "new.py").write_text("")
    assert changed()
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "new.py").write_text("")
    (root / "notes.txt").write_text("")
    assert not changed()


def test_a_file_that_cannot_be_read_is_said_once_and_made_again(tmp_path):
    files = Cache(tmp_path)
    (tmp_path / "a.o").mkdir()
    (tmp_path / "b.o").mkdir()
    with pytest.warns(RuntimeWarning, match="cannot be read"):
        assert files.read("a.o") is None
    assert files.read("b.o") is None  # warnings are errors: it says nothing more


def test_what_is_interpreted_takes_over_arrays_as_machine_code_does():
    """Two results that cross, and one that is a parameter itself."""
    with pytest.warns(RuntimeWarning, match="without machine code"):
        run = Reference(Function.build(lambda x, y: (y, x, x + y), X, X), {0: 0, 1: 1}, CompileError("no"))
    x, y = np.arange(4, dtype="f"), np.arange(4, dtype="f") * 10
    first, second, third = run(x, y)
    assert first is x
    assert second is y
    assert x.tolist() == [0, 10, 20, 30]
    assert y.tolist() == [0, 1, 2, 3]
    assert third.tolist() == [0, 11, 22, 33]


def test_nothing_is_left_of_files_of_the_cache_that_are_not_there(tmp_path: Path):
    assert Cache(tmp_path / "none").read("a.o") is None
    assert not (tmp_path / "none").exists()


def test_the_thread_that_looks_for_signals_ends_when_no_program_runs(monkeypatch):
    monkeypatch.setattr(interrupts, "PERIOD", 0.0)
    monkeypatch.setattr(interrupts, "PATIENCE", 3)
    poll = interrupts._Poll()
    poll.thread, turns = threading.current_thread(), []

    def sleep(_):
        turns.append(poll.running)
        poll.running = int(len(turns) < 20)

    monkeypatch.setattr(interrupts.time, "sleep", sleep)
    poll._tick()
    assert poll.thread is None
    assert len(turns) == 20 + 3, "as long as one runs, and a while longer"


def test_whoever_only_reads_goes_ahead_of_those_who_wait():
    turn = Turn()
    assert turn.of(True) is turn.of(False) is turn
    turn._waiting.append(threading.Lock())
    assert turn.of(True) is turn
    assert turn.of(False) is turn.reading


PYTHON = Function.build(lambda x: HostCall(Callee(np.sin, "sine"), (X,))(x), X)


@pytest.mark.parametrize(
    ("fn", "changes", "kept"),
    [
        (Function.build(lambda x: x * 3.25, X), {}, True),
        (Function.build(lambda x: x * 3.25, X), {"verify": True}, False),
        (Function.build(lambda x: x * 3.25, X), {"warm": False}, False),
        (Function.build(lambda x: x * 3.25, X), {"cache": None}, False),
        (PYTHON, {}, False),
    ],
)
def test_programs_are_kept_where_somebody_may_want_them_again(fn, changes, kept, tmp_path):
    compile(fn, **{"cache": tmp_path / "kept", "warm": True} | changes)
    assert len(list(tmp_path.rglob("*.unit*"))) == kept
