"""What a function seems to do, by a look at its code and at that of the functions it knows by name."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

from mycelia.capture.holding import written_in

CHANGES = frozenset((
    "STORE_ATTR", "STORE_GLOBAL", "STORE_SUBSCR", "DELETE_ATTR", "DELETE_GLOBAL", "DELETE_SUBSCR",
))  # fmt: skip
CALLS = frozenset(("CALL", "CALL_FUNCTION_EX", "CALL_KW"))


def must_run_once(fn: Any) -> bool:
    """Whether it would be seen if the function ran up to a decision about a tensor, and then once more."""
    seen = [_look(code) for code in _codes(fn, 3)]
    return any(look[0] for look in seen) or (any(look[1] for look in seen) and any(look[2] for look in seen))


def _codes(fn: Any, depth: int) -> Iterator[CodeType]:
    """The code of a function, and of those that it knows by name; our own change nothing."""
    fn = getattr(fn, "construct", fn)
    fn = getattr(fn, "__func__", fn)
    if not isinstance(fn, FunctionType) or written_in(fn).startswith("mycelia.") or not depth:
        return
    yield from _within(fn.__code__)
    names = {name for code in _within(fn.__code__) for name in code.co_names}
    held = [c.cell_contents for c in fn.__closure__ or () if c != CellType()]
    for known in (*held, *[fn.__globals__[n] for n in names if n in fn.__globals__]):
        if callable(known):
            yield from _codes(known, depth - 1)


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _within(inner)


@lru_cache(maxsize=1000)
def _look(code: CodeType) -> tuple[bool, bool, bool]:
    """Whether it mentions `print`, changes something (a call whose result nobody takes does), and decides something."""
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code) if step.opname != "CACHE"]
    changes = any(
        name in CHANGES
        or (name == "STORE_DEREF" and value in code.co_freevars)
        or (name == "POP_TOP" and steps[i - 1][0] in CALLS)
        for i, (name, value) in enumerate(steps)
    )
    return "print" in code.co_names, changes, any("_IF_" in name or name == "UNARY_NOT" for name, _ in steps)
