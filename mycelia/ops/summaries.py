"""Summaries: values that a network shows while it computes. A `SummaryRecord` takes them up and writes them down."""

from __future__ import annotations

from typing import Any, ClassVar

from mycelia.errors import CallError
from mycelia.ops.host import pyfunc
from mycelia.types import Array

__all__ = ["HistogramSummary", "ImageSummary", "ScalarSummary", "TensorSummary"]

_seen: dict[tuple[str, str], Array] = {}  # the newest value of each name, until somebody takes it


def taken() -> list[tuple[str, str, Array]]:
    """What networks have shown since this was asked last: plugins, names and values.

    >>> from mycelia import Tensor
    >>> before = taken()
    >>> ScalarSummary()("loss", Tensor(0.5))
    >>> [(plugin, name, float(value)) for plugin, name, value in taken()], taken()
    ([('scalar', 'loss', 0.5)], [])
    """
    found = [(plugin, name, value) for (plugin, name), value in list(_seen.items())]
    _seen.clear()
    return found


class Summary:
    """The family: called with a name and a tensor, eagerly or in a compiled program."""

    plugin: ClassVar[str]

    def __call__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise CallError(f"the name of a summary is a string, not a {type(name).__name__}")
        plugin = self.plugin

        def note(shown: Array) -> None:
            _seen[plugin, name] = shown.copy()

        pyfunc(note, None, value)


class ScalarSummary(Summary):
    """Shows a number.

    >>> from mycelia import Tensor
    >>> ScalarSummary()("loss", Tensor(0.5))
    """

    plugin = "scalar"


class ImageSummary(Summary):
    """Shows the first of some pictures: (examples, channels, height, width).

    >>> from mycelia import Tensor
    >>> ImageSummary()("pictures", Tensor([[[[0.0, 1.0]]]]))
    """

    plugin = "image"


class TensorSummary(Summary):
    """Shows a tensor.

    >>> from mycelia import Tensor
    >>> TensorSummary()("weights", Tensor([0.0, 1.0]))
    """

    plugin = "tensor"


class HistogramSummary(Summary):
    """Shows how the elements of a tensor are spread.

    >>> from mycelia import Tensor
    >>> HistogramSummary()("weights", Tensor([0.0, 1.0]))
    """

    plugin = "histogram"
