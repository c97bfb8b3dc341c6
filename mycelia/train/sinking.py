"""Steps that are fed by a dataset: a thread makes the rows of the next steps while one runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from mycelia.api.jit import jit
from mycelia.dataset import Dataset
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError


class DataSink:
    """A function that takes its arguments from a dataset; see `data_sink`."""

    def __init__(self, fn: Callable[..., Any], dataset: Dataset, sink_size: int) -> None:
        self.fn, self.size = fn, sink_size
        self.queue = dataset.device_que(send_epoch_end=False)

    def __call__(self) -> Any:
        """Run the next steps; the result of the last one."""
        result = None
        for _ in range(self.size):
            result = self.fn(*map(Tensor, self.queue.get()))
        return result

    def close(self) -> None:
        """End the thread and the pipeline."""
        self.queue.stop_send()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def data_sink(
    fn: Callable[..., Any],
    dataset: Dataset,
    sink_size: int = 1,
    jit_config: Mapping[str, Any] | None = None,
    input_signature: Sequence[Tensor] | Tensor | None = None,
) -> DataSink:
    """A function without arguments that runs `fn` on the next `sink_size` rows of a dataset, epoch after epoch.

    Rows are made by a thread while steps run. With `jit_config`, arguments of `jit`, or with `input_signature` the
    function is compiled: a step is then one native call.

    >>> import mycelia.dataset as ds
    >>> numbers = ds.NumpySlicesDataset([1.0, 2.0, 3.0, 4.0], ["x"], shuffle=False)
    >>> with data_sink(lambda x: x * 10, numbers, sink_size=2) as steps:
    ...     [float(steps()), float(steps()), float(steps())]
    [20.0, 40.0, 20.0]
    """
    if isinstance(sink_size, bool) or not isinstance(sink_size, int) or sink_size < 1:
        raise ArgumentError(f"sink_size must be a whole number of at least 1, and is {sink_size!r}")
    if not isinstance(dataset, Dataset):
        raise ArgumentError(f"data_sink takes a dataset, and got {type(dataset).__name__}")
    if jit_config is not None or input_signature is not None:
        settings = dict(jit_config or {})
        if input_signature is not None:
            settings["input_signature"] = input_signature
        fn = jit(fn, **settings)
    return DataSink(fn, dataset, sink_size)
