"""Functions that hardly a program names: older spellings, sums before a norm, rows of tokens sorted by expert."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice as one_of
from mycelia.checks import only, whole
from mycelia.eager import Tensor, as_dtype, cast, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import (
    creation,
    decompositions,
    distributions,
    joining,
    linalg,
    movement,
    order,
    pooling,
    special,
    state,
)
from mycelia.ops.arguments import floated, tensor
from mycelia.ops.primitive_seldom import coalesced
from mycelia.ops.sparse import COOTensor, CSRTensor, RowTensor, SparseTensor
from mycelia.types import float32, int32, int64

__all__ = [
    "add_layer_norm", "add_rms_norm", "array_to_scalar", "bernoulli_", "clamp_", "coalesce", "coo2csr",
    "coo_tensor_get_dense_shape", "coo_tensor_get_indices", "coo_tensor_get_values", "csr2coo", "csr_div",
    "csr_gather", "csr_mm", "csr_tensor_get_dense_shape", "csr_tensor_get_indices", "csr_tensor_get_indptr",
    "csr_tensor_get_values", "erfinv_", "exponential_", "hastype", "i0", "inplace_sigmoid", "isconstant",
    "make_coo_tensor", "make_csr_tensor", "make_row_tensor", "make_row_tensor_inner", "make_sparse_tensor",
    "moe_token_permute", "moe_token_unpermute", "move_to", "normal_", "poisson", "put_", "random_categorical",
    "reshape_", "rotary_position_embedding", "row_stack", "row_tensor_add", "row_tensor_get_dense_shape",
    "row_tensor_get_indices", "row_tensor_get_values", "shape_", "stop_gradient_", "tail", "tanh_", "tensor_expm1",
    "tensor_muls", "tensor_range", "tensor_slice", "top_k", "tuple_div", "typeof", "uniform_", "upsample", "zero_",
]  # fmt: skip


# ---------------------------------------------------------------------------------------------------- older spellings


def i0(input: Any) -> Tensor:
    """Bessel's function of imaginary arguments and order 0.

    >>> i0(Tensor([0.0])).tolist()
    [1.0]
    """
    return special.bessel_i0(input)


def poisson(shape: Any, mean: Any, seed: int | None = None) -> Tensor:
    """Whole numbers of Poisson's distribution.

    >>> poisson((2,), Tensor(0.0)).tolist()
    [0.0, 0.0]
    """
    return distributions.random_poisson(shape, mean, seed, float32)


def random_categorical(logits: Any, num_sample: int, seed: int = 0, dtype: Any = int64) -> Tensor:
    """Positions drawn with the probabilities that rows of logarithms give: so many for each row.

    >>> random_categorical(Tensor([[-100.0, 100.0]]), 3).tolist()
    [[1, 1, 1]]
    """
    return tensor(logits).random_categorical(num_sample, seed, as_dtype(dtype))


def row_stack(tensors: Sequence[Any]) -> Tensor:
    """Tensors one below the other, those of one axis as rows.

    >>> row_stack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return joining.vstack(tensors)


