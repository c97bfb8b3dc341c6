"""Optimizers: what turns gradients into better parameters."""

from mycelia.nn.optim.adam import Adam, AdamW, AdamWeightDecay
from mycelia.nn.optim.optimizer import Optimizer
from mycelia.nn.optim.sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "AdamW", "AdamWeightDecay", "Momentum", "Optimizer"]
