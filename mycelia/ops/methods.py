"""Methods of tensors whose arguments differ from those of the function, or that exist only as methods.

Reductions take `axis` and `keepdims` as in NumPy, and `dim` and `keepdim` besides.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import truth
from mycelia.eager import Parameter, Tensor, as_dtype, assign, cast, wrap
from mycelia.eager.convert import warn_of_real_part
from mycelia.eager.placement import is_device, placed
from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import listening
from mycelia.ops import movement, reduction
from mycelia.ops.arguments import Axis, method, tensor
from mycelia.types import DType, bfloat16, bool_, float16, float32, float64, int16, int32, int64, uint8


def _kept(*spellings: Any) -> bool:
    """Whether axes stay, however it is spelt."""
    said = [spelt for spelt in spellings if spelt is not False]
    return True in [truth("a reduction", "keepdims", spelt) for spelt in said]


def _reducing(name: str, function: Callable[..., Tensor]) -> None:
    explained = listening(function)

    def reduce(
        self: Tensor,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        dim: Axis = None,
        keepdim: bool = False,
        keep_dims: bool = False,
        **options: Any,
    ) -> Tensor:
        reduced = explained if options else function
        return reduced(self, dim if axis is None else axis, _kept(keepdims, keepdim, keep_dims), **options)

    reduce.__name__, reduce.__doc__ = name, function.__doc__
    method(name)(reduce)


def mean(x: Tensor, axis: Axis = None, keep_dims: bool = False, *, dtype: Any = None) -> Tensor:
    """The arithmetic mean along axes, of the elements as `dtype`; that of whole numbers is whole.

    >>> Tensor([1, 2]).mean().item(), Tensor([1, 2]).mean(dtype=float32).item()
    (1, 1.5)
    """
    return reduction.mean(x if dtype is None else cast(x, as_dtype(dtype)), axis, keep_dims)


for _function in (
    reduction.sum,
    mean,
    reduction.prod,
    reduction.all,
    reduction.any,
    reduction.amax,
    reduction.amin,
    reduction.argmax,
    reduction.argmin,
):
    _reducing(_function.__name__, _function)


class _Unsaid:
    """False where nothing was said: a False that was said is a word of NumPy's."""

    def __repr__(self) -> str:
        return "False"


_UNSAID: Any = _Unsaid()


def _extreme(name: str, pair: Callable[..., tuple[Tensor, Tensor]], one: Callable[..., Tensor]) -> None:
    def extreme(
        self: Tensor,
        dim: Axis = None,
        keepdim: bool = False,
        *,
        axis: Axis = None,
        keepdims: bool = _UNSAID,
        initial: Any = None,
        where: Any = None,
        return_indices: bool = _UNSAID,
    ) -> Any:
        if isinstance(dim, int) and keepdims is return_indices is _UNSAID and initial is where is None:
            return pair(self, dim, keepdim)  # as PyTorch; with a word of NumPy's, as that
        axis, kept = dim if axis is None else axis, _kept(False if keepdims is _UNSAID else keepdims, keepdim)
        both = return_indices is not _UNSAID and truth("an extreme", "return_indices", return_indices)
        return (pair if both else one)(self, axis, kept, initial=initial, where=where)

    extreme.__name__, extreme.__doc__ = name, pair.__doc__
    method(name)(extreme)


_extreme("max", reduction.max, reduction.amax)
_extreme("min", reduction.min, reduction.amin)


@method()
def argmax_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """The largest element along an axis, and where it is.

    >>> [t.item() for t in Tensor([1.0, 3.0]).argmax_with_value()]
    [3.0, 1]
    """
    return reduction.max(self, axis, keep_dims)


@method()
def argmin_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """The smallest element along an axis, and where it is.

    >>> [t.item() for t in Tensor([1.0, 3.0]).argmin_with_value()]
    [1.0, 0]
    """
    return reduction.min(self, axis, keep_dims)


# ----------------------------------------------------------------------------------------------------- element types


@method()
def astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    """The same numbers in another element type; without `copy`, the tensor itself if it has that type.

    >>> Tensor([1.7]).astype("int32").tolist()
    [1]
    """
    wanted = as_dtype(dtype)
    if self.dtype.is_complex and not wanted.is_complex and wanted is not bool_:
        warn_of_real_part()
    return p.cast(self, wanted) if self.dtype is not wanted else self.apart() if copy else self


