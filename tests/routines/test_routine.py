"""Routines mean the same as machine code and as Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from llvmlite import binding

from mycelia.api.options import options
from mycelia.degradations import RECORD, Instead
from mycelia.errors import ArgumentError, CompileError
from mycelia.routines.words import (
    Bytes,
    Halves,
    Longs,
    Words,
    dropped,
    eight,
    eight_back,
    full_byte,
    mirror,
    read,
    under,
    upper,
    word,
)
from mycelia.runtime.routine import Routine, machine_code

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
    result, expected = Routine(fn, options)(*ours), fn(*wrapped)
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
    return x % 3


def shared(x: int, parts: int) -> int:
    return x // parts


def untyped(x) -> int:
    return x


def wide(data: Words, x: int) -> int:
    small = data[0]
    small = x
    return small


def outside(x: int) -> int:
    return len(str(x))


def sometimes(x: int) -> int:
    if x > 0:
        y = 1
    return y


def after_the_loop(x: int) -> int:
    for i in range(x):
        last = i
    return last


def hides_too_early(x: int) -> int:
    y = STEP + x  # noqa: F823 - that is the point
    STEP = 1  # noqa: F841 - hides the one of the module from the first line on
    return y


def itself(x: int) -> int:
    return itself(x - 1) if x else 0


def ping(x: int) -> int:
    return pong(x)


def pong(x: int) -> int:
    return ping(x)


def by_name(x: int) -> int:
    return fibonacci(n=x)


def too_few(x: int) -> int:
    return fibonacci() + x


def chained(x: int) -> int:
    return 1 if 0 <= x < 9 else 0


def contained(x: int) -> int:
    return 1 if x in SQUARES else 0


def either(x: int) -> int:
    return x or 7


def looped_else(x: int) -> int:
    for _ in range(x):
        pass
    else:
        x = 5
    return x


def twice_assigned(x: int) -> int:
    y = z = x
    return y + z


def uneven(x: int) -> int:
    a, b = x
    return a + b


def huge(x: int) -> int:
    return x + (1 << 64)


def shifted(x: int) -> int:
    return x << 64


def shifted_word(x: int) -> int:
    return SQUARES[x] >> 32


def negative_shift(x: int) -> int:
    return x + (1 << (STEP - 5))


def from_behind(x: int) -> int:
    return SQUARES[-1] + x


def beyond(x: int) -> int:
    return SQUARES[8] + x


def walrus(x: int) -> int:
    return (STEP := 5) + x  # noqa: F841


def three(x: int) -> int:
    return min(x, 1, 2)


def endless_range(x: int) -> int:
    for _ in range():
        pass
    return x


def default(x: int = 1) -> int:
    return x


def keyword_only(x: int, *, y: int) -> int:
    return x + y


def makes_function(x: int) -> int:
    f = lambda: x  # noqa: E731
    return f()


def enclosed():
    y = 5

    def inner(x: int) -> int:
        return x + y

    return inner


def overlapping(a: Words, b: Words) -> int:
    a[0] = 1
    b[0] = 2
    return a[0]


def same_twice(x: int, data: Words) -> int:
    return overlapping(data, data) + x


def wrong_array(x: int, data: Words) -> int:
    return guarded(data, x, x)


def no_array(x: int) -> int:
    return guarded(x, x, x)


def array_away(x: int, data: Words) -> int:
    data = x
    return data


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (sometimes, "sometimes, line .*: y has no value here, or not on every way"),
        (after_the_loop, "last has no value here"),
        (hides_too_early, "STEP has no value here"),
        (itself, "cannot call itself: itself -> itself"),
        (ping, "cannot call itself: ping -> pong -> ping"),
        (by_name, "arguments of fibonacci are given by place"),
        (too_few, "fibonacci takes 1 arguments, not 0"),
        (chained, "two values are compared at a time"),
        (contained, "no In"),
        (either, "`and` and `or` decide"),
        (looped_else, "no else"),
        (twice_assigned, "one target"),
        (uneven, "2 names need as many values"),
        (huge, "beyond 64 bits"),
        (shifted, "shift of 64 bits by 64"),
        (shifted_word, "shift of 32 bits by 32"),
        (negative_shift, "has no value: negative shift"),
        (from_behind, "index of -1 is outside of SQUARES"),
        (beyond, "index of 8 is outside of SQUARES"),
        (walrus, "no NamedExpr|STEP has no value"),
        (three, "min takes two values"),
        (endless_range, "range takes one to three"),
        (default, "parameters are plain"),
        (keyword_only, "parameters are plain"),
        (makes_function, "no Lambda"),
        (lambda x: x, "no function with a name|cannot be read"),
        (enclosed(), "y belongs to an enclosing function"),
        (len, "made of a Python function"),
        (same_twice, "data is given twice"),
        (wrong_array, "data is no array with elements of 8 bits"),
        (no_array, "x is no array"),
        (array_away, "data is an array"),
        (unknown, "unknown, line .*: y has no value"),
        (divides, "no Mod"),
        (untyped, "parameter x must be annotated"),
        (wide, "small has 32 bits"),
        (outside, "len is not a routine"),
    ],
)
def test_what_cannot_be_compiled_is_told_with_its_line(fn, message):
    with pytest.raises(CompileError, match=message):
        Routine(fn, options)(*([WORDS] if fn is wide else []), 1)


def test_a_routine_gets_ready_in_the_background():
    routine = Routine(fibonacci, options)
    while not routine.ready():
        pass
    assert routine(10) == 55


def ended(child):
    """The exit code of a child, which has a minute."""
    deadline = time.monotonic() + 60
    done, status = 0, 0
    while not done and time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if done else "stuck"


def test_a_child_that_is_forked_while_the_parent_compiles_compiles_for_itself():
    routine = Routine(fibonacci, options)
    with routine._lock:  # as the compiling thread holds it
        child = os.fork()
        if child == 0:
            os._exit(routine(10))
    assert ended(child) == 55


def test_a_fork_waits_until_no_thread_is_in_the_compiler():
    entered, leave = threading.Event(), threading.Event()

    def busy():
        with binding.ffi.lib._lock:  # as a thread that calls LLVM holds it
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=busy)
    thread.start()
    entered.wait(30)
    threading.Timer(0.2, leave.set).start()
    child = os.fork()
    if child == 0:
        os._exit(Routine(fibonacci, options)(10))
    thread.join()
    assert leave.is_set()
    assert ended(child) == 55


def guarded_choice(data: Bytes, n: int, place: int) -> int:
    """An element is read only where the condition holds."""
    return data[place] * 2 if place >= 0 and place < n else -1


def counted(data: Longs, n: int) -> int:
    data[0] += 1
    return n


def effects(data: Longs, n: int) -> int:
    """What is not chosen is not done, and an index is found once."""
    a = counted(data, 5) if n > 0 else 3
    data[counted(data, 1)] += 10
    return a


def mixed(data: Words, n: int) -> int:
    """Large constants beside elements of 32 bits, negated conditions, small stores of large constants."""
    data[1] = 5000000000
    near = 1 if data[0] < 5000000000 else 0
    return -(n > 3) + (data[0] + 5000000000) + near * 7 + (1 if n else data[0])


def nested(n: int, m: int) -> int:
    """Ranges below zero, loops in loops with jumps, a counter that its body changes."""
    total = 0
    for i in range(-n, n, 2):
        for _ in range(m, -m):
            total += 1000
        for j in range(-m, m):
            if j == i:
                continue
            while total > 50:
                total -= j * j + 1
                if total & 1:
                    break
            if j > 3:
                break
            total += i * j + 7
            j = 100
        i = 5
    return total


def many(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int, j: int, k: int, z: Longs) -> int:
    z[0] = a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f
    return z[0] + 13 * g + 17 * h + 19 * i + 23 * j + 29 * k


@pytest.mark.parametrize("place", [-(1 << 40), -1, 0, 1, 2, 1 << 40])
def test_a_choice_reads_only_what_is_chosen(place):
    both(guarded_choice, np.array([7, 3], np.uint8), 2, place)


@pytest.mark.parametrize("n", [0, 1])
def test_a_choice_does_only_what_is_chosen(n):
    both(effects, np.array([0, 0, 0]), n)


@pytest.mark.parametrize("n", [0, 5])
def test_constants_do_not_lose_bits(n):
    both(mixed, np.array([-5, 0], np.int32), n)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (5, 7), (8, 3), (-3, 2)])
def test_loops_in_loops_mean_the_same(n, m):
    both(nested, n, m)


def test_many_arguments_arrive_in_order():
    both(many, *range(1, 12), np.zeros(1, np.int64))


@pytest.mark.parametrize(
    "args",
    [(), (1, 2), (1 << 63,), ("3",), (np.zeros(3),), (1.5,)],
    ids=["none", "two", "large", "text", "array", "1.5"],
)
def test_a_call_with_other_arguments_is_told(args):
    with pytest.raises(ArgumentError, match="fibonacci"):
        Routine(fibonacci, options)(*args)


@pytest.mark.parametrize("data", [[1, 2], np.zeros(8, np.int16), np.zeros(9, np.uint8)[::2], None, 5])
def test_an_array_of_another_kind_is_told(data):
    with pytest.raises(ArgumentError, match="guarded needs a dense array"):
        Routine(guarded, options)(data, 2, 1)


def test_numbers_of_numpy_are_numbers():
    assert Routine(fibonacci, options)(np.int64(10)) == 55


def test_the_thread_that_compiles_parses_nothing(monkeypatch):
    """Python 3.11 raises SystemError, in either thread, when two of them make syntax trees at once."""
    routine = Routine(calls, options)
    monkeypatch.setattr("ast.parse", None)
    while not routine.ready():
        assert routine._begun
    assert routine(DATA, WORDS.copy(), np.array([5, -6]), 30) == calls(DATA.tolist(), WORDS.tolist(), [5, -6], 30)


FORK = """
import gc, os
from mycelia.codegen.processor import host
from mycelia.runtime.link import workers
workers(host()).start()
child = os.fork()
if child == 0:
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_child_does_not_complain_of_its_parents_compilers():
    ran = subprocess.run([sys.executable, "-W", "error", "-c", FORK], capture_output=True, text=True, check=True)
    assert ran.stderr == ""


