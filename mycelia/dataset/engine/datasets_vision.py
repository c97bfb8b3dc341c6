"""MindSpore's name for the readers of images."""

from mycelia.dataset.readers.arrays import *  # noqa: F403
from mycelia.dataset.readers.folders import *  # noqa: F403
from mycelia.dataset.readers.scenes import *  # noqa: F403
