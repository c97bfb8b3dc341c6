"""What the pages say is there, is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)\)", prose)
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.(?:py|md|toml))`", page.read_text())
    folders = [ROOT / part for part in ("mycelia", "tests", "docs", "examples", "benchmarks")]
    files = [path.as_posix() for folder in folders for path in folder.rglob("*.*")]
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in files)] == []


def test_the_map_names_every_page() -> None:
    text = (ROOT / "docs" / "index.md").read_text()
    pages = [p for p in (ROOT / "docs").iterdir() if p.is_file() and p.name != "index.md"]
    assert [p.name for p in pages if f"({p.name})" not in text] == []
    assert all(f"(design/{p.name})" in text for p in (ROOT / "docs" / "design").iterdir())
