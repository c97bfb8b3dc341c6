"""What lives in a process: a binding becomes a table of pointers, and an arrangement of it for actual sizes."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from mycelia.errors import CompileError
from mycelia.frozen import frozen
from mycelia.loops import Binding, Called
from mycelia.onednn import library
from mycelia.runtime.host import address_of, entry_of
from mycelia.runtime.interrupts import WORDS
from mycelia.runtime.recipes import prepared
from mycelia.runtime.results import address
from mycelia.sizes import Name, Scope, comes_from_data, describer, evaluator, value
from mycelia.types import Array


class Misfit(CompileError):
    """A unit that was laid out elsewhere does not fit what the library does here."""


class Bound:
    """A binding with what of it does not depend on sizes: known pointers, and 0 where they come with each call."""

    def __init__(self, binding: Binding, python: Mapping[int, Called]) -> None:
        self.binding, self.python = binding, dict(python)
        self.raised: list[BaseException] = []  # what Python raised when the program called it
        self.entries = {c.step: entry_of(c, self.python[c.step], self.raised) for c in binding.callbacks}
        self.table = [self._pointer(slot.kind, slot.number) for slot in binding.table]
        self.inputs = [binding.slot("input", i) for i in range(len(binding.inputs))]
        self.outputs = [
            self.inputs[donor] if donor is not None else binding.slot("output", i)
            for i, donor in enumerate(binding.donated)
        ]
        self.told = [(binding.slot("call", recipe.step), recipe.call) for recipe in binding.recipes]
        self.numbers_slot = binding.slot("numbers")
        self.numbers = Numbers(binding)

    def _pointer(self, kind: str, number: int) -> int:
        match kind:
            case "constant":
                return self.binding.constants[number].ctypes.data
            case "set_handle":
                return library().address("dnnl_memory_set_data_handle")
            case "execute":
                return library().address("dnnl_primitive_execute")
            case "poll":
                return WORDS.ctypes.data
            case "host":
                return address_of(self.entries[number])
            case _:
                return 0

    def again(self) -> Bound:
        """The same once more, for a program that is called while it runs: what it raises is its own."""
        return Bound(self.binding, self.python)


class Numbers:
    """What the code of a program wants to know of sizes and places, its library calls, the shapes of its inputs and
    outputs, as functions of the sizes; where sizes from data stand among the numbers, and which outputs have such.
    """

    def __init__(self, binding: Binding) -> None:
        self._names, self._births = binding.names, binding.births
        known = (*binding.names, *binding.births)
        given = list(known)
        for stack in binding.stacks:
            given += [*stack.names, stack.arena]
        self.values = evaluator(binding.numbers, given)
        self.calls = describer(binding.calls, binding.names)
        told = binding.together
        self._all = binding.threads
        self._together = evaluator([int(told) if isinstance(told, bool) else told], binding.names)
        self.taken = describer([t.shape for t in binding.inputs], binding.names)
        self.shapes = describer([t.shape for t in binding.outputs], known)
        place = {n: i for i, n in enumerate(binding.numbers)}
        self.births = [place[name.alone()] for name in binding.births]
        self.varying = [i for i, t in enumerate(binding.outputs) if any(map(comes_from_data, t.shape))]
        # for each stack, the bytes of its items, from the sizes and the rooms of the library calls
        rooms = [Name(f"room{i}", 0, inf, Scope()) for i in range(len(binding.calls))]
        asked = {recipe.step: rooms[recipe.call].alone() for recipe in binding.recipes}
        self.item_sizes = [
            evaluator(
                [asked[item.who] if isinstance(item.who, int) else item.nbytes for item in stack.items],
                (*known, *rooms),
            )
            for stack in binding.stacks
        ]

    def threads(self, *sizes: int) -> int:
        """How many threads share the work of the program at these sizes."""
        return self._all if self._together(*sizes)[0] > 0 else 1

    def at_most(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes, and behind them the largest numbers that those from data can be: there is room for these."""
        at = dict(zip(self._names, sizes, strict=True))
        for name in self._births:
            assert name.most is not None, f"{name} does not come out of data"
            at[name] = value(name.most, at)
        return tuple(at.values())


@frozen
class Arrangement:
    """A program at actual sizes: its table, its numbers, its memory. `keep` is what the pointers point to."""

    table: Array
    arena: int
    shapes: tuple[tuple[int, ...], ...]  # of the outputs; the largest, where they come out of data
    numbers: Array
    keep: tuple[object, ...]


def arrange(bound: Bound, sizes: tuple[int, ...]) -> Arrangement:
    """Prepare the library calls and find the places for actual sizes, given in the order of `binding.names`."""
    binding, numbers = bound.binding, bound.numbers
    ready = prepared(numbers.calls(*sizes), numbers.threads(*sizes))
    rooms = [each.room for each in ready]
    for recipe in binding.recipes:
        if recipe.room is not None and (wanted := rooms[recipe.call]) > recipe.room:
            raise Misfit(f"step {recipe.step} has {recipe.room} bytes for a library call that needs {wanted}")
    places: list[int] = []
    largest = numbers.at_most(sizes)
    for stack, measure in zip(binding.stacks, numbers.item_sizes, strict=True):
        places += stack.offsets(measure(*largest, *rooms))
    # the stack of the main block comes first
    arena = binding.arena if isinstance(binding.arena, int) else places[len(binding.stacks[0].items)]
    table = np.array(bound.table, np.uint64)
    pointers = [address(each.words) for each in ready]
    for slot, i in bound.told:
        table[slot] = pointers[i]
    known = np.array(numbers.values(*largest, *places), np.int64)
    table[bound.numbers_slot] = address(known)
    return Arrangement(table, arena, numbers.shapes(*largest), known, tuple(ready))
