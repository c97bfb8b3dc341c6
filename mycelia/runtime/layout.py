"""A place for everything (the layout of a unit): slots of the table, the arena, what library calls need."""

from __future__ import annotations

from mycelia.cost import streamed_from, together_from
from mycelia.loops import (
    Binding,
    Birth,
    Buffer,
    Callback,
    Host,
    Invoke,
    Launch,
    LibraryCall,
    Plan,
    Program,
    Recipe,
    Repeat,
    Slot,
    Unit,
)
from mycelia.options import Options
from mycelia.runtime.recipes import decided, prepared
from mycelia.schedule import buffer_bytes, plan_memory
from mycelia.sizes import Hints, evaluated, hint, names
from mycelia.target import Target


def layout(program: Program, options: Options) -> Unit:
    """Plan the memory of `program`, decide how the library is called, lay out its table. A clocked one has a slot for
    the times of its steps.
    """
    table = [Slot("input", i) for i in range(len(program.inputs))]
    fixed = {b: i for i, b in enumerate(program.inputs)}
    donated = tuple(program.inputs.index(b) if b in fixed else None for b in program.outputs)

    def slot(kind: str, number: int = 0) -> int:
        table.append(Slot(kind, number))
        return len(table) - 1

    for i, b in enumerate(program.outputs):
        if b not in fixed:
            fixed[b] = slot("output", i)
    for i, b in enumerate(program.constants):
        fixed[b] = slot("constant", i)
    for kind in ("arena", "heap", "set_handle", "execute", "numbers", "poll", *(["clock"] if options.clocked else [])):
        slot(kind)
    steps = list(program.walk())
    for kind, sort in (("call", Invoke), ("host", Host)):
        for n, s in enumerate(steps):
            if isinstance(s, sort):
                slot(kind, n)

    together = program.together(together_from(options.target))
    calls = {s.call: decided(s.call, options.threads) for s in steps if isinstance(s, Invoke)}
    here = [evaluated(how, Hints()) for how in calls.values()]
    counts = {options.threads} if together is True else {1} if together is False else {1, options.threads}
    ready = [prepared(here, threads) for threads in counts]
    rooms = {call: max(each.room for each in made) for call, *made in zip(calls, *ready, strict=True)}
    plan, procedures = _plans(program, fixed, rooms)
    stacks = tuple(p.stack for p in (plan, *procedures.values()) if p.stack is not None)
    sized = {item.who for stack in stacks for item in stack.items}
    place = {call: i for i, call in enumerate(calls)}
    recipes = [
        Recipe(n, place[s.call], None if n in sized else rooms[s.call])
        for n, s in enumerate(steps)
        if isinstance(s, Invoke)
    ]
    found = [n for b in program.inputs for d in b.type.shape for n in sorted(names(d), key=repr)]
    binding = Binding(
        table=tuple(table),
        inputs=tuple(b.type for b in program.inputs),
        outputs=tuple(b.type for b in program.outputs),
        donated=donated,
        handles=tuple(i for i, b in enumerate(program.outputs) if b in program.handles),
        arena=plan.arena,
        stacks=stacks,
        calls=tuple(calls.values()),
        recipes=tuple(recipes),
        callbacks=tuple(
            Callback(n, *(tuple(b.type for b in side) for side in (s.inputs, s.outputs)))
            for n, s in enumerate(steps)
            if isinstance(s, Host)
        ),
        names=tuple(dict.fromkeys(found)),
        births=tuple(dict.fromkeys(s.name for s in steps if isinstance(s, Birth))),
        numbers=(),
        steps=len(steps),
        loops=bool(program.procedures) or any(isinstance(s, Repeat) for s in steps),
        procedures=bool(program.procedures),
        threads=options.threads,
        together=together,
        notes=program.notes,
        constants=tuple(program.constants.values()),
    )
    return Unit(program, plan, procedures, _streamed(program, options.target), binding)


def _plans(program: Program, fixed: dict[Buffer, int], rooms: dict[LibraryCall, int]) -> tuple[Plan, dict[str, Plan]]:
    """The plans of the main block and of procedures, which are given their inputs and outputs."""

    def room(step: Invoke) -> int:
        return rooms[step.call]

    first = 0
    plan = plan_memory(program.block, fixed, program.shared, room)
    first += sum(1 for _ in program.block.walk())
    procedures: dict[str, Plan] = {}
    for r in program.procedures:
        passed = dict.fromkeys((*r.inputs, *r.outputs), 0)
        procedures[r.name] = plan_memory(r.block, {**fixed, **passed}, program.shared, room, first)
        first += sum(1 for _ in r.block.walk())
    return plan, procedures


def _streamed(program: Program, target: Target) -> frozenset[Buffer]:
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
                begins = [a.offset.constant for w in s.kernel.sweeps for a in w.actions if a.buffer is b]
                known = all(isinstance(n, int) for n in (inner, *begins))
                if not known or any(n * b.type.dtype.itemsize % lanes for n in (inner, *begins)):
                    large.discard(b)
    return frozenset(large)
