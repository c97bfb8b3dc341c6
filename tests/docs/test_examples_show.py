"""An example in a docstring shows something: a result, an error or an assertion, and not only that nothing happens."""

import ast
import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "mycelia"
NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def examples(file: Path) -> Iterator[tuple[str, list[doctest.Example]]]:
    """The examples of each docstring of a file."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, NAMED | ast.Module) and (found := _parsed(ast.get_docstring(node))):
            yield getattr(node, "name", "the module"), found


def _parsed(text: str | None) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(text) if text and ">>>" in text else []


def shows(example: doctest.Example) -> bool:
    """Whether it says what comes out, in more than dots, or asserts something."""
    return bool(re.sub(r"[.\s]", "", example.want)) or "assert" in example.source


COMPILER = ("api", "capture", "codegen", "communication", "eager", "ir", "loops", "lowering", "mindrecord", "passes",
            "runtime", "schedule", "sizes", "testing", "threads", "transforms")  # fmt: skip


@pytest.mark.parametrize("package", COMPILER)
def test_no_example_is_unable_to_fail(package):
    files = sorted((PACKAGE / package).rglob("*.py"))
    silent = [f"{f.relative_to(PACKAGE)}: {name}" for f in files for name, e in examples(f) if not any(map(shows, e))]
    assert not silent, "examples that show nothing: " + ", ".join(silent)
