"""Writes random programs: a seed gives a module whose `main` calls a jitted function several times."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.promises.generator.calls import calls_of, transformed_calls
from tests.promises.generator.grammar import (
    AS_LARGE,
    COMPOUND,
    EXPRESSIONS,
    IN_LOOPS,
    LEAVING,
    LITERALS,
    SIMPLE,
)  # fmt: skip
from tests.promises.generator.pairs import PAIRS, Pair, program
from tests.promises.generator.prelude import PRELUDE

# what a function that is differentiated or mapped does not do: effects, exceptions, numbers of tensors
IMPURE = re.compile(
    r"LOG|HEAP|CONF|global|\bW\b|NET|bump|note\(|print|sys\.|Manager|managed|exec|raise|assert|<leave>|"
    r"(int|float|bool)\(<[sb]|item\(|return <y>|any\(z|cached|GT|\bG\b|vmap|V\(|grad|\[<i>\] =|del |// <i>|/ <f>|"
    r"VAR|kept|shifted|closing|Bag|Loose|positive|base =|made|remove|IDX|MANY|HOME"
)
VARIABLE = re.compile(r"\b[a-z]\d+\b|\bz\b")
HOLE = re.compile(r"<([A-Za-z]+\d?)(?::([a-z]))?>")
BLOCKS = ("block", "loop", "short", "body", "leave")
PARAMETERS = {"x": "t", "y": "t", "n": "i", "k": "f", "items": "l", "table": "d", "box": "o", "ints": "q", "arr": "a",
              "nums": "h", "pair": "p"}  # fmt: skip


class Missing(Exception):
    """There is no variable of the kind that a template asks for."""


@dataclass
class Scope:
    """The variables of a function: those that may be read, by kind, and those that are its own to assign."""

    names: dict[str, list[str]] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    loops: int = 0
    depth: int = 0  # of functions

    def add(self, kind: str, name: str, own: bool = True) -> None:
        self.names.setdefault(kind, []).append(name)
        if own:
            self.own.add(name)


class Writer:
    """Fills templates with what a stream of random numbers chooses, and counts the constructs."""

    def __init__(self, seed: int, pure: bool = False) -> None:
        self.seed, self.random, self.pure = seed, random.Random(seed), pure
        self.used: Counter[str] = Counter()
        self.scope = Scope()
        self.fresh = 0
        self.said: list[tuple[str, str]] = []  # kinds and expressions that were written: equal ones are worth a try
        self.budget = 0
        self.focus: str | None = None  # the argument that is used and changed most
        self.sized = False  # whether its tensors are all as large as `x`, which is larger or smaller at another call
        self.pair: Pair | None = None  # a program of its own, of which little changes
        self.closed: set[str] = set()  # constructs left out of this program, so that programs differ in character

    @property
    def native(self) -> bool:
        """Whether this program is one of those that are compiled to machine code."""
        return self.seed % 8 == 0 or (self.pair is not None and self.pair.native)

    def program(self) -> str:
        """The whole module."""
        if not self.pure and self.seed % 5 < 2:
            self.pair = PAIRS[(self.seed // 5 * 2 + self.seed % 5) % len(PAIRS)]  # each in its turn
            self.scope.add("t", "x")
            return program(self, self.pair)
        every = sorted({tag for tag, _ in (*SIMPLE, *COMPOUND, *LEAVING)})
        self.closed = {tag for tag in every if self.random.random() < 0.35}
        self.sized = self.random.random() < 0.12
        kinds = "tif" if self.pure else "tifh" if self.sized else "tifldoqahp"
        taken = [p for p, k in PARAMETERS.items() if k in kinds and (p in ("x", "n") or self.random.random() < 0.5)]
        self.focus = self.random.choice(taken) if self.random.random() < 0.75 else None
        self.budget = self.random.choice((3, 5, 8, 11))
        self.scope = Scope()
        for name in taken:
            self.scope.add(PARAMETERS[name], name)
        self.scope.add("c", "decorated", own=False)
        if not self.pure and not self.sized:
            self.scope.add("o", "HOME", own=False)
        heads = [f"def f({', '.join(taken)}):"]
        if self.pure:  # what is written in place is its own
            body = [
                *[f"{p} = {p} * 1." for p in taken if p in "xy"],
                *self.block(2),
                f"return {self.expression('t', 2)} + x * x",
            ]
        else:
            body = [*self.block(2), f"return {self.result()}"]
        globals_ = [line for line in body if line.lstrip().startswith("global ")]
        body = [line for line in body if line not in globals_]
        declared = [*dict.fromkeys(line.strip() for line in globals_)]
        text = "\n".join([*heads, *[f"    {line}" for line in (*declared, *body)]])
        if self.pure:
            return f"{PRELUDE}{text}\n{transformed_calls(self, taken)}"
        return f"{PRELUDE}@J\n{text}\n{calls_of(self, taken, text)}"

    def result(self) -> str:
        """What the function returns: often some of its variables too, so that what was done to them is seen."""
        said = self.expression("y", 2)
        names = sorted({n for kind, names in self.scope.names.items() if kind != "c" for n in names})
        if self.random.random() < 0.25:
            return said
        return ", ".join([said, *self.random.sample(names, min(len(names), 6))])

    # ---------------------------------------------------------------------------------------------------- statements

    def block(self, depth: int, most: int = 4) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, most)):
            if self.budget <= 0 and lines:
                break
            self.budget -= 1
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        table = COMPOUND if depth > 0 and self.random.random() < 0.4 else SIMPLE
        if self.scope.loops and self.random.random() < 0.15:
            table = IN_LOOPS
        elif self.random.random() < (0.03 if depth >= 2 else 0.12):
            table = LEAVING
        if self.focus is not None and self.random.random() < 0.3:
            hole = f":{PARAMETERS[self.focus]}>"
            table = [e for e in table if hole in e[1]] or table
        for _ in range(60):
            tag, template = self.random.choices(table, [4 if "tensor" in tag else 1 for tag, _ in table])[0]
            if tag in self.closed or (self.pure and IMPURE.search(template)):
                continue
            before = {kind: [*names] for kind, names in self.scope.names.items()}
            try:
                lines = self.filled_lines(template, depth)
            except Missing:
                self.scope.names = before
                continue
            self.used[tag] += 1
            return lines
        return ["pass"]

    def filled_lines(self, template: str, depth: int) -> list[str]:
        """The lines of a statement; names that it gives a value hold it afterwards."""
        known: dict[str, str] = {}
        given: list[tuple[str, str, bool]] = []
        lines: list[str] = []
        parts = template.split("\n")
        for part in parts:
            text = part.lstrip()
            indent = part[: len(part) - len(text)]
            hole = HOLE.fullmatch(text)
            if hole is not None and hole[1] in BLOCKS:
                lines += [indent + line for line in self.inner(hole[1], depth, given)]
                continue
            filled = self.filled(text, known, given, 2)
            if not indent and not text.endswith(":") and not text.startswith(("def ", "class ", "@")):
                for kind, name, own in given:
                    self.scope.add(kind, name, own)
                given = []
            lines.append(indent + filled)
        for kind, name, own in given:
            if kind == "c" or self.random.random() < 0.05:  # the rest may have no value after the statement
                self.scope.add(kind, name, own)
        return lines

    def inner(self, how: str, depth: int, given: list[tuple[str, str, bool]]) -> list[str]:
        if how == "leave":
            if self.random.random() < 0.6:
                return ["pass"]
            tag, template = self.random.choice(LEAVING)
            self.used[tag] += 1
            return [self.filled(template, {}, [], 1)]
        with self.nested(how):
            for kind, name, own in given:
                if kind != "c":
                    self.scope.add(kind, name, own and how != "body")
            return self.block(0 if how == "short" else depth - 1, 2 if how in ("short", "body") else 3)

    @contextmanager
    def nested(self, how: str) -> Iterator[None]:
        """What is assigned inside may not exist afterwards."""
        outer = self.scope
        names = {kind: [*names] for kind, names in outer.names.items()}
        self.scope = Scope(names, outer.own, outer.loops + (how in ("loop", "short")), outer.depth)
        if how == "body":
            self.scope = Scope(names, set(), 0, outer.depth + 1)
            self.scope.add("t", "z")
        yield
        leaks = how != "body" and self.random.random() < 0.04
        self.scope = Scope(self.scope.names, outer.own, outer.loops, outer.depth) if leaks else outer

    # --------------------------------------------------------------------------------------------------- expressions

    def expression(self, kind: str, depth: int) -> str:
        if self.sized and kind in AS_LARGE and (kind in LITERALS or self.random.random() < 0.2):
            self.used["size"] += 1
            return self.random.choice(AS_LARGE[kind])
        if kind in LITERALS:
            return self.random.choice(LITERALS[kind])
        if self.random.random() < 0.15 and (known := self.said_before(kind)):
            self.used["repeated expression"] += 1
            return self.random.choice(known)
        table = EXPRESSIONS[kind]
        if self.focus is not None and self.random.random() < 0.4:
            hole = f"<v:{PARAMETERS[self.focus]}>"
            table = [e for e in table if hole in e[1]] or table
        leaves = [e for e in table if not any(h[1] in EXPRESSIONS for h in HOLE.finditer(e[1]))]
        for _ in range(40):
            tag, template = self.random.choice((leaves if depth <= 0 or self.random.random() < 0.3 else table) or table)
            if (tag in self.closed and self.random.random() < 0.8) or (self.pure and IMPURE.search(template)):
                continue
            try:
                text = self.filled(template, {}, [], depth - 1)
            except Missing:
                continue
            self.used[tag] += 1
            if ":=" not in text:
                self.said.append((kind, text))
            return text
        raise Missing(kind)

    def said_before(self, kind: str) -> list[str]:
        """Expressions of this kind whose variables are still there."""
        names = {name for names in self.scope.names.values() for name in names}
        return [text for k, text in self.said if k == kind and set(VARIABLE.findall(text)) <= names]

    def filled(self, template: str, known: dict[str, str], given: list[tuple[str, str, bool]], depth: int) -> str:
        def choose(hole: re.Match[str]) -> str:
            name, kind = hole[1], hole[2]
            if name == "v":
                return self.variable(kind)
            if name == "n":
                found = self.target(kind)
                given.append((kind, found, True))
                known[f"r{kind}"] = found
                return found
            if name in ("r", "x"):
                key = f"r{kind}"
                known.setdefault(key, self.assignable(kind, function=name == "x"))
                known["same"] = known[key]
                return known[key]
            if name == "same" or name in known:
                return known[name]
            if name[0] == "u" and name[1:].isdigit():
                known[name] = self.new("u")
                if kind is not None:
                    given.append((kind, known[name], False))
                return known[name]
            return self.expression(name, depth)

        return HOLE.sub(choose, template)

    def variable(self, kind: str) -> str:
        names = self.scope.names.get(kind)
        if not names:
            raise Missing(kind)
        return self.random.choice(names[-3:] if self.random.random() < 0.5 else names)

    def target(self, kind: str) -> str:
        mine = [n for n in self.scope.names.get(kind, ()) if n in self.scope.own]
        return self.random.choice(mine) if mine and self.random.random() < 0.6 else self.new(kind)

    def assignable(self, kind: str, function: bool) -> str:
        mine = [n for n in self.scope.names.get(kind, ()) if n in self.scope.own]
        if not mine or (function and self.scope.depth > 1):
            raise Missing(kind)
        return self.random.choice(mine)

    def new(self, kind: str) -> str:
        self.fresh += 1
        return f"{kind}{self.fresh}"
