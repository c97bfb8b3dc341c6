"""Data from outside as arrays, and tensors as text."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
from numpy.exceptions import ComplexWarning

from mycelia.eager.promotion import as_dtype
from mycelia.errors import DTypeError, ShapeError
from mycelia.loops.convert import converted
from mycelia.primitives.creation import check_number
from mycelia.types import _BY_NUMPY, Array, dtype_of


def as_array(data: Any, dtype: Any = None) -> Array:
    """A new array with this data. Python floats become float32, Python integers int64, arrays keep their type.

    >>> as_array([1.5, 2]).dtype.name, as_array(3).dtype.name, as_array(np.zeros(2)).dtype.name
    ('float32', 'int64', 'float64')
    """
    array = _raw(data)
    if dtype is None:
        if isinstance(data, float | list | tuple) and not isinstance(data, np.generic) and array.dtype == np.float64:
            return array.astype(np.float32)
        if array.dtype not in _BY_NUMPY:
            raise _not_held(array, data)
        return np.array(array)
    wanted = as_dtype(dtype).numpy
    if array.dtype not in _BY_NUMPY:
        raise _not_held(array, data)
    made = _cast(array, wanted)
    written = isinstance(data, int | list | tuple) and array.dtype.kind in "iu" and wanted.kind in "iu"
    if written and not np.array_equal(
        made, array
    ):  # an array that is cast wraps around, numbers that are written do not
        raise DTypeError(
            f"{wanted} does not hold all of these numbers",
            given={"data": _short(data), "range": f"{np.iinfo(wanted).min} to {np.iinfo(wanted).max}"},
            hint="choose a wider type, or cast an array with astype, which wraps around",
        )
    return made


def _cast(array: Array, wanted: np.dtype[Any]) -> Array:
    if array.dtype.kind != "c" or wanted.kind == "c":
        return array.astype(wanted)
    if wanted.kind == "b":
        return array.astype(np.bool_)
    warn_of_real_part()
    return converted(array.real, _BY_NUMPY[wanted])


def warn_of_real_part() -> None:
    """Say, as NumPy does, that imaginary parts are left out."""
    warn("a complex number is cast to a real one: its imaginary part is left out", ComplexWarning, stacklevel=5)


KINDS = {"U": "text", "S": "bytes", "M": "dates", "m": "spans of time", "V": "records"}


def _not_held(array: Array, data: Any) -> DTypeError:
    """The error for data of a type that tensors do not have."""
    return DTypeError(
        f"a tensor cannot hold {KINDS.get(array.dtype.kind, array.dtype)}",
        given={"data": _short(data)},
        hint="it holds bool, whole, floating and complex numbers: text has to become numbers first"
        if array.dtype.kind in "US"
        else "it holds bool, whole, floating and complex numbers: convert it with NumPy first",
    )


def _raw(data: Any) -> Array:
    try:
        array = np.asarray(_plain(data) if isinstance(data, list | tuple) else data)
    except ValueError:
        raise ShapeError(
            "a tensor needs rows of equal length", given={"data": _short(data)}, hint="pad the rows, or keep a list"
        ) from None
    if array.dtype == object:
        raise DTypeError(
            f"a tensor cannot be made from {type(data).__name__}",
            given={"data": _short(data)},
            hint="numbers, nested lists of numbers, and NumPy arrays can be tensors",
        )
    return array


def _plain(data: Any) -> Any:
    return [_plain(x) for x in data] if isinstance(data, list | tuple) else getattr(data, "asnumpy", lambda: data)()


def _short(data: Any) -> str:
    text = repr(data)
    return text if len(text) < 60 else text[:57] + "..."


def scalar(number: float | int | bool | complex, dtype: np.dtype[Any]) -> Array:
    """A Python number as an array without axes, the same one each time.

    >>> scalar(2, np.dtype("float32"))
    array(2., dtype=float32)
    """
    found = _scalars.get((number, dtype))
    if found is None or not number:  # 0.0 and -0.0 are equal, and not the same
        if len(_scalars) > 4096:
            _scalars.clear()
        check_number(number, _BY_NUMPY[dtype])
        found = np.array(number, dtype)
        found.flags.writeable = False
        _scalars[number, dtype] = found
    return found


_scalars: dict[tuple[Any, np.dtype[Any]], Array] = {}


def _complex_text(x: Any) -> str:
    return f"{x.real:.6g}{x.imag:+.6g}j"


def shown(array: Array) -> str:
    """A tensor with this data, in words.

    >>> print(shown(np.array([1.0, 2.0], "f")))
    Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])
    """
    dtype = dtype_of(array)
    head = f"Tensor(shape={list(array.shape)}, dtype={dtype}, value="
    if array.ndim == 0:
        return f"{head} {array.item():.6g})" if dtype.is_inexact else f"{head} {array.item()})"
    if array.size == 0 and array.ndim > 1:
        return f"{head}\n)"  # as MindSpore has it
    if dtype.is_complex:
        text = np.array2string(array, separator=", ", formatter={"complexfloat": _complex_text})
    elif dtype.is_float:
        array = array.astype(np.float64)
        text = np.array2string(array, separator=", ", formatter={"float_kind": lambda x: f"{x: .8e}"})
    else:
        text = np.array2string(array, separator=", ")
    return f"{head}{' ' if array.ndim == 1 else chr(10)}{text})"
