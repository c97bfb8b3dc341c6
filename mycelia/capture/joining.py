"""Values under conditions: one of two tensors as one tensor, one of several numbers as one number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mycelia import primitives as p
from mycelia.capture.machine import KINDS, Machine
from mycelia.capture.slots import DATA, ITEMS, MAPPINGS, Slot
from mycelia.capture.store import Store
from mycelia.capture.values import (
    Break,
    Either,
    HostNumber,
    Number,
    alternatives,
    with_leaves,
)
from mycelia.capture.world import is_tensor
from mycelia.eager import Parameter, Tensor
from mycelia.eager.random import is_counter
from mycelia.ir import Value
from mycelia.sizes import NeedsSize, Sym
from mycelia.types import TensorType

FEW = 4  # alternatives that stay apart
SEVERAL = 16  # alternatives that are looked at
WRITTEN = 8  # tensors of which one is written to, or that see a write on one way only: each of them is computed
LARGE = 2**40  # no size is larger, where it counts


class Joining(Machine):
    """Reading slots, and joining what two ways have given."""

    def read(self, obj: Any, slot: Slot) -> Any:
        """A slot under the conditions we are under."""
        value = self.store.read(obj, slot)
        return self.settled(value) if value.__class__ is Either else value

    def whole(self, obj: Any, slot: Slot = ITEMS) -> Any:
        """A slot whose content does not depend on a condition."""
        value = self.read(obj, slot)
        if isinstance(value, Either):
            self.refuse("what an object holds depends on values")
        return value

    def items_of(self, obj: Any) -> tuple[Any, ...]:
        """What iterating over a container gives."""
        found = self.whole(obj)
        return found[::2] if type(obj) in MAPPINGS else found  # type: ignore[no-any-return]

    def value(self, x: Tensor) -> Value:
        """What a tensor holds, as one value of the graph. Gradients end at a parameter, whatever was assigned to it."""
        held = self.select_data(self.read(x, DATA))
        if type(x) is not Parameter:
            return held
        own = self.leaves.get(id(x))
        own = self.store.world.seen.get((id(x), DATA)) if own is None else own
        if held is own or is_counter(x):
            return held
        if own is None or own.type != held.type:  # it was made here, or has another shape now
            return p.stop_gradient(held)
        return p.in_place_of(held, own)

    def select_data(self, held: Any) -> Value:
        held = self.settled(held)
        if not isinstance(held, Either):
            return held  # type: ignore[no-any-return]
        yes, no = self._under(held, held.yes), self._under(held, held.no, False)
        if yes.type != no.type:
            self.refuse("a tensor holds data of different types on two ways")
        return self.regions.choose(held.cond, [yes], [no], self.path)[0]

    def _under(self, held: Either, side: Any, taken: bool = True) -> Value:
        with self.under(held.cond, taken):
            return self.select_data(side)

    def given_once(self, cond: Value, ends: list[Store], result: Any) -> Any:
        """Without this, whoever uses one of two values would compute both ways again, and whoever uses that, both ways
        of both: branches one after another would be as many programs as there are ways through them.
        """
        for key in [*ends[0].slots, *ends[1].slots]:
            obj, value = self.store.slots[key]
            if value.__class__ is Either or value.__class__ is tuple:
                self.store.slots[key] = obj, self.once(value, cond, ends)
        return self.once(result, cond, ends)

    def once(self, value: Any, cond: Value, ends: list[Store]) -> Any:
        if value.__class__ is tuple:
            return with_leaves(value, lambda v: self.once(v, cond, ends))
        if value.__class__ is not Either or value.cond is not cond:
            return value
        try:
            return self.as_one(value, ends)
        except Break:
            return value

    def as_one(self, value: Either, ends: list[Store]) -> Any:
        """One of two values as one, where nobody can tell them apart; and tensors that were made on one of the two ways
        hold what the branch gives: each is known on its way only, so what it would hold on the other is nobody's
        concern.
        """
        yes, no = value.yes, value.no
        if isinstance(yes, Value) and isinstance(no, Value):
            return self.select_data(value) if yes.type == no.type else value
        if is_tensor(yes) and is_tensor(no) and id(yes) in ends[0].made and id(no) in ends[1].made:
            held = Either(value.cond, self.store.read(yes, DATA), self.store.read(no, DATA))
            data = self.select_data(held)
            self.store.write(yes, DATA, data)
            self.store.write(no, DATA, data)
            return value
        for made, other, end in ((yes, no, ends[0]), (no, yes, ends[1])):
            if is_tensor(made) and id(made) in end.made and all(map(is_tensor, alternatives(other))):
                before, data = self.tensor_data(other), self.tensor_data(value)
                self.store.write(made, DATA, data)
                self.same_else[id(made)] = value.cond, data, before
                return value
        leaves: list[Any] = []
        waiting = [value.no, value.yes]
        while waiting and len(leaves) <= SEVERAL:
            x = waiting.pop()
            if isinstance(x, Either):
                waiting += x.no, x.yes
            elif self.number_kind(x) is None:
                return value
            else:
                leaves.append(x)
        kinds = {self.number_kind(v) for v in leaves}
        if not waiting and len(kinds) == 1 and any(isinstance(v, Number) for v in leaves):
            return self.number(value, *kinds)  # type: ignore[arg-type]  # None is not in it
        return value

    @contextmanager
    def under(self, cond: Value, taken: bool) -> Iterator[None]:
        """Inside the block a condition holds, or does not: what is made there is computed only then."""
        self.path[cond] = taken
        self.regions.enter(cond, taken)
        try:
            yield
        finally:
            self.regions.leave()
            del self.path[cond]

    def joined(self, value: Any) -> Any:
        """Either of two tensors of one type, or of numbers, in a place that only reads it: one value."""
        if value.__class__ is not Either:
            return value
        value = self.settled(value)
        if not isinstance(value, Either):
            return value
        leaves = alternatives(value)
        if all(is_tensor(v) for v in leaves):
            try:
                return self.store.tensor(self.tensor_data(value))
            except Break:
                return value
        kinds = {self.number_kind(v) for v in leaves}
        if len(kinds) == 1 and None not in kinds and (len(leaves) > FEW or any(isinstance(v, Number) for v in leaves)):
            (kind,) = kinds
            return self.number(value, kind)  # type: ignore[arg-type]  # None is not in it
        return value

    def tensor_data(self, value: Any) -> Value:
        """What one of several tensors holds."""
        value = self.settled(value)
        if not isinstance(value, Either):
            return self.value(value)
        for made, other in ((value.yes, value.no), (value.no, value.yes)):
            if id(made) in self.same_else:
                cond, data, before = self.same_else[id(made)]
                if cond is value.cond and self.holds(made, data) and self.holds(other, before):
                    return data
        sides = []
        for side, taken in ((value.yes, True), (value.no, False)):
            with self.under(value.cond, taken):
                sides.append(self.tensor_data(side))
        if sides[0].type != sides[1].type:
            raise Break("two types in one tensor")
        return self.regions.choose(value.cond, [sides[0]], [sides[1]], self.path)[0]

    def holds(self, x: Any, data: Value) -> bool:
        """Whether one of several tensors, whichever it is, holds what it held when two ways met."""
        return all(map(is_tensor, alternatives(x))) and self.tensor_data(x) is data

    @staticmethod
    def number_kind(x: Any) -> type | None:
        """The class of a Python number that is known now or later."""
        if isinstance(x, HostNumber):
            return type(x.sample)
        if isinstance(x, Number):
            return x.kind
        if type(x) is Sym:
            return int
        return type(x) if type(x) in KINDS else None

    def number(self, x: Any, kind: type) -> Number:
        """One of several numbers as one number of the graph."""
        leaves = [self.bounds(v) for v in alternatives(x)]
        low, high = min(b[0] for b in leaves), max(b[1] for b in leaves)
        return Number(self.select(x, KINDS[kind]), kind, low, high)

    def bounds(self, x: Any) -> tuple[int, int]:
        """Between what a number lies; floats have no bounds."""
        if isinstance(x, Number):
            return x.low, x.high
        if isinstance(x, HostNumber):
            return -(2**63), 2**63 - 1
        if type(x) is Sym:
            low = int(x.low) if x.low > -LARGE else -LARGE
            return (low, LARGE) if x < LARGE and x > -LARGE else (-(2**63), 2**63 - 1)
        return (int(x), int(x)) if type(x) in (int, bool) else (0, 0)

    def select(self, x: Any, kind: TensorType) -> Value:
        """A number, or one of several, as a value of the graph."""
        x = self.settled(x)
        if isinstance(x, Either):
            sides = []
            for side, taken in ((x.yes, True), (x.no, False)):
                with self.under(x.cond, taken):
                    sides.append(self.select(side, kind))
            return self.regions.choose(x.cond, [sides[0]], [sides[1]], self.path)[0]
        if isinstance(x, Value):
            return x
        if isinstance(x, Number):
            return x.value
        if isinstance(x, HostNumber):
            return self.store.world.tensor_of(x, kind)
        if type(x) is Sym:
            return p.full(x, kind.dtype, ())
        if type(x) is int and not -(2**63) <= x < 2**63:
            self.refuse("a number beyond 64 bits")
        return p.full(x, kind.dtype, ())

    def of_op(self, x: Any) -> Any:
        """A value as an op holds it: its sizes may be symbolic, all else is constant."""
        x = self.settled(x)
        if type(x) is tuple:
            return with_leaves(x, self.of_op)
        return x if type(x) is Sym else self.plain(x)

    def plain(self, x: Any) -> Any:
        """A value as a constant: a number that is computed at each call is guarded by its value from now on."""
        x = self.settled(x)
        if isinstance(x, HostNumber):
            return self.store.world.constant(x)
        if type(x) is Sym:
            raise NeedsSize(x)
        if type(x) is tuple:
            return with_leaves(x, self.plain)
        if type(x) is slice:
            return slice(self.plain(x.start), self.plain(x.stop), self.plain(x.step))
        if isinstance(x, Number):
            self.refuse("a number that only the running program knows is needed now")
        return x
