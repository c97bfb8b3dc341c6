"""Functions that are called in another way than in `ops`: with other names, defaults or results."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code="no-any-return, no-untyped-call"

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.checks import only, truth
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.mint.along import cast, places

__all__ = [
    "argsort",
    "bernoulli",
    "bmm",
    "cat",
    "chunk",
    "clone",
    "concat",
    "conv2d",
    "diag",
    "diff",
    "empty_like",
    "flatten",
    "full",
    "gather",
    "index_add",
    "index_select",
    "multinomial",
    "narrow",
    "normal",
    "permute",
    "randperm",
    "scatter",
    "scatter_add",
    "select",
    "softmax",
    "sort",
    "split",
    "squeeze",
    "stack",
    "tile",
    "topk",
    "transpose",
    "unsqueeze",
    "vdot",
    "where",
]


def _stable(stable: bool, found: Any) -> Any:
    """What is in order: equal elements keep their order whether or not that is asked for."""
    truth("sort", "stable", stable)
    return found


def _here(device: Any, x: Any) -> Any:
    only("empty_like", "device", device, None, "there is one device")
    return x


def _sorted(input: Any, dim: int, descending: bool) -> Any:
    return places(ops.sort(input, dim, descending))


def _normal(mean: Any, std: Any, size: Any, generator: Any) -> Any:
    if size is None and not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise ArgumentError(
            "normal needs a size, or the mean or the deviation as a tensor", hint="normal(0.0, 1.0, (2,))"
        )
    return ops.normal(() if size is None else size, mean, std, generator=generator)


def _scatter(input: Any, dim: int, index: Any, src: Any) -> Any:
    values = src if isinstance(src, Tensor) else ops.full_like(index, src, dtype=input.dtype)
    return ops.tensor_scatter_elements(input, index, values, dim)


def _where(condition: Any, input: Any, other: Any) -> Any:
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    return ops.where(condition, input, other)


def _conv2d(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    if isinstance(padding, str):
        return ops.conv2d(x, weight, bias, stride, padding, 0, dilation, groups)
    return ops.conv2d(x, weight, bias, stride, "pad", padding, dilation, groups)


def argsort(input: Any, dim: Any = -1, descending: bool = False, stable: bool = False) -> Any:
    """The positions that put elements in order; equal ones always keep theirs.

    >>> argsort(Tensor([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    return _stable(stable, ops.argsort(input, dim, descending)).astype("int64")


def bernoulli(input: Any, *, generator: Any = None) -> Any:
    """One with the probability of each element, else zero.

    >>> bernoulli(Tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    return ops.bernoulli(input, input, generator=generator)


def bmm(input: Any, mat2: Any) -> Any:
    """The products of matrices in two batches.

    >>> bmm(Tensor([[[2.0]]]), Tensor([[[3.0]]])).tolist()
    [[[6.0]]]
    """
    return ops.bmm(input, mat2)


def cat(tensors: Any, dim: Any = 0) -> Any:
    """Tensors one behind the other along an axis.

    >>> cat([Tensor([1]), Tensor([2])]).tolist()
    [1, 2]
    """
    return ops.cat(tensors, dim)


def concat(tensors: Any, dim: Any = 0) -> Any:
    """Tensors one behind the other along an axis.

    >>> concat([Tensor([1]), Tensor([2])]).tolist()
    [1, 2]
    """
    return ops.cat(tensors, dim)


def chunk(input: Any, chunks: int, dim: Any = 0) -> Any:
    """At most so many parts of one size along an axis.

    >>> len(chunk(Tensor([1, 2]), 2))
    2
    """
    return ops.chunk(input, chunks, dim)


def clone(input: Any) -> Any:
    """A tensor with the same numbers, through which gradients flow.

    >>> clone(Tensor([1])).tolist()
    [1]
    """
    return ops.deepcopy(input)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolution in a plane.

    >>> conv2d(Tensor([[[[2.0]]]]), Tensor([[[[3.0]]]])).item()
    6.0
    """
    return _conv2d(input, weight, bias, stride, padding, dilation, groups)


def diag(input: Any, diagonal: int = 0) -> Any:
    """A matrix with this diagonal, or the diagonal of a matrix.

    >>> diag(Tensor([1, 2])).tolist(), diag(Tensor([[1, 2], [3, 4]]), 1).tolist()
    ([[1, 0], [0, 2]], [2])
    """
    return ops.diagonal(input, diagonal) if input.ndim == 2 else ops.diag_embed(input, diagonal)


def diff(input: Any, n: int = 1, dim: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences between neighbours along an axis, n times over.

    >>> diff(Tensor([1, 4])).tolist()
    [3]
    """
    return ops.diff(input, n, dim, prepend, append)


def empty_like(input: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of the same shape whose numbers mean nothing: zeros.

    >>> empty_like(Tensor([1, 2])).shape
    (2,)
    """
    return ops.zeros_like(_here(device, input), dtype=dtype)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Axes from one to another as one.

    >>> flatten(Tensor([[1, 2]])).tolist()
    [1, 2]
    """
    return ops.flatten(input, start_dim=start_dim, end_dim=end_dim)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """One number everywhere.

    >>> full((2,), 3).tolist()
    [3, 3]
    """
    return ops.full(size, fill_value, dtype=dtype)


def gather(input: Any, dim: Any, index: Any) -> Any:
    """For each place of `index`, the element at that place, but along one axis at that position.

    >>> gather(Tensor([[1, 2]]), 1, Tensor([[1]])).tolist()
    [[2]]
    """
    return ops.gather_elements(input, dim, index)


def index_add(input: Any, dim: Any, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """A tensor with slices, times alpha, added at positions of an axis.

    >>> index_add(Tensor([1.0]), 0, Tensor([0]), Tensor([2.0])).tolist()
    [3.0]
    """
    return ops.index_add(input, index, source if alpha == 1 else ops.mul(source, alpha), dim)


def index_select(input: Any, dim: Any, index: Any) -> Any:
    """Slices along an axis, at positions.

    >>> index_select(Tensor([1, 2]), 0, Tensor([1])).tolist()
    [2]
    """
    return ops.index_select(input, dim, index)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Positions, each drawn as likely as its weight says.

    >>> multinomial(Tensor([0.0, 1.0]), 1).tolist()
    [1]
    """
    return ops.multinomial(input, num_samples, replacement, generator=generator).astype("int64")


def narrow(input: Any, dim: Any, start: int, length: int) -> Any:
    """So many slices along an axis, from one on.

    >>> narrow(Tensor([1, 2, 3]), 0, 1, 2).tolist()
    [2, 3]
    """
    return ops.narrow(input, dim, start, length)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Any:
    """Numbers of a normal distribution.

    >>> normal(0.0, 1.0, (2,)).shape
    (2,)
    """
    return _normal(mean, std, size, generator)


def permute(input: Any, dims: Any) -> Any:
    """The axes in another order.

    >>> permute(Tensor([[1, 2]]), (1, 0)).shape
    (2, 1)
    """
    return ops.permute(input, dims)


def randperm(n: int, *, generator: Any = None, dtype: Any = "int64") -> Any:
    """The numbers below n in random order.

    >>> sorted(randperm(3).tolist())
    [0, 1, 2]
    """
    return ops.randperm(n, dtype=dtype, generator=generator)


def scatter(input: Any, dim: Any, index: Any, src: Any) -> Any:
    """A tensor in which each element of `src` is written at its own place, but along one axis at that of `index`.

    >>> scatter(Tensor([1.0, 2.0]), 0, Tensor([1]), Tensor([9.0])).tolist()
    [1.0, 9.0]
    """
    return _scatter(input, dim, index, src)


def scatter_add(input: Any, dim: Any, index: Any, src: Any) -> Any:
    """A tensor in which each element of `src` is added at its own place, but along one axis at that of `index`.

    >>> scatter_add(Tensor([1.0, 2.0]), 0, Tensor([1]), Tensor([9.0])).tolist()
    [1.0, 11.0]
    """
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def select(input: Any, dim: Any, index: Any) -> Any:
    """The slice at one position of an axis.

    >>> select(Tensor([[1, 2]]), 1, 1).tolist()
    [2]
    """
    return ops.squeeze(ops.narrow(input, dim, index, 1), dim)


def softmax(input: Any, dim: Any, *, dtype: Any = None) -> Any:
    """Exponentials along an axis that add up to one.

    >>> softmax(Tensor([0.0, 0.0]), 0).tolist()
    [0.5, 0.5]
    """
    return ops.softmax(cast(input, dtype), dim)


def sort(input: Any, *, dim: Any = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along an axis, and where they were; equal ones always keep their order.

    >>> sort(Tensor([3, 1]))[0].tolist()
    [1, 3]
    """
    return _stable(stable, _sorted(input, dim, descending))


def split(tensor: Any, split_size_or_sections: Any, dim: Any = 0) -> Any:
    """Parts of one size, or of these sizes, along an axis.

    >>> len(split(Tensor([1, 2, 3]), 2))
    2
    """
    return ops.split(tensor, split_size_or_sections, dim)


def squeeze(input: Any, dim: Any = ()) -> Any:
    """Axes of one element left out.

    >>> squeeze(Tensor([[1]]), 0).shape
    (1,)
    """
    return ops.squeeze(input, dim)


def stack(tensors: Any, dim: Any = 0) -> Any:
    """Tensors along a new axis.

    >>> stack([Tensor(1), Tensor(2)]).tolist()
    [1, 2]
    """
    return ops.stack(tensors, dim)


def tile(input: Any, dims: Any) -> Any:
    """A tensor repeated so often along each axis.

    >>> tile(Tensor([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    return ops.tile(input, tuple(dims))


def topk(input: Any, k: int, dim: Any = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest or smallest elements along an axis, and where they are.

    >>> topk(Tensor([1, 3, 2]), 2)[0].tolist()
    [3, 2]
    """
    return places(ops.topk(input, k, dim, largest, sorted))


def transpose(input: Any, dim0: Any, dim1: Any) -> Any:
    """Two axes exchanged.

    >>> transpose(Tensor([[1, 2]]), 0, 1).shape
    (2, 1)
    """
    return ops.swapaxes(input, dim0, dim1)


def unsqueeze(input: Any, dim: Any) -> Any:
    """A new axis of one element.

    >>> unsqueeze(Tensor([1]), 0).shape
    (1, 1)
    """
    return ops.unsqueeze(input, dim)


def vdot(input: Any, other: Any) -> Any:
    """The sum of products of two vectors; of complex ones, of the first one's conjugates.

    >>> vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).item()
    11.0
    """
    products = ops.mul(ops.conj(input), other)
    return ops.sum(products, dtype=products.dtype)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """One tensor where a condition holds, else another; the condition alone, where it holds.

    >>> where(Tensor([True, False]), Tensor(1), Tensor(2)).tolist()
    [1, 2]
    """
    return _where(condition, input, other)
