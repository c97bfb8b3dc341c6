"""Rows for training: from a dataset, epoch by epoch, made one by one or by a thread, and the place they are at."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, Self

from mycelia.dataset import Dataset
from mycelia.errors import ArgumentError
from mycelia.nn import Cell

DEPTH = 4  # rows made ahead
OVER = object()  # where an epoch ends
Row = tuple[Any, ...]


class Feed:
    """Rows of a dataset as tensors. `steps` gives the rows of one epoch, which is the dataset or `size` rows of it.

    With `ahead`, a thread makes rows while others are used. `place` is where the dataset stands after the row that
    was given last, if it is kept: what `state_dict` of its iterator tells.

    >>> import mycelia.dataset as ds
    >>> feed = Feed(ds.NumpySlicesDataset([1.0, 2.0, 3.0], ["x"], shuffle=False), size=2)
    >>> [[row[0].item() for row in feed.steps()] for _ in range(2)]
    [[1.0, 2.0], [3.0, 1.0]]
    """

    def __init__(self, dataset: Dataset, size: int = -1, ahead: bool = False, keep: bool = False) -> None:
        self.rows = dataset.create_tuple_iterator(num_epochs=-1)
        self.size, self.ahead, self.keep = size, ahead, keep
        self.place: dict[str, Any] | None = None
        self.left = 0  # rows that the present epoch of the dataset has given
        self._items: queue.Queue[Any] = queue.Queue(DEPTH)
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def start_at(self, place: dict[str, Any], over: bool = False) -> None:
        """Go on after the row at which `place` was noted; with `over`, with the epoch after it."""
        self.rows.load_state_dict(place)
        self.left = 1
        if over and self.size < 0 and self._made() is not OVER:
            raise ArgumentError("the epoch was over, and the dataset has more rows now")

    def _made(self) -> Any:
        """The next row with its place, or that the epoch is over."""
        try:
            row = tuple(next(self.rows))
        except StopIteration:
            return OVER
        return row, self.rows.state_dict() if self.keep else None

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                item = self._made()
            except BaseException as error:
                item = error
            while not self._stopped.is_set():
                try:
                    self._items.put(item, timeout=0.1)
                    break
                except queue.Full:
                    continue
            if isinstance(item, BaseException):
                return

    def _next(self) -> Any:
        if not self.ahead:
            return self._made()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mycelia-feed", daemon=True)
            self._thread.start()
        item = self._items.get()
        if isinstance(item, BaseException):
            raise item
        return item

    def steps(self) -> Iterator[Row]:
        """The rows of one epoch."""
        given, empty = 0, 0
        while self.size < 0 or given < self.size:
            item = self._next()
            if item is OVER:
                if self.size < 0:
                    return
                empty = 0 if self.left else empty + 1
                self.left = 0
                if empty:
                    raise ArgumentError("the dataset has no rows", hint="look at its files, filters and samplers")
                continue
            row, self.place = item
            given += 1
            self.left += 1
            yield row

    def close(self) -> None:
        """End the thread and the pipeline."""
        self._stopped.set()
        self.rows.stop()
        if self._thread is not None:
            self._thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_dataset(dataset: Any, name: str) -> None:
    """Complain about what is no dataset.

    >>> check_dataset([1, 2], "train_dataset")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: train_dataset is a dataset, not a list...
    """
    if not isinstance(dataset, Dataset):
        raise ArgumentError(
            f"{name} is a dataset, not a {type(dataset).__name__}",
            hint="for example mycelia.dataset.NumpySlicesDataset(...).batch(32)",
        )


def check_sink_size(sink_size: int) -> None:
    """Complain about what is no number of rows.

    >>> check_sink_size(-1)
    >>> check_sink_size(0)
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: sink_size is -1 or a whole number from 1, not 0...
    """
    if type(sink_size) is not int or (sink_size < 1 and sink_size != -1):
        raise ArgumentError(f"sink_size is -1 or a whole number from 1, not {sink_size!r}")


class DatasetHelper:
    """A dataset as a training loop wants it: iterating gives the rows of one epoch, as tuples of tensors.

    In sink mode rows are made ahead by a thread, and an epoch is `sink_size` rows, unless that is -1.

    >>> import mycelia.dataset as ds
    >>> helper = DatasetHelper(ds.NumpySlicesDataset([1.0, 2.0], ["x"], shuffle=False), dataset_sink_mode=False)
    >>> [row[0].item() for row in helper]
    [1.0, 2.0]
    """

    def __init__(
        self, dataset: Dataset, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1
    ) -> None:
        check_dataset(dataset, "dataset")
        check_sink_size(sink_size)
        if not isinstance(dataset_sink_mode, bool):
            raise ArgumentError(f"dataset_sink_mode is True or False, not {dataset_sink_mode!r}")
        if type(epoch_num) is not int or (epoch_num < 1 and epoch_num != -1):
            raise ArgumentError(f"epoch_num is -1 or a whole number from 1, not {epoch_num!r}")
        self.dataset, self.sinks, self.epoch_num = dataset, dataset_sink_mode, epoch_num
        self._size = sink_size if dataset_sink_mode else -1
        self.feed = Feed(dataset, self._size, dataset_sink_mode)

    def __iter__(self) -> Iterator[Row]:
        return self.feed.steps()

    def sink_size(self) -> int:
        """How many rows an epoch has."""
        return self._size if self._size > 0 else self.dataset.get_dataset_size()

    def types_shapes(self) -> tuple[list[Any], list[Any]]:
        """The element types and shapes of the columns."""
        return self.dataset.output_types(), self.dataset.output_shapes()

    get_data_info = types_shapes

    def get_mbuf_queue_size(self) -> int:
        """How many rows wait."""
        return self.feed._items.qsize()

    def get_send_info(self, run_context: Any) -> dict[str, int]:
        """What is known of the rows on their way: how many wait."""
        return {"waiting": self.get_mbuf_queue_size()}

    def continue_send(self) -> None:
        """Rows are made as long as there is room: nothing has to be begun again."""

    def stop_send(self) -> None:
        """End the thread and the pipeline."""
        self.feed.close()

    release = stop_send


class _Fed(Cell):
    """A network that takes its arguments from a dataset."""

    def __init__(self, network: Cell, helper: DatasetHelper) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.__dict__["rows"] = self._endless(helper)

    @staticmethod
    def _endless(helper: DatasetHelper) -> Iterator[Row]:
        while True:
            yield from helper

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            raise ArgumentError("this network takes its arguments from a dataset", hint="call it without any")
        return self.network(*next(self.__dict__["rows"]))


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """A network that is called without arguments: it takes the next row of the helper, which must sink.

    >>> import mycelia.dataset as ds
    >>> from mycelia.nn import Identity
    >>> helper = DatasetHelper(ds.NumpySlicesDataset([1.0, 2.0], ["x"], shuffle=False))
    >>> net = connect_network_with_dataset(Identity(), helper)
    >>> net().item(), net().item(), net().item()
    (1.0, 2.0, 1.0)
    >>> helper.release()
    """
    if not isinstance(network, Cell) or not isinstance(dataset_helper, DatasetHelper):
        raise ArgumentError("connect_network_with_dataset takes a Cell and a DatasetHelper")
    if not dataset_helper.sinks:
        raise ArgumentError("the helper does not sink its rows", hint="DatasetHelper(dataset, dataset_sink_mode=True)")
    return _Fed(network, dataset_helper)
