"""What can be asked of any plan: its rows, through iterators, queues and files; its size, columns and types."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import whole
from mycelia.dataset.config import current_options
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.table import ENDLESS
from mycelia.dataset.plan.arranging import RenameNode, RepeatNode, ShuffleNode, SliceNode, ZipNode
from mycelia.dataset.plan.batching import BatchNode
from mycelia.dataset.plan.nodes import Node
from mycelia.dataset.plan.origins import SourceNode
from mycelia.dataset.plan.syncing import Gate, SyncNode
from mycelia.dataset.plan.weaving import MixNode
from mycelia.dataset.run.iterators import DictIterator, TupleIterator
from mycelia.dataset.run.pipeline import NumberedPlan, walk
from mycelia.dataset.run.sinks import DeviceQueue, save
from mycelia.errors import ArgumentError

Names = str | Sequence[str] | None


def names_of(given: Names) -> tuple[str, ...]:
    """Column names from one name, several, or none.

    >>> names_of("a"), names_of(["a", "b"]), names_of(None)
    (('a',), ('a', 'b'), ())
    """
    if not (given is None or isinstance(given, Iterable)) or any(not isinstance(n, str) for n in given or ()):
        raise ArgumentError(f"columns have names, and {given!r} is none", hint="a text, or a list of texts")
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def megabytes(given: int | Sequence[int] | None) -> int | None:
    """A bound for shared memory: one number, the larger of two, or none; -1 is none too.

    >>> megabytes(16), megabytes([6, 8]), megabytes(-1)
    (16, 8, None)
    """
    if given is None:
        return None
    sizes = [given] if isinstance(given, int) else list(given)
    bound = max(whole("dataset", "max_rowsize", s, -1) for s in sizes)
    return None if bound == -1 else bound


def last_branch(plan: Node) -> Iterator[Node]:
    """A step and those below it; where several datasets come together the last, as MindSpore's getters do.

    >>> import mycelia.dataset as ds
    >>> d = ds.NumpySlicesDataset([1], ["x"])
    >>> [n.label for n in last_branch((d.repeat(2) + d.batch(3)).plan)]
    ['Concat', 'Batch', 'NumpySlicesDataset']
    """
    yield plan
    if plan.children:
        yield from last_branch(plan.children[-1])


class Readable:
    """A plan whose rows can be read."""

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self._init_step = 0

    def __repr__(self) -> str:
        """The steps, the last one first.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).map(abs).batch(2)
        <Batch of Map(abs) of NumpySlicesDataset>
        """
        return f"<{self.plan.told()}>"

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

    def device_que(
        self, send_epoch_end: bool = True, create_data_info_queue: bool = False, queue_name: str = ""
    ) -> DeviceQueue:
        """A bounded queue of rows that a training loop drains; see `DeviceQueue`.

        >>> import mycelia.dataset as ds
        >>> with ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).batch(2).device_que() as queue:
        ...     queue.get()[0].tolist()
        [1, 2]
        """
        options = current_options()
        iterator = self.create_tuple_iterator(output_numpy=True)
        name = queue_name or "mycelia-data-queue"
        limit = options.sending_batches
        return DeviceQueue(iterator, options.prefetch_size, send_epoch_end, limit, name, create_data_info_queue)

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Write all rows of one epoch to record files.

        >>> import tempfile, mycelia.dataset as ds
        >>> place = tempfile.mkdtemp() + "/numbers.mindrecord"
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).save(place)
        >>> ds.MindDataset(place).get_dataset_size()
        2
        """
        rows = DictIterator(
            self.plan,
            current_options(),
            num_epochs=1,
            output_numpy=True,
            columns=self.plan.columns,
            init_step=self._init_step,
        )
        with rows:
            save(rows, file_name, num_files, file_type)

    # questions

    def get_dataset_size(self) -> int:
        """How many rows an epoch has; endless repetition counts once. Filters must be run to know.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2, 3], ["x"]).batch(2).get_dataset_size()
        2
        """
        options = current_options()
        for plan in (_counted(self.plan), once(_counted(self.plan))):
            table = NumberedPlan(plan, options, options.seed or 0).table(plan)
            if table is not None and table.size() < ENDLESS:
                return table.size()
        finite = once(self.plan) if endless(self.plan) else self.plan
        with self._all(finite) as rows:
            return sum(1 for _ in rows)

    def __len__(self) -> int:
        return self.get_dataset_size()

    def __bool__(self) -> bool:
        return True  # asking whether there is a dataset must not count its rows

    def _first(self) -> list[Any]:
        with self._all(self.plan) as rows:
            return next(rows, [])

    def _all(self, plan: Node) -> TupleIterator:
        """The rows of one epoch, with the columns that are not shown, past all gates."""
        return TupleIterator(
            ungated(plan), current_options(), num_epochs=1, output_numpy=True, columns=self.plan.columns
        )

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """The shape of every column, seen on the first row; with `estimate`, None where rows differ.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([[1, 2]], ["x"]).output_shapes()
        [[2]]
        """
        first: list[list[int | None]] = [list(np.shape(v)) for v in self._first()]
        if not estimate:
            return first
        finite = once(self.plan) if endless(self.plan) else self.plan
        with self._all(finite) as rows:
            for row in rows:
                for column, (known, value) in enumerate(zip(first, row, strict=True)):
                    if len(known) != np.ndim(value):
                        raise DataError(
                            f"rows of column {self.plan.columns[column]!r} have {len(known)} and {np.ndim(value)} axes",
                            hint="a shape with unknown sizes needs rows with one number of axes",
                        )
                    first[column] = [k if k == s else None for k, s in zip(known, np.shape(value), strict=True)]
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
        """How many rows the last batch operation puts together; 1 without one, -1 where a function decides.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).batch(2).get_batch_size()
        2
        """
        sizes = [n.size for n in last_branch(self.plan) if isinstance(n, BatchNode)]
        return 1 if not sizes else sizes[0] if isinstance(sizes[0], int) else -1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated; 1 without `repeat`.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2], ["x"]).repeat(3).get_repeat_count()
        3
        """
        counts = [n.count or -1 for n in last_branch(self.plan) if isinstance(n, RepeatNode) and n.count != 1]
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
        self._init_step = whole(self, "init_step", init_step, 0)

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
        >>> rows = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
        >>> rows.reset()
        >>> [row["x"].item() for row in rows.create_dict_iterator(num_epochs=1)]
        [1, 2]
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
            try:
                Path(filename).write_text(json.dumps(told, indent=2))
            except OSError as error:
                raise DataError(f"cannot write a plan: {error.strerror}", given={"file": filename}) from error
        return told


def describe(plan: Node) -> dict[str, Any]:
    """A plan as plain data."""
    own = {"op_type": plan.label.split("(")[0], "num_parallel_workers": plan.workers, **plan.describe()}
    return {**own, "children": [describe(c) for c in plan.children]}


def once(plan: Node) -> Node:
    """The plan without endless repetition, so that its rows can be counted."""

    def ending(node: Node) -> Node:
        if isinstance(node, MixNode) and node.stop == "never":
            return replace(node, stop="all")
        return replace(node, count=1) if isinstance(node, RepeatNode) and not node.count else node

    return _changed(plan, ending)


def endless(plan: Node) -> bool:
    """Whether a plan repeats for ever, with nothing above that ends it."""
    if isinstance(plan, RepeatNode) and not plan.count:
        return True
    if isinstance(plan, MixNode) and plan.stop == "never":
        return True
    if isinstance(plan, SliceNode) and plan.count < ENDLESS:
        return False
    shortest = isinstance(plan, ZipNode) or (isinstance(plan, MixNode) and plan.stop == "first")
    ends = all if shortest else any
    return bool(plan.children) and ends(map(endless, plan.children))


def ungated(plan: Node) -> Node:
    """The plan with other gates, which are open: a question must not wait at them, nor open them for a reader."""
    return _changed(plan, lambda n: replace(n, gate=Gate(None, ENDLESS)) if isinstance(n, SyncNode) else n)


def _counted(plan: Node) -> Node:
    """The plan without synchronisation points, which change no count."""
    return _changed(plan, lambda n: RenameNode((), (), children=n.children) if isinstance(n, SyncNode) else n)


def _changed(plan: Node, change: Callable[[Node], Node]) -> Node:
    """The plan with some nodes changed; a node that two share stays shared, so that numbers stay."""
    made: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        if id(node) not in made:
            below = tuple(map(visit, node.children))
            same = all(a is b for a, b in zip(below, node.children, strict=True))
            made[id(node)] = change(node if same else replace(node, children=below))
        return made[id(node)]

    return visit(plan)
