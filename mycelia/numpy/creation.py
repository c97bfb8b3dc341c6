"""New arrays: of given numbers, of one number, in even steps, with a diagonal."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, as_dtype, cast, common, created, wrap
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.arguments import is_number, unchanged
from mycelia.numpy.elements import here, in_type
from mycelia.ops.arguments import extents, tensor
from mycelia.primitives.creation import Iota
from mycelia.sizes import Sym
from mycelia.types import DType, bool_, float32, float64, int64

__all__ = [
    "arange",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfarray",
    "copy",
    "diag",
    "diagflat",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "fromfunction",
    "fromiter",
    "full",
    "full_like",
    "geomspace",
    "identity",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "tri",
    "tril",
    "triu",
    "vander",
    "zeros",
    "zeros_like",
]


def array(obj: Any, dtype: Any = None, copy: bool | None = True, ndmin: int = 0) -> Tensor:
    """An array of these numbers, or tensors, with at least `ndmin` axes. Numbers of Python's are float32 or int64.

    >>> array([1.0, 2.0], ndmin=2).shape, array([[1], [2]]).dtype
    ((1, 2), int64)
    """
    x = _gathered(obj, dtype)
    if isinstance(obj, Tensor) and x is obj and copy:
        x = unchanged(x)
    return ops.reshape(x, (1,) * (ndmin - x.ndim) + x.shape) if x.ndim < ndmin else x


def _gathered(obj: Any, dtype: Any) -> Tensor:
    """Numbers and tensors in nested lists as one tensor."""
    if isinstance(obj, Tensor):
        return in_type(obj, dtype)
    if isinstance(obj, list | tuple) and _holds_tensors(obj):
        return in_type(_stacked(obj), dtype)
    if isinstance(obj, range):
        obj = list(obj)
    return Tensor(obj, None if dtype is None else as_dtype(dtype))


def _holds_tensors(parts: Sequence[Any]) -> bool:
    return any(isinstance(p, Tensor) or (isinstance(p, list | tuple) and _holds_tensors(p)) for p in parts)


def _stacked(parts: Sequence[Any]) -> Tensor:
    made = [_stacked(p) if isinstance(p, list | tuple) else p for p in parts]
    types = [t.dtype for t in made if isinstance(t, Tensor)]
    found = types[0]
    for t in types[1:]:
        found = common(found, t)
    for number in [n for n in made if not isinstance(n, Tensor)]:
        found = common(found, float32) if isinstance(number, float) and not found.is_float else found
        found = int64 if found is bool_ and type(number) is int else found
    return ops.stack([cast(tensor(t), found) for t in made])


def asarray(a: Any, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """An array of these numbers; one that is such an array already is given back, unless `copy` asks otherwise.

    >>> asarray([1, 2]).tolist()
    [1, 2]
    """
    here(device)
    if copy is False and not (isinstance(a, Tensor) and (dtype is None or as_dtype(dtype) is a.dtype)):
        raise ArgumentError("this cannot be an array without a copy", given={"a": a}, hint="leave `copy` out")
    return array(a, dtype, bool(copy))


def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """An array of these numbers.

    >>> asanyarray([1, 2]).tolist()
    [1, 2]
    """
    return asarray(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """An array of these numbers with one axis at least; every tensor behaves as a dense row-major array.

    >>> ascontiguousarray(3).shape
    (1,)
    """
    return array(a, dtype, False, 1)


def asfarray(a: Any, dtype: Any = float32) -> Tensor:
    """An array of floating numbers.

    >>> asfarray([1, 2]).dtype
    float32
    """
    wanted = as_dtype(float32 if dtype is None else dtype)
    return asarray(a, wanted if wanted.is_float else float32)


def copy(a: Any) -> Tensor:
    """An array of the same numbers, of its own.

    >>> copy(Tensor([1, 2])).tolist()
    [1, 2]
    """
    return array(a)


def from_dlpack(x: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """An array of another library's numbers, in the same memory where that is possible.

    >>> from_dlpack(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    here(device)
    if isinstance(x, Tensor):
        return array(x, copy=bool(copy))
    taken = numpy.from_dlpack(x)
    return wrap(taken.copy() if copy else taken) if taken.dtype.isnative else tensor(taken)


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Tensor:
    """A vector of the numbers that an iterable gives, all or `count` of them.

    >>> fromiter((n * n for n in range(3)), int64).tolist()
    [0, 1, 4]
    """
    return wrap(numpy.fromiter(iter, as_dtype(dtype).numpy, count))


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float32, **kwargs: Any) -> Any:
    """What a function gives for the positions along each axis.

    >>> fromfunction(lambda i, j: i + j, (2, 2), dtype=int64).tolist()
    [[0, 1], [1, 2]]
    """
    size = extents(shape)
    return function(*[_counted(as_dtype(dtype), size, axis) for axis in range(len(size))], **kwargs)


def _counted(dtype: DType, shape: Any, axis: int) -> Tensor:
    return cast(created(Iota(int64, tuple(shape), axis)), dtype)


