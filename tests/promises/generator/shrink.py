"""From a program that differs to a small one that still does: fewer statements, simpler expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

MOST = 600  # tries
Edit = tuple[str, int, object, object]  # what to do, to which block or expression, and where in it


def shrink(text: str, fails: Callable[[str], bool], most: int = MOST) -> str:
    """A smaller program that still fails."""
    text = ast.unparse(ast.parse(text))
    tries, before = 0, ""
    while before != text and tries < most:
        before, place = text, 0
        options = [*edits(ast.parse(text))]
        while place < len(options) and tries < most:
            smaller = edited(text, options[place])
            if smaller is not None and len(smaller) < len(text):
                tries += 1
                if fails(smaller):
                    text = smaller
                    options = [*edits(ast.parse(text))]
                    continue  # what was next stands here now
            place += 1
    return text


def blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    """All lists of statements, outermost first."""
    parts = (
        getattr(n, name, None) for n in ast.walk(tree) for name in ("body", "orelse", "finalbody", "handlers", "cases")
    )
    return [part for part in parts if isinstance(part, list) and part]


def edits(tree: ast.AST) -> Iterator[Edit]:
    """Without a part of a block, with a block in the place of its statement, with simpler expressions."""
    found = blocks(tree)
    for number, block in enumerate(found):
        size = len(block)
        for width in (size // 2, size // 4, size // 8):
            if width > 1:
                for start in range(0, size, width):
                    yield "cut", number, start, start + width
    for number, block in enumerate(found):
        for place, stmt in enumerate(block):
            yield "cut", number, place, place + 1
            for name in ("body", "orelse"):
                if getattr(stmt, name, None) and not isinstance(stmt, ast.FunctionDef | ast.ClassDef):
                    yield "lift", number, place, name
    main = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "main"), tree)
    calls = {id(n) for n in ast.walk(main)}  # how the function is called says what is to be compared
    results = {id(n.value) for n in ast.walk(main) if isinstance(n, ast.Return)}
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Tuple) and id(node) in results:
            yield from (("drop", number, "elts", place) for place in range(len(node.elts)))
        if isinstance(node, ast.expr) and id(node) not in calls:
            for place, _ in enumerate(parts_of(node)):
                yield "simplify", number, place, None
            for name in ("elts", "args", "keywords", "generators"):
                items = getattr(node, name, None)
                for place in range(len(items) if isinstance(items, list) else 0):
                    yield "drop", number, name, place


def parts_of(node: ast.AST) -> list[ast.expr]:
    return [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]


def edited(text: str, edit: Edit) -> str | None:
    """The program after an edit; None if it is none."""
    tree = ast.parse(text)
    kind, number, first, second = edit
    if kind in ("cut", "lift"):
        block = blocks(tree)[number]
        place: int = first  # type: ignore[assignment]
        if kind == "cut":
            del block[place:second]  # type: ignore[misc]
        else:
            block[place : place + 1] = getattr(block[place], str(second))
    else:
        node = list(ast.walk(tree))[number]
        if kind == "drop":
            del getattr(node, str(first))[second]
        else:
            tree = Replace(node, parts_of(node)[first]).visit(tree)  # type: ignore[index]
    return written(tree)


class Replace(ast.NodeTransformer):
    """One expression for another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def written(tree: ast.AST) -> str | None:
    """The text, where a block that has become empty passes; None if it is no program."""
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list) and not node.body and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "candidate", "exec")
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return None
    return text
