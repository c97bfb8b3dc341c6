"""Every deterministic audio transform gives what MindSpore 2.10 gave, within the tolerance that its case states."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

import mycelia.dataset.audio as A

HERE = pathlib.Path(__file__).parents[1] / "recorded"
spec = importlib.util.spec_from_file_location("audio_cases", HERE / "audio_cases.py")
assert spec is not None
assert spec.loader is not None
cases = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cases
spec.loader.exec_module(cases)

RECORDED = np.load(HERE / "audio.npz")
INPUTS = cases.inputs()


@pytest.mark.parametrize("name", cases.CASES)
def test_equals_what_mindspore_answered(name):
    expression, given, tolerance = cases.CASES[name]
    out = eval(expression, {"A": A, "np": np})(INPUTS[given])
    parts = out if isinstance(out, tuple) else (out,)
    for i, got in enumerate(parts):
        want = RECORDED[f"{name}.{i}"]
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        error = np.abs(got.astype(np.float64) - want) / np.maximum(1, np.abs(want))
        assert error.max() <= tolerance
    assert f"{name}.{len(parts)}" not in RECORDED
