"""The store: what the slots of all objects hold while a program is captured. The world itself does not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mycelia.capture.slots import DATA, ITEMS, Slot
from mycelia.capture.values import POISON, Again, Break, either
from mycelia.capture.world import World
from mycelia.eager import Tensor
from mycelia.ir import Value

Key = tuple[int, Slot]


class Store:
    """Differences over the world, in layers: a fork is a new layer, and a join writes what two of them have become."""

    def __init__(self, world: World, parent: Store | None = None) -> None:
        self.world, self.parent = world, parent
        self.slots: dict[Key, tuple[Any, Any]] = {}
        self.made: set[int] = set()

    def fork(self) -> Store:
        return Store(self.world, self)

    def read(self, obj: Any, slot: Slot) -> Any:
        """What a slot holds now."""
        number = id(obj)
        key = number, slot
        found = self.slots.get(key)
        if found is None:
            world, layer = self.world, self.parent
            if number not in world.fresh and number not in world.touched:
                return world.seen[key] if key in world.seen else world.read(obj, slot)
            while layer is not None and (found := layer.slots.get(key)) is None:
                layer = layer.parent
            if found is None:
                return world.read(obj, slot)
        value = found[1]
        if value is POISON:
            raise Again("a value from before the loop, of another type, is read")
        return value

    def write(self, obj: Any, slot: Slot, value: Any) -> None:
        """A slot holds something else from now on."""
        if id(obj) not in self.world.fresh:
            self.touch(obj)
        self.slots[id(obj), slot] = obj, value

    def touch(self, obj: Any) -> None:
        """An object from outside is written to: what it holds is in the layers from now on."""
        self.world.number(obj)
        self.world.touched.add(id(obj))
        self.world.touched_classes |= isinstance(obj, type)

    def join(self, cond: Value, yes: Store, no: Store) -> None:
        """Become what either fork has become. An object made on one side is only known on that side."""
        for key, (obj, _) in (yes.slots | no.slots).items():
            slot = key[1]
            sides = [s for s in (yes, no) if id(obj) in s.made] or [yes, no]
            values = [s.peek(obj, slot) for s in sides]
            if values[0] is POISON or values[-1] is POISON:
                self.slots[key] = obj, POISON
            else:
                self.write(obj, slot, either(cond, *values) if len(values) == 2 else values[0])
        self.made |= yes.made | no.made

    def knows(self, obj: Any) -> bool:
        """Whether a tensor that the program made is there now: it was not made on a way that was left or tried only."""
        layer: Store | None = self
        while layer is not None:
            if (id(obj), DATA) in layer.slots:
                return True
            layer = layer.parent
        return False

    def peek(self, obj: Any, slot: Slot) -> Any:
        """What a slot holds, where it does not matter that it must not be read."""
        try:
            return self.read(obj, slot)
        except Break:
            layer: Store | None = self
            while layer is not None:
                if (id(obj), slot) in layer.slots:
                    return POISON
                layer = layer.parent
            raise

    def make(self, blank: Any, **fields: Any) -> Any:
        """A new object, which nothing outside knows."""
        self.world.fresh[id(blank)] = blank
        self.made.add(id(blank))
        for name, value in fields.items():
            self.slots[id(blank), ("field", name)] = blank, value
        return blank

    def tensor(self, value: Any) -> Tensor:
        """A new tensor that holds this value."""
        out = Tensor.__new__(Tensor)
        self.world.fresh[id(out)] = out
        self.made.add(id(out))
        self.slots[id(out), DATA] = out, value
        return out

    def container(self, kind: type, items: tuple[Any, ...]) -> Any:
        """A new list, dict (keys and values in turn) or the like."""
        out = self.make(kind())
        self.slots[id(out), ITEMS] = out, items
        return out

    def is_fresh(self, obj: Any) -> bool:
        """Whether the program has made this object."""
        return id(obj) in self.world.fresh

    def layers(self, until: Store | None = None) -> list[Store]:
        """The layers from the bottom, without `until` and what is below."""
        found, layer = [], self
        while layer is not None and layer is not until:
            found.append(layer)
            layer = layer.parent  # type: ignore[assignment]  # the loop ends at None
        return found[::-1]

    def differences(self, until: Store | None = None) -> Iterator[tuple[Any, Slot, Any]]:
        """Every slot written, with what it holds now, in the order of the first writes."""
        merged: dict[Key, tuple[Any, Any]] = {}
        for layer in self.layers(until):
            merged |= layer.slots
        return ((obj, key[1], value) for key, (obj, value) in merged.items())
