"""`Dataset`: a plan with the methods that extend it and the iterators that run it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.dataset.callback import DSCallback
from mycelia.dataset.config import current_options
from mycelia.dataset.flow.table import ENDLESS, ShuffleTable
from mycelia.dataset.iterators import DictIterator, TupleIterator
from mycelia.dataset.operations import BatchNode, BucketNode, FilterNode, Gate, MapNode, Padding, SyncNode
from mycelia.dataset.pipeline import Frame, walk
from mycelia.dataset.plan import (
    ConcatNode,
    Node,
    ProjectNode,
    RenameNode,
    RepeatNode,
    ShuffleNode,
    SliceNode,
    SourceNode,
    ZipNode,
)
from mycelia.dataset.samplers import Sampler, as_sampler
from mycelia.dataset.sinks import DeviceQueue, save
from mycelia.errors import ArgumentError

Names = str | Sequence[str] | None


def names_of(given: Names) -> tuple[str, ...]:
    """Column names from one name, several, or none.

    >>> names_of("a"), names_of(["a", "b"]), names_of(None)
    (('a',), ('a', 'b'), ())
    """
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _whole(name: str, value: Any, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ArgumentError(f"{name} must be a whole number of at least {low}, and is {value!r}")
    return int(value)


class Dataset:
    """Rows with named columns. Every method gives a new dataset; nothing runs before an iterator is asked.

    >>> import mycelia.dataset as ds
    >>> d = ds.NumpySlicesDataset([1, 2, 3, 4], ["x"], shuffle=False)
    >>> [b["x"].tolist() for b in d.map(lambda x: x * 10).batch(2).create_dict_iterator(1, output_numpy=True)]
    [[10, 20], [30, 40]]
    """

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self._init_step = 0

    # operations on rows

    def map(
        self,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        input_columns: Names = None,
        output_columns: Names = None,
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        callbacks: DSCallback | Sequence[DSCallback] | None = None,
    ) -> Dataset:
        """Every row through one operation or several, which take the input columns and give the output columns.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
        >>> d.map(lambda a, b: a + b, ["a", "b"], ["sum"]).get_col_names()
        ['sum']
        """
        listed = tuple(operations) if isinstance(operations, list | tuple) else (operations,)
        wrong = [o for o in listed if not callable(o)]
        if not listed or wrong:
            raise ArgumentError(f"map takes functions, and got {wrong or 'none'}")
        before = names_of(input_columns) or self.plan.columns[: _arity(listed[0])]
        self.plan.index_of(before, "map")
        workers = _workers(num_parallel_workers)
        node = MapNode(
            listed,
            before,
            names_of(output_columns) or before,
            alone=workers == 1,
            callbacks=(callbacks,) if isinstance(callbacks, DSCallback) else tuple(callbacks or ()),
            children=(self.plan,),
            workers=workers,
            processes=python_multiprocessing,
        )
        assert node.columns, "names are checked when they are made"
        return MapDataset(node)

    def filter(
        self, predicate: Callable[..., Any], input_columns: Names = None, num_parallel_workers: int | None = None
    ) -> Dataset:
        """The rows for which `predicate` holds.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).filter(lambda x: x != 2)
        >>> [int(r["x"]) for r in d.create_dict_iterator(1, output_numpy=True)]
        [1, 3]
        """
        before = names_of(input_columns)
        self.plan.index_of(before, "filter")
        node = FilterNode(predicate, before, children=(self.plan,), workers=_workers(num_parallel_workers))
        return FilterDataset(node)

    def batch(
        self,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        *,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: Names = None,
        output_columns: Names = None,
        python_multiprocessing: bool = False,
    ) -> Dataset:
        """Rows put together into batches of `batch_size`, a number or a function of `BatchInfo`.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
        >>> [b["x"].tolist() for b in d.batch(2).create_dict_iterator(1, output_numpy=True)]
        [[1, 2], [3]]
        """
        size = batch_size if callable(batch_size) else _whole("batch_size", batch_size, 1)
        before = names_of(input_columns) or (self.plan.columns if per_batch_map else ())
        self.plan.index_of(before, "batch")
        if per_batch_map is None and (input_columns is not None or output_columns is not None):
            raise ArgumentError("batch: input_columns and output_columns are those of per_batch_map, which is missing")
        node = BatchNode(
            size,
            drop_remainder,
            per_batch_map,
            before,
            names_of(output_columns) or before,
            children=(self.plan,),
            workers=_workers(num_parallel_workers),
            processes=python_multiprocessing,
        )
        return BatchDataset(node)

    def padded_batch(
        self,
        batch_size: int | Callable[..., int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: Padding | None = None,
    ) -> Dataset:
        """Batches of rows that are first padded to one shape: that of `pad_info`, or of the largest row.

        >>> import mycelia.dataset as ds
        >>> d = ds.GeneratorDataset([[1], [1, 2]], ["x"], shuffle=False).padded_batch(2, pad_info={"x": ([3], -1)})
        >>> next(d.create_dict_iterator(1, output_numpy=True))["x"].tolist()
        [[1, -1, -1], [1, 2, -1]]
        """
        size = batch_size if callable(batch_size) else _whole("batch_size", batch_size, 1)
        padding = _padding(pad_info, self.plan)
        node = BatchNode(
            size, drop_remainder, padding=padding, children=(self.plan,), workers=_workers(num_parallel_workers)
        )
        return PaddedBatchDataset(node)

    def bucket_batch_by_length(
        self,
        column_names: Sequence[str],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        element_length_function: Callable[..., int] | None = None,
        pad_info: Padding | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Batches of rows of similar length, padded.

        >>> import mycelia.dataset as ds
        >>> d = ds.GeneratorDataset([[1], [1, 2, 3], [2]], ["x"], shuffle=False)
        >>> d = d.bucket_batch_by_length(["x"], [2], [2, 2])
        >>> [b["x"].tolist() for b in d.create_dict_iterator(1, output_numpy=True)]
        [[[1], [2]], [[1, 2, 3]]]
        """
        bounds = tuple(_whole("bucket_boundaries", b, 1) for b in bucket_boundaries)
        sizes = tuple(_whole("bucket_batch_sizes", s, 1) for s in bucket_batch_sizes)
        if not bounds or list(bounds) != sorted(set(bounds)):
            raise ArgumentError(f"bucket_boundaries must rise, and are {list(bounds)}")
        if len(sizes) != len(bounds) + 1:
            raise ArgumentError(f"{len(bounds)} boundaries make {len(bounds) + 1} buckets, and {len(sizes)} have sizes")
        by = names_of(column_names)
        if element_length_function is None and len(by) != 1:
            raise ArgumentError("without element_length_function the length is that of one column", given={"got": by})
        self.plan.index_of(by, "bucket_batch_by_length")
        padding = _padding(pad_info, self.plan) or {}
        node = BucketNode(
            by,
            bounds,
            sizes,
            element_length_function,
            padding,
            pad_to_bucket_boundary,
            drop_remainder,
            children=(self.plan,),
        )
        return BucketBatchByLengthDataset(node)

    # operations on order

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows mixed by a buffer of that many; as large as the dataset, it mixes completely.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).shuffle(3)
        >>> sorted(int(r["x"]) for r in d.create_dict_iterator(1, output_numpy=True))
        [1, 2, 3]
        """
        return ShuffleDataset(ShuffleNode(_whole("buffer_size", buffer_size, 1), children=(self.plan,)))

    def repeat(self, count: int | None = None) -> Dataset:
        """Several epochs as one; without a count, for ever.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).repeat(3).get_dataset_size()
        6
        """
        if count is not None and count != -1:
            _whole("count", count, 1)
        return RepeatDataset(RepeatNode(0 if count in (None, -1) else int(count or 0), children=(self.plan,)))

    def skip(self, count: int) -> Dataset:
        """All rows but the first ones.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2, 3], ["x"]).skip(2).get_dataset_size()
        1
        """
        return SkipDataset(SliceNode(_whole("count", count, 0), ENDLESS, children=(self.plan,)))

    def take(self, count: int = -1) -> Dataset:
        """The first rows only; -1 for all.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2, 3], ["x"]).take(2).get_dataset_size()
        2
        """
        if count == -1:
            return Dataset(self.plan)
        return TakeDataset(SliceNode(0, _whole("count", count, 1), children=(self.plan,)))

    def split(self, sizes: Sequence[int] | Sequence[float], randomize: bool = True) -> list[Dataset]:
        """Parts that share no row, by sizes or by fractions that sum to 1.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset(list(range(10)), ["x"], shuffle=False)
        >>> [p.get_dataset_size() for p in d.split([0.7, 0.3])]
        [7, 3]
        """
        total = self.get_dataset_size()
        counts = _parts(sizes, total)
        base: Dataset = self
        if randomize:
            base = Dataset(_FixedShuffle(total, children=(self.plan,)))
        ends = np.cumsum(counts).tolist()
        return [
            Dataset(SliceNode(end - count, count, children=(base.plan,)))
            for end, count in zip(ends, counts, strict=True)
        ]

    def concat(self, datasets: Dataset | Sequence[Dataset]) -> Dataset:
        """The rows of this dataset, and then those of others.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2], ["x"])
        >>> d.concat(d).get_dataset_size()
        4
        """
        others = [datasets] if isinstance(datasets, Dataset) else list(datasets)
        node = ConcatNode(children=(self.plan, *(d.plan for d in others)))
        assert node.names, "columns are compared when they are made"
        return ConcatDataset(node)

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def zip(self, datasets: Dataset | Sequence[Dataset]) -> Dataset:
        """The columns of this dataset and of others, row by row.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).zip(ds.NumpySlicesDataset([2], ["y"])).get_col_names()
        ['x', 'y']
        """
        others = (datasets,) if isinstance(datasets, Dataset) else tuple(datasets)
        return zip_datasets((self, *others))

    # operations on columns

    def rename(self, input_columns: Names, output_columns: Names) -> Dataset:
        """Other names for some columns.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).rename("x", "y").get_col_names()
        ['y']
        """
        before, after = names_of(input_columns), names_of(output_columns)
        if len(before) != len(after):
            raise ArgumentError("rename: as many new names as old ones", given={"old": before, "new": after})
        node = RenameNode(before, after, children=(self.plan,))
        assert node.names, "names are checked when they are made"
        return RenameDataset(node)

    def project(self, columns: Names) -> Dataset:
        """Some columns, in that order.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset({"a": [1], "b": [2]}).project("b").get_col_names()
        ['b']
        """
        node = ProjectNode(names_of(columns), children=(self.plan,))
        assert node.kept, "names are checked when they are made"
        return ProjectDataset(node)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).apply(lambda d: d.batch(2)).get_dataset_size()
        1
        """
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise ArgumentError(f"apply_func must give a dataset, and gave {type(made).__name__}")
        return made

    def flat_map(self, func: Callable[[list[Any]], Dataset]) -> Dataset:
        """The datasets that `func` makes of every row, one after the other.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
        >>> d = d.flat_map(lambda row: ds.NumpySlicesDataset([row[0], row[0] * 10], ["x"], shuffle=False))
        >>> [int(r["x"]) for r in d.create_dict_iterator(1, output_numpy=True)]
        [1, 10, 2, 20]
        """
        made = [func(row) for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        wrong = [type(m).__name__ for m in made if not isinstance(m, Dataset)]
        if not made or wrong:
            raise ArgumentError(f"func must give a dataset for every row, and gave {wrong or 'nothing'}")
        return made[0].concat(made[1:]) if len(made) > 1 else made[0]

    # feedback from the reader

    def sync_wait(self, condition_name: str, num_batch: int = 1, callback: Callable[..., Any] | None = None) -> Dataset:
        """A point that lets `num_batch` rows pass for every `sync_update`, so that the reader can steer what follows.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).sync_wait("go")
        >>> d.is_sync()
        True
        """
        if condition_name in (n.condition for n in walk(self.plan) if isinstance(n, SyncNode)):
            raise ArgumentError(f"there is a synchronisation point named {condition_name!r} already")
        gate = Gate(callback, _whole("num_batch", num_batch, 1))
        return SyncWaitDataset(SyncNode(condition_name, gate, children=(self.plan,)))

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Let more rows pass at a synchronisation point; `data` goes to its callback first.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2], ["x"]).sync_wait("go", callback=lambda data: print("got", data))
        >>> d.sync_update("go", data=3)
        got 3
        """
        gates = self.get_sync_notifiers()
        if condition_name not in gates:
            raise ArgumentError(
                f"there is no synchronisation point {condition_name!r}", given={"there are": list(gates)}
            )
        gates[condition_name](num_batch, data)

    def get_sync_notifiers(self) -> dict[str, Callable[..., None]]:
        """The synchronisation points by name.

        >>> import mycelia.dataset as ds
        >>> list(ds.NumpySlicesDataset([1], ["x"]).sync_wait("go").get_sync_notifiers())
        ['go']
        """
        return {n.condition: n.gate.update for n in walk(self.plan) if isinstance(n, SyncNode)}

    def disable_sync(self) -> None:
        """Let everything pass from now on.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).sync_wait("go").disable_sync()
        """
        for node in walk(self.plan):
            if isinstance(node, SyncNode):
                node.gate.disable()

    def is_sync(self) -> bool:
        """Whether there is a synchronisation point.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).is_sync()
        False
        """
        return any(isinstance(n, SyncNode) for n in walk(self.plan))

    # reading

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """Rows as dictionaries; see `Iterator`.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
        >>> [r["x"].tolist() for r in d.create_dict_iterator(num_epochs=1, output_numpy=True)]
        [1, 2]
        """
        return DictIterator(
            self.plan,
            current_options(),
            num_epochs=num_epochs,
            output_numpy=output_numpy,
            do_copy=do_copy,
            init_step=self._init_step,
        )

    def create_tuple_iterator(
        self, columns: Names = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> TupleIterator:
        """Rows as lists, of all columns or some.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset({"a": [1], "b": [2]})
        >>> [v.tolist() for v in next(d.create_tuple_iterator(["b"], 1, output_numpy=True))]
        [2]
        """
        return TupleIterator(
            self.plan,
            current_options(),
            num_epochs=num_epochs,
            output_numpy=output_numpy,
            do_copy=do_copy,
            columns=names_of(columns),
            init_step=self._init_step,
        )

    def __iter__(self) -> Iterator[list[Any]]:
        return self.create_tuple_iterator(num_epochs=1)

    def device_que(self, send_epoch_end: bool = True) -> DeviceQueue:
        """A bounded queue of rows that a training loop drains; see `DeviceQueue`.

        >>> import mycelia.dataset as ds
        >>> with ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).batch(2).device_que() as queue:
        ...     queue.get()[0].tolist()
        [1, 2]
        """
        options = current_options()
        iterator = self.create_tuple_iterator(output_numpy=True)
        return DeviceQueue(iterator, options.prefetch_size, send_epoch_end, options.sending_batches)

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Write all rows of one epoch to record files.

        >>> import tempfile, mycelia.dataset as ds
        >>> place = tempfile.mkdtemp() + "/numbers.mindrecord"
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).save(place)
        >>> ds.MindDataset(place).get_dataset_size()
        2
        """
        save(self.create_dict_iterator(num_epochs=1, output_numpy=True), file_name, num_files, file_type)

    # questions

    def get_dataset_size(self) -> int:
        """How many rows an epoch has; endless repetition counts once. Filters must be run to know.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2, 3], ["x"]).batch(2).get_dataset_size()
        2
        """
        once = _once(self.plan)
        table = Frame(once, current_options(), current_options().seed or 0).table(once)
        if table is not None:
            return table.size()
        return sum(1 for _ in Dataset(once).create_tuple_iterator(num_epochs=1, output_numpy=True))

    def __len__(self) -> int:
        return self.get_dataset_size()

    def __bool__(self) -> bool:
        return True  # asking whether there is a dataset must not count its rows

    def _first(self) -> list[Any]:
        with self.create_tuple_iterator(num_epochs=1, output_numpy=True) as rows:
            return next(rows, [])

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """The shape of every column, seen on the first row; with `estimate`, None where rows differ.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([[1, 2]], ["x"]).output_shapes()
        [[2]]
        """
        first: list[list[int | None]] = [list(np.shape(v)) for v in self._first()]
        if not estimate:
            return first
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            for known, value in zip(first, row, strict=True):
                for axis, size in enumerate(np.shape(value)):
                    known[axis] = known[axis] if known[axis] == size else None
        return first

    def output_types(self) -> list[np.dtype[Any]]:
        """The element type of every column, seen on the first row.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1.5], ["x"]).output_types()
        [dtype('float64')]
        """
        return [np.asarray(v).dtype for v in self._first()]

    def get_col_names(self) -> list[str]:
        """The names of the columns.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).get_col_names()
        ['x']
        """
        return list(self.plan.columns)

    def get_batch_size(self) -> int:
        """How many rows the last batch operation puts together; 1 without one.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).batch(2).get_batch_size()
        2
        """
        sizes = [n.size for n in walk(self.plan) if isinstance(n, BatchNode) and isinstance(n.size, int)]
        return sizes[0] if sizes else 1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated; 1 without `repeat`.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).repeat(3).get_repeat_count()
        3
        """
        counts = [n.count or -1 for n in walk(self.plan) if isinstance(n, RepeatNode)]
        return counts[0] if counts else 1

    def get_class_indexing(self) -> dict[str, Any]:
        """The number of every class by its name, when the source knows.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).get_class_indexing()
        {}
        """
        for node in walk(self.plan):
            if isinstance(node, SourceNode) and hasattr(node.data, "class_indexing"):
                return dict(node.data.class_indexing)
        return {}

    def num_classes(self) -> int | None:
        """How many classes there are, when the source knows.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).num_classes() is None
        True
        """
        return len(self.get_class_indexing()) or None

    def is_shuffled(self) -> bool:
        """Whether the order of rows is random.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).is_shuffled()
        True
        """
        mixed = [n for n in walk(self.plan) if isinstance(n, ShuffleNode)]
        sampled = [n for n in walk(self.plan) if isinstance(n, SourceNode) and n.sampler.is_shuffled()]
        return bool(mixed or sampled)

    def is_sharded(self) -> bool:
        """Whether only a share of the rows is read.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"], num_shards=2, shard_id=0).is_sharded()
        True
        """
        return any(isinstance(n, SourceNode) and n.sampler.is_sharded() for n in walk(self.plan))

    def set_init_step(self, init_step: int) -> None:
        """Let iterators begin after that many rows, as if they had been read.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False); d.set_init_step(2)
        >>> next(d.create_dict_iterator(output_numpy=True))["x"].tolist()
        3
        """
        self._init_step = _whole("init_step", init_step, 0)

    def get_init_step(self) -> int:
        """After how many rows iterators begin.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).get_init_step()
        0
        """
        return self._init_step

    def reset(self) -> None:
        """Let iterators begin at the first row again.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).reset()
        """
        self._init_step = 0

    def to_json(self, filename: str = "") -> dict[str, Any]:
        """The plan as plain data; functions are named, not stored.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).batch(2).to_json()["op_type"]
        'Batch'
        """
        told = describe(self.plan)
        if filename:
            Path(filename).write_text(json.dumps(told, indent=2))
        return told

    def use_sampler(self, new_sampler: Sampler | Iterable[int]) -> Dataset:
        """The same source with another sampler; for a concatenation, a sampler over all its rows.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"]).use_sampler(ds.SubsetSampler([2, 0]))
        >>> [int(r[0]) for r in d.create_tuple_iterator(None, 1, output_numpy=True)]
        [3, 1]
        """
        plan = self.plan
        sampler = as_sampler(new_sampler)
        if isinstance(plan, ConcatNode):
            return Dataset(ConcatNode(sampler, children=plan.children))
        if not isinstance(plan, SourceNode):
            raise ArgumentError("use_sampler works on a source, before any operation")
        return Dataset(SourceNode(plan.data, sampler, plan.name, plan.exclusive, plan.arguments, workers=plan.workers))

    def add_sampler(self, new_sampler: Sampler) -> Dataset:
        """The same source, with `new_sampler` choosing among what its sampler chose.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).add_sampler(ds.SubsetSampler([2, 0]))
        >>> [int(r[0]) for r in d.create_tuple_iterator(None, 1, output_numpy=True)]
        [3, 1]
        """
        if isinstance(self.plan, SourceNode):
            new_sampler.add_child(self.plan.sampler)
        return self.use_sampler(new_sampler)


class MapDataset(Dataset):
    """What `map` gives."""


class FilterDataset(Dataset):
    """What `filter` gives."""


class BatchDataset(Dataset):
    """What `batch` gives."""


class PaddedBatchDataset(Dataset):
    """What `padded_batch` gives."""


class BucketBatchByLengthDataset(Dataset):
    """What `bucket_batch_by_length` gives."""


class ShuffleDataset(Dataset):
    """What `shuffle` gives."""


class RepeatDataset(Dataset):
    """What `repeat` gives."""


class SkipDataset(Dataset):
    """What `skip` gives."""


class TakeDataset(Dataset):
    """What `take` gives."""


class ConcatDataset(Dataset):
    """What `concat` gives."""


class ZipDataset(Dataset):
    """What `zip` gives."""


class RenameDataset(Dataset):
    """What `rename` gives."""


class ProjectDataset(Dataset):
    """What `project` gives."""


class SyncWaitDataset(Dataset):
    """What `sync_wait` gives."""


class _FixedShuffle(ShuffleNode):
    """One order for all epochs: the parts of a split must not mix from epoch to epoch."""

    def table(self, c: Any) -> Any:
        table = super().table(c)
        if table is None:
            raise ArgumentError("split(randomize=True) needs a dataset whose rows can be read by index")
        assert isinstance(table, ShuffleTable), "a shuffled table"
        fixed = table.order.of(0)
        table.order.make = lambda epoch: fixed
        return table


def zip_datasets(datasets: Sequence[Dataset]) -> Dataset:
    """Several datasets side by side, as long as the shortest.

    >>> import mycelia.dataset as ds
    >>> ds.zip((ds.NumpySlicesDataset([1], ["x"]), ds.NumpySlicesDataset([2], ["y"]))).get_col_names()
    ['x', 'y']
    """
    if len(datasets) < 2 or not all(isinstance(d, Dataset) for d in datasets):
        raise ArgumentError("zip takes two datasets or more", given={"got": [type(d).__name__ for d in datasets]})
    node = ZipNode(children=tuple(d.plan for d in datasets))
    assert node.names, "names are checked when they are made"
    return ZipDataset(node)


def describe(plan: Node) -> dict[str, Any]:
    """A plan as plain data."""
    own = {"op_type": plan.label.split("(")[0], "num_parallel_workers": plan.workers, **plan.describe()}
    return {**own, "children": [describe(c) for c in plan.children]}


def _once(plan: Node) -> Node:
    """The plan without endless repetition, so that its rows can be counted."""
    if isinstance(plan, RepeatNode) and not plan.count:
        return _once(plan.child)
    if not any(isinstance(n, RepeatNode) and not n.count for n in walk(plan)):
        return plan
    return replace(plan, children=tuple(_once(c) for c in plan.children))


def _arity(operation: Any) -> int:
    """How many columns an operation takes when nobody says: its own count of plain parameters, at least one."""
    if not inspect.isroutine(operation):
        return 1
    try:
        parameters = inspect.signature(operation).parameters.values()
    except (TypeError, ValueError):
        return 1
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return max(1, sum(p.kind in plain and p.default is inspect.Parameter.empty for p in parameters))


def _workers(value: int | None) -> int | None:
    return None if value is None else _whole("num_parallel_workers", value, 1)


def _padding(given: Padding | None, plan: Node) -> Padding:
    padding = dict(given or {})
    plan.index_of(tuple(padding), "pad_info")
    return {k: v if isinstance(v, tuple | list) else (None, v) for k, v in padding.items()}


def _parts(sizes: Sequence[float], total: int) -> list[int]:
    if all(isinstance(s, float) for s in sizes):
        if not np.isclose(sum(sizes), 1) or min(sizes) <= 0:
            raise ArgumentError(f"fractions must be positive and sum to 1, and are {list(sizes)}")
        counts = [round(s * total) for s in sizes]
        counts[0] += total - sum(counts)
    else:
        counts = [_whole("sizes", s, 1) for s in sizes]
        if sum(counts) != total:
            raise ArgumentError(f"the sizes sum to {sum(counts)}, and there are {total} rows")
    if min(counts) < 1:
        raise ArgumentError(f"a part would be empty: {total} rows make {counts}")
    return counts
