"""Positions that must exist, and those that do anyway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mycelia import primitives as p
from mycelia.ir import Value, constant
from mycelia.sizes import Sym, divided, known_equal, known_less


def exist_anyway(index: Value, extent: Any, smaller: Mapping[Value, Any]) -> bool:
    """Whether positions were found by looking for them, in something no larger than what they are looked up in, or are
    counted by a loop that ends before (`smaller`: what its counters never reach).
    """
    bound = below(index, smaller)
    return bound is not None and extent is not None and (known_equal(bound, extent) or known_less(bound, extent))


def known_to_exist(index: Value, extent: Any) -> bool:
    """Whether positions that depend on nothing exist; without an extent, whether something that must hold does."""
    if not index.closed:
        return False
    numbers = constant(index)
    if extent is None:
        return bool(numbers.all())
    within = type(extent) is int and (numbers.size == 0 or -extent <= int(numbers.min()) <= int(numbers.max()) < extent)
    return bool(within)


def below(index: Value, smaller: Mapping[Value, Any]) -> Any:
    """What positions that a mask or a loop gave are smaller than; None for others."""
    if index in smaller:
        return smaller[index]
    if isinstance(index.op, p.Positions):
        return index.op.born.most
    if isinstance(index.op, p.Cast | p.Reshape) and index.inputs[0].dtype.kind == "i":
        return below(index.inputs[0], smaller)
    if not isinstance(index.op, p.Remainder | p.FloorDivide):
        return None
    whole, part = below(index.inputs[0], smaller), size_of(index.inputs[1])
    if part is None:
        return None
    if whole is None or isinstance(index.op, p.Remainder):
        return None if whole is None else part
    bound, rest = divided(whole, part)
    return bound if type(rest) is int and rest == 0 else None


def size_of(value: Value) -> Any:
    """The positive whole number, or the size, that a value is; None if it is another."""
    while isinstance(value.op, p.Broadcast):
        (value,) = value.inputs
    found: Any = (
        value.op.number if isinstance(value.op, p.Full) else value.op.size if isinstance(value.op, p.Extent) else None
    )
    return found if type(found) is Sym or (type(found) is int and found > 0) else None
