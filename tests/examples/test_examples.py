"""Every example runs, if only for a few steps."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_quickly(example, tmp_path):
    command = [sys.executable, "-W", "error", example, "--quick", "--model", tmp_path / "model.safetensors"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "compiled is" in ran.stdout
    assert (tmp_path / "model.safetensors").stat().st_size > 0


@pytest.mark.slow
def test_the_digits_are_read_after_training(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "digits.py"
    ran = subprocess.run(
        [sys.executable, script, "--model", tmp_path / "model.safetensors"], capture_output=True, text=True, check=True
    )
    shares = [float(line.split()[1].rstrip("%")) for line in ran.stdout.splitlines() if line.startswith("  reads")]
    assert len(shares) == 2
    assert min(shares) >= 97.0
