"""What generated code takes beyond its arena: every function of `codegen/heap.py` on an allocator that checks, and
whole programs, which give back what they took, also when there is no more.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.heap import HEAD, JUMP, LARGEST, SEGMENT, SLAB, Heap, item_bytes
from mycelia.codegen.records import WORDS
from mycelia.errors import OutOfMemory
from mycelia.ir import Function
from mycelia.loops.status import NO_MEMORY, TOO_DEEP
from mycelia.primitives.host import Callee, HostCall
from mycelia.runtime.link import linked, workers
from mycelia.testing import compile
from mycelia.types import SequenceType, TensorType, define_frame, float32, int32
from tests.allocator import Allocator, checked
from tests.runtime.programs import chain, count, gradient, loop, tree

i32, i64, pointer = ir.IntType(32), ir.IntType(64), ir.PointerType()
ROW = TensorType(float32, (3,))
FRAME = define_frame("tests.heap", (ROW, TensorType(int32, ()), SequenceType(ROW)))
ITEMS = (1, 2, 4, 8, 24, None)  # bytes; those that a register takes, more, and those that are told at each call


@cache
def image() -> tuple[bytes, tuple[str, ...]]:
    """The functions of a heap as an object, each inside one that gives the status with which it ends."""
    module = ir.Module("heap")
    module.triple = options().target.triple
    heap = Heap(module, lambda n: 0)
    functions = {
        "grow": heap.grow(), "shrink": heap.shrink(), "unstack": heap.unstack(), "bump": heap.bump(),
        "sequence": heap.sequence(), "release": heap.release("run.release"),
        "add": heap.add(SequenceType(ROW)), "add_frames": heap.add(FRAME),
        **{f"append{n}": heap.append(n) for n in ITEMS},
    }  # fmt: skip
    for name, f in functions.items():
        kind = ir.FunctionType(i32, [pointer, *[a.type for a in f.args]])
        outer = ir.Function(module, kind, name)
        b = ir.IRBuilder(outer.append_basic_block("entry"))
        result, *given = outer.args
        status = heap.guard(b, given[0], b.alloca(ir.ArrayType(i64, JUMP)))
        with b.if_then(b.icmp_unsigned("==", status, i32(0))):
            made = b.call(f, given)
            if made.type == pointer:
                b.store(made, result)
        b.ret(status)
    (made,) = workers(options().target).compile([str(module)])
    return made, tuple(functions)


class Machine:
    """A heap, its functions, and what is known of it."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator = allocator
        object_, names = image()
        self.code = linked([object_], ["heap"], options().target, names)
        self.words = np.zeros(WORDS, np.int64)
        self.entered: list[tuple[int, int, bool, int]] = []
        self.before: list[list[int]] = []  # what was free, and which segment, when each was entered

    def call(self, name: str, *given: int) -> int:
        """The result, if there is one; a status is an error."""
        result = ctypes.c_int64(0)
        kind = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * len(given)]
        run = self.code.function(name, ctypes.c_int32, *kind)
        status = run(ctypes.addressof(result), self.words.ctypes.data, *given)
        self.allocator.check()
        if status:
            raise StatusError(status)
        return result.value

    def enter(self, nbytes: int, mark: int) -> None:
        """As a procedure does that needs so many bytes."""
        self.before.append(self.words[[4, 5, 10]].tolist())
        grown = int(self.words[4]) + nbytes > self.words[5]
        if grown:
            self.call("grow", nbytes)
        start = int(self.words[4])
        assert start % 64 == 0
        assert start + nbytes <= self.words[5]
        segment = self.allocator.holding(start, nbytes)
        assert segment == self.words[10]
        assert start >= segment + HEAD
        assert all(start + nbytes <= s or s + n <= start for s, n, _, _ in self.entered)
        self.words[4] = start + nbytes
        ctypes.memset(start, mark, nbytes)
        self.entered.append((start, nbytes, grown, mark))

    def leave(self) -> None:
        start, nbytes, grown, mark = self.entered.pop()
        assert ctypes.string_at(start, nbytes) == bytes([mark]) * nbytes
        self.words[4] = start
        if grown:
            self.call("shrink")
        assert self.words[[4, 5, 10]].tolist() == self.before.pop()


class StatusError(Exception):
    """The status with which generated code has ended."""


@pytest.fixture
def machine() -> Iterator[Machine]:
    with checked() as allocator:
        yield Machine(allocator)
        allocator.check()


def test_procedures_have_rooms_of_their_own_until_they_leave(machine):
    rng = np.random.default_rng(0)
    for step in range(400):
        if machine.entered and rng.random() < 0.45:
            machine.leave()
        else:
            machine.enter(64 * int(rng.choice([1, 2, 5, 300, 1023, 1100, 5000])), step % 251)
    while machine.entered:
        machine.leave()
    assert machine.words[10] == 0
    assert machine.words[11] != 0, "one segment is kept to spare"
    machine.call("unstack")
    machine.allocator.check_empty()
    assert not machine.words[[4, 5, 10, 11]].any()