def top_k(input_x: Any, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The largest elements along the last axis, and where they are.

    >>> [t.tolist() for t in top_k(Tensor([1.0, 3.0, 2.0]), 2)]
    [[3.0, 2.0], [1, 2]]
    """
    return order.topk(input_x, k, sorted=sorted)


def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """Images of another size, as `interpolate` makes them.

    >>> upsample(Tensor([[[1.0, 2.0]]]), 4).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    return pooling.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def tensor_range(start: Any, end: Any, step: Any) -> Tensor:
    """Numbers from `start` in steps, as far as `end`.

    >>> tensor_range(0, 4, 2).tolist()
    [0, 2]
    """
    return creation.range(start, end, step)


def tensor_slice(input: Any, begin: Any, size: Any) -> Tensor:
    """A block of a tensor.

    >>> tensor_slice(Tensor([1, 2, 3]), (1,), (2,)).tolist()
    [2, 3]
    """
    return movement.slice(input, begin, size)


def tensor_expm1(input: Any) -> Tensor:
    """`exp(x) - 1`, precise where it is small.

    >>> tensor_expm1(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.expm1(floated(input))


def tensor_muls(input: Any, other: Any) -> Tensor:
    """The product with a number.

    >>> tensor_muls(Tensor([2.0]), 3).tolist()
    [6.0]
    """
    return tensor(input) * other


def shape_(x: Any) -> tuple[int, ...]:
    """The shape of a tensor.

    >>> shape_(Tensor([[1, 2]]))
    (1, 2)
    """
    return tensor(x).shape


def array_to_scalar(x: Any) -> Any:
    """The number in a tensor of one element.

    >>> array_to_scalar(Tensor([2.5]))
    2.5
    """
    return tensor(x).item()


def typeof(x: Any) -> Any:
    """The type of the elements of a tensor, of a number the type of MindSpore's that it has.

    >>> typeof(Tensor([1.0]))
    float32
    """
    return tensor(x).dtype


def hastype(x: Any, kind: Any) -> bool:
    """Whether elements have a type.

    >>> hastype(Tensor([1.0]), "float32")
    True
    """
    return tensor(x).dtype == as_dtype(kind)


def isconstant(x: Any) -> bool:
    """Whether a value is known before a program runs: all but tensors are.

    >>> isconstant(3), isconstant(Tensor(3))
    (True, False)
    """
    return not isinstance(x, Tensor)


def tuple_div(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    """The quotients of whole numbers, which go evenly.

    >>> tuple_div((6, 4), (2, 4))
    (3, 1)
    """
    if len(x) != len(y) or any(b == 0 or a % b for a, b in zip(x, y, strict=True)):
        raise ArgumentError("tuple_div takes pairs of whole numbers that go evenly", given={"x": x, "y": y})
    return tuple(a // b for a, b in zip(x, y, strict=True))


def tail(x: Sequence[Any]) -> Any:
    """All but the first.

    >>> tail((1, 2, 3))
    (2, 3)
    """
    return x[1:]


# ------------------------------------------------------------------------------------------------------ what is changed


def _changed(input: Any, name: str) -> Any:
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name} changes a tensor", given={"input": input})
    return input


def inplace_sigmoid(input: Any) -> Tensor:
    """The logistic function, written over its argument.

    >>> inplace_sigmoid(Tensor([0.0])).tolist()
    [0.5]
    """
    return _changed(input, "inplace_sigmoid").sigmoid_()


def stop_gradient_(input: Any) -> Tensor:
    """The tensor, through which no gradient flows any more.

    >>> stop_gradient_(Tensor([1.0])).tolist()
    [1.0]
    """
    return state.stop_gradient(_changed(input, "stop_gradient_"))


def zero_(input: Any) -> Tensor:
    """The tensor, all of whose elements become 0.

    >>> zero_(Tensor([1.0])).tolist()
    [0.0]
    """
    return _changed(input, "zero_").zero_()


def tanh_(input: Any) -> Tensor:
    """The hyperbolic tangent, written over its argument.

    >>> tanh_(Tensor([0.0])).tolist()
    [0.0]
    """
    return _changed(input, "tanh_").tanh_()


def erfinv_(input: Any) -> Tensor:
    """The inverse of the error function, written over its argument.

    >>> erfinv_(Tensor([0.0])).tolist()
    [0.0]
    """
    return _changed(input, "erfinv_").erfinv_()


def clamp_(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """The tensor, whose elements are moved between two bounds.

    >>> clamp_(Tensor([1.0, 5.0]), 2.0, 3.0).tolist()
    [2.0, 3.0]
    """
    return _changed(input, "clamp_").clamp_(min, max)


def put_(input: Any, index: Any, source: Any, accumulate: bool = False) -> Tensor:
    """The tensor, into which numbers are written (or added) at positions of it read flat.

    >>> put_(Tensor([1.0, 5.0]), Tensor([1]), Tensor([7.0])).tolist()
    [1.0, 7.0]
    """
    return _changed(input, "put_").put_(index, source, accumulate)


def bernoulli_(input: Any, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """The tensor, whose elements become 1 with a probability, and else 0.

    >>> bernoulli_(Tensor([5.0]), 1.0).tolist()
    [1.0]
    """
    return _changed(input, "bernoulli_").bernoulli_(p, generator=generator)


def exponential_(input: Any, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """The tensor, filled with numbers of the exponential distribution.

    >>> exponential_(Tensor([-1.0])).item() >= 0
    True
    """
    return _changed(input, "exponential_").exponential_(lambd, generator=generator)


def normal_(input: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """The tensor, filled with normal numbers.

    >>> normal_(Tensor([5.0]), 3.0, 0.0).tolist()
    [3.0]
    """
    return _changed(input, "normal_").normal_(mean, std, generator=generator)


def uniform_(input: Any, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """The tensor, filled with numbers that are as likely everywhere between two.

    >>> 0 <= uniform_(Tensor([5.0])).item() < 1
    True
    """
    return _changed(input, "uniform_").uniform_(from_, to, generator=generator)


def move_to(input: Any, to: str = "CPU", blocking: bool = True) -> Tensor:
    """The tensor in the memory of the processor.

    >>> move_to(Tensor([5.0])).tolist()
    [5.0]
    """
    return _changed(input, "move_to").move_to(to, blocking)


def reshape_(input: Any, shape: Any) -> Tensor:
    """A view of a tensor with another shape.

    >>> reshape_(Tensor([1, 2]), (2, 1)).shape
    (2, 1)
    """
    return movement.reshape(_changed(input, "reshape_"), shape)


# ----------------------------------------------------------------------------------------------------- norms and tokens


def add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Tensor, Tensor, Tensor]:
    """The sum of two tensors by the root of the mean of its squares along the last axis, weighed; one over this root;
    and the sum.

    >>> [t.tolist() for t in add_rms_norm(Tensor([[1.0, 1.0]]), Tensor([[1.0, 1.0]]), Tensor([1.0, 3.0]), 0.0)]
    [[[1.0, 3.0]], [[0.5]], [[2.0, 2.0]]]
    """
    x = floated(tensor(x1) + tensor(x2))
    wide = cast(x, float32)
    scale = p.rsqrt(p.mean(wide * wide, (x.ndim - 1,), True) + epsilon)
    return cast(wide * scale, x.dtype) * tensor(gamma), scale, x


def add_layer_norm(
    x1: Any, x2: Any, gamma: Any, beta: Any, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The sum of two tensors, normalised along the last axis, weighed and shifted; its means; one over its standard
    deviations; and the sum, or zeros if it is not asked for.

    >>> add_layer_norm(Tensor([[1.0, 3.0]]), Tensor([[0.0, 0.0]]), Tensor([1.0, 1.0]), Tensor([0.0, 0.0]))[1].tolist()
    [[2.0]]
    """
    x = floated(tensor(x1) + tensor(x2))
    wide, axis = cast(x, float32), (x.ndim - 1,)
    mean = p.mean(wide, axis, True)
    apart = wide - mean
    scale = p.rsqrt(p.mean(apart * apart, axis, True) + epsilon)
    found = cast(apart * scale, x.dtype) * tensor(gamma) + tensor(beta)
    return found, mean, scale, x if additional_output else creation.zeros_like(x)


def rotary_position_embedding(x: Any, cos: Any, sin: Any, mode: int = 0) -> Tensor:
    """Pairs of numbers along the last axis turned by angles: each of the first half with one of the second (mode 0), or
    neighbours (mode 1).

    >>> rotary_position_embedding(Tensor([[[[1.0, 2.0]]]]), Tensor([[[[0.0, 0.0]]]]), Tensor([[[[1.0, 1.0]]]])).tolist()
    [[[[-2.0, 1.0]]]]
    """
    x = floated(x)
    one_of("rotary_position_embedding", "mode", mode, (0, 1))
    extent, last = x.shape[-1], x.ndim - 1
    if x.ndim != 4 or extent % 2:
        raise ShapeError(f"tensors of four axes, the last of an even length, are turned, not shape {x.shape}")
    if mode == 0:
        turned = p.concat([-p.take(x, last, extent // 2, extent), p.take(x, last, 0, extent // 2)], last)
    else:
        pairs = p.reshape(x, (*x.shape[:-1], extent // 2, 2))
        turned = p.reshape(p.concat([-p.take(pairs, 4, 1, 2), p.take(pairs, 4, 0, 1)], 4), x.shape)
    return x * cast(tensor(cos), x.dtype) + turned * cast(tensor(sin), x.dtype)


def moe_token_permute(
    tokens: Any, indices: Any, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """Tokens (rows), once for each of their experts, sorted by expert; and where in them each is found.

    >>> [t.tolist() for t in moe_token_permute(Tensor([[1.0], [2.0], [3.0]]), Tensor([2, 0, 1]))]
    [[[2.0], [3.0], [1.0]], [2, 0, 1]]
    """
    only("moe_token_permute", "padded_mode", padded_mode, False, "leave padded_mode out")
    rows, experts = tensor(tokens), tensor(indices)
    if rows.ndim != 2 or experts.shape[:1] != rows.shape[:1] or experts.ndim not in (1, 2):
        raise ShapeError(f"rows and experts of each row are taken, not shapes {rows.shape} and {experts.shape}")
    each = 1 if experts.ndim == 1 else experts.shape[1]
    by = order.order_of(p.reshape(experts, (experts.size,)), 0, False)
    where = order.order_of(by, 0, False)
    count = experts.size if num_out_tokens is None else whole("moe_token_permute", "num_out_tokens", num_out_tokens, 0)
    chosen = p.take(by, 0, 0, min(count, experts.size))
    return p.gather(rows, chosen // each, 0), cast(where, int32)


def moe_token_unpermute(
    permuted_tokens: Any, sorted_indices: Any, probs: Any = None, padded_mode: bool = False, restore_shape: Any = None
) -> Tensor:
    """Tokens back in their order; those of several experts added up, weighed with probabilities.

    >>> moe_token_unpermute(Tensor([[2.0], [3.0], [1.0]]), Tensor([2, 0, 1])).tolist()
    [[1.0], [2.0], [3.0]]
    """
    only("moe_token_unpermute", "padded_mode", padded_mode, False, "leave padded_mode out")
    only("moe_token_unpermute", "restore_shape", restore_shape, None, "leave restore_shape out")
    found = p.gather(tensor(permuted_tokens), cast(tensor(sorted_indices), int64), 0)
    if probs is None:
        return found
    weights = tensor(probs)
    parts = p.reshape(found, (*weights.shape, found.shape[1]))
    return p.reduce_sum(parts * p.expand_dims(cast(weights, found.dtype), (2,)), (1,))


# --------------------------------------------------------------------------------------------------------------- sparse


def coalesce(x_indices: Any, x_values: Any, x_shape: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A sparse tensor, positions (axes, elements), in which each position occurs once: what was there is added up.

    >>> [t.tolist() for t in coalesce(Tensor([[0, 0, 1], [1, 1, 2]]), Tensor([1.0, 5.0, 4.0]), Tensor([3, 3]))][1]
    [6.0, 4.0]
    """
    return coalesced(x_indices, x_values, x_shape)


def make_coo_tensor(indices: Any, values: Any, dense_shape: Any) -> COOTensor:
    """A sparse tensor of positions and values.

    >>> make_coo_tensor(Tensor([[0]]), Tensor([1.0]), (2,)).to_dense().tolist()
    [1.0, 0.0]
    """
    return COOTensor(indices, values, dense_shape)


def make_csr_tensor(indptr: Any, indices: Any, values: Any, shape: Any) -> CSRTensor:
    """A sparse tensor of rows.

    >>> make_csr_tensor(Tensor([0, 1]), Tensor([1]), Tensor([2.0]), (1, 2)).to_dense().tolist()
    [[0.0, 2.0]]
    """
    return CSRTensor(indptr, indices, values, shape)


def make_row_tensor(indices: Any, values: Any, dense_shape: Any) -> RowTensor:
    """Some rows of a tensor.

    >>> make_row_tensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2)).dense_shape
    (3, 2)
    """
    return RowTensor(indices, values, dense_shape)


def make_row_tensor_inner(indices: Any, values: Any, dense_shape: Any) -> RowTensor:
    """Some rows of a tensor.

    >>> make_row_tensor_inner(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2)).dense_shape
    (3, 2)
    """
    return RowTensor(indices, values, dense_shape)


def make_sparse_tensor(indices: Any, values: Any, dense_shape: Any) -> SparseTensor:
    """A sparse tensor of positions and values, by its older name.

    >>> make_sparse_tensor(Tensor([[0]]), Tensor([1.0]), (2,)).values.tolist()
    [1.0]
    """
    return SparseTensor(indices, values, dense_shape)


def row_tensor_add(row_tensor: RowTensor, dense: Any) -> Tensor:
    """A tensor with rows added to it.

    >>> row_tensor_add(RowTensor(Tensor([1]), Tensor([[1.0]]), (2, 1)), Tensor([[5.0], [6.0]])).tolist()
    [[5.0], [7.0]]
    """
    return p.scatter_add(tensor(dense), cast(row_tensor.indices, int64), row_tensor.values, 0)


def csr_div(x: CSRTensor, y: Any) -> CSRTensor:
    """The quotient by a dense tensor, where there are values.

    >>> csr_div(CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([6.0]), (1, 2)), Tensor([[1.0, 2.0]])).values.tolist()
    [3.0]
    """
    return x * (1.0 / tensor(y))


def csr_mm(
    a: CSRTensor, b: Any, trans_a: bool = False, trans_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False
) -> Any:
    """The product of a sparse matrix and another: sparse if both are.

    >>> a = CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([6.0]), (1, 2))
    >>> csr_mm(a, Tensor([[1.0], [2.0]])).tolist()
    [[12.0]]
    """
    left, right = a.to_dense(), b.to_dense() if isinstance(b, CSRTensor) else tensor(b)
    left = decompositions.adjoint(left) if adjoint_a else movement.swapaxes(left, 0, 1) if trans_a else left
    right = decompositions.adjoint(right) if adjoint_b else movement.swapaxes(right, 0, 1) if trans_b else right
    found = linalg.matmul(left, right)
    return found.to_csr() if isinstance(b, CSRTensor) else found


def csr_gather(indptr: Any, indices: Any, dense: Any, shape: Any) -> Tensor:
    """The elements of a dense tensor where a sparse one of rows has values.

    >>> csr_gather(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (2, 2)).tolist()
    [2.0, 3.0]
    """
    rows = csr2coo(indptr, tensor(indices).size)
    return movement.broadcast_to(tensor(dense), tuple(shape))[rows, cast(tensor(indices), int64)]


def csr2coo(indptr: Any, values: int) -> Tensor:
    """The row of each value, of where rows begin and the last ends.

    >>> csr2coo(Tensor([0, 2, 2, 3]), 3).tolist()
    [0, 0, 2]
    """
    ends = tensor(indptr)
    counts = np.diff(ends.asnumpy())
    if counts.sum() != values:
        raise ArgumentError("the rows of a sparse tensor have as many values as there are", given={"values": values})
    return wrap(np.repeat(np.arange(counts.size), counts).astype(ends.dtype.numpy))


def coo2csr(row_indices: Any, height: int) -> Tensor:
    """Where rows begin and the last ends, of the row of each value, in order.

    >>> coo2csr(Tensor([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    rows = tensor(row_indices)
    counts = np.bincount(rows.asnumpy(), minlength=whole("coo2csr", "height", height, least=0))
    return wrap(np.concatenate([[0], np.cumsum(counts)]).astype(rows.dtype.numpy))


def _part(name: str, attribute: str, words: str, made: str, shown: str) -> Callable[[Any], Any]:
    """A function that tells a part of a sparse tensor."""

    def tell(x: Any) -> Any:
        return getattr(x, attribute)

    tell.__name__ = tell.__qualname__ = name
    told = "" if shown.startswith("(") else ".tolist()"
    tell.__doc__ = f"{words}\n\n    >>> {name}({made}){told}\n    {shown}\n    "
    return tell


_COO = "COOTensor(Tensor([[1]]), Tensor([5.0]), (2,))"
_CSR = "CSRTensor(Tensor([0, 1]), Tensor([1]), Tensor([5.0]), (1, 2))"
_ROW = "RowTensor(Tensor([1]), Tensor([[5.0]]), (2, 1))"
coo_tensor_get_dense_shape = _part("coo_tensor_get_dense_shape", "shape", "The shape.", _COO, "(2,)")
coo_tensor_get_indices = _part("coo_tensor_get_indices", "indices", "The positions.", _COO, "[[1]]")
coo_tensor_get_values = _part("coo_tensor_get_values", "values", "The values.", _COO, "[5.0]")
csr_tensor_get_dense_shape = _part("csr_tensor_get_dense_shape", "shape", "The shape.", _CSR, "(1, 2)")
csr_tensor_get_indices = _part("csr_tensor_get_indices", "indices", "The columns.", _CSR, "[1]")
csr_tensor_get_indptr = _part("csr_tensor_get_indptr", "indptr", "Where rows begin, and the last ends.", _CSR, "[0, 1]")
csr_tensor_get_values = _part("csr_tensor_get_values", "values", "The values.", _CSR, "[5.0]")
row_tensor_get_dense_shape = _part("row_tensor_get_dense_shape", "dense_shape", "The shape.", _ROW, "(2, 1)")
row_tensor_get_indices = _part("row_tensor_get_indices", "indices", "The numbers of rows.", _ROW, "[1]")
row_tensor_get_values = _part("row_tensor_get_values", "values", "The rows.", _ROW, "[[5.0]]")
