"""Tensors from nothing: filled, counted, spaced."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from builtins import range as _count
from math import ceil
from typing import Any

from mycelia import primitives as p
from mycelia.checks import whole
from mycelia.eager import Tensor, as_dtype, cast, created, wrap
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ops.arguments import axis_of, extents, method, number, tensor
from mycelia.ops.movement import own
from mycelia.sizes import Sym, positive
from mycelia.types import DType, bool_, complex64, float32, int64

__all__ = [
    "arange",
    "diag",
    "diag_embed",
    "diagonal",
    "empty",
    "eye",
    "fill",
    "fills",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "meshgrid",
    "ones",
    "ones_like",
    "range",
    "scalar_to_tensor",
    "sequence_mask",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor with one number everywhere.

    >>> full((2,), 1.5).tolist()
    [1.5, 1.5]
    """
    if isinstance(fill_value, Tensor):
        filled = own(p.broadcast(fill_value, extents(size)), fill_value)
        return filled if dtype is None else cast(filled, as_dtype(dtype))
    if isinstance(fill_value, Sym):
        return wrap(p.full(fill_value, int64 if dtype is None else as_dtype(dtype), extents(size)))
    return created(p.Full(fill_value, _dtype_for(fill_value, dtype), extents(size)))


def _dtype_for(number: Any, dtype: Any) -> DType:
    if isinstance(number, complex):
        found = complex64 if dtype is None else as_dtype(dtype)
        if not found.is_complex:
            raise DTypeError(
                f"{number} cannot be {found}: half of it would be lost",
                hint="give its real part, or a complex dtype such as ms.complex64",
            )
        return found
    if dtype is not None:
        return as_dtype(dtype)
    return bool_ if isinstance(number, bool) else int64 if isinstance(number, int) else float32


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """A tensor of zeros.

    >>> zeros((2,)).tolist()
    [0.0, 0.0]
    """
    return created(p.Full(0, float32 if dtype is None else as_dtype(dtype), extents(size)))


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """A tensor of ones.

    >>> ones((2,), int64).tolist()
    [1, 1]
    """
    return created(p.Full(1, float32 if dtype is None else as_dtype(dtype), extents(shape)))


def empty(*size: Any, dtype: Any = None) -> Tensor:
    """A tensor whose content does not matter; it is zero here.

    >>> empty(2, 3).shape
    (2, 3)
    """
    return zeros(extents(*size), dtype)


def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number in the shape of another tensor.

    >>> full_like(Tensor([1, 2]), 7).tolist()
    [7, 7]
    """
    x = tensor(input)
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype)


def zeros_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Zeros in the shape of another tensor.

    >>> zeros_like(Tensor([1, 2])).tolist()
    [0, 0]
    """
    return full_like(input, 0, dtype=dtype)


def ones_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Ones in the shape of another tensor.

    >>> ones_like(Tensor([1.0, 2.0])).tolist()
    [1.0, 1.0]
    """
    return full_like(input, 1, dtype=dtype)


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """A tensor with one number everywhere, of a given element type.

    >>> fill(float32, (2,), 3).tolist()
    [3.0, 3.0]
    """
    return full(shape, value, dtype=type)


def fills(x: Any, value: Any) -> Tensor:
    """One number in the shape and element type of another tensor.

    >>> fills(Tensor([1, 2]), 4).tolist()
    [4, 4]
    """
    return full_like(x, value)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """Numbers from `start` up to, and without, `end`; with one bound, from 0.

    >>> arange(4).tolist(), arange(1.0, 2.0, 0.5).tolist()
    ([0, 1, 2, 3], [1.0, 1.5])
    """
    start, end, step = (
        x.item() if isinstance(x, Tensor) else x for x in ((0, start, step) if end is None else (start, end, step))
    )
    if step == 0:
        raise ArgumentError("arange cannot count in steps of 0", hint="a step is positive, or negative to count down")
    whole = all(isinstance(x, int | Sym) for x in (start, end, step))
    count = -((start - end) // step) if whole else ceil((end - start) / step)
    count = positive(count)
    wanted = as_dtype(dtype) if dtype is not None else int64 if whole else float32
    positions = created(p.Iota(int64 if whole else wanted, (count,), 0))
    return cast(positions * step + start, wanted)


def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Numbers from `start` up to, and without, `end`; an error if there are more than `maxlen`.

    >>> range(0, 5, 2).tolist()
    [0, 2, 4]
    """
    numbers = arange(start, end, step)
    if numbers.size > maxlen:
        raise ArgumentError(f"range gives {numbers.size} numbers, and at most maxlen={maxlen} were allowed")
    return numbers


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """So many numbers, evenly from `start` to `end`, both included.

    >>> linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    steps = whole("linspace", "steps", steps, least=0)
    begin, stop = tensor(start) * 1.0, tensor(end) * 1.0
    positions = created(p.Iota(begin.dtype, (steps,), 0)) * (1.0 / max(1, steps - 1))
    begin, stop = (p.reshape(x, (*x.shape, 1)) for x in (begin, stop))
    spaced = begin + (stop - begin) * positions
    return spaced


def logspace(start: Any, end: Any, steps: int, base: float = 10, *, dtype: Any = float32) -> Tensor:
    """Powers of `base`, whose exponents are evenly spaced.

    >>> logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    return cast(base ** linspace(start, end, steps), as_dtype(dtype))


