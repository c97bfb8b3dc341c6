"""Memory is touched ahead of sizes that may come: never what a program uses, never without end."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.runtime import ahead
from mycelia.runtime.ahead import Ahead
from mycelia.runtime.arena import Arena
from mycelia.runtime.room import PIECE, Room
from tests.runtime.test_arena import written


@pytest.fixture
def room() -> Room:
    found = Room()
    found.at_least(PIECE)
    return found


def test_while_a_program_is_compiled_several_times_the_room_is_touched(room):
    touching = Ahead(room)
    touching.of_many_sizes()
    touching.wait()
    assert (room.nbytes, room.held) == (PIECE, ahead.FIRST * PIECE)


def test_a_new_size_has_a_quarter_more_touched(room):
    touching = Ahead(room)
    touching.of_a_new_size(8 * PIECE)
    touching.wait()
    assert (room.nbytes, room.held) == (PIECE, 10 * PIECE)
    touching.of_a_new_size(8 * PIECE)
    touching.of_a_new_size(3)
    touching.wait()
    assert room.held == 10 * PIECE


def test_no_more_is_touched_than_the_machine_can_spare(room, monkeypatch):
    monkeypatch.setattr(ahead, "available", lambda: ahead.SPARE * 3 * PIECE)
    touching = Ahead(room)
    touching.of_many_sizes()
    touching.wait()
    assert room.held == 4 * PIECE


def test_there_is_an_end_to_it(room, monkeypatch):
    monkeypatch.setattr(ahead, "FIRST_MOST", 2 * PIECE)
    monkeypatch.setattr(ahead, "NEXT_MOST", PIECE)
    touching = Ahead(room)
    touching.of_many_sizes()
    touching.wait()
    assert room.held == 2 * PIECE
    touching.of_a_new_size(8 * PIECE)
    touching.wait()
    assert room.held == 9 * PIECE


def test_where_there_are_no_addresses_nothing_happens(room):
    room.reserve(1 << 60)
    assert not room.touch_ahead(1 << 60) or room.held <= 1 << 40
    assert room.at_least(2 * PIECE) == room.start


def test_what_a_program_writes_stays_while_memory_behind_it_is_touched():
    """The room grows into what is touched, again and again, and moves."""
    room, pattern = Room(), np.random.default_rng(0).integers(1, 256, 8 * PIECE, np.uint8)
    touching = Ahead(room)
    for nbytes in range(1000, len(pattern), PIECE // 2 - 4096):
        touching.of_a_new_size(4 * nbytes)
        memory = written(room.at_least(nbytes), nbytes)
        last = slice(max(nbytes - PIECE, 0), nbytes)
        memory[last] = pattern[last]
    touching.end()
    np.testing.assert_array_equal(written(room.start, nbytes), pattern[:nbytes])


def test_many_threads_ask_and_nothing_is_lost():
    room, pattern = Room(), np.random.default_rng(1).integers(1, 256, 8 * PIECE, np.uint8)
    touching = Ahead(room)
    written(room.at_least(len(pattern)), len(pattern))[:] = pattern
    room.reserve(256 * PIECE)  # it does not move any more
    asking = [threading.Thread(target=touching.of_a_new_size, args=((8 + 2 * i) * PIECE,)) for i in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    touching.wait()
    np.testing.assert_array_equal(written(room.start, len(pattern)), pattern)
    assert room.held >= 22 * PIECE


def wide(x):
    return ops.sum(ops.tanh(x @ x.T) @ x)


def test_a_program_of_many_sizes_expects_more_and_one_of_a_single_size_does_not(monkeypatch):
    asked = []
    monkeypatch.setattr(Arena, "expect_more_than", asked.append)
    step = ms.jit(wide)
    step(Tensor(np.ones((300, 8), "f")))
    assert asked == []
    step(Tensor(np.ones((301, 8), "f")))
    step(Tensor(np.ones((301, 8), "f")))
    assert len(asked) == 1


def test_while_a_program_runs_its_memory_stays_where_it_is():
    with Arena.turn:
        Arena.take(100)
        wanted = Arena.ahead.wanted
        Arena.expect_more_than(1 << 40)
        Arena.expect_sizes()
        Arena.give_back()
    assert Arena.ahead.wanted == wanted


ENDING = """
import os
from mycelia.runtime.arena import Arena
from mycelia.runtime.room import PIECE

with Arena.turn:
    Arena.take(2 * PIECE)
    Arena.give_back()
Arena.expect_sizes()
child = os.fork()
with Arena.turn:
    Arena.expect_more_than(16 * PIECE)
    Arena.take(12 * PIECE)
    Arena.give_back()
    if child == 0:
        Arena.ahead.wait()
        os._exit(0 if Arena.bytes() >= 20 * PIECE else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""


def test_a_child_touches_by_itself_and_a_process_ends_while_it_touches():
    ran = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")
