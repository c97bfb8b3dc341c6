"""A network at a glance: what each layer gives, holds and costs."""

from __future__ import annotations

from typing import Any

from mycelia.api.context import get_rng_state, set_rng_state
from mycelia.eager import Tensor, assign
from mycelia.errors import ArgumentError, a
from mycelia.frozen import frozen
from mycelia.names import fits
from mycelia.nn.cell import Cell
from mycelia.tree import flatten
from mycelia.types import DType, float32


@frozen
class Layer:
    """A cell without cells inside, or what a cell with such holds itself: its name, its class, and its numbers."""

    name: str
    kind: str
    output: str  # shapes of what it gave
    parameters: int
    trainable: int
    products: int  # multiplications, each with its addition, of dense layers and convolutions
    nbytes: int  # of what it gave, and of its parameters


@frozen
class Overview:
    """The layers of a network in the order in which they ran; printed, or shown by a prompt, it is a table."""

    title: str
    layers: tuple[Layer, ...]
    parameters: int
    trainable: int
    products: int
    parameter_bytes: int
    activation_bytes: int

    def __str__(self) -> str:
        rows = [("layer", "class", "output", "parameters", "flops")]
        rows += [(x.name, x.kind, x.output, f"{x.parameters:,}", f"{2 * x.products:,}") for x in self.layers]
        wide = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = ["  ".join([*[row[i].ljust(wide[i]) for i in range(3)], *[row[i].rjust(wide[i]) for i in (3, 4)]])
                 for row in rows]  # fmt: skip
        rule = "-" * max(map(len, lines))
        size = (
            f"{self.parameter_bytes / 2**20:.2f} MiB of parameters, {self.activation_bytes / 2**20:.2f} MiB of results"
        )
        held = f"{self.parameters:,} parameters, {self.trainable:,} of them trained; {2 * self.products:,} flops"
        return "\n".join([self.title, lines[0], rule, *lines[1:], rule, held, size])

    __repr__ = __str__


def summary(net: Cell, *shapes: Any, dtypes: DType | tuple[DType, ...] = float32) -> Overview:
    """The layers of `net` when it is called with zeros of these shapes, or with these tensors: shapes, parameters,
    flops and memory. Parameters, buffers and random numbers are afterwards as before.

    >>> from mycelia import nn
    >>> print(summary(nn.SequentialCell(nn.Dense(4, 8), nn.ReLU()), (2, 4)))
    SequentialCell
    layer  class  output  parameters  flops
    ---------------------------------------
    0      Dense  (2, 8)          40    128
    1      ReLU   (2, 8)           0      0
    ---------------------------------------
    40 parameters, 40 of them trained; 128 flops
    0.00 MiB of parameters, 0.00 MiB of results
    """
    if not isinstance(net, Cell):
        raise ArgumentError(f"summary is of a Cell, not of a {type(net).__name__}")
    if not shapes and not fits(net.construct, (), {}):
        raise ArgumentError(
            f"summary was not given what {a(net.cls_name)} is called with",
            hint="give the shape of each input, such as nn.summary(net, (1, 28, 28))",
        )
    kinds = dtypes if isinstance(dtypes, tuple) else (dtypes,) * len(shapes)
    if len(kinds) != len(shapes):
        raise ArgumentError(f"there are {len(shapes)} shapes, and {len(kinds)} dtypes for them")
    args = [_argument(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
    found: list[Layer] = []
    seen: set[int] = set()
    inner = [(name, cell) for name, cell in net.cells_and_names() if not cell._cells or cell._params]
    handles = [cell.register_forward_hook(_noting(name or "(itself)", found, seen)) for name, cell in inner]
    held = [(x, x.asnumpy()) for x in (*net.get_parameters(), *net.buffers())]
    random = get_rng_state()
    try:
        net._run(*args)
    finally:
        for handle in handles:
            handle.remove()
        set_rng_state(random)
        for x, numbers in held:
            assign(x, Tensor(numbers))
    parameters = list({id(p): p for p in net.get_parameters()}.values())
    return Overview(
        net.cls_name,
        tuple(found),
        sum(p.size for p in parameters),
        sum(p.size for p in net.trainable_params()),
        sum(x.products for x in found),
        sum(p.nbytes for p in parameters),
        sum(x.nbytes for x in found) - sum(p.nbytes for p in parameters if id(p) in seen),
    )


def _argument(shape: Any, kind: DType) -> Any:
    if isinstance(shape, Tensor):
        return shape
    if not isinstance(shape, tuple | list) or not all(isinstance(n, int) for n in shape):
        raise ArgumentError(f"a shape is a tuple of whole numbers, not {shape!r}", hint="or give a tensor")
    return Tensor(shape=tuple(shape), dtype=kind, init=lambda array: None)


def _noting(name: str, found: list[Layer], seen: set[int]) -> Any:
    def note(cell: Cell, args: Any, out: Any) -> None:
        results = [x for x in flatten(out)[0] if isinstance(x, Tensor)]
        own = [p for p in cell._params.values() if p is not None and id(p) not in seen]
        seen.update(map(id, own))
        weight = cell._params.get("weight")
        products = 0
        if weight is not None and len(weight.shape) > 1 and results and weight.shape[0] in results[0].shape:
            products = results[0].size // weight.shape[0] * weight.size
        shapes = ", ".join(str(tuple(x.shape)) for x in results)
        nbytes = sum(x.nbytes for x in results) + sum(p.nbytes for p in own)
        trainable = sum(p.size for p in own if p.requires_grad)
        found.append(Layer(name, cell.cls_name, shapes, sum(p.size for p in own), trainable, products, nbytes))

    return note
