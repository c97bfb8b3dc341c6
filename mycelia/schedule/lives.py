"""From when to when the buffers of a program live, and how much memory lives at each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from mycelia.frozen import frozen
from mycelia.loops import Buffer, Copy, Invoke, Launch, Program, Step
from mycelia.loops.program import ALIGN
from mycelia.schedule.memory import buffer_bytes
from mycelia.sizes import hint

Room = Callable[[Invoke], int]  # the bytes that a library call needs beside its operands


@frozen
class Lives:
    """The outermost steps of a program as readers and writers of memory.

    A *cell* is a piece of memory: a buffer and all that lie in it. Cells are numbered. Those that hold inputs, results
    and constants are `fixed`: they are there before and after, and take nothing of the arena.
    """

    steps: tuple[Step, ...]
    reads: tuple[tuple[int, ...], ...]
    writes: tuple[tuple[int, ...], ...]
    size: tuple[int, ...]  # of each cell in the arena; 0 for fixed ones
    fixed: tuple[bool, ...]
    buffers: tuple[tuple[Buffer, ...], ...]  # of each cell
    rooms: tuple[int, ...]  # of each step

    @cached_property
    def writers(self) -> list[list[int]]:
        """The steps that write each cell."""
        return _where(self.writes, len(self.size))

    @cached_property
    def readers(self) -> list[list[int]]:
        """The steps that read each cell."""
        return _where(self.reads, len(self.size))

    @cached_property
    def repeatable(self) -> tuple[bool, ...]:
        """Whether a step can be done a second time, into other cells: it is plain, all that it writes is written by
        nobody else, and nobody changes what it reads in the arena.
        """
        single = [len(w) == 1 and len(b) == 1 for w, b in zip(self.writers, self.buffers, strict=True)]

        def can(n: int, step: Step) -> bool:
            return (
                isinstance(step, Launch | Invoke | Copy)
                and all(single[c] and not self.fixed[c] and c not in self.reads[n] for c in self.writes[n])
                and all(self.fixed[c] or single[c] for c in self.reads[n])
            )

        return tuple(can(n, s) for n, s in enumerate(self.steps))

    @cached_property
    def live(self) -> list[int]:
        """The bytes that live at each step."""
        change = [0] * (len(self.steps) + 1)
        for c, size in enumerate(self.size):
            times = [*self.writers[c], *self.readers[c]]
            if size and times:
                change[min(times)] += size
                change[max(times) + 1] -= size
        found, total = [], 0
        for n, room in enumerate(self.rooms):
            total += change[n]
            found.append(total + room)
        return found

    @property
    def peak(self) -> int:
        """The step at which most lives."""
        return max(range(len(self.steps)), key=self.live.__getitem__, default=0)


def _where(lists: Sequence[Sequence[int]], cells: int) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(cells)]
    for n, each in enumerate(lists):
        for c in each:
            found[c].append(n)
    return found


def lives(program: Program, room: Room, steps: Sequence[Step] | None = None) -> Lives:
    """The lives of what a program computes with; of its `steps` in another order, if these are given."""
    listed = tuple(program.block.steps if steps is None else steps)
    fixed = {*program.inputs, *program.outputs, *program.constants}
    number: dict[Buffer, int] = {}
    cells: list[list[Buffer]] = []

    def cell(b: Buffer) -> int:
        home = _home(b, program.shared)
        if home not in number:
            number[home] = len(cells)
            cells.append([])
        if b not in cells[number[home]]:
            cells[number[home]].append(b)
        return number[home]

    reads = tuple(tuple(dict.fromkeys(cell(b) for b in s.reads())) for s in listed)
    writes = tuple(tuple(dict.fromkeys(cell(b) for b in s.writes())) for s in listed)
    homes = [_home(c[0], program.shared) for c in cells]
    return Lives(
        listed,
        reads,
        writes,
        tuple(0 if h in fixed else aligned(hint(buffer_bytes(h))) for h in homes),
        tuple(h in fixed for h in homes),
        tuple(map(tuple, cells)),
        tuple(aligned(room(s)) if isinstance(s, Invoke) else 0 for s in listed),
    )


def _home(b: Buffer, shared: Mapping[Buffer, Buffer]) -> Buffer:
    while b in shared:
        b = shared[b]
    return b


def aligned(n: int) -> int:
    """The bytes that as many take in an arena."""
    return -(-n // ALIGN) * ALIGN
