"""Batches of records by machine code: what it reads and writes is its own, and it says where it cannot go on."""

import gc
import os
import types

import numpy as np
import pytest

from mycelia.errors import ArgumentError
from mycelia.mindrecord import FileWriter, MindPage, RecordFile, batches, scratch
from mycelia.mindrecord.batches import _gather, gathered
from mycelia.mindrecord.foreign import unpacked
from mycelia.mindrecord.layout import START, WORD, Column, weights
from mycelia.mindrecord.store import OwnStore
from mycelia.wire import number_at
from tests.fences import beside_a_fence

ROWS = 9


@pytest.fixture
def store(tmp_path) -> OwnStore:
    writer = FileWriter(str(tmp_path / "a"))
    writer.add_schema({"x": {"type": "int32", "shape": [5]}, "y": {"type": "uint8"}, "z": {"type": "float64"}})
    writer.write_raw_data([{"x": np.arange(5) + i, "y": i, "z": i / 2} for i in range(ROWS)])
    writer.commit()
    return RecordFile(str(tmp_path / "a")).store


def fenced(array):
    copy, *_ = beside_a_fence(array.shape, array.dtype)
    copy[...] = array
    return copy


@pytest.mark.parametrize("order", [[0], [ROWS - 1], [3, 3, 0, 8, 1], list(range(ROWS))], ids=str)
def test_machine_code_gathers_what_was_written_and_keeps_to_its_memory(store, order):
    spans = store._spans(store.lengths[0])
    indices, size = np.array(order, np.int64), store.words * WORD
    told, at = [], 0
    for a, b in spans:
        told.append((a, b - a, at))
        at += (b - a) * len(order)

    out = fenced(np.zeros(at, np.uint8))
    given = [
        indices,
        store.sums.view(np.int64),
        weights(store.words).view(np.int64),
        np.array(told, np.int64).reshape(-1),
    ]
    where, sums, factors, places = map(fenced, given)
    one = fenced(np.zeros(size, np.uint8))
    count = len(order)
    assert _gather(store.raw.file, where, count, START, size, sums, factors, places, len(told), one, out) == count
    x, y, z = gathered(store.raw.file, indices, store.words, spans, store.sums)
    assert out.tobytes() == b"".join(c.tobytes() for c in (x, y, z))
    assert x.view(np.int32).tolist() == [[i + k for k in range(5)] for i in order]
    assert y.reshape(-1).tolist() == order
    assert z.view(np.float64).reshape(-1).tolist() == [i / 2 for i in order]


@pytest.mark.parametrize("order", [[], [-1], [ROWS], [0, ROWS], [2, -1, 3]], ids=str)
def test_records_that_are_not_there_are_not_read(store, order, monkeypatch):
    monkeypatch.setattr(batches, "_gather", lambda *_: pytest.fail("machine code would read beyond the sums"))
    spans = store._spans(store.lengths[0])
    assert gathered(store.raw.file, np.array(order, np.int64), store.words, spans, store.sums) is None


@pytest.mark.parametrize("broken", [0, 4, ROWS - 1])
def test_a_record_that_is_not_whole_is_noticed(store, broken):
    sums = store.sums.copy()
    sums[broken] += np.uint64(1)
    spans = store._spans(store.lengths[0])
    every = np.arange(ROWS)
    assert gathered(store.raw.file, every, store.words, spans, sums) is None
    assert gathered(store.raw.file, every[every != broken], store.words, spans, sums) is not None


def test_a_file_that_ends_too_early_is_noticed(store, tmp_path):
    os.truncate(tmp_path / "a", START + 2 * store.words * WORD + 8)
    spans = store._spans(store.lengths[0])
    for order, there in (([0, 1], True), ([2], False), ([0, 8], False)):
        found = gathered(store.raw.file, np.array(order, np.int64), store.words, spans, store.sums)
        assert (found is not None) == there


@pytest.mark.parametrize("dtype", ["int8", "float64", "uint64", "bool"])
@pytest.mark.parametrize("kind", ["int32", "uint8", "float16"])
def test_nothing_is_of_any_type(dtype, kind):
    """An empty array has no number that a column could not hold."""
    assert Column.of("x", {"type": kind, "shape": [-1]}).pack(np.zeros(0, dtype)) == b""


def test_numbers_that_a_column_cannot_hold_are_refused():
    with pytest.raises(ArgumentError, match="holds int8"):
        Column.of("x", {"type": "int8", "shape": [-1]}).pack(np.array([1, 200]))


def varint(n: int) -> bytes:
    parts = []
    while n > 127:
        parts.append(n & 127 | 128)
        n >>= 7
    return bytes([*parts, n])


@pytest.mark.parametrize("n", [0, 1, 127, 128, 300, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_numbers_of_64_bits_are_read_back(n):
    raw = b"\xff" + varint(n) + b"\x07"
    assert number_at(memoryview(raw), 1) == (n, len(raw) - 1)


def test_a_number_beyond_64_bits_is_cut_or_refused():
    assert number_at(memoryview(varint(2**64 + 5)), 0)[0] == 5  # the last byte has room for more
    with pytest.raises(ValueError, match="longer than 64 bits"):
        number_at(memoryview(b"\x80" * 10 + b"\x01"), 0)


@pytest.mark.parametrize("n", [*range(-32, 0), 0, 1, 127])
def test_small_numbers_are_one_byte_of_messagepack(n):
    assert unpacked(n.to_bytes(1, "big", signed=True)) == (n, 1)


def test_categories_are_plain_numbers(tmp_path):
    writer = FileWriter(str(tmp_path / "b"))
    writer.add_schema({"label": {"type": "int32"}, "x": {"type": "int32"}})
    writer.add_index(["label"])
    writer.write_raw_data([{"label": i % 3, "x": i} for i in range(7)])
    writer.commit()
    page = MindPage(str(tmp_path / "b"))
    page.category_field = "label"
    told = page.read_category_info()["categories"]
    assert told == [{"id": i, "name": str(i), "count": c} for i, c in enumerate((3, 2, 2))]
    assert all(type(t["count"]) is int for t in told)


def test_room_that_could_not_be_made_closes_no_other_file(monkeypatch):
    closed = []

    def refuse(*_):
        raise OSError("no more files")

    gc.collect()  # what earlier tests have left
    monkeypatch.setattr(
        scratch, "os", types.SimpleNamespace(**vars(os) | {"memfd_create": refuse, "close": closed.append})
    )
    with pytest.raises(OSError, match="no more files"):
        scratch.Scratch()
    gc.collect()
    assert closed == []
