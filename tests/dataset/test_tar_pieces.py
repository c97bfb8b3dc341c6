"""Bytes of tar shards on their way to batches: by whichever way they are read, they are those of the file."""

from __future__ import annotations

import io
import os
import tarfile

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset.errors import DataError
from mycelia.dataset.sources.archives import BLOCK
from mycelia.dataset.sources.tarpieces import LARGE, PARTS, Archive, Spots, stacked

RNG = np.random.default_rng(0)


@pytest.fixture
def shard(tmp_path):
    raw = RNG.integers(0, 256, 1 << 20).astype(np.uint8)
    raw.tofile(tmp_path / "a")
    return Archive(str(tmp_path / "a")), raw


def slowly(monkeypatch, most):
    """Reads give no more than so many bytes at once, as a system may."""
    whole = os.preadv

    def some(file, places, begin):
        left, taken = most, []
        for place in places:
            taken.append(memoryview(place)[: max(left, 0)])
            left -= len(place)
        return whole(file, taken, begin)

    monkeypatch.setattr(os, "preadv", some)


@pytest.mark.parametrize("most", [None, 1000, 37, 1])
def test_bytes_that_follow_one_another_are_put_where_they_belong(shard, monkeypatch, most):
    archive, raw = shard
    if most is not None:
        slowly(monkeypatch, most)
    for sizes in ([], [0], [5], [3, 0, 7, 1], [40] * 9, [1] * (PARTS + 5) if most in (None, 1000) else [2]):
        places = [np.zeros(n, np.uint8) for n in sizes]
        archive.scatter(places, 100)
        assert np.concatenate([raw[:0], *places]).tobytes() == raw[100 : 100 + sum(sizes)].tobytes()
    assert archive.fill(np.zeros(3000, np.uint8), 7).tobytes() == raw[7:3007].tobytes()


def test_a_shard_that_ends_too_early_is_told(shard):
    archive, raw = shard
    for sizes in ([10], [3, 9], [0, 4, 1]):
        places = [np.zeros(n, np.uint8) for n in sizes]
        with pytest.raises(DataError, match="cut short"):
            archive.scatter(places, len(raw) - sum(sizes) + 1)
        archive.scatter(places, len(raw) - sum(sizes))
        assert np.concatenate(places).tobytes() == raw[-sum(sizes) :].tobytes()


def test_expecting_bytes_changes_nothing(shard):
    archive, raw = shard
    for size in (-5, 0, 1, 1 << 30):
        archive.expect(0, size)
    assert archive.fill(np.zeros(9, np.uint8), 0).tobytes() == raw[:9].tobytes()


@pytest.mark.parametrize("gap", [0, 512, LARGE >> 2, (LARGE >> 2) + 1, LARGE])
@pytest.mark.parametrize("size", [1000, LARGE // 2, LARGE])
@pytest.mark.parametrize("layout", [[0, 1], [1, 0], [1], [0]], ids=str)
@pytest.mark.parametrize("most", [None, 5000])
def test_columns_of_rows_are_those_of_the_file(shard, monkeypatch, gap, size, layout, most):
    archive, raw = shard
    rows = min(4, (len(raw) - BLOCK) // (size + 300 + 2 * gap + BLOCK))
    firsts = BLOCK + np.arange(rows) * (size + 300 + 2 * gap)
    places = np.stack([firsts, firsts + size + gap], 1)
    sizes = np.tile([size, 300], (rows, 1))
    if most is not None:
        slowly(monkeypatch, most)
    spots = Spots(places, sizes, layout)
    even = spots.even()
    assert even == [[size, 300][at] for at in layout]
    outs = [np.zeros((rows, n), np.uint8) for n in even]
    assert spots.stack(outs, archive, 0, None)
    for at, out in zip(layout, outs, strict=True):
        for row in range(rows):
            begin = places[row, at]
            assert out[row].tobytes() == raw[begin : begin + sizes[row, at]].tobytes()


def test_columns_of_several_lengths_do_not_make_lines():
    places = np.array([[512, 2048], [4096, 6144]])
    for sizes, layout, even in (
        ([[10, 20], [10, 20]], [0, 1], [10, 20]), ([[10, 20], [10, 20]], [1], [20]),
        ([[10, 20], [10, 21]], [0, 1], None), ([[10, 20], [10, 21]], [0], [10]), ([[10, 20], [9, 20]], [1, 0], None),
        ([[10, 20], [9, 20]], [1], [20]), ([[10, 20], [10, 20]], [-1, 0], None), ([[10, 20], [10, 20]], [-1], None),
    ):  # fmt: skip
        assert Spots(places, np.array(sizes), layout).even() == even


def test_pieces_of_one_size_are_put_above_one_another(shard):
    _, raw = shard
    for size in (0, 1, 5, 300):
        for starts in ([0], [9, 2, 2], [len(raw) - size, 0]):
            made = stacked(raw, np.array(starts), size)
            assert [row.tobytes() for row in made] == [raw[a : a + size].tobytes() for a in starts]
            made[...] = 0
    assert raw.any()


@pytest.mark.parametrize("size", [300, LARGE + 7])
@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("columns", [["a", "b"], ["b", "a"], ["b"], ["b", "__key__"]], ids=str)
def test_batches_of_shards_are_their_files(tmp_path, size, alike, columns):
    count, want = 9, []
    for shard_number in range(2):
        with tarfile.open(tmp_path / f"{shard_number}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for i in range(count):
                files = {"a": RNG.bytes(size + (0 if alike else i)), "c": RNG.bytes(77), "b": RNG.bytes(20)}
                key = f"{shard_number}{i}"
                for ending, body in files.items():
                    told = tarfile.TarInfo(f"{key}.{ending}")
                    told.size = len(body)
                    tar.addfile(told, io.BytesIO(body))
                want.append({**files, "__key__": key})
    dataset = ds.WebDataset(str(tmp_path / "*.tar"), columns, shuffle=False)

    def found(rows):
        return [tuple(str(v) if v.dtype.kind == "U" else v.tobytes() for v in row) for row in rows]

    listed = [tuple(row[c] for c in columns) for row in want]
    assert found(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)) == listed
    if alike or "a" not in columns:
        for batch in (4, 18):
            batches = dataset.batch(batch).create_tuple_iterator(num_epochs=1, output_numpy=True)
            assert [r for b in batches for r in found(zip(*map(list, b), strict=True))] == listed
