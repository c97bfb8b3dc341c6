"""The pages about capture and memory show what their code prints."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("page", DOCS / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_counts(page: str) -> str:
    """How many values and guards a program has may change when the capture does; what it is may not."""
    return re.sub(r"values: \d+, guards: \d+", "values, guards", page)


def test_the_page_shows_what_its_code_prints():
    page = (DOCS / "capture.md").read_text()
    shown = tool().rendered("capture.md", page)
    assert without_counts(shown) == without_counts(page), "python docs/page.py docs/capture.md writes it anew"


def test_the_page_names_every_file():
    page = (DOCS / "capture.md").read_text()
    files = {path.name for path in (DOCS.parent / "mycelia" / "capture").glob("*.py")} - {"__init__.py"}
    assert {name for name in files if f"`{name}`" not in page} == set()


def test_what_is_not_shown_is_an_error():
    with pytest.raises(ValueError, match="has no block of text"):
        tool().rendered("x.md", "```python\nx = 3\nprint(x)\n```\n")


def test_the_page_about_memory_shows_what_its_code_prints():
    page = (DOCS / "memory.md").read_text()
    assert tool().rendered("memory.md", page) == page, "python docs/page.py docs/memory.md writes it anew"
