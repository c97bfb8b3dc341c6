"""Where the data of a tensor is: in plain memory, or held by a back end, of which the tensor sees a view."""

from __future__ import annotations

from mycelia.backends import NATIVE, known, usable
from mycelia.eager.tensor import Tensor, wrap
from mycelia.ir import Value
from mycelia.types import Array


def is_device(name: str) -> bool:
    """Whether this is the name of a device, with or without its number.

    >>> is_device("CPU:0"), is_device("float32")
    (True, False)
    """
    return name.partition(":")[0] in {*known(), "GPU", "Ascend", "NPU"}


def placed(x: Tensor, device: str) -> Tensor:
    """A tensor with the numbers of `x`, whose data is on a device. In a program that is being written down nothing
    moves: it will run where it runs.
    """
    name, _, number = device.partition(":")
    backend = usable(name, int(number) if number.isdecimal() else 0)
    if isinstance(x._data, Value):
        return x
    data: Array = x.numbers()
    moved = data.copy() if backend.name == NATIVE else backend.numpy(backend.hold(data))
    return wrap(moved, x._tape, -1 if x._tape is None else x._id)
