"""What a program needs of memory, in words: planned, most alive at once, and value by value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.loops import Invoke, Item, Program
from mycelia.loops.rename import is_again
from mycelia.notation import type_text
from mycelia.schedule.memory import buffer_bytes, placed_items
from mycelia.sizes import hint


def memory_report(program: Program, room: Callable[[Invoke], int]) -> str:
    """A line for each value of the arena, in the order in which they begin to live, and what they come to; at the sizes
    that the program is written at. `room` is what a library call needs for itself.
    """
    fixed = {*program.inputs, *program.outputs, *program.constants}
    items, arena = placed_items(program.block, fixed, program.shared, room)
    new = [b for b in program.outputs if b not in program.inputs]
    sides = {"inputs": program.inputs, "new results": new, "constants": program.constants}
    outside = ", ".join(f"{sum(hint(buffer_bytes(b)) for b in side):,} of {name}" for name, side in sides.items())
    apart, (peak, when) = sum(hint(i.nbytes) for i, _ in items), _peak([i for i, _ in items])
    lines = [
        f"arena: {arena:,} bytes planned; {apart:,} if nothing shared room",
        f"most alive at once: {peak:,} bytes, at step {when - 1}" if items else "nothing lives only during a call",
        f"outside the arena: {outside}",
    ]
    steps = list(program.walk())
    if repeated := sum(any(map(is_again, s.writes())) for s in program.block.steps):
        lines.append(f"done again: {repeated} of {len(program.block.steps)} steps")
    types = {b.name: b.type for s in steps for b in (*s.reads(), *s.writes())}

    def who(item: Item) -> str:
        if isinstance(item.who, str):
            return f"{item.who}: {type_text(types[item.who])}" if item.who in types else item.who
        step = steps[item.who]
        assert isinstance(step, Invoke), f"{step} needs no room for itself"
        return f"room of {type(step.call).__name__}, step {item.who}"

    ordered = sorted(items, key=lambda x: (x[0].first, x[1]))
    rows = [(f"{at:,}", f"{hint(i.nbytes):,}", f"{i.first - 1}-{i.last - 1}", who(i)) for i, at in ordered]
    return "\n".join([*lines, *_columns([("at", "bytes", "steps", "value"), *rows])] if rows else lines)


def _peak(items: Sequence[Item]) -> tuple[int, int]:
    """The most bytes that are alive at one time, and the first such time."""
    alive = {n: sum(hint(i.nbytes) for i in items if i.first <= n <= i.last) for n in {i.first for i in items}}
    most = max(alive.values(), default=0)
    return most, min((n for n, size in alive.items() if size == most), default=0)


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A table: numbers at the right, words at the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [f"  {row[0]:>{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}" for row in rows]
