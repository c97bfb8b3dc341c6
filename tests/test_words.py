"""A word means one thing: no two files define a class of one name, nor two files of a package a function of one name,
but for the names that are MindSpore's and those of which docs/design/0016-words.md says why.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "design" / "0016-words.md").read_text()
ON_PURPOSE = PAGE[PAGE.index("**The same word on purpose.**") :]
PUBLIC = ("nn", "ops", "mint", "train", "experimental", "amp", "common", "models")  # whose names are MindSpore's
MINDSPORE = {line.split("\t")[1] for line in (ROOT / "docs" / "mindspore_names.tsv").read_text().splitlines()}


@cache
def defined(word: str) -> dict[str, set[Path]]:
    """Names that files define for others with this word, and where."""
    found: dict[str, set[Path]] = defaultdict(set)
    for file in (ROOT / "mycelia").rglob("*.py"):
        for name in re.findall(rf"^{word} ([A-Za-z]\w*)", file.read_text(), re.MULTILINE):
            found[name].add(file.relative_to(ROOT / "mycelia"))
    return found


def explained(name: str) -> bool:
    return name in MINDSPORE or re.search(rf"`{name}`", ON_PURPOSE) is not None


def clash(files: set[Path]) -> bool:
    """Whether a name has two meanings. Those that users see count as one, and as none beside an op of their name."""
    own = [f for f in files if f.parts[0] not in PUBLIC]
    shown = len(own) < len(files) and any(f.parts[0] != "primitives" for f in own)
    return len(own) + shown > 1


def test_no_two_classes_have_one_name():
    twice = {name: sorted(map(str, files)) for name, files in defined("class").items() if clash(files)}
    assert {name: files for name, files in twice.items() if not explained(name)} == {}


def package_of(file: Path) -> str:
    """The package of a file; SciPy's packages hold others, which have names of their own."""
    return "/".join(file.parts[:2]) if file.parts[0] == "scipy" else file.parts[0]


def test_no_two_functions_of_a_package_have_one_name():
    packages: dict[tuple[str, str], set[Path]] = defaultdict(set)
    for name, files in defined("def").items():
        for file in files:
            if file.parts[0] not in PUBLIC:
                packages[package_of(file), name].add(file)
    twice = {key: sorted(map(str, files)) for key, files in packages.items() if len(files) > 1}
    assert {key: files for key, files in twice.items() if not explained(key[1])} == {}


def test_every_word_that_is_used_twice_on_purpose_is_used_twice():
    """The page explains no names that are gone."""
    names = re.findall(r"`(\w+)`", ON_PURPOSE)
    known = defined("class") | defined("def")
    assert [name for name in names if len(known.get(name, ())) < 2 and name[0].isupper()] == []
