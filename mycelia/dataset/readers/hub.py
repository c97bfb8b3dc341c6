"""Objects that behave like those of Hugging Face `datasets`: rows by number, named columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_value
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Columns, Row
from mycelia.dataset.flow.table import ENDLESS
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.origins import IterableNode
from mycelia.dataset.plan.samplers import Sampler
from mycelia.dataset.run.arguments import workers_of
from mycelia.dataset.sources.arrowcells import cells, is_plain_type, ragged
from mycelia.dataset.sources.memory import MappableDataset, SourceDataset
from mycelia.errors import ArgumentError
from mycelia.types import Array


@dataclass
class TableData:
    """An object with `column_names`, `__len__`, and `__getitem__` that gives a dictionary."""

    source: Any
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.source)

    @lazy
    def arrow(self) -> Any:
        """The source as one that gives Arrow tables, if its cells are numbers, texts and lists of numbers."""
        told = getattr(self.source, "format", None)
        if not hasattr(self.source, "with_format") or not isinstance(told, dict) or told.get("type") is not None:
            return None
        source = self.source.with_format("arrow")
        kinds = [source[:1][c].type for c in self.columns] if len(source) else [None]
        return source if all(map(is_plain_type, kinds)) and self._unadorned() else None

    def _unadorned(self) -> bool:
        """Whether the cells are what the table holds: no pictures, sounds or other features that are decoded."""
        features = getattr(self.source, "features", {})
        return all(type(features.get(c)).__name__ in ("Value", "List", "LargeList", "Sequence") for c in self.columns)

    def fetch(self, index: int) -> Row:
        return self._row(self.source[index], index)

    def bulk(self, indices: Array) -> list[Row] | None:
        """Rows that the source gives several at a time, as Hugging Face's do, or the table that they are in."""
        if self.arrow is not None:
            table = self._table(indices)
            columns = [cells(table[c]) for c in self.columns]
            return list(zip(*columns, strict=True))
        many = getattr(self.source, "__getitems__", None)
        return None if many is None else list(map(self._row, many(indices.tolist()), indices.tolist()))

    def ragged(self, indices: Array) -> Columns | None:
        """Rows of a table as columns."""
        if self.arrow is None or not len(indices):
            return None
        table = self._table(indices)
        return tuple(ragged(table[c]) for c in self.columns)

    def _table(self, indices: Array) -> Any:
        alike = len(indices) - 1 == indices[-1] - indices[0] and bool((np.diff(indices) == 1).all())
        return self.arrow[slice(int(indices[0]), int(indices[-1]) + 1) if alike else indices.tolist()]

    def _row(self, row: Any, index: int) -> Row:
        absent = [c for c in self.columns if c not in row]
        if absent:
            raise DataError(f"a row lacks the columns {absent}", given={"row": self.where(index), "has": sorted(row)})
        return tuple(_value(row[c]) for c in self.columns)

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        return f"index {index} of {type(self.source).__name__}"

    def labels(self, column: str) -> Array:
        return np.asarray(self.source[column])


def _value(value: Any) -> Any:
    """A cell as an array; Pillow images become arrays of their pixels, bytes arrays of bytes (texts lose zeros)."""
    if isinstance(value, bytes | bytearray):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, dict):
        return {name: _value(part) for name, part in value.items()}
    return np.asarray(value) if hasattr(value, "getbands") else as_value(value)


class Streamed:
    """The rows of an object that can only be read from the front, which goes on where a state was taken if it can."""

    def __init__(self, source: Any, columns: tuple[str, ...]) -> None:
        self.source, self.columns = source, columns
        self.rows: Iterator[Any] | None = None
        if hasattr(source, "state_dict") and hasattr(source, "load_state_dict"):
            self.state_dict, self.load_state_dict = source.state_dict, source.load_state_dict

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        if self.rows is None:
            self.rows = iter(self.source)
        row = next(self.rows)
        absent = [c for c in self.columns if c not in row]
        if absent:
            raise DataError(f"a row lacks the columns {absent}", given={"has": sorted(row)})
        return tuple(_value(row[c]) for c in self.columns)


class HubDataset(MappableDataset):
    """Rows of an object like those of Hugging Face `datasets`, also of one that is streamed.

    A streamed one is read from the front, in its own order; `columns_list` is needed when it does not know its columns.

    >>> class Rows:
    ...     column_names = ["x"]
    ...     def __len__(self): return 2
    ...     def __getitem__(self, i): return {"x": i * 10} if isinstance(i, int) else [0, 10]
    >>> [int(r["x"]) for r in HubDataset(Rows(), shuffle=False).create_dict_iterator(1, output_numpy=True)]
    [0, 10]
    """

    def __init__(
        self,
        source: Any,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable[int] | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        known = getattr(source, "column_names", None)
        if not (hasattr(source, "__getitem__") and hasattr(source, "__len__")) and hasattr(source, "__iter__"):
            chosen = {"shuffle": shuffle or None, "sampler": sampler, "num_shards": num_shards, "shard_id": shard_id}
            if any(value is not None for value in chosen.values()):
                raise ArgumentError(
                    "a streamed dataset has its own order", given=chosen, hint="call its own shuffle or shard"
                )
            names = tuple(columns_list or known or ())
            if not names:
                raise ArgumentError("a streamed dataset that does not know its columns needs columns_list")
            absent = [c for c in names if known is not None and c not in known]
            if absent:
                raise ArgumentError(f"there is no column {absent}", given={"columns": known})
            stream = IterableNode(lambda: Streamed(source, names), names, num_samples or ENDLESS, None)
            SourceDataset.__init__(self, replace(stream, workers=workers_of(num_parallel_workers)))
            return
        if not isinstance(known, list) or not hasattr(source, "__getitem__") or not hasattr(source, "__len__"):
            raise ArgumentError("HubDataset takes an object with column_names, __len__ and __getitem__, or __iter__")
        wanted = tuple(columns_list or known)
        absent = [c for c in wanted if c not in known]
        if absent:
            raise ArgumentError(f"there is no column {absent}", given={"columns": known})
        order = choose(num_samples, sampler, shuffle, num_shards, shard_id)
        super().__init__(TableData(source, wanted), order, workers=num_parallel_workers)
