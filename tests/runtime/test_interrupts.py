"""Ctrl-C, and other signals, while a native loop runs: it ends, and everything is as it was before the call."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "interrupted.py"
HELPERS = ("send", "interrupted", "spin", "count", "apart")
CASES = [f.name for f in ast.parse(PROGRAMS.read_text()).body if isinstance(f, ast.FunctionDef)]


NAMES = [name for name in CASES if name not in HELPERS]


@pytest.mark.parametrize("cases", [NAMES[i::4] for i in range(4)], ids=" ".join)
def test_interrupting(cases):
    environment = {**os.environ, "PYTHONPATH": str(PROGRAMS.parents[2])}
    command = [sys.executable, "-W", "error", "-W", "ignore:.*fork:DeprecationWarning", str(PROGRAMS), *cases]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr
