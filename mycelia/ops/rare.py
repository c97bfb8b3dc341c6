"""Functions that hardly any program calls: means of listed rows, windows put together."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import sampling
from mycelia.ops.arguments import floated, method, per_axis, tensor
from mycelia.types import int32, int64

__all__ = ["col2im", "sparse_segment_mean"]


def sparse_segment_mean(x: Any, indices: Any, segment_ids: Any) -> Tensor:
    """The means of rows: row `indices[i]` belongs to segment `segment_ids[i]`, and segments are in order.

    >>> sparse_segment_mean(Tensor([[1.0], [3.0]]), Tensor([0, 1, 1]), Tensor([0, 0, 2])).tolist()
    [[2.0], [0.0], [3.0]]
    """
    x, rows, ids = floated(x), tensor(indices), tensor(segment_ids)
    numbers = ids.numbers()
    if rows.shape != ids.shape or ids.ndim != 1 or not x.ndim:
        raise ShapeError("sparse_segment_mean takes a row and a segment each", given={"segment_ids": ids.shape})
    if numbers.size == 0 or numbers[0] < 0 or (numbers[1:] < numbers[:-1]).any():
        raise ArgumentError("numbers of segments are in order, from 0 on", given={"segment_ids": ids})
    count = int(numbers[-1]) + 1
    read = p.gather(x, rows, 0)
    total = p.scatter_add(created(p.Full(0, x.dtype, (count, *x.shape[1:]))), cast(ids, int64), read, 0)
    many = p.scatter_add(created(p.Full(0, int32, (count,))), cast(ids, int64), created(p.Full(1, int32, ids.shape)), 0)
    return total / p.reshape(cast(p.maximum(many, 1), x.dtype), (count, *(1,) * (x.ndim - 1)))


@method()
def col2im(input_x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Tensor:
    """Images of `output_size` from their windows as columns (N, C, window, windows), added where they overlap.

    >>> col2im(Tensor([[[[1.0, 2.0], [2.0, 3.0]]]]), (1, 3), (1, 2), 1, 0, 1).tolist()
    [[[[1.0, 4.0, 3.0]]]]
    """
    x = tensor(input_x)
    window = per_axis("kernel_size", kernel_size, 2)
    if x.ndim != 4 or x.shape[2] != prod(window):
        raise ShapeError(f"col2im takes (N, C, {prod(window)}, windows), not shape {x.shape}")
    flat = p.reshape(x, (x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))
    return sampling.fold(flat, output_size, window, dilation, padding_value, stride)
