"""The programs that we show run as native calls, and nothing of them is left to Python."""

import re
import subprocess
import sys
from pathlib import Path

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


def watched(path, *options):
    """What a program prints, and how every jitted function of it ran."""
    command = [sys.executable, "-W", "error", "-c", WATCHED, path, *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    explained = [line for line in lines if line.startswith("explained:")]
    return "\n".join(line for line in lines if line not in explained), explained


def assert_native(lines):
    ran = [line for line in lines if "one native call" in line or "runs in Python" in line]
    assert ran, lines
    assert [line for line in ran if "runs in Python" in line or "fault" in line or "given up" in line] == []
    for line in ran:  # one for the sizes that came first, and one for all others: the last batch is shorter
        assert line.count("one native call") <= 2, line


def test_the_programs_of_the_readme(tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL))
    (tmp_path / "readme.py").write_text(code)
    assert_native(watched(tmp_path / "readme.py")[1])
