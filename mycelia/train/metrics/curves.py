"""What a threshold costs and gives: the curve of true over false positives, and the area below."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.errors import ArgumentError, ShapeError
from mycelia.train.metrics.metric import Metric, rearrange_inputs
from mycelia.types import Array


class ROC(Metric):
    """The receiver operating characteristic: for every threshold, the share of false and of true positives.

    `eval` gives (false, true, thresholds), with lists of them, one for each class, where there is a score for each of
    `class_num` classes. All batches since `clear` count.

    >>> metric = ROC()
    >>> metric.update(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    >>> metric.eval()[0].tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and type(value) is not int:
                raise ArgumentError(f"{name} is a whole number or None, not {value!r}")
        self.class_num, self.pos_label = class_num, pos_label
        self.clear()

    def clear(self) -> None:
        self.batches: list[tuple[Array, Array]] = []

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        scores, labels = self._taken(inputs, "scores", "labels")
        if scores.shape == labels.shape:
            if self.class_num not in (None, 1):
                raise ArgumentError(f"there is one score for each label, and class_num is {self.class_num}")
            self.batches.append((scores.reshape(-1, 1), labels.reshape(-1)))
            return
        if scores.ndim != labels.ndim + 1 or scores.shape[:1] + scores.shape[2:] != labels.shape:
            raise ShapeError(
                "ROC takes labels, and scores of the same shape, or with one axis more, of classes",
                given={"scores": scores.shape, "labels": labels.shape},
            )
        if self.pos_label is not None or self.class_num != scores.shape[1]:
            raise ArgumentError(
                f"scores of {scores.shape[1]} classes need ROC(class_num={scores.shape[1]}), and no pos_label",
                given={"class_num": self.class_num, "pos_label": self.pos_label},
            )
        self.batches.append((np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1]), labels.reshape(-1)))

    def eval(self) -> tuple[Any, Any, Any]:
        self._measured(len(self.batches))
        scores, labels = (np.concatenate(part) for part in zip(*self.batches, strict=True))
        if scores.shape[1] == 1:
            return _curve(scores[:, 0], labels == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(scores[:, c], labels == c) for c in range(scores.shape[1])]
        return tuple(map(list, zip(*curves, strict=True)))  # type: ignore[return-value]  # three lists


def _curve(scores: Array, positive: Array) -> tuple[Array, Array, Array]:
    """False positives, true positives and the score from which on something is called positive."""
    order = np.argsort(scores, kind="stable")[::-1]
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)  # of those with one score
    true = np.append(0, np.cumsum(positive)[last])
    false = np.append(0, np.cumsum(~positive)[last])
    if not true[-1] or not false[-1]:
        raise ArgumentError(f"all labels are {'negative' if not true[-1] else 'positive'}: there is no ROC curve")
    return false / false[-1], true / true[-1], np.append(scores[0] + 1, scores[last])


def auc(x: Any, y: Any, reorder: bool = False) -> float:
    """The area below a curve of points, by trapezoids; x rises or falls, or is put in order by `reorder`.

    >>> auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    0.75
    """
    if not isinstance(x, np.ndarray | list | tuple) or not isinstance(y, np.ndarray | list | tuple):
        raise ArgumentError("auc takes two arrays", given={"x": type(x).__name__, "y": type(y).__name__})
    x, y = np.asarray(x), np.asarray(y)
    if any(a.ndim != 1 and (a.ndim != 2 or a.shape[1] != 1) for a in (x, y)) or x.shape[0] != y.shape[0]:
        raise ShapeError("auc takes two rows of numbers of one length", given={"x": x.shape, "y": y.shape})
    x, y = x.reshape(-1), y.reshape(-1)
    if len(x) < 2:
        raise ShapeError(f"an area needs at least two points, and there are {len(x)}")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if not ((steps >= 0).all() or (steps <= 0).all()):
        raise ArgumentError("x neither rises nor falls", given={"x": x}, hint="auc(x, y, reorder=True)")
    return float(np.trapezoid(y, x) * (-1 if (steps < 0).any() else 1))
