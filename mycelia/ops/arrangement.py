"""Tensors put together and taken apart in ways that few programs need: stacks, blocks, grids, turns, batches."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as choices
from itertools import combinations_with_replacement as repeated
from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice, truth, whole
from mycelia.eager import Tensor, as_dtype, cast, common, created, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import axis_of, method, number, pair, sizes, tensor
from mycelia.ops.choice import gather_elements
from mycelia.ops.creation import diag, meshgrid
from mycelia.ops.decompositions import inverse
from mycelia.ops.joining import cat, pad, tensor_split
from mycelia.ops.linalg import matmul, outer
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import int64

__all__ = [
    "addr",
    "atleast_2d",
    "atleast_3d",
    "batch_dot",
    "batch_to_space_nd",
    "bidense",
    "block_diag",
    "cartesian_prod",
    "channel_shuffle",
    "column_stack",
    "combinations",
    "cross",
    "diagflat",
    "dsplit",
    "dstack",
    "dyn_shape",
    "gather_d",
    "ger",
    "hsplit",
    "kron",
    "matrix_band_part",
    "matrix_power",
    "mirror_pad",
    "reverse_sequence",
    "rot90",
    "space_to_batch_nd",
    "tril_indices",
    "triu_indices",
    "vecdot",
    "vsplit",
]


def _each(change: Any, inputs: Any) -> Any:
    """A function of one tensor, or of each of several."""
    return tuple(change(tensor(x)) for x in inputs) if isinstance(inputs, tuple | list) else change(tensor(inputs))


def _two(x: Tensor) -> Tensor:
    return p.reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x.alias()


def _three(x: Tensor) -> Tensor:
    if x.ndim > 2:
        return x.alias()
    return p.reshape(x, (*x.shape, 1) if x.ndim == 2 else (1, x.size, 1))


def atleast_2d(inputs: Any) -> Any:
    """Tensors with two axes at least; new ones come first.

    >>> atleast_2d(Tensor([1, 2])).shape
    (1, 2)
    """
    return _each(_two, inputs)


def atleast_3d(inputs: Any) -> Any:
    """Tensors with three axes at least: a vector becomes (1, n, 1), a matrix (m, n, 1).

    >>> atleast_3d(Tensor([1, 2])).shape
    (1, 2, 1)
    """
    return _each(_three, inputs)


def dstack(tensors: Sequence[Any]) -> Tensor:
    """Tensors of three axes at least, joined along the third.

    >>> dstack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return cat([_three(tensor(x)) for x in tensors], 2)


def column_stack(tensors: Sequence[Any]) -> Tensor:
    """Vectors as columns, and matrices, side by side.

    >>> column_stack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    columns = [tensor(x) for x in tensors]
    return cat([p.reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in columns], 1)


def _split(name: str, least: int, axis: int, input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    x = tensor(input)
    if x.ndim < least:
        raise ShapeError(f"{name} takes tensors of {least} axes at least, not shape {x.shape}")
    return tensor_split(x, indices_or_sections, axis)


@method("hsplit")
def hsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along the second axis, of a vector along its only one: so many, or between these positions.

    >>> [t.tolist() for t in hsplit(Tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    return _split("hsplit", 1, 0 if tensor(input).ndim == 1 else 1, input, indices_or_sections)


@method("vsplit")
def vsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along the first axis of a tensor of two axes at least.

    >>> [t.tolist() for t in vsplit(Tensor([[1, 2], [3, 4]]), 2)]
    [[[1, 2]], [[3, 4]]]
    """
    return _split("vsplit", 2, 0, input, indices_or_sections)


