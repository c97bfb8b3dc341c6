"""Loops of the program: a fixpoint of what a turn changes."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType
from typing import Any

from mycelia import primitives as p
from mycelia.capture.carrying import Carried, Carrying, flat, mapped, twins
from mycelia.capture.machine import KINDS, Position
from mycelia.capture.regions import closed, now
from mycelia.capture.slots import CONTENTS, DATA
from mycelia.capture.statements import FALLS, Exit, Outcome, raises
from mycelia.capture.store import Key, Store
from mycelia.capture.values import Again, Break, Either, Number, UserError, alternatives, either
from mycelia.capture.world import is_tensor
from mycelia.ir import Value, born_in, fresh_params, region, type_names
from mycelia.types import bool_, int64


class Rolling(Carrying):
    """One loop out of the turns of Python's."""

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
        """A loop whose test changes something or may fail: it is asked before the loop and at the end of every turn."""
        cell = self.store.make(CellType())

        def ask() -> Outcome:
            self.store.write(cell, CONTENTS, as_number(test()))
            return FALLS

        ask()
        if isinstance(self.read(cell, CONTENTS), bool):
            self.refuse("the test of a loop changes something, or may fail")
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
        for _ in range(24):
            self.positions = dict(asked)
            try:
                turn, going, happens = self.one_turn(base, carried, test, body, (leaving, given), exits)
            except Again:
                if not self.takes_back(carried):
                    raise
                continue
            kept = {k: v for k, v in turn.slots.items() if k[0] in before or k[0] not in base.world.fresh}
            if not self.settle(base, carried, kept) and not self.is_put_twice(carried, kept, turn):
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
                left, known = turn.read(cells[0], CONTENTS), set(self.positions)
                asked = self.asked_again(left, test)
                written = [k for k, v in turn.slots.items() if k in entry and v[1] is not entry[k]]
                fresh = [k for k in turn.slots if k not in entry and k[0] not in turn.made]
                # the last test of all, after which no turn comes, may ask for a position that does not exist
                if written or fresh or inside.effects or self.positions.keys() - known:
                    raise TestWrites("the test of a loop changes something, or may fail", self.here())
                going = p.full(asked, bool_, ()) if isinstance(asked, bool) else asked
                outcome = caught("continue", body())
                self.note_exits(outcome, cells, exits)
        except UserError as raised:
            raise Break(f"an error inside a loop: {raised.error!r}", self.here()) from None
        finally:
            self.store, self.path, self.rolling = base, path, rolling
            self.calls.pop()
            self.regions.leave()
        self.regions.note_births(inside.effects)
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
            if all(v is None for v in values) or self.is_from_before(values):
                return
            for v in values:
                self.check_left(v)
            sample = self.joined(values[0])
            if not is_tensor(sample):
                self.refuse("a loop is left with something else than a tensor")
            t = self.value(sample).tensor
            zeros = self.store.tensor(p.zeros(t.dtype, t.shape))
            chosen = mapped(outcome, lambda o: zeros if o is FALLS else o.value)
            data = self.tensor_data(chosen) if isinstance(chosen, Either) else self.value(chosen)
            self.store.write(cells[1], CONTENTS, self.store.tensor(data))

    def is_from_before(self, values: list[Any]) -> bool:
        """Whether one and the same tensor is returned, which was there before the loop."""
        first = values[0]
        known = is_tensor(first) and id(first) not in self.store.made and id(first) not in self.stand_ins
        return known and all(v is first for v in values)

    def check_left(self, value: Any) -> None:
        """What a loop is left with is a new tensor, which nobody else knows: which turn has made it is forgotten."""
        for v in filter(is_tensor, alternatives(self.settled(value))):
            root, made = self.sharing.root(v), self.store.made
            if id(v) in self.stand_ins or id(v) not in made or id(root) not in made or id(v) in self.sharing.unclear:
                self.refuse("a loop is left with a tensor from before the turn")
            kept = [held for (_, slot), (_, held) in self.store.slots.items() if slot not in (CONTENTS, DATA)]
            if any(self.sharing.root(w) is root for held in kept for w in flat(held) if is_tensor(w)):
                self.refuse("a loop is left with a tensor that something else holds")

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
        held: list[tuple[Carried, int | None, int | None]] = []  # what it becomes, whether it does
        doubles = twins(carried, kept)
        shared: dict[Key, tuple[Key, int]] = {}  # slots that hold what a variable holds, if a turn says so
        for key, c in carried.items():
            end = self.end_of(c, kept[key][1], turn, carried, kept, base)
            if key in doubles and kept[doubles[key]][1] is kept[key][1]:
                continue  # always
            if key in doubles:
                shared[doubles[key]] = key, len(params)
                (flag,) = fresh_params((KINDS[bool],))
                starts.append(p.full(False, bool_, ()))
                params.append(flag)
                nexts.append(self.ends_with(kept[key][1], kept[doubles[key]][1], turn))
            if c.kind.startswith("born"):
                if end is None:
                    held.append((c, None, None))
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
                    raise Again("a value changes its type in a loop", self.here())
            at = len(params)
            starts.append(start)
            params.append(param)
            nexts.append(end)
            anew = self.assigned(c, kept[key][1], turn) if c.kind == "tensor" else True
            held.append((c, at, None if anew is True else len(params)))
            if anew is not True:
                (flag,) = fresh_params((KINDS[bool],))
                starts.append(p.full(False, bool_, ()))
                params.append(flag)
                nexts.append(p.logical_or(flag, anew))
        moment = min((q.serial for q in params), default=now())
        region = self.regions.stack[-1].inner[-1]
        moment = min(moment, region.start)
        wrong, going = self.check_positions(asked, params, starts, nexts, going)
        sizes = {born_in(e) for e in happens}
        if any(not sizes.isdisjoint(type_names(v.type)) for v in nexts):
            self.refuse("a size comes out of data in every turn")
        roots = self.regions.settled([*happens, going, *nexts], self.path)
        happens, going, nexts = list(roots[: len(happens)]), roots[len(happens)], list(roots[len(happens) + 1 :])
        own = set(params)
        names, operands = self.regions.operands([*roots], moment, self.path)
        names, operands = (
            [x for x, v in zip(listed, names, strict=True) if v not in own] for listed in (names, operands)
        )
        condition, once = closed((*names, *params), [going]), closed((*names, *params), nexts, happens)
        outs = p.While(condition, once, len(names))(*operands, *starts)
        if wrong is not None:
            self.positions[p.logical_not(outs[wrong]), None, tuple(self.path.items())] = self.here()
        count = outs[len(params)]
        ran: Any = runs if runs is not None else p.greater(count, p.full(0, int64, ()))
        befores = [self.sources(c, carried, base) for c, _, _ in held]
        left_by: dict[int, Any] = {}
        for (c, place, told), sources in zip(held, befores, strict=True):
            out = None if place is None else outs[place]
            left_by[id(c)] = self.leave(c, out, base, ran if told is None else outs[told], sources, count)
        for key, other in doubles.items():
            c, main = carried[key], carried[other]
            if other in shared:
                same = outs[shared[other][1]]
                base.write(main.obj, main.slot, either(same, left_by[id(c)], base.peek(main.obj, main.slot)))
            else:
                left_by[id(c)] = left_by[id(main)]
                self.put(c, left_by[id(c)], base, ran)
        if not exits:
            return after(orelse())
        left = self.read(cells[0], CONTENTS)
        if exits[0].kind == "break":
            return self.decide(left, lambda: FALLS, orelse, exits=raises)
        value = exits[0].value
        if (id(cells[1]), CONTENTS) in carried:
            value = self.store.tensor(self.given(cells[1], base))
        return self.decide(left, lambda: Exit("return", value), orelse, exits=raises)

    def ends_with(self, end: Any, whole: Any, turn: Store) -> Value:
        """Whether a slot holds the tensor of a variable after a turn."""
        before, self.store = self.store, turn
        try:
            return self.select(mapped(whole, lambda v: v is end), KINDS[bool])
        finally:
            self.store = before

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


class TestWrites(Break):
    """The test of a loop changes something, or may fail."""


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
