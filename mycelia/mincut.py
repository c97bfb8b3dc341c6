"""Minimum cuts: what to keep of a computation so that the rest can be made again, with the fewest bytes.

The theorem is that of Ford and Fulkerson: the least that must be kept is the most that can flow. The algorithm is
Dinic's: shortest ways first, as many of equal length as there are in one sweep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

Node = TypeVar("Node")
Key = TypeVar("Key", contravariant=True)
ENDLESS = 1 << 62


class Weights(Protocol[Key]):
    """How large each value is."""

    def __getitem__(self, key: Key, /) -> int: ...


class Network:
    """Pipes between numbered places. A pipe and its way back stand side by side: `pipe ^ 1` is the other."""

    def __init__(self, places: int) -> None:
        self.out: list[list[int]] = [[] for _ in range(places)]
        self.to: list[int] = []
        self.left: list[int] = []  # how much more can flow

    def add(self, a: int, b: int, capacity: int) -> None:
        """A pipe from a to b."""
        for source, target, room in ((a, b, capacity), (b, a, 0)):
            self.out[source].append(len(self.to))
            self.to.append(target)
            self.left.append(room)

    def saturate(self, source: int, sink: int) -> int:
        """Let as much flow from source to sink as can, and say how much that is.

        >>> pipes = Network(3)
        >>> pipes.add(0, 1, 5)
        >>> pipes.add(1, 2, 3)
        >>> pipes.saturate(0, 2)
        3
        """
        total = 0
        while (distance := self._distances(source))[sink] >= 0:
            total += self._sweep(source, sink, distance)
        return total

    def _distances(self, source: int) -> list[int]:
        """How many pipes that are not full lie between the source and each place; -1 where nothing can flow."""
        found = [-1] * len(self.out)
        found[source] = 0
        queue = deque([source])
        while queue:
            here = queue.popleft()
            for pipe in self.out[here]:
                there = self.to[pipe]
                if self.left[pipe] and found[there] < 0:
                    found[there] = found[here] + 1
                    queue.append(there)
        return found

    def _sweep(self, source: int, sink: int, distance: list[int]) -> int:
        """Fill shortest ways until there is none of that length."""
        out, to, left = self.out, self.to, self.left
        first = [0] * len(out)  # of the pipes of each place: those before it lead nowhere any more
        total, here, way = 0, source, list[int]()
        while True:
            if here == sink:
                flow = min([left[pipe] for pipe in way])
                total += flow
                for pipe in way:
                    left[pipe] -= flow
                    left[pipe ^ 1] += flow
                full = next(n for n, pipe in enumerate(way) if not left[pipe])
                here = to[way[full] ^ 1]  # go on from the first pipe that is full now
                del way[full:]
            pipes, n, next_ = out[here], first[here], distance[here] + 1
            while n < len(pipes) and not (left[pipes[n]] and distance[to[pipes[n]]] == next_):
                n += 1
            first[here] = n
            if n < len(pipes):
                way.append(pipes[n])
                here = to[pipes[n]]
            elif way:
                here = to[way.pop() ^ 1]
                first[here] += 1
            else:
                return total

    def reached(self, source: int) -> set[int]:
        """The places on the source's side of the cut, when all is saturated."""
        return {place for place, far in enumerate(self._distances(source)) if far >= 0}


def least_kept(
    wanted: Iterable[Node], made_from: Callable[[Node], Sequence[Node] | None], size: Weights[Node]
) -> list[Node]:
    """What to keep so that everything `wanted` can be made again from it, with the smallest size in all.

    `made_from` says from what a value can be made again: from nothing (it costs nothing to have), or, where it is None,
    not at all: it must be kept, or what is made from it. Among several answers it is the one nearest to `wanted`, with
    the least to make again.

    >>> least_kept(["c"], {"a": None, "b": ["a"], "c": ["b"]}.get, {"a": 8, "b": 2, "c": 4})
    ['b']
    """
    number: dict[Node, int] = {}
    sources: list[Sequence[Node] | None] = []
    stack = list(wanted)
    ends = set(stack)
    while stack:  # everything that the wanted values are made from
        v = stack.pop()
        if v not in number:
            number[v] = len(number)
            sources.append(made_from(v))
            stack.extend(sources[-1] or ())
    sink, source = 2 * len(number), 2 * len(number) + 1
    pipes = Network(2 * len(number) + 2)
    # the flow runs from what is wanted to what it is made from: then the places that it reaches are the nearest cut
    for v, n in number.items():
        pipes.add(2 * n, 2 * n + 1, size[v])
        if v in ends:
            pipes.add(source, 2 * n, ENDLESS)
        inputs = sources[n]
        if inputs is None:
            pipes.add(2 * n + 1, sink, ENDLESS)
        for x in dict.fromkeys(inputs or ()):
            pipes.add(2 * n + 1, 2 * number[x], ENDLESS)
    pipes.saturate(source, sink)
    side = pipes.reached(source)
    return [v for v, n in number.items() if 2 * n in side and 2 * n + 1 not in side]
