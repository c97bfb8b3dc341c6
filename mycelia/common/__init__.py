"""What layers, training and programs share: how parameters begin, and the seed of everything random."""

from mycelia.api import get_seed, set_seed
from mycelia.common import initializer

__all__ = ["get_seed", "initializer", "set_seed"]
