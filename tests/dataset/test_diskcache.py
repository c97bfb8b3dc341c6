"""Maps kept on disk give what they would give anew, whoever writes beside them and whatever happens to files."""

from __future__ import annotations

import functools
import math
import multiprocessing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import random, text, vision
from mycelia.dataset.caches.diskcache import read, write
from mycelia.dataset.caches.fingerprints import fingerprint_of
from mycelia.dataset.flow.rowbytes import packed
from mycelia.errors import ArgumentError

FACTOR = 3


def scaled(x):
    return x * FACTOR


def outer(x):
    return scaled(x) + 1


@dataclass(frozen=True)
class Times:
    by: int

    def __call__(self, x):
        return x * self.by


def rows(dataset: ds.Dataset) -> list:
    return [[v.tolist() for v in r] for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


VALUES = [
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.array(2.5, np.float16),
    np.array(["a", "bcd"]),
    np.array(b"x\0y"),
    np.zeros((0, 3), bool),
    np.array([None, "x", 3], object),
    {"k": np.array([1, 2]), "t": np.array("word")},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: str(getattr(v, "dtype", "dict")))
def test_rows_come_back_from_their_files(value, tmp_path):
    write(tmp_path / "a" / "b.row", (value, np.array(1)))
    again, one = read(tmp_path / "a" / "b.row")
    assert packed(again) == packed(value)
    assert one == 1


def test_random_maps_equal_their_models(tmp_path):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        data = rng.integers(0, 8, (int(rng.integers(1, 20)), int(rng.integers(1, 4)))).astype(
            rng.choice(["u1", "i8", "f4"])
        )
        factor, shift = int(rng.integers(1, 4)), int(rng.integers(3))
        calls = [Times(factor), functools.partial(np.add, shift), np.negative][: int(rng.integers(1, 4))]
        source = ds.NumpySlicesDataset(data, ["x"], shuffle=False)
        plain = rows(source.map(calls, "x"))
        for _ in range(2):
            assert rows(source.map(calls, "x", cache=ds.DiskCache(str(tmp_path)))) == plain


def test_a_row_is_made_once(tmp_path):
    calls = tmp_path / "calls"

    def counted(x, log=str(calls)):
        with open(log, "a") as file:
            file.write("!")
        return x

    source = ds.NumpySlicesDataset([1, 2, 2, 3], ["x"], shuffle=False)
    for _ in range(3):
        assert rows(source.map(counted, "x", num_parallel_workers=1, cache=ds.DiskCache(str(tmp_path / "c")))) == [
            [1],
            [2],
            [2],
            [3],
        ]
    assert len(calls.read_text()) == 3


def _reads(folder: str, out: str) -> None:
    source = ds.NumpySlicesDataset(np.arange(300), ["x"], shuffle=False)
    Path(out).write_text(repr(rows(source.map(outer, "x", cache=ds.DiskCache(folder)))))


def test_writers_beside_each_other_do_no_harm(tmp_path):
    context = multiprocessing.get_context("fork")
    ends = [str(tmp_path / f"out{i}") for i in range(4)]
    workers = [context.Process(target=_reads, args=(str(tmp_path / "c"), end)) for end in ends]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert {Path(end).read_text() for end in ends} == {repr([[3 * i + 1] for i in range(300)])}
    names = [p.name for p in (tmp_path / "c").rglob("*") if p.is_file()]
    assert len(names) == 300
    assert all(n.endswith(".row") for n in names)


def test_damaged_files_are_made_again(tmp_path):
    source = ds.NumpySlicesDataset(np.arange(40), ["x"], shuffle=False)
    cached = source.map(outer, "x", cache=ds.DiskCache(str(tmp_path)))
    whole = rows(cached)
    rng = np.random.default_rng(0)
    for path in tmp_path.rglob("*.row"):
        data = bytearray(path.read_bytes())
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(data[: int(rng.integers(len(data) + 1))] if rng.integers(2) else data)
    assert rows(cached) == whole


def test_a_full_or_forbidden_disk_only_costs_time(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    source = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
    assert rows(source.map(scaled, "x", cache=ds.DiskCache(str(tmp_path / "file")))) == [[3], [6]]
    assert "could not be kept" in caplog.text


def test_what_a_function_uses_belongs_to_its_fingerprint(monkeypatch):
    before = fingerprint_of(outer)
    assert fingerprint_of(outer) == before
    monkeypatch.setitem(globals(), "FACTOR", 4)
    assert fingerprint_of(outer) != before
    words = [
        Times(1), Times(2), functools.partial(scaled, 1), functools.partial(scaled, 2), scaled, outer, len, np.sqrt,
        np.add,        vision.Resize(3), vision.Resize(4), vision.HWC2CHW(), text.Lookup(text.Vocab.from_list(["a"])),
        text.Lookup(text.Vocab.from_list(["b"])), lambda x: x, lambda x: (x,), lambda x, y=1: x, lambda x, y=2: x,
        (lambda k: lambda x: x + k)(1), (lambda k: lambda x: x + k)(2), (lambda k: lambda x: x + k)(np.arange(3)),
        np.float32, 1, True, 1.0, "1", b"1", (1,), [1], {1}, None, np.array(1), np.array([1], np.int8), math.sin, math,
    ]  # fmt: skip
    assert len({fingerprint_of(w) for w in words}) == len(words)


def test_what_cannot_be_compared_is_refused(tmp_path):
    class Odd:
        def __init__(self):
            self.hidden = object()

        def __call__(self, x):
            return x

    with (tmp_path / "f").open("w") as file:
        odd = Odd()
        for wrong in (odd, lambda x, f=file: x, lambda x, o=odd: x):
            with pytest.raises(ArgumentError, match="must be known"):
                ds.NumpySlicesDataset([1], ["x"]).map(wrong, "x", cache=ds.DiskCache(str(tmp_path)))


def test_a_random_operation_is_refused(tmp_path):
    def noisy(x):
        return x + random.current().integers(9)

    with pytest.raises(ds.DataError, match="must not be random"):
        rows(ds.NumpySlicesDataset([1], ["x"]).map(noisy, "x", cache=ds.DiskCache(str(tmp_path))))
