"""Sources in memory: arrays, Python objects, generators, padding, random rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_dtype, as_value, stack
from mycelia.dataset.caches.cache import CachedData, DatasetCache
from mycelia.dataset.config import current_options
from mycelia.dataset.dataset import Dataset
from mycelia.dataset.flow.request import Row
from mycelia.dataset.flow.table import ENDLESS
from mycelia.dataset.lazy import lazy
from mycelia.dataset.parameters import document
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.nodes import Node, unique
from mycelia.dataset.plan.origins import Data, IterableNode, SourceNode, as_own, as_row
from mycelia.dataset.plan.samplers import Sampler, Shuffle
from mycelia.dataset.random import generator_for
from mycelia.dataset.run.arguments import workers_of
from mycelia.dataset.run.reading import Names, megabytes, names_of
from mycelia.dataset.sources.schema import Schema, as_schema
from mycelia.errors import ArgumentError, DTypeError
from mycelia.frozen import frozen
from mycelia.types import Array

Order = Sampler | Iterable[int] | None


class SourceDataset(Dataset):
    """A dataset that reads; base of all that do."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            document(cls)


class MappableDataset(SourceDataset):
    """A source whose rows can be read by index, so that samplers can choose among them."""

    def __init__(
        self,
        data: Data,
        sampler: Sampler,
        *,
        workers: int | None = None,
        exclusive: bool = False,
        processes: bool = False,
        arguments: dict[str, Any] | None = None,
        cache: DatasetCache | None = None,
    ) -> None:
        name = type(self).__name__
        data = data if cache is None else CachedData(data, cache)
        workers = workers_of(workers)
        super().__init__(
            SourceNode(data, sampler, name, exclusive, arguments or {}, workers=workers, processes=processes)
        )


@dataclass
class ArrayData:
    """Columns that are arrays; a row is one entry of each.

    >>> ArrayData({"x": np.array([5, 6])}).fetch(1)
    (array(6),)
    """

    arrays: dict[str, Array]

    def __post_init__(self) -> None:
        sizes = {n: len(a) for n, a in self.arrays.items()}
        if len(set(sizes.values())) > 1:
            raise ArgumentError(
                f"columns have different lengths: {sizes}", hint="each column has one value for each row"
            )

    @lazy
    def columns(self) -> tuple[str, ...]:
        return tuple(self.arrays)

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def fetch(self, index: int) -> Row:
        # text keeps the width of its column, as in a batch
        return tuple(np.array(a[index], a.dtype if a.dtype.kind in "US" else None) for a in self.arrays.values())

    def gather(self, indices: Array) -> Row | None:
        if self.ragged:
            return None
        return tuple(a[indices] for a in self.arrays.values())

    @lazy
    def ragged(self) -> bool:
        """Whether rows of a column have different shapes."""
        return any(a.dtype.hasobject and any(isinstance(v, np.ndarray) for v in a) for a in self.arrays.values())

    def where(self, index: int) -> str:
        return f"index {index}"

    def labels(self, column: str) -> Array:
        return self.arrays[column]


def column_of(values: Any) -> Any:
    """A column as an array; where rows have different shapes, as an array of arrays.

    >>> column_of([[1, 2], [3]])[1]
    array([3])
    """
    try:
        return as_value(values)
    except DTypeError:
        if not isinstance(values, Sequence):
            raise
    ragged = np.empty(len(values), object)
    ragged[:] = [as_value(v) for v in values]
    return ragged


