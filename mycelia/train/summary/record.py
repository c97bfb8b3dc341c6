"""SummaryRecord: values of a training, by step, in a file of events that TensorBoard shows."""

from __future__ import annotations

import json
import socket
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from time import time
from typing import Any, BinaryIO, Self

import numpy as np

from mycelia import checks
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CallError
from mycelia.nn import Cell
from mycelia.ops.summaries import taken
from mycelia.train.summary import events
from mycelia.train.summary.graphs import nodes_of
from mycelia.train.summary.pictures import as_pixels
from mycelia.types import Array

TENSORS = ("scalar", "image", "tensor", "histogram")
TOLD = ("train_lineage", "eval_lineage", "custom_lineage_data", "dataset_graph")
PLUGINS = (*TENSORS, "text", "graph", *TOLD, "LANDSCAPE")


class SummaryRecord:
    """A file of events in `log_dir`; a context that closes it. TensorBoard shows it: tensorboard --logdir log_dir.

    `add_value` notes values, `record(step)` writes them, together with those that `ops.ScalarSummary` and its like saw
    in networks. Of a file that grows beyond `max_file_size` bytes the next begins. With `raise_exception` a disk that
    is full ends the training, else a warning tells of it. `export_options={"tensor_format": "npy"}` writes tensors as
    files of NumPy too. `network` is what the graph is drawn of. Events are written by who records them: that takes less
    time than handing them to one of `num_process` processes, as MindSpore does.

    >>> import tempfile
    >>> with SummaryRecord(tempfile.mkdtemp()) as record:
    ...     record.add_value("scalar", "loss", Tensor(0.25))
    ...     written = record.record(step=1)
    >>> written, events.scalars(record.log_dir)
    (True, {'loss': [(1, 0.25)]})
    """

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Cell | None = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: Mapping[str, Any] | None = None,
    ) -> None:
        for name, value in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(value, str) or "/" in value:
                raise CallError(f"{name} of SummaryRecord is a part of a file's name, not {value!r}")
        checks.whole("SummaryRecord", "num_process", num_process, least=1)
        if max_file_size is not None:
            checks.whole("SummaryRecord", "max_file_size", max_file_size, least=1)
        if network is not None and not isinstance(network, Cell):
            raise CallError(f"network is a Cell, not a {type(network).__name__}")
        self.file_prefix, self.file_suffix, self.network = file_prefix, file_suffix, network
        self.max_file_size, self.raise_exception = (
            max_file_size,
            checks.truth("SummaryRecord", "raise_exception", raise_exception),
        )
        self.export = export_format(export_options)
        self.folder = Path(log_dir)
        self.mode = "train"
        self.noted: list[tuple[str, str, Any]] = []
        self.drawn = self.closed = False
        self.measured: dict[str, None] = {}  # names of scalars, to which hyperparameters have led
        self.number = 0
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self._begun()

    def _begun(self) -> BinaryIO:
        """A new file."""
        host = socket.gethostname() or "localhost"
        while True:
            which = f".{self.number}" if self.number else ""
            self.path = self.folder / f"{self.file_prefix}.tfevents.{int(time())}.{host}{which}{self.file_suffix}"
            self.number += 1
            try:
                file = self.path.open("xb")
                break
            except FileExistsError:
                continue
        file.write(events.record(events.version(time())))
        file.flush()
        return file

    @property
    def log_dir(self) -> str:
        """The file that is being written to."""
        return str(self.path)

    def set_mode(self, mode: str) -> None:
        """Say whether the network is being trained or evaluated: in mode "eval" what networks saw is not recorded.

        >>> import tempfile
        >>> with SummaryRecord(tempfile.mkdtemp()) as record:
        ...     record.set_mode("eval")
        """
        self.mode = checks.choice("SummaryRecord", "mode", mode, ("train", "eval"))

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Note a value for the next `record`: a "scalar", "image", "tensor" or "histogram" is a Tensor, a "text" is a
        string, a "graph" a Cell or a jitted function, a lineage a dictionary of plain values.

        >>> import tempfile
        >>> with SummaryRecord(tempfile.mkdtemp()) as record:
        ...     record.add_value("image", "batch", Tensor(np.zeros((4, 1, 2, 2), np.float32)))
        ...     record.add_value("text", "note", "it *learns*")
        """
        checks.choice("SummaryRecord", "plugin", plugin, PLUGINS)
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"the name of a value is a string that is not empty, not {name!r}")
        if plugin in TENSORS:
            if not isinstance(value, Tensor):
                raise CallError(f"a {plugin} is a Tensor, not a {type(value).__name__}", hint="ms.Tensor(value)")
            value = _fitting(plugin, name, value.asnumpy())
        elif plugin == "text" and not isinstance(value, str):
            raise CallError(f"a text is a string, not a {type(value).__name__}")
        elif plugin in (*TOLD, "LANDSCAPE") and not isinstance(value, Mapping):
            raise CallError(f"{plugin} is a dictionary of plain values, not a {type(value).__name__}")
        if any((kind, tag) == (plugin, name) for kind, tag, _ in self.noted):
            warnings.warn(f"{name}/{plugin} is noted twice; the newer value is recorded", stacklevel=2)
            self.noted = [entry for entry in self.noted if entry[:2] != (plugin, name)]
        self.noted.append((plugin, name, value))

    def record(
        self, step: int, train_network: Cell | None = None, plugin_filter: Callable[[str], bool] | None = None
    ) -> bool:
        """Write what was noted, as of this step; the graph once. Whether it went well.

        `plugin_filter` says of each plugin, such as "scalar", whether it is to be written.

        >>> import tempfile
        >>> with SummaryRecord(tempfile.mkdtemp()) as record:
        ...     record.record(2)
        True
        """
        checks.whole("SummaryRecord", "step", step)
        if train_network is not None and not isinstance(train_network, Cell):
            raise CallError(f"train_network is a Cell, not a {type(train_network).__name__}")
        if self.closed:
            raise ArgumentError("the SummaryRecord is closed", hint="make another one")
        noted, self.noted = self.noted, []
        seen = taken()
        if self.mode == "train":
            noted += [(plugin, name, _fitting(plugin, name, value)) for plugin, name, value in seen]
        network = train_network if train_network is not None else self.network
        if network is not None and not self.drawn and not any(plugin == "graph" for plugin, _, _ in noted):
            noted.append(("graph", "graph", network))
        chosen = [entry for entry in noted if plugin_filter is None or plugin_filter(entry[0])]
        now = time()
        try:
            values = [part for plugin, name, value in chosen for part in self._parts(plugin, name, value, step, now)]
            if values:
                self._write(events.event(now, step, events.summary(*values)))
            for plugin, _, value in chosen:
                if plugin == "graph" and not self.drawn:
                    self._write(events.event(now, step, events.graph(nodes_of(value))))
                    self.drawn = True
        except OSError as reason:
            if self.raise_exception:
                raise
            warnings.warn(f"a summary could not be written: {reason}", stacklevel=2)
            return False
        return True

    def _parts(self, plugin: str, name: str, value: Any, step: int, now: float) -> list[bytes]:
        """A noted value as values of an event."""
        if plugin == "scalar":
            self.measured[name] = None
            return [events.scalar(name, float(value.reshape(-1)[0]))]
        if plugin == "image":
            return [events.image(name, as_pixels(value))]
        if plugin == "histogram":
            return [events.histogram(name, value)]
        if plugin == "text":
            return [events.text(name, value)]
        if plugin == "tensor":
            if self.export:
                folder = self.folder / "export" / "tensor"
                folder.mkdir(parents=True, exist_ok=True)
                np.save(folder / f"{name.replace('/', '_')}_{step}.npy", value)
            return [events.tensor(name, value)]
        if plugin in ("train_lineage", "custom_lineage_data"):
            plain = {k: v if isinstance(v, str | int | float) else str(v) for k, v in value.items()}
            return list(events.hyperparameters(plain, self.measured, now)) if plain else []
        if plugin == "graph":
            return []
        return [
            events.text(f"{plugin}/{name}", f"    {json.dumps(value, default=str, indent=2)}".replace("\n", "\n    "))
        ]

    def _write(self, message: bytes) -> None:
        raw = events.record(message)
        if self.max_file_size is not None and self.file.tell() + len(raw) > self.max_file_size:
            self.file.close()
            self.file = self._begun()
        self.file.write(raw)
        self.file.flush()

    def flush(self) -> None:
        """Let all that was recorded be on the disk.

        >>> import tempfile
        >>> with SummaryRecord(tempfile.mkdtemp()) as record:
        ...     record.flush()
        """
        if not self.closed:
            self._kept(self.file.flush)

    def close(self) -> None:
        """Close the file; what was noted and not recorded is let go.

        >>> import tempfile
        >>> SummaryRecord(tempfile.mkdtemp()).close()
        """
        if not self.closed:
            self.closed = True
            self._kept(self.file.close)

    def _kept(self, work: Callable[[], None]) -> bool:
        """Whether what was recorded could be put on the disk; a warning tells of it if not, or an error."""
        try:
            work()
        except OSError as reason:
            if self.raise_exception:
                raise
            warnings.warn(f"a summary could not be written: {reason}", stacklevel=3)
            return False
        return True

    def __enter__(self) -> Self:
        if self.closed:
            raise ArgumentError("the SummaryRecord is closed", hint="make another one")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _fitting(plugin: str, name: str, value: Array) -> Array:
    """A value as its plugin shows it."""
    if plugin == "scalar" and value.size != 1:
        raise ArgumentError(f"the scalar {name} is one number, and this tensor has shape {value.shape}")
    if plugin == "image":
        if value.ndim != 4:
            raise ArgumentError(
                f"the image {name} is (examples, channels, height, width), and this tensor has shape {value.shape}"
            )
        return np.array(value[0])  # one of them is shown
    if plugin in ("tensor", "histogram") and value.ndim == 0:
        raise ArgumentError(f"the {plugin} {name} is a single number", hint=f'add_value("scalar", {name!r}, ...)')
    return np.array(value, np.float64 if value.dtype.kind == "f" and value.dtype.itemsize == 8 else None)


def export_format(options: Mapping[str, Any] | None) -> bool:
    """Whether tensors are written as files of NumPy too.

    >>> export_format({"tensor_format": "npy"}), export_format(None)
    (True, False)
    """
    if options is None:
        return False
    if not isinstance(options, Mapping) or set(options) != {"tensor_format"}:
        raise ArgumentError(f'export_options is None or {{"tensor_format": "npy"}}, not {options!r}')
    chosen: str | None = checks.choice("export_options", "tensor_format", options["tensor_format"], ("npy", None))
    return chosen == "npy"
