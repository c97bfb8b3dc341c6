"""Memory with fences: compiled code that leaves its arrays, or counts on what it has not written, is found out.

Inside `fenced()`, the arrays that a program is given and those that it makes end where a page begins that nobody may
touch: reading or writing beyond them ends the process. What lies around them and behind the arena must stay as it was,
inputs must keep their numbers, and memory that was not written holds numbers that nobody expects.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from mycelia.runtime import executable
from mycelia.runtime.arena import Arena
from mycelia.runtime.executable import Executable, Running
from mycelia.runtime.results import ALIGN
from mycelia.types import Array, TensorType

LARGEST = 1 << 20  # bytes of an array that is worth a fence
MARK, BEHIND = 0xFB, 256  # of floating numbers large negative ones, and of integers, too
_libc = ctypes.CDLL(None, use_errno=True)


def beside_a_fence(shape: tuple[int, ...], dtype: Any, align: int = 1) -> tuple[Array, Array, Array]:
    """An array that nobody may go beyond, and the bytes before it and behind it; all of them hold marks."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    room = (nbytes // mmap.PAGESIZE + 1) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if _libc.mprotect(ctypes.c_void_p(start + room), mmap.PAGESIZE, mmap.PROT_READ & 0):
        raise OSError(ctypes.get_errno(), "no fence could be put up")
    whole = np.frombuffer(memory, np.uint8, room)
    whole[:] = MARK
    first = room - -(-nbytes // align) * align
    return whole[first : first + nbytes].view(dtype).reshape(shape), whole[:first], whole[first + nbytes :]


class Fences:
    """What was fenced since the last call of a program."""

    def __init__(self) -> None:
        self.marks: list[Array] = []
        self.arenas: list[Array] = []
        self.calls = 0

    def maker(self, t: TensorType) -> Callable[[], Array]:
        def make() -> Array:
            made, *marks = beside_a_fence(t.shape, t.dtype.numpy, ALIGN)
            self.marks += marks
            return made

        return make if t.nbytes <= LARGEST else _maker(t)

    def take(self, nbytes: int) -> int:
        start = _take(nbytes + BEHIND)
        arena = np.ctypeslib.as_array((ctypes.c_uint8 * (nbytes + BEHIND)).from_address(start))
        arena[:LARGEST] = MARK
        arena[nbytes:] = MARK
        self.arenas.append(arena[nbytes:])
        return start

    def call(self, program: Executable, running: Running, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        outer, self.marks, self.arenas = (self.marks, self.arenas), [], []
        given, kept = list(arrays), {}
        for i, x in enumerate(arrays):
            if i not in program.owned and type(x) is np.ndarray and x.nbytes <= LARGEST:
                given[i], *marks = beside_a_fence(x.shape, x.dtype)
                given[i][...] = kept[i] = x.copy()
                self.marks += marks
        results = _call(program, running, tuple(given))
        self.calls += 1
        for marks in (*self.marks, *self.arenas):
            assert (marks == MARK).all(), "compiled code wrote where no array is"
        for i, x in kept.items():
            assert x.tobytes() == given[i].tobytes(), f"compiled code changed input {i}, which is not its own"
        self.marks, self.arenas = outer
        return results


_call, _maker, _take = Executable._call, executable.maker, Arena.take


@contextmanager
def fenced() -> Iterator[Fences]:
    """Programs that are compiled and run inside the block have fences around their memory."""
    fences = Fences()
    executable.maker = fences.maker
    Arena.take = fences.take  # type: ignore[method-assign]
    Executable._call = lambda *given: fences.call(*given)  # type: ignore[method-assign]
    try:
        yield fences
    finally:
        executable.maker, Executable._call = _maker, _call  # type: ignore[method-assign]
        del Arena.take


@pytest.fixture(autouse=True)
def fences() -> Iterator[Fences]:
    """Every test of a folder whose `conftest.py` imports this has fences."""
    with fenced() as found:
        yield found
