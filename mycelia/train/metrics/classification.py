"""How often classes are told right: accuracy, precision, recall, and their means."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.errors import ArgumentError, ShapeError
from mycelia.train.metrics.metric import Metric, one_hot, rearrange_inputs, same_shape, share
from mycelia.types import Array

TYPES = ("classification", "multilabel")


def classes_of(metric: Metric, predictions: Array, labels: Array) -> tuple[Array, Array]:
    """The classes that are predicted and that are true, from scores (N, C, ...) and labels, one-hot or not.

    >>> classes_of(Metric(), np.array([[0.1, 0.9], [0.6, 0.4]]), np.array([1, 1]))
    (array([1, 0]), array([1, 1]))
    """
    if predictions.ndim == labels.ndim and one_hot(labels):
        labels = labels.argmax(1)
    if predictions.ndim != labels.ndim + 1 or predictions.shape[:1] + predictions.shape[2:] != labels.shape:
        raise ShapeError(
            f"{type(metric).__name__} takes scores of every class and labels",
            given={"scores": predictions.shape, "labels": labels.shape},
            hint="scores have one axis more, the second; or labels are one-hot",
        )
    count = predictions.shape[1]
    whole = labels.astype(np.int64)
    if labels.size and ((whole != labels).any() or whole.min() < 0 or whole.max() >= count):
        raise ArgumentError(
            f"labels are whole numbers below the {count} classes that there are scores for",
            given={"labels from": labels.min(), "to": labels.max()},
        )
    return predictions.argmax(1).reshape(-1), whole.reshape(-1)


class EvaluationBase(Metric):
    """A metric of classes: one for each sample ("classification") or several ("multilabel").

    >>> EvaluationBase("multilabel").eval_type
    'multilabel'
    """

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in TYPES:
            raise ArgumentError(f"eval_type is one of {', '.join(TYPES)}, not {eval_type!r}")
        self.eval_type = eval_type
        self.class_num = 0

    def _same_classes(self, count: int) -> None:
        if self.class_num not in (0, count):
            raise ArgumentError(
                f"{type(self).__name__} was told of {self.class_num} classes before, and now of {count}",
                hint="clear() begins anew",
            )
        self.class_num = count

    def _several(self, predictions: Array, labels: Array) -> tuple[Array, Array]:
        """Predictions and labels of samples that may have several classes: a row of 0 and 1 for each."""
        same_shape(self, predictions, labels)
        if predictions.ndim < 2 or not all(np.isin(a, (0, 1)).all() for a in (predictions, labels)):
            raise ArgumentError("several labels are rows of 0 and 1, in predictions and labels")
        return _rows(predictions), _rows(labels)


def _rows(array: Array) -> Array:
    """(N, C, ...) as rows of C."""
    return np.moveaxis(array, 1, -1).reshape(-1, array.shape[1])


class Accuracy(EvaluationBase):
    """The share of samples whose prediction is right; of several labels all must be.

    >>> metric = Accuracy()
    >>> metric.update(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([1, 0, 1]))
    >>> round(metric.eval(), 4)
    0.6667
    """

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self.right, self.total, self.class_num = 0, 0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        predictions, labels = self._taken(inputs, "predictions", "labels")
        if self.eval_type == "multilabel":
            said, true = self._several(predictions, labels)
            right = (said == true).all(1)
        else:
            said, true = classes_of(self, predictions, labels)
            right = said == true
        self._same_classes(predictions.shape[1])
        self.right += int(right.sum())
        self.total += right.size

    def eval(self) -> float:
        self._measured(self.total)
        return self.right / self.total


class _Counted(EvaluationBase):
    """What was right, and what was said or true, for each class; of several labels, for each sample."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self.class_num = 0
        self.right: Array = np.zeros(0)
        self.said: Array = np.zeros(0)
        self.true: Array = np.zeros(0)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        predictions, labels = self._taken(inputs, "predictions", "labels")
        if self.eval_type == "multilabel":
            said, true = self._several(predictions, labels)
            self._same_classes(said.shape[1])
            now = [(said * true).sum(1), said.sum(1), true.sum(1)]
            before = [self.right, self.said, self.true]
            self.right, self.said, self.true = (np.concatenate(pair) for pair in zip(before, now, strict=True))
            return
        known, classes = self.class_num, np.arange(predictions.shape[1] if predictions.ndim > 1 else 0)
        said, true = (_marks(c, classes) for c in classes_of(self, predictions, labels))
        self._same_classes(classes.size)
        now = [(said & true).sum(0), said.sum(0), true.sum(0)]
        before = [self.right, self.said, self.true] if known else [np.zeros(classes.size)] * 3
        self.right, self.said, self.true = (a + b for a, b in zip(before, now, strict=True))

    def _mean(self, result: Array, average: bool) -> Any:
        self._measured(self.class_num)
        if not isinstance(average, bool):
            raise ArgumentError(f"average is True or False, not {average!r}")
        return result.mean() if average else result


