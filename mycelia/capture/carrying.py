"""What a loop carries from turn to turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mycelia import primitives as p
from mycelia.capture.machine import KINDS
from mycelia.capture.matching import Matching
from mycelia.capture.numbers import LARGEST
from mycelia.capture.slots import CONTENTS, DATA, ITEMS, Slot
from mycelia.capture.store import Key, Store
from mycelia.capture.values import POISON, Again, Either, HostNumber, Number, UserError, alternatives, either, within
from mycelia.capture.world import is_tensor
from mycelia.eager import Tensor
from mycelia.ir import Value, fresh_params
from mycelia.ir.region import innermost
from mycelia.types import bool_, int64

TURNS = 2**48  # more turns than any loop makes


class Carrying(Matching):
    """Slots that a turn changes: how they begin, how they end, and what they hold after the loop."""

    def forked(self, run: Callable[[], Any]) -> Any:
        """What `run` gives, on a fork that stays if it ends, or raises an error of the user."""
        base, around, asked = self.store, innermost(), dict(self.positions)
        happened = len(around.effects) if around is not None else 0
        self.store = base.fork()
        try:
            out = run()
        except UserError:
            self.commit(base)
            raise
        except BaseException:
            self.store, self.positions = base, asked
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
        out = c.stand_in = self.store.tensor(c.param)
        self.stand_ins.add(id(out))
        return out

    def assigned(self, c: Carried, end: Any, turn: Store) -> Any:
        """Whether a turn puts another tensor into a slot: True, or a value where only some ways through it do.

        A loop that is left before the assignment leaves the tensor from before it, the very one.
        """
        leaves = alternatives(end)
        if not any(v is c.stand_in for v in leaves):
            return True
        before, self.store = self.store, turn
        try:
            return self.select(mapped(end, lambda v: v is not c.stand_in), KINDS[bool])
        finally:
            self.store = before

    def settle(self, base: Store, carried: dict[Key, Carried], kept: dict[Key, Any]) -> bool:
        """Whether something new is carried, or something otherwise."""
        new = {k: self.first_carry(base, obj, k[1], end) for k, (obj, end) in kept.items() if k not in carried}
        changed = bool(new)
        for key, c in carried.items():
            if c.kind == "number" and c.type.dtype is int64:
                changed |= self.widen(c, kept[key][1])
        carried |= new
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
            low, high = self.first_bounds(joined)
            return Carried(obj, slot, "number", KINDS[kind], None, low, high)
        return Carried(obj, slot, "born", None)

    def first_bounds(self, x: Any) -> tuple[int, int]:
        """Between what a number lies that a loop begins with. One that changes between calls is small: a guard says so,
        so that counting up or down from it is exact.
        """
        if isinstance(x, HostNumber) and type(x.sample) is int and is_small(x.sample):
            self.store.world.constant(self.store.world.compute(is_small, x))
            return -TURNS, TURNS
        return self.bounds(x)

    def widen(self, c: Carried, end: Any) -> bool:
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
            leaves = alternatives(self.settled(end))
            if all(map(is_tensor, leaves)):
                for x in leaves:
                    self.check_alone(c, x, len(leaves) == 1, turn, carried, kept)
            end = self.joined(end)
            if is_tensor(end):
                return self.value(end)
            if all(map(is_tensor, leaves)):
                raise Again("a tensor is of another type after a turn", self.here())
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
        self, c: Carried, end: Tensor, only: bool, turn: Store, carried: dict[Key, Carried], kept: dict[Key, Any]
    ) -> None:
        """A tensor that a turn leaves in a slot is the one of earlier turns, one that the turn has made, or, if it is
        the only one, what another slot held before the turn. The loop forgets who it is: no other slot may know it.
        """
        key = id(c.obj), c.slot
        holds = [k for k, v in kept.items() if any(w is end for w in flat(v[1]))]
        if id(end) in self.stand_ins:
            if end is not c.stand_in:
                c.source = next((k for k, other in carried.items() if other.stand_in is end), None)
                if not only or c.source is None or holds != [key] or not self.is_renewed(c, carried, kept, turn):
                    self.refuse("a tensor of an earlier turn is kept")
            elif key not in turn.slots:
                self.refuse("a tensor of an earlier turn is kept")
            return
        if id(end) not in turn.made:
            self.refuse("a tensor from before the loop is put into a variable")
        root = self.sharing.root(end)
        others = [w for k, v in kept.items() for w in flat(v[1]) if w is not end and is_tensor(w)]
        if id(end) in self.sharing.unclear or id(root) not in turn.made or id(root) in self.stand_ins:
            self.refuse("a part of a tensor from before the turn is put into a variable")
        if any(self.sharing.root(w) is root for w in others):
            self.refuse("two variables share memory after a turn")
        if len(holds) > 1 and not is_shared(end, holds, carried, kept):
            self.refuse("two variables hold the same tensor after a turn")

    def is_put_twice(self, carried: dict[Key, Carried], kept: dict[Key, Any], turn: Store) -> bool:
        """Whether the tensor of a variable stands in another one too, after a turn: perhaps no turn reads the variable
        before it is written, which is tried next.
        """
        for c in carried.values():
            c.is_tried = False
        for key, c in carried.items():
            end = kept[key][1]
            if c.kind != "tensor" or c.slot != CONTENTS or c.is_read or not is_tensor(end) or id(end) not in turn.made:
                continue
            if any(k != key and any(w is end for w in flat(v[1])) for k, v in kept.items()):
                c.kind, c.is_tried = "born", True
                return True
        return False

    def takes_back(self, carried: dict[Key, Carried]) -> bool:
        """A turn reads what was not carried: whether that was a variable for which it was tried."""
        for c in carried.values():
            if c.is_tried:
                c.kind, c.is_read, c.is_tried = "tensor", True, False
                return True
        return False

    def is_renewed(self, c: Carried, carried: dict[Key, Carried], kept: dict[Key, Any], turn: Store) -> bool:
        """Whether what a slot takes over, from slot to slot, is a tensor that each turn makes anew."""
        passed = {id(c)}
        while (source := c.source) is not None:
            c, end = carried[source], kept[source][1]
            if id(c) in passed or c.kind != "tensor":
                return False
            passed.add(id(c))
            leaves = alternatives(end)
            if len(leaves) == 1 and id(leaves[0]) in self.stand_ins and leaves[0] is not c.stand_in:
                c.source = next((k for k, other in carried.items() if other.stand_in is leaves[0]), None)
                if c.source is None:
                    return False
            elif not all(is_tensor(x) and id(x) in turn.made and id(x) not in self.stand_ins for x in leaves):
                return False
        return True

    def taken_over(self, made: Tensor, befores: list[Any], count: Value) -> Any:
        """What a slot holds that takes over what another one held before the turn, and so on from slot to slot: after
        few turns that is still what one of them held before the loop.
        """
        result: Any = made
        for turns in range(len(befores), 0, -1):
            before = befores[turns - 1]
            more = p.greater(count, p.full(turns, int64, ()))
            self.same_else[id(result)] = more, self.value(made), self.tensor_data(before)
            result = either(more, result, before)
        return result

    def sources(self, c: Carried, carried: dict[Key, Carried], base: Store) -> list[Any]:
        """What the slots that a slot takes over from, one from the other, hold before the loop."""
        found = []
        while c.source is not None:
            c = carried[c.source]
            found.append(base.peek(c.obj, c.slot))
        return found

    def leave(self, c: Carried, out: Value | None, base: Store, ran: Any, befores: list[Any], count: Value) -> Any:
        """What a slot holds after the loop: if there was no turn, what it held before. Given is what turns leave."""
        before = base.peek(c.obj, c.slot)
        if c.slot == DATA:
            base.write(c.obj, c.slot, out)
            return None
        if c.kind == "number":
            kind = {bool_: bool, int64: int}.get(c.type.dtype, float)
            base.write(c.obj, c.slot, Number(out, kind, c.low, c.high))  # type: ignore[arg-type]
            return None
        if out is None:
            base.slots[id(c.obj), c.slot] = c.obj, POISON
            return None
        numbers = {"born int": int, "born float": float, "born bool": bool}
        made: Any = Number(out, numbers[c.kind], c.low, c.high) if c.kind in numbers else base.tensor(out)
        if befores:
            made = self.taken_over(made, befores, count)
        if c.kind == "tensor" and is_tensor(before) and isinstance(ran, Value):
            self.same_else[id(made)] = ran, out, self.value(before)
        self.put(c, made, base, ran)
        return made

    def put(self, c: Carried, made: Any, base: Store, ran: Any) -> None:
        """A slot holds what turns leave there, if there were any."""
        before = base.peek(c.obj, c.slot)
        if ran is True:
            base.write(c.obj, c.slot, made)
        elif ran is False:
            base.write(c.obj, c.slot, before)
        elif before is POISON:
            base.slots[id(c.obj), c.slot] = c.obj, POISON
        else:
            base.write(c.obj, c.slot, either(ran, made, before))


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
    stand_in: Any = None  # the tensor of earlier turns
    source: Key | None = None  # the slot whose tensor of earlier turns it takes over
    is_read: bool = False  # by a turn, before it is written
    is_tried: bool = False  # whether no turn does that


def is_shared(end: Tensor, holds: list[Key], carried: dict[Key, Carried], kept: dict[Key, Any]) -> bool:
    """Whether a tensor that a turn leaves in several slots is that of one slot, which turns may read, and of variables
    that no turn reads before it writes them: after the loop these hold what the slot holds.
    """
    others = [k for k in holds if carried[k].kind.startswith("born")]
    mains = [k for k in holds if k not in others]
    alone = all(is_tensor(w) for k in mains for w in alternatives(kept[k][1]))
    return alone and len(mains) <= 1 and all(k[1] == CONTENTS and kept[k][1] is end for k in others)


def twins(carried: dict[Key, Carried], kept: dict[Key, Any]) -> dict[Key, Key]:
    """Variables whose tensor after a turn another slot holds too, and that slot: the first variable that holds it, and
    for that one the slot that turns read, if there is one.
    """
    found: dict[Key, Key] = {}
    first: dict[int, Key] = {}
    for key, c in carried.items():
        end = kept[key][1]
        if not c.kind.startswith("born") or not is_tensor(end):
            continue
        if id(end) in first:
            found[key] = first[id(end)]
            continue
        first[id(end)] = key
        for other, (_, held) in kept.items():
            if not carried[other].kind.startswith("born") and any(w is end for w in flat(held)):
                found[key] = other
    return found


def is_small(n: int) -> bool:
    """Whether no loop counts from a number to one that is beyond 64 bits.

    >>> is_small(-5), is_small(2**60)
    (True, False)
    """
    return -TURNS < n < TURNS


def mapped(value: Any, fn: Callable[[Any], Any]) -> Any:
    """The values of a function of whichever value it is."""
    if isinstance(value, Either):
        return either(value.cond, mapped(value.yes, fn), mapped(value.no, fn))
    return fn(value)


def flat(value: Any) -> list[Any]:
    """A value or, if it is a tuple or either of two, all that is in it; what stands in several places at least once."""
    if isinstance(value, Either):
        return [x for v in alternatives(value) for x in flat(v)]
    if type(value) is not tuple:
        return [value]
    return [x for v in within(value) for x in (flat(v) if isinstance(v, Either) else [v])]
