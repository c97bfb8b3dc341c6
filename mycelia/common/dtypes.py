"""Element types beside those of NumPy and Python."""

from __future__ import annotations

from typing import Any

from mycelia.eager import as_dtype
from mycelia.errors import DTypeError
from mycelia.types import DType, bool_, float64, int64

__all__ = ["dtype_to_nptype", "pytype_to_dtype"]


def dtype_to_nptype(type_: DType) -> Any:
    """The class of NumPy's numbers of an element type.

    >>> from mycelia.types import int8
    >>> dtype_to_nptype(int8)
    <class 'numpy.int8'>
    """
    return as_dtype(type_).numpy.type


def pytype_to_dtype(obj: Any) -> DType:
    """The element type of numbers of one of Python's classes.

    >>> pytype_to_dtype(float)
    float64
    """
    known = {bool: bool_, int: int64, float: float64}
    if isinstance(obj, DType):
        return obj
    if obj not in known:
        raise DTypeError(f"{obj!r} is no class of numbers", hint="bool, int and float are")
    return known[obj]
