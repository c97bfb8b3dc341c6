"""Sums of products: of vectors, matrices and axes that are named."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor, cast, common
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import in_type
from mycelia.numpy.shapes import ravel
from mycelia.ops.arguments import axis_of, sizes
from mycelia.types import bool_, int8

__all__ = [
    "cross",
    "dot",
    "einsum",
    "einsum_path",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


def together(*arrays: Any) -> list[Tensor]:
    """Arrays in one element type.

    >>> [t.dtype for t in together([1], [1.5])]
    [float32, float32]
    """
    made = [asarray(a) for a in arrays]
    wanted = reduce(common, [a.dtype for a in made])
    # numbers of Python are not rounded to a coarser type first
    return [cast(m, wanted) if isinstance(a, Tensor) else asarray(a, wanted) for a, m in zip(arrays, made, strict=True)]


def _product(function: Any, *arrays: Tensor) -> Tensor:
    """A sum of products; of bools it is whether there is one."""
    if arrays[0].dtype is bool_:
        return function(*[cast(a, int8) for a in arrays]) != 0
    return function(*arrays)


def matmul(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The matrix product; vectors are rows or columns, leading axes broadcast.

    >>> matmul([[1, 2]], [[3], [4]]).tolist()
    [[11]]
    """
    x, y = together(x1, x2)
    if not x.ndim or not y.ndim:
        raise ShapeError("matmul takes vectors and matrices, not numbers", hint="use multiply")
    return in_type(_product(ops.matmul, x, y), dtype)


def dot(a: Any, b: Any) -> Tensor:
    """The sum over the last axis of the first and the last but one of the second; with a number, the product.

    >>> dot([1, 2], [3, 4]).item()
    11
    """
    x, y = together(a, b)
    if not x.ndim or not y.ndim:
        return x * y
    axis = 0 if y.ndim == 1 else y.ndim - 2
    return tensordot(x, y, ((x.ndim - 1,), (axis,)))


def vdot(a: Any, b: Any) -> Tensor:
    """The sum of the products of all elements; complex ones of the first are conjugated.

    >>> vdot([[1, 2]], [[3, 4]]).item()
    11
    """
    x, y = together(ravel(a), ravel(b))
    return dot(_conjugate(x), y)


def _conjugate(x: Tensor) -> Tensor:
    return x.conj() if x.dtype.kind == "c" else x


def inner(a: Any, b: Any) -> Tensor:
    """The sum over the last axes of both; with a number, the product.

    >>> inner([1, 2], [3, 4]).item()
    11
    """
    x, y = together(a, b)
    return x * y if not x.ndim or not y.ndim else tensordot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


