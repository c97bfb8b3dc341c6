"""Barrier: the same tensor, which sharing cannot see through. What is computed from it is computed again, and later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from mycelia.ir import Cotangents, Op, Operand, Purity, Reader, Sample, Value, each_part
from mycelia.loops import Expr, Index
from mycelia.primitives.family import ALL, draw, mapping, names
from mycelia.primitives.windows import whole
from mycelia.types import Array, DType, TensorType

__all__ = ["Barrier", "barrier"]


class Barrier(Op):
    """`x`, not before `after` is there.

    Equal values are one object, so a function that is written down a second time, for the way back, would be the first
    one again, and all that it computes would be kept in between. From the far side of a barrier it is another one
    (rematerialisation).
    """

    purity: ClassVar[Purity] = Purity.TOTAL
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    cheap: ClassVar[bool] = True

    in_parts = each_part

    def infer(self, x: TensorType, after: TensorType) -> TensorType:
        return x

    def reference(self, x: Array, after: Array) -> Array:
        return x

    def element(self, index: Sequence[Index], x: Reader, after: Reader) -> Expr:
        return x.at(index)

    def vjp(self, ct: Value, out: Value, x: Value, after: Value) -> Cotangents:
        return ct, None

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, after: Value) -> Any:
        (x,) = whole(size, mapped[:1], (x,))
        return self(x, after)

    def axes(self, x: TensorType, after: TensorType) -> str:
        a = names(x.rank)
        return mapping([a, ["1"] * after.rank], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(), (draw(2, 3), draw(4)))
        yield Sample(cls(), (draw(), draw(2, 2)))


def barrier(x: Operand, after: Any) -> Operand:
    """`x`, not before `after` is there: what is computed from it is not shared with what is computed from x.

    >>> from mycelia.primitives import exp, zeros
    >>> from mycelia.types import float32
    >>> x = zeros(float32, (2,))
    >>> exp(barrier(x, x)) is exp(x)
    False
    """
    out: Operand = Barrier()(x, after)
    return out
