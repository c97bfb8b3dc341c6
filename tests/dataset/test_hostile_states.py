"""States from strangers, for every kind of pipeline: a damaged one is told or gives rows; none hangs or runs code."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.errors import MyceliaError


def generated() -> ds.Dataset:
    return ds.GeneratorDataset(lambda: (np.arange(i % 5 + 1) for i in range(12)), ["x"])


def table() -> ds.Dataset:
    return ds.NumpySlicesDataset(np.arange(24).reshape(12, 2), ["x"])


def filtered() -> ds.Dataset:
    return table().filter(lambda x: x[0] % 3 != 0, "x")


def flattened() -> ds.Dataset:
    numbers = ds.NumpySlicesDataset([2, 3], ["n"], shuffle=False)
    return numbers.flat_map(lambda n: ds.NumpySlicesDataset(list(range(int(n[0]))), ["y"], shuffle=False))


KINDS = {
    "table": lambda: table().batch(2),
    "filter": filtered,
    "shuffled stream": lambda: generated().shuffle(3),
    "batched stream": lambda: filtered().batch(2),
    "bucket": lambda: generated().bucket_batch_by_length(["x"], [3], [2, 2], pad_info={"x": ([None], 0)}),
    "packed stream": lambda: generated().pack(4, "x", end=0),
    "packed table": lambda: table().pack(3, "x", split=False),
    "windows": lambda: generated().windows(2, 1),
    "zip": lambda: ds.zip((generated(), filtered().rename("x", "y"))),
    "concat": lambda: generated().concat(generated()),
    "repeat": lambda: filtered().repeat(3),
    "slice": lambda: filtered().skip(1).take(4),
    "mix": lambda: ds.mix([generated(), filtered()], weights=[0.5, 0.5]),
    "interleave": lambda: ds.interleave([generated(), filtered()]),
    "flat_map": flattened,
    "map": lambda: filtered().map(lambda x: x + 1, "x"),
}


def array(*numbers: int) -> dict[str, Any]:
    made = np.array(numbers, "<i8")
    return {"=": "array", "dtype": "<i8", "shape": [len(numbers)], "data": b64encode(made).decode()}


JUNK: list[Any] = [
    None, -1, 0, 1, 1 << 31, 1 << 63, 10**30, 1.5, "x", [], {}, [1], True, [[], [], -1], array(-(1 << 63)),
    array((1 << 63) - 1, 1), array(), {"=": "tuple", "of": []}, {"=": "Fetch", "of": [0, [1]]},
    {"=": "Fetch", "of": [99, array(0)]}, {"=": "Apply", "of": [0, 0, [0], 7]},
    {"=": "Literal", "of": [{"=": "tuple", "of": [{"=": "tuple", "of": [1]}]}, {"=": "tuple", "of": []}]},
    {"=": "Failure", "of": ["a", "b", "c"]}, {"=": "Chain", "of": [{"=": "tuple", "of": [3]}]},
]  # fmt: skip


def places(told: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    return [path, *(p for key, part in inner for p in places(part, (*path, key)))]


def spoiled(told: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    made = json.loads(json.dumps(told))
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = junk
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_state_is_told_or_gives_rows(kind):
    rng = random.Random(kind)
    first = KINDS[kind]().create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(3):
        next(first)
    state = json.loads(json.dumps(first.state_dict()))
    first.stop()
    paths = places(state["position"])
    for _ in range(12):
        hostile = {**state, "position": spoiled(state["position"], rng.choice(paths), rng.choice(JUNK))}
        again = KINDS[kind]().create_tuple_iterator(num_epochs=2, output_numpy=True)
        try:
            again.load_state_dict(hostile)
            for row, _ in zip(again, range(100), strict=False):
                assert all(isinstance(value, np.ndarray) for value in row)
        except MyceliaError:
            pass
        again.stop()


def test_a_row_that_a_state_holds_has_the_columns_of_its_plan():
    rows = KINDS["shuffled stream"]().create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(rows)
    state = json.dumps(rows.state_dict())
    rows.stop()
    held = json.loads(state)["position"]["held"]["of"]
    for wrong in ([], [array(1), array(2)]):
        hostile = json.loads(state)
        for one in hostile["position"]["held"]["of"]:
            one["of"][0]["of"][0]["of"] = wrong
        again = KINDS["shuffled stream"]().create_tuple_iterator(num_epochs=1, output_numpy=True)
        again.load_state_dict(hostile)
        with pytest.raises(MyceliaError, match="for 1 columns"):
            list(again)
        again.stop()
    assert held
