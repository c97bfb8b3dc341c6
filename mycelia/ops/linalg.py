"""Products of matrices and other contractions; lengths."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from mycelia import checks
from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.eager import Tensor, as_dtype, cast, common
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import Axis, axes_of, axis_of, floated, method, pair, tensor
from mycelia.ops.creation import diagonal
from mycelia.ops.math import length, squared
from mycelia.types import float32, float64

__all__ = [
    "addmm",
    "addmv",
    "baddbmm",
    "bias_add",
    "bmm",
    "dense",
    "dot",
    "einsum",
    "inner",
    "matmul",
    "matrix_norm",
    "mm",
    "mv",
    "norm",
    "outer",
    "tensor_dot",
    "trace",
    "vector_norm",
]


@method("matmul", "mm", "bmm")
def matmul(input: Any, other: Any) -> Tensor:
    """The matrix product; vectors are rows or columns, leading axes broadcast.

    >>> matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return tensor(input) @ other


def bmm(input_x: Any, mat2: Any) -> Tensor:
    """The products of matrices in two batches, which have the same axes before the last two.

    >>> bmm(Tensor([[[2.0]]]), Tensor([[[3.0]]])).tolist()
    [[[6.0]]]
    """
    a, b = pair(input_x, mat2)
    if a.ndim < 2 or a.shape[:-2] != b.shape[:-2]:
        raise ShapeError(f"bmm takes two batches of matrices, not shapes {a.shape} and {b.shape}", hint="use matmul")
    return a @ b


def mm(input: Any, mat2: Any) -> Tensor:
    """The product of two matrices.

    >>> mm(Tensor([[2.0]]), Tensor([[3.0]])).tolist()
    [[6.0]]
    """
    return _of_rank("mm", 2, input, mat2)


def _of_rank(name: str, rank: int, x: Any, y: Any) -> Tensor:
    a, b = pair(x, y)
    if a.ndim != rank or b.ndim != rank:
        raise ShapeError(f"{name} takes tensors of {rank} axes, not shapes {a.shape} and {b.shape}", hint="use matmul")
    return a @ b


def mv(mat: Any, vec: Any) -> Tensor:
    """The product of a matrix and a vector.

    >>> mv(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])).tolist()
    [11.0]
    """
    return matmul(mat, vec)


