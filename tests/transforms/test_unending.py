"""What is never reached may not end, and the program ends all the same: whatever moves code asks whether it may."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 240  # seconds, of which a few are needed: then something runs that nobody asked for
SCRIPT = Path(__file__).with_name("unending.py")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("part", ["graph", "machine", "python"])
def test_what_does_not_end_and_is_not_reached_does_not_matter(part):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    try:
        ran = subprocess.run(
            [sys.executable, SCRIPT, part], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired as late:
        told = (late.stdout or b"").decode().splitlines()
        pytest.fail(f"does not end: {told[-1] if told else 'nothing was tried'}")
    assert ran.returncode == 0, "\n".join([*ran.stdout.splitlines()[-1:], ran.stderr[-3000:]])
    assert ran.stdout.endswith("all ended\n")
