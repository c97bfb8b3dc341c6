"""Small functions at the top of MindSpore that programs around a network call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia import ops
from mycelia.eager import Parameter, Tensor, as_dtype
from mycelia.errors import ArgumentError
from mycelia.types import float32

__all__ = ["frombuffer", "is_tensor", "merge_sliced_parameter"]


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor.

    >>> is_tensor(Tensor(1.0)), is_tensor(1.0)
    (True, False)
    """
    return isinstance(obj, Tensor)


def frombuffer(buffer: Any, *, dtype: Any = float32, count: int = -1, offset: int = 0) -> Tensor:
    """The numbers that lie in a buffer of bytes, in a tensor of their own.

    >>> frombuffer(bytearray([1, 2, 3]), dtype="uint8", offset=1).tolist()
    [2, 3]
    """
    return Tensor(np.frombuffer(buffer, as_dtype(dtype).numpy, count, offset).copy())


def merge_sliced_parameter(sliced_parameters: Sequence[Parameter], strategy: Any = None) -> Parameter:
    """One parameter of its parts along the first axis.

    >>> parts = [Parameter([1.0], name="w"), Parameter([2.0], name="w")]
    >>> merge_sliced_parameter(parts).tolist()
    [1.0, 2.0]
    """
    if strategy is not None:
        raise ArgumentError("parts are merged along the first axis here", hint="leave strategy out")
    parts = list(sliced_parameters)
    if not parts or not all(isinstance(part, Parameter) for part in parts) or len({part.name for part in parts}) > 1:
        raise ArgumentError("parts of one parameter are Parameters of one name", given={"given": sliced_parameters})
    first = parts[0]
    return Parameter(ops.cat([part.value() for part in parts], 0), name=first.name, requires_grad=first.requires_grad)
