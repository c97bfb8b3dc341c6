"""Element types beside those of NumPy and Python."""

from __future__ import annotations

from typing import Any

from mycelia.eager import Tensor, as_dtype
from mycelia.errors import DTypeError
from mycelia.types import DType, bool_, float64, int64

__all__ = ["dtype_to_nptype", "dtype_to_pytype", "get_py_obj_dtype", "pytype_to_dtype"]


def dtype_to_nptype(type_: DType) -> Any:
    """The class of NumPy's numbers of an element type.

    >>> from mycelia.types import int8
    >>> dtype_to_nptype(int8)
    <class 'numpy.int8'>
    """
    return as_dtype(type_).numpy.type


def dtype_to_pytype(type_: DType) -> Any:
    """The class of Python's numbers that has the numbers of an element type.

    >>> from mycelia.types import int8
    >>> dtype_to_pytype(int8), dtype_to_pytype(bool_)
    (<class 'int'>, <class 'bool'>)
    """
    kind = as_dtype(type_)
    return bool if kind is bool_ else int if kind.is_integer else complex if kind.is_complex else float


def get_py_obj_dtype(obj: Any) -> DType:
    """The element type of a tensor or of one of Python's numbers, or that a class of numbers stands for.

    >>> get_py_obj_dtype(1), get_py_obj_dtype(float)
    (int64, float64)
    """
    if isinstance(obj, Tensor):
        return obj.dtype
    return pytype_to_dtype(obj if isinstance(obj, type | DType) else type(obj))


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
