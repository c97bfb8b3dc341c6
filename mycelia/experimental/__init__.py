"""Optimizers with groups of parameters whose settings may change at any time, and schedules of their learning rates."""

from mycelia.experimental import optim as optim
from mycelia.names import explain_missing as _explain_missing

__all__ = ["optim"]

_explain_missing(optim)
