"""Operations as plain data: a transform by its class and fields, a function by the place where it is defined."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def described(operation: Any) -> Any:
    """An operation as plain data.

    >>> described(len)
    {'function': 'builtins:len'}
    """
    if operation is None:
        return None
    if is_dataclass(operation) and not isinstance(operation, type):
        kind = type(operation)
        given = {f.name: _plain(getattr(operation, f.name)) for f in fields(operation) if f.init}
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": given}
    module = getattr(operation, "__module__", None) or type(operation).__module__
    return {"function": f"{module}:{getattr(operation, '__qualname__', type(operation).__qualname__)}"}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {"member": f"{type(value).__module__}:{type(value).__qualname__}.{value.name}"}
    if callable(value):
        return described(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value