def test_all_segments_are_given_back_at_once(machine):
    for n in range(50):
        machine.enter(64 * 400, n)
    machine.call("unstack")
    machine.allocator.check_empty()
    assert not machine.words[[4, 5, 10, 11]].any()


def test_each_segment_is_twice_as_large_as_the_one_before_or_as_large_as_needed(machine):
    for n in range(200):
        machine.enter(4096, n)
    assert machine.allocator.taken == [SEGMENT, 2 * SEGMENT, 4 * SEGMENT, 8 * SEGMENT]
    machine.enter(1 << 21, 7)
    assert (1 << 21) + HEAD <= machine.allocator.taken[-1] <= (1 << 21) + HEAD + 64
    machine.call("unstack")


def test_a_segment_to_spare_is_used_again_where_it_fits(machine):
    machine.enter(SEGMENT - 1024, 1)
    for _ in range(5):
        machine.enter(4096, 2)
        machine.leave()
    assert len(machine.allocator.taken) == 2
    machine.enter(5 * SEGMENT, 3)  # for which it is too small
    machine.enter(4096, 4)
    for _ in range(3):
        machine.leave()
    machine.call("unstack")
    machine.allocator.check_empty()


@pytest.mark.parametrize("room", [0, 1, 63, 64, 65])
def test_what_just_fits_a_spare_segment_lies_in_it(machine, room):
    machine.enter(SEGMENT - 1024, 1)
    machine.enter(4096, 2)
    spare = machine.allocator.taken[-1]
    machine.leave()
    machine.enter(-(-(spare - HEAD - 128 + room) // 64) * 64, 3)
    machine.leave()
    machine.call("unstack")
    machine.allocator.check_empty()


def test_calls_that_want_too_much_are_too_deep(machine):
    with pytest.raises(StatusError, match=str(TOO_DEEP)):
        machine.call("grow", LARGEST)
    assert not machine.allocator.taken


def test_rooms_live_beside_one_another_until_the_heap_is_let_go(machine):
    rng, rooms = np.random.default_rng(1), []
    for n in range(300):
        size = int(
            rng.choice([0, 1, 8, 63, 64, 65, 4000, SLAB // 2, SLAB, SLAB + 1], p=[0.1] * 6 + [0.34] + [0.02] * 3)
        )
        at = machine.call("bump", size)
        assert at % 64 == 0
        assert machine.allocator.holding(at, size) is not None
        ctypes.memset(at, n % 251, size)
        rooms.append((at, size, n % 251))
    for at, size, mark in rooms:
        assert ctypes.string_at(at, size) == bytes([mark]) * size
    machine.call("release")
    machine.allocator.check_empty()
    assert not machine.words[:4].any()


def test_small_rooms_share_a_slab(machine):
    for _ in range(SLAB // 4096):
        machine.call("bump", 4096)
    assert len(machine.allocator.taken) == 1
    machine.call("bump", 1)
    assert len(machine.allocator.taken) == 2
    machine.call("release")
    machine.allocator.check_empty()


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("length", [0, 3])
def test_sequences_grow_and_keep_what_they_hold(machine, item, length):
    nbytes = item or 40
    at = machine.call("sequence", length, nbytes)
    words = np.ctypeslib.as_array((ctypes.c_int64 * 4).from_address(at))
    assert list(words[:2]) == [length, length]
    rows = np.random.default_rng(2).integers(0, 256, (200, nbytes), np.uint8)
    ctypes.memmove(int(words[2]), rows.ctypes.data, length * nbytes)
    for n in range(length, 200):
        machine.call(f"append{item}", at, rows[n].ctypes.data, *([] if item else [nbytes]))
        assert words[0] == n + 1 <= words[1]
        if n % 40 == 0:
            assert ctypes.string_at(int(words[2]), (n + 1) * nbytes) == rows[: n + 1].tobytes()
    assert ctypes.string_at(int(words[2]), 200 * nbytes) == rows.tobytes()
    assert len(machine.allocator.taken) <= 10, "the room doubles"
    machine.call("release")
    machine.allocator.check_empty()


def sequence_of(machine: Machine, rows: np.ndarray) -> int:
    at = machine.call("sequence", len(rows), item_bytes(ROW))
    padded = np.zeros((len(rows), item_bytes(ROW) // 4), "f")
    padded[:, : ROW.size] = rows
    ctypes.memmove(numbers(at, 4)[2], padded.ctypes.data, padded.nbytes)
    return at


def numbers(at: int, count: int, kind: Any = ctypes.c_int64) -> list[Any]:
    return list((kind * count).from_address(at))


def rows_of(at: int) -> np.ndarray:
    length, _, data, _ = numbers(at, 4)
    width = item_bytes(ROW) // 4
    return np.array(numbers(data, length * width, ctypes.c_float), "f").reshape(length, width)[:, : ROW.size]


def test_sequences_of_cotangents_are_added_and_nothing_is_zero(machine):
    x, y = np.random.default_rng(3).normal(size=(2, 5, 3)).astype("f")
    a, b = sequence_of(machine, x), sequence_of(machine, y)
    np.testing.assert_array_equal(rows_of(machine.call("add", a, b)), x + y)
    assert machine.call("add", a, 0) == a
    assert machine.call("add", 0, b) == b
    assert machine.call("add", 0, 0) == 0
    np.testing.assert_array_equal(rows_of(a), x)
    machine.call("release")
    machine.allocator.check_empty()


def test_frames_of_cotangents_are_added_field_by_field(machine):
    x, y = np.random.default_rng(3).normal(size=(2, 2, 3)).astype("f")
    frames = []
    for n, rows in ((5, x), (7, y)):
        at = machine.call("bump", 32)
        ctypes.memmove(at, rows[0].ctypes.data, 12)
        (ctypes.c_int32 * 1).from_address(at + 16)[0] = n
        (ctypes.c_int64 * 1).from_address(at + 24)[0] = sequence_of(machine, rows)
        frames.append(at)
    total = machine.call("add_frames", *frames)
    np.testing.assert_array_equal(numbers(total, 3, ctypes.c_float), x[0] + y[0])
    assert numbers(total + 16, 1, ctypes.c_int32) == [12]
    np.testing.assert_array_equal(rows_of(numbers(total + 24, 1)[0]), x + y)
    assert machine.call("add_frames", 0, frames[1]) == frames[1]
    machine.call("release")
    machine.allocator.check_empty()


@pytest.mark.parametrize("left", range(4))
def test_without_memory_a_call_ends_in_its_status_and_nothing_is_lost(machine, left):
    machine.allocator.left = left
    calls = (("grow", 64), ("bump", 64), ("sequence", 9, 8), ("sequence", 9, 8), ("grow", SEGMENT))
    for done, (name, *given) in enumerate(calls):
        if done == left:
            with pytest.raises(StatusError, match=str(NO_MEMORY)):
                machine.call(name, *given)
            break
        machine.call(name, *given)
    machine.call("release")
    machine.call("unstack")
    machine.allocator.check_empty()


ROWS = chain((70,))
PROGRAMS = {
    "loop": loop(5), "rows": loop(300), "tree": tree(), "chain": chain(),
    "wide chain": ROWS.with_results([p.reduce_sum(ROWS.results[0])]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("derived", [0, 1])
def test_programs_give_back_what_they_take_and_stay_inside(name, derived):
    fn = PROGRAMS[name]
    for _ in range(derived):
        fn = gradient(fn)
    sizes = (0, 1, 3, 9) if name == "tree" else (0, 1, 70, 300)
    with checked() as allocator:
        run = compile(fn)
        for n in sizes:
            run(*inputs(fn, n))
            allocator.check_empty()
    assert allocator.taken or not (derived or "chain" in name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_find_no_memory_say_so_and_give_back_what_they_took(name):
    fn = gradient(PROGRAMS[name])
    given = inputs(fn, 9 if name == "tree" else 200)
    with checked() as allocator:
        run = compile(fn)
        want = run(*given)
        whole = len(allocator.taken)
        for left in sorted({0, 1, whole // 2, whole - 1}):
            allocator.left = left
            with pytest.raises(OutOfMemory):
                run(*given)
            allocator.check_empty()
        allocator.left = None
        np.testing.assert_array_equal(run(*given), want)
        allocator.check_empty()


@pytest.mark.parametrize("name", ["loop", "chain"])
def test_programs_that_python_ends_give_back_what_they_took(name):
    fn = gradient(PROGRAMS[name])
    asked: list[int] = []

    def fails_at_first(x: Any) -> Any:
        asked.append(1)
        return x if len(asked) > 1 else 1 / 0

    told = HostCall(Callee(fails_at_first), (fn.results[0].tensor,), False)(fn.results[0])
    given = inputs(fn, 200)
    want = compile(fn)(*given)[0]
    with checked() as allocator:
        run = compile(fn.with_results(list(told)))
        with pytest.raises(ZeroDivisionError):
            run(*given)
        assert allocator.taken
        allocator.check_empty()
        np.testing.assert_array_equal(run(*given)[0], want)
        allocator.check_empty()


def test_what_results_hold_is_given_back_with_the_last_of_them():
    from tests.runtime.test_sequences import turns

    fn = turns(ROW, lambda x: x * 0.5)
    with checked() as allocator:
        results = compile(fn)(count(100), np.ones(3, "f"))
        gc.collect()
        assert allocator.blocks
        allocator.check()
        del results
        gc.collect()
        allocator.check_empty()


def inputs(fn: Function, n: int) -> list[Any]:
    """Numbers between 0 and 1; where a program wants to know how often, `n`."""
    found: list[Any] = []
    for i, t in enumerate(fn.types):
        assert isinstance(t, TensorType)
        whole = not t.dtype.is_float or (i == 1 and t.shape == ())
        found.append(np.full(t.shape, n if whole else 0.3, t.dtype.numpy))
    return found
