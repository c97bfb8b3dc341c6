"""The programs that we show run as native calls, and nothing of them is left to Python."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WATCHED = """
import runpy, sys
from mycelia.api.jit import Jitted

made, begin = [], Jitted.__init__
def watched(self, *args, **kwargs):
    begin(self, *args, **kwargs)
    made.append(self)
Jitted.__init__ = watched
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
for fn in made:
    print("explained:", fn.explain().replace("\\n", " / "))
"""


def explained(path, *options):
    """How every jitted function of a program ran."""
    ran = subprocess.run([sys.executable, "-c", WATCHED, path, *options], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [line for line in ran.stdout.splitlines() if line.startswith("explained:")]


def assert_native(lines):
    ran = [line for line in lines if "one native call" in line or "runs in Python" in line]
    assert ran, lines
    assert [line for line in ran if "runs in Python" in line or "fault" in line or "given up" in line] == []
    for line in ran:  # one for the sizes that came first, and one for all others: the last batch is shorter
        assert line.count("one native call") <= 2, line


def test_the_programs_of_the_readme(tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL))
    (tmp_path / "readme.py").write_text(code)
    assert_native(explained(tmp_path / "readme.py"))


def test_the_digits(tmp_path):
    assert_native(explained(ROOT / "examples/digits.py", "--quick", "--model", tmp_path / "model.safetensors"))


def test_the_generated_text():
    assert_native(explained(ROOT / "examples/generate.py", "--quick"))


def test_the_images():
    pytest.importorskip("PIL", reason="writing JPEG files needs Pillow")
    assert_native(explained(ROOT / "examples/images.py", "--quick"))