def _marks(chosen: Array, classes: Array) -> Array:
    return np.asarray(chosen[:, None] == classes)


class Precision(_Counted):
    """Of what was said to be of a class, the share that is. With several labels, a number for each sample.

    >>> metric = Precision()
    >>> metric.update(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([1, 0, 1]))
    >>> metric.eval(), metric.eval(average=True)
    (array([0.5, 1. ]), np.float64(0.75))
    """

    def eval(self, average: bool = False) -> Any:
        return self._mean(share(self.right, self.said), average)


class Recall(_Counted):
    """Of what is of a class, the share that was said to be. With several labels, a number for each sample.

    >>> metric = Recall()
    >>> metric.update(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([1, 0, 1]))
    >>> metric.eval()
    array([1. , 0.5])
    """

    def eval(self, average: bool = False) -> Any:
        return self._mean(share(self.right, self.true), average)


class Fbeta(_Counted):
    """The harmonic mean of precision and recall, in which recall counts `beta` times as much.

    >>> metric = Fbeta(1)
    >>> metric.update(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([1, 0, 1]))
    >>> metric.eval().round(4)
    array([0.6667, 0.6667])
    """

    def __init__(self, beta: float) -> None:
        if isinstance(beta, bool) or not isinstance(beta, int | float) or not beta > 0:
            raise ArgumentError(f"beta is a number above 0, not {beta!r}")
        super().__init__()
        self.beta = beta

    def eval(self, average: bool = False) -> Any:
        square = self.beta**2
        return self._mean(share((1 + square) * self.right, square * self.true + self.said), average)


class F1(Fbeta):
    """The harmonic mean of precision and recall.

    >>> metric = F1()
    >>> metric.update(np.array([[0.2, 0.5], [0.3, 0.1]]), np.array([1, 0]))
    >>> metric.eval()
    array([1., 1.])
    """

    def __init__(self) -> None:
        super().__init__(1.0)


class TopKCategoricalAccuracy(Metric):
    """The share of samples whose class is among the `k` with the highest scores; of equal scores the first counts.

    >>> metric = TopKCategoricalAccuracy(2)
    >>> metric.update(np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]), np.array([2, 1]))
    >>> metric.eval()
    0.5
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        if type(k) is not int or k < 1:
            raise ArgumentError(f"k is a whole number from 1, not {k!r}")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self.right, self.total = 0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        predictions, labels = self._taken(inputs, "predictions", "labels")
        _, true = classes_of(self, predictions, labels)
        best = np.argsort(-_rows(predictions), axis=1, kind="stable")[:, : self.k]
        self.right += int((best == true[:, None]).sum())
        self.total += true.size

    def eval(self) -> float:
        self._measured(self.total)
        return self.right / self.total


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class has the highest score.

    >>> metric = Top1CategoricalAccuracy()
    >>> metric.update(np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]), np.array([1, 1]))
    >>> metric.eval()
    0.5
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is among the five with the highest scores.

    >>> metric = Top5CategoricalAccuracy()
    >>> metric.update(np.arange(6.0)[None], np.array([0]))
    >>> metric.eval()
    0.0
    """

    def __init__(self) -> None:
        super().__init__(5)
