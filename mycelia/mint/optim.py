"""Optimizers of `mint`: those with groups of parameters, whose settings may change between steps."""

from mycelia.experimental.optim import SGD, Adam, AdamW

FusedAdamW = AdamW  # every update is one pass over memory here

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]
