"""Samplers: which rows of a source an epoch visits, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any

import numpy as np

from mycelia.checks import choice, text, truth, whole
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.indices import LARGE, Indices, Ordered, drawn, mixed_within, permutation, up_to
from mycelia.dataset.lazy import lazy
from mycelia.dataset.random import Generator, generator_for
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array

Labels = Callable[[str], Array]
Place = tuple[int, ...]


BLOCK = 1 << 16  # indices that are looked at together


def _whole_indices(given: Sequence[Any], sampler: Sampler) -> Array:
    """Indices as an array; truth values are none, since they would be a mask, and half ones are none either."""
    found = np.asarray([i.asnumpy() if hasattr(i, "asnumpy") else i for i in given]) if given else np.zeros(0, np.int64)
    found = found.reshape(len(given)) if found.size == len(given) else found
    whole = found.ndim == 1 and (found.dtype.kind in "iu" or (found.dtype.kind == "f" and (found % 1 == 0).all()))
    if not whole or not {bool, np.bool_}.isdisjoint(map(type, given)):
        raise ArgumentError(
            f"{type(sampler).__name__}: indices must be whole numbers",
            given={"got": list(given[:10])},
            hint="of a mask, give np.flatnonzero(mask)",
        )
    return found.astype(np.int64)


class Shuffle(StrEnum):
    """How rows that live in several files are mixed: all rows, the files, the rows inside each file, or by parts.

    >>> Shuffle.FILES.value
    'files'
    """

    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"
    PARTIAL = "partial"
    ADAPTIVE = "adaptive"


WAYS = tuple(s.value for s in Shuffle)


class Sampler:
    """Base of samplers: write `__iter__` to give indices; a child, if there is one, is what the indices count.

    What is drawn from `self.generator` belongs to the seed and the epoch, so that a run can be repeated and resumed.
    The global generators of NumPy and Python are the user's own, and nobody seeds them here.

    >>> class Odd(Sampler):
    ...     def __iter__(self):
    ...         yield from range(1, self.dataset_size, 2)
    >>> Odd().order(6, (0,)).tolist()
    [1, 3, 5]
    """

    shuffled = False
    sharded = False

    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples = None if num_samples is None else whole(self, "num_samples", num_samples, 0) or None
        self.child: Sampler | None = None
        self.dataset_size = 0
        self.generator = generator_for(0)

    def __iter__(self) -> Iterator[int]:
        raise ArgumentError(f"{type(self).__name__} has no __iter__", hint="write __iter__ so that it yields indices")

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        """Which of `count` rows, in which order: what `__iter__` gives; `self.generator` is made for this epoch."""
        self.dataset_size, self.generator = count, rng
        given, blocks = iter(self), []
        while some := list(islice(given, BLOCK)):
            blocks.append(_whole_indices(some, self))
        return np.concatenate(blocks) if blocks else np.zeros(0, np.int64)

    @property
    def written(self) -> bool:
        """Whether the indices, or those of a child, come from a user's `__iter__`, which may differ at every call.

        >>> IterSampler([1]).written, RandomSampler().written
        (True, False)
        """
        own = type(self).pick is Sampler.pick
        return own or (self.child is not None and self.child.written)

    def order(self, count: int, place: Place, labels: Labels | None = None) -> Ordered:
        """The indices of one epoch, at a random place.

        >>> SequentialSampler(2).order(5, (0,)).tolist()
        [2, 3, 4]
        """
        base = None if self.child is None else self.child.order(count, (*place, 1), labels)
        size = count if base is None else len(base)

        def below(column: str) -> Array:
            if labels is None:
                raise DataError(f"{type(self).__name__} needs the column {column!r}, which this dataset cannot give")
            values = labels(column)
            return values if base is None else values[base[np.arange(len(base))]]

        picked = self.pick(size, generator_for(*place), below)
        if self.num_samples is not None:
            picked = picked[: self.num_samples]
        if not isinstance(picked, Indices) and len(picked) and not (picked.min() >= 0 and picked.max() < size):
            wrong = int(picked[(picked < 0) | (picked >= size)][0])
            raise DataError(f"{type(self).__name__} gave index {wrong}, and there are {size} rows")
        return picked if base is None else _through(base, picked)

    def add_child(self, sampler: Sampler) -> None:
        """Let another sampler choose first; this one then chooses among its rows.

        >>> first = SubsetSampler([4, 5, 6]); second = SequentialSampler(1); second.add_child(first)
        >>> second.order(9, (0,)).tolist()
        [5, 6]
        """
        if self.child is not None:
            raise ArgumentError(f"{type(self).__name__} has a child already")
        self.child = sampler

    def get_child(self) -> Sampler | None:
        """The sampler that chooses first.

        >>> SequentialSampler().get_child() is None
        True
        """
        return self.child

    def get_num_samples(self) -> int | None:
        """How many rows an epoch has at most; None for all.

        >>> SequentialSampler(num_samples=4).get_num_samples()
        4
        """
        return self.num_samples

    def is_shuffled(self) -> bool:
        """Whether the order is random.

        >>> RandomSampler().is_shuffled()
        True
        """
        return self.shuffled or (self.child is not None and self.child.is_shuffled())

    def is_sharded(self) -> bool:
        """Whether only a share of the rows is visited.

        >>> DistributedSampler(2, 0).is_sharded()
        True
        """
        return self.sharded or (self.child is not None and self.child.is_sharded())

    def describe(self) -> dict[str, Any]:
        """The sampler as plain data.

        >>> SequentialSampler(3).describe()
        {'sampler': 'SequentialSampler', 'start_index': 3, 'num_samples': None}
        """
        own = {k: _plain(v) for k, v in vars(self).items() if k not in ("child", "dataset_size", "generator", "read")}
        below = {} if self.child is None else {"child": self.child.describe()}
        return {"sampler": type(self).__name__, **own, **below}


BuiltinSampler = Sampler


def _through(base: Ordered, picked: Ordered) -> Ordered:
    """What stands in `base` at the places `picked`."""
    if isinstance(picked, Indices):
        whole = base if isinstance(base, Indices) else Indices(len(base), base.__getitem__)
        return Indices(len(picked), lambda at: whole.at(picked.at(at)))
    chosen: Array = base[picked]
    return chosen


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


class SequentialSampler(Sampler):
    """Rows as they are stored, from `start_index` on.

    >>> SequentialSampler(1, 2).order(5, (0,)).tolist()
    [1, 2]
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        self.start_index = 0 if start_index is None else whole(self, "start_index", start_index, 0)
        super().__init__(num_samples)

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        if self.start_index > count:
            raise DataError(f"start_index is {self.start_index}, and there are {count} rows")
        return up_to(self.start_index, count)


