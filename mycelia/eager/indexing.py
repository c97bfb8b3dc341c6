"""Reading and writing parts of a tensor, with NumPy's meaning of every index.

An array that nobody differentiates is indexed by NumPy itself. Otherwise the index becomes primitives: slices and
reversals first, then one gather for all index arrays together.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager.convert import as_array
from mycelia.eager.dispatch import mode
from mycelia.eager.operators import operand
from mycelia.eager.tape import open_tapes, tape_of
from mycelia.eager.tensor import Tensor, cast, wrap
from mycelia.eager.views import linked, put_back
from mycelia.eager.writing import writing, written
from mycelia.errors import ArgumentError, DTypeError, MyceliaError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Value, innermost
from mycelia.primitives.family import broadcast_shapes
from mycelia.sizes import Dim, NeedsSize, Sym, is_static, known_equal, positive
from mycelia.types import Array, Shape, bool_, int32, int64

FULL = slice(None)


class BoundsError(MyceliaError, IndexError):
    """An index points outside of a tensor."""


def getitem(x: Tensor, index: Any) -> Tensor:
    """`x[index]`: a view, unless a tensor or a list chooses elements."""
    data = x._data
    if data.__class__ is np.ndarray and not open_tapes and _is_plain(index):
        if writing:
            written(data)
        try:
            out = wrap(np.asarray(data[index]))
        except IndexError as error:
            raise _out_of_bounds(x, error) from None
        parts = index if index.__class__ is tuple else (index,)
        return linked(x, out, partial(_taken, parts), partial(_written, parts), data)
    if any(isinstance(i, Tensor) for i in (index if isinstance(index, tuple) else (index,))):
        return _taken(_parts(index), x)
    return getpart(x, index)


def _is_plain(index: Any) -> bool:
    """Whether an index is made of Python's own whole numbers and slices of these."""
    for i in index if index.__class__ is tuple else (index,):
        if i.__class__ is slice:
            for b in (i.start, i.stop, i.step):
                if b is not None and b.__class__ is not int:
                    return False
            if i.step == 0:
                return False
        elif i.__class__ is not int and i is not None and i is not Ellipsis:
            return False
    return True


def getpart(x: Tensor, index: Any) -> Tensor:
    """`x[index]`, where tensors without axes in the index stand for numbers that only a program knows."""
    parts, data = _parts(index), x._data
    out = _taken(parts, x)
    return linked(x, out, partial(_taken, parts), partial(_written, parts), data) if _is_view(parts) else out


def _is_view(parts: tuple[Any, ...]) -> bool:
    """Whether an index takes a part of memory: it does not choose elements."""
    return not any(isinstance(i, Tensor) and (i.ndim or not i.dtype.is_integer) for i in parts)


