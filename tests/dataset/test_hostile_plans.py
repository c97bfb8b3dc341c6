"""Plans, states and transforms from strangers: nothing that they name is imported, made or called."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import audio, text, transforms, vision
from mycelia.dataset.describing import Nameable, described, named, ours
from mycelia.errors import MyceliaError

HOSTILE = [
    "subprocess:Popen",
    "subprocess:run",
    "os:system",
    "os:remove",
    "builtins:eval",
    "builtins:exec",
    "builtins:open",
    "builtins:__import__",
    "builtins:getattr",
    "numpy:load",
    "numpy:fromfile",
    "pickle:loads",
    "shutil:rmtree",
    "ctypes:CDLL",
    "runpy:run_path",
    "importlib:import_module",
    "mycelia.dataset.transforms.plugin:Plugin",
    "mycelia.dataset.describing:import_module",
    "mycelia.dataset.caches.cache:pickle.loads",
    "mycelia.dataset.shards:tarfile.open",
    "mycelia.dataset.vision.codec:np.load",
    "mycelia.dataset.flow.processes:ProcessWorkers",
    "mycelia.dataset.transforms.compose:Compose.__init__",
    "mycelia.dataset.vision.modes:Inter.__class__",
    "hostile_module_that_writes_a_file:anything",
]


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module whose import leaves a file, and functions whose call does; afterwards there is no such file."""
    mark = tmp_path / "it-ran"
    (tmp_path / "hostile_module_that_writes_a_file.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ran: list[str] = []
    for module, name in ((subprocess, "Popen"), (os, "system"), (os, "remove")):
        monkeypatch.setattr(module, name, lambda *_, **__: ran.append("called"))
    yield mark
    assert not mark.exists()
    assert not ran
    assert "hostile_module_that_writes_a_file" not in sys.modules


def operations(place: str, mark: Path) -> list[Any]:
    fields = {"args": ["touch", str(mark)], "command": f"touch {mark}", "lib_path": str(mark), "func_name": "f"}
    return [
        {"class": place, "fields": fields},
        {"class": place, "fields": {}},
        {"function": place},
        {"class": place.replace(":", ".") + ":x", "fields": {}},
    ]


def nested(operation: Any) -> list[Any]:
    """The operation itself, and inside what may hold others."""
    resize = described(vision.Resize((2, 2)))
    compose = described(transforms.Compose([vision.HWC2CHW()]))
    within = copy.deepcopy(compose)
    within["fields"]["transforms"] = [operation]
    return [
        operation,
        within,
        {**resize, "fields": {**resize["fields"], "size": operation}},
        {**resize, "fields": {**resize["fields"], "interpolation": {"member": str(operation.get("class", "a:b"))}}},
        {**resize, "fields": {**resize["fields"], "size": [{"deeper": operation}]}},
    ]


@pytest.mark.parametrize("place", HOSTILE)
def test_a_plan_runs_nothing_that_it_names(place, trap, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    plain = ds.TextFileDataset(str(file), shuffle=False)
    plans = [
        ds.serialize(plain.map(len, "text")),
        ds.serialize(plain.filter(len, "text")),
        ds.serialize(plain.batch(2, per_batch_map=lambda x, info: x, input_columns=["text"])),
        ds.serialize(plain.batch(lambda info: 1)),
        ds.serialize(plain.bucket_batch_by_length(["text"], [1], [1, 1], len)),
    ]
    for operation in operations(place, trap):
        for inner in nested(operation):
            for plan in plans:
                for key in ("operations", "predicate", "per_batch_map", "batch_size", "element_length_function"):
                    if key not in plan:
                        continue
                    hostile = {**plan, key: [inner] if key == "operations" else inner}
                    with pytest.raises((MyceliaError, TypeError, ValueError)):
                        list(ds.deserialize(json.loads(json.dumps(hostile))).create_tuple_iterator(num_epochs=1))


@pytest.mark.parametrize("place", HOSTILE)
def test_the_json_of_a_transform_runs_nothing_that_it_names(place, trap):
    for operation in operations(place, trap):
        for inner in nested(operation):
            told = json.dumps({"tensor_op_name": "Compose", "tensor_op_params": {"transforms": [inner]}})
            with pytest.raises((MyceliaError, TypeError, ValueError)):
                transforms.Compose.from_json(told)


@pytest.mark.parametrize("name", ["np", "islice", "generator_for", "choose", "__builtins__", "StrEnum", "DataError"])
def test_a_sampler_is_one_of_ours(name, tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    plan = ds.serialize(ds.TextFileDataset(str(tmp_path / "a.txt")))
    with pytest.raises(ds.DataError):
        ds.deserialize({**plan, "sampler": {"sampler": name}})


@pytest.mark.parametrize(
    "kind", ["Dataset", "MappableDataset", "HubDataset", "GeneratorDataset", "np", "import_module"]
)
def test_a_source_is_one_of_ours(kind, tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    plan = ds.serialize(ds.TextFileDataset(str(tmp_path / "a.txt")))
    with pytest.raises(ds.DataError):
        ds.deserialize({**plan, "op_type": kind})


def test_what_may_be_named_is_ours_and_holds_no_code_of_others():
    assert all(kind.__module__.startswith("mycelia.dataset.") for kind in ours().values())
    assert transforms.Plugin not in ours().values()
    for kind in (vision.Resize, audio.Vol, text.Lookup, text.Vocab, transforms.Compose, vision.Inter):
        assert kind in ours().values()


def test_the_caller_may_pass_functions_and_classes(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    plan = ds.serialize(ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False).map(lambda x: str(x)[::-1], "text"))
    (operation,) = plan["operations"]
    back = ds.deserialize(plan, functions={operation["function"]: lambda x: str(x)[::-1]})
    assert [str(r[0]) for r in back.create_tuple_iterator(num_epochs=1, output_numpy=True)] == ["eno", "owt"]
    plugin = transforms.Plugin("libnowhere.so", "blur")
    assert Nameable(named([transforms.Plugin])).operation(described(plugin)) == plugin


@pytest.mark.parametrize(
    "told",
    [
        {"array": [1], "dtype": "O"},
        {"array": [1], "dtype": "f4,f4"},
        {"array": [1], "dtype": "(1000000000000,)f4"},
        {"array": ["x"], "dtype": "__import__('os').system('true')"},
        {"array": [[1], [2, 3]], "dtype": "<f4"},
        {"dtype": ["a"]},
        {"slice": [1, 2]},
        {"slice": ["a", None, None]},
        {"bytes": "not base64!"},
        {"member": "mycelia.dataset.vision.modes:Inter.mro"},
        {"member": "mycelia.dataset.vision.modes:Inter.__dict__"},
        {"member": 7},
        {"function": 7},
        {"class": None, "fields": {}},
    ],
)
def test_a_field_that_means_nothing_is_told(told):
    with pytest.raises(ds.DataError):
        Nameable().value(told)


def test_a_long_text_type_takes_no_more_memory_than_its_text():
    assert Nameable().value({"array": ["x"], "dtype": "<U99999999"}).nbytes == 4


@pytest.mark.parametrize("told", [7, "x", [], {}, {"children": 3}, {"children": [], "op_type": []}, {"children": [{}]}])
def test_what_is_no_plan_is_told(told):
    with pytest.raises((ds.DataError, MyceliaError)):
        ds.deserialize(told)


def test_a_state_names_nothing_but_rows(trap):
    rows = ds.GeneratorDataset(lambda: iter(np.arange(9)), ["x"]).shuffle(3).create_tuple_iterator(num_epochs=1)
    next(rows)
    state = rows.state_dict()
    rows.stop()
    for kind in ("Popen", "subprocess:Popen", "Request", "__class__", "Run", "ABC"):
        hostile = [{"=": kind, "of": ["true"]}, {**state["position"], "held": {"=": kind, "of": []}}]
        hostile += [{"=": "array", "dtype": "S999999999", "shape": [3], "of": ["a", "b", "c"]}, {"=": "tuple", "of": 3}]
        for position in hostile:
            again = (
                ds.GeneratorDataset(lambda: iter(np.arange(9)), ["x"]).shuffle(3).create_tuple_iterator(num_epochs=1)
            )
            with pytest.raises(ds.DataError):
                again.load_state_dict({**state, "position": position})


JUNK = [None, -1, 10**30, 1.5, "x", [], {}, float("nan"), {"=": "array", "dtype": "O", "shape": [1], "of": [1]}]


@pytest.mark.parametrize(
    "part", ["version", "plan", "seed", "seeded", "epoch", "step", "readers", "first", "read", "orders"]
)
def test_a_state_with_a_damaged_part_is_told(part):
    rows = ds.NumpySlicesDataset(np.arange(9), ["x"]).batch(2).create_tuple_iterator(num_epochs=1)
    next(rows)
    state = rows.state_dict()
    rows.stop()
    for junk in [*JUNK, {"0": 7}]:
        again = ds.NumpySlicesDataset(np.arange(9), ["x"]).batch(2).create_tuple_iterator(num_epochs=1)
        if (part == "orders" and isinstance(junk, dict)) or (part == "read" and junk == []):
            continue
        with pytest.raises(MyceliaError):
            again.load_state_dict({**state, part: junk})
        with pytest.raises(MyceliaError):
            again.load_state_dict(junk)
    again.load_state_dict(json.loads(json.dumps(state)))
    assert sum(len(r[0]) for r in again) == 7


@pytest.mark.parametrize("junk", [-1, 1.5, "x", [], {}, [1], {"rng": {}}])
def test_a_damaged_position_is_told_when_it_is_taken_up(junk):
    def made():
        return ds.GeneratorDataset(lambda: iter(np.arange(9)), ["x"]).shuffle(3).create_tuple_iterator(num_epochs=1)

    rows = made()
    next(rows)
    state = rows.state_dict()
    rows.stop()

    def taken_up():
        again = made()
        again.load_state_dict({**state, "position": junk})
        next(again)

    with pytest.raises(MyceliaError):
        taken_up()
