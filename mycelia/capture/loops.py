"""Loops: turns are interpreted one by one, or rolled into one loop of the program.

A loop is rolled by a fixpoint: what a turn changes is carried from turn to turn, until nothing new changes. A carried
tensor is a stand-in for a tensor of some earlier turn: it may be read, but not written, kept, or asked who it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from types import CellType
from typing import Any

from mycelia import primitives as p
from mycelia.capture.carrying import TURNS
from mycelia.capture.machine import KINDS, Frame, Items
from mycelia.capture.numbers import LARGEST
from mycelia.capture.rolling import Rolling, after, caught
from mycelia.capture.slots import CONTENTS
from mycelia.capture.statements import FALLS, Outcome
from mycelia.capture.values import MISSING, POISON, Break, Either, HostNumber, Number
from mycelia.capture.world import is_tensor
from mycelia.frozen import frozen
from mycelia.ir import Value
from mycelia.sizes import Sym, known_equal, known_less
from mycelia.types import int64

LONG, LONGEST = 32, 2000  # a range of LONG is rolled into one loop if its counter allows it; beyond LONGEST it must be


@frozen
class LateRange:
    """`range` of whole numbers that the program computes."""

    start: Any
    stop: Any
    step: int
    below: Any = None  # a number or a size that none of them reaches, if it is known


@frozen
class ChangingRange:
    """`range` of whole numbers of which some change between calls."""

    start: Any
    stop: Any
    step: int


@frozen
class Rows:
    """The rows of tensors of one length, one of each in every turn: `enumerate(x)`, `zip(x, y)`, one in the other."""

    tensors: tuple[Any, ...]
    form: Callable[[Any, list[Any]], Any]  # what a turn gets, of its number and its rows
    real: Callable[[], Any]  # what Python goes over


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
        over = self.settled(self.iterated(stmt.iter, frame))
        if isinstance(over, Either):
            over = self.joined(over)
        if isinstance(over, ChangingRange):
            below = over.stop if type(over.stop) in (int, Sym) and over.step > 0 else None
            late = LateRange(self.late(over.start), self.late(over.stop), over.step, below)
            try:
                return self.forked(lambda: self.roll_range(stmt, late, frame))
            except Break:  # its turns are those of this call, then
                self.node = stmt.iter
                over = self.real(range, self.plain(over.start), self.plain(over.stop), over.step)
        if isinstance(over, LateRange):
            return self.roll_range(stmt, over, frame)
        if type(over) is range and len(over) >= LONG:
            try:
                late = LateRange(over.start, over.stop, over.step, max(over.start, over.stop))
                outcome = self.forked(lambda: self.roll_range(stmt, late, frame))
            except Break:
                if len(over) > LONGEST:
                    raise
            else:
                return outcome
        rows = Rows((over,), lambda _, rows: rows[0], lambda: over) if is_tensor(over) else over
        if isinstance(rows, Rows):
            if self.value(rows.tensors[0]).shape and self.is_long(self.value(rows.tensors[0]).shape[0]):
                try:
                    return self.forked(lambda: self.roll_rows(stmt, rows, frame))
                except Break:
                    pass
            over = rows.real()
        at = self.cursor(over)
        return after(self.turns(0, at, stmt, frame))

    def iterated(self, node: ast.expr, frame: Frame) -> Any:
        """What a `for` goes over. A range of numbers that change between calls is not made: the program counts."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords):
            return self.eval(node, frame)
        found = self.settled(self.eval(node.func, frame))
        if found is enumerate or found is zip:
            return self.rows_of(node, frame)
        if found is not range:
            return self.eval(node, frame)
        args = tuple(map(self.settled, self.evals(node.args, frame)))
        self.node = node
        known = 0 < len(args) < 4 and all(self.number_kind(a) is int and not isinstance(a, Number) for a in args)
        if known and any(type(a) is not int for a in args):
            start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
            if step := self.plain(step):
                return ChangingRange(start, stop, step)
        return self.call(range, args, {})

    def rows_of(self, node: ast.expr, frame: Frame) -> Any:
        """What a `for` goes over that may be rows of tensors: `enumerate` and `zip` are not asked for these."""
        fn = self.settled(self.eval(node.func, frame)) if is_plain_call(node) else None  # type: ignore[attr-defined]
        if not (fn is enumerate or fn is zip):
            return self.settled(self.eval(node, frame))
        parts = [self.rows_of(arg, frame) for arg in node.args]  # type: ignore[attr-defined]
        self.node = node

        def real() -> Any:
            return self.call(fn, tuple(x.real() if isinstance(x, Rows) else x for x in parts), {})

        first, *others = parts = [
            Rows((x,), lambda _, rows: rows[0], lambda x=x: x) if is_tensor(x) and self.value(x).shape else x  # type: ignore[misc]
            for x in parts
        ] or [None]
        if fn is enumerate and isinstance(first, Rows) and (not others or [type(n) for n in others] == [int]):
            start = others[0] if others else 0
            return Rows(first.tensors, lambda i, rows: (self.binary("add", i, start), first.form(i, rows)), real)
        if fn is zip and all(isinstance(x, Rows) for x in parts):
            tensors = tuple(t for x in parts for t in x.tensors)
            counts = [self.value(t).shape[0] for t in tensors]
            if all(known_equal(n, counts[0]) for n in counts):
                return Rows(tensors, partial(_zipped, parts), real)
        return real()

    def late(self, n: Any) -> Any:
        """A number that changes between calls, as one that the program knows."""
        return n if type(n) is int else Number(self.select(n, KINDS[int]), int, *self.first_bounds(n))

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
        if isinstance(over, Either):
            return self.places_of_either(over)
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
        counted = True  # by the program, where numbers that change between calls decide how often it turns

        def test() -> Any:
            found = self.settled(self.eval(stmt.test, frame))
            if isinstance(found, HostNumber) and counted:
                return self.select(self.real(self.store.world.compute, bool, found), KINDS[bool])
            return self.truth(found)

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
                try:
                    return self.forked(lambda: self.roll(test, body, orelse))
                except Break:
                    if not counted:
                        raise
                    counted = False  # its turns are those of this call, then, if only numbers decide
                    continue
            if not truth:
                return orelse()
            try:
                outcome = self.forked(lambda: known(caught("continue", body())))
            except Symbolic:
                return self.roll(test, body, orelse)
            if outcome is not FALLS:
                return after(outcome)
        return self.refuse("a long loop")

    def roll_range(self, stmt: ast.For, over: LateRange, frame: Frame) -> Outcome:
        """A `for` over whole numbers."""

        def turn(i: Any) -> Outcome:
            self.assign(stmt.target, i, frame)
            return self.block(stmt.body, frame)

        return self.roll_counted(over, self.store.make(CellType()), turn, lambda: self.block(stmt.orelse, frame))

    def roll_rows(self, stmt: ast.For, over: Rows, frame: Frame) -> Outcome:
        """A `for` over the rows of tensors. A row is a part of one, which a loop cannot hand from turn to turn: its
        variable is forgotten at the end of each, and after the loop it is the last row again.
        """
        count, counter = self.value(over.tensors[0]).shape[0], self.store.make(CellType())
        names = [n for n in ast.walk(stmt.target) if isinstance(n, ast.Name)]
        cells = [(n, c) for n in names if (c := frame.cells.get(self.mangled(n.id, frame))) is not None]
        held: dict[ast.Name, int] = {}  # which row a variable is

        def turn(i: Any) -> Outcome:
            rows = [self.get_part(t, i) for t in over.tensors]
            self.assign(stmt.target, over.form(i, rows), frame)
            first = [(n, c, self.store.peek(c, CONTENTS)) for n, c in cells]
            if any(isinstance(x, tuple) for _, _, x in first):
                self.refuse("a variable holds several rows")
            outcome = self.block(stmt.body, frame)
            for name, cell, row in first:
                place = next((k for k, r in enumerate(rows) if r is row), None)
                if place is not None and self.store.peek(cell, CONTENTS) is row:
                    held[name] = place
                    self.store.write(cell, CONTENTS, POISON)
            return outcome

        rows = LateRange(0, self.late(count), 1, count)
        outcome = self.roll_counted(rows, counter, turn, lambda: self.block(stmt.orelse, frame))
        forgotten = [(n, held[n]) for n, c in cells if n in held and self.store.peek(c, CONTENTS) is POISON]
        if forgotten and known_less(0, count):
            last: Any = -1
            if any(isinstance(n, ast.Break | ast.Return) for n in ast.walk(stmt)):
                value = self.select(self.binary("sub", self.read(counter, CONTENTS), 1), KINDS[int])
                self.smaller[value], last = count, Number(value, int, 0, TURNS)
            for name, place in forgotten:
                self.assign(name, self.get_part(over.tensors[place], last), frame)
        return outcome

    def roll_counted(
        self, over: LateRange, counter: CellType, turn: Callable[[Any], Outcome], orelse: Callable[[], Outcome]
    ) -> Outcome:
        """A `for` over whole numbers as a `while` with a hidden counter."""
        self.store.write(counter, CONTENTS, over.start)
        (start_low, start_high), (stop_low, stop_high) = self.bounds(over.start), self.bounds(over.stop)
        low, high = (start_low, stop_high - 1) if over.step > 0 else (stop_low + 1, start_high)
        low, high = max(low, start_low - TURNS * abs(over.step)), min(high, start_high + TURNS * abs(over.step))
        high = max(low, high)

        def item() -> Any:
            held = self.read(counter, CONTENTS)
            if not isinstance(held, Number):
                return held
            if low >= 0 and over.below is not None:
                self.smaller[held.value] = over.below
            return Number(held.value, int, low, high)

        def test() -> Any:
            held = self.read(counter, CONTENTS)
            return self.truth(self.binary("lt" if over.step > 0 else "gt", held, over.stop))

        def body() -> Outcome:
            now_ = item()
            self.store.write(counter, CONTENTS, self.binary("add", now_, over.step))
            return turn(now_)

        first = None
        if isinstance(over.start, int) and isinstance(over.stop, int):
            first = len(range(over.start, over.stop, over.step)) > 0
        elif isinstance(over.start, int) and type(over.below) is Sym and known_less(over.start, over.below):
            first = True
        return self.roll(test, body, orelse, first)

    # --------------------------------------------------------------------------------------------------------- rolling


def is_plain_call(node: ast.expr) -> bool:
    """Whether a function is called by its name, with nothing but arguments by their places."""
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords
    return plain and not any(isinstance(arg, ast.Starred) for arg in node.args)  # type: ignore[attr-defined]


def _zipped(parts: list[Rows], i: Any, rows: list[Any]) -> tuple[Any, ...]:
    ends = list(accumulate(len(x.tensors) for x in parts))
    return tuple(x.form(i, rows[end - len(x.tensors) : end]) for x, end in zip(parts, ends, strict=True))


class Symbolic(BaseException):
    """A condition that only the running program knows."""


def known(value: Any) -> Any:
    """A truth or an outcome that is known now."""
    if isinstance(value, Value | Either):
        raise Symbolic
    return value
