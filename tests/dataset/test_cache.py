"""A cache keeps rows in memory up to its size, and with spilling the rest in a temporary file."""

import logging
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.errors import ArgumentError, CallError


class Reads:
    """A source of rows of half a megabyte that counts how often each is read."""

    def __init__(self, count: int = 6) -> None:
        self.seen = [0] * count

    def fetch(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        self.seen[index] += 1
        return np.full(1 << 19, index, np.uint8), np.array(f"row {index}")


def _twice(cache: ds.DatasetCache, source: Reads) -> None:
    for _ in range(2):
        for index in range(len(source.seen)):
            image, name = cache.row(0, index, source)
            assert (image == index).all()
            assert str(name) == f"row {index}"


def test_without_spilling_rows_beyond_the_size_are_read_again():
    source, cache = Reads(), ds.DatasetCache(1, size=2)
    _twice(cache, source)
    assert source.seen == [1, 1, 1, 2, 2, 2]
    stat = cache.get_stat()
    assert (stat.num_mem_cached, stat.num_disk_cached, stat.hits, stat.misses) == (3, 0, 3, 9)


def test_with_spilling_every_row_is_read_once():
    source, cache = Reads(), ds.DatasetCache(1, size=2, spilling=True)
    _twice(cache, source)
    assert source.seen == [1] * 6
    stat = cache.get_stat()
    assert (stat.num_mem_cached, stat.num_disk_cached, stat.hits, stat.misses) == (3, 3, 6, 6)
    assert stat.avg_cache_sz >= 1 << 19


def test_a_spilled_pipeline_gives_the_rows_of_an_uncached_one():
    images = np.random.default_rng(0).integers(0, 255, (20, 1 << 18)).astype(np.uint8)
    plain = ds.NumpySlicesDataset(images, ["x"], shuffle=False)
    cache = ds.DatasetCache(1, size=1, spilling=True)
    cached = plain.map(lambda x: x // 2, "x", num_parallel_workers=4, cache=cache)
    rows = cached.create_dict_iterator(num_epochs=3, output_numpy=True)
    for _ in range(3):
        assert np.array_equal([r["x"] for r in rows], images // 2)
    assert (cache.get_stat().num_mem_cached, cache.get_stat().num_disk_cached) == (4, 16)


def test_the_temporary_file_has_no_name_and_ends_with_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    cache = ds.DatasetCache(1, size=1, spilling=True)
    _twice(cache, Reads())
    assert cache.get_stat().num_disk_cached == 5
    assert list(tmp_path.iterdir()) == []
    del cache
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_a_full_disk_is_told_and_rows_are_read_again(monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    source = Reads()
    with caplog.at_level(logging.WARNING, "mycelia.dataset"):
        _twice(ds.DatasetCache(1, size=1, spilling=True), source)
    assert source.seen == [1, 2, 2, 2, 2, 2]
    assert [r.message for r in caplog.records if "No space left" in r.message] != []


def test_a_forked_process_spills_into_a_file_of_its_own():
    cache, source = ds.DatasetCache(1, size=1, spilling=True), Reads(3)
    _twice(cache, source)
    cache.spilled.owner += 1  # as it looks from a forked process
    _twice(cache, source)
    assert source.seen == [1, 2, 2]
    assert cache.spilled.owner == os.getpid()


def test_two_sources_that_share_a_cache_do_not_get_each_others_rows(tmp_path):
    cache = ds.DatasetCache(1)
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{name}\n")
    for _ in range(2):
        for name in ("one", "two"):
            source = ds.TextFileDataset(str(tmp_path / name), shuffle=False, cache=cache)
            assert str(next(source.create_tuple_iterator(output_numpy=True))[0]) == name


def test_a_step_that_writes_into_a_cached_row_does_not_change_the_cache():
    cache, source = ds.DatasetCache(1, size=1, spilling=True), Reads(3)
    for _ in range(3):
        for index in range(3):
            image = cache.row(0, index, source)[0]
            assert (image == index).all()
            image += 100


def test_the_arguments_of_a_server_are_checked_and_kept():
    cache = ds.DatasetCache(1, 0, True, "h", 50052, 2, 20)
    again = pickle.loads(pickle.dumps(cache))
    for made in (cache, again):
        assert (made.hostname, made.port, made.num_connections, made.prefetch_size) == ("h", 50052, 2, 20)
        assert made.spilling
    for wrong in ({"port": 80}, {"num_connections": 0}, {"prefetch_size": -1}, {"size": -1}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            ds.DatasetCache(1, **wrong)
    for wrong in ({"hostname": 3}, {"spilling": 1}, {"size": 1.5}, {"port": "50052"}):
        with pytest.raises(CallError, match=next(iter(wrong))):
            ds.DatasetCache(1, **wrong)
    with pytest.raises(ArgumentError, match="session_id"):
        ds.DatasetCache(0)


def test_a_spilled_row_that_somebody_changed_is_read_again_and_runs_nothing(tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    source, cache = Reads(), ds.DatasetCache(1, size=1, spilling=True)
    _twice(cache, source)
    start, size = next(iter(cache.spilled.places.values()))
    hostile = pickle.dumps((Trap(),))
    os.pwrite(cache.spilled.file.fileno(), hostile.ljust(size, b"\0"), start)
    _twice(cache, source)
    assert not (tmp_path / "ran").exists()
    assert sum(source.seen) > 6


def test_rows_that_hold_more_than_arrays_and_texts_are_read_again_and_not_spilled():
    class Odd:
        seen = 0

        def fetch(self, index):
            self.seen += 1
            return (np.zeros(1 << 21, np.uint8), object())

    source, cache = Odd(), ds.DatasetCache(1, size=1, spilling=True)
    for _ in range(2):
        cache.row(0, 0, source)
    assert source.seen == 2
    assert cache.get_stat().num_disk_cached == 0
