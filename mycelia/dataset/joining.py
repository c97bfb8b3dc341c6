"""Several datasets as one: side by side, mixed by weights, or taking turns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mycelia.checks import whole
from mycelia.dataset.dataset import Dataset, InterleaveDataset, MixDataset
from mycelia.dataset.plan.weaving import STOPS, InterleaveNode, MixNode, Weave
from mycelia.errors import ArgumentError


def zip_datasets(datasets: Sequence[Dataset]) -> Dataset:
    """Several datasets side by side, as long as the shortest.

    >>> import mycelia.dataset as ds
    >>> ds.zip((ds.NumpySlicesDataset([1], ["x"]), ds.NumpySlicesDataset([2], ["y"]))).get_col_names()
    ['x', 'y']
    """
    first, *others = _several(datasets, "zip")
    return first.zip(others)


def mix(datasets: Sequence[Dataset], weights: Sequence[float] | None = None, stop: str = "first") -> Dataset:
    """Rows of several datasets in proportion to weights, in an order that the seed decides.

    In every block of rows each dataset has its exact part. The rows end where the `first` dataset is asked for more
    than it has, or where `all` have been, the shorter ones beginning anew; or `never`. A state resumes it at any row.

    >>> import mycelia.dataset as ds
    >>> a, b = (ds.NumpySlicesDataset([n] * 90, ["x"]) for n in (0, 1))
    >>> rows = [int(r[0]) for r in ds.mix([a, b], [3, 1]).create_tuple_iterator(num_epochs=1, output_numpy=True)]
    >>> sum(rows[:40])
    10
    """
    given = _several(datasets, "mix")
    shares = [1.0] * len(given) if weights is None else list(weights)
    if len(shares) != len(given):
        raise ArgumentError(f"mix: there are {len(given)} datasets and {len(shares)} weights")
    numbers = all(isinstance(w, int | float | np.number) and 0 <= w < float("inf") for w in shares)
    if not numbers or not sum(shares) > 0:
        raise ArgumentError(f"mix: weights must not be negative, and one must be positive; they are {shares}")
    if stop not in STOPS:
        raise ArgumentError(f"stop is one of {list(STOPS)}, and was {stop!r}")
    Weave.of(tuple(map(float, shares)), ())  # the weights make a pattern
    node = MixNode(tuple(map(float, shares)), stop, children=tuple(d.plan for d in given))
    assert node.names, "columns are compared when they are made"
    return MixDataset(node)


def interleave(datasets: Sequence[Dataset], cycle_length: int | None = None, block_length: int = 1) -> Dataset:
    """`block_length` rows of each of `cycle_length` datasets in turn; where one ends, the next takes its place.

    >>> import mycelia.dataset as ds
    >>> a, b = (ds.NumpySlicesDataset([n, n, n], ["x"], shuffle=False) for n in (1, 2))
    >>> rows = ds.interleave([a, b], block_length=2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    >>> [int(r[0]) for r in rows]
    [1, 1, 2, 2, 1, 2]
    """
    given = _several(datasets, "interleave")
    cycle = len(given) if cycle_length is None else whole("interleave", "cycle_length", cycle_length, 1)
    block = whole("interleave", "block_length", block_length, 1)
    node = InterleaveNode(cycle, block, children=tuple(d.plan for d in given))
    assert node.names, "columns are compared when they are made"
    return InterleaveDataset(node)


def _several(datasets: Sequence[Dataset], purpose: str) -> list[Dataset]:
    given = list(datasets)
    if not given or not all(isinstance(d, Dataset) for d in given):
        kinds = [type(d).__name__ for d in given]
        raise ArgumentError(
            f"{purpose} takes a list of datasets",
            given={"got": kinds},
            hint=f"give them together: ds.{purpose}([first, second])",
        )
    return given
