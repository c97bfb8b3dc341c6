"""How far numbers are from what they should be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError, ShapeError
from mycelia.train.metrics.metric import Metric, as_array, rearrange_inputs, same_shape
from mycelia.types import Array


class Loss(Metric):
    """The mean of the losses of all batches.

    >>> metric = Loss()
    >>> for loss in (1.0, 2.0):
    ...     metric.update(loss)
    >>> metric.eval()
    1.5
    """

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self.sum, self.total = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        (loss,) = self._taken(inputs, "loss")
        if loss.size != 1 or loss.ndim > 1:
            raise ShapeError(f"a loss is one number, not an array of shape {loss.shape}", hint="reduce it in the loss")
        self.sum += float(loss.reshape(()))
        self.total += 1

    def eval(self) -> float:
        self._measured(self.total)
        return self.sum / self.total


class _Distance(Metric):
    """The sum of the distances of all numbers of a sample, averaged over the samples."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self.sum, self.total = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        predictions, labels = self._taken(inputs, "predictions", "labels")
        same_shape(self, predictions, labels)
        if not labels.ndim:
            raise ShapeError(f"{type(self).__name__} takes batches: the first axis counts samples")
        self.sum += float(self.distance(predictions, labels).sum())
        self.total += len(labels)

    def distance(self, predictions: Array, labels: Array) -> Array:
        raise AssertionError("each kind has its own")

    def eval(self) -> float:
        self._measured(self.total)
        return self.sum / self.total


class MAE(_Distance):
    """The absolute error of a sample, all its numbers added up, averaged over the samples.

    >>> metric = MAE()
    >>> metric.update(np.array([0.5, 2.0]), np.array([1.0, 1.0]))
    >>> metric.eval()
    0.75
    """

    def distance(self, predictions: Array, labels: Array) -> Array:
        return np.asarray(np.abs(labels - predictions))


class MSE(_Distance):
    """The squared error of a sample, all its numbers added up, averaged over the samples.

    >>> metric = MSE()
    >>> metric.update(np.array([0.5, 2.0]), np.array([1.0, 1.0]))
    >>> metric.eval()
    0.625
    """

    def distance(self, predictions: Array, labels: Array) -> Array:
        return np.asarray(np.square(labels - predictions))


class Perplexity(Metric):
    """exp of the mean of -log of the probability given to what came; labels equal to `ignore_label` do not count.

    >>> metric = Perplexity()
    >>> metric.update(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 0]))
    >>> round(metric.eval(), 4)
    2.8284
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        if ignore_label is not None and type(ignore_label) is not int:
            raise ArgumentError(f"ignore_label is a whole number or None, not {ignore_label!r}")
        self.ignore_label = ignore_label
        self.clear()

    def clear(self) -> None:
        self.sum, self.total = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        predictions, labels = self._taken(inputs, "probabilities", "labels")
        if predictions.shape[:-1] != labels.shape or not predictions.ndim:
            raise ShapeError(
                "Perplexity takes labels, and a probability of each class for every one of them",
                given={"probabilities": predictions.shape, "labels": labels.shape},
            )
        places = labels.reshape(-1).astype(np.int64)
        counts = np.ones(places.shape, bool) if self.ignore_label is None else places != self.ignore_label
        rows, places = predictions.reshape(-1, predictions.shape[-1])[counts], places[counts]
        if places.size and (places.min() < 0 or places.max() >= rows.shape[1]):
            raise ArgumentError(f"labels are places among {rows.shape[1]} classes", given={"labels": labels})
        found = rows[np.arange(len(rows)), places]
        self.sum -= float(np.log(np.maximum(found, 1e-10)).sum())
        self.total += len(rows)

    def eval(self) -> float:
        self._measured(self.total)
        return math.exp(self.sum / self.total)


class CosineSimilarity(Metric):
    """How alike the rows of the last batch are: cosines of all pairs, or their products ("dot").

    `zero_diagonal` says that a row is not compared with itself; `reduction` adds up or averages each row.

    >>> metric = CosineSimilarity()
    >>> metric.update(np.array([[3.0, 4.0], [4.0, 3.0]]))
    >>> metric.eval()
    array([[0.  , 0.96],
           [0.96, 0.  ]])
    """

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        super().__init__()
        if similarity not in ("cosine", "dot") or reduction not in ("none", "sum", "mean"):
            raise ArgumentError(
                "CosineSimilarity compares by cosine or dot, and reduces by none, sum or mean",
                given={"similarity": similarity, "reduction": reduction},
            )
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, bool(zero_diagonal)
        self.clear()

    def clear(self) -> None:
        self.rows: Array | None = None

    @rearrange_inputs
    def update(self, inputs: Any) -> None:
        rows = as_array(inputs, "CosineSimilarity's rows")
        if rows.ndim != 2:
            raise ShapeError(f"CosineSimilarity compares the rows of a matrix, and got shape {rows.shape}")
        self.rows = rows / np.linalg.norm(rows, axis=1, keepdims=True) if self.similarity == "cosine" else rows

    def eval(self) -> Array:
        self._measured(self.rows is not None)
        assert self.rows is not None, "asked before"
        products = np.asarray(self.rows @ self.rows.T)
        if self.zero_diagonal:
            np.fill_diagonal(products, 0)
        return products if self.reduction == "none" else np.asarray(getattr(np, self.reduction)(products, axis=-1))


class Dice(Metric):
    """2 a·b / (a·a + b·b + smooth) of each batch, added up and divided by the number of samples, as MindSpore does.

    >>> metric = Dice()
    >>> metric.update(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]))
    >>> round(metric.eval(), 4)
    0.6667
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        if isinstance(smooth, bool) or not isinstance(smooth, int | float) or not smooth > 0:
            raise ArgumentError(f"smooth is a number above 0, not {smooth!r}")
        self.smooth = smooth
        self.clear()

    def clear(self) -> None:
        self.sum, self.total = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        predictions, labels = self._taken(inputs, "predictions", "labels")
        same_shape(self, predictions, labels)
        a, b = predictions.reshape(-1).astype(np.float64), labels.reshape(-1).astype(np.float64)
        self.sum += float(2 * (a @ b) / (a @ a + b @ b + self.smooth))
        self.total += len(labels)

    def eval(self) -> float:
        self._measured(self.total)
        return self.sum / self.total
