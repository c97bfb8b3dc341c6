"""Library calls, described: what is computed over which layouts. The runtime prepares them; nothing here runs."""

from __future__ import annotations

from dataclasses import dataclass

from mycelia.sizes import Dim
from mycelia.types import DType, Shape


@dataclass(frozen=True)
class Layout:
    """An operand of a call: the extent of each axis and its step in memory, in elements, and the element type."""

    shape: Shape
    strides: tuple[Dim, ...]
    dtype: DType


@dataclass(frozen=True)
class Matmul:
    """out = lhs @ rhs over batches: (*batch, m, k) @ (*batch, k, n) -> (*batch, m, n). Inputs lhs, rhs, and a bias for
    each column if there is one, of the type of out.
    """

    lhs: Layout
    rhs: Layout
    out: Layout
    bias: bool = False


@dataclass(frozen=True)
class Window:
    """How a kernel moves over space."""

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int = 1


@dataclass(frozen=True)
class Convolution:
    """One of three: out = x * w ("forward", inputs x w), dx ("input", inputs w ct), dw ("weight", inputs x ct).

    The layouts are those of x, w and out; w is always dense.
    """

    direction: str
    x: Layout
    w: Layout
    out: Layout
    window: Window
    bias: bool = False


LibraryCall = Matmul | Convolution