@method("dot")
def dot(input: Any, other: Any) -> Tensor:
    """The sum over the last axis of the first and the last but one of the second.

    >>> dot(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    x, y = pair(input, other)
    return tensor_dot(x, y, ([x.ndim - 1], [max(0, y.ndim - 2)]))


@method("outer", "ger")
def outer(input: Any, vec2: Any) -> Tensor:
    """Every element of one vector times every element of another.

    >>> outer(Tensor([1, 2]), Tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = pair(input, vec2)
    return p.reshape(x, (x.size, 1)) * p.reshape(y, (1, y.size))


@method("inner")
def inner(input: Any, other: Any) -> Tensor:
    """The sum over the last axes of both.

    >>> inner(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).item()
    11.0
    """
    x, y = pair(input, other)
    return x * y if not x.ndim or not y.ndim else tensor_dot(x, y, ([x.ndim - 1], [y.ndim - 1]))


def tensor_dot(x1: Any, x2: Any, axes: int | Sequence[Sequence[int]]) -> Tensor:
    """The sum over pairs of axes: the last so many of the first with the first of the second, or those named.

    >>> tensor_dot(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0]), 1).tolist()
    [11.0]
    """
    x, y = pair(x1, x2)
    if isinstance(axes, int):
        left, right = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        left, right = (
            [a % t.ndim for a in ([s] if isinstance(s, int) else s)] for s, t in zip(axes, (x, y), strict=True)
        )
    letters = [chr(ord("a") + a) for a in range(x.ndim)]
    others = [chr(ord("A") + a) for a in range(y.ndim)]
    for a, b in zip(left, right, strict=True):
        others[b] = letters[a]
    out = [c for a, c in enumerate(letters) if a not in left] + [c for b, c in enumerate(others) if b not in right]
    return p.Contract("".join(letters), "".join(others), "".join(out))(x, y)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Beta input + alpha mat1 @ mat2.

    >>> addmm(Tensor([[1.0]]), Tensor([[2.0]]), Tensor([[3.0]])).tolist()
    [[7.0]]
    """
    product = matmul(mat1, mat2)
    return _times(tensor(input), beta) + _times(product, alpha)


def baddbmm(input: Any, batch1: Any, batch2: Any, beta: float = 1, alpha: float = 1) -> Tensor:
    """Beta input + alpha batch1 @ batch2, for batches of matrices.

    >>> baddbmm(Tensor([[[1.0]]]), Tensor([[[2.0]]]), Tensor([[[3.0]]])).tolist()
    [[[7.0]]]
    """
    return addmm(input, batch1, batch2, beta=beta, alpha=alpha)


def addmv(input: Any, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Beta input + alpha mat @ vec.

    >>> addmv(Tensor([1.0]), Tensor([[2.0]]), Tensor([3.0])).tolist()
    [7.0]
    """
    return addmm(input, mat, vec, beta=beta, alpha=alpha)


def _times(x: Tensor, number: float) -> Tensor:
    return x if number == 1 else x * number


for _name, _function in {"addmm": addmm, "baddbmm": baddbmm, "addmv": addmv}.items():
    method(_name)(_function)


@fused
def dense(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """Input @ weight.T + bias.

    >>> dense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), Tensor([1.0])).tolist()
    [[12.0]]
    """
    x, w = pair(input, weight)
    if x.ndim == 0 or w.ndim > 2 or x.shape[-1] != w.shape[-1]:
        raise ShapeError(
            f"dense: input of shape {x.shape} and weight of shape {w.shape} have no common last axis",
            hint="the weight has one row for each output, and one column for each input",
        )
    letters = "".join(chr(ord("a") + i) for i in range(x.ndim - 1))
    out = p.Contract(letters + "K", "N" * (w.ndim - 1) + "K", letters + "N" * (w.ndim - 1))(x, w)
    return out if bias is None else out + bias


@fused
def bias_add(input_x: Any, bias: Any) -> Tensor:
    """A bias for each channel (axis 1) added.

    >>> bias_add(Tensor([[1.0, 2.0]]), Tensor([1.0, 10.0])).tolist()
    [[2.0, 12.0]]
    """
    x, b = tensor(input_x), tensor(bias)
    return x + p.reshape(b, (b.size, *(1,) * (x.ndim - 2)))


@method("trace")
def trace(input: Any) -> Tensor:
    """The sum of the diagonal.

    >>> trace(Tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
    return p.reduce_sum(diagonal(input))


@method("norm")
def norm(A: Any, ord: Any = None, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The length of vectors, or a norm of matrices when `dim` names two axes and `ord` is given.

    >>> norm(Tensor([3.0, 4.0])).item()
    5.0
    """
    x = floated(A) if dtype is None else cast(tensor(A), as_dtype(dtype))
    if ord is None or ord == "fro":
        return vector_norm(x, 2, dim, keepdim)
    matrix = (isinstance(dim, tuple | list) and len(dim) == 2) or (dim is None and x.ndim == 2)
    return matrix_norm(x, ord, dim or (-2, -1), keepdim) if matrix else vector_norm(x, ord, dim, keepdim)  # type: ignore[arg-type]  # two axes


def vector_norm(x: Any, ord: float = 2, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord); the largest or smallest |x| for inf and -inf, the number of others than 0 for 0.

    >>> vector_norm(Tensor([3.0, -4.0]), 1).item()
    7.0
    """
    x = floated(x) if dtype is None else cast(tensor(x), as_dtype(dtype))
    axes = axes_of(x, axis)
    if ord == 2:
        return length(p.reduce_sum(squared(x), axes, keepdims))
    if ord == 0:
        return p.reduce_sum(cast(x != 0, x.dtype.part), axes, keepdims)
    size = p.abs(x)
    if ord in (inf, -inf):
        return p.reduce_max(size, axes, keepdims) if ord > 0 else p.reduce_min(size, axes, keepdims)
    if ord == 1:
        return p.reduce_sum(size, axes, keepdims)
    return p.reduce_sum(size**ord, axes, keepdims) ** (1.0 / ord)


def matrix_norm(A: Any, ord: Any = "fro", axis: Sequence[int] = (-2, -1), keepdims: bool = False) -> Tensor:
    """The Frobenius norm; the largest (smallest, if negative) sum of a column (1), of a row (inf), singular value (2);
    or the sum of the singular values ("nuc").

    >>> matrix_norm(Tensor([[1.0, -2.0], [3.0, 4.0]]), 1).item()
    6.0
    """
    x = floated(A)
    if ord == "fro":
        return vector_norm(x, 2, axis, keepdims)
    rows, columns = (axis_of(x, a) for a in axis)
    if ord in ("nuc", 2, -2):
        return _singular_norm(x, ord, rows, columns, keepdims)
    if ord not in (1, -1, inf, -inf):
        raise ArgumentError(f"matrix_norm has no order {ord!r}", hint='choose "fro", "nuc", 1, -1, 2, -2, inf or -inf')
    summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = p.reduce_sum(p.abs(x), (summed,), True)
    extreme = p.reduce_max if ord > 0 else p.reduce_min
    out = extreme(sums, (kept,), True)
    kept_too = checks.truth("matrix_norm", "keepdims", keepdims)
    return out if kept_too else p.reshape(out, [e for a, e in enumerate(x.shape) if a not in (rows, columns)])


def _singular_norm(x: Tensor, ord: Any, rows: int, columns: int, keepdims: bool) -> Tensor:
    """The norms that are made of singular values."""
    others = [a for a in range(x.ndim) if a not in (rows, columns)]
    half = x.dtype if x.dtype.is_complex or x.dtype in (float32, float64) else float32
    values = p.Svd()(cast(p.transpose(x, (*others, rows, columns)), half))[1]
    last = (values.ndim - 1,)
    reduce = p.reduce_sum if ord == "nuc" else p.reduce_max if ord > 0 else p.reduce_min
    out = cast(reduce(values, last), x.dtype.part)
    return p.expand_dims(out, sorted((rows, columns))) if checks.truth("matrix_norm", "keepdims", keepdims) else out


# ------------------------------------------------------------------------------------------------------------- einsum


def einsum(equation: str, *operands: Any) -> Tensor:
    """A sum of products over named axes: "ij,jk->ik" is a matrix product. "..." stands for axes not named.

    >>> einsum("ij,jk->ik", Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    >>> einsum("ii->", Tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
    tensors = [
        tensor(x) for x in (operands[0] if len(operands) == 1 and isinstance(operands[0], tuple | list) else operands)
    ]
    inputs, output = _named(equation, tensors)
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = common(dtype, t.dtype)
    terms = [_once(name, cast(t, dtype)) for name, t in zip(inputs, tensors, strict=True)]
    letters, out = terms[0]
    for position, (more, term) in enumerate(terms[1:], 1):
        later = set(output).union(*[name for name, _ in terms[position + 1 :]])
        letters, out = _contracted(letters, out, more, term, later)
    alone = [a for a, c in enumerate(letters) if c not in output]
    out = p.reduce_sum(out, alone) if alone else out
    letters = "".join(c for c in letters if c in output)
    result = p.transpose(out, [letters.index(c) for c in output])
    return result.alias() if any(result is t for t in tensors) else result


def _named(equation: str, tensors: Sequence[Tensor]) -> tuple[list[str], str]:
    """The letters of every operand and of the output, with letters for the axes that "..." stands for."""
    given, arrow, wanted = equation.replace(" ", "").partition("->")
    inputs = given.split(",")
    if len(inputs) != len(tensors):
        raise ArgumentError(
            f"{equation!r} names {len(inputs)} operands, and {len(tensors)} were given",
            hint="separate the names of operands by commas, one name for each tensor",
        )
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in equation]
    hidden = [t.ndim - len(name.replace("...", "")) for name, t in zip(inputs, tensors, strict=True)]
    most = max([n for name, n in zip(inputs, hidden, strict=True) if "..." in name], default=0)
    spelled = []
    for name, n, t in zip(inputs, hidden, tensors, strict=True):
        if n < 0 or (n and "..." not in name):
            raise ShapeError(f"{equation!r}: {name!r} does not name the axes of a tensor of shape {t.shape}")
        spelled.append(name.replace("...", "".join(free[most - n : most]) if n else ""))
    dots = "".join(free[:most])
    if arrow:
        output = wanted.replace("...", dots)
    else:
        every = "".join(spelled)
        output = dots + "".join(sorted(c for c in set(every) - set(dots) if every.count(c) == 1))
    if set(output) - set("".join(spelled)) or len(set(output)) != len(output):
        raise ArgumentError(f"{equation!r}: the output names an axis twice, or one that no operand has")
    return spelled, output


def _once(letters: str, x: Tensor) -> tuple[str, Tensor]:
    """An operand in which a letter that stood twice stands once: its diagonal."""
    for c in dict.fromkeys(letters):
        while letters.count(c) > 1:
            first = letters.index(c)
            second = letters.index(c, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ShapeError(f"axis {c} has two sizes, {x.shape[first]} and {x.shape[second]}")
            x = diagonal(x, 0, first, second)
            letters = letters[:first] + letters[first + 1 : second] + letters[second + 1 :] + c
    return letters, x


def _contracted(a: str, x: Tensor, b: str, y: Tensor, later: set[str]) -> tuple[str, Tensor]:
    """Two operands as one, summed over what is not needed later."""
    for letters, other in ((a, b), (b, a)):
        alone = [c for c in letters if c not in other and c not in later]
        if alone and letters is a:
            x, a = p.reduce_sum(x, [a.index(c) for c in alone]), "".join(c for c in a if c not in alone)
        elif alone:
            y, b = p.reduce_sum(y, [b.index(c) for c in alone]), "".join(c for c in b if c not in alone)
    for c in set(a) & set(b):
        m, n = x.shape[a.index(c)], y.shape[b.index(c)]
        if m != n and 1 in (m, n):  # an extent of 1 repeats, as NumPy has it
            if m == 1:
                x = p.broadcast(x, [n if k == c else e for k, e in zip(a, x.shape, strict=True)])
            else:
                y = p.broadcast(y, [m if k == c else e for k, e in zip(b, y.shape, strict=True)])
    out = "".join(c for c in dict.fromkeys(a + b) if c in later or (c in a) != (c in b))
    return out, p.Contract(a, b, out)(x, y)
