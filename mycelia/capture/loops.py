"""Loops: turns are interpreted one by one, or rolled into one loop of the program.

A loop is rolled by a fixpoint: what a turn changes is carried from turn to turn, until nothing new changes. A carried
tensor is a stand-in for a tensor of some earlier turn: it may be read, but not written, kept, or asked who it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType
from typing import Any

from mycelia import primitives as p
from mycelia.capture.carrying import TURNS
from mycelia.capture.machine import Frame, Items
from mycelia.capture.numbers import LARGEST
from mycelia.capture.rolling import Rolling, after, caught
from mycelia.capture.slots import CONTENTS
from mycelia.capture.statements import FALLS, Outcome
from mycelia.capture.values import MISSING, Break, Either, Number
from mycelia.capture.world import is_tensor
from mycelia.ir import Value
from mycelia.sizes import Sym
from mycelia.types import int64

LONG, LONGEST = 32, 2000  # a range of LONG is rolled into one loop if its counter allows it; beyond LONGEST it must be


@dataclass(frozen=True)
class LateRange:
    """`range` of whole numbers that the program computes."""

    start: Any
    stop: Any
    step: int


class Loops(Rolling):
    """`for` and `while`."""

    def range_of_tensors(self, args: tuple[Any, ...]) -> Any:
        values = []
        for a in args:
            if is_tensor(a):
                v = self.value(a)
                if v.dtype.kind not in "iu" or v.tensor.size != 1:
                    self.refuse("a range of something else than whole numbers")
                small = v.dtype.bits < 64
                v = p.cast(p.reshape(v, ()), int64)
                values.append(Number(v, int, *((-(2**32), 2**32) if small else (-LARGEST * 4, LARGEST * 4))))
            else:
                values.append(self.plain(a))
        start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
        if type(step) is not int or step == 0:
            self.refuse("the step of a range is a tensor")
        return LateRange(start, stop, step)

    def do_For(self, stmt: ast.For, frame: Frame) -> Outcome:
        over = self.settled(self.eval(stmt.iter, frame))
        if isinstance(over, Either):
            over = self.joined(over)
        if isinstance(over, Either):
            over = self.items_of_either(over)
        if isinstance(over, LateRange):
            return self.roll_range(stmt, over, frame)
        if type(over) is range and len(over) >= LONG:
            try:
                outcome = self.forked(lambda: self.roll_range(stmt, LateRange(over.start, over.stop, over.step), frame))
            except Break:
                if len(over) > LONGEST:
                    raise
            else:
                return outcome
        if is_tensor(over) and self.value(over).shape and self.is_long(self.value(over).shape[0]):
            rows = LateRange(0, self.value(over).shape[0], 1)
            try:
                return self.forked(lambda: self.roll_range(stmt, rows, frame, lambda i: self.get_part(over, i)))
            except Break:
                pass
        at = self.cursor(over)
        return after(self.turns(0, at, stmt, frame))

    @staticmethod
    def is_long(n: Any) -> bool:
        """Whether a loop of so many turns is one of the program; if that is not known, it is."""
        return type(n) is Sym or n >= LONG

    def turns(self, i: int, at: Callable[[int], Any], stmt: ast.For, frame: Frame) -> Outcome:
        """Turn `i` and those after it. After a turn that may have ended the loop, the others run where it has not."""
        while True:
            item = at(i)
            if item is MISSING:
                return self.block(stmt.orelse, frame)
            if i > LONGEST:
                self.refuse("a long loop")
            self.assign(stmt.target, item, frame)
            outcome = caught("continue", self.block(stmt.body, frame))
            i += 1
            if outcome is not FALLS:
                return self.follow(outcome, lambda: self.turns(i, at, stmt, frame))  # noqa: B023  # called at once

    def cursor(self, over: Any) -> Callable[[int], Any]:
        """A way to ask for the item at a place, as iteration meets it: live, where Python's is; MISSING at the end."""
        if type(over) is list:
            return lambda i: items[i] if i < len(items := self.whole(over)) else MISSING
        if isinstance(over, tuple) or type(over) in (str, bytes, range):
            return lambda i: over[i] if i < len(over) else MISSING
        if is_tensor(over):
            size = self.native(len, (over,), {})
            return lambda i: self.get_part(over, i) if i < size else MISSING
        steps = over if isinstance(over, Items) else Items(self, self.iterate(over))

        def step(i: int) -> Any:
            try:
                return steps.step(self)
            except StopIteration:
                return MISSING

        return step

    def do_While(self, stmt: ast.While, frame: Frame) -> Outcome:
        def test() -> Any:
            return self.truth(self.eval(stmt.test, frame))

        def body() -> Outcome:
            return self.block(stmt.body, frame)

        def orelse() -> Outcome:
            return self.block(stmt.orelse, frame)

        for turn in range(LONGEST):
            if turn == LONG:  # it may be one that does not end
                try:
                    return self.forked(lambda: self.roll(test, body, orelse))
                except Break:
                    pass
            try:
                truth = self.forked(lambda: known(test()))
            except Symbolic:
                return self.roll(test, body, orelse)
            if not truth:
                return orelse()
            try:
                outcome = self.forked(lambda: known(caught("continue", body())))
            except Symbolic:
                return self.roll(test, body, orelse)
            if outcome is not FALLS:
                return after(outcome)
        return self.refuse("a long loop")

    def roll_range(
        self, stmt: ast.For, over: LateRange, frame: Frame, item_at: Callable[[Any], Any] | None = None
    ) -> Outcome:
        """A `for` over whole numbers as a `while` with a hidden counter."""
        counter = self.store.make(CellType())
        self.store.write(counter, CONTENTS, over.start)
        (start_low, start_high), (stop_low, stop_high) = self.bounds(over.start), self.bounds(over.stop)
        low, high = (start_low, stop_high - 1) if over.step > 0 else (stop_low + 1, start_high)
        low, high = max(low, start_low - TURNS * abs(over.step)), min(high, start_high + TURNS * abs(over.step))
        high = max(low, high)

        def item() -> Any:
            held = self.read(counter, CONTENTS)
            return Number(held.value, int, low, high) if isinstance(held, Number) else held

        def test() -> Any:
            held = self.read(counter, CONTENTS)
            return self.truth(self.binary("lt" if over.step > 0 else "gt", held, over.stop))

        def body() -> Outcome:
            now_ = item()
            self.store.write(counter, CONTENTS, self.binary("add", now_, over.step))
            self.assign(stmt.target, now_ if item_at is None else item_at(now_), frame)
            return self.block(stmt.body, frame)

        if isinstance(over.start, int) and isinstance(over.stop, int):
            first = len(range(over.start, over.stop, over.step)) > 0
        else:
            first = None
        return self.roll(test, body, lambda: self.block(stmt.orelse, frame), first)

    # --------------------------------------------------------------------------------------------------------- rolling


class Symbolic(BaseException):
    """A condition that only the running program knows."""


def known(value: Any) -> Any:
    """A truth or an outcome that is known now."""
    if isinstance(value, Value | Either):
        raise Symbolic
    return value
