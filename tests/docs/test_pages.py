"""What the pages say is there, is there; and what the code says of other files."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
PLACE = re.compile(r"`((?:\w+/)*\w+\.py)::? ?([A-Za-z_][\w.]*)")  # `file.py: name`, `file.py::name`
FILE = re.compile(r"(?<![\w/.*])((?:\w+/)+\w+\.py)\b")


@cache
def files() -> list[Path]:
    return [p for part in ("mycelia", "tests", "docs", "examples", "benchmarks") for p in (ROOT / part).rglob("*.py")]


def found(path: str) -> list[Path]:
    """The files of this name: those of the package, or else those of the repository."""
    named = [p for p in files() if p.as_posix().endswith(f"/{path}")]
    return [p for p in named if (ROOT / "mycelia") in p.parents] or named


@cache
def names(path: Path) -> frozenset[str]:
    """All that a file defines for whoever reads it: functions, classes, numbers with names; and `Class.member`."""
    defined: set[str] = set()
    inside: dict[str, set[str]] = {}
    instances: dict[str, str] = {}  # `Arena = _Arena()`
    for node in ast.parse(path.read_text()).body:
        defined |= _defined(node)
        if isinstance(node, ast.ClassDef):
            inside[node.name] = set().union(*map(_defined, node.body))
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name(made))):
                instances[name] = made
    inside |= {name: inside[made] for name, made in instances.items() if made in inside}
    return frozenset(defined | {f"{name}.{member}" for name, members in inside.items() for member in members})


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def missing(path: str, name: str) -> str | None:
    """What a place lacks, in words."""
    where = found(path)
    if not where:
        return f"there is no {path}"
    name = name.rstrip(".")
    return f"{path} has no {name}" if name and not any(name in names(file) for file in where) else None


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_function_that_a_page_names_exists(page: Path) -> None:
    assert [m for m in (missing(*place) for place in PLACE.findall(page.read_text())) if m is not None] == []


def test_every_file_that_the_code_names_exists() -> None:
    package = [file for file in files() if (ROOT / "mycelia") in file.parents]
    named = [(file, name) for file in package for name in FILE.findall(file.read_text())]
    assert [f"{file} names {name}" for file, name in named if not found(name)] == []


def test_a_place_that_is_gone_is_found() -> None:
    assert missing("docs/test_pages.py", "missing") is None
    assert missing("docs/test_pages.py", "nothing.of_this") == "docs/test_pages.py has no nothing.of_this"
    assert missing("docs/no_page.py", "") == "there is no docs/no_page.py"


def test_the_map_names_every_page() -> None:
    text = (ROOT / "docs" / "index.md").read_text()
    pages = [p for p in (ROOT / "docs").iterdir() if p.is_file() and p.name != "index.md"]
    assert [p.name for p in pages if f"({p.name})" not in text] == []
    assert all(f"(design/{p.name})" in text for p in (ROOT / "docs" / "design").iterdir())
