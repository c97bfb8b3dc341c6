"""A program with a place for everything: slots of the table, the arena; and an arrangement of it for actual sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mycelia.codegen.driver import Slots, Unit
from mycelia.cost import streamed_from
from mycelia.loops import Birth, Buffer, Host, Invoke, Item, Launch, LibraryCall, Plan, Program, Stack
from mycelia.options import Options
from mycelia.runtime.bind import prepared
from mycelia.runtime.host import address_of, entry_of
from mycelia.runtime.interrupts import WORDS
from mycelia.runtime.onednn import library
from mycelia.schedule import buffer_bytes, plan_memory
from mycelia.sizes import Hints, Name, Sym, comes_from_data, evaluated, evaluator, hint, names, value
from mycelia.target import Target
from mycelia.types import Array


@dataclass(frozen=True)
class Assembled:
    """A unit for code generation, and what is known of the table that its code will be given."""

    unit: Unit
    table: tuple[int, ...]  # known pointers; 0 where they come with each call
    inputs: tuple[int, ...]  # slots
    outputs: tuple[int, ...]
    donated: tuple[int | None, ...]  # for each output, the input whose memory it takes over
    raised: list[BaseException]  # what Python raised when the program called it
    keep: tuple[object, ...]  # what the pointers point to
    threads: int

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The sizes that the program depends on, in the order in which its inputs mention them."""
        found = [n for b in self.unit.program.inputs for d in b.type.shape for n in sorted(names(d), key=repr)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def births(self) -> tuple[Name, ...]:
        """The sizes that come out of data while the program runs."""
        blocks = [self.unit.program.block, *(r.block for r in self.unit.program.routines)]
        return tuple(dict.fromkeys(s.name for b in blocks for s in b.walk() if isinstance(s, Birth)))

    def at_most(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes, and behind them the largest numbers that those from data can be: there is room for these."""
        at = dict(zip(self.names, sizes, strict=True))
        for name in self.births:
            assert name.most is not None, f"{name} does not come out of data"
            at[name] = value(name.most, at)
        return tuple(at.values())

    @cached_property
    def calls(self) -> tuple[Invoke, ...]:
        """The library calls, in the main block and in routines."""
        blocks = [self.unit.program.block, *(r.block for r in self.unit.program.routines)]
        return tuple(s for b in blocks for s in b.walk() if isinstance(s, Invoke))

    @cached_property
    def distinct(self) -> tuple[LibraryCall, ...]:
        """What these calls are, each once."""
        return tuple(dict.fromkeys(s.call for s in self.calls))

    @cached_property
    def which(self) -> tuple[int, ...]:
        """For each call, the place of what it is."""
        place = {call: i for i, call in enumerate(self.distinct)}
        return tuple(place[s.call] for s in self.calls)

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """How the places of the main block and of routines depend on sizes, where they do."""
        plans = [self.unit.plan, *self.unit.routines.values()]
        return tuple(p.stack for p in plans if p.stack is not None)

    @cached_property
    def item_sizes(self) -> tuple[Callable[..., tuple[int, ...]], ...]:
        """For each stack, the bytes of its items from the sizes; library calls say theirs when they are prepared."""
        given = (*self.names, *self.births)
        return tuple(evaluator([_bytes(item) for item in stack.items], given) for stack in self.stacks)


def _bytes(item: Item) -> int:
    return 0 if isinstance(item.who, Invoke) else item.nbytes


@dataclass(frozen=True)
class Arrangement:
    """A program at actual sizes: its table, its numbers, its memory. `keep` is what the pointers point to."""

    table: Array
    arena: int
    shapes: tuple[tuple[int, ...], ...]  # of the outputs; the largest, where they come out of data
    numbers: Array
    keep: tuple[object, ...]


def arrange(assembled: Assembled, numbers: Numbers, sizes: tuple[int, ...]) -> Arrangement:
    """Prepare the library calls and find the places for actual sizes, given in the order of `assembled.names`."""
    at = dict(zip(assembled.names, sizes, strict=True))
    ready = [prepared(evaluated(call, at), assembled.threads) for call in assembled.distinct]
    bound = {id(s): ready[i] for s, i in zip(assembled.calls, assembled.which, strict=True)}
    places: list[int] = []
    largest = assembled.at_most(sizes)
    for stack, measure in zip(assembled.stacks, assembled.item_sizes, strict=True):
        measured = measure(*largest)
        nbytes = [
            bound[id(item.who)].room if isinstance(item.who, Invoke) else n
            for item, n in zip(stack.items, measured, strict=True)
        ]
        places += stack.offsets(nbytes)
    if assembled.unit.plan.stack is None:
        arena = assembled.unit.plan.arena
    else:
        arena = places[len(assembled.unit.plan.stack.items)]
    table = np.array(assembled.table, np.uint64)
    keep: list[object] = [bound]
    told = [each.words for each in ready]
    keep += told
    pointers = [words.ctypes.data for words in told]
    for s, i in zip(assembled.calls, assembled.which, strict=True):
        table[assembled.unit.calls[id(s)]] = pointers[i]
    known = np.array(numbers.values(*largest, *places), np.int64)
    keep.append(known)
    table[assembled.unit.slots.numbers] = known.ctypes.data
    return Arrangement(table, arena, numbers.shapes(*largest), known, tuple(keep))


class Numbers:
    """What the code of a program wants to know of sizes and places, as functions of the sizes; where sizes from data
    stand among these numbers, and which outputs have such sizes.
    """

    def __init__(self, assembled: Assembled, wanted: tuple[Sym, ...]) -> None:
        given = [*assembled.names, *assembled.births]
        for stack in assembled.stacks:
            given += [*stack.names, stack.arena]
        self.values = evaluator(wanted, given)
        program = assembled.unit.program
        flat = evaluator([n for b in program.outputs for n in b.type.shape], (*assembled.names, *assembled.births))
        place = {n: i for i, n in enumerate(wanted)}
        self.births = [place[name.alone()] for name in assembled.births]
        self.varying = [i for i, b in enumerate(program.outputs) if any(map(comes_from_data, b.type.shape))]
        ranks = [b.type.rank for b in program.outputs]

        def shapes(*sizes: int) -> tuple[tuple[int, ...], ...]:
            extents = iter(flat(*sizes))
            return tuple(tuple(next(extents) for _ in range(rank)) for rank in ranks)

        self.shapes = shapes


def assemble(program: Program, options: Options) -> Assembled:
    """Plan the memory of `program` and lay out its table; a clocked one has a slot for the times of its steps."""
    table: list[int] = []
    keep: list[object] = []

    def slot(pointer: int = 0) -> int:
        table.append(pointer)
        return len(table) - 1

    fixed = {b: slot() for b in program.inputs}
    donated = tuple(program.inputs.index(b) if b in fixed else None for b in program.outputs)
    for b in program.outputs:
        if b not in fixed:
            fixed[b] = slot()
    for b, data in program.constants.items():
        fixed[b] = slot(data.ctypes.data)
        keep.append(data)
    lib = library()
    set_handle, execute = (slot(lib.address(f"dnnl_{f}")) for f in ("memory_set_data_handle", "primitive_execute"))
    slots = Slots(slot(), slot(), set_handle, execute, slot(), slot(WORDS.ctypes.data))
    blocks = [program.block, *(r.block for r in program.routines)]
    calls = {id(s): slot() for b in blocks for s in b.walk() if isinstance(s, Invoke)}

    hosts, raised = {}, list[BaseException]()
    for host in (s for b in blocks for s in b.walk() if isinstance(s, Host)):
        entry = entry_of(host, raised)
        hosts[id(host)] = slot(address_of(entry))
        keep.append(entry)

    def room(step: Invoke) -> int:
        return prepared(evaluated(step.call, Hints()), options.threads).room

    plan = plan_memory(program.block, fixed, program.shared, room)
    routines: dict[str, Plan] = {}
    for r in program.routines:
        passed = dict.fromkeys((*r.inputs, *r.outputs), 0)
        routines[r.name] = plan_memory(r.block, {**fixed, **passed}, program.shared, room)
    handles = any(b in program.handles for b in program.outputs)
    streamed = _streamed(program, fixed, options.target)
    clock = slot() if options.clocked else None
    unit = Unit(program, plan, routines, calls, hosts, slots, streamed, handles, clock)
    inputs, outputs = (tuple(fixed[b] for b in side) for side in (program.inputs, program.outputs))
    return Assembled(unit, tuple(table), inputs, outputs, donated, raised, tuple(keep), options.threads)


def _streamed(program: Program, fixed: dict[Buffer, int], target: Target) -> frozenset[Buffer]:
    """Large results that no kernel reads again: the cache is better used otherwise. What the program was written at
    decides; that stores are aligned must be known.
    """
    read = {b for s in program.block.walk() for b in s.reads()}
    large = {
        b
        for b in program.outputs
        if hint(buffer_bytes(b)) >= streamed_from(target) and b not in read and b not in program.inputs
    }
    lanes = target.vector_bytes
    for s in program.block.walk():
        if isinstance(s, Launch) and s.kernel.rows:
            for b in s.writes():
                inner = b.type.shape[-1] if b.type.shape else 1
                if not isinstance(inner, int) or inner * b.type.dtype.itemsize % lanes:
                    large.discard(b)
    return frozenset(large)
