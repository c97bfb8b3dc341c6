"""How complex numbers lie in programs: as pairs of real ones along a last axis, as NumPy's lie in memory."""

from __future__ import annotations

from functools import cache

import numpy as np

from mycelia.types import COMPLEX, Array, FrameType, SequenceType, TensorType, TupleType, Type, dtype_of

MARK = "'"  # of the name of a frame whose fields are in pairs


@cache
def paired(t: Type) -> Type:
    """The type that stands for this one.

    >>> from mycelia.types import complex128
    >>> str(paired(TensorType(complex128, (5,))))
    'f64[5, 2]'
    """
    if isinstance(t, TensorType):
        return TensorType(t.dtype.part, (*t.shape, 2)) if t.dtype.is_complex else t
    if isinstance(t, TupleType):
        return TupleType(tuple(map(paired, t.elements)))
    if isinstance(t, SequenceType):
        return SequenceType(paired(t.element))
    return FrameType(paired_frame(t.name)) if isinstance(t, FrameType) else t


def paired_frame(name: str) -> str:
    """The name of a frame whose fields are in pairs.

    >>> paired_frame("f~")
    "f'~"
    """
    base = name.rstrip("~")
    return base + MARK + name[len(base) :]


def joined(x: TensorType) -> TensorType:
    """The type that pairs stand for.

    >>> from mycelia.types import float32
    >>> str(joined(TensorType(float32, (5, 2))))
    'c64[5]'
    """
    return TensorType(COMPLEX[x.dtype], x.shape[:-1])


def as_pairs(x: Array) -> Array:
    """A complex array as a real one with both parts along a last axis; the same memory, if it is dense.

    >>> as_pairs(np.array([1 + 2j]))
    array([[1., 2.]])
    """
    return np.ascontiguousarray(x).view(dtype_of(x).part.numpy).reshape(*x.shape, 2)


def as_complex(x: Array) -> Array:
    """A real array with both parts along a last axis as a complex one; the same memory, if it is dense.

    >>> as_complex(np.array([[1.0, 2.0]]))
    array([1.+2.j])
    """
    return np.ascontiguousarray(x).view(COMPLEX[dtype_of(x)].numpy).reshape(x.shape[:-1])
