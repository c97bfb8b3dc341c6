"""Patterns: expressions with wildcards, written with the same functions as programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mycelia.frozen import frozen
from mycelia.ir.value import Arithmetic, Value

if TYPE_CHECKING:
    from mycelia.ir.op import Op

Bindings = dict[str, Value]


class Pattern(Arithmetic):
    """Mirrors the arithmetic of `Value`, but records the expression instead of building it."""

    @staticmethod
    def apply(op: Op, inputs: tuple[Any, ...]) -> Pattern:
        return Apply(op, inputs)


@frozen
class Wildcard(Pattern):
    """Stands for any value; the same name stands for the same value."""

    name: str


@frozen
class Apply(Pattern):
    """An op applied to patterns. An attribute of the op that is a Wildcard-free value must be equal."""

    op: Op
    inputs: tuple[Any, ...]


def match(pattern: Any, value: Value, found: Bindings) -> Bindings | None:
    """What each wildcard of `pattern` stands for in `value`, or None."""
    if isinstance(pattern, Wildcard):
        return found if found.setdefault(pattern.name, value) is value else None
    if isinstance(pattern, int | float):
        return found if getattr(value.op, "number", None) == pattern else None
    if isinstance(pattern, Value):
        return found if pattern is value or (pattern.op == value.op and not pattern.inputs) else None
    assert isinstance(pattern, Apply), f"{pattern} is not a pattern"
    if value.op != pattern.op:
        return None
    orders = [value.inputs, value.inputs[::-1]] if pattern.op.commutative else [value.inputs]
    for inputs in orders:
        trial: Bindings | None = dict(found)
        for p, v in zip(pattern.inputs, inputs, strict=True):
            trial = match(p, v, trial) if trial is not None else None
        if trial is not None:
            return trial
    return None
