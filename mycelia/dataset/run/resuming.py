"""Going on with another number of readers: where all of them stood together, and what of an epoch is left to share."""

from __future__ import annotations

import copy
from dataclasses import replace
from math import prod

from mycelia.dataset.plan.batching import BatchNode
from mycelia.dataset.plan.nodes import Node, ProjectNode, RenameNode, SourceNode
from mycelia.dataset.plan.operations import MapNode
from mycelia.dataset.plan.samplers import DistributedSampler
from mycelia.errors import ArgumentError


def steps(plan: Node) -> list[Node] | None:
    """The steps down to a source that is shared, if every row above is made of as many rows below, in their order.

    >>> import mycelia.dataset as ds
    >>> shared = ds.NumpySlicesDataset([1, 2], ["x"], num_shards=2, shard_id=0)
    >>> [n.label for n in steps(shared.batch(2).plan)], steps(shared.filter(abs).plan)
    (['Batch', 'NumpySlicesDataset'], None)
    """
    found = [plan]
    while not isinstance(found[-1], SourceNode):
        node = found[-1]
        plain = isinstance(node, ProjectNode | RenameNode) or (isinstance(node, MapNode) and not node.callbacks)
        if not plain and not (isinstance(node, BatchNode) and isinstance(node.size, int)):
            return None
        found.append(node.child)
    source = found[-1]
    assert isinstance(source, SourceNode), "the loop ends there"
    return found if isinstance(source.sampler, DistributedSampler) and source.sampler.num_samples is None else None


def sharing_sampler(plan: Node) -> DistributedSampler | None:
    """The sampler that shares the rows of a plan among readers, if the rest of an epoch can be shared anew."""
    found = steps(plan)
    if found is None:
        return None
    source = found[-1]
    assert isinstance(source, SourceNode), "the last step"
    assert isinstance(source.sampler, DistributedSampler), "asked before"
    return source.sampler


def consumed(plan: Node, step: int, start: int) -> int:
    """How many rows of an epoch all readers have read together, when each has given `step` rows of the plan.

    >>> import mycelia.dataset as ds
    >>> consumed(ds.NumpySlicesDataset(list(range(20)), ["x"], num_shards=2, shard_id=0).batch(3).plan, 2, 0)
    12
    """
    found, sampler = steps(plan), sharing_sampler(plan)
    assert found is not None, "asked before"
    assert sampler is not None, "asked before"
    source = found[-1]
    assert isinstance(source, SourceNode), "the last step"
    rows = step * prod(n.size for n in found if isinstance(n, BatchNode) and isinstance(n.size, int))
    return min(len(source.data), start + rows * sampler.num_shards)


def rest(plan: Node, start: int) -> Node:
    """The plan for what is left of an epoch after `start` rows, shared anew.

    >>> import mycelia.dataset as ds
    >>> left = rest(ds.NumpySlicesDataset([1, 2, 3, 4, 5], ["x"], num_shards=2, shard_id=0, shuffle=False).plan, 3)
    >>> [int(r[0]) for r in ds.Dataset(left).create_tuple_iterator(num_epochs=1, output_numpy=True)]
    [4]
    """
    if not start:
        return plan
    if isinstance(plan, SourceNode):
        sampler = copy.copy(plan.sampler)
        if not isinstance(sampler, DistributedSampler):
            raise ArgumentError("only a source that is shared among readers can be shared anew")
        sampler.start = start
        return replace(plan, sampler=sampler)
    return replace(plan, children=(rest(plan.child, start),))
