"""The memory in which programs compute: it keeps its pages while it grows, and takes no more than programs touch."""

import ctypes
import mmap
import resource

import numpy as np
import pytest

from mycelia.runtime.arena import Arena
from mycelia.runtime.room import PIECE, Room


def written(start: int, nbytes: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(start))


def test_a_room_that_grows_keeps_its_pages():
    room, sizes = Room(), [1, 5000, PIECE, PIECE + 1, 3 * PIECE, 40 * PIECE]
    pattern = np.random.default_rng(0).integers(0, 256, sizes[-1], np.uint8)
    for before, nbytes in zip([0, *sizes], sizes, strict=False):
        memory = written(room.at_least(nbytes), nbytes)
        assert room.start % mmap.PAGESIZE == 0
        np.testing.assert_array_equal(memory[:before], pattern[:before])  # the same pages, wherever they are now
        memory[:] = pattern[:nbytes]


def test_a_smaller_need_changes_nothing():
    room = Room()
    start = room.at_least(5 * PIECE)
    assert room.at_least(10) == room.at_least(0) == start
    assert room.nbytes == 5 * PIECE


def test_what_is_not_touched_is_not_there():
    room = Room()
    room.at_least(PIECE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    room.at_least(1 << 32)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000


def test_memory_that_does_not_exist_is_an_error_that_says_how_much():
    room = Room()
    start = room.at_least(PIECE)
    written(start, 1)[0] = 7
    with pytest.raises(MemoryError, match="there are no 1152921504606846976 bytes"):
        room.at_least(1 << 60)
    assert (room.at_least(PIECE), written(start, 1)[0]) == (start, 7)


def test_each_depth_has_its_own():
    with Arena.turn:
        outer, inner = Arena.take(100), Arena.take(100)
        Arena.give_back()
        assert Arena.take(100) == inner != outer
        Arena.give_back(), Arena.give_back()
