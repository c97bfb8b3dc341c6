"""Which tests to try on a fault, and in which order: those that come to it, likely and cheap ones first."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.mutation.faults import ROOT, Fault
from tests.mutation.reach import Reach, function_of

LOCKS = "tests/test_locks.py"  # reads texts: no test comes to a race
UNKNOWN = 0.5  # seconds of a test like which none was ever run
RELATED = 10.0  # what such a test and a fault have in common at least: a rare word or two, or the package
MIRROR = 20.0  # what a test in the folder of the package of a fault has in common with it for that
AGAIN = 0.25  # by how much a further choice of parameters of one test seems dearer


class Likely:
    """Tests by where they come to, what they say (names, texts) and what their files import."""

    def __init__(self, items: Mapping[str, pytest.Item], reach: Reach) -> None:
        self.reach = reach
        self.names = {name: words(name) for name in items}
        self.texts = {name: _words_of(item) for name, item in items.items()}
        counts = Counter(w for name in items for w in self.names[name] | self.texts[name])
        self.rare = {w: math.log(len(items) / n) for w, n in counts.items()}
        self.caught: dict[str, Counter[str]] = {}  # by module: the tests and their files that have seen a fault of it

    def learn(self, path: str, test: str) -> None:
        """A test has caught a fault of a module."""
        known = self.caught.setdefault(path, Counter())
        known[_file(test)] += 1
        known[function_of(test)] += 1

    def order(self, fault: Fault, first: tuple[str, ...]) -> list[str]:
        """All tests that may see a fault. Those that the map does not know are new, or like others that it knows."""
        level: dict[str, int] = {}  # of tests, and of their functions
        for i, tests in enumerate(self.reach.levels(fault)):
            for name in tests:
                level.setdefault(name, i)
                level.setdefault(function_of(name), i)
        likely = self.likely(fault)
        found = []
        for name in self.names:
            function = function_of(name)
            if name.startswith(first):
                found.append((-1, 0.0, name))
            elif name in self.reach.seconds:
                if name in level:
                    found.append((level[name], self.reach.seconds[name], name))
            elif function in level:
                found.append((level[function], self.reach.usual[function], name))
            elif likely(name) > RELATED:  # a new test, or another choice of parameters than those of the map
                found.append((0, self.reach.usual.get(function, UNKNOWN), name))
        turns: Counter[str] = Counter()
        ordered = []
        for place, seconds, name in sorted(found):
            function = function_of(name)
            dear = (seconds + 0.1) * (1 + AGAIN * turns[function]) / (1 + likely(name))
            ordered.append((place, dear, name))
            turns[function] += 1
        return [name for *_, name in sorted(ordered)]

    def likely(self, fault: Fault) -> Callable[[str], float]:
        """How much a test and a fault have in common."""
        lines = (ROOT / fault.path).read_text().splitlines()
        strong = words(f"{fault.path} {fault.function}")
        weak = words(" ".join(lines[max(fault.line - 3, 0) : fault.line + 3]))
        module = fault.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        mirror = f"tests/{fault.package}/"
        seen = self.caught.get(fault.path, Counter[str]())

        def common(name: str) -> float:
            mine, text = self.names[name], self.texts[name]
            worth = 3 * self.worth(strong & mine) + 1.5 * self.worth(strong & text)
            worth += 0.5 * self.worth(weak & (mine | text))
            worth += MIRROR * _file(name).startswith(mirror)
            worth += max([30 if m == module else 15 for m in _imports(_file(name)) if module.startswith(m)], default=0)
            worth += 5 * min(seen[_file(name)], 2) + 5 * min(seen[function_of(name)], 2)
            return worth + 30 * name.startswith(fault.path)

        return common

    def worth(self, shared: frozenset[str]) -> float:
        return sum(self.rare.get(w, 0.0) for w in shared)


def words(text: str) -> frozenset[str]:
    """The words of names, without endings that come and go.

    >>> sorted(words("mycelia/nn/padding.py _PadNd.construct"))
    ['construct', 'mycelia', 'nd', 'nn', 'pad', 'padd', 'py']
    """
    found = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(re.sub(r"(ing|ed|es|s|er)$", "", w.lower()) or w for w in found if len(w) > 1)


def _file(name: str) -> str:
    return name.partition("::")[0]


def _words_of(item: pytest.Item) -> frozenset[str]:
    function = getattr(item, "function", None)
    if function is not None:
        return _words_in(function)
    return words(getattr(getattr(item, "dtest", None), "docstring", "") or "")


@cache
def _words_in(function: object) -> frozenset[str]:
    try:
        return words(inspect.getsource(function))  # type: ignore[arg-type]
    except (OSError, TypeError):
        return frozenset()


@cache
def _imports(file: str) -> frozenset[str]:
    """The modules and packages that a file of tests imports from, but for those that every file does."""
    path = Path(ROOT / file)
    text = path.read_text() if path.is_file() else ""
    found = set(re.findall(r"^from (mycelia[\w.]*) import", text, re.MULTILINE))
    found |= {f"{a}.{w}" for a, b in re.findall(r"^from (mycelia[\w.]*) import ([\w, ]+)", text, re.MULTILINE)
              for w in b.split(", ")}  # fmt: skip
    return frozenset(m for m in found if m.count(".") > 1)
