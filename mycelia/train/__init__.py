"""Training: models, callbacks, metrics, and saving and loading what was learnt."""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia.names import missing_in as _missing_in
from mycelia.names import offered as _offered

_LATER = {
    "amp": (),
    "callback": (
        "BackupAndRestore", "Callback", "CheckpointConfig", "EarlyStopping", "FlopsUtilizationCollector", "History",
        "LambdaCallback", "LearningRateScheduler", "LossMonitor", "ModelCheckpoint", "OnRequestExit", "ProgressBar",
        "ReduceLROnPlateau", "RunContext", "SummaryCollector", "SummaryLandscape", "TimeMonitor", "TrainFaultTolerance",
    ),
    "sinking": ("data_sink",),
    "feeding": ("DatasetHelper", "connect_network_with_dataset"),
    "loss_scale_manager": (),
    "metrics": (
        "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric",
        "CosineSimilarity", "Dice", "Fbeta", "HausdorffDistance", "Loss", "MeanSurfaceDistance", "Metric",
        "OcclusionSensitivity", "Perplexity", "Precision", "Recall", "RootMeanSquareDistance",
        "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn",
        "names", "rearrange_inputs",
    ),
    "model": ("Model",),
    "resuming": ("load_training", "save_training"),
    "serialization": (
        "async_ckpt_thread_status", "ckpt_to_safetensors", "load_checkpoint", "load_checkpoint_async",
        "load_param_into_net", "safetensors_to_ckpt", "save_checkpoint",
    ),
    "summary": ("SummaryRecord",),
    "train_thor": ("ConvertModelUtils", "ConvertNetUtils"),
}  # fmt: skip
"""What is loaded when it is first asked for, by module: not every program trains."""

OURS = ("ProgressBar", "load_training", "save_training")
"""What MindSpore does not have: names of this package that are not names of `mycelia` too."""

_AMP = ("DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager", "build_train_network")
_MODULE = {name: f"mycelia.train.{module}" for module, names in _LATER.items() for name in names}
_MODULE |= dict.fromkeys(_AMP, "mycelia.amp")
_missing = _missing_in("mycelia.train")

__all__ = sorted(_MODULE)
__dir__ = _offered("mycelia.train", ("callback", "metrics", "summary"))


def __getattr__(name: str) -> _Any:
    """What is loaded when it is first asked for; other names are missing."""
    if name in _MODULE:
        found = globals()[name] = getattr(_import_module(_MODULE[name]), name)
        return found
    if name in _LATER:
        return _import_module(f"mycelia.train.{name}")
    return _missing(name)