def outer(a: Any, b: Any) -> Tensor:
    """Every element of one array times every element of another.

    >>> outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = together(ravel(a), ravel(b))
    return ops.expand_dims(x, 1) * ops.expand_dims(y, 0)


def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Tensor:
    """The sums of products of two arrays along an axis; complex ones of the first are conjugated.

    >>> vecdot([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    x, y = together(x1, x2)
    if not x.ndim or not y.ndim:
        raise ShapeError("vecdot takes vectors, not numbers", hint="use multiply")
    if axis != -1:
        least = x if x.ndim <= y.ndim else y
        axis = axis_of(least, axis) - least.ndim if axis < 0 else axis
        x, y = ops.moveaxis(x, axis, -1), ops.moveaxis(y, axis, -1)
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError("vectors have one length", given={"x1": x.shape, "x2": y.shape})
    row, column = ops.expand_dims(_conjugate(x), x.ndim - 1), ops.expand_dims(y, y.ndim)
    out = _product(ops.matmul, row, column)
    return ops.reshape(out, out.shape[:-2])


def matvec(x1: Any, x2: Any) -> Tensor:
    """The products of matrices and vectors, along the last axes; others broadcast.

    >>> matvec([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    x, y = together(x1, x2)
    out = _product(ops.matmul, x, ops.expand_dims(y, y.ndim))
    return ops.reshape(out, out.shape[:-1])


def vecmat(x1: Any, x2: Any) -> Tensor:
    """The products of vectors and matrices, along the last axes; others broadcast.

    >>> vecmat([1, 1], [[1, 2], [3, 4]]).tolist()
    [4, 6]
    """
    x, y = together(x1, x2)
    out = _product(ops.matmul, ops.expand_dims(_conjugate(x), x.ndim - 1), y)
    return ops.reshape(out, (*out.shape[:-2], out.shape[-1]))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sum over pairs of axes: the last so many of the first with the first of the second, or those named.

    >>> tensordot([[1, 2]], [[3], [4]], 1).tolist()
    [[11]]
    """
    x, y = together(a, b)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise ArgumentError(f"there are no {axes} axes to sum over", given={"a": x.shape, "b": y.shape})
        mine, theirs = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        mine, theirs = ([axis_of(t, i) for i in sizes(given)] for t, given in zip((x, y), axes, strict=True))
    if len(mine) != len(theirs) or any(x.shape[i] != y.shape[j] for i, j in zip(mine, theirs, strict=False)):
        raise ShapeError(
            "axes that are summed over go together in pairs", given={"a": x.shape, "b": y.shape, "axes": axes}
        )
    letters = list(range(x.ndim + y.ndim))
    for i, j in zip(mine, theirs, strict=True):
        letters[x.ndim + j] = i
    rest = [n for i, n in enumerate(letters[: x.ndim]) if i not in mine]
    rest += [n for j, n in enumerate(letters[x.ndim :]) if j not in theirs]
    names = [chr(97 + n) if n < 26 else chr(65 + n - 26) for n in range(x.ndim + y.ndim)]
    first, second, out = ("".join(names[n] for n in part) for part in (letters[: x.ndim], letters[x.ndim :], rest))
    return _product(lambda x, y: ops.einsum(f"{first},{second}->{out}", x, y), x, y)


def kron(a: Any, b: Any) -> Tensor:
    """Every element of one array times all of another: the Kronecker product.

    >>> kron([1, 10], [1, 2]).tolist()
    [1, 2, 10, 20]
    """
    x, y = together(a, b)
    rank = max(x.ndim, y.ndim)
    x, y = (ops.reshape(t, (1,) * (rank - t.ndim) + t.shape) for t in (x, y))
    wide = ops.reshape(x, tuple(n for e in x.shape for n in (e, 1))) * ops.reshape(
        y, tuple(n for e in y.shape for n in (1, e))
    )
    return ops.reshape(wide, tuple(m * n for m, n in zip(x.shape, y.shape, strict=True)))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """The cross product of vectors of three; of two, the third number of it.

    >>> cross([1, 0, 0], [0, 1, 0]).tolist()
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = together(a, b)
    x, y = ops.moveaxis(x, axisa, -1), ops.moveaxis(y, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ShapeError("vectors of a cross product have 2 or 3 numbers", given={"a": x.shape, "b": y.shape})
    flat = x.shape[-1] == 2 and y.shape[-1] == 2

    def part(t: Tensor, i: int) -> Tensor:
        return t[..., i] if i < t.shape[-1] else ops.zeros_like(t[..., 0])

    last = part(x, 0) * part(y, 1) - part(x, 1) * part(y, 0)
    if flat:
        return last
    first = part(x, 1) * part(y, 2) - part(x, 2) * part(y, 1)
    second = part(x, 2) * part(y, 0) - part(x, 0) * part(y, 2)
    return ops.moveaxis(ops.stack([first, second, last], -1), -1, axisc)


def multi_dot(arrays: Sequence[Any]) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    >>> multi_dot([[[1, 2]], [[3], [4]], [[2]]]).tolist()
    [[22]]
    """
    parts = together(*[arrays[i] for i in range(len(arrays))])
    if len(parts) < 2:
        raise ShapeError("multi_dot takes two arrays at least")
    if any(t.ndim != 2 for t in parts[1:-1]) or any(t.ndim not in (1, 2) for t in (parts[0], parts[-1])):
        raise ShapeError("multi_dot takes matrices, and vectors at the ends", given={"ranks": [t.ndim for t in parts]})
    row, column = parts[0].ndim == 1, parts[-1].ndim == 1
    parts[0] = ops.expand_dims(parts[0], 0) if row else parts[0]
    parts[-1] = ops.expand_dims(parts[-1], 1) if column else parts[-1]
    out = _chain(parts, _cheapest([t.shape[0] for t in parts] + [parts[-1].shape[1]]), 0, len(parts) - 1)
    return ops.reshape(out, out.shape[int(row) : 2 - int(column)])


def _cheapest(extents: list[Any]) -> dict[tuple[int, int], int]:
    """Where to cut each part of a chain of matrices."""
    count = len(extents) - 1
    cost: dict[tuple[int, int], Any] = {(i, i): 0 for i in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            if not all(isinstance(e, int) for e in extents):
                cost[i, j], cuts[i, j] = 0, j - 1
                continue
            cost[i, j], cuts[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + extents[i] * extents[k + 1] * extents[j + 1], k) for k in range(i, j)
            )
    return cuts


def _chain(parts: list[Tensor], cuts: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return parts[i]
    return matmul(_chain(parts, cuts, i, cuts[i, j]), _chain(parts, cuts, cuts[i, j] + 1, j))


def einsum_path(subscripts: str, *operands: Any, optimize: Any = "greedy") -> tuple[list[Any], str]:
    """In which order the operands of an `einsum` are combined, and what that costs, in words.

    >>> einsum_path("ij,jk,kl->il", [[1.0]], [[1.0]], [[1.0]])[0][0]
    'einsum_path'
    """
    shapes = [numpy.broadcast_to(numpy.int8(0), asarray(x).shape) for x in operands]
    path, words = numpy.einsum_path(subscripts, *shapes, optimize=optimize)
    return list(path), words


def einsum(subscripts: str, *operands: Any, optimize: Any = True) -> Tensor:
    """A sum of products over named axes: "ij,jk->ik" is a matrix product. Several operands are combined two by two, in
    an order that `optimize` names or gives.

    >>> einsum("ij,jk->ik", [[1.0, 2.0]], [[3.0], [4.0]]).tolist()
    [[11.0]]
    """
    parts = together(*operands)
    if len(parts) <= 2 or optimize is False or any(not isinstance(n, int) for t in parts for n in t.shape):
        return _product(lambda *xs: ops.einsum(subscripts, *xs), *parts)
    names = _names(subscripts, parts)
    if names is None:
        return _product(lambda *xs: ops.einsum(subscripts, *xs), *parts)
    inputs, output = names
    path, _ = einsum_path(subscripts, *parts, optimize="greedy" if optimize is True else optimize)
    for places in path[1:]:
        chosen = sorted(places, reverse=True)
        taken, known = [parts.pop(i) for i in chosen], [inputs.pop(i) for i in chosen]
        left = set(output).union(*inputs)
        kept = output if not parts else "".join(c for c in dict.fromkeys("".join(known)) if c in left)
        parts.append(_product(lambda *xs, k=known, o=kept: ops.einsum(f"{','.join(k)}->{o}", *xs), *taken))
        inputs.append(kept)
    return parts[0]


def _names(subscripts: str, parts: list[Tensor]) -> tuple[list[str], str] | None:
    """The axes of the operands and of the result, one letter each; None if axes are left unnamed."""
    if "..." in subscripts:
        return None
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not arrow:
        letters = left.replace(",", "")
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return (inputs, output) if len(inputs) == len(parts) else None


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The length of vectors, or a norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    >>> norm([3.0, 4.0]).item(), norm([[1.0, 2.0], [3.0, 4.0]], 1).item()
    (5.0, 6.0)
    """
    truth("norm", "keepdims", keepdims)
    a = asarray(x)
    a = a if a.dtype.kind in "fc" else cast(a, common(a.dtype, ops.zeros(()).dtype))
    if axis is None and ord is None:
        out = ops.vector_norm(ravel(a), 2)
        return ops.reshape(out, (1,) * a.ndim) if keepdims else out
    if axis is None:
        if a.ndim not in (1, 2):
            raise ShapeError(
                "a norm of an array without axes named needs a vector or a matrix", given={"shape": a.shape}
            )
        axes: tuple[int, ...] = tuple(range(a.ndim))
    else:
        axes = tuple(axis_of(a, i) for i in sizes(axis))
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ArgumentError(f"vectors have no norm {ord!r}", hint="give a number, or None")
        return ops.vector_norm(a, 2 if ord is None else ord, axes, keepdims)
    if len(axes) != 2:
        raise ShapeError("a norm is one of vectors or of matrices", given={"axis": axis})
    return ops.matrix_norm(a, "fro" if ord is None else ord, axes, keepdims)