@method("dsplit")
def dsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along the third axis.

    >>> [t.shape for t in dsplit(Tensor([[[1, 2]]]), 2)]
    [(1, 1, 1), (1, 1, 1)]
    """
    return _split("dsplit", 3, 2, input, indices_or_sections)


@method("rot90")
def rot90(input: Any, k: int, dims: Sequence[int]) -> Tensor:
    """The plane of two axes turned k times by 90 degrees, from the first to the second.

    >>> rot90(Tensor([[1, 2], [3, 4]]), 1, (0, 1)).tolist()
    [[2, 4], [1, 3]]
    """
    x = tensor(input)
    first, second = (axis_of(x, a) for a in dims)
    if first == second:
        raise ArgumentError("rot90 turns a plane of two different axes", given={"dims": dims})
    turns = whole("rot90", "k", k) % 4
    if turns == 2:
        return p.flip(x, (first, second))
    if turns:
        order = list(range(x.ndim))
        order[first], order[second] = second, first
        x = p.transpose(p.flip(x, (second,)), order) if turns == 1 else p.flip(p.transpose(x, order), (second,))
    return x if turns else x.alias()


def block_diag(*inputs: Any) -> Tensor:
    """Matrices along the diagonal of a larger one, with zeros elsewhere.

    >>> block_diag(Tensor([[1, 2]]), Tensor([3])).tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    blocks = [_two(tensor(x)) for x in inputs]
    if any(b.ndim > 2 for b in blocks):
        raise ShapeError("block_diag takes matrices", given={"shapes": [b.shape for b in blocks]})
    dtype = blocks[0].dtype
    for b in blocks[1:]:
        dtype = common(dtype, b.dtype)
    width, rows, before = sum(b.shape[1] for b in blocks), [], 0
    for b in blocks:
        rows.append(p.pad(cast(b, dtype), (0, before), (0, width - before - b.shape[1]), 0))
        before += b.shape[1]
    return p.concat(rows, 0)


def kron(input: Any, other: Any) -> Tensor:
    """Every element of one tensor times all of another: the Kronecker product.

    >>> kron(Tensor([1, 10]), Tensor([1, 2])).tolist()
    [1, 2, 10, 20]
    """
    x, y = pair(input, other)
    rank = max(x.ndim, y.ndim)
    a, b = (1,) * (rank - x.ndim) + x.shape, (1,) * (rank - y.ndim) + y.shape
    left = p.reshape(x, [e for n in a for e in (n, 1)])
    right = p.reshape(y, [e for n in b for e in (1, n)])
    return p.reshape(left * right, [m * n for m, n in zip(a, b, strict=True)])


