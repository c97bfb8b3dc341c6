"""Two processes compute what one does, with Open MPI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.communication import ranks

STARTER = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
pytestmark = pytest.mark.skipif(
    STARTER is None or find_spec("mpi4py") is None, reason="no mpiexec, or no mpi4py: pip install 'mycelia[parallel]'"
)
ROOT = Path(__file__).resolve().parents[2]


def two(what: str) -> Any:
    """What rank 0 of two says."""
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [STARTER, "-n", "2", "--map-by", ":OVERSUBSCRIBE", sys.executable, ranks.__file__, what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_collectives_mean_what_numpy_means_of_all_parts():
    told = two("laws")
    assert told == {"size": 2, "wrong": [], "of all": 0}


def test_data_parallel_steps_of_two_processes_have_the_losses_of_one():
    told = two("train")
    assert told["size"] == 2
    for way in ("eager", "jit"):
        losses, weights, _ = ranks.train(compiled=way == "jit")
        np.testing.assert_allclose(told[way]["losses"], losses, rtol=2e-6)
        np.testing.assert_allclose(told[way]["weights"], weights, rtol=1e-5)
        assert told[way]["spread"] == 0  # both processes have the same weights, bit for bit
    assert told["jit"]["explain"].count("one native call") == 1
    assert "Python" not in told["jit"]["explain"]
