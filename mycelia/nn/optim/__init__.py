"""Optimizers: what turns gradients into better parameters."""

import sys
from typing import Any

from mycelia.nn.optim.adam import Adam, AdamW, AdamWeightDecay
from mycelia.nn.optim.optimizer import Optimizer
from mycelia.nn.optim.sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "AdamW", "AdamWeightDecay", "Momentum", "Optimizer"]


def __getattr__(name: str) -> Any:
    """One of the rarer optimizers, which `mycelia.nn` loads when it is asked for."""
    found = getattr(sys.modules["mycelia.nn"], name, None) if name[:1].isupper() else None
    if not (isinstance(found, type) and issubclass(found, Optimizer)):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
