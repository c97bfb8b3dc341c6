"""A variable without a value: it was not assigned, or two ways through the program gave it values that do not fit."""

from __future__ import annotations

from typing import Any, NoReturn

from mycelia.errors import BranchError


class Unbound:
    """What a variable holds that has no value. Whoever uses it is told why."""

    __slots__ = ("error", "name")

    def __init__(self, name: str, error: BranchError | None = None) -> None:
        self.name, self.error = name, error

    def complain(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Tell why there is no value."""
        if self.error is not None:
            raise self.error
        raise UnboundLocalError(f"cannot access local variable '{self.name}' where it is not associated with a value")

    def __getattr__(self, name: str) -> Any:
        self.complain()


_OPERATORS = """
    add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror
    xor rxor neg pos abs invert lt le gt ge eq ne bool int float index len iter getitem setitem call contains
    enter exit str format
"""
for _name in _OPERATORS.split():
    setattr(Unbound, f"__{_name}__", Unbound.complain)
Unbound.__hash__ = object.__hash__  # type: ignore[method-assign]  # it has no value, but it is an object
