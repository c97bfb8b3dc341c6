"""Progress: rows as they come, with a line that says how many there were, how fast, and who waits for whom."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TextIO, TypeVar

from mycelia.errors import ArgumentError

T = TypeVar("T")


@dataclass
class Pace:
    """What was counted so far.

    >>> print(Pace(rows=3000, bytes=6_000_000, seconds=2.0, waited=0.5, total=6000))
    3,000 of 6,000 rows (50 %), 1,500 rows/s, 3.0 MB/s, 25 % of the time waited for data, 2 s left
    """

    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    total: int | None = None

    @property
    def rows_per_second(self) -> float:
        """Rows for each second since the first one was asked for."""
        return self.rows / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        seconds = self.seconds or 1e-9
        told = [f"{self.rows:,} rows", f"{self.rows_per_second:,.0f} rows/s", f"{self.bytes / seconds / 1e6:,.1f} MB/s",
                f"{100 * self.waited / seconds:.0f} % of the time waited for data"]  # fmt: skip
        if self.total:
            told[0] = f"{self.rows:,} of {self.total:,} rows ({100 * self.rows // self.total} %)"
            if self.rows:
                told.append(f"{max(0, self.total - self.rows) * seconds / self.rows:.0f} s left")
        return ", ".join(told)


class Progress(Generic[T]):
    """Rows of an iterator, counted; see `progress`."""

    def __init__(self, rows: Iterable[T], total: int | None, every: float, file: TextIO | None) -> None:
        self.source, self.every, self.file = rows, every, file
        self.pace = Pace(total=total)

    def __iter__(self) -> Iterator[T]:
        pace, rows = self.pace, iter(self.source)
        begin = last = perf_counter()
        pace.seconds = 0.0
        while True:
            asked = perf_counter()
            try:
                row = next(rows)
            except StopIteration:
                break
            now = perf_counter()
            pace.rows += 1
            pace.bytes += weight(row)
            pace.waited += now - asked
            pace.seconds = now - begin
            if now - last >= self.every:
                last = now
                self._tell("\r" if self._terminal() else "", "" if self._terminal() else "\n")
            yield row
        pace.seconds = perf_counter() - begin
        self._tell("\r" if self._terminal() else "", "\n")

    def _terminal(self) -> bool:
        return self.file is not None and self.file.isatty()

    def _tell(self, before: str, after: str) -> None:
        if self.file is not None:
            self.file.write(f"{before}{self.pace}{after}")
            self.file.flush()


def weight(row: Any) -> int:
    """The bytes of the arrays of a row.

    >>> import numpy as np
    >>> weight({"x": np.zeros(3, "float32"), "y": [np.zeros(2, "int8")]})
    14
    """
    if isinstance(row, dict):
        return sum(map(weight, row.values()))
    if isinstance(row, list | tuple):
        return sum(map(weight, row))
    return int(getattr(row, "nbytes", 0))


def progress(
    rows: Iterable[T], total: int | None = None, every: float = 1.0, file: TextIO | None = sys.stderr
) -> Progress[T]:
    """The rows of an iterator, with a line every so many seconds: how many, how fast, how long they were waited for.

    `pace` holds the numbers. `total` is the size of an epoch, if it is known; `file=None` writes nothing.

    >>> import mycelia.dataset as ds
    >>> numbers = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
    >>> counted = ds.progress(numbers.create_dict_iterator(num_epochs=1, output_numpy=True), len(numbers), file=None)
    >>> [int(r["x"]) for r in counted], counted.pace.rows
    ([1, 2, 3], 3)
    """
    if every < 0:
        raise ArgumentError(f"every is a number of seconds, and was {every}")
    return Progress(rows, total, every, file)
