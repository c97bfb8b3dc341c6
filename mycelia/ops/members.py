"""Members of tensors that tell about their memory and their life in a program; hooks on their gradients."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.api import given
from mycelia.checks import truth
from mycelia.eager import Generator, Tensor, as_dtype, assign, cast
from mycelia.eager.dispatch import mode
from mycelia.eager.placement import holder, is_device
from mycelia.eager.tape import Registered, tape_of
from mycelia.eager.tape import hook as hook_leaf
from mycelia.errors import ArgumentError, CallError
from mycelia.ops import creation, later, random, trigonometry
from mycelia.ops.arguments import method, sizes
from mycelia.ops.math import exp

__all__ = ["random_"]


# ----------------------------------------------------------------------------------------------------- later families


@method()
def col2im(self: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Tensor:
    """Images from their windows as columns, added where they overlap: `ops.col2im`.

    >>> Tensor([[[[1.0, 2.0], [2.0, 3.0]]]]).col2im((1, 3), (1, 2), 1, 0, 1).tolist()
    [[[[1.0, 4.0, 3.0]]]]
    """
    return later.found("col2im")(self, output_size, kernel_size, dilation, padding_value, stride)


# -------------------------------------------------------------------------------------------------------------- random


@method()
def cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Numbers of a Cauchy distribution, in the shape of the tensor.

    >>> Tensor([1.0, 2.0]).cauchy().shape
    (2,)
    """
    shares = random.rand(self.shape) - 0.5
    return cast(trigonometry.tan(shares * float(np.pi)) * sigma + median, self.dtype)


@method()
def log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Numbers whose logarithms are normal, in the shape of the tensor.

    >>> bool((Tensor([1.0, 2.0]).log_normal() > 0).all())
    True
    """
    return cast(exp(random.randn(self.shape) * std + mean), self.dtype)


@method()
def random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """Hold whole numbers from now on, evenly from one up to, and without, another: up to all that the type has exactly,
    if none is given.

    >>> x = Tensor([5.0, 6.0])
    >>> bool((x.random_(2, 4) >= 2).all()), bool((x < 4).all())
    (True, True)
    """
    kind = self.dtype
    if to is None:
        to = (1 << np.finfo(kind.numpy).nmant + 1) if kind.is_float else int(np.iinfo(kind.numpy).max)
    return assign(self, cast(random.randint(from_, to, self.shape, generator=generator), kind))


# -------------------------------------------------------------------------------------------------------------- memory


@method()
def get_bytes(self: Tensor) -> bytes:
    """The numbers as they stand in memory.

    >>> Tensor([1, 2], "int16").get_bytes()
    b'\\x01\\x00\\x02\\x00'
    """
    return np.ascontiguousarray(self.numbers()).tobytes()


def _from_bytes(bytes_data: bytes, shape: Any, dtype: Any) -> Tensor:
    """A tensor of numbers as they stand in memory."""
    wanted, kind = sizes(shape), as_dtype(dtype)
    if not isinstance(bytes_data, bytes):
        raise CallError(f"convert_bytes_to_tensor takes bytes, not a {type(bytes_data).__name__}")
    if len(bytes_data) != int(np.prod(wanted)) * kind.numpy.itemsize:
        raise ArgumentError(f"{len(bytes_data)} bytes are not the numbers of {kind!r} of shape {wanted}")
    return Tensor(np.frombuffer(bytes_data, kind.numpy).reshape(wanted).copy())


@method()
def data_ptr(self: Tensor) -> int:
    """The address of the numbers in memory.

    >>> Tensor([1.0]).data_ptr() > 0
    True
    """
    return int(self.numbers().ctypes.data)


@method()
def storage_offset(self: Tensor) -> int:
    """How many elements lie before the first one: none, a tensor is told of as a dense one.

    >>> Tensor([1.0, 2.0])[1:].storage_offset()
    0
    """
    return 0


@method()
def is_pinned(self: Tensor) -> bool:
    """Whether the numbers are in memory that a device reads by itself: there is no such device.

    >>> Tensor([1.0]).is_pinned()
    False
    """
    return False


@method()
def pin_memory(self: Tensor) -> Tensor:
    """A tensor with the same numbers, in the memory that there is.

    >>> Tensor([1.0]).pin_memory().tolist()
    [1.0]
    """
    return self.alias()


@method()
def is_shared(self: Tensor) -> bool:
    """Whether the numbers are in memory that other processes see: they are not.

    >>> Tensor([1.0]).is_shared()
    False
    """
    return False


@method()
def flush_from_cache(self: Tensor) -> None:
    """Bring back what a server keeps: nothing is kept elsewhere.

    >>> Tensor([1.0]).flush_from_cache()
    """


@method()
def data_sync(self: Tensor, wait: bool = True) -> None:
    """Wait for the numbers, which are there.

    >>> Tensor([1.0]).data_sync()
    """
    truth("data_sync", "wait", wait)


@method()
def wait_pipeline(self: Tensor) -> None:
    """Wait for the numbers, which are there.

    >>> Tensor([1.0]).wait_pipeline()
    """


@method()
def to_(self: Tensor, device: str | None = None, non_blocking: bool = False) -> Tensor:
    """The tensor itself, on a device: it is there when a program asks for it.

    >>> Tensor([1.0]).to_("CPU").tolist()
    [1.0]
    """
    truth("to_", "non_blocking", non_blocking)
    if device is not None and not is_device(device):
        raise ArgumentError(f"there is no device {device!r}", hint="ms.hal.devices() tells which there are")
    if device is not None:
        holder(device)
    return self


@method()
def to_dlpack(self: Tensor) -> Any:
    """The numbers for another library, by the protocol DLPack.

    >>> Tensor.from_dlpack(Tensor([1.0]).to_dlpack()).tolist()
    [1.0]
    """
    return self.__dlpack__()  # type: ignore[attr-defined]  # methods.pyi has it not


class _Capsule:
    """What was given by `to_dlpack`, as an object that libraries ask for it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the processor


