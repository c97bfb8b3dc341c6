"""Small habits of the data engine that scripts meet, each as plain data: the same code runs with either library."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    array = np.asarray(value)
    if array.size and isinstance(array.ravel()[0], bytes):  # MindSpore gives one bytes object, and Mycelia numbers
        return list(b"".join(array.ravel().tolist()))
    return array.tolist()


def rows(dataset: Any) -> list[Any]:
    return [[plain(v) for v in r] for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def written(mindrecord: Any, path: Path, order: list[str]) -> str:
    fields = {"label": {"type": "int32"}, "data": {"type": "int32", "shape": [2]}, "file": {"type": "string"},
              "raw": {"type": "bytes"}}  # fmt: skip
    writer = mindrecord.FileWriter(str(path), 1)
    writer.add_schema({n: fields[n] for n in order}, "a schema")
    whole = {"label": 1, "data": np.array([2, 3], np.int32), "file": "x", "raw": b"yz"}
    writer.write_raw_data([{n: whole[n] for n in order}])
    writer.commit()
    return str(path)


def record_columns(ds: Any, mindrecord: Any, root: Path) -> Any:
    told = {}
    for order in (["label", "data", "file", "raw"], ["raw", "file", "data", "label"], ["file", "label", "raw", "data"]):
        place = written(mindrecord, root / "-".join(order), order)
        dataset = ds.MindDataset(place, shuffle=False)
        told["-".join(order)] = {
            "names": dataset.get_col_names(),
            "row": rows(dataset)[0],
            "dict": list(next(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))),
            "chosen": ds.MindDataset(place, ["label", "data"]).get_col_names(),
        }
    return told


def callbacks(ds: Any, mindrecord: Any, root: Path) -> Any:
    events: list[str] = []

    class Noting(ds.DSCallback):
        def __init__(self, name: str, step_size: int = 1) -> None:
            super().__init__(step_size)
            self.name = name

        def ds_begin(self, ds_run_context: Any) -> None:
            events.append(f"{self.name} begin")

        def ds_epoch_begin(self, ds_run_context: Any) -> None:
            events.append(f"{self.name} epoch begin {ds_run_context.cur_epoch_num}")

        def ds_epoch_end(self, ds_run_context: Any) -> None:
            events.append(f"{self.name} epoch end {ds_run_context.cur_epoch_num}")

        def ds_step_begin(self, ds_run_context: Any) -> None:
            events.append(
                f"{self.name} step begin {ds_run_context.cur_step_num_in_epoch} {ds_run_context.cur_step_num}"
            )

        def ds_step_end(self, ds_run_context: Any) -> None:
            events.append(f"{self.name} step end {ds_run_context.cur_step_num_in_epoch} {ds_run_context.cur_step_num}")

    told = {}
    for size in (1, 2):
        events.clear()
        source = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
        mapped = source.map(lambda x: x, callbacks=[Noting("a", size), Noting("b", size)], num_parallel_workers=1)
        iterator = mapped.create_tuple_iterator(num_epochs=2, output_numpy=True)
        for _ in range(2):
            for _ in iterator:
                pass
        # MindSpore makes rows ahead, so that only what is not a step has an order
        told[str(size)] = {
            "order": [e for e in events if " step " not in e],
            "steps": sorted(e for e in events if " step " in e),
        }
    return told


def seeds(ds: Any, mindrecord: Any, root: Path) -> Any:
    ds.config.set_seed(7)
    before = ds.config.get_seed()
    ds.config.set_seed(ds.config.get_seed())
    return [before, ds.config.get_seed()]


def ragged(ds: Any, mindrecord: Any, root: Path) -> Any:
    return rows(ds.NumpySlicesDataset(([np.array([1, 2]), np.array([3])], [7, 8]), ["x", "y"], shuffle=False))


def gate(ds: Any, mindrecord: Any, root: Path) -> Any:
    seen: list[Any] = []
    source = ds.NumpySlicesDataset(list(range(6)), ["x"], shuffle=False)
    dataset = source.sync_wait("go", num_batch=1, callback=lambda value=None: seen.append(value)).batch(2)
    got = []
    done = threading.Event()

    def run() -> None:
        for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True):
            got.append(row[0].tolist())
            dataset.sync_update("go", data={"value": len(got)})
        done.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    done.wait(20)
    return {"ended": done.is_set(), "got": got if done.is_set() else None}


def flat(ds: Any, mindrecord: Any, root: Path) -> Any:
    source = ds.NumpySlicesDataset(([1, 2], [5, 6]), ["a", "b"], shuffle=False)

    def make(*columns: Any) -> Any:
        number = int(np.asarray(columns[0] if len(columns) else 0).reshape(-1)[0])
        return ds.NumpySlicesDataset([number * 10, number * 10 + 1], ["c"], shuffle=False)

    return rows(source.flat_map(make))


def batch_map(ds: Any, mindrecord: Any, root: Path) -> Any:
    source = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
    mapped = source.batch(2, per_batch_map=lambda xs, info: ([x * 10 for x in xs],), input_columns=["x"])
    infos: list[Any] = []

    told = rows(mapped)

    def noting(xs: Any, info: Any) -> Any:
        infos.append([info.get_epoch_num(), info.get_batch_num()])
        return (xs,)

    source = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
    repeated = source.batch(2, per_batch_map=noting, input_columns=["x"], num_parallel_workers=1)
    iterator = repeated.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        list(iterator)
    return {"rows": told, "infos": infos}


def samplers(ds: Any, mindrecord: Any, root: Path) -> Any:
    class Plain:
        def __init__(self) -> None:
            self.order = [2, 0, 1]

        def __getitem__(self, i: int) -> int:
            return self.order[i]

        def __len__(self) -> int:
            return 3

    return rows(ds.NumpySlicesDataset([5, 6, 7], ["x"], sampler=Plain()))


def sizes(ds: Any, mindrecord: Any, root: Path) -> Any:
    def source() -> Any:
        return ds.NumpySlicesDataset(list(range(10)), ["x"], shuffle=False)

    skipped = source().skip(3).batch(3).repeat(2)
    return {
        "size": skipped.get_dataset_size(),
        "batch": skipped.get_batch_size(),
        "repeat": skipped.get_repeat_count(),
        "shapes": source().batch(4).output_shapes(),
        "types": [str(t) for t in source().output_types()],
        "rows": rows(source().skip(3).batch(3)),
        "concat": rows(source().take(2) + source().skip(8)),
        "zip": rows(ds.zip((source().take(2), source().skip(7).rename("x", "y")))),
        "project": ds.zip((source(), source().rename("x", "y"))).project(["y", "x"]).get_col_names(),
    }


def map_columns(ds: Any, mindrecord: Any, root: Path) -> Any:
    def source() -> Any:
        return ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4], "c": [5, 6]}, shuffle=False)

    made = {
        "more": lambda: source().map(lambda x, y: (x + y, x - y, x * y), ["a", "b"], ["s", "d", "p"]),
        "fewer": lambda: source().map(lambda x, y: x + y, ["b", "c"], ["s"]),
        "moved": lambda: source().map(lambda x: x + 1, ["b"], ["z"]),
    }
    return {n: [make().get_col_names(), rows(make())] for n, make in made.items()}


def wave(name: str, length: int) -> Callable[[Any, Any, Path], Any]:
    """A transform of a short recording."""

    def case(ds: Any, mindrecord: Any, root: Path) -> Any:
        audio = import_module(f"{ds.__name__}.audio")
        samples = np.linspace(-1, 1, length, dtype=np.float32)
        made = {
            "Spectrogram": lambda: audio.Spectrogram(n_fft=16),
            "SpectralCentroid": lambda: audio.SpectralCentroid(4000, n_fft=16),
            "Vol": lambda: audio.Vol(0.5),
            "Fade": lambda: audio.Fade(2, 2),
        }[name]()
        try:
            return np.round(np.asarray(made(samples), np.float64), 3).tolist()
        except Exception:
            return "an error"

    return case


CASES: dict[str, Callable[[Any, Any, Path], Any]] = {
    f.__name__: f
    for f in (record_columns, callbacks, seeds, ragged, gate, flat, batch_map, samplers, sizes, map_columns)
} | {f"{n} of {k}": wave(n, k) for n in ("Spectrogram", "SpectralCentroid", "Vol", "Fade") for k in (3, 5, 9, 100)}
