"""Networks learn what others have learnt with them, on data that is not shipped: asked for by name and folder."""

import importlib.util
import os
from pathlib import Path

import pytest

import mycelia as ms
import mycelia.dataset as ds

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"
GOALS = {"mnist": (5, 0.99), "cifar": (3, 0.70)}  # epochs, and the share of the test that is reached


@pytest.mark.slow
@pytest.mark.parametrize("name", GOALS)
def test_it_learns(name):
    folder = os.environ.get(f"{name.upper()}_FOLDER")
    if not folder:
        pytest.skip(f"{name.upper()}_FOLDER names a folder with the data, see benchmarks/accuracy.py")
    spec = importlib.util.spec_from_file_location("accuracy", PROGRAM)
    accuracy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(accuracy)
    ms.set_seed(1)
    ds.config.set_seed(1)
    epochs, share = GOALS[name]
    assert getattr(accuracy, name)(Path(folder), epochs) >= share
