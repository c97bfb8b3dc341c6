"""From a code object back to its syntax tree, or None: then nobody but Python can run it."""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import os
import sys
import time
from collections.abc import Iterator
from types import CodeType
from typing import Any

from mycelia.errors import PACKAGE
from mycelia.syntax import parsed

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUTURE = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names[-2:]))
SOURCELESS = "has no source that could be read"  # said of a function that Python runs for this reason
BEGAN = time.time() - 60  # what was changed later than this may have been changed after it was imported
TYPED = 500  # lines of the prompt that are looked through
BEYOND = 3  # lines of a statement behind the last one that its code tells of: closing brackets, say
INDENTED = (" ", "\t", "\n", "\r", "\f", "#", ")", "]", "}")  # or nothing, or the end of what began above
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.Module:
    """The syntax of a text; empty, if it is none."""
    try:
        return parsed(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@functools.lru_cache(maxsize=1024)
def _codes(filename: str, text: str, flags: int) -> frozenset[CodeType]:
    """All code in a text."""
    try:
        return frozenset(codes_in(compile(_parsed(text), filename, "exec", flags, dont_inherit=True)))
    except (SyntaxError, ValueError):
        return frozenset()


def _as_imported(filename: str) -> bool:
    """Whether a file is one of ours that nobody has changed since it was imported: compiling it would prove nothing."""
    try:
        return filename.startswith(PACKAGE + os.sep) and os.stat(filename).st_ctime < BEGAN
    except OSError:
        return False


def _at(line: int, name: str, tree: ast.AST) -> Iterator[Definition]:
    """The functions of a name that begin at a line."""
    for node in ast.iter_child_nodes(tree):
        first, last = getattr(node, "lineno", line), getattr(node, "end_lineno", line)
        if decorators := getattr(node, "decorator_list", []):
            first = min(first, *[d.lineno for d in decorators])
        if not first <= line <= last:
            continue
        if first == line and isinstance(node, Definition) and name == getattr(node, "name", "<lambda>"):
            yield node
        yield from _at(line, name, node)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code of the functions inside, at any depth."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from codes_in(const)


@functools.lru_cache(maxsize=8192)
def definition(code: CodeType) -> Definition | None:
    """The syntax that this code was compiled from. A file that has changed since is not believed.

    >>> definition(inspect.getsource.__code__).name
    'getsource'
    """
    known = "@pytest_ar" in code.co_names  # pytest compiles assertions with more words
    for text in _texts(code):
        nodes = list(_at(code.co_firstlineno, code.co_name, _parsed(text)))
        proven = known or (bool(nodes) and _as_imported(code.co_filename))
        if proven or code in _codes(code.co_filename, text, code.co_flags & FUTURE):
            break
    else:
        return None
    if code.co_name == "<lambda>":
        nodes = [n for n in nodes if _stands_in(code, n)]
        nodes = [n for n in nodes if not any(m is not n and _inside(m, n) for m in nodes)]
    return nodes[0] if len(nodes) == 1 else None


def _texts(code: CodeType) -> Iterator[str]:
    """Texts that may be the one that the code was compiled from: the file or the cell of a notebook, of which the
    statement that it seems to stand in is tried first; or what was typed at the prompt, as far as it is remembered, the
    last statement first.
    """
    file = linecache.getlines(code.co_filename)
    if "@pytest_ar" not in code.co_names:
        if code.co_name != "<lambda>" and _as_imported(code.co_filename):
            yield _function(file, code)
        yield _statement(file, code)
    yield "".join(file)
    readline: Any = sys.modules.get("readline")
    if code.co_filename != "<stdin>" or readline is None:
        return
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(i) or "" for i in range(max(1, count - TYPED + 1), count + 1)]
    last = max((line for _, line, _, _ in code.co_positions() if line is not None), default=1)
    for start in reversed(range(len(lines))):
        for end in range(start + last, min(start + last + BEYOND, len(lines)) + 1):
            yield "\n".join(lines[start:end]) + "\n"


def _function(file: list[str], code: CodeType) -> str:
    """The lines of a function alone, at their place in a file that has nothing else: up to the next ones that are not
    indented further. What is cut off in the middle of a statement has no syntax.
    """
    start, end = code.co_firstlineno - 1, max((q[1] or 0 for q in code.co_positions()), default=0)
    if start >= len(file):
        return ""
    indent = file[start][: len(file[start]) - len(file[start].lstrip())]
    inside = (f"{indent} ", f"{indent}\t", *[indent + c for c in INDENTED[2:]])
    while end < len(file) and (file[end].startswith(inside) or file[end].isspace() or file[end].startswith("#")):
        end += 1
    if indent and not start:
        return ""
    head = ["\n"] * (start - 1) + ["if True:\n"] if indent else ["\n"] * start
    return "".join([*head, *file[start:end]])


def _statement(file: list[str], code: CodeType) -> str:
    """The lines around the code up to the next ones that are not indented, at their place in a file that has nothing
    else but imports, by which Python compiles calls. If they are something else than a statement, the code is not in
    them.
    """
    start, end = code.co_firstlineno - 1, max((q[1] or 0 for q in code.co_positions()), default=0)
    if start >= len(file):
        return ""
    while start > 0 and file[start].startswith(INDENTED):
        start -= 1
    while end < len(file) and file[end].startswith(INDENTED):
        end += 1
    kept = ["\n"] * start
    for i in range(start):
        if file[i].startswith(("import ", "from ")):
            last = i
            if "(" in file[i]:
                last = next((j for j in range(i, start) if ")" in file[j]), i)
            kept[i : last + 1] = file[i : last + 1]
    return "".join([*kept, *file[start:end]])


def _stands_in(code: CodeType, node: Definition) -> bool:
    """Whether every instruction of a lambda stands in its body."""
    assert isinstance(node, ast.Lambda), "asked of lambdas"
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    places = [(q[0], q[2], q[1], q[3]) for q in code.co_positions() if None not in q and (q[2], q[3]) != (0, 0)]
    outside = [q for q in places if not (start <= (q[0], q[1]) and (q[2], q[3]) <= end)]
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    return not outside and bool(places) and tuple(names) == code.co_varnames[: code.co_argcount]


def _inside(m: Definition, n: Definition) -> bool:
    start = (n.lineno, n.col_offset) <= (m.lineno, m.col_offset)
    return start and (m.end_lineno, m.end_col_offset) <= (n.end_lineno, n.end_col_offset)


def inner_code(outer: CodeType, node: Definition) -> CodeType | None:
    """The code of a function that stands directly in another."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    first = min([node.lineno, *(d.lineno for d in decorators)])
    found = [c for c in _scopes(outer) if c.co_name == name and c.co_firstlineno == first]
    if isinstance(node, ast.Lambda):
        found = [c for c in found if _stands_in(c, node)]
    return found[0] if len(found) == 1 else None


def _scopes(code: CodeType) -> Iterator[CodeType]:
    """Code directly inside, and inside comprehensions and classes, which are no functions of their own to us."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            if const.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"):
                yield from _scopes(const)


def is_resumed(code: CodeType) -> bool:
    """Whether this is the code of a generator or a coroutine."""
    return bool(code.co_flags & RESUMED)


def owner(code: CodeType) -> str:
    """The class in whose body the function stands, which private names are spelled with; empty if there is none.

    >>> owner(ast.NodeVisitor.visit.__code__)
    'NodeVisitor'
    """
    before = code.co_qualname.rpartition(".")[0]
    last = before.rpartition(".")[2]
    return "" if last == "<locals>" else last
