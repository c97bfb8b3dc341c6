"""What a call in a network is given, and what it gives: names, and values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum
from typing import Any

from mycelia.errors import ArgumentError
from mycelia.frozen import frozen


class ValueType(Enum):
    """Which kind of thing a value in a program is."""

    ConstantValue = 0
    TupleValue = 20
    ListValue = 21
    DictValue = 22
    NamingValue = 40
    CustomObjValue = 41
    UnsupportedValue = 50


@frozen
class ScopedValue:
    """A name in a program, such as `x` or `self.x`, or a value.

    >>> ScopedValue.create_naming_value("conv", "self"), ScopedValue.create_variable_value((1, 2)).type
    (self.conv, <ValueType.TupleValue: 20>)
    """

    type: ValueType
    scope: str = ""
    value: Any = None

    @classmethod
    def create_variable_value(cls, value: Any) -> ScopedValue:
        """A value of Python's: a number, a text, a tuple, a list, a dictionary, or any object.

        >>> ScopedValue.create_variable_value(3)
        3
        """
        if isinstance(value, tuple):
            return cls(ValueType.TupleValue, "", tuple(map(cls.create_variable_value, value)))
        if isinstance(value, list):
            return cls(ValueType.ListValue, "", [cls.create_variable_value(v) for v in value])
        if isinstance(value, dict):
            return cls(ValueType.DictValue, "", {k: cls.create_variable_value(v) for k, v in value.items()})
        plain = isinstance(value, int | float | str | bytes | complex | type(None))
        return cls(ValueType.ConstantValue if plain else ValueType.CustomObjValue, "", value)

    @classmethod
    def create_naming_value(cls, name: str, scope: str = "") -> ScopedValue:
        """A name, or an attribute of what is called `scope`.

        >>> ScopedValue.create_naming_value("x")
        x
        """
        for given in (name, scope):
            if not isinstance(given, str):
                raise ArgumentError(f"names are texts, not {given!r}")
        return cls(ValueType.NamingValue, scope, name)

    @staticmethod
    def create_name_values(names: Sequence[str], scopes: Sequence[str] | None = None) -> list[ScopedValue]:
        """Several names.

        >>> ScopedValue.create_name_values(["x", "y"], ["self", ""])
        [self.x, y]
        """
        if not isinstance(names, list | tuple) or (scopes is not None and len(scopes) != len(names)):
            raise ArgumentError(
                "names and scopes are lists of the same length", given={"names": names, "scopes": scopes}
            )
        return [ScopedValue.create_naming_value(n, s) for n, s in zip(names, scopes or [""] * len(names), strict=True)]

    def __repr__(self) -> str:
        if self.type is ValueType.NamingValue:
            return f"{self.scope}.{self.value}" if self.scope else str(self.value)
        return str(self.value)


def of_expression(node: ast.expr) -> ScopedValue:
    """What an expression is: a name, a constant, or something else, whose text is kept.

    >>> of_expression(ast.parse("self.x").body[0].value), of_expression(ast.parse("x[0]").body[0].value).type
    (self.x, <ValueType.UnsupportedValue: 50>)
    """
    if isinstance(node, ast.Constant):
        return ScopedValue(ValueType.ConstantValue, "", node.value)
    if isinstance(node, ast.Name):
        return ScopedValue(ValueType.NamingValue, "", node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ScopedValue(ValueType.NamingValue, node.value.id, node.attr)
    if isinstance(node, ast.Tuple | ast.List):
        kind = ValueType.TupleValue if isinstance(node, ast.Tuple) else ValueType.ListValue
        return ScopedValue(kind, "", type_of(node)(map(of_expression, node.elts)))
    return ScopedValue(ValueType.UnsupportedValue, "", ast.unparse(node))


def type_of(node: ast.Tuple | ast.List) -> type:
    """The class of what an expression makes."""
    return tuple if isinstance(node, ast.Tuple) else list


def as_value(given: ScopedValue | str) -> ScopedValue:
    """A value; a text is the name of one, with what it belongs to.

    >>> as_value("self.x").scope
    'self'
    """
    if isinstance(given, ScopedValue):
        return given
    if not isinstance(given, str):
        raise ArgumentError(f"a ScopedValue or the text of a name is asked for, not {given!r}")
    scope, _, name = given.rpartition(".")
    return ScopedValue(ValueType.NamingValue, scope, name)
