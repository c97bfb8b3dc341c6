"""Programs written for MindSpore give here what they gave there."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mycelia

HERE = Path(__file__).parent / "recorded"


def loaded(name):
    """A module beside the recordings."""
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = loaded("mindspore_cases").CASES
ARRAYS = np.load(HERE / "mindspore.npz")
ROUNDING = {"adams": 2e-5}  # its kernel takes roots and quotients of few digits
NAMES = json.loads((HERE / "mindspore_names.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_mindspore(name):
    assert PROGRAMS[name](mycelia) == NAMES[name]


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - NAMES.keys()))
def test_numbers_are_those_of_mindspore(name):
    recorded = [ARRAYS[key] for key in sorted(ARRAYS.files) if key.rpartition(".")[0] == name]
    got = PROGRAMS[name](mycelia)
    assert len(got) == len(recorded)
    for ours, theirs in zip(got, recorded, strict=True):
        np.testing.assert_allclose(np.asarray(ours, np.float32), theirs, rtol=2e-5, atol=ROUNDING.get(name, 2e-6))
