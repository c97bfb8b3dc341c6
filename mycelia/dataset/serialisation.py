"""Plans as JSON and back: sources by their arguments, transforms by their fields, functions by their names.

A plan may come from a stranger: it can name our own sources, samplers, steps and transforms. Functions and classes of
the user come from the caller alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from mycelia.dataset import readers
from mycelia.dataset.dataset import Dataset
from mycelia.dataset.describing import Functions, Nameable, named
from mycelia.dataset.errors import DataError
from mycelia.dataset.joining import interleave, mix, zip_datasets
from mycelia.dataset.plan import samplers
from mycelia.dataset.sources import parquet, records, tars, textfiles
from mycelia.dataset.sources.memory import MappableDataset
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen


def _classes(module: ModuleType, kind: type) -> dict[str, type]:
    """The public classes of a module that are of a kind."""
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name: made for name, made in found.items() if isinstance(made, type) and issubclass(made, kind)}


SOURCES = {
    name: made
    for module in (parquet, readers, records, tars, textfiles)
    for name, made in _classes(module, Dataset).items()
    if made not in (Dataset, MappableDataset, readers.HubDataset)  # their rows are objects, which JSON has not
}
SAMPLERS = _classes(samplers, samplers.Sampler)


def serialize(dataset: Dataset, json_filepath: str = "") -> dict[str, Any]:
    """The plan of a dataset as plain data, and in a file when one is named.

    >>> import mycelia.dataset as ds
    >>> serialize(ds.NumpySlicesDataset([1, 2], ["x"]).batch(2))["op_type"]
    'Batch'
    """
    if not isinstance(dataset, Dataset):
        raise ArgumentError(f"serialize takes a dataset, and got {type(dataset).__name__}")
    return dataset.to_json(json_filepath)


def show(dataset: Dataset, indentation: int = 2) -> None:
    """Print the plan of a dataset.

    >>> import mycelia.dataset as ds
    >>> show(ds.NumpySlicesDataset([1], ["x"]).skip(1))  # doctest: +ELLIPSIS
    {
      "op_type": "Skip",
    ...
    """
    print(json.dumps(dataset.to_json(), indent=indentation))


def compare(pipeline1: Dataset, pipeline2: Dataset) -> bool:
    """Whether two datasets have the same plan.

    >>> import mycelia.dataset as ds
    >>> d = ds.NumpySlicesDataset([1, 2], ["x"])
    >>> compare(d.batch(2), d.batch(2)), compare(d.batch(2), d.batch(1))
    (True, False)
    """
    return pipeline1.to_json() == pipeline2.to_json()


def deserialize(
    input_dict: dict[str, Any] | None = None, json_filepath: str | None = None, functions: Functions = ()
) -> Dataset:
    """The dataset of a plan that `serialize` gave, or that a file holds.

    A plan can name our own transforms; the functions and classes of the user that it names are those in `functions`, by
    the places where they are defined, or `{place: function}`. Nothing else is imported, made or called.

    >>> import tempfile, mycelia.dataset as ds
    >>> place = tempfile.mkdtemp() + "/a.txt"; _ = Path(place).write_text("one\\ntwo\\n")
    >>> d = deserialize(serialize(ds.TextFileDataset(place, shuffle=False).repeat(2)))
    >>> [str(r[0]) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    ['one', 'two', 'one', 'two']
    """
    if (input_dict is None) == (json_filepath is None):
        raise ArgumentError("deserialize takes a dictionary or a file")
    told = input_dict if input_dict is not None else _read(str(json_filepath))
    return _Plan(Nameable(named(functions))).dataset(told)


def _read(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except (ValueError, RecursionError) as error:
        raise DataError(f"this file holds no JSON: {error}", given={"file": path}) from error


@frozen
class _Plan:
    """Datasets from plain data."""

    known: Nameable

    def dataset(self, told: Any) -> Dataset:
        """A dataset with all below it."""
        try:
            return self._dataset(told)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"this is not the plan of a dataset: {type(error).__name__} {error}") from error

    def _dataset(self, told: dict[str, Any]) -> Dataset:
        below = [self._dataset(c) for c in told["children"]]
        kind = told["op_type"]
        if not below:
            return self.source(kind, told)
        if kind not in STEPS:
            raise DataError(f"a step of the kind {kind!r} cannot be made from JSON")
        return STEPS[kind](self.known, below, told)

    def source(self, kind: str, told: dict[str, Any]) -> Dataset:
        """The source of a plan."""
        if kind not in SOURCES:
            raise DataError(
                f"{kind} cannot be made from JSON: its rows are not in files",
                hint="save the dataset to a record file and begin with MindDataset",
            )
        rest = {k: v for k, v in told.items() if k not in ("op_type", "children", "sampler", "num_parallel_workers")}
        made: Any = SOURCES[kind]
        source: Dataset = made(**rest, num_parallel_workers=told["num_parallel_workers"])
        return source.use_sampler(sampler_of(told["sampler"]))


def sampler_of(told: dict[str, Any]) -> samplers.Sampler:
    """A sampler from plain data.

    >>> sampler_of(samplers.SubsetSampler([2, 1]).describe()).order(3, (0,)).tolist()
    [2, 1]
    """
    kind: Any = SAMPLERS.get(told["sampler"])
    if kind is None:
        raise DataError(f"the sampler {told['sampler']!r} was written by hand and cannot be made from JSON")
    words = {"sampler_indices": "sampler"} if kind is samplers.IterSampler else {}
    given = {words.get(k, k): v for k, v in told.items() if k not in ("sampler", "child")}
    made: samplers.Sampler = kind(**given)
    if "child" in told:
        made.add_child(sampler_of(told["child"]))
    return made


Step = Callable[[Nameable, list[Dataset], dict[str, Any]], Dataset]


def _map(known: Nameable, below: list[Dataset], t: dict[str, Any]) -> Dataset:
    operations = [known.operation(o) for o in t["operations"]]
    return below[0].map(operations, t["input_columns"], t["output_columns"], t["num_parallel_workers"])


def _batch(known: Nameable, below: list[Dataset], t: dict[str, Any]) -> Dataset:
    size = t["batch_size"] if isinstance(t["batch_size"], int) else known.operation(t["batch_size"])
    if t["pad_info"] is not None:
        pad_info = {k: tuple(v) for k, v in t["pad_info"].items()}
        return below[0].padded_batch(size, t["drop_remainder"], t["num_parallel_workers"], pad_info)
    per_batch = known.operation(t["per_batch_map"])
    columns = {k: t[k] for k in ("input_columns", "output_columns")} if per_batch is not None else {}
    return below[0].batch(size, t["drop_remainder"], t["num_parallel_workers"], per_batch_map=per_batch, **columns)


def _bucket(known: Nameable, below: list[Dataset], t: dict[str, Any]) -> Dataset:
    return below[0].bucket_batch_by_length(
        t["column_names"],
        t["bucket_boundaries"],
        t["bucket_batch_sizes"],
        known.operation(t["element_length_function"]),
        {k: tuple(v) for k, v in t["pad_info"].items()},
        t["pad_to_bucket_boundary"],
        t["drop_remainder"],
    )


def _positions(start: int, stop: int, step: int) -> slice:
    """The slice that a range of positions was made by; a range that ends below 0 has no end to write down."""
    return slice(start, None if stop < 0 else stop, step)


STEPS: dict[str, Step] = {
    "Map": _map,
    "Batch": _batch,
    "Bucket": _bucket,
    "Filter": lambda known, below, t: below[0].filter(known.operation(t["predicate"]), t["input_columns"] or None),
    "Shuffle": lambda known, below, t: below[0].shuffle(t["buffer_size"]),
    "Repeat": lambda known, below, t: below[0].repeat(t["count"]),
    "Skip": lambda known, below, t: below[0].skip(t["count"]),
    "Take": lambda known, below, t: below[0].take(t["count"]),
    "Rename": lambda known, below, t: below[0].rename(t["input_columns"], t["output_columns"]),
    "Project": lambda known, below, t: below[0].project(t["columns"]),
    "Concat": lambda known, below, t: below[0].concat(below[1:]),
    "Zip": lambda known, below, t: zip_datasets(below),
    "Mix": lambda known, below, t: mix(below, t["weights"], t["stop"]),
    "Interleave": lambda known, below, t: interleave(below, t["cycle_length"], t["block_length"]),
    "Pack": lambda known, below, t: below[0].pack(
        t["length"], t["columns"], split=t["split"], pad=t["pad"], end=t["end"], drop_remainder=t["drop_remainder"]
    ),
    "Windows": lambda known, below, t: below[0].windows(t["length"], t["stride"], t["columns"], pad=t["pad"]),
    "Pick": lambda known, below, t: below[0][_positions(t["start"], t["stop"], t["step"])],
}