@method()
def to(
    self: Tensor, target: Any = None, *, dtype: Any = None, device: str | None = None, non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:  # fmt: skip
    """The same numbers in another element type, or in that of another tensor; or on another device.

    >>> Tensor([1.5]).to(float16).dtype, Tensor([1.5]).to("CPU", copy=True).device
    (float16, 'CPU:0')
    """
    if isinstance(target, str) and device is None and is_device(target):
        target, device = None, target
    wanted = dtype if target is None else target
    out = self if wanted is None else astype(self, wanted.dtype if isinstance(wanted, Tensor) else wanted, copy=False)
    out = out if device is None else move_to(out, device, not non_blocking)
    return out.apart() if copy and out is self else out


@method()
def move_to(self: Tensor, to: str, blocking: bool = True) -> Tensor:
    """A tensor with the same numbers whose data is on another device: it is there when a program asks for it.

    Both ways of copying are the same here: the data has arrived when the call returns.

    >>> Tensor([1, 2]).move_to("CPU").device
    'CPU:0'
    """
    if not isinstance(blocking, bool):
        raise ArgumentError(f"blocking is True or False, not {blocking!r}")
    return placed(self, to)


@method()
def view(self: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """The same elements under another shape; or the same bytes, as numbers of another type, which is a copy.

    >>> Tensor([1, 2, 3, 4]).view(2, 2).shape, Tensor([1.0]).view(int32).tolist()
    ((2, 2), [1065353216])
    """
    wanted = dtype if not shape else shape[0] if len(shape) == 1 and isinstance(shape[0], DType) else None
    if wanted is None:
        return movement.view(self, *shape)
    new, size = as_dtype(wanted), self.itemsize
    if new.itemsize != size and (not self.ndim or (self.shape[-1] * size) % new.itemsize):
        raise ShapeError(f"the bytes of {self.shape[-1:]} numbers of {self.dtype!r} are no whole numbers of {new!r}")
    read = np.ascontiguousarray(self.numbers()).view(new.numpy)
    return wrap(read.reshape((*self.shape[:-1], -1) if self.ndim else ()))


@method()
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The same numbers in the element type of another tensor.

    >>> Tensor([1.5]).type_as(Tensor([1])).tolist()
    [1]
    """
    return astype(self, other.dtype)


@method()
def type(self: Tensor, dtype: Any = None) -> Any:
    """The element type; or the same numbers in another one.

    >>> Tensor([1.5]).type("int32").tolist()
    [1]
    """
    return self.dtype if dtype is None else astype(self, dtype)


def _casting(name: str, dtype: Any) -> None:
    def convert(self: Tensor) -> Tensor:
        return astype(self, dtype)

    convert.__doc__ = f"The same numbers as {dtype!r}."
    method(name)(convert)


for _name, _dtype in {
    "float": float32,
    "double": float64,
    "half": float16,
    "bfloat16": bfloat16,
    "int": int32,
    "long": int64,
    "short": int16,
    "byte": uint8,
    "bool": bool_,
}.items():
    _casting(_name, _dtype)


@method()
def is_floating_point(self: Tensor) -> bool:
    """Whether the elements are floating numbers.

    >>> Tensor([1.0]).is_floating_point()
    True
    """
    return self.dtype.is_float


@method()
def is_signed(self: Tensor) -> bool:
    """Whether the elements can be negative.

    >>> Tensor([1]).is_signed()
    True
    """
    return self.dtype.kind in "ifc"


# --------------------------------------------------------------------------------------------------- the tensor itself


@method("dim", "ndimension")
def dim(self: Tensor) -> int:
    """How many axes there are.

    >>> Tensor([[1]]).dim()
    2
    """
    return self.ndim


@method("numel", "nelement")
def numel(self: Tensor) -> int:
    """How many elements there are.

    >>> Tensor([[1, 2]]).numel()
    2
    """
    return self.size


@method()
def numpy(self: Tensor) -> Any:
    """A NumPy array with the same numbers.

    >>> Tensor([1, 2]).numpy()
    array([1, 2])
    """
    return self.asnumpy()


def copy(self: Tensor) -> Tensor:
    """A tensor with the same data, through which gradients flow.

    >>> Tensor([1, 2]).copy().tolist()
    [1, 2]
    """
    return self.apart()


method("copy", "contiguous")(copy)
setattr(Tensor, "clone", copy)  # noqa: B010  # a parameter clones differently
setattr(Parameter, "clone", Parameter.__dict__["clone"])  # noqa: B010


@method()
def is_contiguous(self: Tensor) -> bool:
    """True: every tensor behaves as a dense row-major array.

    >>> Tensor([1]).is_contiguous()
    True
    """
    return True


@method()
def stride(self: Tensor, dim: int | None = None) -> Any:
    """Elements from one to the next along each axis, or along one.

    >>> Tensor([[1, 2, 3]]).stride()
    [3, 1]
    """
    steps = [s // self.itemsize for s in self.strides]
    return steps if dim is None else steps[dim]


@method()
def init_data(self: Tensor) -> Tensor:
    """The tensor itself: its data exists from the beginning.

    >>> Tensor([1]).init_data().tolist()
    [1]
    """
    return self


@method()
def value(self: Tensor) -> Tensor:
    """What the tensor holds now, as a tensor that later assignments do not change.

    >>> Tensor([1]).value().tolist()
    [1]
    """
    return self.alias()


@method()
def new_zeros(self: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Zeros of the same element type.

    >>> Tensor([1]).new_zeros((2,)).tolist()
    [0, 0]
    """
    from mycelia.ops import creation  # a method, found on the class by every module

    return creation.zeros(size, self.dtype if dtype is None else dtype)


@method()
def new_ones(self: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Ones of the same element type.

    >>> Tensor([1]).new_ones((2,)).tolist()
    [1, 1]
    """
    from mycelia.ops import creation  # as above

    return creation.ones(size, self.dtype if dtype is None else dtype)


@method()
def to_coo(self: Tensor) -> Any:
    """The numbers that are not zero, by their places.

    >>> Tensor([[1.0, 0.0]]).to_coo().indices.tolist()
    [[0, 0]]
    """
    return import_module("mycelia.ops.sparse").dense_to_sparse_coo(self)


@method()
def to_csr(self: Tensor) -> Any:
    """The numbers of a matrix that are not zero, row by row.

    >>> Tensor([[1.0, 0.0]]).to_csr().indptr.tolist()
    [0, 1]
    """
    return import_module("mycelia.ops.sparse").dense_to_sparse_csr(self)


# ------------------------------------------------------------------------------------------------------- assignment


@method()
def assign_value(self: Tensor, value: Any) -> Tensor:
    """Hold other numbers from now on, also of another shape or type.

    >>> Tensor([1.0, 2.0]).assign_value(Tensor([3.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    other = tensor(value)
    if (other.shape, other.dtype) == (self.shape, self.dtype):
        return assign(self, other)
    self.become(other)
    return self


method("copy_")(lambda self, value: assign(self, p.broadcast(tensor(value), self.shape)))
method("fill_", "fill")(lambda self, value: assign(self, p.full(value, self.dtype, self.shape)))
method("zero_")(lambda self: assign(self, p.full(0, self.dtype, self.shape)))


def _in_place(name: str, function: Callable[..., Any]) -> None:
    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return assign(self, function(self, *args, **kwargs))

    change.__doc__ = f"Hold the result of `{name}` from now on."
    method(f"{name}_")(change)


for _name in [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "exp",
    "log",
    "sqrt",
    "abs",
    "neg",
    "clamp",
    "floor",
    "ceil",
    "sign",
]:
    _in_place(_name, getattr(Tensor, _name))

__all__: list[str] = []  # methods only


# ------------------------------------------------------------------------------------- as other array libraries ask


@method("__array_namespace__")
def _namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    """The functions of the Python array API standard, for tensors.

    >>> Tensor([1.0]).__array_namespace__().__name__
    'mycelia.numpy'
    """
    known = ("2021.12", "2022.12", "2023.12", "2024.12")
    if api_version is not None and api_version not in known:
        raise ArgumentError(f"there is no version {api_version!r} of the array API here", hint=", ".join(known))
    return import_module("mycelia.numpy")


@method("__dlpack__")
def _dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The numbers for another library, in memory of its own unless `copy` is False: nobody else writes into a tensor.

    >>> np.from_dlpack(Tensor([1, 2])).tolist()
    [1, 2]
    """
    if stream is not None:
        raise ArgumentError(f"there are no streams here, such as {stream!r}", hint="leave it out")
    numbers = self.asnumpy() if copy is not False else self.numbers().view()
    if copy is False:  # the same memory, to be read only: whoever asks must know of that
        numbers.flags.writeable = False
    return numbers.__dlpack__(max_version=max_version, dl_device=dl_device)


@method("__dlpack_device__")
def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """Where the numbers are: on the processor.

    >>> Tensor([1]).__dlpack_device__()
    (1, 0)
    """
    return 1, 0


@method()
def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on a device, of which there is one.

    >>> Tensor([1]).to_device("CPU:0").tolist()
    [1]
    """
    if str(device) not in ("CPU", "CPU:0", "cpu") or stream is not None:
        raise ArgumentError(f"there is no device {device!r}", hint='"CPU:0"')
    return self
