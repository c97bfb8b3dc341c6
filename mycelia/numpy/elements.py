"""Element types: which two meet in, what they hold, which kinds there are."""

from __future__ import annotations

from functools import reduce
from typing import Any

import ml_dtypes
import numpy

from mycelia.eager import Tensor, as_dtype, cast, common
from mycelia.eager.promotion import common_with_number
from mycelia.errors import ArgumentError, CallError, DTypeError
from mycelia.frozen import frozen
from mycelia.numpy.arguments import is_number
from mycelia.ops.arguments import tensor
from mycelia.types import (
    DTYPES,
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "astype",
    "bfloat16",
    "bool_",
    "can_cast",
    "complex64",
    "complex128",
    "dtype",
    "finfo",
    "float16",
    "float32",
    "float64",
    "float_",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "isdtype",
    "issubdtype",
    "promote_types",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint_",
]

float_, int_, uint_ = float32, int32, uint32
KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
ABOVE = {
    "generic": "biufc",
    "number": "iufc",
    "integer": "iu",
    "signedinteger": "i",
    "unsignedinteger": "u",
    "inexact": "fc",
    "floating": "f",
    "complexfloating": "c",
}


def dtype(element: Any) -> DType:
    """The element type that is meant by a name, a type of Python's or of NumPy's.

    >>> dtype("float32"), dtype(bool)
    (float32, bool)
    """
    return as_dtype(element)


def astype(x: Any, dtype: Any, copy: bool = True, device: Any = None) -> Tensor:
    """The same numbers in another element type; without `copy`, the tensor itself if it has that type.

    >>> astype(Tensor([1.7]), "int32").tolist()
    [1]
    """
    here(device)
    return tensor(x).astype(as_dtype(dtype), copy)


def here(device: Any) -> None:
    """An error for a device that is not there.

    >>> here("CPU:0")
    """
    if device not in (None, "CPU", "CPU:0", "cpu"):
        raise ArgumentError(f"there is no device {device!r}", hint='leave it out, or say "CPU:0"')


def promote_types(type1: Any, type2: Any) -> DType:
    """The element type in which two are combined.

    >>> promote_types("int8", "float32")
    float32
    """
    return common(as_dtype(type1), as_dtype(type2))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The element type in which arrays, numbers and element types are combined; numbers adapt to the others.

    >>> result_type(Tensor([1], int8), 3, "int16")
    int16
    """
    if not arrays_and_dtypes:
        raise CallError("result_type needs an array or an element type")
    numbers = [x for x in arrays_and_dtypes if is_number(x)]
    types = [x.dtype if isinstance(x, Tensor) else _of(x) for x in arrays_and_dtypes if not is_number(x)]
    if not types:
        return reduce(common, [tensor(n).dtype for n in numbers])
    found = reduce(common, types)
    for number in numbers:
        found = common_with_number(found, type(number))
    return found


def _of(x: Any) -> DType:
    return tensor(x).dtype if isinstance(x, list | tuple | numpy.ndarray) else as_dtype(x)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether every number of one element type is one of the other; `casting` may be less strict, as in NumPy.

    >>> can_cast("int8", "int16"), can_cast("int16", "int8")
    (True, False)
    """
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ArgumentError(f"{casting!r} is no way of casting", hint='"safe", "same_kind", "unsafe", "equiv" or "no"')
    old, new = _type_of(from_), _type_of(to)
    if bfloat16 in (old, new) and old is not new:
        if casting in ("no", "equiv"):
            return False
        fits = new.bits > 16 and new.is_float if old is bfloat16 else old.kind == "b" or old.bits == 8
        return fits or casting == "unsafe" or (casting == "same_kind" and old.is_float and new.is_float)
    return numpy.can_cast(old.numpy, new.numpy, casting)  # type: ignore[arg-type]  # one of the above


def _type_of(x: Any) -> DType:
    return x.dtype if isinstance(x, Tensor) else as_dtype(x)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether an element type is another, or of a kind: "bool", "integral", "real floating", "numeric" and so on.

    >>> isdtype(int8, "integral"), isdtype(float32, ("bool", float32))
    (True, True)
    """
    element = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(element, k) for k in kind)
    if isinstance(kind, str) and kind in KINDS:
        return element.kind in KINDS[kind]
    if isinstance(kind, str) and kind not in [d.name for d in DTYPES]:
        raise ArgumentError(f"{kind!r} is no kind of element types", hint=", ".join(KINDS))
    return element is as_dtype(kind)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether an element type is another, or of one of NumPy's abstract types, such as `numpy.floating`.

    >>> issubdtype(int8, numpy.integer), issubdtype(int8, float32)
    (True, False)
    """
    kind = ABOVE.get(arg2.__name__) if isinstance(arg2, type) else None
    return as_dtype(arg1).kind in kind if kind else as_dtype(arg1) is as_dtype(arg2)


@frozen
class finfo:
    """What a floating element type holds: its range and how fine it is.

    >>> finfo(float32).bits, finfo(float32).eps == 2.0**-23
    (32, True)
    """

    dtype: DType
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: Any) -> None:
        element = _type_of(type).part
        if not element.is_float:
            raise DTypeError(f"finfo tells of floating element types, not of {element!r}", hint="use iinfo")
        found: Any = ml_dtypes.finfo(element.numpy)  # type: ignore[no-untyped-call]  # theirs
        for name in ("eps", "max", "min", "smallest_normal", "resolution"):
            object.__setattr__(self, name, float(getattr(found, name)))
        object.__setattr__(self, "dtype", element)
        object.__setattr__(self, "bits", element.bits)

    @property
    def tiny(self) -> float:
        """The smallest positive number that is held with all its digits."""
        return self.smallest_normal


@frozen
class iinfo:
    """What an element type of whole numbers holds.

    >>> iinfo(int8).min, iinfo(int8).max
    (-128, 127)
    """

    dtype: DType
    bits: int
    max: int
    min: int

    def __init__(self, type: Any) -> None:
        element = _type_of(type)
        if not element.is_integer:
            raise DTypeError(f"iinfo tells of whole element types, not of {element!r}", hint="use finfo")
        found = numpy.iinfo(element.numpy)
        for name, value in {
            "dtype": element,
            "bits": element.bits,
            "max": int(found.max),
            "min": int(found.min),
        }.items():
            object.__setattr__(self, name, value)


def in_type(x: Tensor, dtype: Any) -> Tensor:
    """A tensor in the element type that was asked for, if one was.

    >>> in_type(Tensor([1]), "float32").dtype
    float32
    """
    return x if dtype is None else cast(x, as_dtype(dtype))
