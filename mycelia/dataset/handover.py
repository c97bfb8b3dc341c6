"""Arrays handed over to tensors, without a copy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np


def _tensor_type() -> Callable[[Any], Any] | None:
    """The framework's tensor, when the framework has one: this package works on NumPy alone."""
    if find_spec("mycelia.eager") is None:
        return None
    return getattr(import_module("mycelia.eager"), "Tensor", None)


_tensor = _tensor_type()


def as_tensor(value: Any) -> Any:
    """A tensor that shares the array's memory; text and dictionaries stay as they are.

    >>> as_tensor(np.array("word")).dtype.kind
    'U'
    """
    if isinstance(value, dict):
        return {k: as_tensor(v) for k, v in value.items()}
    if _tensor is None or not isinstance(value, np.ndarray) or value.dtype.kind not in "biufV":
        return value
    return _tensor(value)
