"""A program with a place for everything: slots of the table, the arena, prepared library calls."""

from __future__ import annotations

from dataclasses import dataclass

from mycelia.codegen.driver import Slots, Unit
from mycelia.loops import Buffer, Execution, Invoke, Launch, LibraryCall, Program
from mycelia.options import Options
from mycelia.runtime.bind import Bound, bind
from mycelia.runtime.onednn import library
from mycelia.runtime.threads import at_most
from mycelia.schedule import buffer_bytes, plan_memory
from mycelia.target import Target

STREAMED = 1 << 24  # bytes from which a result is written past the cache


@dataclass(frozen=True)
class Assembled:
    """A unit for code generation and the table that its code will be given."""

    unit: Unit
    table: tuple[int, ...]  # known pointers; 0 where they come with each call
    inputs: tuple[int, ...]  # slots
    outputs: tuple[int, ...]
    donated: tuple[int | None, ...]  # for each output, the input whose memory it takes over
    keep: tuple[object, ...]  # what the pointers point to


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
    slots = Slots(
        slot(), slot(), slot(lib.address("dnnl_memory_set_data_handle")), slot(lib.address("dnnl_primitive_execute"))
    )
    blocks = [program.block, *(r.block for r in program.routines)]
    calls = [s for b in blocks for s in b.walk() if isinstance(s, Invoke)]
    with at_most(options.threads):  # the library divides its work when it is prepared
        prepared: dict[LibraryCall, Bound] = {s.call: bind(s.call) for s in {s.call: s for s in calls}.values()}
    bound = {id(s): prepared[s.call] for s in calls}
    known: dict[int, int] = {}

    def once(pointer: int) -> int:
        if pointer not in known:
            known[pointer] = slot(pointer)
        return known[pointer]

    executions = {}
    for s in calls:
        made = []
        for primitive, where in bound[id(s)].primitives:
            memories = tuple((once(k.memory), *w) for k, w in zip(primitive.slots, where, strict=True))
            made.append(
                Execution(once(primitive.primitive), once(primitive.stream), once(primitive.args), len(where), memories)
            )
            keep.append(primitive)
        executions[id(s)] = tuple(made)

    def room(s: Invoke) -> int:
        return bound[id(s)].room

    plan = plan_memory(program.block, fixed, program.shared, room)
    routines = {}
    for r in program.routines:
        passed = dict.fromkeys((*r.inputs, *r.outputs), 0)
        routines[r.name] = plan_memory(r.block, {**fixed, **passed}, program.shared, room)
    handles = any(b in program.handles for b in program.outputs)
    unit = Unit(
        program,
        plan,
        routines,
        executions,
        slots,
        _streamed(program, fixed, options.target),
        handles,
        slot() if options.clocked else None,
    )
    return Assembled(
        unit, tuple(table), tuple(fixed[b] for b in program.inputs), tuple(fixed[b] for b in program.outputs),
        donated, tuple(keep),
    )  # fmt: skip


def _streamed(program: Program, fixed: dict[Buffer, int], target: Target) -> frozenset[Buffer]:
    """Large results that no kernel reads again: the cache is better used otherwise."""
    read = {b for s in program.block.walk() for b in s.reads()}
    large = {b for b in program.outputs if buffer_bytes(b) >= STREAMED and b not in read and b not in program.inputs}
    lanes = target.vector_bytes
    for s in program.block.walk():
        if isinstance(s, Launch) and s.kernel.rows:
            for b in s.writes():
                inner = b.type.shape[-1] if b.type.shape else 1
                if inner * b.type.dtype.itemsize % lanes:
                    large.discard(b)
    return frozenset(large)
