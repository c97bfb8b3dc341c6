"""Writing into arrays that are there: at positions, where a mask holds, along the diagonal."""

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.creation import arange, asarray
from mycelia.numpy.elements import can_cast
from mycelia.numpy.indexing import take
from mycelia.numpy.indexing import where as chosen
from mycelia.numpy.shapes import broadcast_to, ravel, reshape, resize
from mycelia.ops.arguments import axis_of
from mycelia.types import bool_, int64

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def _array(owner: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise CallError(
            f"{owner} writes to an array, and {type(x).__name__} is none", hint="make one by np.array first"
        )
    return x


def copyto(dst: Tensor, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Writes the numbers of one array into another, of those where the mask holds.

    >>> x = Tensor([1.0, 2.0, 3.0])
    >>> copyto(x, 0.0, where=[True, False, True])
    >>> x.tolist()
    [0.0, 2.0, 0.0]
    """
    out, given = _array("copyto", dst), asarray(src)
    if isinstance(src, Tensor) and not can_cast(given.dtype, out.dtype, casting):
        raise ArgumentError(f"copyto does not turn {given.dtype!r} into {out.dtype!r} by the rule {casting!r}")
    new = broadcast_to(cast(given, out.dtype), out.shape)
    out[...] = new if where is True else chosen(broadcast_to(asarray(where), out.shape), new, out)


def fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    """Writes a number, or the numbers of an array in turn, along the diagonal; `wrap` begins it anew below a square.

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fill_diagonal(x, 0.0)
    >>> x.tolist()
    [[0.0, 2.0], [3.0, 0.0]]
    """
    x = _array("fill_diagonal", a)
    if x.ndim < 2:
        raise ShapeError(f"fill_diagonal needs two axes or more, and shape {x.shape} has {x.ndim}")
    if x.ndim == 2:
        step, end = x.shape[1] + 1, x.size if wrap else x.shape[1] * x.shape[1]
    else:
        if len(set(x.shape)) > 1:
            raise ShapeError(f"fill_diagonal of more than two axes needs equal sizes, not {x.shape}")
        step, size = 1, 1
        for n in x.shape[:-1]:
            size *= n
            step += size
        end = x.size
    places = arange(0, min(end, x.size), step, dtype=int64)
    flat = ops.tensor_scatter_update(
        ravel(x), reshape(places, (-1, 1)), resize(cast(asarray(val), x.dtype), places.shape)
    )
    x[...] = reshape(flat, x.shape)


def put(a: Tensor, ind: Any, v: Any, mode: str = "raise") -> None:
    """Writes numbers, in turn, at positions of the flattened array.

    >>> x = Tensor([1, 2, 3, 4])
    >>> put(x, [0, -1], [7, 8])
    >>> x.tolist()
    [7, 2, 3, 8]
    """
    x, places = _array("put", a), ravel(asarray(ind))
    places = take(arange(x.size, dtype=int64), places, mode=mode)  # as they count from the beginning
    new = resize(cast(asarray(v), x.dtype), places.shape)
    x[...] = reshape(ops.tensor_scatter_update(ravel(x), reshape(places, (-1, 1)), new), x.shape)


def place(arr: Tensor, mask: Any, vals: Any) -> None:
    """Writes numbers, in turn, where the mask holds: the first where it holds first.

    >>> x = Tensor([1, 2, 3, 4])
    >>> place(x, x > 2, [7, 8])
    >>> x.tolist()
    [1, 2, 7, 8]
    """
    x, new = _array("place", arr), ravel(asarray(vals))
    on = ravel(cast(asarray(mask), bool_))
    if on.size != x.size:
        raise ShapeError(f"the mask of place has {on.size} elements, and the array {x.size}")
    if not new.size:
        raise ArgumentError("place was given no numbers to write")
    turn = (ops.cumsum(cast(on, int64), 0) - 1) % new.size
    x[...] = reshape(chosen(on, cast(new, x.dtype)[turn], ravel(x)), x.shape)


def putmask(a: Tensor, mask: Any, values: Any) -> None:
    """Writes numbers where the mask holds: to each place the number of that place, in turn.

    >>> x = Tensor([1, 2, 3, 4])
    >>> putmask(x, x > 2, [7, 8])
    >>> x.tolist()
    [1, 2, 7, 8]
    """
    x = _array("putmask", a)
    on, new = cast(asarray(mask), bool_), cast(asarray(values), x.dtype)
    if on.shape != x.shape:
        raise ShapeError(f"the mask of putmask has shape {on.shape}, and the array {x.shape}")
    x[...] = chosen(on, new if new.shape == x.shape else resize(new, x.shape), x)


def put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    """Writes numbers at positions along an axis, as `take_along_axis` reads them.

    >>> x = Tensor([[1, 9], [8, 2]])
    >>> put_along_axis(x, [[1], [0]], 0, 1)
    >>> x.tolist()
    [[1, 0], [0, 2]]
    """
    x = _array("put_along_axis", arr)
    whole, places = (ravel(x), ravel(asarray(indices))) if axis is None else (x, asarray(indices))
    at = axis_of(whole, 0 if axis is None else axis)
    if places.ndim != whole.ndim:
        raise ShapeError(f"positions of shape {places.shape} do not fit an array of shape {whole.shape}")
    size = whole.shape[at]
    shape = tuple(size if a != at else places.shape[a] for a, size in enumerate(whole.shape))
    places = broadcast_to(chosen(places < 0, places + size, places), shape)
    new = broadcast_to(cast(asarray(values), x.dtype), shape)
    x[...] = reshape(ops.tensor_scatter_elements(whole, places, new, at), x.shape)
