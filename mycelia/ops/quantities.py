"""What an expression of a custom operator is, in all turns of its loops at once; see `ops.hybrid`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, created
from mycelia.frozen import frozen
from mycelia.ops import arithmetic
from mycelia.ops.arguments import tensor
from mycelia.types import Array, float32, int64


@frozen(eq=False)
class LoopAxis:
    """A loop: what its variable goes through, and how deep it lies; and the turn, if it runs turn by turn."""

    numbers: Array
    depth: int
    turn: Tensor | None = None


@frozen(eq=False)
class Quantity:
    """What an expression is, in all turns of the loops around it: `data` has one axis for each of `axes`. It is a
    tensor, or a NumPy array or a number if it is known beforehand.
    """

    data: Any
    axes: tuple[LoopAxis, ...] = ()

    @property
    def known(self) -> bool:
        """Whether it does not depend on data."""
        return not isinstance(self.data, Tensor)

    def limits(self) -> tuple[int, int] | None:
        """The least and the greatest whole number that it can be, if that is known."""
        found = np.asarray(self.data) if self.known else np.zeros(0)
        return (int(found.min()), int(found.max())) if found.size and found.dtype.kind in "iu" else None

    def now(self) -> Quantity:
        """The same in the present turn of loops that run turn by turn."""
        turned = [(a, a.turn) for a in self.axes if a.turn is not None]
        if not turned:
            return self
        places = np.asarray(self.data)
        if len(self.axes) == 1 and (span := evenly(places)) is not None:
            start, _, step = span
            return Quantity(turned[0][1] * step + start)
        data, left = Tensor(places.astype(np.float32) if places.dtype == np.float64 else places), list(self.axes)
        for a, turn in turned:
            data = p.gather(data, turn, left.index(a))
            left.remove(a)
        return Quantity(data, tuple(left))


def joined_axes(quantities: Sequence[Quantity]) -> tuple[LoopAxis, ...]:
    """The axes that some of them have, from the outermost loop to the innermost."""
    return tuple(sorted({a: None for q in quantities for a in q.axes}, key=lambda a: a.depth))


def aligned(q: Quantity, axes: Sequence[LoopAxis]) -> Any:
    """Its data, with an axis of one element for each of `axes` that it lacks."""
    if q.axes == tuple(axes) or (q.known and np.ndim(q.data) == 0):
        return q.data
    shape = [len(a.numbers) if a in q.axes else 1 for a in axes]
    return np.reshape(q.data, shape) if q.known else p.reshape(q.data, shape)


def applied(function: Callable[..., Any], *quantities: Quantity, known: Callable[..., Any] | None = None) -> Quantity:
    """A function of elements, of quantities in the same loops."""
    axes = joined_axes(quantities)
    data = [aligned(q, axes) for q in quantities]
    if all(q.known for q in quantities):
        out = (known or function)(*data)
        return Quantity(out.item() if isinstance(out, np.generic) else out, axes)
    quantities = tuple(q.now() for q in quantities)
    axes = joined_axes(quantities)
    data = [aligned(q, axes) for q in quantities]
    like = next(x for x in data if isinstance(x, Tensor))
    return Quantity(function(*[_met(x, like) for x in data]), axes)


def _met(x: Any, like: Tensor) -> Any:
    """What is known beforehand, where it meets a tensor: whole numbers and fractions take its element type."""
    if not isinstance(x, np.ndarray):
        return x
    if x.dtype.kind == "f" or like.dtype.is_float:
        return cast(Tensor(x), like.dtype if like.dtype.is_float else float32)
    return Tensor(x)


def as_tensor(q: Quantity, axes: Sequence[LoopAxis]) -> Tensor:
    """Its data as a tensor with all of these axes."""
    data = aligned(q.now(), axes)
    if isinstance(data, np.ndarray) and data.dtype == np.float64:
        data = data.astype(np.float32)
    data = tensor(data)
    return p.broadcast(data, [len(a.numbers) for a in axes]) if axes else data


def both(x: Any, y: Any) -> Any:
    """Where both hold."""
    return np.logical_and(x, y) if _plain(x, y) else arithmetic.logical_and(x, y)


def one_of(x: Any, y: Any) -> Any:
    """Where one of them holds."""
    return np.logical_or(x, y) if _plain(x, y) else arithmetic.logical_or(x, y)


def _plain(*xs: Any) -> bool:
    return not any(isinstance(x, Tensor) for x in xs)


def span_of(q: Quantity) -> tuple[Any, int, int] | None:
    """Places as a start, a count and a step: one place, or places that go along one axis evenly."""
    if not q.axes:
        return q.data, 1, 1
    if not q.known or len(q.axes) != 1:
        return None
    return evenly(np.asarray(q.data))


def evenly(places: Array) -> tuple[int, int, int] | None:
    """Whole numbers as a start, a count and a step, if they go evenly."""
    if places.dtype.kind not in "iu":
        return None
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    if step == 0 or (len(places) > 1 and (np.diff(places) != step).any()):
        return None
    return (int(places[0]) if len(places) else 0), len(places), step


def starts_of(places: Sequence[Any]) -> list[Tensor]:
    """Where a window begins, as tensors."""
    return [x if isinstance(x, Tensor) else created(p.Full(int(x), int64, ())) for x in places]


def strided(x: Tensor, axis: int, start: int, size: int, step: int) -> Tensor:
    """Elements along an axis: from a start on, so many, in steps that may go back."""
    if step > 0:
        return p.take(x, axis, start, start + (size - 1) * step + 1 if size else start, step)
    low = start + (size - 1) * step
    return p.flip(p.take(x, axis, low, start + 1, -step), (axis,))
