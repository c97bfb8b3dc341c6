"""Reading record files: a record by its number, a batch of them in one gather."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import whole
from mycelia.errors import ArgumentError
from mycelia.mindrecord import crypt
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.mindrecord.foreign import ForeignStore, recognised
from mycelia.mindrecord.layout import Column
from mycelia.mindrecord.store import OwnStore, RecordStore
from mycelia.types import Array


class RecordFile:
    """The records of one file, ours or MindSpore's, by number. Opening it reads only its index.

    >>> import tempfile
    >>> from mycelia.mindrecord.writer import FileWriter
    >>> place = tempfile.mkdtemp() + "/a"
    >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}}); w.write_raw_data([{"x": 5}]); w.commit()
    >>> int(RecordFile(place)[0]["x"])
    5
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            raw = crypt.decrypted(FileBytes(path), self.path)
        except OSError as error:
            raise RecordError(f"cannot open a record file: {error}", given={"file": self.path}) from error
        self.store: RecordStore = (ForeignStore if recognised(raw) else OwnStore)(raw, self.path)
        self.header, self.offsets = self.store.header, self.store.offsets

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordFile, (self.path,)

    def __len__(self) -> int:
        return self.header.rows

    def column(self, name: str) -> Column:
        """A column by name."""
        for column in self.header.columns:
            if column.name == name:
                return column
        names = [c.name for c in self.header.columns]
        raise ArgumentError(f"a record file has no column {name!r}", given={"file": self.path, "columns": names})

    def __getitem__(self, index: int) -> dict[str, Any]:
        """A record by its number; raises when it is damaged."""
        if not 0 <= index < len(self):
            raise IndexError(f"record {index} of {len(self)} in {self.path}")
        return self.store.record(index)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def gather(self, indices: Array, names: Sequence[str]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when they must be read one by one."""
        return self.store.gather(indices, [self.column(n) for n in names])

    def search(self, name: str, value: Any) -> Array:
        """The numbers of the records whose column has that value.

        >>> import tempfile
        >>> from mycelia.mindrecord.writer import FileWriter
        >>> place = tempfile.mkdtemp() + "/a"
        >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}})
        >>> w.write_raw_data([{"x": i % 2} for i in range(4)]); w.commit()
        >>> RecordFile(place).search("x", 1).tolist()
        [1, 3]
        """
        return np.flatnonzero(self.values(name) == value)

    def values(self, name: str) -> Array:
        """A whole column of numbers or text.

        >>> RecordFile.values.__name__
        'values'
        """
        self.column(name)
        whole = self.gather(np.arange(len(self)), [name])
        return whole[0] if whole is not None else np.array([row[name] for row in self])


def family(name: str) -> list[str]:
    """A file; or all that share its rows, when it is the first of them or their common beginning.

    >>> family("alone.mindrecord")
    ['alone.mindrecord']
    """
    stem = name[:-1] if name.endswith("0") and Path(name).is_file() else name
    shared = sorted(f for f in glob.glob(glob.escape(stem) + "[0-9]*") if f[len(stem) :].isdigit())
    return [name] if not shared or (Path(name).is_file() and name not in shared) else shared


class FileReader:
    """Rows of record files one after the other, as dictionaries. One name of several that share rows stands for all.

    `num_consumer` threads would read ahead in MindSpore; it is checked only.

    >>> import tempfile
    >>> from mycelia.mindrecord.writer import FileWriter
    >>> place = tempfile.mkdtemp() + "/a"
    >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}}); w.write_raw_data([{"x": 5}]); w.commit()
    >>> [int(row["x"]) for row in FileReader(place).get_next()]
    [5]
    """

    def __init__(
        self,
        file_name: str | Sequence[str],
        num_consumer: int = 4,
        columns: Sequence[str] | None = None,
        operator: Any = None,
    ) -> None:
        whole(self, "num_consumer", num_consumer, 1, 64)
        if operator is not None:
            raise ArgumentError("operator is kept for later use and must be None")
        names = family(file_name) if isinstance(file_name, str) else list(file_name)
        self.files = [RecordFile(n) for n in names]
        self.columns = list(columns) if columns else [c.name for c in self.files[0].header.columns]
        for file in self.files:
            for name in self.columns:
                file.column(name)

    def get_next(self) -> Iterator[dict[str, Any]]:
        """The rows.

        >>> FileReader.get_next.__name__
        'get_next'
        """
        for file in self.files:
            for row in file:
                yield {n: _plain(row[n], file.column(n)) for n in self.columns}

    def schema(self) -> dict[str, Any]:
        """The columns and their types.

        >>> FileReader.schema.__name__
        'schema'
        """
        return {c.name: c.field() for c in self.files[0].header.columns}

    def len(self) -> int:
        """How many rows there are.

        >>> FileReader.len.__name__
        'len'
        """
        return sum(len(f) for f in self.files)

    def close(self) -> None:
        """Let go of the files.

        >>> FileReader.close.__name__
        'close'
        """
        self.files = []


def _plain(value: Any, column: Column) -> Any:
    return value.tobytes() if column.type == "bytes" else value
