"""What a captured program computes with besides tensors: numbers that are known later, and one of two values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from types import BuiltinFunctionType, CodeType, EllipsisType, ModuleType, NoneType, UnionType
from typing import Any

import numpy as np

from mycelia.errors import Location
from mycelia.frozen import frozen
from mycelia.ir import Op, Value
from mycelia.sizes import Sym
from mycelia.types import DType


class Break(BaseException):  # which no program catches by accident
    """Only Python can run this: why, and on which line."""

    def __init__(self, why: str, at: Location | None = None) -> None:
        super().__init__(why)
        self.why, self.at = why, at
        self.world: Any = None  # what had been read: while it is as it was, the reason stands


class Again(Break):
    """A variable has another type before the first turn of a loop than after it."""


class UserError(Exception):
    """An exception of the program itself, on its way to the program's own `except`. It forgets where in the interpreter
    it was raised: the frames there hold all that the user's function was given.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        error.__traceback__ = None
        self.error = error


class Sentinel:
    """A value that no program has."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name.upper()


MISSING = Sentinel("missing")  # an empty slot
POISON = Sentinel("poison")  # a slot that must be written before it is read


@frozen(eq=False)
class HostNumber:
    """A Python number that Python itself computes at every call, before the program runs: exact by construction."""

    step: int  # where the guard computes it
    sample: Any  # what it is in the call that is captured
    mutable: bool = False  # said to change: its class is one of ours


@frozen(eq=False)
class Number:
    """A Python number that the program computes: a counter of a loop, one of two numbers. `low <= it <= high`."""

    value: Value
    kind: type
    low: int = 0
    high: int = 0


@frozen(eq=False)
class Either:
    """One of two values, or of two objects: which one is known when the program runs. Aliases stay what they are."""

    cond: Value
    yes: Any
    no: Any


ATOMS: frozenset[type] = frozenset((
    int, float, complex, bool, str, bytes, range, slice, NoneType, EllipsisType, type(NotImplemented), Sentinel, DType,
    BuiltinFunctionType, ModuleType, CodeType, UnionType, Sym,
))  # fmt: skip
EXACT: frozenset[type] = frozenset((int, float, complex, str, bytes, bool, range, slice))  # equal ones are the same


def is_atom(value: Any) -> bool:
    """Whether a value has no slots: equal ones cannot be told apart, or it is known by identity.

    >>> is_atom(1.5), is_atom(int), is_atom([])
    (True, True, False)
    """
    return type(value) in ATOMS or isinstance(value, (type, np.dtype, Op))


def within(nest: tuple[Any, ...]) -> Iterator[Any]:
    """What is in tuples in tuples. One that stands in several places is looked into once: there may be as many ways
    through them as there are numbers.

    >>> pair = ("a", 2)
    >>> list(within((1, pair, pair)))
    [1, 'a', 2]
    """
    seen, waiting = {id(nest)}, [nest]
    while waiting:
        for x in waiting.pop():
            if type(x) is not tuple:
                yield x
            elif id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)


def with_leaves(
    nest: tuple[Any, ...], leaf: Callable[[Any], Any], known: dict[int, Any] | None = None
) -> tuple[Any, ...]:
    """Tuples in tuples with other leaves. Those that stand in several places still do, and those that stay are kept.

    >>> pair = ("a", 2)
    >>> with_leaves((1, pair, pair), str), with_leaves(pair, lambda x: x) is pair
    (('1', ('a', '2'), ('a', '2')), True)
    """
    known = {} if known is None else known
    if id(nest) not in known:
        parts = tuple([with_leaves(x, leaf, known) if type(x) is tuple else leaf(x) for x in nest])
        known[id(nest)] = nest if all(map(is_, parts, nest)) else parts
    return known[id(nest)]  # type: ignore[no-any-return]


def is_plain(value: Any) -> bool:
    """Whether a value is made of constants only, so that a pure function of it is a constant."""
    if type(value) is tuple:
        return all(map(is_plain, within(value)))
    if type(value) is Sym:
        return False
    if type(value) is slice:
        return is_plain((value.start, value.stop, value.step))
    return is_atom(value) and (type(value) is type or not isinstance(value, type))  # a metaclass may do anything


def holds_nan(value: Any) -> bool:
    """Whether a constant is, or holds, a number that is none: its hash is that of an object.

    >>> holds_nan((1.0, float("nan"))), holds_nan(1)
    (True, False)
    """
    if type(value) is tuple:
        return any(map(holds_nan, within(value)))
    return type(value) in (float, complex) and value != value


def is_long(value: Any) -> bool:
    """Whether a constant has more digits than Python may write: `sys.set_int_max_str_digits` says how many.

    >>> is_long(10**700), is_long((1, 1.5, "text"))
    (True, False)
    """
    if type(value) is tuple:
        return any(map(is_long, within(value)))
    if type(value) is range:
        return is_long((value.start, value.stop, value.step))
    return type(value) is int and value.bit_length() > 2000


LONG_DIGITS = 600  # so many are read and written under every limit


def same(a: Any, b: Any) -> bool:
    """Whether nothing can tell two values apart: 1, True and 1.0 differ, and 0.0 and -0.0.

    >>> same(0.0, -0.0), same(1, True), same("ab", "a" + "b"), same(float("nan"), float("nan"))
    (False, False, True, True)
    """
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b) or kind not in EXACT:
        return False
    if kind is float or kind is complex:
        return repr(a) == repr(b)
    if kind is range or kind is slice:
        return same(a.start, b.start) and same(a.stop, b.stop) and same(a.step, b.step)
    return bool(a == b)


def alternatives(value: Any) -> list[Any]:
    """All that a value may turn out to be. What is one of two in several places is looked at once."""
    if not isinstance(value, Either):
        return [value]
    found: list[Any] = []
    seen: set[int] = set()
    waiting: list[Any] = [value]
    while waiting:
        x = waiting.pop()
        if not isinstance(x, Either):
            found.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            waiting += x.no, x.yes
    return found


def either(cond: Value, a: Any, b: Any, known: dict[tuple[int, int], Any] | None = None) -> Any:
    """The join of two values: total, since what cannot be one value waits as an `Either`."""
    if a is b or (same(a, b) and a == b):  # nan is found in a list by its identity
        return a
    if type(a) is not tuple or type(b) is not tuple or len(a) != len(b):
        return Either(cond, a, b)
    known = {} if known is None else known  # tuples that stand in several places are joined once
    key = id(a), id(b)
    if key not in known:
        known[key] = tuple([either(cond, x, y, known) for x, y in zip(a, b, strict=True)])
    return known[key]