class RandomSampler(Sampler):
    """Rows in random order; with replacement each one is drawn anew.

    >>> sorted(RandomSampler().order(4, (0,)).tolist())
    [0, 1, 2, 3]
    """

    shuffled = True

    def __init__(
        self, replacement: bool = False, num_samples: int | None = None, shuffle: Shuffle = Shuffle.GLOBAL
    ) -> None:
        truth(self, "replacement", replacement)
        super().__init__(num_samples)
        self.replacement, self.shuffle = replacement, Shuffle(choice(self, "shuffle", str(shuffle), WAYS))

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        if self.replacement and count:
            return drawn(count, self.num_samples or count, rng)
        return permutation(count, rng)


class DistributedSampler(Sampler):
    """The share of one of several readers. Shares are disjoint and complete; their sizes differ by one at most.

    `equal_rows` makes all shares equally long by letting some rows appear in two of them.

    >>> [DistributedSampler(3, i, shuffle=False).order(7, (0,)).tolist() for i in range(3)]
    [[0, 3, 6], [1, 4], [2, 5]]
    >>> DistributedSampler(3, 1, shuffle=False, equal_rows=True).order(7, (0,)).tolist()
    [1, 4, 0]
    """

    sharded = True

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: bool = True,
        num_samples: int | None = None,
        offset: int = -1,
        equal_rows: bool = False,
    ) -> None:
        super().__init__(num_samples)
        self.num_shards = whole(self, "num_shards", num_shards, 1)
        self.shard_id = whole(self, "shard_id", shard_id, 0, self.num_shards - 1)
        self.shuffle, self.equal_rows = truth(self, "shuffle", shuffle), truth(self, "equal_rows", equal_rows)
        self.read: tuple[tuple[int, ...], ...] = ()  # what others had read when the epoch was shared anew, in turn
        self.set_offset(offset)

    def set_offset(self, offset: int) -> None:
        """Let the first row go to the shard `offset` instead of to shard 0; -1 is 0.

        >>> s = DistributedSampler(3, 1, shuffle=False); s.set_offset(1); s.order(7, (0,)).tolist()
        [0, 3, 6]
        """
        self.offset = whole(self, "offset", offset, -1, self.num_shards)

    @property
    def shuffled(self) -> bool:  # type: ignore[override]  # a class constant in its siblings
        return self.shuffle

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        order = permutation(count, rng) if self.shuffle else up_to(0, count)
        return self.share(order)

    @property
    def first(self) -> int:
        """The place of an order that is the first of this reader's."""
        return (self.shard_id - max(self.offset, 0)) % self.num_shards

    def left(self, count: int, labels: Labels | None = None) -> int:
        """How many of so many rows are left to share.

        >>> sampler = DistributedSampler(3, 1); sampler.read = ((2, 1),); sampler.left(5)
        2
        """
        whole = count if self.child is None else len(self.child.order(count, (0,), labels))
        order: Ordered = Indices(whole, lambda at: at)
        for counts in self.read:
            order = unread(order, counts)
        return len(order)

    def part(self, left: int, readers: int, place: int) -> int:
        """How many of the rows that are left each reader has, as one of so many.

        >>> [DistributedSampler(1, 0).part(5, 3, place) for place in range(3)]
        [2, 2, 1]
        """
        return -(-left // readers) if self.equal_rows else len(range(place, left, readers))

    def share(self, order: Ordered) -> Ordered:
        """What of an order belongs to this reader.

        >>> DistributedSampler(3, 1).share(np.arange(5)).tolist()
        [1, 4]
        """
        for counts in self.read:
            order = unread(order, counts)
        first, count = self.first, len(order)
        if self.equal_rows and count:
            rows = -(-count // self.num_shards)
            return _through(order, Indices(rows, lambda at: (first + at * self.num_shards) % count))
        chosen: Ordered = order[first :: self.num_shards]
        return chosen


def unread(order: Ordered, counts: Sequence[int]) -> Ordered:
    """What is left of an order of which each of several readers in turn has read so many of its rows.

    >>> unread(np.arange(7), (2, 1)).tolist()
    [3, 4, 5, 6]
    """
    readers, whole = len(counts), max(counts) * len(counts)
    rounds = np.arange(min(counts), max(counts))[:, None]
    begun = (rounds * readers + np.arange(readers))[rounds >= np.array(counts)]  # by some of them, and not by others
    begun = begun[begun < len(order)]
    some, rest = len(begun), max(0, len(order) - whole)

    def place(at: Array) -> Array:
        return np.where(at < some, begun[np.minimum(at, some - 1)], whole + at - some) if some else whole + at

    return order[place(np.arange(some + rest))] if isinstance(order, np.ndarray) else order[Indices(some + rest, place)]


class PKSampler(Sampler):
    """`num_val` rows of each of `num_class` classes.

    >>> PKSampler(1).order(4, (0,), lambda column: np.array([5, 5, 2, 2])).tolist() in ([2, 0], [2, 1], [3, 0], [3, 1])
    True
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        self.num_val, self.shuffle = whole(self, "num_val", num_val, 1), truth(self, "shuffle", shuffle)
        self.num_class = None if num_class is None else whole(self, "num_class", num_class, 1)
        self.class_column = text(self, "class_column", class_column)

    @property
    def shuffled(self) -> bool:  # type: ignore[override]  # a class constant in its siblings
        return self.shuffle

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        values = labels(self.class_column).reshape(count, -1)[:, 0]
        classes = np.unique(values)
        if self.shuffle:
            rng.shuffle(classes)
        chosen = []
        for c in classes[: self.num_class]:
            members = np.flatnonzero(values == c)
            chosen.append(rng.choice(members, self.num_val, replace=len(members) < self.num_val))
        return np.concatenate(chosen) if chosen else np.arange(0)


class SubsetSampler(Sampler):
    """The rows at `indices`, in that order.

    >>> SubsetSampler([3, 1]).order(5, (0,)).tolist()
    [3, 1]
    """

    def __init__(self, indices: Iterable[int] | int, num_samples: int | None = None) -> None:
        listed: Sequence[int] = [indices] if isinstance(indices, int) else list(indices)
        super().__init__(num_samples)
        self.indices = _whole_indices(listed, self)

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        return self.indices


class SubsetRandomSampler(SubsetSampler):
    """The rows at `indices`, in random order.

    >>> sorted(SubsetRandomSampler([3, 1]).order(5, (0,)).tolist())
    [1, 3]
    """

    shuffled = True

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        return _through(self.indices, permutation(len(self.indices), rng))


class WeightedRandomSampler(Sampler):
    """Rows drawn with given weights.

    >>> WeightedRandomSampler([0, 1, 0], 3).order(3, (0,)).tolist()
    [1, 1, 1]
    """

    shuffled = True

    def __init__(self, weights: Iterable[float], num_samples: int | None = None, replacement: bool = True) -> None:
        self.weights = np.asarray(list(weights), np.float64)
        super().__init__(num_samples)
        self.replacement = truth(self, "replacement", replacement)
        if not len(self.weights) or (self.weights < 0).any() or not 0 < self.weights.sum() < np.inf:
            raise ArgumentError(f"weights must not be negative, and one must be positive; got {self.weights[:10]}")

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        if len(self.weights) > count:
            raise DataError(f"there are {len(self.weights)} weights and {count} rows")
        wanted = self.num_samples or len(self.weights)
        possible = int((self.weights > 0).sum())
        if not self.replacement and wanted > possible:
            raise DataError(f"{wanted} rows are to be drawn without replacement, and {possible} have weight")
        chances = self.weights / self.weights.sum()
        return rng.choice(len(self.weights), wanted, replace=self.replacement, p=chances)


class IterSampler(Sampler):
    """The indices that an iterable gives; of an iterator, which gives them once, they are kept.

    >>> IterSampler([2, 0]).order(3, (0,)).tolist()
    [2, 0]
    """

    def __init__(self, sampler: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sampler = list(islice(sampler, self.num_samples)) if isinstance(sampler, Iterator) else sampler

    def __iter__(self) -> Iterator[int]:
        given: Any = self.sampler
        sized = not isinstance(given, Iterable) and hasattr(given, "__len__")
        return islice(map(given.__getitem__, range(len(given))) if sized else given, self.num_samples)

    def describe(self) -> dict[str, Any]:
        below = {} if self.child is None else {"child": self.child.describe()}
        return {"sampler": "IterSampler", "sampler_indices": [int(i) for i in self], **below}


class FileSampler(Sampler):
    """Rows of several files: the files in random order, or the rows inside each, or both.

    >>> FileSampler([2, 2], Shuffle.FILES).order(4, (0,)).tolist() in ([0, 1, 2, 3], [2, 3, 0, 1])
    True
    """

    shuffled = True

    def __init__(self, sizes: Sequence[int], mode: Shuffle, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sizes, self.mode = list(sizes), Shuffle(choice(self, "mode", str(mode), WAYS))

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        if self.mode in (Shuffle.GLOBAL, Shuffle.ADAPTIVE):
            return permutation(count, rng)
        files = np.arange(len(self.sizes))
        if self.mode is not Shuffle.INFILE:
            rng.shuffle(files)
        key = int(rng.integers(2**62))
        inner = Filed(tuple(self.sizes), files, None if self.mode is Shuffle.FILES else key)
        return inner.all() if count < LARGE else Indices(count, inner.at)


@frozen
class Filed:
    """Rows of files, the files in an order of their own; with a key, the rows of each are mixed.

    >>> Filed((2, 3), np.array([1, 0]), None).all().tolist()
    [2, 3, 4, 0, 1]
    """

    sizes: tuple[int, ...]
    files: Array
    key: int | None

    @lazy
    def borders(self) -> tuple[Array, Array]:
        """Where the files end in their order, and where each begins among all rows."""
        sizes = np.array(self.sizes, np.int64)
        return np.cumsum(sizes[self.files]), np.cumsum(sizes) - sizes

    def at(self, places: Array) -> Array:
        """The rows at some places."""
        ends, starts = self.borders
        turn = np.searchsorted(ends, places, side="right")
        out = np.empty(len(places), np.int64)
        for t in np.unique(turn).tolist():
            file, chosen = int(self.files[t]), turn == t
            within = places[chosen] - (int(ends[t]) - self.sizes[file])
            if self.key is not None:
                within = mixed_within(within, self.sizes[file], self.key, file)
            out[chosen] = starts[file] + within
        return out

    def all(self) -> Array:
        """All rows."""
        return self.at(np.arange(sum(self.sizes)))


class WindowSampler(Sampler):
    """Rows that lie in groups: the groups in random order, and the rows of every `window` of them mixed.

    >>> order = WindowSampler([2, 3, 2, 3], 2).order(10, (0,)).tolist()
    >>> sorted(order) == list(range(10))
    True
    """

    shuffled = True

    def __init__(self, sizes: Sequence[int], window: int, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sizes, self.window = list(sizes), window

    def pick(self, count: int, rng: Generator, labels: Labels) -> Ordered:
        groups = rng.permutation(len(self.sizes))
        key = int(rng.integers(2**62))
        rows = Filed(tuple(self.sizes), groups, None)
        starts = np.arange(0, len(groups), self.window)
        lengths = np.add.reduceat(np.array(self.sizes, np.int64)[groups], starts) if len(groups) else starts
        within = Filed(tuple(lengths.tolist()), np.arange(len(lengths)), key)
        return Indices(count, lambda at: rows.at(within.at(at)))
