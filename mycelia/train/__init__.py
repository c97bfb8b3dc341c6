"""Training: models, callbacks, metrics, and saving and loading what was learnt."""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia.names import missing_in as _missing_in
from mycelia.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint

_LATER = {
    "data_sink": ("data_sink",),
    "metrics": (
        "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric",
        "CosineSimilarity", "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric",
        "OcclusionSensitivity", "Perplexity", "Precision", "Recall", "RootMeanSquareDistance",
        "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn",
        "names", "rearrange_inputs",
    ),
}  # fmt: skip
"""What is loaded when it is first asked for, by module: not every program trains."""

_MODULE = {name: module for module, names in _LATER.items() for name in names}
_missing = _missing_in("mycelia.train")

__all__ = ["load_checkpoint", "load_param_into_net", "save_checkpoint", *sorted(_MODULE)]


def __getattr__(name: str) -> _Any:
    """What is loaded when it is first asked for; other names are missing."""
    if name in _MODULE:
        found = globals()[name] = getattr(_import_module(f"mycelia.train.{_MODULE[name]}"), name)
        return found
    if name in _LATER:
        return _import_module(f"mycelia.train.{name}")
    return _missing(name)
