"""Names of functions that call one another: which calls there are, and the same functions with other names."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mycelia import primitives as p
from mycelia.ir import Function, Op, Value, inner_functions

if TYPE_CHECKING:
    from mycelia.primitives.control.recursion import NamedCall


def variant(name: str, of: str = "", mark: str = "") -> str:
    """The name of something derived from what has this name, and a mark that tells it from others of the same name.

    >>> variant("tree", mark="1f"), variant("tree#1f", "forward"), variant("tree.forward#1f", mark="2e")
    ('tree#1f', 'tree.forward#1f', 'tree.forward#2e')
    """
    base, _, old = name.partition("#")
    mark = mark or old
    return (f"{base}.{of}" if of else base) + (f"#{mark}" if mark else "")


def mark_of(definitions: tuple[tuple[str, Function], ...]) -> str:
    """Eight digits that tell these definitions from others, the same in every process.

    >>> mark_of(())
    'e3b0c442'
    """
    text = hashlib.sha256()
    for name, fn in definitions:
        text.update(f"{name} = {fn}\n".encode())
    return text.hexdigest()[:8]


@lru_cache(maxsize=4096)
def calls(fn: Function) -> tuple[Value, ...]:
    """The calls by name in `fn` and in the functions inside it. A recursion inside is a world of its own.

    >>> from mycelia.types import TensorType, float32
    >>> scalar = TensorType(float32, ())
    >>> fn = Function.build(lambda x: p.NamedCall("f", (scalar,))(x), scalar)
    >>> len(calls(Function.build(lambda x: p.Call(fn)(x), scalar)))
    1
    """
    found: list[Value] = []
    for v in fn.values():
        if isinstance(v.op, p.control.NamedCall):
            found.append(v)
        elif not isinstance(v.op, p.control.Recurse):
            for inner in inner_functions(v.op):
                found.extend(calls(inner))
    return tuple(found)


def callees(fn: Function) -> set[str]:
    """Whom `fn` calls by name.

    >>> from mycelia.types import TensorType, float32
    >>> scalar = TensorType(float32, ())
    >>> callees(Function.build(lambda x: p.NamedCall("f", (scalar,))(x), scalar))
    {'f'}
    """
    return {_call(v).callee for v in calls(fn)}


def _call(v: Value) -> NamedCall:
    assert isinstance(v.op, p.control.NamedCall), f"{v} is no call"
    return v.op


@lru_cache(maxsize=4096)
def renamed(fn: Function, names: tuple[tuple[str, str], ...]) -> Function:
    """The same function, calling others.

    >>> from mycelia.types import TensorType, float32
    >>> scalar = TensorType(float32, ())
    >>> fn = Function.build(lambda x: p.NamedCall("f", (scalar,))(x), scalar)
    >>> callees(renamed(fn, (("f", "g"),)))
    {'g'}
    """
    if not calls(fn):
        return fn
    return fn.mapped(lambda v, inputs: Value(_renamed(v.op, names), inputs))


def _renamed(op: Any, names: tuple[tuple[str, str], ...]) -> Op:
    if isinstance(op, p.control.NamedCall):
        return replace(op, callee=dict(names)[op.callee])
    if isinstance(op, p.control.Recurse):
        return op
    changed = {name: new for name, old in op.attributes().items() if (new := _inside(old, names)) is not old}
    return replace(op, **changed) if changed else op  # type: ignore[no-any-return]  # an op gives an op


def _inside(attribute: Any, names: tuple[tuple[str, str], ...]) -> Any:
    if isinstance(attribute, Function):
        return renamed(attribute, names)
    if isinstance(attribute, tuple) and any(isinstance(a, Function | tuple) for a in attribute):
        return tuple(_inside(a, names) for a in attribute)
    return attribute
