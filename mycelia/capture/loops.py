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
from mycelia.capture.machine import KINDS, Frame, Items, Position
from mycelia.capture.numbers import LARGEST
from mycelia.capture.regions import closed, now
from mycelia.capture.slots import CONTENTS, DATA, ITEMS, Slot
from mycelia.capture.statements import FALLS, Exit, Outcome, Statements, raises
from mycelia.capture.store import Key, Store
from mycelia.capture.values import MISSING, POISON, Again, Break, Either, Number, UserError, alternatives, either
from mycelia.capture.world import is_tensor
from mycelia.eager import Tensor
from mycelia.ir import Value, fresh_params, region
from mycelia.ir.region import innermost
from mycelia.sizes import Sym
from mycelia.types import TupleType, bool_, int64

LONG, LONGEST = 32, 2000  # a range of LONG is rolled into one loop if its counter allows it; beyond LONGEST it must be
TURNS = 2**48  # more turns than any loop makes


@dataclass(frozen=True)
class Range:
    """`range` of whole numbers that the program computes."""

    start: Any
    stop: Any
    step: int


@dataclass
class Carried:
    """A slot that a turn of a loop changes."""

    obj: Any
    slot: Slot
    kind: str  # tensor: another tensor each turn; data: the data of one tensor; number; born: unknown before the loop
    type: Any  # of the value that is carried
    param: Value | None = None
    low: int = 0
    high: int = 0