def cartesian_prod(*inputs: Any) -> Tensor:
    """Every choice of one element of each vector, as rows.

    >>> cartesian_prod(Tensor([1, 2]), Tensor([5])).tolist()
    [[1, 5], [2, 5]]
    """
    vectors = [tensor(x) for x in inputs]
    if any(v.ndim != 1 for v in vectors):
        raise ShapeError("cartesian_prod takes vectors", given={"shapes": [v.shape for v in vectors]})
    if len(vectors) == 1:
        return vectors[0].alias()
    grids = meshgrid(*vectors, indexing="ij")
    return p.concat([p.reshape(g, (g.size, 1)) for g in grids], 1)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of r elements of a vector, in order, as rows.

    >>> combinations(Tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    x = tensor(input)
    if x.ndim != 1:
        raise ShapeError(f"combinations takes a vector, not shape {x.shape}")
    truth("combinations", "with_replacement", with_replacement)
    rows = list((repeated if with_replacement else choices)(range(x.size), whole("combinations", "r", r, least=0)))
    return p.gather(x, wrap(np.array(rows, np.int64).reshape(len(rows), r)), 0)


@method("cross")
def cross(input: Any, other: Any, dim: int | None = None) -> Tensor:
    """The cross product of vectors of three, along an axis; the first of three elements if none is named.

    >>> cross(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])).tolist()
    [0.0, 0.0, 1.0]
    """
    x, y = pair(input, other)
    shape = broadcast_shapes(x.shape, y.shape)
    x, y = p.broadcast(x, shape), p.broadcast(y, shape)
    axis = next((a for a, e in enumerate(x.shape) if e == 3), None) if dim is None else axis_of(x, dim)
    if axis is None or x.shape[axis] != 3:
        raise ShapeError(f"cross needs an axis of three elements, and shape {x.shape} has none there")
    (a, b, c), (d, e, f) = ([p.take(t, axis, i, i + 1) for i in range(3)] for t in (x, y))
    return p.concat([b * f - c * e, c * d - a * f, a * e - b * d], axis)


def vecdot(x: Any, y: Any, *, axis: int = -1) -> Tensor:
    """The sums of products of two tensors along an axis; of complex numbers the first are conjugated.

    >>> vecdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).item()
    11.0
    """
    a, b = pair(x, y)
    product = p.conj(a) * b if a.dtype.is_complex else a * b
    return p.reduce_sum(product, (axis_of(product, axis),))


@method("addr")
def addr(x: Any, vec1: Any, vec2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Beta x + alpha times the products of the elements of two vectors.

    >>> addr(Tensor([[1.0, 1.0]]), Tensor([2.0]), Tensor([3.0, 4.0])).tolist()
    [[7.0, 9.0]]
    """
    product = outer(vec1, vec2)
    return (tensor(x) if beta == 1 else tensor(x) * beta) + (product if alpha == 1 else product * alpha)


def ger(input: Any, vec2: Any) -> Tensor:
    """Every element of one vector times every element of another.

    >>> ger(Tensor([1.0, 2.0]), Tensor([3.0])).tolist()
    [[3.0], [6.0]]
    """
    x, y = tensor(input), tensor(vec2)
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError(f"ger takes vectors, not shapes {x.shape} and {y.shape}", hint="use outer")
    return outer(x, y)


def batch_dot(x1: Any, x2: Any, axes: Any = None) -> Tensor:
    """The sum of products of two batches along one axis of each: the last of the first, the second of the other.

    >>> batch_dot(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), 1).tolist()
    [[11.0]]
    """
    x, y = pair(x1, x2)
    if x.ndim < 2 or y.ndim < 2 or x.shape[0] != y.shape[0]:
        raise ShapeError(f"batch_dot takes two batches of one size, not shapes {x.shape} and {y.shape}")
    if axes is None:
        left, right = x.ndim - 1, y.ndim - 1 if y.ndim == 2 else y.ndim - 2
    else:
        a, b = (axes, axes) if isinstance(axes, int) else axes
        left, right = axis_of(x, a), axis_of(y, b)
    if 0 in (left, right) or x.shape[left] != y.shape[right]:
        raise ShapeError(
            f"batch_dot cannot sum over axis {left} of {x.shape} and axis {right} of {y.shape}",
            hint="they have one length, and the first axis is the batch",
        )
    letters, others = ["Z", *"abcdefgh"[: x.ndim - 1]], ["Z", *"ABCDEFGH"[: y.ndim - 1]]
    others[right] = letters[left]
    out = [c for c in letters if c != letters[left]] + [c for i, c in enumerate(others) if i not in (0, right)]
    found = p.Contract("".join(letters), "".join(others), "".join(out))(x, y)
    return p.reshape(found, (found.size, 1)) if found.ndim == 1 else found


@method("matrix_power")
def matrix_power(input: Any, n: int) -> Tensor:
    """Square matrices multiplied by themselves, n factors in all; the unit for 0, and for -n the inverse of that for n.

    >>> matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """
    x = tensor(input)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"matrix_power takes square matrices, not shape {x.shape}")
    left = whole("matrix_power", "n", n)
    if left < 0:
        x, left = inverse(x), -left
    out = p.broadcast(wrap(np.eye(x.shape[-1], dtype=x.dtype.numpy)), x.shape)
    while left:
        out = matmul(out, x) if left & 1 else out
        x, left = (matmul(x, x), left >> 1) if left > 1 else (x, 0)
    return out


def bidense(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Tensor:
    """A bilinear form for each output: input1 W input2 + bias.

    >>> bidense(Tensor([[2.0]]), Tensor([[3.0]]), Tensor([[[5.0]]])).tolist()
    [[30.0]]
    """
    x, y = pair(input1, input2)
    w = cast(tensor(weight), x.dtype)
    if w.ndim != 3 or x.shape[:-1] != y.shape[:-1] or (x.shape[-1], y.shape[-1]) != w.shape[1:]:
        raise ShapeError(
            f"bidense: inputs of shapes {x.shape} and {y.shape} do not fit a weight of shape {w.shape}",
            hint="the weight has shape (outputs, features of input1, features of input2)",
        )
    rows = "".join("abcdefgh"[i] for i in range(x.ndim - 1))
    half = p.Contract(rows + "I", "OIJ", rows + "OJ")(x, w)
    out = p.Contract(rows + "OJ", rows + "J", rows + "O")(half, y)
    return out if bias is None else out + bias


# ----------------------------------------------------------------------------------------------------------- diagonals


@method("diagflat")
def diagflat(input: Any, offset: int = 0) -> Tensor:
    """A matrix with all elements of a tensor on a diagonal.

    >>> diagflat(Tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x = tensor(input)
    square = diag(p.reshape(x, (x.size,)))
    low, high = max(whole("diagflat", "offset", offset), 0), max(-offset, 0)
    return p.pad(square, (high, low), (low, high), 0)


def _triangle(keep: Any, name: str, row: int, col: int, offset: int, dtype: Any) -> Tensor:
    rows, columns = whole(name, "row", row, least=0), whole(name, "col", col, least=0)
    found = np.stack(keep(rows, offset, columns))
    return wrap(found.astype(as_dtype(dtype).numpy))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """The rows and the columns of the places on and below a diagonal.

    >>> tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle(np.tril_indices, "tril_indices", row, col, offset, dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """The rows and the columns of the places on and above a diagonal.

    >>> triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle(np.triu_indices, "triu_indices", row, col, offset, dtype)


def matrix_band_part(x: Any, lower: Any, upper: Any) -> Tensor:
    """Matrices with zeros outside of a band: so many diagonals below and above the main one, all if negative.

    >>> matrix_band_part(Tensor([[1, 2], [3, 4]]), 0, -1).tolist()
    [[1, 2], [0, 4]]
    """
    x = tensor(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_band_part takes matrices, not shape {x.shape}")
    rows, columns = x.shape[-2:]
    i, j = created(p.Iota(int64, (rows, columns), 0)), created(p.Iota(int64, (rows, columns), 1))
    below, above = (cast(tensor(n), int64) for n in (lower, upper))
    inside = p.logical_and(
        p.logical_or(below < 0, p.less_equal(i - j, below)), p.logical_or(above < 0, p.less_equal(j - i, above))
    )
    return p.select(inside, x, number(0, x))


# --------------------------------------------------------------------------------------------------------------- places


@method("gather_d")
def gather_d(x: Any, dim: int, index: Any) -> Tensor:
    """For each place of `index`, the element at that place, but along one axis at that position.

    >>> gather_d(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    return gather_elements(x, dim, index)


def dyn_shape(input_x: Any) -> Tensor:
    """The shape of a tensor, as a tensor.

    >>> dyn_shape(Tensor([[1, 2]])).tolist()
    [1, 2]
    """
    shape = tensor(input_x).shape
    return cat([p.reshape(tensor(e), (1,)) for e in shape], 0) if shape else created(p.Full(0, int64, (0,)))


@method("reverse_sequence")
def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """The first elements along one axis in reverse, so many of them as `seq_lengths` says for each place of another.

    >>> reverse_sequence(Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([2, 3]), 1).tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    x, lengths = tensor(x), cast(tensor(seq_lengths), int64)
    along, batch = axis_of(x, seq_dim), axis_of(x, batch_dim)
    if along == batch or lengths.shape != (x.shape[batch],):
        raise ShapeError(
            f"reverse_sequence needs {x.shape[batch]} lengths for axis {batch}, and another axis to reverse",
            given={"seq_lengths": lengths.shape, "seq_dim": seq_dim, "batch_dim": batch_dim},
        )
    here = created(p.Iota(int64, x.shape, along))
    count = p.reshape(lengths, [e if a == batch else 1 for a, e in enumerate(x.shape)])
    return gather_elements(x, along, p.select(p.less(here, count), count - 1 - here, here))


@method("mirror_pad")
def mirror_pad(input_x: Any, paddings: Any, mode: str) -> Tensor:
    """More elements around, mirrored at the edge: with it ("SYMMETRIC") or without ("REFLECT").

    >>> mirror_pad(Tensor([1, 2, 3]), Tensor([[2, 1]]), "SYMMETRIC").tolist()
    [2, 1, 1, 2, 3, 3]
    """
    x = tensor(input_x)
    choice("mirror_pad", "mode", mode, ("REFLECT", "SYMMETRIC"))
    widths = [sizes(pair_) for pair_ in (paddings.tolist() if isinstance(paddings, Tensor) else paddings)]
    edge = mode == "SYMMETRIC"
    for axis, (before, after) in enumerate(widths):
        extent = x.shape[axis]
        if max(before, after) > extent - (not edge):
            raise ShapeError(f"axis {axis} of {x.shape} is too short to be mirrored by {(before, after)}")
        places = np.pad(np.arange(extent), (before, after), "symmetric" if edge else "reflect")
        x = p.gather(x, wrap(places), axis)
    return x


# ------------------------------------------------------------------------------------------------------------- channels


def channel_shuffle(x: Any, groups: int) -> Tensor:
    """Channels in groups, of which each in turn gives one.

    >>> channel_shuffle(Tensor([[[1], [2], [3], [4]]]), 2).flatten().tolist()
    [1, 3, 2, 4]
    """
    x = tensor(x)
    parts = whole("channel_shuffle", "groups", groups, least=1)
    n, channels, *space = x.shape
    if channels % parts:
        raise ShapeError(f"{channels} channels are not a multiple of {parts} groups")
    apart = p.reshape(x, (n, parts, channels // parts, *space))
    return p.reshape(p.transpose(apart, (0, 2, 1, *range(3, apart.ndim))), x.shape)


def _blocks(block: Any, rank: int) -> tuple[int, ...]:
    return (block,) * rank if isinstance(block, int) else sizes(block)


def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Tensor:
    """Blocks of space moved into the batch, after zeros were put around.

    >>> space_to_batch_nd(Tensor([[[[1, 2], [3, 4]]]]), [2, 2], [[0, 0], [0, 0]]).flatten().tolist()
    [1, 2, 3, 4]
    """
    x = tensor(input_x)
    around = [tuple(pair_) for pair_ in paddings]
    blocks = _blocks(block_size, len(around))
    rank = len(blocks)
    x = pad(x, [n for pair_ in reversed(around) for n in pair_])
    lead, space = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    if any(e % b for e, b in zip(space, blocks, strict=True)):
        raise ShapeError(f"space {space} does not go evenly into blocks of {blocks}")
    apart = p.reshape(x, (*lead, *[n for e, b in zip(space, blocks, strict=True) for n in (e // b, b)]))
    first = len(lead)
    order = [*[first + 2 * i + 1 for i in range(rank)], *range(first), *[first + 2 * i for i in range(rank)]]
    shape = (prod(blocks) * lead[0], *lead[1:], *[e // b for e, b in zip(space, blocks, strict=True)])
    return p.reshape(p.transpose(apart, order), shape)


def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Tensor:
    """Examples of a batch moved into blocks of space, of which borders are cut off.

    >>> batch_to_space_nd(Tensor([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), [2, 2], [[0, 0], [0, 0]]).tolist()
    [[[[1, 2], [3, 4]]]]
    """
    x = tensor(input_x)
    around = [tuple(pair_) for pair_ in crops]
    blocks = _blocks(block_shape, len(around))
    rank = len(blocks)
    lead, space = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    if lead[0] % prod(blocks):
        raise ShapeError(f"a batch of {lead[0]} is not a multiple of {prod(blocks)}, the size of a block")
    apart = p.reshape(x, (*blocks, lead[0] // prod(blocks), *lead[1:], *space))
    first = rank + len(lead)
    order = [*range(rank, first), *[n for i in range(rank) for n in (first + i, i)]]
    whole_ = (lead[0] // prod(blocks), *lead[1:], *[e * b for e, b in zip(space, blocks, strict=True)])
    x = p.reshape(p.transpose(apart, order), whole_)
    for axis, (before, after) in enumerate(around, x.ndim - rank):
        x = p.take(x, axis, before, x.shape[axis] - after)
    return x
