"""The allow-list: the only library code that runs while a program is captured. What is not here is left to Python.

A pure function runs on constants. The methods of containers are functions from items to (new items, result).
"""

from __future__ import annotations

import cmath
import math
import operator
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

from mycelia.capture.values import ATOMS, Break, is_plain, within
from mycelia.eager import Parameter, Tensor
from mycelia.sizes import Sym
from mycelia.types import DType, TensorType

PURE: set[Any] = {f for m in (math, cmath) for f in vars(m).values() if callable(f)} | {
    abs, divmod, round, pow, chr, ord, hash, bin, hex, oct, int, float, bool, str, complex, repr, slice, len, sum, min,
    max, bytes, format, ascii, operator.index,
}  # fmt: skip
PURE |= {
    getattr(operator, n)
    for n in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "neg",
        "pos",
        "abs",
        "not_",
        "and_",
        "or_",
        "xor",
        "invert",
        "truth",
    ]
}
NUMERIC: set[Any] = {f for f in vars(math).values() if callable(f)}
NUMERIC -= {math.fsum, math.prod, math.dist, math.gcd, math.lcm, getattr(math, "sumprod", None)}
NUMERIC |= {abs, round, pow, int, float, bool, divmod}  # of numbers that Python computes at each call
TEXT = {str, bytes, int, float, complex, bool, range, DType}


def is_text(value: Any) -> bool:
    """Whether a constant is always written in the same way: the name of a class may change.

    >>> is_text((1, None, "a")), is_text((int, 1))
    (True, False)
    """
    if type(value) is tuple:
        return all(map(is_text, within(value)))
    return value is None or value is Ellipsis or type(value) in TEXT


METHODS: set[tuple[type, str]] = {
    (t, n) for t in (int, float, str, complex, range, bytes, tuple, bool) for n in dir(t) if not n.startswith("_")
}
PLAIN_ATTRIBUTES: dict[type, frozenset[str]] = {
    DType: frozenset(("name", "bits", "kind", "is_float", "is_integer", "itemsize", "short", "numpy")),
    range: frozenset(("start", "stop", "step")),
    slice: frozenset(("start", "stop", "step")),
    int: frozenset(("real", "imag", "numerator", "denominator")),
    bool: frozenset(("real", "imag", "numerator", "denominator")),
    float: frozenset(("real", "imag")),
    complex: frozenset(("real", "imag")),
    TensorType: frozenset(("dtype", "shape", "rank", "size")),
}


_HASH = Tensor.__hash__
SIMPLE = ATOMS - {slice, Sym}  # classes of constants, whatever they are


def key_place(keys: tuple[Any, ...], key: Any) -> int | None:
    """Where a key stands: constants and things that are equal to themselves only, for __eq__ and __hash__ of others may
    do anything. A tensor's hash is where it is: among things of which that is so, too, nobody asks for more.
    """
    plain = SIMPLE.issuperset(map(type, keys)) or all(is_plain(k) or is_identity(k) for k in keys)
    if not (plain and (is_plain(key) or is_identity(key))) and not all(map(_is_where_it_is, (key, *keys))):
        raise Break("an object with a way of its own to be equal is a key")
    return dict(zip(keys, range(len(keys)), strict=True)).get(key)


def _is_where_it_is(value: Any) -> bool:
    """Whether the hash of an object is its identity."""
    if type(value) is Tensor or type(value) is Parameter:
        return type(value).__hash__ is _HASH
    return not isinstance(value, type) and is_identity(value)


def is_identity(value: Any) -> bool:
    """Whether an object is equal to itself only."""
    cls: Any = type(value)
    if cls.__module__.startswith("mycelia.capture."):
        return False
    if isinstance(value, type):
        return type(value) is type
    return cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__


def with_pair(items: tuple[Any, ...], key: Any, value: Any) -> tuple[Any, ...]:
    i = key_place(items[::2], key)
    return (*items, key, value) if i is None else (*items[: 2 * i + 1], value, *items[2 * i + 2 :])


def without(items: tuple[Any, ...], i: int, width: int = 1) -> tuple[Any, ...]:
    return items[: i * width] + items[i * width + width :]


def pair_of(items: tuple[Any, ...], key: Any) -> Any:
    """The value at a key."""
    i = key_place(items[::2], key)
    if i is None:
        raise KeyError(key)
    return items[2 * i + 1]


def _list_pop(items: tuple[Any, ...], i: int = -1) -> tuple[Any, Any]:
    if not items:
        raise IndexError("pop from empty list")
    if not -len(items) <= operator.index(i) < len(items):
        raise IndexError("pop index out of range")
    return without(items, range(len(items))[i]), items[i]


def _insert(items: tuple[Any, ...], i: int, x: Any) -> tuple[Any, Any]:
    i = operator.index(i)
    return (*items[:i], x, *items[i:]), None


