"""Metrics: what is measured of a network over all batches of an evaluation."""

from collections.abc import Callable
from typing import Any

from mycelia.errors import ArgumentError
from mycelia.names import nearest
from mycelia.train.metrics.bleu import BleuScore
from mycelia.train.metrics.classification import (
    F1,
    Accuracy,
    EvaluationBase,
    Fbeta,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from mycelia.train.metrics.confusion import ConfusionMatrix, ConfusionMatrixMetric
from mycelia.train.metrics.curves import ROC, auc
from mycelia.train.metrics.errors import MAE, MSE, CosineSimilarity, Dice, Loss, Perplexity
from mycelia.train.metrics.metric import Metric, NothingMeasured, rearrange_inputs
from mycelia.train.metrics.occlusion import OcclusionSensitivity
from mycelia.train.metrics.surfaces import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance

BY_NAME: dict[str, Callable[..., Any]] = {
    "F1": F1,
    "acc": Accuracy,
    "accuracy": Accuracy,
    "auc": auc,
    "bleu_score": BleuScore,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
    "cosine_similarity": CosineSimilarity,
    "dice": Dice,
    "hausdorff_distance": HausdorffDistance,
    "loss": Loss,
    "mae": MAE,
    "mean_surface_distance": MeanSurfaceDistance,
    "mse": MSE,
    "occlusion_sensitivity": OcclusionSensitivity,
    "perplexity": Perplexity,
    "precision": Precision,
    "recall": Recall,
    "roc": ROC,
    "root_mean_square_distance": RootMeanSquareDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "topk": TopKCategoricalAccuracy,
}


def names() -> list[str]:
    """The names that `get_metric_fn` and `Model(metrics=...)` know.

    >>> "accuracy" in names()
    True
    """
    return sorted(BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """The metric of a name, made with these arguments.

    >>> get_metric_fn("precision", eval_type="multilabel").eval_type
    'multilabel'
    """
    if name not in BY_NAME:
        raise ArgumentError(f"there is no metric {name!r}", hint=nearest(str(name), names()))
    return BY_NAME[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric]:
    """Metrics as a person names them, by name: a set of names, or a dictionary of names or metrics.

    >>> get_metrics({"acc"}), get_metrics(None)
    ({'acc': <...Accuracy object at ...>}, {})
    """
    if metrics is None:
        return {}
    if isinstance(metrics, set | frozenset):
        metrics = {name: name for name in sorted(metrics, key=str)}
    if not isinstance(metrics, dict):
        raise ArgumentError(
            f"metrics are a set of names or a dictionary, not a {type(metrics).__name__}",
            hint='for example {"accuracy"} or {"top 3": TopKCategoricalAccuracy(3)}',
        )
    found = {name: get_metric_fn(m) if isinstance(m, str) else m for name, m in metrics.items()}
    for name, metric in found.items():
        if not isinstance(metric, Metric):
            raise ArgumentError(
                f"{name!r} is to be measured by a {type(metric).__name__}",
                hint="give a name of train.names() or a Metric, made already",
            )
    return found


__all__ = [
    "F1",
    "MAE",
    "MSE",
    "ROC",
    "Accuracy",
    "BleuScore",
    "ConfusionMatrix",
    "ConfusionMatrixMetric",
    "CosineSimilarity",
    "Dice",
    "EvaluationBase",
    "Fbeta",
    "HausdorffDistance",
    "Loss",
    "MeanSurfaceDistance",
    "Metric",
    "NothingMeasured",
    "OcclusionSensitivity",
    "Perplexity",
    "Precision",
    "Recall",
    "RootMeanSquareDistance",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy",
    "auc",
    "get_metric_fn",
    "get_metrics",
    "names",
    "rearrange_inputs",
]