def taken(file: int, places: Longs, count: int, size: int, out: Bytes) -> int:
    """Pieces of a file, and the sum of their words."""
    total = 0
    for i in range(count):
        if read(file, out, i * size, size, places[i]) != size:
            return -1 - i
        total = dropped(total + eight_back(out, i * size), 0)
    return total


def test_files_are_read_and_their_words_taken_as_python_does(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(np.random.default_rng(0).bytes(200))
    file = os.open(path, os.O_RDONLY)
    native = Routine(taken, options)
    for places in ([0, 8, 192], [184, 193, 0], [0, 500], [-5], []):
        got, told = np.zeros(64, np.uint8), np.zeros(64, np.uint8)
        given = np.array([*places, 0], np.int64)
        one = native(file, given, len(places), 8, got)
        other = native.python(file, given, len(places), 8, told)
        assert one & ((1 << 64) - 1) == other & ((1 << 64) - 1)
        assert got.tobytes() == told.tobytes()
    os.close(file)
    assert native(file, np.zeros(1, np.int64), 1, 8, np.zeros(8, np.uint8)) == -1


def packed(data: Bytes, out: Words, n: int) -> int:
    """Numbers of 7 bits to a byte, put together, and sums that go over the edge of their elements."""
    value = 0
    for i in range(n):
        value = value | (data[i] & 127) << 7 * i
        out[i & 3] = out[i & 3] * 1000003 + data[i]
    return dropped(value, 1) + value


def test_where_llvm_fails_python_gives_the_same(monkeypatch):
    def failing(*_):
        raise CompileError("the compiler process died with status -6")

    data, rooms = np.random.default_rng(0).integers(0, 256, 9, np.uint8), [np.ones((2, 2), np.int32) for _ in "ab"]
    want = Routine(packed, options)(data, rooms[0], 9)
    monkeypatch.setattr("mycelia.runtime.routine.machine_code", failing)
    slow = Routine(packed, options)
    assert not slow.ready()
    with pytest.raises(ArgumentError, match="needs a number"):
        slow(data, rooms[1], "nine")
    with pytest.raises(ArgumentError, match="takes 3 arguments"):
        slow(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is told once, now or when it was prepared
        assert [slow(data, rooms[1], n) for n in (0, 9)] == [0, want]
    assert rooms[0].tobytes() == rooms[1].tobytes()
    (told,) = RECORD.about(slow._subject)
    assert told.kind is Instead.INTERPRETED
    assert "the compiler process died" in told.why


def test_division_rounds_down_as_python_does():
    divided = Routine(shared, options)
    for x in (-7, -6, -1, 0, 1, 6, 7, 1 << 62, -(1 << 63)):
        for parts in (1, 2, 3, 1 << 40):
            assert divided(x, parts) == shared(x, parts)


def test_nobody_else_can_compile_a_routine_while_it_is_compiled(monkeypatch):
    """What the first has compiled would be dropped while others run it."""
    made, held = Routine(fibonacci, options), []

    def compiling(*args):
        held.append(made._lock.locked())
        return machine_code(*args)

    monkeypatch.setattr("mycelia.runtime.routine.machine_code", compiling)
    assert (made(10), made(20)) == (fibonacci(10), fibonacci(20))
    assert held == [True]


def test_a_routine_that_is_not_ready_is_compiled_by_one_thread(monkeypatch):
    begun = []
    monkeypatch.setattr(Routine, "_prepare", lambda routine: begun.append(routine))
    made = Routine(fibonacci, options)
    assert [made.ready() for _ in range(3)] == [False] * 3
    for thread in threading.enumerate():
        if thread.name == "mycelia-routine":
            thread.join()
    assert begun == [made]
