"""Files that change while they are read: rows, or an error of ours, and the process lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mycelia.dataset.errors import DataError
from mycelia.dataset.sources import textbytes
from mycelia.dataset.sources.textbytes import TextBytes


def test_bytes_are_those_of_the_file_at_any_slice(tmp_path):
    body = np.random.default_rng(0).bytes(1000)
    (tmp_path / "a").write_bytes(body)
    raw = TextBytes(str(tmp_path / "a"))
    assert len(raw) == 1000
    for begin, end in [(0, 0), (0, 1000), (3, 7), (990, 2000), (1000, 1001), (-5, None), (None, None)]:
        assert raw[begin:end] == body[begin:end]


@pytest.mark.parametrize("stretch", [1, 2, 7, 1 << 24])
def test_lines_are_those_of_python(stretch, tmp_path, monkeypatch):
    monkeypatch.setattr(textbytes, "STRETCH", stretch)
    for seed in range(30):
        body = bytes(np.random.default_rng(seed).choice(list(b"ab\r\n\n"), seed))
        (tmp_path / "a").write_bytes(body)
        raw = TextBytes(str(tmp_path / "a"))
        lines = body.split(b"\n")
        expected = [line.removesuffix(b"\r") for line in (lines[:-1] if body.endswith(b"\n") or not body else lines)]
        assert [raw[b:e] for b, e in raw.lines().tolist()] == expected
        assert raw.positions(10).tolist() == [i for i, b in enumerate(body) if b == 10]


def test_a_file_that_is_cut_short_is_told(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    raw = TextBytes(str(path))
    path.write_bytes(b"x" * 10)
    assert raw[:10] == b"x" * 10
    with pytest.raises(DataError, match="cut short while it was read: 10 of 100 bytes are left"):
        raw[5:11]


CUT = """
import sys
import mycelia.dataset as ds
from mycelia.errors import MyceliaError
path, kind, processes = sys.argv[1], sys.argv[2], sys.argv[3] == "True"
open(path, "w").write("1,some text\\n" * 50_000)
d = ds.CSVDataset(path, column_names=["a", "b"]) if kind == "csv" else ds.TextFileDataset(path)
d = d.map(lambda x: x, ["b" if kind == "csv" else "text"], num_parallel_workers=2, python_multiprocessing=processes)
rows = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
next(rows)
open(path, "w").write("1,")
try:
    sum(1 for _ in rows)
except MyceliaError as error:
    assert "cut short" in str(error), error
    print("told")
"""


@pytest.mark.parametrize("kind", ["csv", "lines"])
@pytest.mark.parametrize("processes", [False, True])
def test_a_pipeline_survives_a_file_that_is_cut_short(kind, processes, tmp_path):
    told = [sys.executable, "-c", CUT, str(tmp_path / "a.txt"), kind, str(processes)]
    done = subprocess.run(told, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "told\n"), done.stderr