def _from_dlpack(dlpack: Any) -> Tensor:
    """A tensor of numbers that another library holds, by the protocol DLPack."""
    return Tensor(np.from_dlpack(dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)).copy())


@method()
def set_dtype(self: Tensor, dtype: Any) -> Any:
    """Hold the numbers in another element type from now on, which comes back.

    >>> x = Tensor([1.5])
    >>> x.set_dtype("int32"), x.tolist()
    (int32, [1])
    """
    kind = as_dtype(dtype)
    self.become(cast(self, kind))
    return kind


@method()
def fills(self: Tensor, value: Any) -> Tensor:
    """A tensor of this shape and type that holds one number everywhere.

    >>> Tensor([1.0, 2.0]).fills(3).tolist()
    [3.0, 3.0]
    """
    return creation.full_like(self, value)


@method()
def set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """The tensor itself: whether a compiled network may take it for a constant is found out here, and guarded.

    >>> Tensor([1.0]).set_const_arg().tolist()
    [1.0]
    """
    truth("set_const_arg", "const_arg", const_arg)
    return self


# --------------------------------------------------------------------------------------------------------------- hooks


@method()
def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> Registered:
    """Let a function see the gradient of this tensor on the way back, and give another one if it returns one.

    The hook of an argument or a parameter sees every gradient with respect to it, from then on; jitted functions that
    may read it run in Python meanwhile.

    >>> from mycelia.api import grad
    >>> def twice(x):
    ...     y = x * 3
    ...     y.register_hook(lambda g: g * 2)
    ...     return y.sum()
    >>> grad(twice)(Tensor([1.0])).tolist()
    [6.0]
    """
    if not callable(hook):
        raise CallError(f"register_hook takes a function of the gradient, not {hook!r}")
    handle = Registered(hook)
    if not mode.capturing and tape_of((self,)) is None:
        hook_leaf(self, handle)
        return handle
    seen = given.with_gradient(lambda x: x, lambda x, out, dout: (handle.called(dout),), (self,))
    if seen is not self:
        self.hold(seen)
    return handle


def _telling(name: str, value: Any, doc: str) -> None:
    setattr(Tensor, name, property(lambda self: value, doc=doc))


_telling("has_init", False, "Whether the numbers are made later by an initializer: they are made at once.")
_telling("init", None, "The initializer that makes the numbers later: there is none.")
_telling("init_finished", True, "Whether the numbers have been made: they have.")
_telling("is_meta", False, "Whether a tensor has a shape and no numbers: it has numbers.")
_telling("const_arg", False, "Whether a compiled network takes it for a constant: that is found out, and guarded.")
setattr(Tensor, "convert_bytes_to_tensor", staticmethod(_from_bytes))  # noqa: B010  # types are in methods.pyi
setattr(Tensor, "from_dlpack", staticmethod(_from_dlpack))  # noqa: B010
