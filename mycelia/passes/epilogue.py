"""A bias that is added to a matrix product or a convolution goes into the same library call."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from mycelia.ir import Function, Value, users
from mycelia.primitives import Add, Contract, Conv, Reshape, epilogue
from mycelia.sizes import Dim, comes_from_data, hint, same
from mycelia.types import float32


def epilogues_from(least: int) -> Callable[[Function], Function]:
    """The pass for a processor whose loops are faster than the library below so many multiplications."""

    def fuse_epilogues(fn: Function) -> Function:
        """Put `core(x, y) + bias` into one op where nobody else reads the core, and the library computes it."""
        readers = users(fn.roots)
        new: dict[Value, Value] = {}

        def visit(v: Value, inputs: tuple[Value, ...]) -> Value:
            new.update(zip(v.inputs, inputs, strict=True))
            found = _biased(v)
            if found is None or set(readers[found[0]]) != {v} or found[0] in fn.results:
                return v.again(inputs)
            core, bias = found
            assert isinstance(core.op, Contract | Conv), f"{core} is no core"
            x, y = core.inputs
            if isinstance(core.op, Contract) and hint(_products(core.op, x, y)) < least:
                return v.again(inputs)
            return epilogue(core.op, new[x], new[y], new[bias])

        return fn.mapped(visit)

    return fuse_epilogues


fuse_epilogues = epilogues_from(0)


def _products(op: Contract, x: Value, y: Value) -> Dim:
    """How many multiplications a contraction takes."""
    return prod({**dict(zip(op.lhs, x.shape, strict=True)), **dict(zip(op.rhs, y.shape, strict=True))}.values())


def _biased(v: Value) -> tuple[Value, Value] | None:
    """The core and the bias of a sum of the two."""
    if not isinstance(v.op, Add):
        return None
    for core, bias in (v.inputs, v.inputs[::-1]):
        if (
            core.type != v.type
            or core.dtype is not float32
            or core.tensor.empty
            or any(map(comes_from_data, core.shape))
        ):
            continue
        if isinstance(core.op, Contract) and _ends_in_columns(core.op) and same(bias.shape, core.shape[-1:]):
            return core, bias
        if isinstance(core.op, Conv) and isinstance(bias.op, Reshape):
            (given,) = bias.inputs
            channels = core.shape[1]
            if same(given.shape, (channels,)) and same(bias.shape, (1, channels, *[1] * (len(core.shape) - 2))):
                return core, given
    return None


def _ends_in_columns(op: Contract) -> bool:
    """Whether the product lies in memory as the library writes it: columns last, and only one axis of them."""
    last = op.out[-1:]
    columns = [c for c in op.out if c in op.rhs and c not in op.lhs]
    rows = [c for c in op.out if c in op.lhs and c not in op.rhs]
    return columns == [last] and bool(rows)
