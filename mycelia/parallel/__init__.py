"""Settings of training with several processes, where published programs import them from."""

from __future__ import annotations

import warnings
from typing import Any

from mycelia.parallel import _utils as _utils

__all__ = ["set_algo_parameters"]


def set_algo_parameters(**kwargs: Any) -> None:
    """Settings of a search for a division of weights, which there is none of here: they say that they have no effect.

    >>> set_algo_parameters()
    """
    for name, value in kwargs.items():
        warnings.warn(
            f"{name}={value!r} has no effect: every process holds the whole network", UserWarning, stacklevel=2
        )
