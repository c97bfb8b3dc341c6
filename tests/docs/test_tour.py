"""The tour runs from top to bottom, and what it claims is true."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tour_runs_from_top_to_bottom() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", DOCS / "tour.py"], cwd=DOCS.parent, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "50 steps and 50 native calls" in ran.stdout


def test_every_chapter_of_the_table_of_contents_is_there() -> None:
    text = (DOCS / "tour.py").read_text()
    promised = [int(n) for n in re.findall(r"^    (\d+) +[a-z]+ +\S", text, re.MULTILINE)]
    assert promised == [int(n) for n in re.findall(r"^# ## (\d+)\. ", text, re.MULTILINE)]
    assert promised == [int(n) for n in re.findall(r'^chapter\("(\d+)\. ', text, re.MULTILINE)]
