"""Batches of Arrow files and streams, read one by one.

The library can map files into memory, but to touch such memory after somebody has cut the file short ends the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from mycelia.dataset.sources.arrowmessages import MARK, check_unfolded


class Batches:
    """The batches of an Arrow file by number: how many rows each has is known, and one is read when it is asked for."""

    def __init__(self, path: str) -> None:
        self.path = path
        check_unfolded(path)
        self.rows: list[int] = []
        self.weights: list[int] = []  # bytes
        self.places: list[int] = []  # where they begin in a stream
        with self._source() as source:
            self.streamed = source.read(len(MARK)) != MARK
            source.seek(0)
            ipc = import_module("pyarrow").ipc
            reader = ipc.open_stream(source) if self.streamed else ipc.open_file(source)
            self.schema = reader.schema
            self.plain = not any(coded(f.type) for f in self.schema)
            batches = (
                self._following(reader, source)
                if self.streamed
                else map(reader.get_batch, range(reader.num_record_batches))
            )
            for batch in batches:
                batch.validate(full=True)
                self.rows.append(batch.num_rows)
                self.weights.append(batch.nbytes)

    def _following(self, reader: Any, source: Any) -> Iterator[Any]:
        while True:
            self.places.append(source.tell())
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            yield batch

    @contextmanager
    def _source(self) -> Iterator[Any]:
        source = import_module("pyarrow").OSFile(self.path, "rb")
        try:
            yield source
        finally:
            source.close()

    def __getitem__(self, number: int) -> Any:
        ipc = import_module("pyarrow").ipc
        with self._source() as source:
            if not self.streamed:
                batch = ipc.open_file(source).get_batch(number)
            elif self.plain:
                source.seek(self.places[number])
                batch = ipc.read_record_batch(ipc.read_message(source), self.schema)
            else:  # dictionaries come between the batches
                reader = ipc.open_stream(source)
                for _ in range(number + 1):
                    batch = reader.read_next_batch()
            batch.validate(full=True)
            return batch


def coded(type: Any) -> bool:
    """Whether a type has dictionaries somewhere, which stand outside of the batches.

    >>> class Number: num_fields = 0
    >>> coded(Number())
    False
    """
    if hasattr(type, "index_type"):
        return True
    if hasattr(type, "value_type"):
        return coded(type.value_type)
    return any(coded(type.field(i).type) for i in range(type.num_fields))