class NumpySlicesDataset(MappableDataset):
    """Rows of arrays: a dictionary of columns, a tuple of columns, or one column.

    >>> d = NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
    >>> next(d.create_dict_iterator(output_numpy=True))
    {'a': array(1), 'b': array(3)}
    """

    def __init__(
        self,
        data: Any,
        column_names: Names = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Order = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if isinstance(data, Mapping):
            columns, own = list(data.values()), list(data)
        else:
            columns = list(data) if isinstance(data, tuple) else [data]
            own = [f"column_{i}" for i in range(len(columns))]
        names = names_of(column_names) or tuple(map(str, own))
        if len(names) != len(columns):
            raise ArgumentError(f"{len(columns)} columns have {len(names)} names: {list(names)}")
        arrays = {n: column_of(c) for n, c in zip(unique(names, "NumpySlicesDataset"), columns, strict=True)}
        if any(not a.ndim or not len(a) for a in arrays.values()):
            raise ArgumentError(
                "NumpySlicesDataset needs at least one row",
                hint="give an array, a list of rows, a tuple of columns, or a dictionary of them",
            )
        super().__init__(
            ArrayData(arrays),
            choose(num_samples, sampler, shuffle, num_shards, shard_id),
            workers=num_parallel_workers,
            arguments={"column_names": list(names)},
        )


@dataclass
class ObjectData:
    """An object with `__getitem__` and `__len__`.

    >>> ObjectData([(1, 2)], ("a", "b"), None).fetch(0)
    (array(1), array(2))
    """

    source: Any
    columns: tuple[str, ...]
    types: tuple[np.dtype[Any], ...] | None

    def __len__(self) -> int:
        return len(self.source)

    def fetch(self, index: int) -> Row:
        return as_row(self.source[index], self.columns, self.types)

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        return f"index {index} of {type(self.source).__name__}"

    def labels(self, column: str) -> Array:
        at = self.columns.index(column)
        return np.array([self.fetch(i)[at] for i in range(len(self))])


class GeneratorDataset(SourceDataset):
    """Rows of a Python object: one with `__getitem__` and `__len__`, an iterable, or a function that makes an iterator.

    With `python_multiprocessing` and more than one worker, an object with `__getitem__` is read in worker processes,
    with `max_rowsize` megabytes of shared memory for a row; with one worker it is only ever asked by one thread at a
    time. An iterable has one order, and is read by one thread whatever is asked. An iterator can be read only once, so
    its rows are kept for the next epoch; a function that makes a new one costs no memory.

    >>> def numbers():
    ...     yield from ((i, i * i) for i in range(3))
    >>> d = GeneratorDataset(numbers, ["n", "square"])
    >>> [int(r["square"]) for r in d.create_dict_iterator(1, output_numpy=True)]
    [0, 1, 4]
    """

    def __init__(
        self,
        source: Any,
        column_names: Names = None,
        column_types: Sequence[Any] | None = None,
        schema: Schema | str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Order = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: int | Sequence[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        collate_fn: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        if not callable(source) and not any(hasattr(source, n) for n in ("__iter__", "__next__", "__getitem__")):
            raise ArgumentError(
                f"GeneratorDataset cannot iterate over {type(source).__name__}",
                hint="give a list of rows, a generator function, or an object with __getitem__ and __len__",
            )
        described = as_schema(schema)
        named = names_of(column_names) or tuple(described.columns if described else ())
        if not named:
            raise ArgumentError(
                "GeneratorDataset needs column_names or a schema", hint="for example GeneratorDataset(rows, ['x', 'y'])"
            )
        names = unique(named, "GeneratorDataset")
        kinds = column_types or ([c["type"] for c in described.columns.values()] if described else None)
        types = None if kinds is None else tuple(as_dtype(k) for k in kinds)
        if types is not None and len(types) != len(names):
            raise ArgumentError(f"{len(names)} columns have {len(types)} types")
        workers = workers_of(num_parallel_workers) or current_options().num_parallel_workers
        room = megabytes(max_rowsize)
        indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        plan: Node
        if batch_sampler is not None:
            if not indexed or sampler is not None or shuffle is not None or num_shards is not None:
                raise ArgumentError("batch_sampler needs a source with __getitem__, and stands in for the other ones")
            make = _Batches(source, batch_sampler, collate_fn, names)
            plan = IterableNode(make, names, num_samples or ENDLESS, types, workers=workers)
        elif collate_fn is not None:
            raise ArgumentError("collate_fn goes with batch_sampler")
        elif indexed:
            order = choose(num_samples, sampler, shuffle, num_shards, shard_id)
            plan = SourceNode(
                ObjectData(source, names, types),
                order,
                "GeneratorDataset",
                workers == 1,
                {"column_names": list(names)},
                workers=workers,
                processes=python_multiprocessing and workers > 1,
                max_rowsize=room,
            )
        else:
            if shuffle or sampler is not None or num_shards is not None:
                raise ArgumentError(
                    "a generator cannot be sampled or shared: its rows come in one order",
                    hint="give the source __getitem__ and __len__, or use dataset.shuffle(buffer_size)",
                )
            plan = IterableNode(_opener(_kept(source)), names, num_samples or ENDLESS, types, workers=workers)
        super().__init__(plan)


class _Rereadable:
    """The rows of an iterator, kept when they are read first, so that they can be read again."""

    def __init__(self, source: Iterator[Any]) -> None:
        self.source, self.rows, self.lock = source, list[Any](), threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        for i in count():
            with self.lock:
                if i == len(self.rows):
                    try:
                        self.rows.append(next(self.source))
                    except StopIteration:
                        return
            yield self.rows[i]


def _kept(source: Any) -> Any:
    """A generator or another iterator of Python's own as something that can be iterated over again.

    An object of a class of the user's may begin anew when it is asked to, and is left as it is.
    """
    once = isinstance(source, Iterator) and type(source).__module__ in ("builtins", "itertools")
    return _Rereadable(source) if once else source


@frozen
class _opener:
    """Makes the iterator of an epoch."""

    source: Any

    def __call__(self) -> Iterator[Any]:
        made = self.source() if callable(self.source) and not hasattr(self.source, "__iter__") else self.source
        if not hasattr(made, "__iter__") and not hasattr(made, "__next__"):
            raise ArgumentError(f"GeneratorDataset cannot iterate over {type(made).__name__}")
        return iter(made)


@frozen
class _Batches:
    """Batches whose rows somebody else chooses."""

    source: Any
    chooser: Iterable[Sequence[int]]
    collate: Callable[[list[Any]], Any] | None
    names: tuple[str, ...]

    def __call__(self) -> Iterator[Any]:
        for chosen in self.chooser:
            rows = [self.source[i] for i in chosen]
            if self.collate is not None:
                yield self.collate(rows)
            else:
                yield stack((as_row(r, self.names) for r in rows), len(rows), self.names)


@dataclass
class ListData:
    """Rows that are dictionaries in a list."""

    rows: list[dict[str, Any]]
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def fetch(self, index: int) -> Row:
        return tuple(as_own(self.rows[index][c]) for c in self.columns)

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        return f"padding {index}"

    def labels(self, column: str) -> Array:
        return np.array([r[column] for r in self.rows])


class PaddedDataset(MappableDataset):
    """Rows given one by one, to fill up another dataset.

    >>> d = PaddedDataset([{"x": np.array(1)}, {"x": np.array(2)}])
    >>> [int(r["x"]) for r in d.create_dict_iterator(1, output_numpy=True)]
    [1, 2]
    """

    def __init__(self, padded_samples: Sequence[dict[str, Any]]) -> None:
        rows = list(padded_samples)
        if not rows or any(not isinstance(r, dict) or set(r) != set(rows[0]) for r in rows):
            raise ArgumentError("padded_samples is a list of dictionaries with the same columns")
        super().__init__(ListData(rows, tuple(rows[0])), choose(None, None, False, None, None), workers=1)
        self.padded_samples = rows


@dataclass
class RandomData:
    """Rows of random numbers; a row depends on its index only.

    >>> RandomData(2, {"x": (np.dtype("uint8"), (2,))}, 0).fetch(1)[0].shape
    (2,)
    """

    count: int
    fields: dict[str, tuple[np.dtype[Any], tuple[int, ...]]]
    seed: int

    @lazy
    def columns(self) -> tuple[str, ...]:
        return tuple(self.fields)

    def __len__(self) -> int:
        return self.count

    def fetch(self, index: int) -> Row:
        rng = generator_for(self.seed, index)
        return tuple(_random(rng, dtype, shape) for dtype, shape in self.fields.values())

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        return f"random row {index}"

    def labels(self, column: str) -> Array:
        at = self.columns.index(column)
        return np.array([self.fetch(i)[at] for i in range(self.count)])


def _random(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    if dtype.kind == "f":
        return np.asarray(rng.random(shape)).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(2, size=shape).astype(bool)
    bounds = np.iinfo(dtype)
    return rng.integers(bounds.min, bounds.max, size=shape, dtype=dtype, endpoint=True)


class RandomDataset(MappableDataset):
    """Rows of random numbers, as many and of such kinds as a schema says.

    >>> s = Schema(); s.add_column("image", "uint8", [2, 2]); s.add_column("label", "int32", [1])
    >>> RandomDataset(total_rows=5, schema=s).output_shapes()
    [[2, 2], [1]]
    """

    def __init__(
        self,
        total_rows: int | None = None,
        schema: Schema | str | None = None,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        cache: DatasetCache | None = None,
        shuffle: bool | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        described = as_schema(schema)
        columns = dict(described.columns) if described else {"x": {"type": "uint8", "shape": [4]}}
        wanted = list(columns_list or columns)
        missing = [c for c in wanted if c not in columns]
        if missing:
            raise ArgumentError(f"the schema has no column {missing}", given={"columns": list(columns)})
        rows = total_rows or (described.num_rows if described else None) or 100
        fields = {c: (as_dtype(columns[c]["type"]), tuple(columns[c].get("shape") or ())) for c in wanted}
        texts = {c: dtype for c, (dtype, _) in fields.items() if dtype.kind not in "biuf"}
        if texts:
            raise ArgumentError("RandomDataset makes numbers and truth values only", given={"other columns": texts})
        super().__init__(
            RandomData(rows, fields, current_options().seed or 0),
            choose(num_samples, None, shuffle, num_shards, shard_id),
            workers=num_parallel_workers,
            arguments={"total_rows": rows},
            cache=cache,
        )


__all__ = [
    "GeneratorDataset",
    "MappableDataset",
    "NumpySlicesDataset",
    "PaddedDataset",
    "RandomDataset",
    "Shuffle",
    "SourceDataset",
]
