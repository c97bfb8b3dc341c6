"""Which classes are taken for which, and the many shares that are made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import nearest
from mycelia.train.metrics.metric import Metric, rearrange_inputs, same_shape, share
from mycelia.types import Array

Numbers = Any  # arrays of counts


class ConfusionMatrix(Metric):
    """How often class i (the row) was taken for class j (the column).

    Predictions are classes, scores with a second axis of classes, or numbers that are 1 from `threshold` on.
    `normalize` divides by the sum of a row ("target"), of a column ("prediction"), or of all.

    >>> metric = ConfusionMatrix(2)
    >>> metric.update(np.array([1, 0, 1, 0]), np.array([1, 0, 0, 1]))
    >>> metric.eval()
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        if type(num_classes) is not int or num_classes < 1:
            raise ArgumentError(f"num_classes is a whole number from 1, not {num_classes!r}")
        if normalize not in ("no_norm", "target", "prediction", "all"):
            raise ArgumentError(f"normalize is no_norm, target, prediction or all, not {normalize!r}")
        if isinstance(threshold, bool) or not isinstance(threshold, int | float):
            raise ArgumentError(f"threshold is a number, not {threshold!r}")
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self) -> None:
        self.counts = np.zeros((self.num_classes, self.num_classes))
        self.total = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        said, true = self._taken(inputs, "predictions", "labels")
        if said.ndim == true.ndim + 1:
            said = said.argmax(1)
        elif said.dtype.kind == "f":
            said = said >= self.threshold
        same_shape(self, said, true)
        both = np.stack([true.reshape(-1), said.reshape(-1)]).astype(np.int64)
        if both.size and (both.min() < 0 or both.max() >= self.num_classes):
            raise ArgumentError(
                f"classes are whole numbers from 0 to {self.num_classes - 1}",
                given={"labels": true, "from": both.min(), "to": both.max()},
            )
        np.add.at(self.counts, tuple(both), 1)
        self.total += both.shape[1]

    def eval(self) -> Array:
        self._measured(self.total)
        if self.normalize == "no_norm":
            return self.counts.copy()
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        return np.asarray(share(self.counts, self.counts.sum(axis, keepdims=True)))


