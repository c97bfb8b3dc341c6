"""Optimizers of `mint` and `experimental`: `param_groups` holds the settings, and `lr_scheduler` changes rates."""

from mycelia.experimental.optim import lr_scheduler as lr_scheduler
from mycelia.experimental.optim.optimizer import Optimizer
from mycelia.experimental.optim.rules import (
    ASGD,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]
