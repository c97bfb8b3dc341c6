"""A program with one call a statement: what is called inside of a call gets a name of its own, in Python's order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mult", ast.MatMult: "matmult", ast.Div: "div", ast.Mod: "mod",
    ast.Pow: "pow", ast.FloorDiv: "floordiv", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "bitor",
    ast.BitXor: "bitxor", ast.BitAnd: "bitand",
}  # fmt: skip
"""How results of operators are called."""
_NAMED = (ast.Call, ast.BinOp, ast.Subscript, ast.List, ast.Tuple)
_LATE = (
    ast.Lambda, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.JoinedStr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred,
)  # fmt: skip
"""Expressions whose parts run later, not at all, or many times."""


def flatten(body: list[ast.stmt], unique: Callable[[str], str]) -> list[ast.stmt]:
    """The same statements, where no call, operator, list or element is an argument of a call or an operator.

    >>> tree = ast.parse("y = f(g(x) + 1)")
    >>> print(ast.unparse(ast.fix_missing_locations(ast.Module(flatten(tree.body, lambda n: n), []))))
    g_var = g(x)
    add_var = g_var + 1
    y = f(add_var)
    """
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            for part in ("body", "orelse"):
                if getattr(statement, part, None):
                    setattr(statement, part, flatten(getattr(statement, part), unique))
        elif not any(isinstance(n, _LATE) for n in ast.walk(statement)):
            value = statement.value if isinstance(statement, ast.Assign | ast.Return | ast.Expr) else None
            if value is not None:
                _pull(value, found, unique)
            if isinstance(statement, ast.Return) and isinstance(value, _NAMED[:3]):
                statement.value = _named(value, found, unique)
        found.append(statement)
    return found


def _pull(expression: ast.expr, found: list[ast.stmt], unique: Callable[[str], str]) -> None:
    """Give names to the parts of an expression; all that is read before the last of them is read before it still."""
    places = _places(expression)
    last = max((i for i, (_, _, part) in enumerate(places) if isinstance(part, _NAMED)), default=-1)
    for i, (owner, key, part) in enumerate(places):
        _pull(part, found, unique)
        moved = isinstance(part, _NAMED) or (i < last and isinstance(part, ast.Attribute))
        if not moved:
            continue
        name = _named(part, found, unique)
        if isinstance(key, int):
            owner[key] = name
        else:
            setattr(owner, key, name)


def _named(part: ast.expr, found: list[ast.stmt], unique: Callable[[str], str]) -> ast.Name:
    name = unique(f"{title(part)}_var")
    found.append(ast.Assign([ast.Name(name, ast.Store())], part))
    return ast.Name(name, ast.Load())


def _places(expression: ast.expr) -> list[tuple[Any, int | str, ast.expr]]:
    """The parts of an expression that could have names, in the order in which Python reads them."""
    if isinstance(expression, ast.Call):
        inner = expression.func.value if isinstance(expression.func, ast.Attribute) else None
        first = [(expression.func, "value", inner)] if isinstance(inner, _NAMED) else []
        given = [(expression.args, i, a) for i, a in enumerate(expression.args)]
        return [*first, *given, *[(k, "value", k.value) for k in expression.keywords]]
    if isinstance(expression, ast.BinOp):
        return [(expression, "left", expression.left), (expression, "right", expression.right)]
    if isinstance(expression, ast.List | ast.Tuple):
        return [(expression.elts, i, e) for i, e in enumerate(expression.elts)]
    return []


def title(expression: ast.AST) -> str:
    """A word for an expression.

    >>> title(ast.parse("self.conv(x)").body[0].value), title(ast.parse("x + 1").body[0].value)
    ('conv', 'add')
    """
    if isinstance(expression, ast.Call):
        function = expression.func
        return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "function")
    if isinstance(expression, ast.BinOp):
        return OPERATORS[type(expression.op)]
    return type(expression).__name__.lower()
