"""What layers, training and programs share: how parameters begin, and the seed of everything random."""

from mycelia.common import initializer
from mycelia.common.seed import get_seed, set_seed

__all__ = ["get_seed", "initializer", "set_seed"]
