"""Rewrite rules: `@rule(lambda x: x + 0)` above the function that gives the replacement.

The pattern is ordinary arithmetic on wildcards. The body receives what the wildcards matched and returns the
replacement, or None to decline. A rule that looks at attributes takes the class of the op instead of a pattern:
`@rule_for(Reshape)` above a function of the value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mycelia.frozen import frozen
from mycelia.ir.function import Function
from mycelia.ir.pattern import Apply, Wildcard, match
from mycelia.ir.value import Value


@frozen
class Rule:
    """A name, the class of op at its root, and how to rewrite a value of that class."""

    name: str
    root: type
    replace: Callable[[Value], Value | None]


def rule(pattern: Callable[..., Any]) -> Callable[[Callable[..., Value | None]], Rule]:
    """A rule whose left side is an expression."""
    wildcards = {name: Wildcard(name) for name in inspect.signature(pattern).parameters}
    left = pattern(**wildcards)
    assert isinstance(left, Apply), "a pattern is an op applied to something"

    def decorate(body: Callable[..., Value | None]) -> Rule:
        def replace(value: Value) -> Value | None:
            found = match(left, value, {})
            return None if found is None else body(**found)

        return Rule(body.__name__, type(left.op), replace)

    return decorate


def rule_for(*roots: type) -> Callable[[Callable[[Value], Value | None]], tuple[Rule, ...]]:
    """A rule whose left side is any value made by one of these ops; a family stands for its members."""
    return lambda body: tuple(Rule(body.__name__, root, body) for root in roots)


def rewrite(fn: Function, rules: Iterable[Rule | tuple[Rule, ...]], limit: int = 50) -> Function:
    """Apply `rules` everywhere, inner values first, until none applies."""
    every = [single for r in rules for single in (r if isinstance(r, tuple) else (r,))]
    by_root: dict[type, tuple[Rule, ...]] = {}
    for _ in range(limit):
        new = _once(fn, every, by_root)
        if new == fn:
            return fn
        fn = new
    return fn


def _once(fn: Function, rules: Sequence[Rule], by_root: dict[type, tuple[Rule, ...]]) -> Function:
    def visit(v: Value, inputs: tuple[Value, ...]) -> Value:
        root = type(v.op)
        if root not in by_root:  # a rule for a family is one for its members
            by_root[root] = tuple(r for r in rules if issubclass(root, r.root))
        return _rewritten(v.again(inputs), by_root[root])

    return fn.mapped(visit)


def _rewritten(value: Value, rules: Sequence[Rule]) -> Value:
    for r in rules:
        found = r.replace(value)
        if found is not None and found is not value:
            assert found.type == value.type, f"rule {r.name} changes {value.type} into {found.type}"
            return found
    return value
