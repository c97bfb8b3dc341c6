"""Which sampler is meant by the arguments of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mycelia.dataset.plan.samplers import (
    DistributedSampler,
    FileSampler,
    IterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
)
from mycelia.errors import ArgumentError


def as_sampler(sampler: Sampler | Iterable[int]) -> Sampler:
    """A sampler, or an iterable of indices made into one.

    >>> as_sampler([1, 2]).order(3, (0,)).tolist()
    [1, 2]
    """
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, Iterable) or hasattr(sampler, "__getitem__"):
        return IterSampler(sampler)
    raise ArgumentError(f"a sampler gives indices when it is iterated over; {type(sampler).__name__} cannot be")


def mixing(shuffle: Any) -> bool | Shuffle:
    """How rows are mixed: all (True), none (False), or by files; a mode may be named by its word.

    >>> mixing("global"), mixing(Shuffle.ADAPTIVE), mixing(False), mixing("files")
    (True, True, False, <Shuffle.FILES: 'files'>)
    """
    if isinstance(shuffle, bool | np.bool_):
        return bool(shuffle)
    if not isinstance(shuffle, str) or shuffle not in list(Shuffle):
        raise ArgumentError(
            f"shuffle must be True, False, None or a way to mix, and is {shuffle!r}",
            given={"ways": [f"Shuffle.{s.name}" for s in Shuffle]},
        )
    return True if shuffle in (Shuffle.GLOBAL, Shuffle.ADAPTIVE) else Shuffle(shuffle)


def choose(
    num_samples: int | None,
    sampler: Sampler | Iterable[int] | None,
    shuffle: bool | Shuffle | str | None,
    num_shards: int | None,
    shard_id: int | None,
    default: bool = True,
    files: Callable[[], Sequence[int]] | None = None,
) -> Sampler:
    """The sampler that a source's arguments mean.

    >>> choose(None, None, False, 2, 1).order(5, (0,)).tolist()
    [1, 3]
    """
    if (num_shards is None) != (shard_id is None):
        raise ArgumentError(
            "num_shards and shard_id come together", given={"num_shards": num_shards, "shard_id": shard_id}
        )
    if sampler is not None:
        if shuffle is not None or num_shards is not None:
            raise ArgumentError(
                "a sampler decides the order and the share itself",
                given={"sampler": type(sampler).__name__, "shuffle": shuffle, "num_shards": num_shards},
                hint="leave out shuffle, num_shards and shard_id",
            )
        own = as_sampler(sampler)
        if num_samples is None:
            return own
        first = SequentialSampler(num_samples=num_samples)
        first.add_child(own)
        return first
    mode = default if shuffle is None else mixing(shuffle)
    if isinstance(mode, Shuffle) and files is None:
        raise ArgumentError(
            f"shuffle={str(mode)!r} mixes by files, and these rows are not read from several files",
            hint="shuffle=True mixes all rows, shuffle=False none",
        )
    if num_shards is not None and shard_id is not None:
        share = DistributedSampler(num_shards, shard_id, mode is True, num_samples)
        if isinstance(mode, Shuffle) and files is not None:
            share.add_child(FileSampler(files(), mode))
        return share
    if isinstance(mode, Shuffle) and files is not None:
        return FileSampler(files(), mode, num_samples)
    return RandomSampler(num_samples=num_samples) if mode else SequentialSampler(num_samples=num_samples)
