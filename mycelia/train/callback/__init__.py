"""Callbacks: what happens at the moments of a training or an evaluation."""

from mycelia.train.callback.base import Callback, CallbackManager, InternalCallbackParam, RunContext
from mycelia.train.callback.base import CallbackManager as _CallbackManager
from mycelia.train.callback.base import InternalCallbackParam as _InternalCallbackParam
from mycelia.train.callback.checkpoint import CheckpointConfig, ModelCheckpoint
from mycelia.train.callback.flops import FlopsUtilizationCollector
from mycelia.train.callback.interruption import BackupAndRestore, OnRequestExit, TrainFaultTolerance
from mycelia.train.callback.landscape import SummaryLandscape
from mycelia.train.callback.monitors import (
    History,
    LambdaCallback,
    LossMonitor,
    LossNotFinite,
    ProgressBar,
    TimeMonitor,
)
from mycelia.train.callback.plateau import EarlyStopping, LearningRateScheduler, ReduceLROnPlateau
from mycelia.train.callback.summaries import SummaryCollector

__all__ = [
    "BackupAndRestore",
    "Callback",
    "CallbackManager",
    "CheckpointConfig",
    "EarlyStopping",
    "FlopsUtilizationCollector",
    "History",
    "InternalCallbackParam",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "LossNotFinite",
    "ModelCheckpoint",
    "OnRequestExit",
    "ProgressBar",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "SummaryLandscape",
    "TimeMonitor",
    "TrainFaultTolerance",
    "_CallbackManager",
    "_InternalCallbackParam",
]
