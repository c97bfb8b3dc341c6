"""Guards: what a captured program read from outside, as a predicate that says whether it would read the same."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from enum import Enum
from types import CellType, MethodType, ModuleType
from typing import Any

import numpy as np

from mycelia.types import DType

SCALARS = (int, float, bool, str, bytes, complex, type(None), Enum, DType, slice, range)


class Epoch:
    """How often an attribute of a watched object was set. While it stays, no such attribute can have changed.

    A class whose `__setattr__` and `__delattr__` call `Epoch.turn()` says so with `__watched__ = True`.
    """

    count = 0

    @classmethod
    def turn(cls) -> None:
        """Something watched has changed."""
        cls.count += 1


class Guards:
    """The reads of one capture."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {"same": same, "Epoch": Epoch}
        self.names: dict[int, str] = {}
        self.reads: dict[tuple[int, str], tuple[str, bool, str]] = {}  # condition, watched, words
        self.temporaries = 0

    def _name(self, obj: Any) -> str:
        """A name for an object in the predicate, which keeps it alive."""
        if id(obj) not in self.names:
            self.names[id(obj)] = name = f"k{len(self.names)}"
            self.known[name] = obj
        return self.names[id(obj)]

    def of_global(self, namespace: dict[str, Any], name: str) -> None:
        """A global variable was read, or found missing."""
        key = id(namespace), name
        if key in self.reads:
            return
        scope = self._name(namespace)
        if name not in namespace:
            self.reads[key] = f"{name!r} not in {scope}", False, f"global {name}"
        else:
            self.reads[key] = self._expects(f"{scope}[{name!r}]", namespace[name]), False, f"global {name}"

    def of_cell(self, cell: CellType, name: str) -> None:
        """A variable of an enclosing function was read."""
        key = id(cell), name
        if key not in self.reads:
            condition = self._expects(f"{self._name(cell)}.cell_contents", cell.cell_contents)
            self.reads[key] = condition, False, f"variable {name}"

    def of_attribute(self, obj: Any, name: str, value: Any) -> None:
        """An attribute was read."""
        key = id(obj), name
        if key in self.reads:
            return
        owner = self._name(obj)
        read = f"{owner}.{name}" if name.isidentifier() else f"getattr({owner}, {name!r})"
        own = type(getattr(obj, "__dict__", None)) is dict and name in obj.__dict__
        if own:
            read = f"{self._name(obj.__dict__)}[{name!r}]"
        # nobody tells us when a class or a container changes
        watched = own and getattr(type(obj), "__watched__", False)
        watched = watched and not isinstance(value, list | dict | set | np.ndarray | deque | bytearray | array)
        self.reads[key] = self._expects(read, value), watched, f"{type(obj).__name__}.{name}"

    def of_missing(self, obj: Any, name: str) -> None:
        """An attribute was asked for and not there."""
        if (id(obj), name) not in self.reads:
            condition = f"not hasattr({self._name(obj)}, {name!r})"
            self.reads[id(obj), name] = condition, False, f"{type(obj).__name__}.{name}, which was missing"

    def of_contents(self, mapping: dict[str, Any], what: str) -> None:
        """Everything in a dictionary was read."""
        if (id(mapping), "*") not in self.reads:
            self.reads[id(mapping), "*"] = self._expects(self._name(mapping), mapping), False, what

    def _expects(self, read: str, value: Any) -> str:
        """The condition that an expression still gives what it gave."""
        if isinstance(value, SCALARS):
            wanted = self._name(value)
            t = self._temporary()
            return f"(({t} := {read}) is {wanted} or ({t}.__class__ is {self._name(type(value))} and {t} == {wanted}))"
        if isinstance(value, MethodType):
            t = self._temporary()
            return (
                f"(({t} := {read}).__class__ is {self._name(MethodType)} and {t}.__func__ is "
                f"{self._name(value.__func__)} and {t}.__self__ is {self._name(value.__self__)})"
            )
        if isinstance(value, np.ndarray):
            return f"same({read}, {self._name(value)}, {self._name(value.copy())})"
        if isinstance(value, bytearray | array):
            return f"{read} == {self._name(value[:])}"
        if isinstance(value, list | tuple | deque):
            t = self._temporary()
            parts = [f"{t}[{i}]" for i in range(len(value))]
            return self._all(t, read, value, zip(parts, value, strict=True))
        if isinstance(value, dict):
            t = self._temporary()
            keys = list(value)
            order = f"list({t}) == {self._name(keys)}"
            parts = [f"{t}[{self._name(keys)}[{i}]]" for i in range(len(keys))]
            return self._all(t, read, value, zip(parts, value.values(), strict=True), order)
        if isinstance(value, set | frozenset):
            return f"{read} == {self._name(frozenset(value))}"
        return f"{read} is {self._name(value)}"

    def _all(self, t: str, read: str, value: Any, parts: Any, order: str = "True") -> str:
        conditions = [f"({t} := {read}).__class__ is {self._name(type(value))}", f"len({t}) == {len(value)}", order]
        conditions += [self._expects(part, v) for part, v in parts]
        return "(" + " and ".join(c for c in conditions if c != "True") + ")"

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def predicate(self) -> Callable[[], bool]:
        """Whether everything is as it was read."""
        watched = [c for c, w, _ in self.reads.values() if w]
        others = [c for c, w, _ in self.reads.values() if not w]
        lines = ["def holds():", "  try:", "    pass"]
        lines += [f"    if not {c}: return False" for c in others]
        if watched:
            lines += ["    if Epoch.count != epoch[0]:"]
            lines += [f"      if not {c}: return False" for c in watched]
            lines += ["      epoch[0] = Epoch.count"]
        lines += ["  except (KeyError, AttributeError, ValueError):", "    return False", "  return True"]
        self.known["epoch"] = [Epoch.count]
        exec(compile("\n".join(lines), "<guards>", "exec"), self.known)
        return self.known["holds"]  # type: ignore[no-any-return]

    def broken(self) -> list[str]:
        """The reads that would now give something else, in words."""
        found = []
        for condition, _, words in self.reads.values():
            try:
                holds = eval(condition, dict(self.known))
            except (KeyError, AttributeError, ValueError):
                holds = False
            if not holds:
                found.append(words)
        return found


def same(now: Any, array: Any, copy: Any) -> bool:
    """Whether an array is the same object with the same numbers.

    >>> a = np.zeros(2)
    >>> same(a, a, a.copy()), same(a, a, a + 1)
    (True, False)
    """
    return now is array and np.array_equal(now, copy, equal_nan=now.dtype.kind in "fc")


def observable(module: ModuleType) -> bool:
    """Whether the variables of a module are watched: those of libraries are taken to stay."""
    from mycelia.capture.convert import is_library  # asked for modules only, long after both are loaded

    file = getattr(module, "__file__", None)
    return file is not None and not is_library(file)
