"""Where the data of a tensor is: in plain memory, or held by a back end, of which the tensor sees a view."""

from __future__ import annotations

from mycelia.backends import NATIVE, Backend, known, usable
from mycelia.eager.tensor import Tensor, wrap
from mycelia.ir import Value
from mycelia.types import Array


def is_device(name: str) -> bool:
    """Whether this is the name of a device, with or without its number.

    >>> is_device("CPU:0"), is_device("cuda"), is_device("float32")
    (True, True, False)
    """
    device = name.partition(":")[0]
    return device in known() or device.lower() in ELSEWHERE


ELSEWHERE = ("cpu", "gpu", "ascend", "npu", "cuda", "mps", "xpu")
"""What devices are called here and elsewhere, in small letters."""


def holder(device: str) -> Backend:
    """The back end of a device, by its name here or, for the processor, in small letters as elsewhere.

    >>> holder("cpu").name, holder("CPU:0").name
    ('CPU', 'CPU')
    """
    name, _, number = device.partition(":")
    return usable(NATIVE if name == "cpu" else name, int(number) if number.isdecimal() else 0)


def placed(x: Tensor, device: str) -> Tensor:
    """A tensor with the numbers of `x`, whose data is on a device. In a program that is being written down nothing
    moves: it will run where it runs.
    """
    backend = holder(device)
    if isinstance(x._data, Value):
        return x
    data: Array = x.numbers()
    moved = data.copy() if backend.name == NATIVE else backend.numpy(backend.hold(data))
    return wrap(moved, x._tape, -1 if x._tape is None else x._id)
