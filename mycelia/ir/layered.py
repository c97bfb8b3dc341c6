"""Places for boxes on layers, so that lines between them are short, straight and seldom cross (Sugiyama's method).

Three steps: lines over several layers get a small box on each layer between (`_with_bends`); boxes of a layer are put
in the order of the mean place of their neighbours, layer by layer, down and up (`_ordered`); then each box moves as
near as it can to its neighbours without overtaking or touching the one beside it, by isotonic regression (`_apart`).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

from mycelia.frozen import frozen

ACROSS, DOWN = 18.0, 32.0  # between boxes of a layer, and between layers
BEND = 6.0  # what a line takes where it passes a layer
STRAIGHT = 4.0  # how much more a line wants to be straight where it passes a layer than where it meets a box
SWEEPS = 24

Point = tuple[float, float]


@frozen
class Placed:
    """The left upper corner of each box; for each line, where its first layer ends, and where it enters and leaves each
    layer that it passes; and the size of the whole.
    """

    corners: tuple[Point, ...]
    ends: tuple[float, ...]
    passes: tuple[tuple[tuple[float, float, float], ...], ...]  # across, from, to
    width: float
    height: float


def place(
    sizes: Sequence[Point], ranks: Sequence[int], lines: Sequence[tuple[int, int]], weights: Sequence[float] = ()
) -> Placed:
    """Places for boxes of these sizes on these layers, and for lines between them, which go down. A line of more weight
    is straighter.

    >>> place([(20, 10), (20, 10)], [0, 1], [(0, 1)]).corners
    ((0.0, 0.0), (0.0, 42.0))
    """
    widths = [w for w, _ in sizes]
    layers: list[list[int]] = [[] for _ in range(max(ranks, default=0) + 1)]
    for box, rank in enumerate(ranks):
        layers[rank].append(box)
    links, chains = _with_bends(widths, layers, ranks, lines, weights or [1.0] * len(lines))
    above: list[dict[int, float]] = [{} for _ in widths]
    below: list[dict[int, float]] = [{} for _ in widths]
    for a, b, weight in links:
        below[a][b] = above[b][a] = below[a].get(b, 0.0) + weight
    _ordered(layers, above, below)
    centres = _settled(layers, widths, above, below)
    spans, top = [], 0.0
    for layer in layers:
        tall = max((sizes[b][1] for b in layer if b < len(sizes)), default=0.0)
        spans.append((top, top + tall))
        top += tall + DOWN
    left = min((c - w / 2 for c, w in zip(centres, widths, strict=True)), default=0.0)
    right = max((c + w / 2 for c, w in zip(centres, widths, strict=True)), default=0.0)
    corners = tuple((centres[b] - widths[b] / 2 - left, spans[r][0]) for b, r in enumerate(ranks))
    passes = tuple(
        tuple((centres[b] - left, *spans[ranks[a] + 1 + i]) for i, b in enumerate(chain))
        for (a, _), chain in zip(lines, chains, strict=True)
    )
    return Placed(corners, tuple(spans[ranks[a]][1] for a, _ in lines), passes, right - left, max(top - DOWN, 0.0))


def _with_bends(
    widths: list[float],
    layers: list[list[int]],
    ranks: Sequence[int],
    lines: Sequence[tuple[int, int]],
    weights: Sequence[float],
) -> tuple[list[tuple[int, int, float]], list[list[int]]]:
    """Links between neighbouring layers, and the boxes that each line has on the layers that it passes."""
    links, chains = [], []
    for (a, b), weight in zip(lines, weights, strict=True):
        assert ranks[a] < ranks[b], f"a line from layer {ranks[a]} to layer {ranks[b]} does not go down"
        chain = []
        for rank in range(ranks[a] + 1, ranks[b]):
            chain.append(len(widths))
            layers[rank].append(len(widths))
            widths.append(BEND)
        for x, y in zip([a, *chain], [*chain, b], strict=True):
            both = x in chain and y in chain
            links.append((x, y, STRAIGHT if both else weight))
        chains.append(chain)
    return links, chains


Near = list[dict[int, float]]  # of each box, the boxes of a neighbouring layer, with the weights of the lines


def _ordered(layers: list[list[int]], above: Near, below: Near) -> None:
    """Put the boxes of each layer in the order of their neighbours, and keep what crosses least."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, below)
    place = {b: float(i) for layer in layers for i, b in enumerate(layer)}
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for layer in layers if down else reversed(layers):
            mean = {b: sum(map(place.__getitem__, near[b])) / len(near[b]) if near[b] else place[b] for b in layer}
            layer.sort(key=mean.__getitem__)
            place.update((b, float(i)) for i, b in enumerate(layer))
        crossings = _crossings(layers, below)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _crossings(layers: list[list[int]], below: Near) -> int:
    """How many lines cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {b: i for i, b in enumerate(lower)}
        seen: list[int] = []
        for b in upper:
            ends = sorted(map(place.__getitem__, below[b]))
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _settled(layers: list[list[int]], widths: list[float], above: Near, below: Near) -> list[float]:
    """The centre of each box."""
    centres = [0.0] * len(widths)
    for layer in layers:
        _apart(layer, [0.0] * len(layer), [1.0] * len(layer), widths, centres)
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wished, weights = [], []
            for b in layer:
                weight = sum(above[b].values()) + sum(below[b].values())
                pull = sum(centres[n] * w for side in (above[b], below[b]) for n, w in side.items())
                wished.append(pull / weight if weight else centres[b])
                weights.append(weight or 1e-3)
            _apart(layer, wished, weights, widths, centres)
    return centres


def _apart(
    layer: list[int], wished: list[float], weights: list[float], widths: list[float], centres: list[float]
) -> None:
    """The places nearest to those that are wished for, in order and without touching: by pooling adjacent violators."""
    shifts, at = [], 0.0
    for i, b in enumerate(layer):
        at += (widths[layer[i - 1]] + widths[b]) / 2 + ACROSS if i else 0.0
        shifts.append(at)
    blocks: list[tuple[float, float, int]] = []  # the mean of what is wished for, its weight, and how many boxes
    for want, weight, shift in zip(wished, weights, shifts, strict=True):
        mean, total, count = want - shift, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, much, n = blocks.pop()
            mean, total, count = (mean * total + other * much) / (total + much), total + much, count + n
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    for b, mean, shift in zip(layer, means, shifts, strict=True):
        centres[b] = mean + shift
