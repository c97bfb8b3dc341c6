"""One arena for everything that lives only during a call: buffers that are never alive together share room."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mycelia.loops import Block, Branch, Buffer, Invoke, Place, Plan, Repeat, Step

ALIGN = 64


def plan_memory(
    block: Block, fixed: Mapping[Buffer, int], shared: Mapping[Buffer, Buffer], room: Callable[[Invoke], int]
) -> Plan:
    """Give every buffer of `block` a place. `fixed` ones have a slot of their own; `shared` ones lie in another's."""
    spans = _Spans(shared)
    spans.visit(block)
    places = {b: Place(slot) for b, slot in fixed.items()}
    wanted: list[tuple[int, int, int, Buffer | int]] = []  # bytes, first, last, who
    for buffer, (first, last) in spans.life.items():
        if buffer not in places:
            wanted.append((max(buffer_bytes(buffer), 1), first, last, buffer))
    for step, when in spans.calls:
        if size := room(step):
            wanted.append((size, when, when, id(step)))
    wanted.sort(key=lambda w: (-w[0], w[1]))
    taken: list[tuple[int, int, int, int]] = []  # offset, end, first, last
    rooms: dict[int, int] = {}
    arena = 0
    for size, first, last, who in wanted:
        offset = _first_fit(size, sorted(t for t in taken if t[2] <= last and first <= t[3]))
        taken.append((offset, offset + size, first, last))
        arena = max(arena, offset + size)
        if isinstance(who, Buffer):
            places[who] = Place(None, offset)
        else:
            rooms[who] = offset
    for b in shared:
        if (home := spans.home(b)) in places:
            places[b] = places[home]
    return Plan(places, rooms, _aligned(arena))


def buffer_bytes(buffer: Buffer) -> int:
    """The room that a buffer takes, also when its strides leave gaps."""
    if not buffer.type.size:
        return 0
    last = sum((n - 1) * s for n, s in zip(buffer.type.shape, buffer.strides, strict=True))
    return (last + 1) * buffer.type.dtype.itemsize


def _first_fit(size: int, busy: list[tuple[int, int, int, int]]) -> int:
    at = 0
    for offset, end, _, _ in busy:
        if offset - at >= size:
            return at
        at = max(at, _aligned(end))
    return at


def _aligned(n: int) -> int:
    return (n + ALIGN - 1) // ALIGN * ALIGN


class _Spans:
    """From when to when each buffer is alive, in numbers of steps."""

    def __init__(self, shared: Mapping[Buffer, Buffer]) -> None:
        self.shared = shared
        self.clock = 0
        self.life: dict[Buffer, tuple[int, int]] = {}
        self.calls: list[tuple[Invoke, int]] = []

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
        if isinstance(step, Branch):
            self.touch(step.predicate, self.clock)
            self.visit(step.then)
            self.visit(step.otherwise)
        elif isinstance(step, Repeat):
            self._loop(step)
        else:
            if isinstance(step, Invoke):
                self.calls.append((step, self.clock))
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
