"""Loops as operations on functions. Inside `jit` they are compiled as a loop of the program is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia.errors import CallError

__all__ = ["ForiLoop", "Scan", "WhileLoop"]


def _functions(owner: str, *functions: Any) -> None:
    for function in functions:
        if not callable(function):
            raise CallError(f"{owner} takes functions, and was given {function!r}", hint="pass a def or a lambda")


class WhileLoop:
    """A value that a function changes for as long as a condition on it holds.

    >>> WhileLoop()(lambda x: x < 10, lambda x: x * 2, 1)
    16
    """

    def __call__(self, cond_func: Callable[[Any], Any], loop_func: Callable[[Any], Any], init_val: Any) -> Any:
        _functions("WhileLoop", cond_func, loop_func)
        value = init_val
        while cond_func(value):
            value = loop_func(value)
        return value


class ForiLoop:
    """A value that a function of the turn and of the value changes, for each turn from `lower` up to `upper`.

    `unroll` says how MindSpore compiles it; what is computed is the same.

    >>> ForiLoop()(0, 4, lambda i, x: x + i, 0)
    6
    """

    def __call__(
        self, lower: int, upper: int, loop_func: Callable[[int, Any], Any], init_val: Any, unroll: bool = True
    ) -> Any:
        _functions("ForiLoop", loop_func)
        value = init_val
        for i in range(lower, upper):
            value = loop_func(i, value)
        return value


class Scan:
    """A value that walks along a sequence: a function of the value and of an element gives the next value, and a
    result. The last value, and the results; without a sequence (None), `length` turns with None.

    `unroll` says how MindSpore compiles it; what is computed is the same.

    >>> Scan()(lambda total, x: (total + x, total), 0, [1, 2, 3])
    (6, [0, 1, 3])
    """

    def __call__(
        self,
        loop_func: Callable[[Any, Any], tuple[Any, Any]],
        init: Any,
        xs: Sequence[Any] | None,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list[Any]]:
        _functions("Scan", loop_func)
        if xs is None and length is None:
            raise CallError("Scan takes a sequence, or a length", hint="give xs, or length")
        elements = [None] * (length or 0) if xs is None else xs
        value, results = init, []
        for x in elements:
            value, result = loop_func(value, x)
            results.append(result)
        return value, results
