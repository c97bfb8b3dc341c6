"""On a machine that compiled code is not for, the import says so, before any library is loaded."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
os.uname = lambda: type("Machine", (), {{"machine": {machine!r}}})
try:
    import mycelia
except ImportError as error:
    print(error)
print(sorted(m for m in sys.modules if m.split(".")[0] in ("llvmlite", "numpy")))
"""


@pytest.mark.parametrize("machine", ["aarch64", "arm64", "riscv64", "ppc64le", "i686", ""])
def test_other_machines_are_told_at_import(machine):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(machine=machine)], capture_output=True, text=True)
    assert f"x86-64 processors only, and this is {machine or 'an unknown machine'}" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("machine", ["x86_64", "AMD64"])
def test_this_machine_is_fine(machine):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(machine=machine)], capture_output=True, text=True)
    assert "only" not in done.stdout
