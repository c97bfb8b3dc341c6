"""Functions made of functions: mapped over nests, and chosen by the classes of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.api import GradOperation
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.types import DType

__all__ = ["GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "constexpr"]

_CLASSES: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "Number": (int, float, np.number),
    "Int": (int,),
    "Float": (float,),
    "Bool": (bool,),
    "String": (str,),
    "Tuple": (tuple,),
    "List": (list,),
    "Dict": (dict,),
    "Function": (type(lambda: None),),
    "TypeType": (DType,),
    "None": (type(None),),
}


class HyperMap:
    """A function applied to every leaf of nests of tuples and lists.

    >>> HyperMap()(lambda x, y: x + y, (1, (2, 3)), (10, (20, 30)))
    (11, (22, 33))
    """

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        function, nests = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        return self._map(function, nests, deep=True)

    def _map(self, function: Callable[..., Any], nests: tuple[Any, ...], deep: bool) -> Any:
        if not isinstance(nests[0], tuple | list):
            return function(*nests)
        if any(len(n) != len(nests[0]) for n in nests):
            raise ArgumentError(
                "nests of different length cannot be mapped together", given={"lengths": [*map(len, nests)]}
            )
        rows = list(zip(*nests, strict=True))
        order = reversed(range(len(rows))) if self.reverse else range(len(rows))
        done = {i: self._map(function, rows[i], deep) if deep else function(*rows[i]) for i in order}
        return type(nests[0])([done[i] for i in range(len(rows))])


class Map(HyperMap):
    """A function applied to every element of tuples or lists.

    >>> Map()(lambda x: x * 2, (1, 2))
    (2, 4)
    """

    def __call__(self, *args: Any) -> Any:
        function, nests = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        return self._map(function, nests, deep=False)


class MultitypeFuncGraph:
    """A function with several bodies; the classes of the arguments choose.

    >>> add = MultitypeFuncGraph("add")
    >>> @add.register("Number", "Number")
    ... def _add(x, y):
    ...     return x + y
    >>> add(1, 2)
    3
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[tuple[tuple[str, ...], Callable[..., Any]]] = []

    def register(self, *type_names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: this body is for arguments of these classes.

        >>> MultitypeFuncGraph("f").register("Tensor")(abs)
        <built-in function abs>
        """
        unknown = [t for t in type_names if t not in _CLASSES]
        if unknown:
            raise ArgumentError(f"there is no class {unknown[0]!r}", hint=f"the classes are {', '.join(_CLASSES)}")

        def add(body: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((type_names, body))
            return body

        return add

    def __call__(self, *args: Any) -> Any:
        for names, body in reversed(self.entries):
            if len(names) == len(args) and all(isinstance(a, _CLASSES[n]) for a, n in zip(args, names, strict=True)):
                return body(*args)
        raise ArgumentError(
            f"{self.name} has no body for arguments of classes {', '.join(type(a).__name__ for a in args)}",
            given={"bodies": [names for names, _ in self.entries]},
        )


def constexpr(fn: Callable[..., Any] | None = None, get_instance: bool = True) -> Any:
    """A decorator for functions of constants; Python runs them in every mode, so the function comes back as it is.

    >>> constexpr(abs)(-1)
    1
    """
    if fn is None:
        return constexpr
    return fn if get_instance else lambda: fn
