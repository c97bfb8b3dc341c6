"""Element types beside those of NumPy and Python."""

from __future__ import annotations

from enum import Enum
from typing import Any

from mycelia import types
from mycelia.eager import Tensor, as_dtype
from mycelia.errors import DTypeError
from mycelia.types import DType, bool_, float64, int64

__all__ = [
    "QuantDtype", "dtype_to_nptype", "dtype_to_pytype", "get_py_obj_dtype", "pytype_to_dtype", "tensor_to_ms_type",
    "tensor_to_np_type",
]  # fmt: skip

_BITS = [(f"{sign}INT{n}", n - 1 + 16 * bool(sign)) for sign in ("", "U") for n in range(1, 17)]
QuantDtype = Enum("QuantDtype", _BITS)  # type: ignore[misc]  # the names are made here
"""How many bits quantized numbers have."""
tensor_to_ms_type = {repr(d).title().replace("Uint", "UInt").replace("Bfloat", "BFloat").rstrip("_"): d for d in (
    types.int8, types.uint8, types.int16, types.uint16, types.int32, types.uint32, types.int64, types.uint64,
    types.float16, types.float32, types.float64, types.bool_, types.bfloat16, types.complex64, types.complex128,
)}  # fmt: skip
"""The element types by the names that checkpoints have for them."""


def dtype_to_nptype(type_: DType) -> Any:
    """The class of NumPy's numbers of an element type.

    >>> from mycelia.types import int8
    >>> dtype_to_nptype(int8)
    <class 'numpy.int8'>
    """
    return as_dtype(type_).numpy.type


def tensor_to_np_type(tensor_type_str: str) -> Any:
    """The class of NumPy's numbers of an element type, by the name that checkpoints have for it; None for no name.

    >>> tensor_to_np_type("Float32"), tensor_to_ms_type["UInt8"]
    (<class 'numpy.float32'>, uint8)
    """
    found = tensor_to_ms_type.get(tensor_type_str)
    return None if found is None else found.numpy.type


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
