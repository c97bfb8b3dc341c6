"""Checks of arguments that published programs import from `mindspore._checkparam`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from mycelia.errors import ArgumentError, CallError

EQ, NE, LT, LE, GT, GE, INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = range(1, 13)

_COMPARE: dict[int, tuple[Callable[[Any, Any], bool], str]] = {
    EQ: (operator.eq, "equal to"), NE: (operator.ne, "other than"), LT: (operator.lt, "below"),
    LE: (operator.le, "at most"), GT: (operator.gt, "above"), GE: (operator.ge, "at least"),
}  # fmt: skip
_RANGE = {INC_NEITHER: ("(", ")"), INC_LEFT: ("[", ")"), INC_RIGHT: ("(", "]"), INC_BOTH: ("[", "]")}


class Rel:
    """How two numbers, or a number and a range, are compared.

    >>> Rel.GE
    6
    """

    EQ, NE, LT, LE, GT, GE = EQ, NE, LT, LE, GT, GE
    INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN


def _said(arg_name: str | None, prim_name: str | None) -> str:
    owner = f"{prim_name}: " if prim_name else ""
    return f"{owner}{arg_name or 'the value'}"


def _of(kind: type, value: Any, arg_name: str | None, prim_name: str | None) -> Any:
    kinds = (int,) if kind is int else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        told = "a whole number" if kind is int else "a number"
        raise CallError(f"{_said(arg_name, prim_name)} is {told}, not {value!r}")
    return value


def _compared(kind: type, value: Any, bound: Any, rel: int, arg_name: str | None, prim_name: str | None) -> Any:
    compare, words = _COMPARE[rel]
    if not compare(_of(kind, value, arg_name, prim_name), bound):
        raise ArgumentError(f"{_said(arg_name, prim_name)} is {words} {bound}, not {value!r}")
    return value


def check_int(arg_value: Any, value: int, rel: int, arg_name: str | None = None, prim_name: str | None = None) -> int:
    """A whole number that compares with another.

    >>> check_int(3, 2, GT)
    3
    """
    return int(_compared(int, arg_value, value, rel, arg_name, prim_name))


def check_float(
    arg_value: Any, value: float, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> float:
    """A number that compares with another.

    >>> check_float(0.5, 1.0, LE)
    0.5
    """
    return _compared(float, arg_value, value, rel, arg_name, prim_name)  # type: ignore[no-any-return]


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    """A whole number.

    >>> check_is_int(3)
    3
    """
    return _of(int, arg_value, arg_name, prim_name)  # type: ignore[no-any-return]


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    """A number with a point.

    >>> check_is_float(3.0)
    3.0
    """
    if not isinstance(arg_value, float):
        raise CallError(f"{_said(arg_name, prim_name)} is a float, not {arg_value!r}")
    return arg_value


def check_positive_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    """A whole number above 0.

    >>> check_positive_int(3, "size")
    3
    """
    return check_int(arg_value, 0, GT, arg_name, prim_name)


def check_non_negative_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    """A whole number from 0 on.

    >>> check_non_negative_int(0)
    0
    """
    return check_int(arg_value, 0, GE, arg_name, prim_name)


def check_positive_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    """A number above 0.

    >>> check_positive_float(0.5)
    0.5
    """
    return check_float(arg_value, 0, GT, arg_name, prim_name)


def check_non_negative_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    """A number from 0 on.

    >>> check_non_negative_float(0.0)
    0.0
    """
    return check_float(arg_value, 0, GE, arg_name, prim_name)


def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> bool:
    """True or False.

    >>> check_bool(True)
    True
    """
    if not isinstance(arg_value, bool):
        raise CallError(f"{_said(arg_name, prim_name)} is True or False, not {arg_value!r}")
    return arg_value


def _between(kind: type, value: Any, low: Any, high: Any, rel: int, arg_name: Any, prim_name: Any) -> Any:
    _of(kind, value, arg_name, prim_name)
    left, right = _RANGE[rel]
    inside = (low <= value if left == "[" else low < value) and (value <= high if right == "]" else value < high)
    if not inside:
        raise ArgumentError(f"{_said(arg_name, prim_name)} lies in {left}{low}, {high}{right}, and {value!r} does not")
    return value


def check_int_range(
    arg_value: Any,
    lower_limit: int,
    upper_limit: int,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> int:
    """A whole number in a range.

    >>> check_int_range(0, 0, 3, INC_LEFT)
    0
    """
    return int(_between(int, arg_value, lower_limit, upper_limit, rel, arg_name, prim_name))


def check_float_range(
    arg_value: Any,
    lower_limit: float,
    upper_limit: float,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> float:
    """A number in a range.

    >>> check_float_range(0.9, 0.0, 1.0, INC_NEITHER, "beta1", "Adam")
    0.9
    """
    return _between(float, arg_value, lower_limit, upper_limit, rel, arg_name, prim_name)  # type: ignore[no-any-return]


def check_string(
    arg_value: Any, valid_values: Sequence[str], arg_name: str | None = None, prim_name: str | None = None
) -> str:
    """One of several texts.

    >>> check_string("same", ["same", "valid"])
    'same'
    """
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        told = ", ".join(map(repr, valid_values))
        raise ArgumentError(f"{_said(arg_name, prim_name)} is one of {told}, not {arg_value!r}")
    return arg_value


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """A value of one of several classes; True and False are no numbers.

    >>> check_value_type("size", 3, [int, tuple])
    3
    """
    kinds = tuple(valid_types) if isinstance(valid_types, list | tuple) else (valid_types,)
    if (isinstance(arg_value, bool) and bool not in kinds) or not isinstance(arg_value, kinds):
        told = " or ".join(k.__name__ for k in kinds)
        raise CallError(f"{_said(arg_name, prim_name)} is of class {told}, not {type(arg_value).__name__}")
    return arg_value


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """A value of one of several classes.

    >>> check_isinstance("size", 3, int)
    3
    """
    return check_value_type(arg_name, arg_value, classes)


class Validator:
    """The same checks under an old name: `Validator.check_bool(x, "flag")`.

    >>> Validator.check_positive_int(2, "n")
    2
    """

    check_int, check_float = staticmethod(check_int), staticmethod(check_float)
    check_is_int, check_is_float = staticmethod(check_is_int), staticmethod(check_is_float)
    check_positive_int, check_non_negative_int = staticmethod(check_positive_int), staticmethod(check_non_negative_int)
    check_positive_float = staticmethod(check_positive_float)
    check_non_negative_float = staticmethod(check_non_negative_float)
    check_bool, check_string = staticmethod(check_bool), staticmethod(check_string)
    check_int_range, check_float_range = staticmethod(check_int_range), staticmethod(check_float_range)
    check_value_type, check_isinstance = staticmethod(check_value_type), staticmethod(check_isinstance)