def _taken(parts: tuple[Any, ...], x: Tensor) -> Tensor:
    if _concrete(parts) and x._data.__class__ is not Value and tape_of((x,)) is None:
        return wrap(np.asarray(_numpy(x, parts)))
    out = _read(x, parts)
    return x.alias() if out is x else out


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`: from now on x, and all that share memory with it, hold other data; what was computed from the
    old data keeps it.
    """
    parts = _parts(index)
    given = operand(value)
    if given is None:
        raise DTypeError(
            f"{type(value).__name__} cannot be written into a tensor",
            given={"value": value},
            hint="write a number, a tensor, or a list of numbers",
        )
    new = cast(given, x.dtype) if isinstance(given, Tensor) else wrap(as_array(given, x.dtype))
    now = all(t._data.__class__ is not Value for t in (x, new)) and tape_of((x, new)) is None and _concrete(parts)
    if now and mode.lift is None:
        _write_now(x, parts, new)
    else:
        x.become(_written(parts, x, new))


# ------------------------------------------------------------------------------------------------- what an index says


def _parts(index: Any) -> tuple[Any, ...]:
    """An index as a tuple of ints, slices, None, Ellipsis, and index tensors."""
    return tuple([_part(i) for i in (index if isinstance(index, tuple) else (index,))])


def _part(i: Any) -> Any:
    if i is None or i is Ellipsis or (isinstance(i, int | np.integer | Sym) and not isinstance(i, bool)):
        return i
    if isinstance(i, str | bytes | dict | set):
        raise DTypeError(
            f"an index is made of whole numbers or bools, not {i!r}", hint="use positions, slices, tensors or None"
        )
    if isinstance(i, slice):
        if isinstance(i.step, int) and i.step == 0:
            raise ArgumentError("a slice cannot go on in steps of 0", hint="a step is positive, or negative to go back")
        return slice(*[None if b is None else _bound(b) for b in (i.start, i.stop, i.step)])
    array = i if isinstance(i, Tensor) else wrap(_as_index(i))
    if not array.dtype.is_integer and array.dtype is not bool_:
        raise DTypeError(f"an index is made of whole numbers or bools, not {array.dtype!r}", hint="cast it to int32")
    if array.ndim == 0 and array.dtype.is_integer and array._data.__class__ is not Value:
        return int(array)
    return array


def _as_index(i: Any) -> Array:
    return np.zeros(0, np.int64) if isinstance(i, list | tuple | range) and not len(i) else as_array(i)


def _bound(b: Any) -> Dim:
    if isinstance(b, Sym):
        return b  # type: ignore[return-value]  # a size is typed as an int
    if isinstance(b, float):
        raise DTypeError(f"a slice is bounded by whole numbers, not {b!r}", hint="int(...) cuts off the fraction")
    return b.__index__()  # type: ignore[no-any-return]


def _concrete(parts: tuple[Any, ...]) -> bool:
    return all(not isinstance(i, Tensor) or i._data.__class__ is not Value for i in parts)


def _numpy(x: Tensor, parts: tuple[Any, ...]) -> Any:
    """The part of the array inside that NumPy takes at this index."""
    try:
        return x.numbers()[tuple([i.numbers() if isinstance(i, Tensor) else i for i in parts])]
    except IndexError as error:
        raise _out_of_bounds(x, error) from None


def _out_of_bounds(x: Tensor, error: Exception) -> BoundsError:
    axes = [f"0 to {e - 1} on axis {a}" for a, e in enumerate(x.shape)]
    return BoundsError(
        f"an index does not fit a tensor of shape {x.shape}: {str(error).strip()}",
        hint=f"there are positions {', '.join(axes)}" if x.shape else "a tensor without axes has no positions",
    )


@frozen
class _Axes:
    """An index spread over the axes of a tensor: slices (of the axes they keep), new axes, and index tensors."""

    slices: tuple[slice, ...]  # one for each axis of x; FULL where an int or an index tensor stands
    arrays: tuple[tuple[int, Tensor], ...]  # axis of x -> index tensor
    layout: tuple[str, ...]  # in order: "slice", "new", "array", or "dots", which may stand for no axis


def _spread(x: Tensor, parts: tuple[Any, ...]) -> _Axes:
    """Ints become index tensors without axes where there are others, as in NumPy; masks become positions."""
    parts = tuple([q for i in parts for q in _positions(i)])
    used = sum(1 for i in parts if i is not None and i is not Ellipsis)
    if used > x.ndim:
        raise BoundsError(f"{used} indices for a tensor of shape {x.shape}")
    if Ellipsis not in [i for i in parts if not isinstance(i, Tensor)]:
        parts = (*parts, Ellipsis)
    slices: list[slice] = []
    arrays, layout = [], []
    for i in parts:
        axis = len(slices)
        if i is None:
            layout.append("new")
        elif i is Ellipsis:
            slices += [FULL] * (x.ndim - used)
            layout += ["dots", *["slice"] * (x.ndim - used)]
        elif isinstance(i, slice):
            slices.append(i)
            layout.append("slice")
        else:
            slices.append(FULL)
            arrays.append((axis, within(i, x, axis)))
            layout.append("array")
    return _Axes(tuple(slices), tuple(arrays), tuple(layout))


def _positions(i: Any) -> list[Any]:
    """A mask as the positions where it holds, one index tensor for each of its axes."""
    if not isinstance(i, Tensor) or i.dtype is not bool_:
        return [i]
    if not i.ndim:
        raise DTypeError("a single bool is not an index here", hint="use ops.where, or an index with an axis")
    return where_true(i)


def where_true(mask: Tensor) -> list[Tensor]:
    """The positions where a mask holds, one tensor for each of its axes. How many there are, only data knows."""
    if mask._data.__class__ is not Value:
        return [wrap(axis) for axis in np.nonzero(mask.numbers())]
    flat, found = _counted(mask, mask._data), []
    for extent in reversed(mask.shape[1:]):
        size = p.full(extent, int64, ())
        found.append(p.remainder(flat, size))
        flat = p.floor_divide(flat, size)
    return [flat, *reversed(found)]


def _counted(mask: Tensor, data: Value) -> Tensor:
    """The positions where a mask holds, through all its axes. A mask that chose elements before, in the same function,
    chooses as many again: `z[m] = z[m] * 2 + c[m]` has one size.
    """
    flat, around = p.reshape(data, (-1,)), innermost()
    for effect in around.effects if around is not None and around.number else ():
        if isinstance(effect.op, p.Positions) and effect.inputs[0] is flat:
            return wrap(effect)
    return p.positions(mask)  # type: ignore[no-any-return]


def _masked(x: Tensor, parts: tuple[Any, ...]) -> tuple[Tensor, Tensor] | None:
    """What one mask chooses from, along a first axis, and the positions there, if an index is such a mask: they need no
    axis each, and none is beyond the end.
    """
    mask = parts[0]
    if len(parts) != 1 or not isinstance(mask, Tensor) or mask.dtype is not bool_ or mask._data.__class__ is not Value:
        return None
    rank = mask.ndim
    if not rank or rank > x.ndim or not all(map(known_equal, mask.shape, x.shape)):
        return None
    return p.reshape(x, (prod(mask.shape), *x.shape[rank:])), _counted(mask, mask._data)


def within(i: Any, x: Tensor, axis: int) -> Tensor:
    """Positions counted from the front, and known to exist where they are known."""
    extent = x.shape[axis]
    if not isinstance(i, Tensor):
        i = wrap(np.asarray(i, np.int64))
    if i._data.__class__ is Value:
        if mode.held is not None:
            mode.held.positions(i._data, extent)
        elif mode.asked is not None:
            mode.asked.append(p.logical_and(p.greater_equal(i._data, -extent), p.less(i._data, extent)))
        i = cast(i, int32 if isinstance(extent, int) and extent < 2**31 else int64)
        return p.select(p.less(i, 0), i + extent, i)  # type: ignore[no-any-return]
    numbers = i.numbers().astype(np.int64)
    least, most = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    if numbers.size and not (-extent <= least and most < extent):
        raise _out_of_bounds(x, IndexError(f"positions {least} to {most} on axis {axis}"))
    if least >= 0:
        return wrap(numbers)
    if not isinstance(extent, int):
        return wrap(p.select(p.constant(numbers < 0), p.constant(numbers) + p.full(extent, int64, ()), numbers))
    return wrap(np.where(numbers < 0, numbers + extent, numbers))


# ------------------------------------------------------------------------------------------------------------- reading


def _read(x: Tensor, parts: tuple[Any, ...]) -> Tensor:
    if _basic(parts):
        return _sliced(x, parts)
    for n, i in enumerate(parts):
        if isinstance(i, Tensor) and i.dtype is bool_ and not i.ndim and i._data.__class__ is not Value:
            return _read(*_with_axis(x, parts, n))
    if (masked := _masked(x, parts)) is not None:
        return p.gather(*masked, 0)
    axes = _spread(x, parts)
    y = _sliced(x, axes.slices)
    gathered, front = _gathered(y, axes)
    return _with_new_axes(gathered, axes, front)


def _with_axis(x: Tensor, parts: tuple[Any, ...], n: int) -> tuple[Tensor, tuple[Any, ...]]:
    """A bool in an index is an index of an axis of its own: its one position if it is true, else none."""
    takes = [0 if i is None or i is Ellipsis else i.ndim if isinstance(i, Tensor) and i.dtype is bool_ else 1
             for i in parts]  # fmt: skip
    rest = x.ndim - sum(takes)
    axis = sum(takes[:n]) + (max(rest, 0) if any(i is Ellipsis for i in parts[:n]) else 0)
    chosen = wrap(np.zeros(int(bool(parts[n])), np.int64))
    return p.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])), (*parts[:n], chosen, *parts[n + 1 :])


def _basic(parts: tuple[Any, ...]) -> bool:
    return not any(isinstance(i, Tensor) for i in parts)


def _sliced(x: Tensor, parts: tuple[Any, ...]) -> Tensor:
    """Ints, slices and new axes only: a slice, a reversal, and a change of shape."""
    shape = _shape_of(x, parts)
    starts, stops, steps, backwards = _box(x, parts)
    out = p.slice_(x, starts, stops, steps)
    out = p.reshape(p.flip(out, tuple(backwards)), shape)
    return x.alias() if out is x else out


def _shape_of(x: Tensor, parts: tuple[Any, ...]) -> Shape:
    """The shape that NumPy gives; and its complaint, if it has one."""
    if not is_static(x.shape) or any(isinstance(i, Sym) or _is_sized(i) for i in parts):
        return _symbolic_shape(x, parts)
    try:
        return np.broadcast_to(np.empty((), bool), x.shape)[parts].shape  # type: ignore[no-any-return]
    except IndexError as error:
        raise _out_of_bounds(x, error) from None


def _is_sized(i: Any) -> bool:
    return isinstance(i, slice) and any(isinstance(b, Sym) for b in (i.start, i.stop, i.step))


def _every_axis(x: Tensor, parts: tuple[Any, ...]) -> list[Any]:
    """An int or a slice for each axis of x."""
    kept = [i for i in parts if i is not None]
    at = next((k for k, i in enumerate(kept) if i is Ellipsis), len(kept))
    rest = kept[at + 1 :]
    if at + len(rest) > x.ndim:
        raise BoundsError(f"{at + len(rest)} indices for a tensor of shape {x.shape}")
    return [*kept[:at], *[FULL] * (x.ndim - at - len(rest)), *rest]


def _symbolic_shape(x: Tensor, parts: tuple[Any, ...]) -> Shape:
    """The shape that NumPy would give, where not all extents are numbers."""
    shape: list[Dim] = []
    axes = iter(zip(_every_axis(x, parts), x.shape, strict=True))
    missing = x.ndim - sum(1 for i in parts if i is not None and i is not Ellipsis)
    spread = [q for i in parts for q in ([FULL] * missing if i is Ellipsis else [i])]
    spread += [FULL] * (missing if Ellipsis not in [i for i in parts if not isinstance(i, Tensor)] else 0)
    for part in spread:
        if part is None:
            shape.append(1)
            continue
        i, extent = next(axes)
        if isinstance(i, slice):
            shape.append(span(i, extent)[3])
        elif not -extent <= i < extent:
            raise BoundsError(f"index {i} does not fit an axis of {extent} elements")
    return tuple(shape)


def span(i: slice, extent: Dim) -> tuple[Dim, Dim, int, Dim]:
    """Where a slice starts and stops on an axis, its step, and how many elements it takes.

    >>> span(slice(-3, None), 10), span(slice(None, None, -2), 5)
    ((7, 10, 1, 3), (4, -1, -2, 3))
    """
    if isinstance(extent, int) and not _is_sized(i):
        low, high, step = i.indices(extent)
        return low, high, step, len(range(low, high, step))
    step = 1 if i.step is None else i.step
    if not isinstance(step, int):
        raise NeedsSize(step)
    if step == 0:
        raise ArgumentError("a slice cannot go on in steps of 0", hint="a step is positive, or negative to go back")
    least, most = (0, extent) if step > 0 else (-1, extent - 1)

    def bound(b: Dim | None, otherwise: Dim) -> Dim:
        if b is None:
            return otherwise
        b = b + extent if b < 0 else b
        return least if b < least else most if b > most else b

    low = bound(i.start, least if step > 0 else most)
    high = bound(i.stop, most if step > 0 else least)
    length = high - low if step > 0 else low - high
    size = abs(step)
    return low, high, step, (positive(length) + size - 1) // size


def _box(x: Tensor, parts: tuple[Any, ...]) -> tuple[list[Dim], list[Dim], list[int], list[int]]:
    """Bounds and steps along every axis of x, and the axes that are read backwards."""
    starts, stops, steps, backwards = [], [], [], []
    for axis, (i, extent) in enumerate(zip(_every_axis(x, parts), x.shape, strict=True)):
        if not isinstance(i, slice):
            first = (i if isinstance(i, Sym) else int(i)) + (extent if i < 0 else 0)
            low, high, step = first, first + 1, 1
        else:
            low, high, step, count = span(i, extent)
            if step < 0:
                backwards.append(axis)
                low, step = low + (count - 1) * step, -step
            high = low + count if step == 1 else low + (count - 1) * step + 1 if count else low
        starts.append(low)
        stops.append(high)
        steps.append(step)
    return starts, stops, steps, backwards


def _gathered(x: Tensor, axes: _Axes) -> tuple[Tensor, int]:
    """All index tensors at once. The axes they make stand where NumPy puts them: at the place that comes back."""
    (first, index), *others = axes.arrays
    if not others:
        return p.gather(x, index, first), first
    indexed = [axis for axis, _ in axes.arrays]
    flat = linear([i for _, i in axes.arrays], [x.shape[a] for a in indexed])
    shape = flat.shape
    rest = [a for a in range(x.ndim) if a not in indexed]
    rows = p.reshape(
        p.transpose(x, (*indexed, *rest)), (prod(x.shape[a] for a in indexed), *[x.shape[a] for a in rest])
    )
    out = p.gather(rows, flat, 0)
    if not _together(axes.layout):
        return out, 0
    before = sum(1 for a in rest if a < first)
    order = [*range(len(shape), len(shape) + before), *range(len(shape)), *range(len(shape) + before, len(out.shape))]
    return p.transpose(out, order), before


def _clamped(i: Tensor, extent: Dim) -> Tensor:
    """Positions that stay on their axis: beyond its end they would be elements of the next row."""
    return p.minimum(p.maximum(i, 0), extent - 1)  # type: ignore[no-any-return]


def linear(indices: Sequence[Tensor], extents: Sequence[Dim]) -> Tensor:
    """Positions on several axes as positions on one that has all their elements."""
    shape = broadcast_shapes(*[i.shape for i in indices])
    if all(i._data.__class__ is not Value for i in indices) and is_static(extents):
        flat = np.zeros(shape, np.int64)
        for i, extent in zip(indices, extents, strict=True):
            flat = flat * extent + i.numbers()
        return wrap(flat)
    kept = [_clamped(cast(i, int64), extent) for i, extent in zip(indices, extents, strict=True)]
    out = p.broadcast(kept[0], shape)
    for i, extent in zip(kept[1:], extents[1:], strict=True):
        out = out * extent + i
    return out


def _together(layout: tuple[str, ...]) -> bool:
    """Whether the index tensors stand side by side; if not, NumPy puts their axes first."""
    places = [k for k, what in enumerate(layout) if what == "array"]
    return places[-1] - places[0] == len(places) - 1


def _with_new_axes(x: Tensor, axes: _Axes, front: int) -> Tensor:
    """The result with the axes that None asked for."""
    if "new" not in axes.layout:
        return x
    made = len(x.shape) - (sum(1 for what in axes.layout if what == "slice"))
    dims: list[int] = []
    position = made if not _together(axes.layout) else 0
    seen = False
    for what in axes.layout:
        if what == "new":
            dims.append(position)
            position += 1
        elif what == "slice":
            position += 1
        elif what == "array" and not seen and _together(axes.layout):
            seen, position = True, position + made
    return p.expand_dims(x, dims)


# ------------------------------------------------------------------------------------------------------------- writing


def _write_now(x: Tensor, parts: tuple[Any, ...], new: Tensor) -> None:
    """Into the array itself if nobody else holds it, else into a copy."""
    data = x.numbers()
    alone = sys.getrefcount(data) <= 3 and data.flags.owndata and data.flags.writeable  # x, `data` and the question
    target = data if alone else np.array(data)
    try:
        target[tuple([i.numbers() if isinstance(i, Tensor) else i for i in parts])] = new.numbers()
    except IndexError as error:
        raise _out_of_bounds(x, error) from None
    except ValueError as error:
        raise ShapeError(
            f"data of shape {new.shape} cannot be written there: {error}",
            given={"tensor": x.shape},
            hint="aligned at the right, each extent of the data must be 1 or that of the place",
        ) from None
    x._data, x._tape = target, None
    if getattr(x, "_kin", None) is not None:
        x.spread()


def _written(parts: tuple[Any, ...], x: Tensor, new: Tensor) -> Tensor:
    """X with `new` at an index, as a new tensor."""
    if len(parts) == 1 and isinstance(parts[0], Tensor) and parts[0].dtype is bool_ and known_equal(new.size, 1):
        mask = p.reshape(parts[0], (*parts[0].shape, *(1,) * (x.ndim - parts[0].ndim)))
        return p.select(mask, p.broadcast(p.reshape(new, ()), x.shape), x)  # type: ignore[no-any-return]
    if not _concrete(parts):
        return _written_at(x, parts, new)
    if _basic(parts):
        shape = _shape_of(x, parts)
        starts, stops, steps, backwards = _box(x, parts)
        if all(s == 1 for s in steps) and not backwards:
            update = p.reshape(_fitted(new, shape), [b - a for a, b in zip(starts, stops, strict=True)])
            return p.dynamic_update(x, update, [p.full(s, int64, ()) for s in starts])
        if not is_static(x.shape):
            return put_back(partial(_taken, parts), x, _fitted(new, shape))
    table = wrap(np.arange(x.size).reshape(x.shape))
    positions = np.asarray(_numpy(table, parts))
    values = p.reshape(_fitted(new, positions.shape), (-1,))
    source = np.full(x.size, -1)
    source[positions.reshape(-1)] = np.arange(positions.size)
    if not positions.size:
        return x.alias()
    chosen = p.gather(values, wrap(np.maximum(source, 0)), 0)
    return p.reshape(p.select(wrap(source >= 0), chosen, p.reshape(x, (-1,))), x.shape)  # type: ignore[no-any-return]


def _written_at(x: Tensor, parts: tuple[Any, ...], new: Tensor) -> Tensor:
    """Writing where only the running program knows: where slices are written too, into what they take."""
    if (masked := _masked(x, parts)) is not None:
        table, places = masked
        shape = (*places.shape, *table.shape[1:])
        return p.reshape(p.scatter_update(table, places, p.broadcast(_fitted(new, shape), shape), 0), x.shape)
    axes = _spread(x, parts)
    if any(s != FULL for s in axes.slices):
        whole = tuple([FULL if isinstance(i, slice) else i for i in parts])
        return _written(axes.slices, x, _written_at(_sliced(x, axes.slices), whole, new))
    indexed = [axis for axis, _ in axes.arrays]
    flat = linear([i for _, i in axes.arrays], [x.shape[a] for a in indexed])
    shape = flat.shape
    order = [*indexed, *[a for a in range(x.ndim) if a not in indexed]]
    rows = p.transpose(x, order)
    rest = rows.shape[len(indexed) :]
    table = p.reshape(rows, (prod(rows.shape[: len(indexed)]), *rest))
    target, front = _gathered(x, axes)
    update = p.broadcast(_fitted(new, target.shape), target.shape)
    if front:
        made = [*range(front, front + len(shape)), *range(front), *range(front + len(shape), len(target.shape))]
        update = p.transpose(update, made)
    written = p.scatter_update(table, flat, update, 0)
    return p.transpose(p.reshape(written, rows.shape), np.argsort(order).tolist())


def _fitted(new: Tensor, shape: Shape) -> Any:
    """The data to be written, at the shape of the place."""
    own = new.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    try:
        broadcast_shapes(own, shape)
    except ValueError:
        raise ShapeError(
            f"data of shape {new.shape} cannot be written to a place of shape {shape}",
            hint="aligned at the right, each extent of the data must be 1 or that of the place",
        ) from None
    return p.broadcast(p.reshape(new, own), shape)


setattr(Tensor, "__getitem__", getitem)  # noqa: B010  # a type checker reads signatures.py
setattr(Tensor, "__setitem__", setitem)  # noqa: B010
