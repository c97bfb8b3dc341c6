"""One arena for everything that lives only during a call: buffers that are never alive together share room.

Where all sizes are numbers, the plan is a list of offsets. Where they are not, an offset is a name, and the plan says
what must lie below what: `Stack.offsets` finds the offsets for actual sizes, in one pass and without looking at
lifetimes again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from mycelia.loops import Block, Branch, Buffer, Invoke, Item, Place, Plan, Program, Repeat, Stack, Step
from mycelia.loops.program import ALIGN
from mycelia.sizes import Dim, Scope, Sym, hint, known_equal


def plan_memory(
    block: Block,
    fixed: Mapping[Buffer, int],
    shared: Mapping[Buffer, Buffer],
    room: Callable[[Invoke], int],
    first: int = 0,
) -> Plan:
    """Give every buffer of `block` a place. `fixed` ones have a slot of their own; `shared` ones lie in another's.
    `room` is what a library call needs for itself. `first` is the number of the first step.
    """
    spans = _Spans(shared, first)
    spans.visit(block)
    known = {buffer.name: buffer for buffer in spans.life}
    assert len(known) == len(spans.life), "two buffers have one name"
    items, symbolic = _wanted(spans, fixed, room)
    offsets, arena = _placed(items)
    stack = _stacked(items, offsets, first) if symbolic else None
    if stack is not None:
        found: dict[str | int, Dim] = {}
        for item, name in zip(stack.items, stack.names, strict=True):
            found[item.who] = Sym((((name,), 1),))  # type: ignore[assignment]  # a size is typed as an int
        arena = Sym((((stack.arena,), 1),))  # type: ignore[assignment]
    else:
        found = {item.who: at for item, at in zip(items, offsets, strict=True)}
    places = {b: Place(slot) for b, slot in fixed.items()}
    places |= {known[who]: Place(None, at) for who, at in found.items() if isinstance(who, str)}
    for b in shared:
        if (home := spans.home(b)) in places:
            places[b] = places[home]
    return Plan(places, {who: at for who, at in found.items() if isinstance(who, int)}, arena, stack)


def placed_items(
    block: Block, fixed: Collection[Buffer], shared: Mapping[Buffer, Buffer], room: Callable[[Invoke], int]
) -> tuple[list[tuple[Item, int]], int]:
    """What wants room in the arena, with its offset, and the size of the arena: at the sizes that a program is written
    at, as `plan_memory` places them.
    """
    spans = _Spans(shared, 0)
    spans.visit(block)
    items, _ = _wanted(spans, fixed, room)
    offsets, arena = _placed(items)
    return list(zip(items, offsets, strict=True)), arena


def _wanted(spans: _Spans, fixed: Collection[Buffer], room: Callable[[Invoke], int]) -> tuple[list[Item], bool]:
    """What wants room, in the order in which it is given it; and whether it depends on sizes how much."""
    items = [Item(b.name, buffer_bytes(b), first, last) for b, (first, last) in spans.life.items() if b not in fixed]
    symbolic = any(isinstance(item.nbytes, Sym) for item in items) or any(map(_sized, spans.calls.values()))
    rooms = {number: room(step) for number, step in spans.calls.items()}
    items += [Item(number, n, spans.when[number], spans.when[number]) for number, n in rooms.items() if symbolic or n]
    items.sort(key=lambda item: (-hint(item.nbytes), item.first))
    return items, symbolic


def arena_bytes(program: Program, room: Callable[[Invoke], int]) -> int:
    """The arena that a program is given, at the sizes that it was written at."""
    return placed_items(program.block, {*program.inputs, *program.outputs, *program.constants}, program.shared, room)[1]


def _sized(step: Invoke) -> bool:
    """Whether a library call depends on sizes that are not known yet."""
    operands = (*step.inputs, *step.outputs)
    return any(not o.buffer.type.static or isinstance(o.offset, Sym) for o in operands)


def buffer_bytes(buffer: Buffer) -> Dim:
    """The room that a buffer takes, also when its strides leave gaps."""
    if any(known_equal(n, 0) for n in buffer.type.shape):
        return 0
    last = sum((n - 1) * s for n, s in zip(buffer.type.shape, buffer.strides, strict=True))
    return (last + 1) * buffer.type.dtype.itemsize


def _placed(items: Sequence[Item]) -> tuple[list[int], int]:
    """Each item at the lowest place that is free while it lives, the largest first; and the size of the whole."""
    taken: list[tuple[int, int, Item]] = []  # offset, end, who
    offsets = []
    for item in items:
        busy = sorted((at, end) for at, end, other in taken if item.meets(other))
        at = _first_fit(max(hint(item.nbytes), 1), busy)
        taken.append((at, at + max(hint(item.nbytes), 1), item))
        offsets.append(at)
    return offsets, _aligned(max((end for _, end, _ in taken), default=0))


def _first_fit(size: int, busy: Sequence[tuple[int, int]]) -> int:
    at = 0
    for offset, end in busy:
        if offset - at >= size:
            return at
        at = max(at, _aligned(end))
    return at


def _stacked(items: Sequence[Item], offsets: Sequence[int], first: int) -> Stack:
    """Which items must stay below which, as they lie at the sizes that the program is written at.

    Two items that are alive together lie one above the other, and must do so at all sizes. What follows from two such
    pairs needs not be said again.
    """
    order = sorted(range(len(items)), key=lambda i: offsets[i])
    below: list[tuple[int, ...]] = []
    for n, i in enumerate(order):
        kept: list[int] = []
        for m in range(n - 1, -1, -1):
            other = items[order[m]]
            if items[i].meets(other) and not any(items[order[k]].meets(other) for k in kept):
                kept.append(m)
        below.append(tuple(kept))
    scope = Scope()
    names = [scope.name(f"at{first}_{n}", low=0) for n in range(len(order) + 1)]
    (*places, arena) = (next(iter(name.names())) for name in names)
    return Stack(tuple(places), tuple(items[i] for i in order), tuple(below), arena)


def _aligned(n: int) -> int:
    return (n + ALIGN - 1) // ALIGN * ALIGN


class _Spans:
    """From when to when each buffer is alive, in numbers of steps."""

    def __init__(self, shared: Mapping[Buffer, Buffer], first: int) -> None:
        self.shared = shared
        self.clock = 0
        self.number = first
        self.life: dict[Buffer, tuple[int, int]] = {}
        self.calls: dict[int, Invoke] = {}
        self.when: dict[int, int] = {}

    def visit(self, block: Block) -> None:
        for step in block.steps:
            self.clock += 1
            self.step(step)

    def home(self, buffer: Buffer) -> Buffer:
        """The buffer in whose memory this one lies."""
        while buffer in self.shared:
            buffer = self.shared[buffer]
        return buffer

    def touch(self, buffer: Buffer, when: int) -> None:
        buffer = self.home(buffer)
        first, last = self.life.get(buffer, (when, when))
        self.life[buffer] = min(first, when), max(last, when)

    def step(self, step: Step) -> None:
        number, self.number = self.number, self.number + 1
        if isinstance(step, Branch):
            self.touch(step.predicate, self.clock)
            self.visit(step.then)
            self.visit(step.otherwise)
        elif isinstance(step, Repeat):
            self._loop(step)
        else:
            if isinstance(step, Invoke):
                self.calls[number], self.when[number] = step, self.clock
            for buffer in (*step.reads(), *step.writes()):
                self.touch(buffer, self.clock)

    def _loop(self, step: Repeat) -> None:
        """What a loop touches lives through the whole loop, except what each turn writes before it reads."""
        before, begin = dict(self.life), self.clock
        streams = [b for s in (*step.reading, *step.writing) for b in (s.handle, s.item)]
        lasting = [b for b in (step.predicate, step.count, *streams) if b is not None]
        lasting += [step.length] if isinstance(step.length, Buffer) else []
        inner: dict[Buffer, bool] = {}  # whether its first touch is a write
        for part in (step.condition, step.body):
            if part is not None:
                for s in part.walk():
                    nested = isinstance(s, Branch | Repeat)
                    for b in s.reads():
                        inner.setdefault(self.home(b), False)
                    for b in s.writes():
                        inner.setdefault(self.home(b), not nested)
                self.visit(part)
        self.clock += 1
        for b in lasting:
            self.touch(b, begin)
            self.touch(b, self.clock)
        for b, local in inner.items():
            if not local or b in before:
                self.touch(b, begin)
                self.touch(b, self.clock)