def _tpr(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    return tp, tp + fn


def _rates(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    """The shares of positives and of negatives that are told right."""
    return _divided(tp, tp + fn), _divided(tn, tn + fp)


def _prevalence_threshold(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    tpr, tnr = _rates(tp, fp, tn, fn)
    return np.sqrt(tpr * (1 - tnr)) + tnr - 1, tpr + tnr - 1


def _balanced(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    tpr, tnr = _rates(tp, fp, tn, fn)
    return tpr + tnr, 2.0


def _matthews(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    return tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


def _fowlkes_mallows(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    ppv, tpr = _divided(tp, tp + fp), _divided(tp, tp + fn)
    return np.sqrt(ppv * tpr), 1.0


def _informedness(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    tpr, tnr = _rates(tp, fp, tn, fn)
    return tpr + tnr - 1, 1.0


def _markedness(tp: Numbers, fp: Numbers, tn: Numbers, fn: Numbers) -> tuple[Numbers, Numbers]:
    return _divided(tp, tp + fp) + _divided(tn, tn + fn) - 1, 1.0


SHARES: dict[str, Callable[[Numbers, Numbers, Numbers, Numbers], tuple[Numbers, Numbers]]] = {
    "tpr": _tpr,
    "tnr": lambda tp, fp, tn, fn: (tn, tn + fp),
    "ppv": lambda tp, fp, tn, fn: (tp, tp + fp),
    "npv": lambda tp, fp, tn, fn: (tn, tn + fn),
    "fnr": lambda tp, fp, tn, fn: (fn, tp + fn),
    "fpr": lambda tp, fp, tn, fn: (fp, tn + fp),
    "fdr": lambda tp, fp, tn, fn: (fp, fp + tp),
    "for": lambda tp, fp, tn, fn: (fn, fn + tn),
    "pt": _prevalence_threshold,
    "ts": lambda tp, fp, tn, fn: (tp, tp + fn + fp),
    "acc": lambda tp, fp, tn, fn: (tp + tn, tp + fp + tn + fn),
    "ba": _balanced,
    "f1": lambda tp, fp, tn, fn: (2 * tp, 2 * tp + fn + fp),
    "mcc": _matthews,
    "fm": _fowlkes_mallows,
    "bm": _informedness,
    "mk": _markedness,
}
"""Numerator and denominator of what is made of true and false, positives and negatives."""

NAMES = {
    "tpr": ("sensitivity", "recall", "hit_rate", "true_positive_rate"),
    "tnr": ("specificity", "selectivity", "true_negative_rate"),
    "ppv": ("precision", "positive_predictive_value"),
    "npv": ("negative_predictive_value",),
    "fnr": ("miss_rate", "false_negative_rate"),
    "fpr": ("fall_out", "false_positive_rate"),
    "fdr": ("false_discovery_rate",),
    "for": ("false_omission_rate",),
    "pt": ("prevalence_threshold",),
    "ts": ("threat_score", "critical_success_index", "csi"),
    "acc": ("accuracy",),
    "ba": ("balanced_accuracy",),
    "f1": ("f1_score",),
    "mcc": ("matthews_correlation_coefficient",),
    "fm": ("fowlkes_mallows_index",),
    "bm": ("informedness", "bookmaker_informedness"),
    "mk": ("markedness", "deltap"),
}
"""What else they are called; blanks may stand for underscores."""

REDUCTIONS = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


class ConfusionMatrixMetric(Metric):
    """A share that is made of true and false positives and negatives, such as sensitivity or the F1 score.

    Predictions and labels are 0 or 1, of shape (N, C, ...). Counts of all samples are added up first; with
    `calculation_method` the share of each sample and channel is computed, and reduced as `decrease` says. As in
    MindSpore, the first channel is left out where `skip_channel` is false, whatever the name may say.

    >>> metric = ConfusionMatrixMetric(metric_name="tpr")
    >>> metric.update(np.array([[[0], [1]], [[1], [0]]]), np.array([[[0], [1]], [[0], [1]]]))
    >>> metric.eval()
    array([0.5])
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:
        super().__init__()
        if decrease not in REDUCTIONS:
            raise ArgumentError(f"decrease is one of {', '.join(REDUCTIONS)}, not {decrease!r}")
        self.share = _named(metric_name)
        self.metric_name, self.skip_channel = metric_name, bool(skip_channel)
        self.calculation_method, self.decrease = bool(calculation_method), decrease
        self.clear()

    def clear(self) -> None:
        self.counts = np.zeros(4)
        self.sum: Any = 0.0
        self.known: Any = 0.0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        said, true = self._taken(inputs, "predictions", "labels")
        same_shape(self, said, true)
        if said.ndim < 2:
            raise ShapeError(f"ConfusionMatrixMetric takes batches with channels, (N, C, ...), not {said.shape}")
        if not np.isin(true, (0, 1)).all():
            raise ArgumentError("labels are 0 or 1, one-hot over the channels")
        if not self.skip_channel and said.shape[1] > 1:
            said, true = said[:, 1:], true[:, 1:]
        said, true = (a.reshape(*a.shape[:2], -1) for a in (said, true))
        tp, tn, p = ((said == 1) & (true == 1)).sum(2), ((said == 0) & (true == 0)).sum(2), (true == 1).sum(2)
        counts = np.stack([tp, true.shape[2] - p - tn, tn, p - tp]).astype(float)
        if self.calculation_method and true.shape[2] > 1:
            value, known = _reduced(np.asarray(_divided(*self.share(*counts))), self.decrease)
            self.sum, self.known = self.sum + value * known, self.known + known
        else:
            self.counts += counts.sum((1, 2))
            self.known = self.known + tp.size

    def eval(self) -> Any:
        self._measured(np.asarray(self.known).sum())
        if self.calculation_method:
            return share(self.sum, self.known)[()]
        return np.asarray(_divided(*self.share(*self.counts))).reshape(1)


def _named(name: str) -> Callable[[Numbers, Numbers, Numbers, Numbers], tuple[Numbers, Numbers]]:
    if not isinstance(name, str):
        raise ArgumentError(f"metric_name is a word, not {name!r}")
    asked = name.strip().lower().replace(" ", "_")
    for short, others in NAMES.items():
        if asked == short or asked in others:
            return SHARES[short]
    known = [n for others in NAMES.values() for n in others]
    raise ArgumentError(f"there is no metric {name!r} of a confusion matrix", hint=nearest(asked, known))


def _divided(part: Numbers, whole: Numbers) -> Numbers:
    """The quotient; NaN where there is nothing to divide by."""
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole != 0)


def _reduced(values: Array, way: str) -> tuple[Array, Array]:
    """Values (N, C) reduced, and of how many numbers each result is made; NaN does not count."""
    known = ~np.isnan(values)
    values = np.where(known, values, 0.0)
    counts = known.astype(float)
    if way == "none":
        return values, counts
    if way == "mean":  # of channels first, then of samples
        per_sample, counts = share(values.sum(1), counts.sum(1)), (counts.sum(1) > 0).astype(float)
        return np.asarray(share(per_sample.sum(), counts.sum())), counts.sum()
    axes: Any = {"sum": (0, 1), "mean_batch": 0, "sum_batch": 0, "mean_channel": 1, "sum_channel": 1}[way]
    total, counts = values.sum(axes), np.asarray(counts.sum(axes))
    return (np.asarray(share(total, counts)) if way.startswith("mean") else np.asarray(total)), counts
