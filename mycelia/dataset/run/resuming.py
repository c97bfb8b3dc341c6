"""Going on with another number of readers: what each of them has read of every source, and what is left to share."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mycelia.dataset.config import ErrorSamplesMode, PipelineOptions
from mycelia.dataset.plan.nodes import Node
from mycelia.dataset.plan.origins import SourceNode
from mycelia.dataset.plan.samplers import DistributedSampler
from mycelia.dataset.run.pipeline import NumberedPlan, walk

Levels = tuple[tuple[int, ...], ...]  # how many rows each of the readers had read, each time that it was shared anew
Read = tuple[Levels, ...]  # for every source
FAR = 1 << 20  # rows that some readers at one step have read, and others have not
MOST = 1 << 16  # readers


def obstacle(plan: Node, options: PipelineOptions) -> str | None:
    """Why what is left of an epoch cannot be shared anew; None if it can.

    >>> import mycelia.dataset as ds
    >>> from mycelia.dataset.config import current_options
    >>> shared = ds.NumpySlicesDataset([1, 2], ["x"], num_shards=2, shard_id=0)
    >>> obstacle(shared.batch(2).plan, current_options())
    >>> obstacle(shared.shuffle(2).plan, current_options())
    'how many rows Shuffle gave does not tell which ones it has read'
    """
    if options.error_samples_mode is ErrorSamplesMode.SKIP:
        return "bad samples are left out, and how many the other readers met is not known"
    used = Counter(id(child) for node in walk(plan) for child in node.children)
    samplers = [n.sampler for n in sources(plan)]
    for node in walk(plan):
        if isinstance(node, SourceNode):
            if not isinstance(node.sampler, DistributedSampler) or node.sampler.num_samples is not None:
                return f"{node.label} is not shared among the readers as a whole"
        elif not node.children or not node.countable:
            return f"how many rows {node.label} gave does not tell which ones it has read"
        if used[id(node)] > 1:
            return f"{node.label} is read in two places"
    ways = [(s.num_shards, s.offset) for s in samplers if isinstance(s, DistributedSampler)]
    return None if len(set(ways)) == 1 else "its sources are not shared alike"


def believable(told: Any) -> bool:
    """Whether this may be what was read of some sources, as a state tells it: lists of lists of counts.

    >>> believable([[[2, 1]], []]), believable([[[-1]]]), believable([[[0, 1 << 40]]])
    (True, False, False)
    """

    def counts(level: Any) -> bool:
        whole = (
            type(level) is list and 0 < len(level) <= MOST and all(type(n) is int and 0 <= n < 1 << 60 for n in level)
        )
        return whole and (max(level) - min(level)) * len(level) <= FAR

    return type(told) is list and all(type(levels) is list and all(map(counts, levels)) for levels in told)


def sources(plan: Node) -> list[SourceNode]:
    """The sources of a plan, in an order that is always the same.

    >>> import mycelia.dataset as ds
    >>> a, b = ds.NumpySlicesDataset([1], ["x"]), ds.NumpySlicesDataset([1], ["y"])
    >>> [n.columns for n in sources(ds.zip((a, b)).plan)]
    [('x',), ('y',)]
    """
    return [n for n in walk(plan) if isinstance(n, SourceNode)]


def sharing(plan: Node) -> tuple[int, int]:
    """Among how many readers the sources of a plan are shared, and which of them comes first.

    >>> import mycelia.dataset as ds
    >>> sharing(ds.NumpySlicesDataset([1], ["x"], num_shards=2, shard_id=0).plan)
    (2, 0)
    """
    sampler = sources(plan)[0].sampler
    assert isinstance(sampler, DistributedSampler), "no obstacle"
    return sampler.num_shards, max(sampler.offset, 0)


def gone(plan: NumberedPlan, readers: int, read: Read, step: int) -> Read:
    """What has been read of every source when each of several readers has given `step` rows of the plan.

    >>> import mycelia.dataset as ds
    >>> from mycelia.dataset.config import current_options
    >>> shared = ds.NumpySlicesDataset(list(range(20)), ["x"], num_shards=2, shard_id=0)
    >>> gone(NumberedPlan(shared.batch(3).plan, current_options(), 0), 2, ((),), 2)
    (((6, 6),),)
    """
    shared, held, known = sources(plan.root), list[tuple[Any, int]](), dict[tuple[int, ...], list[int]]()
    for node, levels in zip(shared, read, strict=True):
        sampler: Any = copy.copy(node.sampler)
        sampler.read = levels
        held.append((sampler, sampler.left(len(node.data), node.data.labels)))
    counts = []
    for place in range(readers):
        parts = tuple(sampler.part(left, readers, place) for sampler, left in held)
        if parts not in known:
            sizes = {id(n): part for n, part in zip(shared, parts, strict=True)}
            rows = _measure(plan.root, plan, sizes)
            known[parts] = list(_taken(plan.root, plan, sizes, min(step, rows)))
        counts.append(known[parts])
    return tuple((*levels, told) for levels, told in zip(read, zip(*counts, strict=True), strict=True))


def _measure(node: Node, plan: NumberedPlan, sizes: dict[int, int]) -> int:
    """How many rows a step has, noted with those of all below it; those of sources are."""
    if id(node) not in sizes:
        sizes[id(node)] = node.rows_of([_measure(child, plan, sizes) for child in node.children], plan)
    return sizes[id(node)]


def _taken(node: Node, plan: NumberedPlan, sizes: dict[int, int], rows: int) -> Iterator[int]:
    """How many rows of every source are gone when a step has given its first `rows`."""
    if isinstance(node, SourceNode):
        yield rows
        return
    below = node.taken_below(rows, [sizes[id(child)] for child in node.children], plan)
    for child, taken in zip(node.children, below, strict=True):
        yield from _taken(child, plan, sizes, taken)


def rest(plan: Node, read: Read) -> Node:
    """The plan for what is left of an epoch, shared anew.

    >>> import mycelia.dataset as ds
    >>> shared = ds.NumpySlicesDataset([1, 2, 3, 4, 5], ["x"], num_shards=2, shard_id=0, shuffle=False)
    >>> left = ds.Dataset(rest(shared.plan, (((2, 1),),)))
    >>> [int(r[0]) for r in left.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    [4]
    """
    levels = iter(read)

    def anew(node: Node) -> Node:
        if not isinstance(node, SourceNode):
            return replace(node, children=tuple(map(anew, node.children)))
        sampler: Any = copy.copy(node.sampler)
        sampler.read = next(levels)
        return replace(node, sampler=sampler)

    return anew(plan) if any(read) else plan
