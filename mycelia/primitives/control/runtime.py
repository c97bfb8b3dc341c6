"""Sequences and frames as the interpreter holds them: lists and tuples. None is zero, of whatever size fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.types import TensorType, Type


def zero_of(t: Type) -> Any:
    """The zero of a type.

    >>> from mycelia.types import SequenceType, float32
    >>> zero_of(TensorType(float32, (2,))), zero_of(SequenceType(TensorType(float32, ())))
    (array([0., 0.], dtype=float32), None)
    """
    return np.zeros(t.shape, t.dtype.numpy) if isinstance(t, TensorType) else None


def add_structures(x: Any, y: Any) -> Any:
    """The sum of two nests of arrays.

    >>> add_structures([1, (2, None)], [10, (20, 30)])
    [11, (22, 30)]
    """
    if x is None:
        return y
    if y is None:
        return x
    if isinstance(x, list | tuple):
        return type(x)(add_structures(a, b) for a, b in zip(x, y, strict=True))
    return x + y


def stack(elements: Sequence[Any], t: Type) -> Any:
    """Elements of type `t` together: tensors along a new leading axis, anything else as a sequence.

    >>> from mycelia.types import float32
    >>> stack([1.0, 2.0], TensorType(float32, ()))
    array([1., 2.], dtype=float32)
    """
    if not isinstance(t, TensorType):
        return list(elements)
    if not elements:
        return np.zeros((0, *t.shape), t.dtype.numpy)
    return np.stack([np.asarray(e, t.dtype.numpy) for e in elements])


def example(x: Any, i: int) -> Any:
    """What one example has in a structure whose arrays hold several.

    >>> example([np.array([1, 2]), np.array([3, 4])], 1)
    [np.int64(2), np.int64(4)]
    """
    if isinstance(x, list):
        return [example(e, i) for e in x]
    return None if x is None else x[i]


def together(examples: Sequence[Any], t: Type) -> Any:
    """Structures of type `t`, one for each example, as a structure whose arrays hold them all.

    >>> from mycelia.types import SequenceType, float32
    >>> together([[1.0, 2.0], [3.0, 4.0]], SequenceType(TensorType(float32, ())))
    [array([1., 3.], dtype=float32), array([2., 4.], dtype=float32)]
    """
    if isinstance(t, TensorType):
        return stack([zero_of(t) if e is None else e for e in examples], t)
    lengths = {len(e) for e in examples if e is not None}
    if not lengths:
        return None
    (length,) = lengths
    element = t.element  # type: ignore[attr-defined]  # what is no tensor is a sequence, see `lockstep`
    return [together([None if e is None else e[k] for e in examples], element) for k in range(length)]
