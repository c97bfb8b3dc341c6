"""Every public name of MindSpore for training exists here; what does not is about what this is not made for."""

from importlib import import_module

import pytest

from mycelia.names.missing import _record

MINDIR = "MindIR is MindSpore's own program format; `ms.export` writes one of ours"
SPREAD = "weights of a network that is cut into parts for several devices"
LEFT_OUT = {
    "mindspore.train": {
        **dict.fromkeys(("export_split_mindir", "mind_ir_pb2"), MINDIR),
        **dict.fromkeys(
            ("build_searched_strategy", "get_ckpt_path_with_strategy", "load_distributed_checkpoint",
             "merge_sliced_parameter", "restore_group_info_list"), SPREAD,
        ),
    },
}  # fmt: skip
CALLBACKS = """
    Callback LossMonitor TimeMonitor ModelCheckpoint FlopsUtilizationCollector SummaryCollector CheckpointConfig
    RunContext LearningRateScheduler SummaryLandscape History LambdaCallback ReduceLROnPlateau EarlyStopping
    OnRequestExit BackupAndRestore TrainFaultTolerance"""
METRICS = """
    names get_metric_fn Accuracy MAE MSE Metric rearrange_inputs Precision HausdorffDistance Recall Fbeta BleuScore
    CosineSimilarity OcclusionSensitivity F1 Dice ROC auc TopKCategoricalAccuracy Top1CategoricalAccuracy
    Top5CategoricalAccuracy Loss MeanSurfaceDistance RootMeanSquareDistance Perplexity ConfusionMatrix
    ConfusionMatrixMetric"""
NAMES = {
    **{path: _record()[path] for path in ("mindspore.train", "mindspore.amp", "mindspore.profiler")},
    "mindspore.train.callback": frozenset(CALLBACKS.split()),
    "mindspore.train.metrics": frozenset(METRICS.split()),
}


@pytest.mark.parametrize("path", NAMES)
def test_every_name_exists_or_has_a_reason(path):
    ours = import_module(path.replace("mindspore", "mycelia", 1))
    missing = {name for name in NAMES[path] if not hasattr(ours, name)}
    assert missing == set(LEFT_OUT.get(path, ()))


@pytest.mark.parametrize(
    "path", ["train.amp", "train.callback._callback", "train.callback._loss_monitor", "train.summary.summary_record"]
)
def test_old_paths_lead_to_the_same_things(path):
    held = import_module(f"mycelia.{path}")
    names = {"train.amp": "build_train_network", "train.summary.summary_record": "SummaryRecord"}
    name = names.get(path, "LossMonitor")
    assert getattr(held, name).__module__.startswith("mycelia.")
    assert import_module("mycelia.train.callback")._InternalCallbackParam.__name__ == "InternalCallbackParam"
