"""What functions accept, as what primitives need: tensors of one element type, axes counted from the front."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any, TypeVar

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, floating, wrap
from mycelia.eager.convert import scalar
from mycelia.eager.operators import together
from mycelia.errors import ArgumentError, CallError, DTypeError, ShapeError
from mycelia.names import listening
from mycelia.sizes import Sym
from mycelia.types import DType

Axis = int | Sequence[int] | None
F = TypeVar("F", bound=Callable[..., Any])


def method(*names: str) -> Callable[[F], F]:
    """A decorator: the function is also a method of tensors, under its own name or under these."""

    def attach(function: F) -> F:
        for name in names or (function.__name__,):
            setattr(Tensor, name, listening(function))
        return function

    return attach


def tensor(x: Any) -> Tensor:
    """`x` as a tensor.

    >>> tensor(2.0)
    Tensor(shape=[], dtype=Float32, value= 2)
    """
    if x is None:
        raise CallError("None is no tensor", hint="did a function forget to return its result?")
    return x if isinstance(x, Tensor) else Tensor(x)


def floated(x: Any) -> Tensor:
    """`x` as a tensor of floating numbers.

    >>> floated(2).dtype
    float32
    """
    x = tensor(x)
    return cast(x, floating(x.dtype))


def number(n: float | int | bool | Tensor, like: Tensor) -> Tensor:
    """A Python number as a tensor without axes, of the element type of another; so is a tensor of one element.

    >>> number(2, Tensor([1.0]))
    Tensor(shape=[], dtype=Float32, value= 2)
    """
    if isinstance(n, Tensor):
        return cast(p.reshape(n, ()), like.dtype)
    return wrap(scalar(n, like.dtype.numpy))


def pair(x: Any, y: Any, widen: Callable[[DType], DType] | None = None) -> tuple[Tensor, Tensor]:
    """Two operands as tensors of one element type.

    >>> [t.dtype for t in pair(Tensor([1]), 2.5)]
    [float32, float32]
    """
    found = together(x, y, widen)
    if found is None:
        wrong = next(v for v in (x, y) if together(v, v) is None)
        raise DTypeError(
            f"{type(wrong).__name__} is not an operand",
            given={"value": wrong},
            hint="did a function forget to return its result?" if wrong is None else "pass tensors or numbers",
        )
    return found


def axes_of(x: Tensor, axis: Axis) -> tuple[int, ...]:
    """Axes counted from the front, in order; None and () mean all. A tensor may list them.

    >>> axes_of(Tensor([[1, 2]]), -1), axes_of(Tensor([[1, 2]]), None), axes_of(Tensor([[1, 2]]), Tensor([1]))
    ((1,), (0, 1), (1,))
    """
    if isinstance(axis, Tensor) and axis.ndim == 1:
        axis = tuple(axis.tolist())
    if axis is None or axis == ():
        return tuple(range(x.ndim))
    chosen = [axis_of(x, a) for a in (axis if isinstance(axis, list | tuple | range) else (axis,))]
    if len(set(chosen)) != len(chosen):
        raise ShapeError(f"an axis is named twice in {axis}", given={"shape": x.shape}, hint="name each axis once")
    return tuple(sorted(chosen))


def axis_of(x: Tensor, axis: int, more: int = 0) -> int:
    """One axis counted from the front, of a tensor that is to have `more` axes.

    >>> axis_of(Tensor([[1, 2]]), -1), axis_of(Tensor([[1, 2]]), -1, more=1)
    (1, 2)
    """
    rank = x.ndim + more
    if not isinstance(axis, int):
        axis = _whole("an axis", axis)
    if not -rank <= axis < rank:
        raise ShapeError(
            f"a tensor of shape {x.shape} has no axis {axis}",
            hint=f"axes go from {-rank} to {rank - 1}" if rank else "a tensor without axes has none",
        )
    return int(axis) % rank


def _whole(what: str, value: Any) -> int:
    """A whole number, also if it is NumPy's or a tensor's."""
    if isinstance(value, float | str | bytes) or (isinstance(value, Tensor) and value.size != 1):
        told, hint = repr(value), "give an int, such as 0 or -1"
        if isinstance(value, Tensor):
            told, hint = f"a tensor of shape {value.shape}", f"{hint}; several tensors are one tuple, such as (x, y)"
        raise CallError(f"{what} is a whole number, not {told}", hint=hint)
    try:
        return int(index(value))  # True is one, and a number of a class of its own is a plain one
    except TypeError:
        raise CallError(f"{what} is a whole number, not {value!r}", hint="give an int, such as 0 or -1") from None


def extents(*size: Any) -> tuple[int, ...]:
    """The shape of a new tensor, given as one sequence or as several numbers.

    >>> extents(2, 3), extents((0,))
    ((2, 3), (0,))
    """
    shape = sizes(*size)
    if any(isinstance(e, int) and e < 0 for e in shape):
        raise ShapeError(f"a tensor cannot have shape {shape}", hint="extents are whole numbers from 0")
    return shape


def sizes(*size: Any) -> tuple[int, ...]:
    """A shape given as one sequence, or as several numbers.

    >>> sizes(2, 3), sizes((2, 3)), sizes(4)
    ((2, 3), (2, 3), (4,))
    """
    if len(size) == 1 and not isinstance(size[0], int | Sym):
        given = size[0]
        if not isinstance(given, Tensor) and (isinstance(given, str) or not isinstance(given, Iterable)):
            raise CallError(f"{given!r} is no shape", hint="give whole numbers, such as (2, 3)")
        size = tuple(
            given.tolist()
            if isinstance(given, Tensor) and given.ndim
            else (given,)
            if isinstance(given, Tensor)
            else given
        )
    return tuple([s if type(s) is int or isinstance(s, Sym) else _whole("an extent", s) for s in size])  # type: ignore[misc]  # a size is typed as an int


def per_axis(name: str, value: Any, rank: int, least: int = 1) -> tuple[int, ...]:
    """A number for each axis of space: one for all, or one each; none is below `least`.

    >>> per_axis("stride", 2, 3), per_axis("stride", (1, 2), 2)
    ((2, 2, 2), (1, 2))
    """
    values = sizes(value) * (rank if isinstance(value, int) else 1)
    if min(values, default=least) < least:
        raise ArgumentError(f"{name} is at least {least}", given={name: value}, hint=f"give numbers from {least} on")
    if len(values) == rank + 2 and values[:2] == (1, 1):
        values = values[2:]
    if len(values) != rank:
        raise ArgumentError(
            f"{name} has a number for each of {rank} axes, or one for all",
            given={name: value},
            hint=f"give one whole number, or {rank} of them",
        )
    return values


def reduced(name: str, losses: Tensor, reduction: str) -> Tensor:
    """Losses as they are, or their mean or sum.

    >>> reduced("loss", Tensor([1.0, 3.0]), "mean").item()
    2.0
    """
    if reduction == "none":
        return losses
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    raise ArgumentError(f"{name} has no reduction {reduction!r}", hint='choose "mean", "sum" or "none"')
