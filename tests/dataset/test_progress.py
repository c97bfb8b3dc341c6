"""Progress: rows are passed on as they are, counted, and told with their pace."""

from __future__ import annotations

import io

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.errors import ArgumentError


def test_rows_are_passed_on_and_counted():
    source = ds.NumpySlicesDataset(np.zeros((50, 8), np.float32), ["x"], shuffle=False)
    told = io.StringIO()
    counted = ds.progress(source.create_tuple_iterator(num_epochs=2, output_numpy=True), 50, every=0, file=told)
    assert sum(1 for _ in counted) == 50
    assert counted.pace.rows == 50
    assert counted.pace.bytes == 50 * 32
    assert 0 <= counted.pace.waited <= counted.pace.seconds
    assert counted.pace.rows_per_second == pytest.approx(50 / counted.pace.seconds)
    assert told.getvalue().splitlines()[-1].startswith("50 of 50 rows (100 %)")
    assert sum(1 for _ in counted) == 50  # the next epoch goes on
    assert counted.pace.rows == 100


def test_nothing_is_written_when_nobody_reads_it():
    assert list(ds.progress([1, 2], file=None)) == [1, 2]
    with pytest.raises(ArgumentError, match="every"):
        ds.progress([1], every=-1)


def test_errors_pass_through():
    def broken():
        yield 1
        raise KeyError("x")

    counted = ds.progress(broken(), file=None)
    with pytest.raises(KeyError):
        list(counted)
    assert counted.pace.rows == 1
