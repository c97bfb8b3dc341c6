"""The programs on the pages of docs run, and print what they promise."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["data", "backends", "sizes", "parallel", "export", "training", "custom_ops"])
def test_the_program_on_the_page_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    if name == "data":
        pytest.importorskip("PIL", reason="writing JPEG files needs Pillow")
    if name in ("export", "custom_ops") and not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        pytest.skip("a library is made by a C compiler")
    page = (ROOT / "docs" / f"{name}.md").read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    promised = re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert len(promised) == code.count("print(")
    script = tmp_path / "program.py"
    script.write_text(code)
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    ran = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.stderr, ran.stdout.splitlines()) == ("", promised)
