"""Loss scales of `Model`, where MindSpore's programs look for them; see `mycelia.amp`."""

from mycelia.amp.managers import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]
