"""Run a program on a memory that only knows whose bytes are whose: the judge of memory plans.

Every byte of the arena remembers which buffer was written there last. What is read must be there still.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mycelia.loops import Block, Branch, Buffer, Invoke, Launch, Plan, Program, Repeat, Step, Store
from mycelia.schedule import buffer_bytes


def _stored(step: Step) -> set[Buffer]:
    """What a kernel stores: it reads that in a later sweep, or where it has just been written."""
    if not isinstance(step, Launch):
        return set()
    return {a.buffer for s in step.kernel.sweeps for a in (*s.actions, *s.after) if isinstance(a, Store)}


class Shadow:
    """The arena of one plan. `choose` decides branches."""

    def __init__(self, plan: Plan, program: Program, room: Callable[[Invoke], int], choose: Callable[[], bool]) -> None:
        self.plan, self.shared, self.room, self.choose = plan, program.shared, room, choose
        self.steps = {id(s): n for n, s in enumerate(program.walk())}
        self.owner = np.zeros(plan.arena, np.int64)
        self.numbers: dict[object, int] = {}

    def number(self, owner: object) -> int:
        return self.numbers.setdefault(owner, len(self.numbers) + 1)

    def home(self, buffer: Buffer) -> Buffer:
        while buffer in self.shared:
            buffer = self.shared[buffer]
        return buffer

    def bytes(self, buffer: Buffer) -> slice:
        place = self.plan.places[buffer]
        if place.slot is not None:
            return slice(0)
        assert place.offset % 64 == 0, f"{buffer} is not aligned"
        return slice(place.offset, place.offset + buffer_bytes(buffer))

    def read(self, buffer: Buffer, step: object) -> None:
        found = set(np.unique(self.owner[self.bytes(buffer)])) - {self.number(self.home(buffer))}
        assert not found, f"{step} reads {buffer}, but there lies {[b for b, n in self.numbers.items() if n in found]}"

    def write(self, buffer: Buffer) -> None:
        self.owner[self.bytes(buffer)] = self.number(self.home(buffer))

    def run(self, block: Block) -> None:
        for step in block.steps:
            self.step(step)

    def step(self, step: Step) -> None:
        if isinstance(step, Branch):
            self.read(step.predicate, step)
            self.run(step.then if self.choose() else step.otherwise)
        elif isinstance(step, Repeat):
            self.repeat(step)
        else:
            for b in step.reads():
                if b not in _stored(step):
                    self.read(b, step)
            for b in step.writes():
                self.write(b)
            if isinstance(step, Invoke) and (size := self.room(step)):
                start = self.plan.rooms[self.steps[id(step)]]
                self.owner[start : start + size] = self.number(id(step))
            for b in (*step.reads(), *step.writes()):  # while it runs, everything it uses is there at once
                self.read(b, step)

    def repeat(self, step: Repeat) -> None:
        self.write(step.count)
        for stream in step.writing:
            self.write(stream.handle)
        for _ in range(3):
            if step.condition is not None and step.predicate is not None:
                self.run(step.condition)
                self.read(step.predicate, step)
            if isinstance(step.length, Buffer):
                self.read(step.length, step)
            self.read(step.count, step)
            for stream in step.reading:
                self.read(stream.handle, step)
                self.write(stream.item)
            self.run(step.body)
            for stream in step.writing:
                self.read(stream.item, step)
                self.read(stream.handle, step)
