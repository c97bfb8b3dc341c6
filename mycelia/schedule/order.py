"""The order of steps: what needs least is finished first, so that little has to wait in memory.

Lowering writes steps down in the order in which results ask for them. For a training step that is the way forward, then
all cotangents of activations, then the gradients and updates of parameters from the first layer to the last: what the
last layer's gradient is made of waits through all of it. Here each result is finished as soon as it can be: the one
with the fewest steps before it comes first, and what it needs right before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mycelia.loops import Block, Copy, Invoke, Launch, Program, Step
from mycelia.schedule.lives import Lives, Room, lives


def in_good_order(program: Program, room: Room) -> Program:
    """The same steps in an order in which less memory lives at once, if there is one."""
    return orders(program, room)[0]


def orders(program: Program, room: Room) -> list[Program]:
    """The program as lowering wrote it, and with each result finished early; the one in which less lives comes first.

    The other one may still be better to start from when things are made again: early gradients may need more room at
    the peak than they save there, and all cotangents wait for late ones.
    """
    before = lives(program, room)
    order = [n for stretch in _stretches(before.steps) for n in _finished_early(before, stretch)]
    steps = tuple(before.steps[n] for n in order)
    if steps == before.steps:
        return [program]
    early = replace(program, block=Block(steps))
    better = max(lives(program, room, steps).live, default=0) < max(before.live, default=0)
    return [early, program] if better else [program, early]


def _stretches(steps: Sequence[Step]) -> list[range]:
    """Steps between those that others may not cross: effects, control flow, sizes that come out of data."""
    ends = [n for n, s in enumerate(steps) if not isinstance(s, Launch | Invoke | Copy)]
    found, start = [], 0
    for n in (*ends, len(steps)):
        found += [range(start, n), range(n, min(n + 1, len(steps)))]
        start = n + 1
    return found


def _finished_early(about: Lives, stretch: range) -> list[int]:
    """The steps of a stretch, each after those that must come before it."""
    before = _before(about, stretch)
    needs: dict[int, int] = {}  # all that comes before a step, as a set of bits
    for n in stretch:
        bits = 0
        for m in before[n]:
            bits |= needs[m] | 1 << (m - stretch.start)
        needs[n] = bits
    depth = {n: bits.bit_count() for n, bits in needs.items()}
    last = set(stretch).difference(*before.values())
    done: dict[int, None] = {}
    for end in sorted(last, key=lambda n: (depth[n], n)):
        stack = [(end, False)]
        while stack:
            n, ready = stack.pop()
            if ready:
                done[n] = None
            elif n not in done:
                stack.append((n, True))
                stack += [(m, False) for m in sorted(before[n], key=lambda m: (depth[m], -m)) if m not in done]
    return list(done)


def _before(about: Lives, stretch: range) -> dict[int, set[int]]:
    """For each step, those that it must follow: who wrote what it reads, and who touched what it writes."""
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    found: dict[int, set[int]] = {}
    for n in stretch:
        touched = {writer[c] for c in (*about.reads[n], *about.writes[n]) if c in writer}
        touched.update(m for c in about.writes[n] for m in readers.get(c, ()))
        for c in about.reads[n]:
            readers.setdefault(c, []).append(n)
        for c in about.writes[n]:
            writer[c], readers[c] = n, []
        found[n] = touched - {n}
    return found
