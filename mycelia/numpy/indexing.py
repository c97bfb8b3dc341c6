"""Elements by conditions and positions."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast, common
from mycelia.eager.indexing import BoundsError
from mycelia.errors import ArgumentError, CallError, DTypeError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import result_type
from mycelia.numpy.reductions import sum as total
from mycelia.numpy.shapes import broadcast_arrays, broadcast_shapes, ravel
from mycelia.ops.arguments import axis_of, sizes
from mycelia.ops.math import truth
from mycelia.types import int64

__all__ = [
    "argwhere",
    "choose",
    "compress",
    "diagonal",
    "extract",
    "flatnonzero",
    "nonzero",
    "piecewise",
    "ravel_multi_index",
    "select",
    "take",
    "take_along_axis",
    "trace",
    "unravel_index",
    "where",
]

MODES = ("clip", "wrap", "raise")


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where the condition holds, else `y`; without them, the positions where it holds, one array for each axis.

    >>> where([True, False], [1, 2], [3, 4]).tolist(), where([False, True])[0].tolist()
    ([1, 4], [1])
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise CallError("where takes both `x` and `y`, or neither of them")
    wanted = result_type(x, y)
    return ops.where(asarray(condition), _as(x, wanted), _as(y, wanted))


def _as(x: Any, dtype: Any) -> Tensor:
    return cast(x, dtype) if isinstance(x, Tensor) else asarray(x, dtype)


def nonzero(a: Any) -> tuple[Tensor, ...]:
    """The positions of the elements that are not zero, one array for each axis.

    >>> [t.tolist() for t in nonzero([[0, 3], [4, 0]])]
    [[0, 1], [1, 0]]
    """
    x = truth(asarray(a))
    if x.ndim == 0:
        raise ShapeError("a number has no positions", hint="give an array of one axis at least")
    return tuple(cast(t, int64) for t in ops.nonzero(x, as_tuple=True))


def argwhere(a: Any) -> Tensor:
    """The positions of the elements that are not zero, one row each.

    >>> argwhere([[0, 3], [4, 0]]).tolist()
    [[0, 1], [1, 0]]
    """
    return cast(ops.argwhere(truth(asarray(a))), int64)


def flatnonzero(a: Any) -> Tensor:
    """The positions of the elements in the flattened array that are not zero.

    >>> flatnonzero([[0, 3], [4, 0]]).tolist()
    [1, 2]
    """
    return nonzero(ravel(a))[0]


def extract(condition: Any, arr: Any) -> Tensor:
    """The elements where a condition holds, in a row.

    >>> extract([True, False, True], [1, 2, 3]).tolist()
    [1, 3]
    """
    return ops.gather(ravel(arr), flatnonzero(condition), 0)


def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """The slices along an axis, or elements of the flattened array, where a vector of conditions holds.

    >>> compress([False, True], [[1, 2], [3, 4]], 0).tolist()
    [[3, 4]]
    """
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    return ops.gather(x, flatnonzero(condition), axis_of(x, axis))


def positions_within(indices: Tensor, extent: Any, mode: str) -> Tensor:
    """Positions that exist: those outside are moved to the edge ("clip"), go round ("wrap"), or are an error ("raise").

    >>> positions_within(Tensor([5, -1]), 3, "clip").tolist(), positions_within(Tensor([5, -1]), 3, "wrap").tolist()
    ([2, 2], [2, 2])
    """
    if mode not in MODES:
        raise ArgumentError(f"there is no mode {mode!r}", hint='"clip", "wrap" or "raise"')
    if not indices.dtype.is_integer:
        raise DTypeError(f"positions are whole numbers, not {indices.dtype!r}")
    places = cast(indices, int64)
    if mode == "wrap":
        return places % extent
    if mode == "raise":
        numbers = places.numbers()
        if ((numbers < -extent) | (numbers >= extent)).any():
            raise BoundsError(f"there are {extent} elements", given={"positions": places})
    else:
        places = ops.minimum(ops.maximum(places, -extent), extent - 1)
    return ops.where(places < 0, places + extent, places)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Slices along an axis, or elements of the flattened array, at positions; those outside are moved to the edge.

    >>> take([4, 5, 6], [0, 2, 9]).tolist(), take([[1, 2], [3, 4]], [1], axis=1).tolist()
    ([4, 6, 6], [[2], [4]])
    """
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    place = axis_of(x, axis)
    where_ = asarray(indices)
    if where_.size == 0:
        where_ = cast(where_, int64)
    return ops.gather(x, positions_within(where_, x.shape[place], mode), place)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Tensor:
    """For each place of `indices`, the element at that place, but along one axis at that position.

    >>> take_along_axis([[1, 2], [3, 4]], [[1], [0]], 1).tolist()
    [[2], [3]]
    """
    x, places = asarray(arr), asarray(indices)
    if axis is None:
        x, axis = ravel(x), 0
    if x.ndim != places.ndim:
        raise ShapeError("positions have as many axes as the array", given={"arr": x.shape, "indices": places.shape})
    place = axis_of(x, axis)
    rest = broadcast_shapes(*[(*t.shape[:place], 1, *t.shape[place + 1 :]) for t in (x, places)])
    x, places = (
        ops.broadcast_to(t, (*rest[:place], t.shape[place], *rest[place + 1 :])) for t in (x, cast(places, int64))
    )
    places = ops.where(places < 0, places + x.shape[place], places)
    return ops.gather_elements(x, place, places)


