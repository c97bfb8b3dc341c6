"""What functions accept, as what primitives need: tensors of one element type, axes counted from the front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mycelia.eager import Tensor, cast, floating, wrap
from mycelia.eager.convert import scalar
from mycelia.eager.operators import together
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.sizes import Sym
from mycelia.types import DType

Axis = int | Sequence[int] | None
F = TypeVar("F", bound=Callable[..., Any])


def method(*names: str) -> Callable[[F], F]:
    """A decorator: the function is also a method of tensors, under its own name or under these."""

    def attach(function: F) -> F:
        for name in names or (function.__name__,):
            setattr(Tensor, name, function)
        return function

    return attach


def tensor(x: Any) -> Tensor:
    """`x` as a tensor.

    >>> tensor(2.0)
    Tensor(shape=[], dtype=Float32, value= 2)
    """
    return x if isinstance(x, Tensor) else Tensor(x)


def floated(x: Any) -> Tensor:
    """`x` as a tensor of floating numbers.

    >>> floated(2).dtype
    float32
    """
    x = tensor(x)
    return cast(x, floating(x.dtype))


def number(n: float | int | bool, like: Tensor) -> Tensor:
    """A Python number as a tensor without axes, of the element type of another.

    >>> number(2, Tensor([1.0]))
    Tensor(shape=[], dtype=Float32, value= 2)
    """
    return wrap(scalar(n, like.dtype.numpy))


def pair(x: Any, y: Any, widen: Callable[[DType], DType] | None = None) -> tuple[Tensor, Tensor]:
    """Two operands as tensors of one element type.

    >>> [t.dtype for t in pair(Tensor([1]), 2.5)]
    [float32, float32]
    """
    found = together(x, y, widen)
    if found is None:
        wrong = next(v for v in (x, y) if together(v, v) is None)
        raise DTypeError(f"{type(wrong).__name__} is not an operand", given={"value": wrong}, hint="pass tensors")
    return found


def axes_of(x: Tensor, axis: Axis) -> tuple[int, ...]:
    """Axes counted from the front, in order; None and () mean all.

    >>> axes_of(Tensor([[1, 2]]), -1), axes_of(Tensor([[1, 2]]), None)
    ((1,), (0, 1))
    """
    if axis is None or axis == ():
        return tuple(range(x.ndim))
    chosen = [axis_of(x, a) for a in ((axis,) if isinstance(axis, int) else axis)]
    if len(set(chosen)) != len(chosen):
        raise ShapeError(f"an axis is named twice in {axis}", given={"shape": x.shape})
    return tuple(sorted(chosen))


def axis_of(x: Tensor, axis: int, more: int = 0) -> int:
    """One axis counted from the front, of a tensor that is to have `more` axes.

    >>> axis_of(Tensor([[1, 2]]), -1), axis_of(Tensor([[1, 2]]), -1, more=1)
    (1, 2)
    """
    rank = x.ndim + more
    if not -rank <= axis < rank:
        raise ShapeError(
            f"a tensor of shape {x.shape} has no axis {axis}",
            hint=f"axes go from {-rank} to {rank - 1}" if rank else "a tensor without axes has none",
        )
    return int(axis) % rank


def sizes(*size: Any) -> tuple[int, ...]:
    """A shape given as one sequence, or as several numbers.

    >>> sizes(2, 3), sizes((2, 3)), sizes(4)
    ((2, 3), (2, 3), (4,))
    """
    if len(size) == 1 and not isinstance(size[0], int | Sym):
        given = size[0]
        size = tuple(given.tolist() if isinstance(given, Tensor) else given)
    return tuple([s if isinstance(s, Sym) else int(s) for s in size])  # type: ignore[misc]  # a size is typed as an int


def spread(name: str, value: Any, rank: int) -> tuple[int, ...]:
    """A number for each axis of space: one for all, or one each.

    >>> spread("stride", 2, 3), spread("stride", (1, 2), 2)
    ((2, 2, 2), (1, 2))
    """
    if isinstance(value, int):
        return (value,) * rank
    values = tuple(int(v) for v in value)
    if len(values) == rank + 2 and values[:2] == (1, 1):
        values = values[2:]
    if len(values) != rank:
        raise ArgumentError(f"{name} has a number for each of {rank} axes, or one for all", given={name: value})
    return values


def reduced(name: str, losses: Tensor, reduction: str) -> Tensor:
    """Losses as they are, or their mean or sum.

    >>> reduced("loss", Tensor([1.0, 3.0]), "mean").item()
    2.0
    """
    if reduction == "none":
        return losses
    if reduction == "mean":
        return losses.mean()  # type: ignore[no-any-return]
    if reduction == "sum":
        return losses.sum()  # type: ignore[no-any-return]
    raise ArgumentError(f"{name} has no reduction {reduction!r}", hint='choose "mean", "sum" or "none"')
