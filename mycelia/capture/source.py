"""The syntax tree of a function that exists: found by where its code says it stands, with every position kept."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import CodeType

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


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
    text = "".join(linecache.getlines(code.co_filename))
    spans = {(p[0], p[2], p[1], p[3]) for p in code.co_positions()}
    for node in _definitions(text):
        if isinstance(node, ast.Lambda):
            body = node.body
            span = body.lineno, body.col_offset, body.end_lineno, body.end_col_offset
            if code.co_name == "<lambda>" and span in spans:
                return node
        elif node.name == code.co_name and _first_line(node) == code.co_firstlineno:
            return node
    return None


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
