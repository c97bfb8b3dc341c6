"""A function in pieces: what comes before a statement that only Python can run, that statement, and what comes after.

    def f(x):                       def f(x):
        y = x * 2                       y, = before(x)
        print(y)             ->         print(y)
        return y + 1                    return after(y)

`before` and `after` are functions of their own, which can be captured; the function in pieces is plain Python.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from mycelia.capture.jumps import inside, placed, returns
from mycelia.capture.rewrite import bare, names_bound
from mycelia.capture.source import definition, remember

BEFORE, AFTER, DRIVER = "__ms_before__", "__ms_after__", "__ms_driver__"
SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


def in_pieces(fn: FunctionType, line: int, compiled: Callable[[FunctionType], Any]) -> FunctionType | None:
    """The function in pieces around the statement at this line, where `compiled` takes care of the others; None if
    there is nothing around it, or variables whose value would depend on the way to it.
    """
    node = definition(fn.__code__)
    if not isinstance(node, ast.FunctionDef) or _private(node):
        return None
    body = copy.deepcopy(node.body)
    place = next((i for i, s in enumerate(body) if s.lineno <= line <= (s.end_lineno or s.lineno)), None)
    if place is None or any(isinstance(n, ast.Global | ast.Nonlocal | ast.Delete) for n in inside(body)):
        return None
    first, middle, rest = body[:place], body[place : place + 1], body[place + 1 :]
    first = [s for s in first if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if returns(middle):
        middle, rest = middle + rest, []
    if returns(first) or not (first or rest):
        return None
    cutter = _Cutter(fn, node, first, middle, rest)
    return cutter.driver(compiled) if cutter.sure() else None


class _Cutter:
    """The three parts of one function, and the variables that go from one to the next."""

    def __init__(
        self,
        fn: FunctionType,
        node: ast.FunctionDef,
        first: list[ast.stmt],
        middle: list[ast.stmt],
        rest: list[ast.stmt],
    ) -> None:
        self.fn, self.node, self.first, self.middle, self.rest = fn, node, first, middle, rest
        a = node.args
        self.arguments = [x.arg for x in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if x]
        self.made = [n for n in names_bound(first) if n in _read([*middle, *rest])]  # by the first part, for the others
        known = {*self.arguments, *names_bound(first), *names_bound(middle)}
        self.given = [n for n in sorted(known) if n in _read(rest)]  # to the last part
        self.taken = [n for n in self.arguments if n in _read(first)]  # by the first part

    def sure(self) -> bool:
        """Whether every variable that goes on has a value, whatever way was taken."""
        bound = {*self.arguments, *_surely(self.first)}
        return set(self.made) <= bound and set(self.given) <= bound | set(_surely(self.middle))

    def driver(self, compiled: Callable[[FunctionType], Any]) -> FunctionType:
        at = self.node
        body: list[ast.stmt] = []
        cells: dict[str, Any] = {}
        if self.first:
            target = ast.Tuple([ast.Name(n, ast.Store()) for n in self.made], ast.Store())
            call = ast.Call(ast.Name(BEFORE, ast.Load()), [ast.Name(n, ast.Load()) for n in self.taken], [])
            body.append(placed(ast.Assign([target], call), self.first[0]))
            made = ast.Return(ast.Tuple([ast.Name(n, ast.Load()) for n in self.made], ast.Load()))
            piece = _function(f"{self.node.name}", self.taken, [*self.first, placed(made, self.first[-1])], at)
            cells[BEFORE] = compiled(self._compiled(piece, {}))
        body += self.middle
        if self.rest:
            call = ast.Call(ast.Name(AFTER, ast.Load()), [ast.Name(n, ast.Load()) for n in self.given], [])
            body.append(placed(ast.Return(call), self.rest[-1]))
            piece = _function(f"{self.node.name}", self.given, self.rest, at)
            cells[AFTER] = compiled(self._compiled(piece, {}))
        whole = placed(ast.FunctionDef(self.node.name, bare(self.node.args), body, [], None), at)
        made_whole = self._compiled(whole, cells)
        made_whole.__defaults__, made_whole.__kwdefaults__ = self.fn.__defaults__, self.fn.__kwdefaults__
        return made_whole

    def _compiled(self, piece: ast.FunctionDef, cells: dict[str, Any]) -> FunctionType:
        """A function with the globals and the enclosing variables of the original one."""
        fn = self.fn
        free = (*fn.__code__.co_freevars, *cells)
        remembered = copy.deepcopy(piece)
        piece.name = DRIVER
        outer = ast.FunctionDef(
            "__ms_outer__", ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, []), [piece], [], None
        )
        module = placed(ast.Module([outer], []), self.node)
        scope = compile(module, fn.__code__.co_filename, "exec", dont_inherit=True)
        while scope.co_name != DRIVER:
            scope = next(c for c in scope.co_consts if isinstance(c, CodeType))
        code = scope.replace(co_name=fn.__code__.co_name, co_qualname=fn.__code__.co_qualname)
        remember(code, remembered)
        known: dict[str, CellType] = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        known |= {name: CellType(value) for name, value in cells.items()}
        made = FunctionType(code, fn.__globals__, fn.__name__, None, tuple(known[n] for n in code.co_freevars))
        made.__qualname__, made.__module__ = fn.__qualname__, fn.__module__
        return made


def _function(name: str, parameters: Sequence[str], body: list[ast.stmt], at: ast.AST) -> ast.FunctionDef:
    args = ast.arguments([], [ast.arg(n) for n in parameters], None, [], [], None, [])
    return placed(ast.FunctionDef(name, args, copy.deepcopy(body), [], None), at)


def _private(node: ast.FunctionDef) -> bool:
    """Whether names in it mean something else outside of its class."""
    names = {n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in ast.walk(node)}
    return any(n == "super" or (n.startswith("__") and not n.endswith("__")) for n in names)


def _read(stmts: Sequence[ast.stmt]) -> set[str]:
    """The names in these statements, inner functions included."""
    return {n.id for s in stmts for n in ast.walk(s) if isinstance(n, ast.Name)}


def _surely(stmts: Sequence[ast.stmt]) -> list[str]:
    """The variables that have a value after these statements, whatever way was taken."""
    return names_bound([s for s in stmts if isinstance(s, SIMPLE)])
