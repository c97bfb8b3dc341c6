"""Random programs give what a list in plain Python gives, with any workers, and from any step on."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.mindrecord import FileWriter

from .programs import Maker, Program

EPOCHS = 3


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> str:
    place = str(tmp_path_factory.mktemp("programs") / "a.mindrecord")
    writer = FileWriter(place)
    writer.add_schema({"x": {"type": "int64"}})
    writer.write_raw_data([{"x": i} for i in range(23)])
    writer.commit()
    return place


def epochs(program: Program, iterator: ds.Iterator | None = None, first: int = 0) -> list[list[list[np.ndarray]]]:
    """The rows of every epoch that is left; a gate is opened after every row."""
    rows = iterator or program.dataset.create_tuple_iterator(num_epochs=EPOCHS, output_numpy=True)
    read = []
    for _ in range(first, EPOCHS):
        epoch = []
        for row in rows:
            epoch.append(row)
            for gate in program.gates:
                program.dataset.sync_update(gate)
        read.append(epoch)
    return read


def same(a: list, b: list) -> bool:
    return len(a) == len(b) and all(
        len(x) == len(y) and all(u.dtype == v.dtype and np.array_equal(u, v) for u, v in zip(x, y, strict=True))
        for x, y in zip(a, b, strict=True)
    )


def leaves(program: Program, rows: list) -> Counter:
    return Counter(
        (c, v)
        for row in rows
        for c, (name, value) in enumerate(zip(program.names, row, strict=True))
        if name not in program.drawn
        for v in value.reshape(-1).tolist()
    )


def agrees(program: Program, read: list) -> bool:
    """Whether rows are those of the model, as far as it knows them."""
    if program.counted and len(read) != len(program.rows):
        return False
    if program.ordered:
        return len(read) == len(program.rows) and all(
            name in program.drawn or (a.shape == b.shape and np.array_equal(a, b))
            for x, y in zip(read, program.rows, strict=True)
            for name, a, b in zip(program.names, x, y, strict=True)
        )
    return not program.complete or leaves(program, read) == leaves(program, program.rows)


def check(seed: int, record: str, processes: bool) -> None:
    def make(workers: int | None = None, processes: bool = False) -> Program:
        depth = int(np.random.default_rng(seed).integers(1, 7))
        return Maker(seed, workers, processes, record).program(depth)

    program = make()
    told = f"seed {seed}: {program.text}"
    ds.config.set_debug_mode(True)
    expected = epochs(program)
    ds.config.set_debug_mode(False)
    for epoch in expected:
        assert agrees(program, epoch), told
    if program.counted:
        assert program.dataset.get_dataset_size() == len(expected[0]), told
    assert program.dataset.get_col_names() == list(program.names), told
    if expected[0]:
        assert program.dataset.output_shapes() == [list(v.shape) for v in expected[0][0]], told
        assert program.dataset.output_types() == [v.dtype for v in expected[0][0]], told
    ways = [(1, False), (2, False), (4, False)] + ([(1, True), (2, True)] if processes else [])
    for workers, apart in ways:
        ds.config.set_num_parallel_workers(workers)
        for a, b in zip(epochs(make(workers, apart)), expected, strict=True):
            assert same(a, b), f"{told}, {workers} {'processes' if apart else 'threads'}"
    _resumes(seed, program, expected, make, ways, told)


def _resumes(seed, program, expected, make, ways, told) -> None:
    rng = np.random.default_rng(seed + 1)
    total = sum(map(len, expected))
    for step in sorted(set(rng.integers(total + 1, size=3).tolist())) if total else []:
        first = program.dataset.create_tuple_iterator(num_epochs=EPOCHS, output_numpy=True)
        given = 0
        while given < step:
            for _ in first:
                given += 1
                for gate in program.gates:
                    program.dataset.sync_update(gate)
                if given == step:
                    break
        state = first.state_dict()
        first.stop()
        state = json.loads(json.dumps(state)) if rng.integers(2) else pickle.loads(pickle.dumps(state))
        workers, apart = ways[int(rng.integers(len(ways)))]
        ds.config.set_num_parallel_workers(workers)
        other = make(workers, apart)
        again = other.dataset.create_tuple_iterator(num_epochs=EPOCHS, output_numpy=True)
        again.load_state_dict(state)
        rest = [row for epoch in epochs(other, again, again.epoch) for row in epoch]
        whole = [row for epoch in expected for row in epoch]
        assert same(rest, whole[step:]), f"{told}, resumed after {step} of {total} rows by {workers} {apart}"


@pytest.mark.parametrize("block", range(4))
def test_programs_give_the_rows_of_their_model(block, record, nothing_left):
    for seed in range(12 * block, 12 * block + 12):
        check(seed, record, processes=seed % 12 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_many_programs_give_the_rows_of_their_model(block, record, nothing_left):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check(seed, record, processes=seed % 5 == 0)
