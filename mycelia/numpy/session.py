"""Random numbers as mindspore.numpy draws them, by the shape."""

from __future__ import annotations

from typing import Any

from mycelia.eager import Tensor, as_dtype
from mycelia.errors import DTypeError
from mycelia.numpy import random
from mycelia.types import int32

__all__ = ["randint"]


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = int32) -> Tensor:
    """Whole numbers evenly from `minval` up to, and without, `maxval`; with one bound, from 0.

    >>> randint(0, 5, (2, 3)).shape, randint(5).shape
    ((2, 3), (1,))
    """
    if not as_dtype(dtype).is_integer:
        raise DTypeError(f"randint draws whole numbers, not {as_dtype(dtype)!r}")
    return random.randint(minval, maxval, (1,) if shape is None else shape, dtype)
