"""Settings of training with several processes, where published programs import them from."""

from __future__ import annotations

import warnings
from typing import Any

from mycelia.errors import ArgumentError
from mycelia.parallel import _utils as _utils

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]


def set_algo_parameters(**kwargs: Any) -> None:
    """Settings of a search for a division of weights, which there is none of here: they say that they have no effect.

    >>> set_algo_parameters()
    """
    for name, value in kwargs.items():
        warnings.warn(
            f"{name}={value!r} has no effect: every process holds the whole network", UserWarning, stacklevel=2
        )


def get_algo_parameters(attr_key: str) -> Any:
    """One of these settings, as it is in MindSpore at first.

    >>> get_algo_parameters("fully_use_devices")
    False
    """
    if attr_key not in _ALGORITHM:
        raise ArgumentError(f"there is no setting {attr_key!r}", hint=f"there are {', '.join(_ALGORITHM)}")
    return _ALGORITHM[attr_key]


def reset_algo_parameters() -> None:
    """All settings as they are at first, which they are.

    >>> reset_algo_parameters()
    """


_ALGORITHM: dict[str, Any] = {
    "fully_use_devices": False, "elementwise_op_strategy_follow": False, "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1, "tensor_slice_align_enable": False, "tensor_slice_align_size": 16,
}  # fmt: skip
