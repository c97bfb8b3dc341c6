"""Mixed precision: computing in 16 bits where that is enough, and scaling losses so that gradients survive it."""

from mycelia.amp.levels import (
    auto_mixed_precision,
    build_train_network,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from mycelia.amp.managers import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from mycelia.amp.scalers import DynamicLossScaler, LossScaler, StaticLossScaler
from mycelia.nn.loss_scale import all_finite

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]
