"""Networks: cells, layers, losses, learning rates, optimizers, and training steps."""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia.names import boundary as _boundary
from mycelia.names import explaining as _explaining
from mycelia.names import missing_in as _missing_in
from mycelia.names import offered as _offered
from mycelia.nn.activation import (
    ELU,
    GELU,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
    get_activation,
)
from mycelia.nn.attention import MultiheadAttention
from mycelia.nn.basic import Dense, Dropout, Embedding, Flatten, Identity
from mycelia.nn.cell import Cell
from mycelia.nn.container import CellList, SequentialCell
from mycelia.nn.conv import Conv1d, Conv2d, Conv3d
from mycelia.nn.dynamic_lr import (
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    warmup_lr,
)
from mycelia.nn.later import LATER as _LATER
from mycelia.nn.learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
)
from mycelia.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LossBase,
    MAELoss,
    MSELoss,
    NLLLoss,
    RMSELoss,
    SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits,
)
from mycelia.nn.loss_scale import (
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    TrainOneStepWithLossScaleCell,
)
from mycelia.nn.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, LayerNorm
from mycelia.nn.optim import SGD, Adam, AdamW, AdamWeightDecay, Momentum, Optimizer
from mycelia.nn.pooling import AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d
from mycelia.nn.wrap import DistributedGradReducer, ForwardValueAndGrad, TrainOneStepCell, WithEvalCell, WithLossCell

_boundary(globals())
_explaining(*[_x for _x in globals().values() if isinstance(_x, type)])
_missing = _missing_in(__name__)
__dir__ = _offered(__name__, _LATER, ("probability", "wrap"))


def __getattr__(name: str) -> _Any:
    if name == "probability":
        return _import_module(f"{__name__}.{name}")
    if name not in _LATER:
        return _missing(name)
    found = getattr(_import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = found
    if isinstance(found, type):
        _explaining(found)
    else:
        _boundary(globals())
    return globals()[name]


__all__ = [
    *_LATER,
    "probability",
    "ELU",
    "GELU",
    "SGD",
    "Adam",
    "AdamW",
    "AdamWeightDecay",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Cell",
    "CellList",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "CosineDecayLR",
    "CrossEntropyLoss",
    "Dense",
    "DistributedGradReducer",
    "Dropout",
    "DynamicLossScaleUpdateCell",
    "Embedding",
    "ExponentialDecayLR",
    "FixedLossScaleUpdateCell",
    "Flatten",
    "ForwardValueAndGrad",
    "GroupNorm",
    "HuberLoss",
    "Identity",
    "InverseDecayLR",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "LearningRateSchedule",
    "LogSigmoid",
    "LogSoftmax",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Momentum",
    "MultiheadAttention",
    "NLLLoss",
    "NaturalExpDecayLR",
    "Optimizer",
    "PolynomialDecayLR",
    "RMSELoss",
    "ReLU",
    "ReLU6",
    "SequentialCell",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "SoftmaxCrossEntropyWithLogits",
    "Tanh",
    "TrainOneStepCell",
    "TrainOneStepWithLossScaleCell",
    "WarmUpLR",
    "WithEvalCell",
    "WithLossCell",
    "cosine_decay_lr",
    "exponential_decay_lr",
    "get_activation",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]
