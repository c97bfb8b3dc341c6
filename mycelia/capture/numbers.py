"""Arithmetic on Python numbers that are known later, with Python's exact meaning."""

from __future__ import annotations

import operator
from typing import Any

from mycelia import primitives as p
from mycelia.capture.machine import KINDS
from mycelia.capture.setting import AttributeSetting
from mycelia.capture.tensors import OPERATORS
from mycelia.capture.values import HostNumber, Number
from mycelia.ir import Value
from mycelia.sizes import Sym
from mycelia.types import bool_, float64, int64

LARGEST = 2**62  # whole numbers of a program stay below
COMPARISONS = {
    "lt": p.less,
    "le": p.less_equal,
    "gt": p.greater,
    "ge": p.greater_equal,
    "eq": p.equal,
    "ne": p.not_equal,
}
OF_SIZES = frozenset(
    ("add", "sub", "mul", "floordiv", "mod", "iadd", "isub", "imul", "ifloordiv", "imod", *COMPARISONS)
)
ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


class LateNumbers(AttributeSetting):
    """`n + 1`, `i < n`, `-n`."""

    def number_operator(self, name: str, x: Any, y: Any) -> Any:
        """An operator on numbers, of which one is known later. Python computes what depends on arguments only."""
        if name in OF_SIZES and all(type(v) in (int, bool, Sym) for v in (x, y)):
            return self.real(OPERATORS[name], x, y)  # a size again, or an answer that is a guard
        if not isinstance(x, Number) and not isinstance(y, Number):
            return self.real(self.store.world.compute, OPERATORS[name], x, y)
        kinds = self.number_kind(x), self.number_kind(y)
        if None in kinds:
            return self.plain_operator(name, x, y)
        if name in COMPARISONS:
            return self.comparison(name, x, y, kinds)
        base = name[1:] if name[0] == "i" and name[1:] in ARITHMETIC else name
        if base in ("floordiv", "mod") and kinds == (int, int) and type(y) is int and y > 0:
            return self.division(base, x, y)
        if base not in ARITHMETIC or set(kinds) - {int}:
            self.refuse("arithmetic that only Python does exactly")
        bounds = [ARITHMETIC[base](a, b) for a in self.bounds(x) for b in self.bounds(y)]
        low, high = min(bounds), max(bounds)
        if low < -LARGEST or high > LARGEST:
            self.refuse("a whole number may grow beyond 64 bits")
        a, b = (self.select(v, KINDS[int]) for v in (x, y))
        return Number(ARITHMETIC[base](a, b), int, low, high)

    def division(self, name: str, x: Any, y: int) -> Number:
        """Whole division by a positive constant, which rounds down."""
        low, high = self.bounds(x)
        if low < 0:
            self.refuse("whole division of a number that may be negative")
        a, b = self.select(x, KINDS[int]), p.full(y, int64, ())
        if name == "mod":
            return Number(p.remainder(a, b), int, 0, min(high, y - 1))
        return Number(p.floor_divide(a, b), int, low // y, high // y)

    def comparison(self, name: str, x: Any, y: Any, kinds: tuple[Any, ...]) -> Any:
        if float in kinds and set(kinds) != {float}:
            self.refuse("a whole number is compared with another kind")
        dtype = float64 if float in kinds else int64
        a, b = (self.as_compared(v, dtype) for v in (x, y))
        return Number(COMPARISONS[name](a, b), bool, 0, 1)

    def as_compared(self, x: Any, dtype: Any) -> Value:
        if dtype is int64 and not isinstance(x, Number):
            low, high = self.bounds(x)
            if not isinstance(x, HostNumber) and not (low >= -(2**63) and high < 2**63):
                self.refuse("a whole number beyond 64 bits")
            x = int(x) if isinstance(x, bool) else x
        value = self.select(x, KINDS[float] if dtype is float64 else KINDS[int])
        return p.cast(value, int64) if value.dtype is bool_ else value

    def plain_operator(self, name: str, x: Any, y: Any) -> Any:
        raise AssertionError("items know how")

    def negative(self, x: Any) -> Any:
        """`-n`."""
        if isinstance(x, HostNumber):
            return self.real(self.store.world.compute, operator.neg, x)
        if x.kind is not int:
            self.refuse("arithmetic that only Python does exactly")
        return Number(-x.value, int, -x.high, -x.low)
