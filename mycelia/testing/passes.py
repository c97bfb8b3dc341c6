"""Passes are tested as programs: this program becomes that program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia.ir import Function, verify
from mycelia.types import Type


def check_pass(
    run: Callable[[Function], Function], before: Callable[..., Any], after: Callable[..., Any], *types: Type
) -> None:
    """`run` turns the program `before` into exactly the program `after`.

    >>> from mycelia.types import TensorType, float32
    >>> check_pass(lambda fn: fn, lambda x: x + x, lambda x: x + x, TensorType(float32, (2,)))
    >>> check_pass(lambda fn: fn, lambda x: x + x, lambda x: x * x, TensorType(float32, (2,)))
    Traceback (most recent call last):
    AssertionError: ...
    """
    got, want = run(Function.build(before, *types)), Function.build(after, *types)
    verify(got)
    assert got == want, f"\ngot:\n{got}\nwant:\n{want}"
