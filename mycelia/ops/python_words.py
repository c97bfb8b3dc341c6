"""Python's operators as functions, by the names that MindSpore's compiler has for them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

__all__: list[str] = []


def _with(items: Any, at: int, value: Any) -> list[Any]:
    """A list with another item at a place."""
    new = list(items)
    new[at] = value
    return new


def _one(built_in: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that has a signature, which built-in ones lack."""
    return lambda x: built_in(x)


def _two(built_in: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: built_in(x, y)


_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    **{f"scalar_{name}": getattr(operator, name) for name in (
        "add", "eq", "floordiv", "ge", "gt", "le", "lt", "mod", "mul", "ne", "pow", "sub")},
    "scalar_div": operator.truediv, "scalar_max": max, "scalar_min": min,
    "augassign_add": operator.iadd, "augassign_div": operator.itruediv, "augassign_floordiv": operator.ifloordiv,
    "augassign_mod": operator.imod, "augassign_mul": operator.imul, "augassign_sub": operator.isub,
    "bool_eq": operator.eq, "string_eq": operator.eq, "string_concat": operator.concat,
    "list_equal": operator.eq, "tuple_equal": operator.eq,
    "list_getitem": operator.getitem, "tuple_getitem": operator.getitem, "dict_getitem": operator.getitem,
    "is_": operator.is_, "is_not": operator.is_not,
}  # fmt: skip
_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "scalar_uadd": operator.pos, "scalar_usub": operator.neg, "scalar_log": math.log, "bool_not": operator.not_,
    "list_len": len,
}  # fmt: skip
_WORDS: dict[str, Callable[..., Any]] = {
    **{name: _two(built_in) for name, built_in in _OF_TWO.items()},
    **{name: _one(built_in) for name, built_in in _OF_ONE.items()},
    "bool_and": lambda x, y: x and y, "bool_or": lambda x, y: x or y,
    "list_setitem": lambda items, at, value: _with(items, at, value),
    "tuple_setitem": lambda items, at, value: tuple(_with(items, at, value)),
    "dict_setitem": lambda items, key, value: {**items, key: value},
    "tuple_reversed": lambda items: items[::-1], "shape_mul": lambda shape: math.prod(shape),
    "make_list": lambda *items: list(items), "make_tuple": lambda *items: items, "make_slice": slice,
    "make_dict": lambda keys, values: dict(zip(keys, values, strict=True)),
    "in_dict": lambda key, items: key in items, "not_in_dict": lambda key, items: key not in items,
}  # fmt: skip
for _name, _word in _WORDS.items():
    if _word is not slice:
        _word.__name__ = _word.__qualname__ = _name
        _word.__doc__ = f"{_name} of MindSpore's compiler: what Python's own operator gives."
globals().update(_WORDS)
__all__ += _WORDS
