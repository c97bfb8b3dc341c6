"""Which tests are likely to see a fault, and which to try next."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.mutation.faults import ROOT, Fault

VAIN, ALIKE = 3, 6  # tests of a file that do not come to the fault, and runs of one test, before others are tried


class Likely:
    """Tests by what they say: their names, their texts, and what their files import."""

    def __init__(self, items: Mapping[str, pytest.Item]) -> None:
        self.names = {name: words(name) for name in items}
        self.texts = {name: _words_of(item) for name, item in items.items()}
        counts = Counter(w for name in items for w in self.names[name] | self.texts[name])
        self.rare = {w: math.log(len(items) / n) for w, n in counts.items()}
        self.caught: dict[str, Counter[str]] = {}  # by module: the tests and their files that have seen a fault of it

    def learn(self, path: str, test: str) -> None:
        """A test has caught a fault of a module."""
        known = self.caught.setdefault(path, Counter())
        known[_file(test)] += 1
        known[_function(test)] += 1

    def order(self, fault: Fault, near: Sequence[str], first: tuple[str, ...]) -> list[str]:
        """All tests, the most likely first; `near` are the places to look at, the nearest first."""
        lines = (ROOT / fault.path).read_text().splitlines()
        strong = words(f"{fault.path} {fault.function}")
        weak = words(" ".join(lines[max(fault.line - 3, 0) : fault.line + 3]))
        module = fault.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        seen = self.caught.get(fault.path, Counter[str]())

        def order(name: str) -> tuple[bool, bool, float, int]:
            mine, text = self.names[name], self.texts[name]
            place = next((i for i, t in enumerate(near) if name.startswith(t)), len(near))
            likely = 3 * self.worth(strong & mine) + 1.5 * self.worth(strong & text)
            likely += 0.5 * self.worth(weak & (mine | text)) - 2 * place
            likely += max([30 if m == module else 15 for m in _imports(_file(name)) if module.startswith(m)], default=0)
            likely += 5 * min(seen[_file(name)], 2) + 5 * min(seen[_function(name)], 2)
            return name.startswith(first), name.startswith(fault.path), likely, -len(name)

        return sorted(self.names, key=order, reverse=True)

    def worth(self, shared: frozenset[str]) -> float:
        return sum(self.rare.get(w, 0.0) for w in shared)


class Queue:
    """Tests in turn: those wait that are like tests which did not come to the fault, or did so often enough."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.tests, self.later = deque(tests), deque[str]()
        self.vain, self.ran = Counter[str](), Counter[str]()

    def following(self) -> str | None:
        """The test to run now, if there is one left."""
        while self.tests or self.later:
            if not self.tests:
                self.tests, self.later = self.later, deque()
                self.vain.clear()
                self.ran.clear()
            name = self.tests.popleft()
            if self.vain[_file(name)] >= VAIN or self.vain[_function(name)] > 1 or self.ran[_function(name)] >= ALIKE:
                self.later.append(name)
                continue
            self.ran[_function(name)] += 1
            return name
        return None

    def told(self, name: str, reached: bool) -> None:
        """Whether a test came to the fault."""
        for like in (_file(name), _function(name)):
            self.vain[like] = -ALIKE if reached else self.vain[like] + 1


def words(text: str) -> frozenset[str]:
    """The words of names, without endings that come and go.

    >>> sorted(words("mycelia/nn/padding.py _PadNd.construct"))
    ['construct', 'mycelia', 'nd', 'nn', 'pad', 'padd', 'py']
    """
    found = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(re.sub(r"(ing|ed|es|s|er)$", "", w.lower()) or w for w in found if len(w) > 1)


def _file(name: str) -> str:
    return name.partition("::")[0]


def _function(name: str) -> str:
    return name.partition("[")[0]


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
