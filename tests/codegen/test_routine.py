"""Routines mean the same as machine code and as Python."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from mycelia.codegen.words import Bytes, Halves, Longs, Words, dropped, eight, full_byte, mirror, under, upper, word
from mycelia.errors import CompileError
from mycelia.runtime.routine import Routine

SQUARES = (0, 1, 4, 9, 16, 25, 36, 49)
STEP = 3


def sums(data: Bytes, out: Words, n: int) -> int:
    """Loops, jumps, tables and both widths of numbers."""
    total = 0
    for i in range(1, n, STEP):
        if data[i] > 200:
            break
        if data[i] & 1:
            continue
        out[i] = SQUARES[data[i] & 7] - 3 * data[i]
        total += out[i] << 20
    else_turns = 0
    while total > 1000 or total < -1000:
        total = total >> 1
        else_turns += 1
    return total * 100 + else_turns


def guarded(data: Bytes, n: int, place: int) -> int:
    """The second half of a condition is not looked at when the first decides."""
    if place >= 0 and place < n and data[place] != 7:
        return 1
    if not (place >= n or place < 0 or data[place] == 7):
        return 2
    return -1 if place < 0 else 0


def clamped(values: Halves, out: Halves, low: int, high: int, n: int) -> int:
    changed = 0
    for i in range(n):
        out[i] = min(max(values[i], low), high)
        changed += 1 if out[i] != values[i] else 0
    return changed


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def calls(data: Bytes, out: Words, longs: Longs, n: int) -> int:
    longs[0] = fibonacci(n)
    longs[1] -= sums(data, out, n)
    return longs[0] ^ longs[1]


def bits(data: Bytes, n: int) -> int:
    x = eight(data, n)
    y = under(x, 5) | dropped(x, 7)
    return upper(y, 20) + full_byte(x) * 3000000


def narrow(values: Words, n: int) -> int:
    low = word(n)
    mirror(values)
    for i in range(64):
        values[i] = values[i] * low >> 3
    return values[9] + low


def both(fn, *args):
    """The results and the arrays afterwards, as machine code and as Python with plain numbers."""

    class Plain:
        """An array whose elements are plain numbers; an index outside is an error."""

        def __init__(self, array):
            self.array = array

        def __getitem__(self, i):
            assert 0 <= i < len(self.array)
            return int(self.array[i])

        def __setitem__(self, i, value):
            assert 0 <= i < len(self.array)
            self.array[i] = np.array(value & ((1 << 64) - 1), np.uint64).astype(self.array.dtype)

    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    wrapped = [Plain(a) if isinstance(a, np.ndarray) else a for a in theirs]
    result, expected = Routine(fn)(*ours), fn(*wrapped)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert result == expected
    return result


RNG = np.random.default_rng(0)
DATA = RNG.integers(0, 210, 64).astype(np.uint8)
WORDS = RNG.integers(-1000, 1000, 64).astype(np.int32)


@pytest.mark.parametrize("n", [0, 1, 2, 40, 64])
def test_loops_and_jumps_mean_the_same(n):
    both(sums, DATA, WORDS, n)


@pytest.mark.parametrize("place", [-1, 0, 1, 2])
def test_conditions_are_decided_from_the_left(place):
    both(guarded, np.array([7, 3], np.uint8), 2, place)


def test_elements_keep_their_sign_and_width():
    values = np.array([-32768, -200, -1, 0, 1, 200, 32767], np.int16)
    assert both(clamped, values, values * 0, -100, 150, 7) == 4


def test_several_names_are_assigned_at_once():
    assert both(fibonacci, 90) == 2880067194370816120


def test_routines_call_routines():
    both(calls, DATA, WORDS, np.array([5, -6]), 30)


@pytest.mark.parametrize(
    "data", [DATA, np.full(64, 254, np.uint8), np.full(64, 255, np.uint8), np.arange(0, 256, 4, np.uint8)]
)
def test_bits_are_cut_and_moved_alike(data):
    for n in range(56):
        both(bits, data.astype(np.uint8), n)


def test_squares_are_mirrored():
    both(narrow, np.arange(64, dtype=np.int32), 7)


def unknown(x: int) -> int:
    return y + x  # noqa: F821 - that is the point


def divides(x: int) -> int:
    return x // 3


def untyped(x) -> int:
    return x


def wide(data: Words, x: int) -> int:
    small = data[0]
    small = x
    return small


def outside(x: int) -> int:
    return len(str(x))


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (unknown, "unknown, line .*: y has no value"),
        (divides, "no FloorDiv"),
        (untyped, "parameter x must be annotated"),
        (wide, "small has 32 bits"),
        (outside, "len is not a routine"),
    ],
)
def test_what_cannot_be_compiled_is_told_with_its_line(fn, message):
    with pytest.raises(CompileError, match=message):
        Routine(fn)(*([WORDS] if fn is wide else []), 1)


def test_a_routine_gets_ready_in_the_background():
    routine = Routine(fibonacci)
    while not routine.ready():
        pass
    assert routine(10) == 55


def test_a_child_that_is_forked_while_the_parent_compiles_compiles_for_itself():
    routine = Routine(fibonacci)
    with routine._lock:  # as the compiling thread holds it
        child = os.fork()
        if child == 0:
            os._exit(routine(10))
    deadline = time.monotonic() + 60
    done, status = 0, 0
    while not done and time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 55
