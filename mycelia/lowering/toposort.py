"""An order for things that must come after one another."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush


def in_sequence(after: Mapping[int, set[int]]) -> list[int] | None:
    """Numbers in order, the smallest first where there is a choice; None if they go round in a circle."""
    left = {n: len(before) for n, before in after.items()}
    followers: dict[int, list[int]] = {n: [] for n in after}
    for n, before in after.items():
        for b in before:
            followers[b].append(n)
    ready = [n for n, count in left.items() if not count]
    heapify(ready)
    order = []
    while ready:
        n = heappop(ready)
        order.append(n)
        for f in followers[n]:
            left[f] -= 1
            if not left[f]:
                heappush(ready, f)
    return order if len(order) == len(after) else None