class Loops(Statements):
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
        return Range(start, stop, step)

    def do_For(self, stmt: ast.For, frame: Frame) -> Outcome:
        over = self.settled(self.eval(stmt.iter, frame))
        if isinstance(over, Either):
            over = self.joined(over)
        if isinstance(over, Either):
            over = self.items_of_either(over)
        if isinstance(over, Range):
            return self.roll_range(stmt, over, frame)
        if type(over) is range and len(over) >= LONG:
            try:
                outcome = self.forked(lambda: self.roll_range(stmt, Range(over.start, over.stop, over.step), frame))
            except Break:
                if len(over) > LONGEST:
                    raise
            else:
                return outcome
        if is_tensor(over) and self.value(over).shape and self.is_long(self.value(over).shape[0]):
            rows = Range(0, self.value(over).shape[0], 1)
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

    def forked(self, run: Callable[[], Any]) -> Any:
        """What `run` gives, on a fork that stays if it ends, or raises an error of the user."""
        base, around = self.store, innermost()
        happened = len(around.effects) if around is not None else 0
        self.store = base.fork()
        try:
            out = run()
        except UserError:
            self.commit(base)
            raise
        except BaseException:
            self.store = base
            if around is not None:
                del around.effects[happened:]
            raise
        self.commit(base)
        return out

    def commit(self, base: Store) -> None:
        """The layers above `base` become a part of it."""
        for layer in self.store.layers(base):
            base.slots |= layer.slots
            base.made |= layer.made
        self.store = base

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
        self, stmt: ast.For, over: Range, frame: Frame, item_at: Callable[[Any], Any] | None = None
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

    def roll(
        self,
        test: Callable[[], Any],
        body: Callable[[], Outcome],
        orelse: Callable[[], Outcome],
        runs: bool | None = None,
        peels: int = 2,
    ) -> Outcome:
        """One loop of the program. `runs`: whether there is a first turn, None if only the program knows.

        Where a variable is of another type before the first turn than after it, that turn stands in front of the loop.
        """
        try:
            return self.forked(lambda: self.rolled(test, body, orelse, runs))
        except TestWrites:
            return self.roll_asked(test, body, orelse, peels)
        except Again:
            if not peels:
                raise

        def first() -> Outcome:
            outcome = caught("continue", body())
            return self.follow(outcome, lambda: self.roll(test, body, orelse, None, peels - 1))

        return after(self.decide(as_number(test()), first, orelse, exits=raises))

    def roll_asked(
        self, test: Callable[[], Any], body: Callable[[], Outcome], orelse: Callable[[], Outcome], peels: int
    ) -> Outcome:
        """A loop whose test changes something: it is asked before the loop, and at the end of every turn."""
        cell = self.store.make(CellType())

        def ask() -> Outcome:
            self.store.write(cell, CONTENTS, as_number(test()))
            return FALLS

        ask()
        if isinstance(self.read(cell, CONTENTS), bool):
            self.refuse("the test of a loop changes something")
        return self.roll(
            lambda: self.truth(self.read(cell, CONTENTS)),
            lambda: self.follow(caught("continue", body()), ask),
            orelse,
            None,
            peels,
        )

    def rolled(
        self, test: Callable[[], Any], body: Callable[[], Outcome], orelse: Callable[[], Outcome], runs: bool | None
    ) -> Outcome:
        if self.calls.count("rolling") > 3:
            self.refuse("loops are too deep inside one another")
        leaving, given = self.store.make(CellType()), self.store.make(CellType())
        self.store.write(leaving, CONTENTS, False)  # whether the loop was left in its middle
        base, before, asked = self.store, set(self.store.world.fresh), dict(self.positions)
        carried: dict[Key, Carried] = {}
        exits: list[Exit] = []
        for _ in range(12):
            self.positions = dict(asked)
            turn, going, happens = self.one_turn(base, carried, test, body, (leaving, given), exits)
            kept = {k: v for k, v in turn.slots.items() if k[0] in before or k[0] not in base.world.fresh}
            if not self.settle(base, carried, kept):
                break
        else:
            self.refuse("what a loop changes does not settle")
        return self.finish(base, turn, carried, kept, going, (leaving, given), exits, orelse, runs, happens, asked)

    def one_turn(
        self,
        base: Store,
        carried: dict[Key, Carried],
        test: Any,
        body: Any,
        cells: tuple[CellType, CellType],
        exits: list[Exit],
    ) -> tuple[Store, Value, list[Value]]:
        """A turn, on stand-ins for what earlier turns left: the store after it, whether there is one, effects."""
        self.store = turn = base.fork()
        rolling = self.rolling
        self.rolling = now()
        path, self.path = self.path, dict(self.path)
        self.regions.enter(None, True)
        self.calls.append("rolling")
        exits.clear()
        try:
            with region() as inside:
                for key, c in carried.items():
                    turn.slots[key] = c.obj, self.held(c)
                entry = {key: turn.slots[key][1] for key in carried}
                left = turn.read(cells[0], CONTENTS)
                asked = self.asked_again(left, test)
                written = [k for k, v in turn.slots.items() if k in entry and v[1] is not entry[k]]
                fresh = [k for k in turn.slots if k not in entry and k[0] not in turn.made]
                if written or fresh or inside.effects:
                    raise TestWrites("the test of a loop changes something", self.here())
                going = p.full(asked, bool_, ()) if isinstance(asked, bool) else asked
                outcome = caught("continue", body())
                self.note_exits(outcome, cells, exits)
        except UserError as raised:
            raise Break(f"an error inside a loop: {raised.error!r}", self.here()) from None
        finally:
            self.store, self.path, self.rolling = base, path, rolling
            self.calls.pop()
            self.regions.leave()
        if not all(isinstance(e.type, TupleType) for e in inside.effects):
            self.refuse("a size comes out of data in every turn")
        return turn, going, inside.effects

    def asked_again(self, left: Any, test: Any) -> Any:
        """The test of a loop, which is not asked after a turn that has left it."""
        return test() if left is False else self.truth(self.decide(left, lambda: False, lambda: as_number(test())))

    def note_exits(self, outcome: Outcome, cells: tuple[CellType, CellType], exits: list[Exit]) -> None:
        """A turn that leaves the loop says so in a variable, which the test sees, and what it returns in another."""
        found = [o for o in alternatives(outcome) if o is not FALLS]
        if not found:
            return
        kinds = {o.kind for o in found}
        if len(kinds) > 1 or not kinds <= {"break", "return"}:
            self.refuse("a loop is left in several ways, or by an error")
        exits += found[:1]
        marked = mapped(outcome, lambda o: o is not FALLS)
        self.store.write(cells[0], CONTENTS, marked if marked is True else self.number(marked, bool))
        if kinds == {"return"}:
            values = [o.value for o in found]
            if all(v is None for v in values):
                return
            sample = self.joined(values[0])
            if not is_tensor(sample):
                self.refuse("a loop is left with something else than a tensor")
            t = self.value(sample).tensor
            zeros = self.store.tensor(p.zeros(t.dtype, t.shape))
            chosen = mapped(outcome, lambda o: zeros if o is FALLS else o.value)
            data = self.tensor_data(chosen) if isinstance(chosen, Either) else self.value(chosen)
            self.store.write(cells[1], CONTENTS, self.store.tensor(data))

    def held(self, c: Carried) -> Any:
        """What a carried slot holds during a turn."""
        if c.kind == "born":
            return POISON
        if c.param is None:
            (c.param,) = fresh_params((c.type,))
        if c.kind == "number":
            kind = {bool_: bool, int64: int}.get(c.type.dtype, float)
            return Number(c.param, kind, c.low, c.high)
        if c.kind == "data":
            return c.param
        out = self.store.tensor(c.param)
        self.stand_ins.add(id(out))
        return out

    def settle(self, base: Store, carried: dict[Key, Carried], kept: dict[Key, Any]) -> bool:
        """Whether something new is carried, or something otherwise."""
        changed = False
        for key, (obj, end) in kept.items():
            if key not in carried:
                carried[key] = self.first_carry(base, obj, key[1], end)
                changed = True
        for key, c in carried.items():
            if c.kind == "number" and c.type.dtype is int64:
                changed |= self.widen(c, kept[key][1], base.peek(c.obj, c.slot))
        return changed

    def first_carry(self, base: Store, obj: Any, slot: Slot, end: Any) -> Carried:
        """How a slot that a turn changes is carried."""
        start = base.peek(obj, slot)
        if slot == DATA:
            value = self.select_data(start)
            return Carried(obj, slot, "data", value.type)
        if is_tensor(start):
            return Carried(obj, slot, "tensor", self.value(start).type)
        joined = self.joined(start) if isinstance(start, Either) else start
        if is_tensor(joined):
            return Carried(obj, slot, "tensor", self.value(joined).type)
        kind = self.number_kind(joined)
        if kind is not None and not is_tensor(self.settled(end)):
            low, high = self.bounds(joined)
            return Carried(obj, slot, "number", KINDS[kind], None, low, high)
        return Carried(obj, slot, "born", None)

    def widen(self, c: Carried, end: Any, start: Any) -> bool:
        """Bounds of a whole number that grows by a constant in each turn; of others there are none."""
        end = self.settled(end)
        leaves = [self.bounds(v) for v in alternatives(end) if self.number_kind(v) is int]
        if not leaves:
            return False
        low, high = min(b[0] for b in leaves), max(b[1] for b in leaves)
        if low >= c.low and high <= c.high:
            return False
        if (low < c.low and c.low <= -TURNS) or (high > c.high and c.high >= TURNS):
            if low >= c.low - 2**12 and high <= c.high + 2**12:
                return False  # it grows by a little each turn, and no loop makes so many turns
            self.refuse("a whole number grows beyond 64 bits in a loop")
        c.low, c.high, c.param = (
            (-LARGEST // 4 if low < c.low else c.low),
            (LARGEST // 4 if high > c.high else c.high),
            None,
        )
        return True

    def finish(
        self,
        base: Store,
        turn: Store,
        carried: dict[Key, Carried],
        kept: dict[Key, Any],
        going: Value,
        cells: tuple[CellType, CellType],
        exits: list[Exit],
        orelse: Callable[[], Outcome],
        runs: bool | None,
        happens: list[Value],
        asked: dict[Position, Any],
    ) -> Outcome:
        """The loop as a value, and what the slots hold after it."""
        starts: list[Value] = []
        params: list[Value] = []
        nexts: list[Value] = []
        held: list[tuple[Carried, int | None]] = []
        for key, c in carried.items():
            end = self.end_of(c, kept[key][1], turn, carried, kept, base)
            if c.kind.startswith("born"):
                if end is None:
                    held.append((c, None))
                    continue
                c.type = end.type
                (param,) = fresh_params((end.type,))
                start: Value = p.zeros(end.dtype, end.shape)
            else:
                if c.kind == "tensor" and any((id(t), DATA) in kept for t in flat(base.peek(c.obj, c.slot))):
                    self.refuse("a tensor is written to in a loop, and its variable assigned to")
                param = c.param  # type: ignore[assignment]  # made when the turn began
                start = self.start_of(c, base)
                if end is None or end.type != c.type or start.type != c.type:
                    self.refuse("a value changes its type in a loop")
            held.append((c, len(params)))
            starts.append(start)
            params.append(param)
            nexts.append(end)
        moment = min((q.serial for q in params), default=now())
        region = self.regions.stack[-1].inner[-1]
        moment = min(moment, region.start)
        at, going = self.check_positions(asked, params, starts, nexts, going)
        roots = self.regions.settled([*happens, going, *nexts], self.path)
        happens, going, nexts = list(roots[: len(happens)]), roots[len(happens)], list(roots[len(happens) + 1 :])
        own = set(params)
        names, operands = self.regions.operands([*roots], moment, self.path)
        names, operands = (
            [x for x, v in zip(listed, names, strict=True) if v not in own] for listed in (names, operands)
        )
        condition, once = closed((*names, *params), [going]), closed((*names, *params), nexts, happens)
        outs = p.While(condition, once, len(names))(*operands, *starts)
        if at is not None:
            self.positions[p.logical_not(outs[at]), None, tuple(self.path.items())] = self.here()
        count = outs[len(params)]
        ran: Any = runs if runs is not None else p.greater(count, p.full(0, int64, ()))
        for c, place in held:
            self.leave(c, None if place is None else outs[place], base, ran)
        if not exits:
            return after(orelse())
        left = self.read(cells[0], CONTENTS)
        if exits[0].kind == "break":
            return self.decide(left, lambda: FALLS, orelse, exits=raises)
        value = None if exits[0].value is None else self.store.tensor(self.given(cells[1], base))
        return self.decide(left, lambda: Exit("return", value), orelse, exits=raises)

    def check_positions(
        self, asked: dict[Position, Any], params: list[Value], starts: list[Value], nexts: list[Value], going: Value
    ) -> tuple[int | None, Value]:
        """Positions that a turn asks for: a variable tells that one did not exist, and the loop ends there."""
        new = [position for position in self.positions if position not in asked]
        self.positions = asked
        if not new:
            return None, going
        (flag,) = fresh_params((KINDS[bool],))
        told: Value = flag
        for index, extent, where in new:
            told = p.logical_or(told, self.regions.wrong(index, extent, where, self.path))
        params.append(flag)
        starts.append(p.full(False, bool_, ()))
        nexts.append(told)
        return len(params) - 1, p.logical_and(going, p.logical_not(flag))

    def given(self, cell: CellType, base: Store) -> Value:
        """What a loop was left with: it is only asked where it was."""
        held = base.read(cell, CONTENTS)
        return self.value(held.yes if isinstance(held, Either) else held)

    def start_of(self, c: Carried, base: Store) -> Value:
        start = base.peek(c.obj, c.slot)
        if c.kind == "data":
            return self.select_data(start)
        if c.kind == "tensor":
            return self.tensor_data(start)
        return self.select(start, c.type)

    def end_of(
        self, c: Carried, end: Any, turn: Store, carried: dict[Key, Carried], kept: dict[Key, Any], base: Store
    ) -> Value | None:
        """The value that a slot holds after a turn; None for one that is not a value, and may not be read."""
        before, self.store = self.store, turn
        try:
            if c.kind == "data":
                return self.select_data(end)
            if c.slot == ITEMS or c.kind == "number":
                return self._number_end(c, end)
            end = self.joined(end)
            if is_tensor(end):
                self.check_alone(c, end, turn, carried, kept, base)
                return self.value(end)
            return self._number_end(c, end) if c.kind == "born" else self._other(c, end)
        finally:
            self.store = before

    def _other(self, c: Carried, end: Any) -> Value | None:
        return self.refuse("a value is a tensor in one turn and not in another")

    def _number_end(self, c: Carried, end: Any) -> Value | None:
        kind = self.number_kind(self.joined(end))
        if c.kind == "born":
            if c.slot != CONTENTS and c.slot[0] not in ("attr", "key", "member"):
                self.refuse("what a container holds changes in a loop")
            if kind is None:
                return None
            joined = self.joined(end)
            (c.low, c.high), c.kind = self.bounds(joined), f"born {kind.__name__}"
            return self.select(end, KINDS[kind])
        if kind is None or KINDS[kind] != c.type:
            self.refuse("a number changes its kind in a loop")
        return self.select(end, c.type)

    def check_alone(
        self, c: Carried, end: Tensor, turn: Store, carried: dict[Key, Carried], kept: dict[Key, Any], base: Store
    ) -> None:
        """A tensor whose identity the loop forgets must be known in one place only, and not be written later."""
        if id(end) in self.stand_ins:
            mine = turn.slots.get((id(c.obj), c.slot))
            if any(v[1] is end and k != (id(c.obj), c.slot) for k, v in kept.items()) or mine is None:
                self.refuse("a tensor of an earlier turn is kept")
            return
        if id(end) not in turn.made:
            self.refuse("a tensor from before the loop is put into a variable")
        if sum(1 for k, v in kept.items() if any(w is end for w in flat(v[1]))) > 1:
            self.refuse("two variables hold the same tensor after a turn")

    def leave(self, c: Carried, out: Value | None, base: Store, ran: Any) -> None:
        """What a slot holds after the loop: if there was no turn, what it held before."""
        before = base.peek(c.obj, c.slot)
        if c.slot == DATA:
            base.write(c.obj, c.slot, out)
            return
        if c.kind == "number":
            kind = {bool_: bool, int64: int}.get(c.type.dtype, float)
            base.write(c.obj, c.slot, Number(out, kind, c.low, c.high))  # type: ignore[arg-type]
            return
        if out is None:
            base.slots[id(c.obj), c.slot] = c.obj, POISON
            return
        numbers = {"born int": int, "born float": float, "born bool": bool}
        made: Any = Number(out, numbers[c.kind], c.low, c.high) if c.kind in numbers else base.tensor(out)
        if c.kind == "tensor" and is_tensor(before) and isinstance(ran, Value):
            self.loop_ends[id(made)] = ran, out, self.value(before)
        if ran is True:
            base.write(c.obj, c.slot, made)
        elif ran is False:
            base.write(c.obj, c.slot, before)
        elif before is POISON:
            base.slots[id(c.obj), c.slot] = c.obj, POISON
        else:
            base.write(c.obj, c.slot, either(ran, made, before))


class TestWrites(Break):
    """The test of a loop changes something."""


class Symbolic(BaseException):
    """A condition that only the running program knows."""


def known(value: Any) -> Any:
    """A truth or an outcome that is known now."""
    if isinstance(value, Value | Either):
        raise Symbolic
    return value


def mapped(outcome: Outcome, fn: Callable[[Exit], Any]) -> Any:
    """The values of a function of whichever outcome it is."""
    if isinstance(outcome, Either):
        return either(outcome.cond, mapped(outcome.yes, fn), mapped(outcome.no, fn))
    return fn(outcome)


def flat(value: Any) -> list[Any]:
    """A value and, if it is a tuple or either of two, all that is in it."""
    if isinstance(value, Either):
        return [*flat(value.yes), *flat(value.no)]
    return [x for v in value for x in flat(v)] if type(value) is tuple else [value]


def as_number(truth: Any) -> Any:
    return truth if isinstance(truth, bool) else Number(truth, bool, 0, 1)


def after(outcome: Outcome) -> Outcome:
    """The outcome of a loop whose body may break."""
    return caught("break", outcome)


def caught(kind: str, outcome: Outcome) -> Outcome:
    """An outcome after something has seen to exits of this kind."""
    if isinstance(outcome, Either):
        return either(outcome.cond, caught(kind, outcome.yes), caught(kind, outcome.no))
    return FALLS if outcome.kind == kind else outcome
