"""Rematerialisation: steps are done a second time, so that what they made need not wait in memory.

    forward      a b c d e f g h        peak
    kept         a     d     g h        the rest of the way back starts from these
    backward     h' g'  [e f] f' e' d'  [b c] c' b' a'

The program is looked at where most memory lives. Of what was made before and is read after, some is kept, and the rest
is made again by the same steps, right before it is read. These are the same kernels and library calls over the same
numbers, so everything comes out equal bit by bit, whatever is kept: nothing about fusion or rounding changes.

What is kept follows from two ways of cutting. `cheap`: products are kept, and what lies between them is made again;
which values are the fewest bytes says a minimum cut. `segments`: the steps before the peak are cut into segments, of
which only the borders are kept. The first may be long, and those that come later are shorter, because more borders are
kept by then: for equal layers, about the square root of twice their number is alive at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

from mycelia.errors import OutOfMemory
from mycelia.frozen import frozen
from mycelia.loops import Block, Buffer, Copy, Invoke, Launch, Program, Step
from mycelia.loops.rename import again_in, over
from mycelia.mincut import least_kept
from mycelia.options import Memory
from mycelia.schedule.lives import Lives, Room, lives
from mycelia.schedule.memory import arena_bytes
from mycelia.schedule.order import orders
from mycelia.target import Target

ROUNDS = 4  # peaks that are looked at one after the other
FINENESS = 48  # lengths of segments that are tried
SHRINKING = 0.94  # each is so much of the one before
SPARE = 0.3  # of the time of a program, how much more "auto" may take: about one more way forward


def with_memory(program: Program, memory: Memory, target: Target, room: Room) -> Program:
    """The program that keeps what was asked for, or what is within the budget; in whichever order needs least."""
    starts = orders(program, room)
    if memory.budget is not None:
        return _within(starts, memory.budget, target, room)
    if memory.keep == "everything":
        return starts[0]
    found = [POLICIES[memory.keep](start, target, room) for start in starts]
    return min(found, key=lambda made: max(lives(made, room).live, default=0))


def _everything(program: Program, target: Target, room: Room) -> Program:
    return program


def _nothing(program: Program, target: Target, room: Room) -> Program:
    at = Peak(lives(program, room), target)
    return at.replayed(at.must).program(program)


def _dots(program: Program, target: Target, room: Room) -> Program:
    at = Peak(lives(program, room), target)
    products = at.cheap()
    tried = [at.replayed(k) for length in at.lengths if (k := at.segments(length, products, at.highest)) is not None]
    return min(tried, key=lambda r: (r.highest, r.seconds)).program(program) if tried else program


def _auto(program: Program, target: Target, room: Room) -> Program:
    at = Peak(lives(program, room), target)
    allowed = SPARE * at.seconds
    fitting = [r for r in at.ways() if r.seconds <= allowed]
    best = min(fitting, key=lambda r: (r.highest, r.seconds), default=None)
    return program if best is None or best.highest >= at.highest else best.program(program)


POLICIES: dict[str, Callable[[Program, Target, Room], Program]] = {
    "everything": _everything,
    "dots": _dots,
    "nothing": _nothing,
    "auto": _auto,
}


def _within(starts: Sequence[Program], budget: int, target: Target, room: Room) -> Program:
    """A program that needs no more than `budget` bytes; an error that tells the least that was found."""
    needed = [arena_bytes(start, room) for start in starts]
    for start, least in zip(starts, needed, strict=True):
        if least <= budget:
            return start
    least = min(needed)
    for start in starts:
        made = _shrunk(start, budget, target, room)
        if isinstance(made, Program):
            return made
        least = min(least, made)
    raise OutOfMemory(
        f"this program needs {least:,} bytes at least for what it computes with, and {budget:,} are allowed",
        given={"memory_budget": budget, "least": least},
        hint="allow more, make batches smaller, or cut the function where fewer values live",
    )


def _shrunk(start: Program, budget: int, target: Target, room: Room) -> Program | int:
    """The fastest program found, in this order, that needs no more than `budget` bytes; else the least of them all."""
    least = arena_bytes(start, room)
    for _ in range(ROUNDS):
        at = Peak(lives(start, room), target)
        found = sorted(at.ways(), key=lambda r: r.seconds)
        for r in found:
            if r.highest <= budget:
                made = r.program(start)
                if arena_bytes(made, room) <= budget:
                    return made
        found.sort(key=lambda r: r.highest)
        for r in found:
            if r.highest < least:  # the arena may be smaller: of a branch, only one side lives
                made = r.program(start)
                least = min(least, arena_bytes(made, room))
                if least <= budget:
                    return made
        best = next(iter(found), None)
        if best is None or best.highest >= at.highest:
            break
        start = best.program(start)  # the next peak is another one
    return least


@frozen
class Repetition:
    """A program with steps done again: their numbers in the order in which they run."""

    peak: Peak
    trace: tuple[tuple[int, bool], ...]  # a step, and whether it is done again
    seconds: float  # what the steps that are done again take
    highest: int  # bytes that live at once

    def program(self, original: Program) -> Program:
        """The steps, where what is made again has buffers of its own."""
        about = self.peak.lives
        new: dict[Buffer, Buffer] = {}
        names = {b.name for held in about.buffers for b in held}
        steps: list[Step] = []
        for n, again in self.trace:
            step = about.steps[n]
            if again:
                for c in about.writes[n]:
                    for b in about.buffers[c]:
                        new[b] = again_in(b, names)
            if new and isinstance(step, Launch | Invoke | Copy):
                touched = {b: new[b] for b in (*step.reads(), *step.writes()) if b in new}
                step = over(step, touched) if touched else step
            steps.append(step)
        return replace(original, block=Block(tuple(steps)))


@frozen
class Peak:
    """A program where most of its memory lives: what was made before, and what is read after."""

    lives: Lives
    target: Target

    @cached_property
    def place(self) -> int:
        """The step at which most lives; from here on things are made again."""
        return self.lives.peak

    @cached_property
    def highest(self) -> int:
        return max(self.lives.live, default=0)

    @cached_property
    def costs(self) -> list[float]:
        """The seconds of each step; nothing is known of those that cannot be done again."""
        plain = (Launch, Invoke, Copy)
        return [s.cost.seconds(self.target) if isinstance(s, plain) else 0.0 for s in self.lives.steps]

    @property
    def seconds(self) -> float:
        """How long the program takes as it is."""
        return sum(self.costs)

    @cached_property
    def made(self) -> dict[int, int]:
        """The cells that can be made again, each with the step that makes it."""
        about = self.lives
        return {c: n for n in range(self.place) if about.repeatable[n] for c in about.writes[n]}

    @cached_property
    def needed(self) -> set[int]:
        """Of these, the cells that are read at the peak or after it."""
        return {c for c in self.made if self.lives.readers[c] and self.lives.readers[c][-1] >= self.place}

    @cached_property
    def changed(self) -> dict[int, int]:
        """The first step from the peak on that writes into a fixed cell: what is made from it is not, later."""
        about = self.lives
        return {
            c: next((n for n in w if n >= self.place), len(about.steps))
            for c, w in enumerate(about.writers)
            if about.fixed[c]
        }

    @cached_property
    def must(self) -> frozenset[int]:
        """What is kept whatever is decided: steps with others inside read it, or what it is made of changes first."""
        about = self.lives
        late = about.steps[self.place :]
        inside = {c for n, s in enumerate(late, self.place) if not isinstance(s, Launch | Invoke | Copy)
                  for c in about.reads[n]}  # fmt: skip
        other = {
            c
            for c, n in self.made.items()
            if any(n < m < self.place for x in about.reads[n] if about.fixed[x] for m in about.writers[x])
        }
        return frozenset((inside & set(self.made)) | other)

    # ------------------------------------------------------------------------------------------ what to keep

    @property
    def lengths(self) -> list[int]:
        """Bytes that a program is tried in, the most first: the same for all budgets, so what fits one fits more."""
        return [int(self.highest * SHRINKING**n) for n in range(FINENESS)]

    def ways(self) -> Iterator[Repetition]:
        """Programs that need less memory and take longer, each in its way."""
        if not self.needed:
            return
        tried: set[frozenset[int]] = set()
        for base in (self.must, self.cheap()):
            for length in self.lengths:
                for enough in (self.highest - length, self.highest):
                    kept = self.segments(length, base, enough)
                    if kept is not None and kept not in tried:
                        tried.add(kept)
                        yield self.replayed(kept)

    def cheap(self, wanted: Iterable[int] | None = None, since: int = 0) -> frozenset[int]:
        """The fewest bytes from which all that is `wanted` can be made without products, by steps that come `since`."""
        about = self.lives

        def made_from(c: int) -> list[int] | None:
            n = self.made[c]
            if n < since or c in self.must or about.steps[n].dear:  # type: ignore[union-attr]  # it is plain
                return None
            read = [x for x in about.reads[n] if not about.fixed[x]]
            return read if all(x in self.made for x in read) else None

        return self.must | frozenset(least_kept(self.needed if wanted is None else wanted, made_from, about.size))

    def segments(self, most: int, base: frozenset[int], enough: int) -> frozenset[int] | None:
        """The base, and borders of segments so that what is kept and one segment take `most` bytes at most. When
        `enough` bytes are saved, all that comes later is kept. None if it does not go.
        """
        about, size, wanted = self.lives, self.lives.size, self.needed - base
        kept = set(base)
        held = sum(size[c] for c in base)
        begin, inside, saved = 0, 0, 0
        seen: list[tuple[int, int, int]] = []  # of this segment: bytes inside, bytes that cross, the step before
        for n in range(self.place):
            crossing = self.crossing[n]
            inside += sum(size[c] for c in about.writes[n] if c in wanted)
            seen.append((inside, crossing, n))
            full = held + inside + crossing > most
            if not full and saved + inside - crossing < enough:
                continue
            long = [(crosses, m) for within, crosses, m in seen if 2 * within >= inside]
            least = min(long)[0]
            if not full and crossing > least:
                continue  # enough is saved at the next good place
            at = max(m for crosses, m in long if 4 * crosses <= 5 * least)
            more = self._border(at, begin) - kept
            kept |= more
            held += sum(size[c] for c in more)
            if held > most:
                return None
            mine = [c for m in range(begin, at + 1) for c in about.writes[m] if c in wanted]
            saved += sum(size[c] for c in mine if c not in kept)
            begin = at + 1
            if saved >= enough:
                break
            behind = sum(size[c] for c in mine)
            seen = [(within - behind, crosses, m) for within, crosses, m in seen if m > at]
            inside -= behind
        return frozenset(kept | {c for c in wanted if self.made[c] >= begin})

    @cached_property
    def crossing(self) -> list[int]:
        """For each step before the peak, the bytes that were made up to it and are read behind it, before the peak."""
        change = [0] * (self.place + 1)
        for c, last in self.early.items():
            change[self.made[c]] += self.lives.size[c]
            change[last] -= self.lives.size[c]
        return list(accumulate(change[: self.place]))

    @cached_property
    def early(self) -> dict[int, int]:
        """The last step before the peak that reads each cell, if there is one."""
        before = {c: [m for m in self.lives.readers[c] if m < self.place] for c in self.made}
        return {c: reading[-1] for c, reading in before.items() if reading}

    def _border(self, at: int, begin: int) -> frozenset[int]:
        """What to keep so that steps behind `at` need nothing else of what was made up to there."""
        return self.cheap([c for c, last in self.early.items() if self.made[c] <= at < last], begin)

    # ------------------------------------------------------------------------------------------ doing it again

    def replayed(self, keep: frozenset[int]) -> Repetition:
        """The program that keeps these cells, and makes the others again when they are read."""
        while True:
            trace, stale = self._trace(keep)
            if not stale:
                break
            keep |= stale
        again = sum(self.costs[n] for n, second in trace if second)
        return Repetition(self, tuple(trace), again, self._highest(trace))

    def _trace(self, keep: frozenset[int]) -> tuple[list[tuple[int, bool]], set[int]]:
        """Steps in order; and cells that would have to be made from what has changed since."""
        about, made, changed = self.lives, self.made, self.changed
        trace = [(n, False) for n in range(self.place)]
        remade: set[int] = set()
        stale: set[int] = set()
        for now in range(self.place, len(about.steps)):
            stack = [(c, False) for c in about.reads[now]]
            while stack:
                c, ready = stack.pop()
                if c in remade or c in keep or c not in made:
                    continue
                n = made[c]
                if not ready:
                    stack.append((c, True))
                    stack += [(x, False) for x in reversed(about.reads[n])]
                    continue
                if any(changed.get(x, now) < now for x in about.reads[n]):
                    stale.add(c)
                trace.append((n, True))
                remade.update(about.writes[n])
            trace.append((now, False))
        return trace, stale

    def _highest(self, trace: list[tuple[int, bool]]) -> int:
        """The bytes that live at once."""
        about, cells = self.lives, len(self.lives.size)
        touched = self.touched
        first, last = [-1] * (2 * cells), [0] * (2 * cells)  # of each cell, and of what is made again in its place
        shift = [0] * cells
        for t, (n, again) in enumerate(trace):
            if again:
                for c in about.writes[n]:
                    shift[c] = cells
            for c in touched[n]:
                at = c + shift[c]
                if first[at] < 0:
                    first[at] = t
                last[at] = t
        change = [0] * (len(trace) + 1)
        for at, t in enumerate(first):
            if t >= 0:
                size = about.size[at % cells]
                change[t] += size
                change[last[at] + 1] -= size
        rooms = about.rooms
        return max((total + rooms[n] for total, (n, _) in zip(accumulate(change), trace, strict=False)), default=0)

    @cached_property
    def touched(self) -> list[tuple[int, ...]]:
        """The cells that each step reads or writes."""
        return [(*r, *w) for r, w in zip(self.lives.reads, self.lives.writes, strict=True)]
