"""Which parts of a picture a network looks at."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn import Cell
from mycelia.train.metrics.metric import Metric, as_array, rearrange_inputs
from mycelia.types import Array


class OcclusionSensitivity(Metric):
    """How much the score of a class falls when a part of the picture is hidden, for each place.

    `update` takes a network, a batch of one picture and a label. Around each place `margin` pixels, for all axes or
    for each, are set to `pad_val`; `n_batch` pictures go through the network together. `b_box` bounds the places:
    [first, last, first, last, ...], where a last of -1 is the end.

    >>> from mycelia.nn import Dense
    >>> net = Dense(3, 1, weight_init="ones", bias_init="zeros")
    >>> metric = OcclusionSensitivity(margin=1)
    >>> metric.update(net, np.array([[1.0, 2.0, 4.0]], np.float32), 0)
    >>> metric.eval()
    array([1., 3., 6.], dtype=float32)
    """

    def __init__(
        self, pad_val: float = 0.0, margin: int | list[int] = 2, n_batch: int = 128, b_box: list[int] | None = None
    ) -> None:
        super().__init__()
        if type(n_batch) is not int or n_batch < 1:
            raise ArgumentError(f"n_batch is a whole number from 1, not {n_batch!r}")
        if isinstance(pad_val, bool) or not isinstance(pad_val, int | float):
            raise ArgumentError(f"pad_val is a number, not {pad_val!r}")
        margins = margin if isinstance(margin, list | tuple) else [margin]
        if not margins or not all(type(m) is int and m > 0 for m in margins):
            raise ArgumentError(f"margin is a whole number from 1, or a list with one for each axis, not {margin!r}")
        self.pad_val, self.margin, self.n_batch, self.b_box = float(pad_val), margin, n_batch, b_box
        self.clear()

    def clear(self) -> None:
        self.falls: Array | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        if len(inputs) != 3 or not isinstance(inputs[0], Cell):
            raise ArgumentError("OcclusionSensitivity takes a network, a batch of one picture and a label")
        net = inputs[0]
        picture, label = as_array(inputs[1], "the picture"), as_array(inputs[2], "the label").astype(np.int64)
        if picture.ndim < 2 or len(picture) != 1 or label.size != 1:
            raise ShapeError(
                "OcclusionSensitivity takes a batch of one picture, and one label",
                given={"pictures": picture.shape, "label": label.shape},
            )
        extents = picture.shape[1:]
        first, last = self._box(extents)
        margins = self.margin if isinstance(self.margin, list | tuple) else [self.margin] * len(extents)
        if len(margins) != len(extents):
            raise ArgumentError(f"margin has {len(margins)} numbers for {len(extents)} axes")
        places = list(np.ndindex(*(b - a + 1 for a, b in zip(first, last, strict=True))))
        chosen = int(label.reshape(()))
        whole = net(Tensor(picture)).asnumpy()[0, chosen]
        scores: list[Array] = []
        for start in range(0, len(places), self.n_batch):
            hidden = np.repeat(picture, len(places[start : start + self.n_batch]), 0)
            for row, place in zip(hidden, places[start : start + self.n_batch], strict=True):
                around = [(p + a, m) for p, a, m in zip(place, first, margins, strict=True)]
                row[tuple(slice(max(0, p - m), p + m) for p, m in around)] = self.pad_val
            scores.append(net(Tensor(hidden)).asnumpy()[:, chosen])
        shape = [b - a + 1 for a, b in zip(first, last, strict=True)]
        self.falls = np.asarray(whole - np.concatenate(scores).reshape(shape))

    def _box(self, extents: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """The first and the last place along each axis."""
        if self.b_box is None:
            return [0] * len(extents), [n - 1 for n in extents]
        if len(self.b_box) != 2 * len(extents):
            raise ArgumentError(f"b_box has {len(self.b_box)} numbers for {len(extents)} axes", hint="two for each")
        first = [max(0, a) for a in self.b_box[::2]]
        last = [n - 1 if b < 0 else b for b, n in zip(self.b_box[1::2], extents, strict=True)]
        if any(a > b or b >= n for a, b, n in zip(first, last, extents, strict=True)):
            raise ArgumentError("b_box is no box inside the picture", given={"b_box": self.b_box, "picture": extents})
        return first, last

    def eval(self) -> Array:
        self._measured(self.falls is not None)
        assert self.falls is not None, "asked before"
        return np.asarray(np.squeeze(self.falls))