# ------------------------------------------------------------------------------------------------------- one number


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """One number everywhere; or several, which are repeated to the shape.

    >>> full((2,), 7).tolist(), full((2, 2), [1, 2]).tolist()
    ([7, 7], [[1, 2], [1, 2]])
    """
    here(device)
    if not is_number(fill_value):
        filled = in_type(array(fill_value), dtype)
        return unchanged(ops.broadcast_to(filled, extents(shape)))
    if dtype is None:
        dtype = bool_ if isinstance(fill_value, bool) else int64 if isinstance(fill_value, int | Sym) else None
    if isinstance(fill_value, Sym):
        return unchanged(ops.broadcast_to(in_type(tensor(fill_value), dtype), extents(shape)))
    return ops.full(extents(shape), fill_value, dtype=dtype if dtype is not None else tensor(fill_value).dtype)


def zeros(shape: Any, dtype: Any = float32, *, device: Any = None) -> Tensor:
    """Zeros.

    >>> zeros((2,)).tolist()
    [0.0, 0.0]
    """
    here(device)
    return ops.zeros(extents(shape), as_dtype(float32 if dtype is None else dtype))


def ones(shape: Any, dtype: Any = float32, *, device: Any = None) -> Tensor:
    """Ones.

    >>> ones(2).tolist()
    [1.0, 1.0]
    """
    here(device)
    return ops.ones(extents(shape), as_dtype(float32 if dtype is None else dtype))


def empty(shape: Any, dtype: Any = float32, *, device: Any = None) -> Tensor:
    """Numbers that do not matter; they are zero here.

    >>> empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype, device=device)


def _like(a: Any, dtype: Any, shape: Any) -> tuple[Any, DType]:
    x = array(a, copy=False)
    return x.shape if shape is None else extents(shape), x.dtype if dtype is None else as_dtype(dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Tensor:
    """One number in the shape and element type of another array, or in those given.

    >>> full_like(Tensor([1.0, 2.0]), 3).tolist()
    [3.0, 3.0]
    """
    size, element = _like(a, dtype, shape)
    return full(size, fill_value, element, device=device)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Tensor:
    """Zeros in the shape and element type of another array, or in those given.

    >>> zeros_like([1, 2]).tolist()
    [0, 0]
    """
    return zeros(*_like(a, dtype, shape), device=device)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Tensor:
    """Ones in the shape and element type of another array, or in those given.

    >>> ones_like([3, 4]).tolist()
    [1, 1]
    """
    return ones(*_like(a, dtype, shape), device=device)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Tensor:
    """Numbers that do not matter, in the shape and element type of another array; they are zero here.

    >>> empty_like([3, 4]).shape
    (2,)
    """
    return zeros_like(prototype, dtype, shape, device=device)


# ------------------------------------------------------------------------------------------------------ even steps


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Numbers from `start` up to, and without, `stop`; with one bound, from 0.

    >>> arange(3).tolist(), arange(1.0, 2.0, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    here(device)
    start, stop, step = (_plain(n) for n in (start, stop, 1 if step is None else step))
    if stop is None:
        start, stop = 0, start
    if not isinstance(step, Sym) and step == 0:
        raise ArgumentError("steps of 0 lead nowhere", hint="give another step")
    bounds = (start, stop, step)
    whole = all(isinstance(n, int | Sym) for n in bounds)
    element = as_dtype(dtype) if dtype is not None else int64 if whole else float32
    if any(isinstance(n, Sym) for n in bounds):
        return cast(ops.arange(start, stop, step), element)
    count = max(0, -((stop - start) // -step) if whole else ceil((stop - start) / step))
    if element.kind in "fc" or whole:
        counted = created(Iota(int64, (count,), 0))
        if whole:
            return cast(counted * step + start, element)
        exact = numpy.arange(count) * numpy.float64(step) + start
        return tensor(exact.astype(element.numpy))
    return tensor(numpy.arange(start, stop, step).astype(element.numpy))


def _plain(n: Any) -> Any:
    return n.item() if isinstance(n, Tensor | numpy.generic) else n


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """So many numbers evenly from `start` to `stop`, with it or without, along a new axis; and the step, if asked for.

    >>> linspace(0.0, 1.0, 3).tolist(), linspace(0, 4, 2, endpoint=False, retstep=True)[1].item()
    ([0.0, 0.5, 1.0], 2.0)
    """
    here(device)
    count = _count(num)
    ends = array(start, copy=False).dtype, array(stop, copy=False).dtype
    element = as_dtype(dtype) if dtype is not None else common(common(*ends), float32)
    first, last = _exact(start, ends), _exact(stop, ends)  # steps are rounded once, at the end
    parts = count - 1 if endpoint else count
    step = (last - first) / parts if parts > 0 else (last - first) * numpy.nan
    wide = (first + last).shape
    counted = ops.reshape(cast(created(Iota(int64, (count,), 0)), first.dtype), (count,) + (1,) * len(wide))
    out = first + counted * step if parts > 0 else ops.broadcast_to(first, (count, *wide))
    if endpoint and count > 1:  # the last one is `stop`, whatever the steps were rounded to
        out = ops.where(counted == count - 1, last, out)
    if element.is_integer:
        out = ops.floor(out)
    out = ops.moveaxis(cast(out, element), 0, axis)
    return (out, cast(step, float32 if element.is_integer else element)) if retstep else out


def _exact(x: Any, types: tuple[DType, ...]) -> Tensor:
    """An end of a row in double precision, complex if one of both is."""
    fine = as_dtype("complex128") if any(t.kind == "c" for t in types) else float64
    return Tensor(x, fine) if is_number(x) and not isinstance(x, Sym) else cast(array(x, copy=False), fine)


def _count(num: Any) -> int:
    if isinstance(num, bool) or not isinstance(num, int | numpy.integer):
        raise CallError(f"the number of points is a whole number, not {num!r}")
    if num < 0:
        raise ArgumentError(f"the number of points is at least 0, not {num}")
    return int(num)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Powers of `base`, whose exponents are evenly spaced.

    >>> logspace(0.0, 2.0, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    exponents = linspace(start, stop, num, endpoint, False, float64, axis)
    out = base**exponents
    found = common(common(array(start, copy=False).dtype, array(stop, copy=False).dtype), float32)
    return cast(out, found if dtype is None else as_dtype(dtype))


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Tensor:
    """So many numbers from `start` to `stop`, of which each is the same multiple of the one before.

    >>> geomspace(1.0, 8.0, 4).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    first, last = array(start, copy=False), array(stop, copy=False)
    found = common(common(first.dtype, last.dtype), float32)
    first, last = cast(first, float64), cast(last, float64)
    sign = ops.sign(first)
    out = ops.exp(linspace(ops.log(ops.abs(first)), ops.log(ops.abs(last)), num, endpoint, False, float64))
    count = _count(num)
    counted = ops.reshape(created(Iota(int64, (count,), 0)), (count,) + (1,) * (first + last).ndim)
    out = ops.where(counted == 0, ops.abs(first), out) * sign
    if endpoint and count > 1:
        out = ops.where(counted == count - 1, last, out)
    return cast(ops.moveaxis(out, 0, axis), found if dtype is None else as_dtype(dtype))


