"""Plans as JSON and back: sources by their arguments, transforms by their fields, functions by their names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mycelia.dataset import readers, records, samplers, shards, textfiles
from mycelia.dataset.dataset import Dataset, zip_datasets
from mycelia.dataset.describing import operation_of
from mycelia.dataset.errors import DataError
from mycelia.errors import ArgumentError

SOURCES = {
    name: getattr(module, name)
    for module in (readers, records, shards, textfiles)
    for name in dir(module)
    if name.endswith("Dataset")
}


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


def deserialize(input_dict: dict[str, Any] | None = None, json_filepath: str | None = None) -> Dataset:
    """The dataset of a plan that `serialize` gave, or that a file holds.

    >>> import tempfile, mycelia.dataset as ds
    >>> place = tempfile.mkdtemp() + "/a.txt"; _ = Path(place).write_text("one\\ntwo\\n")
    >>> d = deserialize(serialize(ds.TextFileDataset(place, shuffle=False).repeat(2)))
    >>> [str(r[0]) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    ['one', 'two', 'one', 'two']
    """
    if (input_dict is None) == (json_filepath is None):
        raise ArgumentError("deserialize takes a dictionary or a file")
    told = input_dict if input_dict is not None else json.loads(Path(str(json_filepath)).read_text())
    return _dataset(told)


def _dataset(told: dict[str, Any]) -> Dataset:
    below = [_dataset(c) for c in told["children"]]
    kind = told["op_type"]
    if not below:
        return _source(kind, told)
    if kind not in STEPS:
        raise DataError(f"a step of the kind {kind!r} cannot be made from JSON")
    return STEPS[kind](below, told)


def _source(kind: str, told: dict[str, Any]) -> Dataset:
    if kind not in SOURCES:
        raise DataError(
            f"{kind} cannot be made from JSON: its rows are not in files",
            hint="save the dataset to a record file and begin with MindDataset",
        )
    rest = {k: v for k, v in told.items() if k not in ("op_type", "children", "sampler", "num_parallel_workers")}
    source: Dataset = SOURCES[kind](**rest, num_parallel_workers=told["num_parallel_workers"])
    return source.use_sampler(sampler_of(told["sampler"]))


def sampler_of(told: dict[str, Any]) -> samplers.Sampler:
    """A sampler from plain data.

    >>> sampler_of(samplers.SubsetSampler([2, 1]).describe()).order(3, (0,)).tolist()
    [2, 1]
    """
    kind = getattr(samplers, told["sampler"], None)
    if kind is None:
        raise DataError(f"the sampler {told['sampler']!r} was written by hand and cannot be made from JSON")
    words = {"sampler_indices": "sampler"} if kind is samplers.IterSampler else {}
    given = {words.get(k, k): v for k, v in told.items() if k not in ("sampler", "child")}
    made: samplers.Sampler = kind(**given)
    if "child" in told:
        made.add_child(sampler_of(told["child"]))
    return made


Step = Callable[[list[Dataset], dict[str, Any]], Dataset]


def _map(below: list[Dataset], t: dict[str, Any]) -> Dataset:
    operations = [operation_of(o) for o in t["operations"]]
    return below[0].map(operations, t["input_columns"], t["output_columns"], t["num_parallel_workers"])


def _batch(below: list[Dataset], t: dict[str, Any]) -> Dataset:
    size = t["batch_size"] if isinstance(t["batch_size"], int) else operation_of(t["batch_size"])
    if t["pad_info"] is not None:
        pad_info = {k: tuple(v) for k, v in t["pad_info"].items()}
        return below[0].padded_batch(size, t["drop_remainder"], t["num_parallel_workers"], pad_info)
    per_batch = operation_of(t["per_batch_map"])
    columns = {k: t[k] for k in ("input_columns", "output_columns")} if per_batch is not None else {}
    return below[0].batch(size, t["drop_remainder"], t["num_parallel_workers"], per_batch_map=per_batch, **columns)


def _bucket(below: list[Dataset], t: dict[str, Any]) -> Dataset:
    return below[0].bucket_batch_by_length(
        t["column_names"],
        t["bucket_boundaries"],
        t["bucket_batch_sizes"],
        operation_of(t["element_length_function"]),
        {k: tuple(v) for k, v in t["pad_info"].items()},
        t["pad_to_bucket_boundary"],
        t["drop_remainder"],
    )


STEPS: dict[str, Step] = {
    "Map": _map,
    "Batch": _batch,
    "Bucket": _bucket,
    "Filter": lambda below, t: below[0].filter(operation_of(t["predicate"]), t["input_columns"] or None),
    "Shuffle": lambda below, t: below[0].shuffle(t["buffer_size"]),
    "Repeat": lambda below, t: below[0].repeat(t["count"]),
    "Skip": lambda below, t: below[0].skip(t["count"]),
    "Take": lambda below, t: below[0].take(t["count"]),
    "Rename": lambda below, t: below[0].rename(t["input_columns"], t["output_columns"]),
    "Project": lambda below, t: below[0].project(t["columns"]),
    "Concat": lambda below, t: below[0].concat(below[1:]),
    "Zip": lambda below, t: zip_datasets(below),
}
