"""What happens to each element of the result before it is stored: activations, sums, binary operands."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from mycelia.frozen import frozen
from mycelia.onednn.constants import SCRATCHPAD_OF_THE_USER, Algorithm
from mycelia.onednn.layout import Layout
from mycelia.onednn.library import Owned, library


class PostOp(Protocol):
    """One step of the chain after a matmul or a convolution."""

    def append(self, chain: int) -> None:
        """Put this step at the end of oneDNN's chain."""

    @property
    def operand(self) -> Layout | None:
        """The layout of the extra operand this step reads."""


@frozen
class Activation:
    """y → algorithm(y), such as relu with the slope `alpha` below zero.

    >>> Activation(Algorithm.relu).operand is None
    True
    """

    algorithm: Algorithm
    alpha: float = 0.0
    beta: float = 0.0

    @property
    def operand(self) -> Layout | None:
        """An activation reads nothing else."""
        return None

    def append(self, chain: int) -> None:
        """Put this step at the end of oneDNN's chain."""
        library().call("dnnl_post_ops_append_eltwise", chain, self.algorithm, self.alpha, self.beta)


@frozen
class Accumulate:
    """y → y + scale · (what the output held before).

    >>> Accumulate(0.5).scale
    0.5
    """

    scale: float = 1.0

    @property
    def operand(self) -> Layout | None:
        """The output itself is the operand."""
        return None

    def append(self, chain: int) -> None:
        """Put this step at the end of oneDNN's chain."""
        undefined = 0  # the dtype of the output
        library().call("dnnl_post_ops_append_sum", chain, self.scale, 0, undefined)


@frozen
class Combine:
    """y → y + operand, or y · operand; axes of size 1 of the operand are broadcast.

    >>> from mycelia.onednn.constants import DataType
    >>> Combine(Algorithm.add, Layout.rows((1, 8), DataType.f32)).operand.dims
    (1, 8)
    """

    algorithm: Algorithm
    operand: Layout

    def append(self, chain: int) -> None:
        """Put this step at the end of oneDNN's chain."""
        library().call("dnnl_post_ops_append_binary", chain, self.algorithm, self.operand.address)


RELU = Activation(Algorithm.relu)
TANH = Activation(Algorithm.tanh)
SIGMOID = Activation(Algorithm.logistic)
SILU = Activation(Algorithm.swish, alpha=1.0)
GELU_TANH = Activation(Algorithm.gelu_tanh)
GELU_ERF = Activation(Algorithm.gelu_erf)


@lru_cache(maxsize=256)
def attributes(post_ops: tuple[PostOp, ...]) -> Owned:
    """The chain, and the wish to own the scratchpad, as oneDNN's attributes."""
    lib = library()
    attr = Owned(lib.create("dnnl_primitive_attr_create"), "dnnl_primitive_attr_destroy")
    lib.call("dnnl_primitive_attr_set_scratchpad_mode", attr.address, SCRATCHPAD_OF_THE_USER)
    chain = Owned(lib.create("dnnl_post_ops_create"), "dnnl_post_ops_destroy")
    for post_op in post_ops:
        post_op.append(chain.address)
    lib.call("dnnl_primitive_attr_set_post_ops", attr.address, chain.address)  # copies the chain
    return attr
