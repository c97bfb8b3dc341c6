"""Arrays handed over to tensors, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.eager import Tensor


def as_tensor(value: Any) -> Any:
    """A tensor that shares the array's memory; text and dictionaries stay as they are.

    >>> as_tensor(np.array([1.0, 2.0], np.float32)).shape
    (2,)
    >>> as_tensor(np.array("word")).dtype.kind
    'U'
    """
    if isinstance(value, dict):
        return {k: as_tensor(v) for k, v in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufV":
        return value
    return Tensor.from_numpy(value)
