"""`Dataset`: a plan with the methods that extend it and the iterators that run it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mycelia.checks import truth, whole
from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.caches.diskcache import DiskCache
from mycelia.dataset.callback import DSCallback
from mycelia.dataset.config import current_options
from mycelia.dataset.flow.table import ENDLESS
from mycelia.dataset.plan.arranging import (
    ConcatNode,
    FixedShuffleNode,
    PickNode,
    ProjectNode,
    RenameNode,
    RepeatNode,
    ShuffleNode,
    SliceNode,
    ZipNode,
    by_number,
)
from mycelia.dataset.plan.batching import BatchNode, BucketNode, Padding
from mycelia.dataset.plan.choosing import as_sampler
from mycelia.dataset.plan.operations import FilterNode, MapNode
from mycelia.dataset.plan.origins import SourceNode
from mycelia.dataset.plan.packing import PackNode, WindowsNode
from mycelia.dataset.plan.samplers import Sampler
from mycelia.dataset.plan.syncing import Gate, SyncNode
from mycelia.dataset.run.arguments import arity, cached, padding_of, parts_of, workers_of
from mycelia.dataset.run.flattening import FlatMapNode
from mycelia.dataset.run.pipeline import NumberedPlan, walk
from mycelia.dataset.run.previewing import Preview
from mycelia.dataset.run.reading import Names, megabytes, names_of
from mycelia.dataset.run.steering import Steered
from mycelia.errors import ArgumentError
from mycelia.names import missing_attribute


class Dataset(Steered):
    """Rows with named columns. Every method gives a new dataset; nothing runs before an iterator is asked.

    >>> import mycelia.dataset as ds
    >>> d = ds.NumpySlicesDataset([1, 2, 3, 4], ["x"], shuffle=False)
    >>> [b["x"].tolist() for b in d.map(lambda x: x * 10).batch(2).create_dict_iterator(1, output_numpy=True)]
    [[10, 20], [30, 40]]
    """

    if not TYPE_CHECKING:
        __getattr__ = missing_attribute

    # operations on rows

    def __getitem__(self, index: int | slice) -> Any:
        """A row of the first epoch by its number, as a dictionary of arrays; of a slice, a dataset of those rows.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([10, 20, 30], ["x"], shuffle=False).map(lambda x: x + 1)
        >>> d[-1], [int(row["x"]) for row in d[::2].create_dict_iterator(1, output_numpy=True)]
        ({'x': array(31)}, [11, 31])
        """
        options = current_options()
        size = by_number(self.plan, NumberedPlan(self.plan, options, options.seed or 0)).size()
        if isinstance(index, slice):
            return Dataset(PickNode(range(size)[index], children=(self.plan,)))
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise ArgumentError(f"rows are asked for by a whole number or a slice, and not by {index!r}")
        if not -size <= index < size:
            raise IndexError(f"row {index} of {size}")
        place = range(size)[index]
        with self._all(PickNode(range(place, place + 1), children=(self.plan,))) as rows:
            return dict(zip(self.plan.columns, next(rows), strict=True))

    def preview(self, count: int = 5) -> Preview:
        """The first rows, to look at: pictures, sounds and texts, in a terminal, a notebook or a page of HTML.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([[1, 2], [3, 4]], ["x"], shuffle=False).preview(2)
        row 0
          x  int64[2] 1 2
        row 1
          x  int64[2] 3 4
        """
        wanted = whole("preview", "count", count, 1)
        with self._all(SliceNode(0, wanted, children=(self.plan,))) as rows:
            return Preview([dict(zip(self.plan.columns, row, strict=True)) for row in rows])

    def map(
        self,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        input_columns: Names = None,
        output_columns: Names = None,
        num_parallel_workers: int | None = None,
        *,
        python_multiprocessing: bool = False,
        max_rowsize: int | Sequence[int] | None = None,
        cache: DatasetCache | DiskCache | None = None,
        callbacks: DSCallback | Sequence[DSCallback] | None = None,
        offload: bool | None = None,
    ) -> Dataset:
        """Every row through one operation or several, which take the input columns and give the output columns.

        A cache keeps what was made of a row, in memory (`DatasetCache`) or in a folder (`DiskCache`), for operations
        that are not random. `offload` asks for operations to run
        on the device that trains: here that is the processor, where they run anyway.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
        >>> d.map(lambda a, b: a + b, ["a", "b"], ["sum"]).get_col_names()
        ['sum']
        """
        listed = tuple(operations) if isinstance(operations, list | tuple) else (operations,)
        wrong = [o for o in listed if not callable(o)]
        if not listed or wrong:
            raise ArgumentError(
                f"map takes functions, and got {wrong or 'none'}", hint="for example map(lambda x: x * 2, ['x'])"
            )
        for kind in (o for o in listed if isinstance(o, type) and any("__call__" in vars(k) for k in o.__mro__)):
            name = kind.__name__
            raise ArgumentError(f"{name} is a class of functions", hint=f"call it to make a function: {name}()")
        if offload is not None and not isinstance(offload, bool):
            raise ArgumentError(f"offload must be True, False or None, and is {offload!r}")
        before = names_of(input_columns) or self.plan.columns[: arity(listed[0])]
        self.plan.index_of(before, "map")
        workers = workers_of(num_parallel_workers)
        node = MapNode(
            cached(listed, cache),
            before,
            names_of(output_columns) or before,
            callbacks=(callbacks,) if isinstance(callbacks, DSCallback) else tuple(callbacks or ()),
            children=(self.plan,),
            workers=workers,
            processes=truth("map", "python_multiprocessing", python_multiprocessing),
            max_rowsize=megabytes(max_rowsize),
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
        if not callable(predicate):
            raise ArgumentError(
                f"filter takes a function, not a {type(predicate).__name__}", hint="for example filter(lambda x: x > 0)"
            )
        before = names_of(input_columns)
        self.plan.index_of(before, "filter")
        node = FilterNode(predicate, before, children=(self.plan,), workers=workers_of(num_parallel_workers))
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
        max_rowsize: int | Sequence[int] | None = None,
    ) -> Dataset:
        """Rows put together into batches of `batch_size`, a number or a function of `BatchInfo`.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
        >>> [b["x"].tolist() for b in d.batch(2).create_dict_iterator(1, output_numpy=True)]
        [[1, 2], [3]]
        """
        size = batch_size if callable(batch_size) else whole("batch", "batch_size", batch_size, 1)
        before = names_of(input_columns) or (self.plan.columns if per_batch_map else ())
        self.plan.index_of(before, "batch")
        if per_batch_map is None and (input_columns is not None or output_columns is not None):
            raise ArgumentError("batch: input_columns and output_columns are those of per_batch_map, which is missing")
        node = BatchNode(
            size,
            truth("batch", "drop_remainder", drop_remainder),
            per_batch_map,
            before,
            names_of(output_columns) or before,
            children=(self.plan,),
            workers=workers_of(num_parallel_workers),
            processes=truth("batch", "python_multiprocessing", python_multiprocessing),
            max_rowsize=megabytes(max_rowsize),
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
        size = batch_size if callable(batch_size) else whole("padded_batch", "batch_size", batch_size, 1)
        padding = padding_of(pad_info, self.plan)
        drop = truth("padded_batch", "drop_remainder", drop_remainder)
        node = BatchNode(size, drop, padding=padding, children=(self.plan,), workers=workers_of(num_parallel_workers))
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
        bounds = tuple(whole("bucket_batch_by_length", "bucket_boundaries", b, 1) for b in bucket_boundaries)
        sizes = tuple(whole("bucket_batch_by_length", "bucket_batch_sizes", s, 1) for s in bucket_batch_sizes)
        if not bounds or list(bounds) != sorted(set(bounds)):
            raise ArgumentError(f"bucket_boundaries must rise, and are {list(bounds)}")
        if len(sizes) != len(bounds) + 1:
            raise ArgumentError(f"{len(bounds)} boundaries make {len(bounds) + 1} buckets, and {len(sizes)} have sizes")
        by = names_of(column_names)
        if element_length_function is None and len(by) != 1:
            raise ArgumentError("without element_length_function the length is that of one column", given={"got": by})
        self.plan.index_of(by, "bucket_batch_by_length")
        padding = padding_of(pad_info, self.plan) or {}
        node = BucketNode(
            by,
            bounds,
            sizes,
            element_length_function,
            padding,
            truth("bucket_batch_by_length", "pad_to_bucket_boundary", pad_to_bucket_boundary),
            truth("bucket_batch_by_length", "drop_remainder", drop_remainder),
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
        return ShuffleDataset(ShuffleNode(whole("shuffle", "buffer_size", buffer_size, 1), children=(self.plan,)))

    def repeat(self, count: int | None = None) -> Dataset:
        """Several epochs as one; without a count, for ever.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).repeat(3).get_dataset_size()
        6
        """
        endless = count is None or (type(count) is int and count == -1)
        times = -1 if endless else whole("repeat", "count", count, 1)
        return RepeatDataset(RepeatNode(max(times, 0), children=(self.plan,)))

    def skip(self, count: int) -> Dataset:
        """All rows but the first ones.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2, 3], ["x"]).skip(2).get_dataset_size()
        1
        """
        return SkipDataset(SliceNode(whole("skip", "count", count, 0), ENDLESS, children=(self.plan,)))

    def take(self, count: int = -1) -> Dataset:
        """The first rows only; -1 for all.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2, 3], ["x"]).take(2).get_dataset_size()
        2
        """
        if count == -1:
            return Dataset(self.plan)
        return TakeDataset(SliceNode(0, whole("take", "count", count, 1), children=(self.plan,)))

    def split(self, sizes: Sequence[int] | Sequence[float], randomize: bool = True) -> list[Dataset]:
        """Parts that share no row, by sizes or by fractions that sum to 1.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset(list(range(10)), ["x"], shuffle=False)
        >>> [p.get_dataset_size() for p in d.split([0.7, 0.3])]
        [7, 3]
        """
        total = self.get_dataset_size()
        counts = parts_of(sizes, total)
        base: Dataset = self
        if truth("split", "randomize", randomize):
            base = Dataset(FixedShuffleNode(total, children=(self.plan,)))
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
        if not others or not all(isinstance(d, Dataset) for d in others):
            raise ArgumentError(
                "zip takes two datasets or more",
                given={"got": [type(d).__name__ for d in (self, *others)]},
                hint="give them in a tuple: ds.zip((first, second))",
            )
        node = ZipNode(children=(self.plan, *(d.plan for d in others)))
        assert node.names, "names are checked when they are made"
        return ZipDataset(node)

    # operations on columns

    def rename(self, input_columns: Names, output_columns: Names) -> Dataset:
        """Other names for some columns.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).rename("x", "y").get_col_names()
        ['y']
        """
        before, after = names_of(input_columns), names_of(output_columns)
        if len(before) != len(after):
            raise ArgumentError(
                "rename: as many new names as old ones",
                given={"old": before, "new": after},
                hint="for example rename(['a', 'b'], ['x', 'y'])",
            )
        node = RenameNode(before, after, children=(self.plan,))
        assert node.names, "names are checked when they are made"
        return RenameDataset(node)

    def project(self, columns: Names) -> Dataset:
        """Some columns, in that order.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset({"a": [1], "b": [2]}).project("b").get_col_names()
        ['b']
        """
        if not names_of(columns):
            raise ArgumentError(
                "project keeps columns, and got no name", hint=f"there are {', '.join(self.plan.columns)}"
            )
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
        if not callable(func):
            raise ArgumentError(f"flat_map takes a function of a row, and got {type(func).__name__}")
        node = FlatMapNode(func, self._first, children=(self.plan,))
        return FlatMapDataset(node)

    def pack(
        self,
        length: int,
        columns: Names = None,
        *,
        split: bool = True,
        pad: Any = 0,
        end: Any = None,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Documents of tokens one after the other, in rows of `length`, with their borders.

        Two columns are added: `segment_ids` has the number of each token's document in its row, from 1 on, 0 for
        padding; `positions` has the token's place in its document. With `split` a document goes on in the next row;
        without, it begins there when it does not fit, and what is left is padded. `end` is put after every document.
        Other columns that go token by token (a mask, say) are packed along.

        >>> import mycelia.dataset as ds
        >>> tokens = [np.array([1, 2, 3]), np.array([4]), np.array([5, 6])]
        >>> documents = ds.GeneratorDataset(tokens, ["x"], shuffle=False)
        >>> rows = documents.pack(4).create_dict_iterator(1, output_numpy=True)
        >>> [(r["x"].tolist(), r["segment_ids"].tolist(), r["positions"].tolist()) for r in rows]
        [([1, 2, 3, 4], [1, 1, 1, 2], [0, 1, 2, 0]), ([5, 6, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0])]
        """
        names = names_of(columns) or self.plan.columns[:1]
        fills = tuple(pad) if isinstance(pad, list | tuple) else (pad,) * len(names)
        if len(fills) != len(names):
            raise ArgumentError("pack: one value to pad with, or one for every column", given={"columns": list(names)})
        size = whole("pack", "length", length, 1)
        whether, drop = truth("pack", "split", split), truth("pack", "drop_remainder", drop_remainder)
        node = PackNode(size, names, whether, fills, end, drop, children=(self.plan,))
        assert node.taken, "names are checked when they are made"
        assert node.columns, "and so are the new ones"
        return PackDataset(node)

    def windows(self, length: int, stride: int | None = None, columns: Names = None, *, pad: Any = None) -> Dataset:
        """Every row cut into windows of `length` tokens, each `stride` further on; other columns come with each.

        What does not fill a window is left out or, with `pad`, filled up.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([[1, 2, 3, 4, 5]], ["x"]).windows(3, 2)
        >>> [r["x"].tolist() for r in d.create_dict_iterator(1, output_numpy=True)]
        [[1, 2, 3], [3, 4, 5]]
        """
        names = names_of(columns) or self.plan.columns[:1]
        size = whole("windows", "length", length, 1)
        step = size if stride is None else whole("windows", "stride", stride, 1)
        fills = None if pad is None else tuple(pad) if isinstance(pad, list | tuple) else (pad,) * len(names)
        if fills is not None and len(fills) != len(names):
            raise ArgumentError("windows: one value to pad with, or one per column", given={"columns": list(names)})
        node = WindowsNode(size, step, names, fills, children=(self.plan,))
        assert node.taken, "names are checked when they are made"
        return WindowsDataset(node)

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
        gate = Gate(callback, whole("sync_wait", "num_batch", num_batch, 1))
        return SyncWaitDataset(SyncNode(condition_name, gate, children=(self.plan,)))

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
        return Dataset(replace(plan, sampler=sampler))

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


class FlatMapDataset(Dataset):
    """What `flat_map` gives."""


class PackDataset(Dataset):
    """What `pack` gives."""


class WindowsDataset(Dataset):
    """What `windows` gives."""


class MixDataset(Dataset):
    """What `mix` gives."""


class InterleaveDataset(Dataset):
    """What `interleave` gives."""


class SyncWaitDataset(Dataset):
    """What `sync_wait` gives."""
