"""What a region that is computed again (`api.recompute`) means inside a captured program: a call of its own."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from mycelia import primitives as p
from mycelia.api.models import keywords_of, replaced, values_in
from mycelia.api.nested import enclosed, forked
from mycelia.api.recompute import computed_again
from mycelia.capture.registered import REGISTERED
from mycelia.ir import Value, region


def model_computed_again(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`computed_again(block, args, kwargs)`: a call of the function that the block is, of all that it reads."""
    block, given, keywords = args
    given, keywords = machine.all_items(given), keywords_of(machine, keywords)
    base = machine.store
    with forked(machine) as inner, region() as inside:
        result = machine.call(block, given, keywords)
    changes = list(inner.differences(base))
    values = list(dict.fromkeys(v for held in (result, *[held for _, _, held in changes]) for v in values_in(held)))
    function, operands = enclosed(machine, (), values, inside.effects)
    new: dict[Value, Value] = dict(zip(values, p.Call(function, recompute=True)(*operands), strict=True))
    for obj, slot, held in changes:
        base.slots[id(obj), slot] = obj, replaced(held, new)
    base.made |= inner.made
    return replaced(result, new)


REGISTERED[computed_again.__code__] = model_computed_again
