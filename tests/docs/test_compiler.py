"""The page about the compiler shows what its code prints, and every place that it names exists."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.test_capture import DOCS, tool

ROOT = DOCS.parent
PAGE = (DOCS / "compiler.md").read_text()
PLACES = sorted(set(re.findall(r"`((?:\w+/)*\w+\.py)(?:: ([\w.]+))?", PAGE)))


def found(path: str) -> list[Path]:
    """The files of this name in the package, or in the repository."""
    inside = [p for p in (ROOT / "mycelia").rglob("*.py") if str(p.relative_to(ROOT / "mycelia")).endswith(path)]
    return inside or [p for p in (ROOT / path,) if p.exists()]


def names(tree: ast.AST) -> set[str]:
    """All that a file defines: functions, classes with what they hold, numbers with names."""
    out: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            out.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            out.add(node.id)
    return out


def test_the_page_shows_what_its_code_prints():
    assert tool().rendered("compiler.md", PAGE) == PAGE, "python docs/page.py docs/compiler.md writes it anew"


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_every_place_that_the_page_names_exists(path, name):
    files = found(path)
    assert files, f"there is no {path}"
    for part in filter(None, name.split(".")):
        assert any(part in names(ast.parse(file.read_text())) for file in files), f"{path} has no {part}"


def test_the_four_questions_are_answered():
    for question in ("Where a value is decided to be stored", "Why two kernels were fused", "Who owns a buffer",
                     "What happens when LLVM fails"):  # fmt: skip
        assert f"**{question}" in PAGE
