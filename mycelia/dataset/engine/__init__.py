"""MindSpore's name for the sources, samplers and settings: everything that `mycelia.dataset` offers."""

from mycelia.dataset import *  # noqa: F403
from mycelia.dataset import config

__all__ = ["config"]