def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """Ones on the diagonal, zeros elsewhere.

    >>> eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = _positions((whole("eye", "n", n, least=0), n if m is None else whole("eye", "m", m, least=0)))
    return p.cast(p.equal(rows, columns), float32 if dtype is None else as_dtype(dtype))


def _positions(shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """The row and the column of every element of a matrix."""
    return created(p.Iota(int64, shape, len(shape) - 2)), created(p.Iota(int64, shape, len(shape) - 1))


@method()
def tril(input: Any, diagonal: int = 0) -> Tensor:
    """The part on and below a diagonal; zeros elsewhere.

    >>> tril(ones((2, 2))).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return _triangle(tensor(input), diagonal, below=True)


@method()
def triu(input: Any, diagonal: int = 0) -> Tensor:
    """The part on and above a diagonal; zeros elsewhere.

    >>> triu(ones((2, 2)), 1).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return _triangle(tensor(input), diagonal, below=False)


def _triangle(x: Tensor, diagonal: int, below: bool) -> Tensor:
    if x.ndim < 2:
        raise ShapeError(
            f"a triangle is part of a matrix, and this tensor has shape {x.shape}",
            hint="the last two axes are the matrix",
        )
    rows, columns = _positions(x.shape[-2:])
    kept = columns - rows <= diagonal if below else columns - rows >= diagonal
    return p.select(kept, x, number(0, x))


@method()
def diag(input: Any) -> Tensor:
    """A tensor with these elements where its positions repeat, and 0 elsewhere: twice the axes, of a row a matrix.

    >>> diag(Tensor([1, 2])).tolist(), diag(Tensor([[1, 2], [3, 4]])).shape
    ([[1, 0], [0, 2]], (2, 2, 2, 2))
    """
    x = tensor(input)
    return p.reshape(diag_embed(p.reshape(x, (x.size,))), (*x.shape, *x.shape))


@method()
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements whose positions on two axes differ by `offset`, along a last axis.

    >>> diagonal(Tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    x = tensor(input)
    first, second = axis_of(x, dim1), axis_of(x, dim2)
    if first == second:
        raise ShapeError(f"a diagonal lies on two axes, not twice on axis {first}", given={"dim1": dim1, "dim2": dim2})
    rest = [a for a in _count(x.ndim) if a not in (first, second)]
    x = p.transpose(x, (*rest, first, second))
    rows, columns = x.shape[-2:]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    flat = p.reshape(x, (*x.shape[:-2], rows * columns))
    begin = max(-offset, 0) * columns + max(offset, 0)
    return p.take(flat, len(rest), begin, begin + (count - 1) * (columns + 1) + 1 if count else begin, columns + 1)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis on a diagonal.

    >>> diag_embed(Tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x, offset = tensor(input), whole("diag_embed", "offset", offset)
    size = x.shape[-1] + abs(offset)
    rows, columns = _positions((size, size))
    on = columns - rows == offset
    low, high = max(-offset, 0), max(offset, 0)
    wide = p.pad(x, [0] * (x.ndim - 1) + [low], [0] * (x.ndim - 1) + [high])
    matrices = p.select(on, p.reshape(wide, (*wide.shape, 1)), number(0, x))
    order = list(_count(x.ndim - 1))
    first, second = dim1 % (x.ndim + 1), dim2 % (x.ndim + 1)
    for place, axis in sorted(((first, x.ndim - 1), (second, x.ndim))):
        order.insert(place, axis)
    return p.transpose(matrices, order)


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Each vector along an axis of its own, repeated along those of the others.

    >>> [t.shape for t in meshgrid(Tensor([1, 2]), Tensor([1, 2, 3]), indexing="ij")]
    [(2, 3), (2, 3)]
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid has no indexing {indexing!r}", hint='say "xy" or "ij"')
    vectors = [tensor(x) for x in (inputs[0] if len(inputs) == 1 and isinstance(inputs[0], tuple | list) else inputs)]
    axes = list(_count(len(vectors)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = [1, 0]
    shape = [0] * len(axes)
    for axis, v in zip(axes, vectors, strict=True):
        shape[axis] = v.size
    return tuple(
        p.broadcast(p.reshape(v, [v.size if a == axis else 1 for a in _count(len(axes))]), shape)
        for axis, v in zip(axes, vectors, strict=True)
    )


def sequence_mask(lengths: Any, maxlen: int | None = None) -> Tensor:
    """True at the first so many positions of each row.

    >>> sequence_mask(Tensor([1, 3]), 3).tolist()
    [[True, False, False], [True, True, True]]
    """
    lengths = tensor(lengths)
    longest = int(lengths.numbers().max()) if maxlen is None else maxlen
    positions = created(p.Iota(lengths.dtype, (longest,), 0))
    return p.less(positions, p.reshape(lengths, (*lengths.shape, 1)))


def scalar_to_tensor(input_x: float | int | bool, dtype: Any = float32) -> Tensor:
    """A number as a tensor without axes.

    >>> scalar_to_tensor(2)
    Tensor(shape=[], dtype=Float32, value= 2)
    """
    return wrap(Tensor(input_x, as_dtype(dtype))._data)
