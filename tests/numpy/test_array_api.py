"""The array API standard's own suite, in a folder that ARRAY_API_TESTS names; see docs/array_api.md."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = os.environ.get("ARRAY_API_TESTS")
KNOWN = {"array_api_tests/test_dlpack.py::test_dunder_dlpack"}  # memory only to be read, asked for without DLPack 1.0


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="ARRAY_API_TESTS names no folder")
def test_the_standard_s_suite_finds_what_is_known():
    root = Path(__file__).parents[2]
    surroundings = os.environ | {
        "ARRAY_API_TESTS_MODULE": "mycelia.numpy",
        "ARRAY_API_TESTS_VERSION": "2024.12",
        "PYTHONPATH": str(root),
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "--disable-warnings"]
    run = subprocess.run(
        [*command, "--max-examples", "200", "array_api_tests"],
        cwd=FOLDER,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = {line.split()[1] for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))}
    assert " passed" in run.stdout, run.stdout[-2000:] + run.stderr[-2000:]
    assert failed <= KNOWN, run.stdout[-4000:]
