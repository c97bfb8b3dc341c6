"""What all processes of a group do together; results are written into tensors that the caller gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia import checks, ops
from mycelia.communication import exchange
from mycelia.communication import group as groups
from mycelia.communication.exchange import CommHandle
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.mint.distributed.given import a_tensor, combined, done_by, named, one_each, row_counts, row_parts, write
from mycelia.mint.distributed.membership import get_group_rank


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write into a tensor the sum (or "prod", "min", "max") of those of all processes.

    >>> x = Tensor([1.0, 2.0])
    >>> all_reduce(x)
    >>> x.tolist()
    [1.0, 2.0]
    """
    x, done = a_tensor("all_reduce", "tensor", tensor), done_by("all_reduce", async_op)
    x.assign_value(ops.all_reduce(x, op, named(group)))
    return done


def reduce(
    tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write into the tensor of the process `dst` the sum of those of all; other tensors stay as they are.

    >>> x = Tensor([1.0, 2.0])
    >>> reduce(x, 0)
    >>> x.tolist()
    [1.0, 2.0]
    """
    x, name, done = a_tensor("reduce", "tensor", tensor), named(group), done_by("reduce", async_op)
    target = get_group_rank(name, dst)
    total = combined("reduce", x.asnumpy(), op, name)
    if groups.get_rank(name) == target:
        write("reduce", x, total)
    return done


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write into a tensor what that of the process `src` holds.

    >>> x = Tensor([1.0, 2.0])
    >>> broadcast(x, 0)
    >>> x.tolist()
    [1.0, 2.0]
    """
    x, done = a_tensor("broadcast", "tensor", tensor), done_by("broadcast", async_op)
    write("broadcast", x, exchange.from_one(x.asnumpy(), src, named(group)))
    return done


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> CommHandle | None:
    """Go on when all processes of the group have come here.

    >>> barrier()
    """
    checks.only("barrier", "device_ids", device_ids, None, "there is one device in a process")
    exchange.everyone(None, named(group))
    return done_by("barrier", async_op)


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write into a list of tensors those of all processes.

    >>> found = [Tensor([0.0, 0.0])]
    >>> all_gather(found, Tensor([1.0, 2.0]))
    >>> found[0].tolist()
    [1.0, 2.0]
    """
    name, done = named(group), done_by("all_gather", async_op)
    outputs = one_each("all_gather", "tensor_list", tensor_list, name)
    given = exchange.everyone(a_tensor("all_gather", "tensor", tensor).asnumpy(), name)
    for output, value in zip(outputs, given, strict=True):
        write("all_gather", output, value)
    return done


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes one behind the other along the first axis of a tensor.

    >>> out = Tensor([[0.0], [0.0]])
    >>> all_gather_into_tensor(out, Tensor([[1.0], [2.0]]))
    >>> out.tolist()
    [[1.0], [2.0]]
    """
    return all_gather_into_tensor_uneven(output_tensor, input_tensor, None, group, async_op)


def all_gather_into_tensor_uneven(
    output: Tensor, input: Tensor, output_split_sizes: Sequence[int] | None = None, group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:  # fmt: skip
    """Write the tensors of all processes, of so many rows each, one behind the other along the first axis.

    >>> out = Tensor([0.0, 0.0])
    >>> all_gather_into_tensor_uneven(out, Tensor([1.0, 2.0]), [2])
    >>> out.tolist()
    [1.0, 2.0]
    """
    owner, name, done = "all_gather_into_tensor", named(group), done_by("all_gather_into_tensor", async_op)
    out, given = a_tensor(owner, "output", output), a_tensor(owner, "input", input).asnumpy()
    sizes = row_counts(owner, "output_split_sizes", output_split_sizes, out.shape[0] if out.ndim else 0, name)
    found = [np.atleast_1d(a) for a in exchange.everyone(given, name)]
    if [a.shape[0] for a in found] != sizes:
        raise ArgumentError(
            f"{owner}: the processes have {[a.shape[0] for a in found]} rows, and {sizes} were said",
            hint="all_gather_into_tensor_uneven takes other numbers of rows, as output_split_sizes",
        )
    write(owner, out, np.concatenate(found))
    return done


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write into a tensor the sum over all processes of that element of their lists which has the rank of this one.

    >>> out = Tensor([0.0])
    >>> reduce_scatter(out, [Tensor([3.0])])
    >>> out.tolist()
    [3.0]
    """
    name, done = named(group), done_by("reduce_scatter", async_op)
    given = one_each("reduce_scatter", "input_list", input_list, name)
    totals = [combined("reduce_scatter", a_tensor("reduce_scatter", "input", x).asnumpy(), op, name) for x in given]
    write("reduce_scatter", output, totals[groups.get_rank(name)])
    return done


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write into a tensor the share of this process, along the first axis, of the sum over all processes.

    >>> out = Tensor([0.0, 0.0])
    >>> reduce_scatter_tensor(out, Tensor([1.0, 2.0]))
    >>> out.tolist()
    [1.0, 2.0]
    """
    return reduce_scatter_tensor_uneven(output, input, None, op, group, async_op)


def reduce_scatter_tensor_uneven(
    output: Tensor, input: Tensor, input_split_sizes: Sequence[int] | None = None, op: str = "sum",
    group: str | None = None, async_op: bool = False,
) -> CommHandle | None:  # fmt: skip
    """Write into a tensor the rows of this process, of so many for each, of the sum over all processes.

    >>> out = Tensor([0.0, 0.0])
    >>> reduce_scatter_tensor_uneven(out, Tensor([1.0, 2.0]), [2])
    >>> out.tolist()
    [1.0, 2.0]
    """
    owner, name, done = "reduce_scatter_tensor", named(group), done_by("reduce_scatter_tensor", async_op)
    given = np.atleast_1d(a_tensor(owner, "input", input).asnumpy())
    sizes = row_counts(owner, "input_split_sizes", input_split_sizes, given.shape[0], name)
    total = combined(owner, given, op, name)
    write(owner, output, row_parts(total, sizes)[groups.get_rank(name)])
    return done


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write into a tensor the one of the list of the process `src` that has the rank of this process.

    >>> out = Tensor([0.0])
    >>> scatter(out, [Tensor([3.0])])
    >>> out.tolist()
    [3.0]
    """
    name, done = named(group), done_by("scatter", async_op)
    values = None
    if groups.get_rank(name) == get_group_rank(name, src):
        given = one_each("scatter", "scatter_list", scatter_list, name)
        values = [a_tensor("scatter", "an element of scatter_list", x).asnumpy() for x in given]
    write("scatter", tensor, exchange.handed_out(values, src, name))
    return done


def gather(
    tensor: Tensor, gather_list: Sequence[Tensor] | None, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all processes into the list of the process `dst`; other lists stay as they are.

    >>> found = [Tensor([0.0])]
    >>> gather(Tensor([3.0]), found)
    >>> found[0].tolist()
    [3.0]
    """
    name, done = named(group), done_by("gather", async_op)
    target = get_group_rank(name, dst)
    given = exchange.everyone(a_tensor("gather", "tensor", tensor).asnumpy(), name)
    if groups.get_rank(name) == target:
        for output, value in zip(one_each("gather", "gather_list", gather_list, name), given, strict=True):
            write("gather", output, value)
    return done


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:  # fmt: skip
    """Send each tensor of a list to the process of its place, and write what comes into another list.

    >>> found = [Tensor([0.0])]
    >>> all_to_all(found, [Tensor([3.0])])
    >>> found[0].tolist()
    [3.0]
    """
    name, done = named(group), done_by("all_to_all", async_op)
    outputs = one_each("all_to_all", "output_tensor_list", output_tensor_list, name)
    inputs = one_each("all_to_all", "input_tensor_list", input_tensor_list, name)
    given = exchange.each_to_each([a_tensor("all_to_all", "an input", x).asnumpy() for x in inputs], name)
    for output, value in zip(outputs, given, strict=True):
        write("all_to_all", output, value)
    return done


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None, group: str | None = None, async_op: bool = False,
) -> CommHandle | None:  # fmt: skip
    """Send so many rows of a tensor to each process, and write what comes, in the order of ranks, into another.

    >>> out = Tensor([0.0, 0.0])
    >>> all_to_all_single(out, Tensor([1.0, 2.0]))
    >>> out.tolist()
    [1.0, 2.0]
    """
    owner, name, done = "all_to_all_single", named(group), done_by("all_to_all_single", async_op)
    out, given = a_tensor(owner, "output", output), a_tensor(owner, "input", input).asnumpy()
    sizes = row_counts(owner, "input_split_sizes", input_split_sizes, given.shape[0], name)
    wanted = row_counts(owner, "output_split_sizes", output_split_sizes, out.shape[0], name)
    found = exchange.each_to_each(row_parts(given, sizes), name)
    if [len(a) for a in found] != wanted:
        raise ArgumentError(f"{owner}: {[len(a) for a in found]} rows came, and {wanted} were said")
    write(owner, out, np.concatenate(found))
    return done
