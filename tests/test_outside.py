"""The project seen from outside: the README's code runs, public names are documented, no file needs one machine."""

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "mycelia").rglob("*.py"))
PACKAGES = [".".join(path.relative_to(ROOT).parent.parts) for path in MODULES if path.name == "__init__.py"]

# a folder of one machine, or an option that names a registry; written so that this file is not a find
FOLDERS_OF_ONE_MACHINE = re.compile(r"(?<![\w.:/])/(?:home|root|work|Users|mnt|srv|opt|tmp)/\w")
REGISTRY_OPTIONS = re.compile(r"--(?:extra-)?(?:index-url|find-links)[ =]\S")


def tracked_texts() -> dict[str, str]:
    """Every text file that git tracks, by its name."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    contents = {name: (ROOT / name).read_bytes() for name in names.split("\0") if (ROOT / name).is_file()}
    return {name: text.decode(errors="replace") for name, text in contents.items() if b"\0" not in text}


def public_names(module: ModuleType) -> dict[str, object]:
    """The classes and functions of ours that a package offers."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    things = {name: getattr(module, name) for name in names}
    return {name: thing for name, thing in things.items() if is_ours(thing)}


def is_ours(thing: object) -> bool:
    return (inspect.isroutine(thing) or inspect.isclass(thing)) and (thing.__module__ or "").startswith("mycelia")


def test_the_code_in_the_readme_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL))
    script = tmp_path / "first_steps.py"
    script.write_text(code)
    promised = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    ran = subprocess.run([sys.executable, "-W", "error", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.stdout.splitlines()) == ("", promised)


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ["README.md", "CONTRIBUTING.md", ".ci/run"]:
        named = re.findall(r"(?:^ *|`)make ([a-z]+)", (ROOT / page).read_text(), re.MULTILINE)
        assert set(named) <= targets, page


@pytest.mark.parametrize("bad", ["", "lint", "test"])
def test_continuous_integration_is_lint_and_test_and_fails_with_either(bad: str, tmp_path: Path) -> None:
    make, made = tmp_path / "make", tmp_path / "made"
    make.write_text(f'#!/bin/sh\necho "$1" >> {made}\n[ "$1" != "{bad}" ]\n')
    make.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run([ROOT / ".ci/run"], env=environment, capture_output=True, check=False)
    assert sorted(made.read_text().split()) == [".venv/.dev", "lint", "test"]
    assert (ran.returncode == 0) == (not bad)


def test_no_tracked_file_names_a_folder_or_registry_of_one_machine() -> None:
    finds = [
        f"{name}:{number}: {line.strip()}"
        for name, text in tracked_texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if FOLDERS_OF_ONE_MACHINE.search(line) or REGISTRY_OPTIONS.search(line)
    ]
    assert not finds, "\n".join(finds)


def test_every_dependency_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    assert all(">=" in one for one in asked if not one.startswith("mycelia["))


def test_every_module_says_what_it_is() -> None:
    assert [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text(), str(path)))] == []


@pytest.mark.many("package", PACKAGES, pack=100)
def test_every_public_name_is_documented(package: str) -> None:
    offered = public_names(importlib.import_module(package))
    assert [name for name, thing in offered.items() if not (thing.__doc__ or "").strip()] == []


def test_the_digits_are_what_their_page_says() -> None:
    digits = np.load(ROOT / "examples/data/digits.npz")
    page = (ROOT / "examples/data/README.md").read_text()
    arrays = [f"| `{name}` | {digits[name].dtype} | {digits[name].shape} |" for name in digits]
    assert len(arrays) == 4
    assert all(row in page for row in arrays)
    for part, count in [("train", 400), ("test", 100)]:
        np.testing.assert_array_equal(np.bincount(digits[f"{part}_labels"]), [count] * 10)
