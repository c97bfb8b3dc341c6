"""Whether a unit or a binding makes sense: every number in it means something, and everything that is needed is there.

A binding that was read from a file is held to this before anything is made of it.
"""

from __future__ import annotations

from collections import Counter

from mycelia.loops.expr import Buffer
from mycelia.loops.program import ALIGN, Block, Host, Invoke, Plan, Stack
from mycelia.loops.unit import Binding, Slot, Unit
from mycelia.sizes import Dim, Name, Sym, names


def verify_binding(binding: Binding) -> None:
    """Raise AssertionError where a binding is wrong.

    >>> verify_binding(Binding((Slot("input", 1),), (), (), (), (), 0, (), (), (), (), (), (), (), 0, False, False, 1))
    Traceback (most recent call last):
    AssertionError: the table has input 1, and there are 0...
    """
    donors = [d for d in binding.donated if d is not None]
    _table(binding)
    assert len(binding.donated) == len(binding.outputs), "what is donated is not said of each output"
    assert all(d in range(len(binding.inputs)) for d in donors), "an output takes over an input that is not there"
    assert len(set(donors)) == len(donors), "two outputs take over one input"
    for i, d in enumerate(binding.donated):
        assert d is None or binding.outputs[i] == binding.inputs[d], f"output {i} takes over memory of another type"
    assert all(i in range(len(binding.outputs)) for i in binding.handles), "a handle is no output"
    assert all(r.call in range(len(binding.calls)) for r in binding.recipes), "a recipe is of no call"
    assert binding.threads >= 1, "a program runs on one thread at least"
    assert binding.steps >= 0, "a program has no negative steps"
    known = {*binding.names, *binding.births}
    for stack in binding.stacks:
        _stack(stack, known, {r.step for r in binding.recipes})
        known |= {*stack.names, stack.arena}
    sizes = [*binding.numbers, binding.arena, *[n for t in (*binding.inputs, *binding.outputs) for n in t.shape]]
    for n in sizes:
        _known(n, known)  # type: ignore[arg-type]  # sizes are typed as ints
    for name in binding.births:
        assert name.most is not None, f"{name} comes out of data, and nobody knows how large it can be"
        told = {n.terms for n in binding.numbers if isinstance(n, Sym)}  # to compare sizes would be to decide them
        assert name.alone().terms in told, f"the code is not told of {name}"
    if isinstance(binding.arena, int):
        assert binding.arena >= 0, "an arena has no negative size"
    else:
        assert binding.stacks, "the arena depends on sizes, and nothing says how"


def _table(binding: Binding) -> None:
    counts = {"input": len(binding.inputs), "output": len(binding.outputs), "constant": len(binding.constants)}
    told = {"call": {r.step for r in binding.recipes}, "host": {c.step for c in binding.callbacks}}
    for slot in binding.table:
        if slot.kind in counts:
            many = counts[slot.kind]
            assert slot.number in range(many), f"the table has {slot.kind} {slot.number}, and there are {many}"
        elif slot.kind in told:
            assert slot.number in told[slot.kind], f"the table has {slot.kind} {slot.number}, which is no such step"
        else:
            assert slot.kind in Slot.ONCE, f"the table has {slot.kind}, which nobody knows"
    twice = [slot for slot, times in Counter(binding.table).items() if times > 1]
    assert not twice, f"the table has {twice} twice"
    needed = {Slot("input", i) for i in range(len(binding.inputs))}
    needed |= {Slot("output", i) for i, donor in enumerate(binding.donated) if donor is None}
    needed |= {Slot("call", r.step) for r in binding.recipes} | {Slot("host", c.step) for c in binding.callbacks}
    needed |= {Slot(kind) for kind in ("arena", "heap", "numbers", "poll")}
    missing = needed - set(binding.table)
    assert not missing, f"the table lacks {sorted(map(str, missing))}"


def _stack(stack: Stack, known: set[Name], calls: set[int]) -> None:
    assert len(stack.names) == len(stack.items) == len(stack.below), "a stack does not say everything of each item"
    for i, (item, below) in enumerate(zip(stack.items, stack.below, strict=True)):
        assert all(b in range(i) for b in below), f"item {i} of a stack lies above one that comes later"
        _known(item.nbytes, known)
        assert isinstance(item.who, str) or item.who in calls, f"{item.who} is no library call"


def _known(n: Dim, known: set[Name]) -> None:
    assert names(n) <= known, f"nobody knows {sorted(map(repr, names(n) - known))}"


def verify_unit(unit: Unit) -> None:
    """Raise AssertionError where a unit is wrong: its binding, its plans, or that they are not of its program."""
    program, binding = unit.program, unit.binding
    steps = list(program.walk())
    calls = [n for n, s in enumerate(steps) if isinstance(s, Invoke)]
    assert [r.step for r in binding.recipes] == calls, "the recipes are not those of the library calls"
    hosts = [n for n, s in enumerate(steps) if isinstance(s, Host)]
    assert [c.step for c in binding.callbacks] == hosts, "the callbacks are not those of the calls of Python"
    assert binding.inputs == tuple(b.type for b in program.inputs), "the inputs have other types"
    assert binding.outputs == tuple(b.type for b in program.outputs), "the outputs have other types"
    assert binding.steps == sum(1 for _ in program.walk()), "the number of steps is another one"
    if binding.numbers or not binding.births:  # codegen has said what it wants to know
        verify_binding(binding)
    assert set(unit.procedures) == {r.name for r in program.procedures}, "there are plans of other procedures"
    _plan(unit.plan, program.block, set(), binding)
    for r in program.procedures:
        _plan(unit.procedures[r.name], r.block, {*r.inputs, *r.outputs}, binding)


def _plan(plan: Plan, block: Block, passed: set[Buffer], binding: Binding) -> None:
    """Whether every buffer of a block has a place in memory that there is."""
    for b in (*block.reads(), *block.writes()):
        assert b in passed or b in plan.places, f"{b} has no place"
    for b, place in plan.places.items():
        if place.slot is not None:
            assert place.slot in range(len(binding.table)), f"{b} is in a slot that is not there"
        elif isinstance(place.offset, int) and isinstance(plan.arena, int) and b.type.static and b not in passed:
            last = sum((n - 1) * s for n, s in zip(b.type.shape, b.strides, strict=True))
            end = place.offset + (0 if 0 in b.type.shape else (last + 1) * b.type.dtype.itemsize)
            assert place.offset % ALIGN == 0, f"{b} does not begin where a buffer begins"
            assert 0 <= place.offset <= end <= plan.arena, f"{b} lies outside of the arena"
