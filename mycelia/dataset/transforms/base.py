"""What a transform is: a function from the columns of one sample to columns."""

from __future__ import annotations

import importlib
import importlib.util
import json
from functools import cache
from typing import Any, Self

import numpy as np

from mycelia.dataset.describing import Functions, Nameable, fields_of, named
from mycelia.errors import ArgumentError, DependencyError, DTypeError

Array = np.ndarray[Any, Any]


class TensorOperation:
    """A function of columns: arrays in, one array or a tuple of arrays out.

    Whoever derives from it defines `apply` (or `__call__` itself).

    >>> class Double(TensorOperation):
    ...     def apply(self, x):
    ...         return 2 * x
    >>> Double()([1, 2])
    array([2, 4])
    """

    def __call__(self, *columns: Any) -> Any:
        return self.apply(*map(as_array, columns))

    def apply(self, *columns: Any) -> Any:
        """The meaning of the transform, on arrays."""
        raise ArgumentError(
            f"{type(self).__name__} says nothing about what it does",
            hint="define apply(self, *columns) or __call__ in the class",
        )

    def device(self, device_target: str = "CPU") -> TensorOperation:
        """Choose where the transform runs; the processor is the one place for data."""
        if device_target != "CPU":
            raise ArgumentError(
                f"{type(self).__name__} cannot run on this device",
                given={"device_target": device_target},
                hint='transforms run on the processor: device("CPU")',
            )
        return self

    def to_json(self) -> str:
        """The transform as JSON: the name of its class, where that is defined, and its parameters.

        >>> from mycelia.dataset.transforms import PadEnd
        >>> json.loads(PadEnd([3], -1).to_json())["tensor_op_params"]
        {'pad_shape': [3], 'pad_value': -1}
        """
        kind = type(self)
        own = fields_of(self)
        if own is None:
            raise ArgumentError(f"{kind.__name__} does not tell its parameters", hint="make its class a dataclass")
        told = {"tensor_op_params": own, "tensor_op_name": kind.__name__, "python_module": kind.__module__}
        try:
            return json.dumps(told)
        except TypeError as error:
            raise ArgumentError(f"{kind.__name__} cannot be written as JSON: {error}") from None

    @classmethod
    def from_json(cls, json_string: str, functions: Functions = ()) -> Self:
        """The transform that `to_json` wrote, or one with these parameters, made of our transforms and `functions`.

        >>> from mycelia.dataset.transforms import PadEnd
        >>> PadEnd.from_json(PadEnd([3], -1).to_json()) == PadEnd.from_json('{"pad_shape": [3], "pad_value": -1}')
        True
        """
        try:
            told = json.loads(json_string)
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"this is not the JSON of a transform: {error}") from error
        name = told.get("tensor_op_name", cls.__name__)
        if name != cls.__name__:
            raise ArgumentError(f"this is the JSON of {name}, not of {cls.__name__}", hint=f"{name}.from_json")
        made: Self = Nameable(named(functions)).made(cls, told.get("tensor_op_params", told))
        return made


def as_array(value: Any) -> Array:
    """A value as a NumPy array: tensors by `asnumpy`, bytes as a column of uint8, the rest as NumPy reads it.

    >>> as_array(b"ab")
    array([97, 98], dtype=uint8)
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, np.uint8)
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def numpy_dtype(data_type: Any) -> np.dtype[Any]:
    """The NumPy element type meant by one of NumPy's, one of ours, or a name.

    >>> numpy_dtype("float16")
    dtype('float16')
    """
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(data_type, "numpy", data_type))
    except TypeError:
        raise DTypeError(f"not an element type: {data_type!r}", hint="give a NumPy or mycelia dtype") from None
    return dtype


def extra(module: str, package: str, purpose: str) -> Any:
    """An optional library, or an error that names it and how to get it.

    >>> extra("json", "json", "reading").loads("[1]")
    [1]
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DependencyError(
            f"{purpose} needs the package {package}", hint="pip install 'mycelia[data]', or the package itself"
        ) from None


@cache
def installed(module: str) -> bool:
    """Whether a library can be imported.

    >>> installed("json"), installed("no_such.module")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False
