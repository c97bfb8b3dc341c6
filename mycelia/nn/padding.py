"""Padding layers: more elements around the last axes of a tensor."""

from __future__ import annotations

from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell


class Padding(Cell):
    """The family: numbers of elements before and after the last axis, then before and after the one in front of it."""

    rank: ClassVar[int]
    mode: ClassVar[str]
    value: float | None = None

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        given = (padding,) * (2 * self.rank) if isinstance(padding, int) else padding
        fits = isinstance(given, tuple) and len(given) % 2 == 0 and 2 <= len(given) <= 2 * self.rank
        if not fits or not all(isinstance(n, int) for n in given):
            raise ArgumentError(
                f"padding of {self.cls_name} is a whole number, or two for each of {self.rank} axes",
                given={"padding": padding},
                hint="before and after the last axis, then the one in front of it",
            )
        self.padding = given

    def construct(self, x: Tensor) -> Tensor:
        return padded(x, self.padding, self.mode, self.value)

    def extend_repr(self) -> str:
        return f"padding={self.padding}" + ("" if self.value is None else f", value={self.value}")


def padded(x: Tensor, padding: tuple[int, ...], mode: str, value: float | None = None) -> Tensor:
    """The tensor with elements around its last axes; a negative number of them takes elements away.

    >>> padded(Tensor([1.0, 2.0]), (1, -1), "constant").tolist()
    [0.0, 1.0]
    """
    if x.ndim < len(padding) // 2:
        raise ShapeError(f"{len(padding) // 2} axes of a tensor of shape {x.shape} cannot be padded", hint="add axes")
    if mode == "constant":
        return ops.pad(x, padding, mode, value)
    edge = 1 if mode == "reflect" else 0
    for i in range(len(padding) // 2):
        widths, extent = padding[2 * i : 2 * i + 2], x.shape[x.ndim - 1 - i]
        if min(widths) < 0 or extent == 0 or (mode != "replicate" and max(widths) > extent - edge):
            raise ShapeError(
                f"axis {x.ndim - 1 - i} of shape {x.shape} cannot be padded by {widths}",
                hint=f"{mode} pads by less than the extent",
            )
    return symmetric(x, padding) if mode == "symmetric" else ops.pad(x, padding, mode)


def symmetric(x: Tensor, padding: tuple[int, ...]) -> Tensor:
    """The tensor with what mirrors give, whose edge is seen twice."""
    for i in range(len(padding) // 2):
        low, high = padding[2 * i : 2 * i + 2]
        axis = x.ndim - 1 - i
        whole = (slice(None),) * axis
        parts = [ops.flip(x[(*whole, slice(0, low))], (axis,)), x]
        parts.append(ops.flip(x[(*whole, slice(x.shape[axis] - high, x.shape[axis]))], (axis,)))
        x = ops.cat(tuple(parts), axis)
    return x


class ConstantPadding(Padding):
    """The family that pads with one value."""

    mode = "constant"

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = checks.number(self.cls_name, "value", value)


class ConstantPad1d(ConstantPadding):
    """A value around the last axis.

    >>> ConstantPad1d((1, 2), 9.0)(Tensor([1.0])).tolist()
    [9.0, 1.0, 9.0, 9.0]
    """

    rank = 1


class ConstantPad2d(ConstantPadding):
    """A value around the last two axes.

    >>> ConstantPad2d(1, 9.0)(Tensor([[1.0]])).shape
    (3, 3)
    """

    rank = 2


class ConstantPad3d(ConstantPadding):
    """A value around the last three axes.

    >>> ConstantPad3d(1, 9.0)(Tensor([[[1.0]]])).shape
    (3, 3, 3)
    """

    rank = 3


class ZeroPad2d(Padding):
    """Zeros around the last two axes.

    >>> ZeroPad2d((1, 0, 0, 0))(Tensor([[1.0]])).tolist()
    [[0.0, 1.0]]
    """

    rank, mode = 2, "constant"


class ReflectionPad1d(Padding):
    """What mirrors at the edges of the last axis give.

    >>> ReflectionPad1d((2, 1))(Tensor([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]
    """

    rank, mode = 1, "reflect"


class ReflectionPad2d(Padding):
    """What mirrors at the edges of the last two axes give.

    >>> ReflectionPad2d(1)(Tensor([[[1.0, 2.0], [3.0, 4.0]]])).shape
    (1, 4, 4)
    """

    rank, mode = 2, "reflect"


class ReflectionPad3d(Padding):
    """What mirrors at the edges of the last three axes give.

    >>> ReflectionPad3d(1)(ops.ones((1, 2, 2, 2))).shape
    (1, 4, 4, 4)
    """

    rank, mode = 3, "reflect"


class ReplicationPad1d(Padding):
    """The edges of the last axis, again and again.

    >>> ReplicationPad1d((2, 1))(Tensor([[1.0, 2.0]])).tolist()
    [[1.0, 1.0, 1.0, 2.0, 2.0]]
    """

    rank, mode = 1, "replicate"


class ReplicationPad2d(Padding):
    """The edges of the last two axes, again and again.

    >>> ReplicationPad2d(1)(Tensor([[[1.0]]])).shape
    (1, 3, 3)
    """

    rank, mode = 2, "replicate"


class ReplicationPad3d(Padding):
    """The edges of the last three axes, again and again.

    >>> ReplicationPad3d(1)(Tensor([[[[1.0]]]])).shape
    (1, 3, 3, 3)
    """

    rank, mode = 3, "replicate"


MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


class Pad(Cell):
    """`paddings` has a pair for each axis, from the first on; "SYMMETRIC" mirrors with the edge, "REFLECT" without.

    >>> Pad(((1, 0), (0, 2)))(Tensor([[1.0]])).tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """

    def __init__(self, paddings: tuple[tuple[int, int], ...], mode: str = "CONSTANT") -> None:
        super().__init__()
        self.mode = checks.choice(self.cls_name, "mode", mode, tuple(MODES))
        if not isinstance(paddings, tuple) or not all(isinstance(q, tuple | list) and len(q) == 2 for q in paddings):
            raise ArgumentError(
                "paddings of Pad has a pair for each axis",
                given={"paddings": paddings},
                hint="((1, 2), (0, 0))",
            )
        self.paddings = paddings

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim != len(self.paddings):
            raise ShapeError(
                f"{len(self.paddings)} pairs do not pad a tensor of shape {x.shape}", hint="one for each axis"
            )
        flat: list[Any] = [n for pair in reversed(self.paddings) for n in pair]
        return padded(x, tuple(flat), MODES[self.mode])