def choose(a: Any, choices: Any, mode: str = "clip") -> Tensor:
    """For each element the one of `choices` that it numbers, at its place.

    >>> choose([1, 0], [[1, 2], [3, 4]]).tolist()
    [3, 2]
    """
    parts = list(choices) if isinstance(choices, list | tuple) else [choices[i] for i in range(len(choices))]
    index, *parts = broadcast_arrays(a, *parts)
    wanted = reduce(common, [t.dtype for t in parts])
    table = ops.stack([cast(t, wanted) for t in parts])
    if not index.dtype.is_integer:
        raise DTypeError(f"positions are whole numbers, not {index.dtype!r}")
    if mode == "clip":
        index = ops.maximum(index, 0)
    places = positions_within(index, len(parts), mode)
    return ops.gather_elements(table, 0, ops.expand_dims(places, 0))[0]


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """For each place the first of the choices whose condition holds there, else the default.

    >>> x = Tensor([1, 2, 3])
    >>> select([x < 2, x > 2], [x, x * 10]).tolist()
    [1, 0, 30]
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ShapeError("there is one choice for each condition", given={"conditions": len(condlist)})
    choices = [asarray(choicelist[i]) for i in range(len(choicelist))]
    wanted = result_type(*choices, default)
    out: Any = _as(default, wanted)
    for i in reversed(range(len(choices))):
        out = ops.where(asarray(condlist[i]), cast(choices[i], wanted), out)
    return out


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    """Functions, or numbers, each where its condition holds; one more of them stands for everywhere else.

    Every function is given the whole array, so that shapes do not depend on numbers; of overlapping conditions the
    last one counts.

    >>> x = Tensor([-1.0, 2.0])
    >>> piecewise(x, [x < 0, x >= 0], [lambda x: -x, 10.0]).tolist()
    [1.0, 10.0]
    """
    x = asarray(x)
    conditions = _conditions(x, condlist)
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        otherwise = functions.pop()
    elif len(functions) == len(conditions):
        otherwise = 0
    else:
        raise ShapeError(f"{len(conditions)} conditions have as many functions, or one more, not {len(functions)}")
    out = _piece(otherwise, x, args, kw)
    for condition, function in zip(conditions, functions, strict=True):
        out = ops.where(condition, _piece(function, x, args, kw), out)
    return out


def _conditions(x: Tensor, condlist: Any) -> list[Tensor]:
    if isinstance(condlist, Tensor):
        if condlist.ndim == x.ndim:
            return [condlist]
        return [condlist[i] for i in range(len(condlist))]
    if not isinstance(condlist, list | tuple) or (condlist and isinstance(condlist[0], bool) and x.ndim):
        condlist = [condlist]
    return [truth(asarray(c)) for c in condlist]


def _piece(function: Callable[..., Any] | Any, x: Tensor, args: tuple[Any, ...], kw: dict[str, Any]) -> Tensor:
    value = function(x, *args, **kw) if callable(function) else function
    return ops.broadcast_to(_as(value, x.dtype), x.shape)


# --------------------------------------------------------------------------------------------------------- positions


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Tensor:
    """The positions in a flattened array of shape `dims`, of those given for each axis.

    >>> ravel_multi_index(([1, 0], [2, 1]), (2, 3)).tolist()
    [5, 1]
    """
    shape = sizes(dims)
    parts = [asarray(multi_index[i]) for i in range(len(multi_index))]
    if len(parts) != len(shape):
        raise ShapeError(f"a shape of {len(shape)} axes has as many positions", given={"multi_index": len(parts)})
    if order not in ("C", "F"):
        raise ArgumentError(f"there is no order {order!r}", hint='"C" or "F"')
    pairs = list(zip(parts, shape, strict=True))
    out: Any = 0
    for index, extent in pairs if order == "C" else reversed(pairs):
        inside = ops.maximum(index, 0) if mode == "clip" else index
        out = out * extent + positions_within(inside, extent, mode)
    return out


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """The positions along each axis, of those in the flattened array; those outside are moved to the edge.

    >>> [t.tolist() for t in unravel_index([5, 1], (2, 3))]
    [[1, 0], [2, 1]]
    """
    wanted = sizes(shape)
    if order not in ("C", "F"):
        raise ArgumentError(f"there is no order {order!r}", hint='"C" or "F"')
    rest = positions_within(asarray(indices), prod(wanted), "clip")
    found = []
    for extent in reversed(wanted) if order == "C" else wanted:
        found.append(rest % extent)
        rest = rest // extent
    return tuple(reversed(found)) if order == "C" else tuple(found)


# --------------------------------------------------------------------------------------------------------- diagonals


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The elements whose positions on two axes differ by `offset`, along a last axis.

    >>> diagonal([[1, 2], [3, 4]]).tolist()
    [1, 4]
    """
    x = asarray(a)
    if x.ndim < 2:
        raise ShapeError("a diagonal needs two axes", given={"shape": x.shape})
    first, second = axis_of(x, axis1), axis_of(x, axis2)
    rows, columns = x.shape[first], x.shape[second]
    if all(isinstance(n, int) for n in (rows, columns)) and not -rows < offset < columns:
        return ops.zeros((*[n for i, n in enumerate(x.shape) if i not in (first, second)], 0), x.dtype)
    return ops.diagonal(x, offset, first, second)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    >>> trace([[1, 2], [3, 4]]).item()
    5
    """
    return total(diagonal(a, offset, axis1, axis2), -1, dtype)
