"""Where rows go: record files, and a queue that a training loop drains."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.errors import ArgumentError
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.tfrecord import write_tfrecord
from mycelia.mindrecord.writer import FileWriter
from mycelia.types import Array

BLOCK = 256


def save(rows: Iterator[dict[str, Any]], file_name: str, num_files: int, file_type: str) -> None:
    """Write rows to record files.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/a.mindrecord"
    >>> save(iter([{"x": np.array(1)}]), place, 1, "mindrecord")
    >>> Path(place).stat().st_size > 0
    True
    """
    if file_type == "tfrecord":
        if num_files != 1:
            raise ArgumentError("a TFRecord file is written as one file", given={"num_files": num_files})
        part = f"{file_name}.part"  # a file that is there is whole
        try:
            write_tfrecord(part, rows)
            os.replace(part, file_name)
        except RecordError as error:
            raise DataError(str(error).splitlines()[0], given={"file": file_name}) from error
        finally:
            Path(part).unlink(missing_ok=True)
        return
    if file_type != "mindrecord":
        raise ArgumentError(f'file_type is "mindrecord" or "tfrecord", and was {file_type!r}')
    writer: FileWriter | None = None
    block: list[dict[str, Any]] = []
    for row in rows:
        if writer is None:
            writer = FileWriter(file_name, num_files, overwrite=True)
            writer.add_schema({name: field_of(value) for name, value in row.items()})
        block.append(row)
        if len(block) == BLOCK:
            writer.write_raw_data(block)
            block = []
    if writer is None:
        raise DataError("there is no row to save", given={"file": file_name})
    writer.write_raw_data(block)
    writer.commit()


def field_of(value: Array) -> dict[str, Any]:
    """The schema of a column, from one of its values.

    >>> field_of(np.zeros((2, 3), "float32"))
    {'type': 'float32', 'shape': [-1, 3]}
    """
    kind = value.dtype.kind
    if kind in "US" and value.ndim == 0:
        return {"type": "string" if kind == "U" else "bytes"}
    if kind not in "biuf":
        raise DataError(f"a column of {value.dtype} with shape {list(value.shape)} cannot be saved")
    plain = {"type": str(value.dtype)}
    return plain if value.ndim == 0 else {**plain, "shape": [-1, *value.shape[1:]]}


class EpochEnd:
    """What a queue gives where an epoch ends.

    >>> EpochEnd()
    EpochEnd()
    """

    def __repr__(self) -> str:
        return "EpochEnd()"


class _Channel:
    """What a queue and the thread that fills it share; the thread does not keep the queue alive."""

    def __init__(self, iterator: Any, depth: int, send_epoch_end: bool, limit: int) -> None:
        self.iterator, self.depth, self.send_epoch_end, self.limit = iterator, depth, send_epoch_end, limit
        self.items: deque[Any] = deque()
        self.changed = threading.Condition()
        self.closed = self.ended = False

    def close(self) -> None:
        """Let the thread end."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def fill(self) -> None:
        """The life of the thread."""
        try:
            self._fill()
        finally:
            with self.changed:
                self.ended = True
                self.changed.notify_all()
            if self.closed:
                self.iterator.stop()

    def _fill(self) -> None:
        sent = 0
        while not self.closed:
            try:
                item: Any = [np.ascontiguousarray(v) for v in next(self.iterator)]
                sent += 1
            except StopIteration:
                item = EpochEnd() if sent or self.send_epoch_end else _nothing()
                sent = 0
                if isinstance(item, EpochEnd) and not self.send_epoch_end:
                    continue
            except BaseException as error:
                item = error
            with self.changed:
                self.changed.wait_for(lambda: len(self.items) < self.depth or self.closed)
                if self.closed:
                    return
                self.items.append(item)
                self.changed.notify_all()
            if isinstance(item, BaseException) or (self.limit and sent >= self.limit):
                return


def _nothing() -> DataError:
    return DataError("a dataset that is sent for ever gave no row in an epoch", hint="look at its filters and samplers")


class DeviceQueue:
    """Rows made ahead of a training loop: a thread fills the queue, `get` empties it, at most `depth` rows wait.

    Arrays are contiguous, so that a native loop can take their addresses with `addresses`. `name` is that of its
    thread; `described` lets `get_data_info` tell the types and shapes of the row that comes next.
    """

    def __init__(
        self,
        iterator: Any,
        depth: int,
        send_epoch_end: bool,
        limit: int,
        name: str = "mycelia-data-queue",
        described: bool = False,
    ) -> None:
        self.channel = _Channel(iterator, depth, send_epoch_end, limit)
        self.name, self.described = name, described
        self.thread: threading.Thread | None = None
        weakref.finalize(self, self.channel.close).atexit = False

    def send(self) -> None:
        """Begin to fill the queue."""
        if self.thread is None:
            self.thread = threading.Thread(target=self.channel.fill, name=self.name, daemon=True)
            self.thread.start()

    def get(self, timeout: float | None = None) -> Any:
        """The next row, or `EpochEnd`; raises what went wrong in the pipeline."""
        with self.channel.changed:
            self._wait(timeout)
            item = self.channel.items.popleft()
            self.channel.changed.notify_all()
        if isinstance(item, BaseException):
            raise item
        return item

    def get_data_info(self) -> tuple[list[np.dtype[Any]], list[tuple[int, ...]]]:
        """The element types and the shapes of the row that comes next, which stays; none at the end of an epoch."""
        if not self.described:
            raise ArgumentError("the queue does not describe its rows", hint="device_que(create_data_info_queue=True)")
        with self.channel.changed:
            self._wait(None)
            item = self.channel.items[0]
        row = item if isinstance(item, list) else []
        return [a.dtype for a in row], [a.shape for a in row]

    def _wait(self, timeout: float | None) -> None:
        self.send()
        channel = self.channel
        if not channel.changed.wait_for(lambda: channel.items or channel.closed or channel.ended, timeout):
            raise DataError(f"no row has come in {timeout} s")
        if not channel.items:
            raise DataError("the queue gives no more rows", hint="it was stopped, has failed, or has sent them all")

    @staticmethod
    def addresses(row: list[Array]) -> list[tuple[int, int]]:
        """Where the arrays of a row begin, and how many bytes they have.

        >>> DeviceQueue.addresses([np.zeros(2, "float32")])[0][1]
        8
        """
        return [(a.ctypes.data, a.nbytes) for a in row]

    def size(self) -> int:
        """How many rows wait."""
        return len(self.channel.items)

    def stop_send(self) -> None:
        """Stop filling the queue, and end the pipeline."""
        self.channel.close()
        self.channel.iterator.stop()
        if self.thread is not None:
            self.thread.join(5)

    release = stop_send

    def __enter__(self) -> Self:
        self.send()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_send()