# -------------------------------------------------------------------------------------------------------- diagonals


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float32, *, device: Any = None) -> Tensor:
    """Ones on a diagonal, zeros elsewhere.

    >>> eye(2, 3, k=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    here(device)
    shape = extents((N, N if M is None else M))
    if isinstance(k, int) and all(isinstance(e, int) for e in shape):
        k = max(-shape[0], min(k, shape[1]))  # a diagonal further away is outside, however far
    on = created(Iota(int64, shape, 1)) - created(Iota(int64, shape, 0)) == k
    return cast(on, as_dtype(float32 if dtype is None else dtype))


def identity(n: int, dtype: Any = float32) -> Tensor:
    """Ones on the main diagonal of a square matrix.

    >>> identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Ones on and below a diagonal, zeros above.

    >>> tri(2, 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    shape = extents((N, N if M is None else M))
    return cast(created(Iota(int64, shape, 1)) - created(Iota(int64, shape, 0)) <= k, as_dtype(dtype))


def _matrices(m: Any) -> Tensor:
    x = tensor(m)
    if x.ndim == 1:
        return ops.broadcast_to(x, (x.shape[0], x.shape[0]))
    if x.ndim == 0:
        raise ShapeError("a number has no triangle", hint="give an array of one axis at least")
    return x


def tril(m: Any, k: int = 0) -> Tensor:
    """The part on and below a diagonal; zeros elsewhere.

    >>> tril(Tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return ops.tril(_matrices(m), k)


def triu(m: Any, k: int = 0) -> Tensor:
    """The part on and above a diagonal; zeros elsewhere.

    >>> triu(Tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return ops.triu(_matrices(m), k)


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with these numbers on a diagonal; of a matrix, its diagonal.

    >>> diag([1, 2]).tolist(), diag([[1, 2], [3, 4]]).tolist()
    ([[1, 0], [0, 2]], [1, 4])
    """
    x = tensor(v)
    if x.ndim not in (1, 2):
        raise ShapeError("diag takes a vector or a matrix", given={"shape": x.shape})
    return ops.diag_embed(x, k) if x.ndim == 1 else unchanged(ops.diagonal(x, k))


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal.

    >>> diagflat([[1, 2]]).tolist()
    [[1, 0], [0, 2]]
    """
    return ops.diag_embed(ops.ravel(tensor(v)), k)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of the elements of a vector: the largest first, or last.

    >>> vander([2, 3], 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    x = tensor(x)
    if x.ndim != 1:
        raise ShapeError("vander takes a vector", given={"shape": x.shape})
    x = x if x.dtype.is_inexact else cast(x, int64)
    count = x.shape[0] if N is None else N
    powers = created(Iota(int64, (count,), 0))
    powers = cast(powers if increasing else count - 1 - powers, x.dtype)
    return ops.expand_dims(x, 1) ** powers