def _position(items: tuple[Any, ...], x: Any, what: str) -> int:
    if not all(map(is_plain, items)) or not is_plain(x):
        raise Break("a search among values")
    for i, y in enumerate(items):
        if y is x or y == x:
            return i
    raise ValueError(what)


def _remove(items: tuple[Any, ...], x: Any) -> tuple[Any, Any]:
    return without(items, _position(items, x, "list.remove(x): x not in list")), None


def _list_index(items: tuple[Any, ...], x: Any) -> tuple[Any, Any]:
    return items, _position(items, x, f"{x!r} is not in list")


def _count(items: tuple[Any, ...], x: Any) -> tuple[Any, Any]:
    if not all(map(is_plain, items)) or not is_plain(x):
        raise Break("a search among values")
    return items, items.count(x)


def _set_item(items: tuple[Any, ...], i: Any, x: Any) -> tuple[Any, Any]:
    if type(i) is slice:
        changed = list(items)
        if type(x) is not tuple:
            raise Break("a slice is assigned from something else than a list or tuple")
        changed[i] = x
        return tuple(changed), None
    i = operator.index(i)
    if not -len(items) <= i < len(items):
        raise IndexError("list assignment index out of range")
    i %= len(items)
    return (*items[:i], x, *items[i + 1 :]), None


def _del_item(items: tuple[Any, ...], i: Any) -> tuple[Any, Any]:
    left = list(items)
    del left[i]
    return tuple(left), None


def _sort(items: tuple[Any, ...], *, reverse: bool = False) -> tuple[Any, Any]:
    if not all(map(is_plain, items)):
        raise Break("values are sorted")
    return tuple(sorted(items, reverse=reverse)), None


def _dict_pop(items: tuple[Any, ...], key: Any, *default: Any) -> tuple[Any, Any]:
    i = key_place(items[::2], key)
    if i is None:
        return (items, *default) if default else (items, pair_of(items, key))
    return without(items, i, 2), items[2 * i + 1]


def _dict_get(items: tuple[Any, ...], key: Any, default: Any = None) -> tuple[Any, Any]:
    i = key_place(items[::2], key)
    return items, default if i is None else items[2 * i + 1]


def _setdefault(items: tuple[Any, ...], key: Any, default: Any = None) -> tuple[Any, Any]:
    i = key_place(items[::2], key)
    return (with_pair(items, key, default), default) if i is None else (items, items[2 * i + 1])


def _dict_del(items: tuple[Any, ...], key: Any) -> tuple[Any, Any]:
    i = key_place(items[::2], key)
    if i is None:
        raise KeyError(key)
    return without(items, i, 2), None


def _popitem(items: tuple[Any, ...]) -> tuple[Any, Any]:
    if not items:
        raise KeyError("popitem(): dictionary is empty")
    return items[:-2], items[-2:]


def _dict_update(items: tuple[Any, ...], pairs: tuple[Any, ...] = (), **named: Any) -> tuple[Any, Any]:
    for k, v in (*zip(pairs[::2], pairs[1::2], strict=True), *named.items()):
        items = with_pair(items, k, v)
    return items, None


_LISTS: dict[str, Any] = {
    "append": lambda items, x: ((*items, x), None),
    "extend": lambda items, more: (items + more, None),
    "insert": _insert,
    "pop": _list_pop,
    "remove": _remove,
    "clear": lambda items: ((), None),
    "reverse": lambda items: (items[::-1], None),
    "index": _list_index,
    "count": _count,
    "sort": _sort,
    "__setitem__": _set_item,
    "__delitem__": _del_item,
}
_DICTS: dict[str, Any] = {
    "get": _dict_get,
    "pop": _dict_pop,
    "setdefault": _setdefault,
    "update": _dict_update,
    "clear": lambda items: ((), None),
    "popitem": _popitem,
    "__setitem__": lambda items, k, x: (with_pair(items, k, x), None),
    "__delitem__": _dict_del,
}
ARGUMENTS: dict[str, tuple[int, int]] = {  # how many a method takes, at least and at most; none of them by name
    "append": (1, 1), "extend": (1, 1), "insert": (2, 2), "pop": (0, 2), "remove": (1, 1), "clear": (0, 0),
    "reverse": (0, 0), "index": (1, 1), "count": (1, 1), "sort": (0, 0), "copy": (0, 0), "get": (1, 2),
    "setdefault": (1, 2), "update": (0, 1), "popitem": (0, 0), "__setitem__": (2, 2), "__delitem__": (1, 1),
}  # fmt: skip
NAMED = {"sort": {"key", "reverse"}}  # but these; and `update` takes any
CONTAINER_METHODS: dict[tuple[type, str], Any] = {
    **{(list, n): f for n, f in _LISTS.items()},
    **{(dict, n): f for n, f in _DICTS.items()},
    **{(OrderedDict, n): f for n, f in _DICTS.items() if n != "popitem"},
    (list, "copy"): None,
    (dict, "copy"): None,
    (MappingProxyType, "get"): _dict_get,
}
