"""Where a fault stands: its statement, and the block of statements around it, by a name that outlives other changes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """Statements that run one after the other, somewhere in a function."""

    function: str
    number: int  # among the blocks of its function
    statements: list[ast.stmt]

    def name(self, path: str) -> str:
        return f"{path}:{self.function}:{self.number}"

    @property
    def first(self) -> int:
        """The place of the first statement that does something: a documentation stays where it is."""
        node = self.statements[0]
        return int(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and len(self.statements) > 1)

    def leave(self, mark: str, before: int) -> None:
        """Put a statement before another, on its line."""
        made = ast.parse(mark).body[0]
        for node in ast.walk(made):
            ast.copy_location(node, self.statements[before])
        self.statements.insert(before, made)


def blocks(tree: ast.AST, names: str = "", function: str = "", counts: Counter[str] | None = None) -> Iterator[Block]:
    """All blocks in the functions of a module, the outer ones first.

    >>> [(b.function, b.number) for b in blocks(ast.parse("def f():\\n if x: y\\n else: z"))]
    [('f', 0), ('f', 1), ('f', 2)]
    """
    counts = Counter() if counts is None else counts
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = f"{names}.{tree.name}" if names else tree.name
        function = function if isinstance(tree, ast.ClassDef) else names
    parts = [part for _, part in ast.iter_fields(tree) if isinstance(part, list)]
    for part in parts:
        if part and isinstance(part[0], ast.stmt) and function and not isinstance(tree, ast.ClassDef):
            yield Block(function, counts[function], part)
            counts[function] += 1
        for child in part:
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                yield from blocks(child, names, function, counts)


class Text:
    """A module, and where in its bytes its lines begin."""

    def __init__(self, text: bytes) -> None:
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def around(self, place: int) -> tuple[Block, int]:
        """The innermost block around a place in the text, and the number of the statement there."""
        found: tuple[int, Block, int] | None = None
        for block in blocks(self.tree):
            for i, s in enumerate(block.statements):
                start = self.starts[s.lineno - 1] + s.col_offset
                end = self.starts[(s.end_lineno or 0) - 1] + (s.end_col_offset or 0)
                if start <= place < end and (found is None or start >= found[0]):
                    found = start, block, i
        assert found is not None, f"no statement is at {place}"
        return found[1], found[2]


@cache
def read(path: Path) -> Text:
    """A module as it is."""
    return Text(path.read_bytes())
