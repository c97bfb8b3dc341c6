"""The syntax tree of a function that exists: found by where its code says it stands, with every position kept."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_remembered: WeakKeyDictionary[CodeType, Definition] = WeakKeyDictionary()


def remember(code: CodeType, node: Definition) -> None:
    """Say which syntax the code was compiled from, since no file shows it."""
    _remembered[code] = node


@lru_cache(maxsize=256)
def _definitions(text: str) -> tuple[Definition, ...]:
    """Every function in a file, outer ones first."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    return tuple(n for n in ast.walk(tree) if isinstance(n, Definition))


def definition(code: CodeType) -> Definition | None:
    """The syntax of the function that this code was compiled from; None if its source is not to be had.

    >>> import inspect
    >>> definition(inspect.getsource.__code__).name
    'getsource'
    """
    if code in _remembered:
        return _remembered[code]
    text = "".join(linecache.getlines(code.co_filename))
    if code.co_name == "<lambda>":
        return _lambda(code, [n for n in _definitions(text) if isinstance(n, ast.Lambda)])
    for node in _definitions(text):
        if not isinstance(node, ast.Lambda) and node.name == code.co_name and _first_line(node) == code.co_firstlineno:
            return node
    return None


def _lambda(code: CodeType, nodes: Sequence[ast.Lambda]) -> ast.Lambda | None:
    """The smallest lambda in whose body all instructions stand."""
    found = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    if not found:
        return None
    start, end = min((p[0], p[2]) for p in found), max((p[1], p[3]) for p in found)
    around = [n for n in nodes if _start(n.body) <= start and end <= _end(n.body)]
    return max(around, key=lambda n: _start(n.body), default=None)


def _start(node: ast.expr) -> tuple[Any, Any]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[Any, Any]:
    return node.end_lineno, node.end_col_offset


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


def owner(code: CodeType) -> str:
    """The class in whose body the function stands, which private names are spelled with; empty if there is none.

    >>> import ast
    >>> owner(ast.NodeVisitor.visit.__code__)
    'NodeVisitor'
    """
    before = code.co_qualname.rpartition(".")[0]
    last = before.rpartition(".")[2]
    return "" if last == "<locals>" else last
