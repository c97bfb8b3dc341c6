"""What MindSpore says of devices by their kind. There is the processor."""

from mycelia.device_context import cpu as cpu

__all__ = ["cpu"]
