"""What recorded cases speak of: the names of a module, the arguments given to each, and the members of its modes."""

import ast
import enum
import inspect
from collections.abc import Iterable
from types import ModuleType


def mentioned(expressions: Iterable[str], prefix: str, module: ModuleType) -> dict[str, set[str]]:
    """For each public name that an expression uses as `prefix.name`: the parameters given, or the members named."""
    found: dict[str, set[str]] = {}
    for expression in expressions:
        for node in ast.walk(ast.parse(expression, mode="eval")):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == prefix:
                found.setdefault(node.attr, set())
            if isinstance(node, ast.Attribute) and (owner := _name(node.value, prefix)):
                found.setdefault(owner, set()).add(node.attr)
            if isinstance(node, ast.Call) and (name := _name(node.func, prefix)):
                found.setdefault(name, set()).update(_given(node, getattr(module, name)))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = _name(node.func.value, prefix)
                if owner and not isinstance(getattr(module, owner), enum.EnumMeta):
                    method = getattr(getattr(module, owner), node.func.attr)
                    found.setdefault(f"{owner}.{node.func.attr}", set()).update(_given(node, method))
    return found


def _name(node: ast.expr, prefix: str) -> str:
    """The name in `prefix.name`, or nothing."""
    plain = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == prefix
    return node.attr if plain and isinstance(node, ast.Attribute) else ""


def _given(call: ast.Call, function: object) -> set[str]:
    """The parameters that a call gives a value to."""
    names = {k.arg: None for k in call.keywords if k.arg}
    assert callable(function)
    return set(inspect.signature(function).bind_partial(*call.args, **names).arguments)


def expected(module: ModuleType) -> dict[str, set[str]]:
    """What there is to speak of: each public class with its parameters, each mode with its members."""
    wanted: dict[str, set[str]] = {}
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, enum.EnumMeta):
            wanted[name] = set(thing.__members__)
        elif isinstance(thing, ModuleType):
            continue
        else:
            wanted[name] = set(inspect.signature(thing).parameters)
    return wanted
