"""Cells give what MindSpore's or PyTorch's gave, and so do their gradients: eager and compiled."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms

HERE = Path(__file__).parent / "recorded"
sys.path.insert(0, str(HERE))
try:
    cells = importlib.import_module("cells")
    for family in sorted(p.stem for p in HERE.glob("cells_*.py")):
        importlib.import_module(family)
finally:
    sys.path.remove(str(HERE))

RECORDED = {oracle: cells.load(HERE / f"cells_{oracle}.npz") for oracle in ("torch", "mindspore")}
PRECISE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 3e-5, np.dtype(np.float16): 4e-3}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.many("name", cells.CASES)
def test_values_and_gradients_are_those_that_were_recorded(name, compiled):
    case = cells.CASES[name]
    recorded = RECORDED["mindspore" if case.torch is None else "torch"][name]
    got = cells.run(ms, case, ms.jit if compiled else lambda f: f)
    assert len(got) == len(recorded) > 0
    for ours, theirs in zip(got, recorded, strict=True):
        assert ours.shape == theirs.shape
        if theirs.dtype.kind == "f":
            bound = max(PRECISE[ours.dtype], PRECISE[theirs.dtype])
            np.testing.assert_allclose(ours, theirs, rtol=bound, atol=bound)
        else:
            np.testing.assert_array_equal(ours, theirs)
