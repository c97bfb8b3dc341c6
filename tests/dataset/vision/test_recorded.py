"""Every deterministic image transform gives what MindSpore 2.10 gave, within the tolerance that its case states."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

import mycelia.dataset.vision as V

HERE = pathlib.Path(__file__).parents[1] / "recorded"
spec = importlib.util.spec_from_file_location("vision_cases", HERE / "vision_cases.py")
assert spec is not None
assert spec.loader is not None
cases = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cases
spec.loader.exec_module(cases)

RECORDED = np.load(HERE / "vision.npz")
INPUTS = cases.inputs()
KNOWN = [name for name in cases.CASES if f"{name}.0" in RECORDED]


@pytest.mark.parametrize("name", KNOWN)
def test_equals_what_mindspore_answered(name):
    expression, given, tolerance = cases.CASES[name]
    image = INPUTS[given]
    if given == "pil":
        pytest.importorskip("PIL.Image")
        image = V.ToPIL()(image)
    out = eval(expression, {"V": V, "np": np})(image)
    parts = out if isinstance(out, tuple) else (out,)
    for i, part in enumerate(parts):
        want = RECORDED[f"{name}.{i}"]
        got = np.asarray(part)
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=0, atol=tolerance)
    assert f"{name}.{len(parts)}" not in RECORDED
