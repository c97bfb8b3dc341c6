"""Sizes that come out of data: the positions where a mask holds, of which only the running program knows how many.

Everything that selects by a mask is made of it: `nonzero`, `masked_select`, `x[mask]`, `unique`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, MyceliaError
from mycelia.frozen import frozen
from mycelia.ir import Lowered, Mistake, Op, Purity, Sample, no_gradient
from mycelia.primitives.family import mapping
from mycelia.sizes import Name, Sym, born, known_equal
from mycelia.types import Array, TensorType, bool_, int64

__all__ = ["Positions", "positions"]


@frozen
class Positions(Op):
    """Where a mask of one axis holds, in order: int64[count]. The count is a size of its own, so there are no two alike
    and no samples: a law would not know the type of the result.
    """

    count: Sym
    name: ClassVar[str] = "positions"
    purity: ClassVar[Purity] = Purity.ORDERED  # types depend on its count, so it is there even if nobody reads it
    native: ClassVar[Lowered] = Lowered.STEP
    static: ClassVar[bool] = False
    vjp = no_gradient("positions are whole numbers")

    @property
    def born(self) -> Name:  # type: ignore[override]  # each has its own
        """The name of the count."""
        (name,) = self.count.names()
        return name

    def infer(self, mask: TensorType) -> TensorType:
        if mask.dtype is not bool_ or mask.rank != 1:
            raise DTypeError(f"positions are those of a mask with one axis, not of {mask}")
        return TensorType(int64, (self.count,))  # type: ignore[arg-type]  # a size is typed as an int

    def reference(self, mask: Array) -> Array:
        return np.flatnonzero(mask)

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Any) -> Any:
        raise MyceliaError(
            "each example of a vmap would have results of another size here",
            hint="use ops.where, or a mask that keeps the shape",
        )

    def axes(self, *inputs: Any) -> str:
        return mapping([["1"]], ["1"])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        return ()

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        masks = TensorType(bool_, (2, 3)), TensorType(int64, (3,))
        yield from (
            Mistake(lambda x=x: cls(born(6)).infer(x), DTypeError, f"a mask with one axis, not of {x}")  # type: ignore[misc]  # mypy cannot tell what x is
            for x in masks
        )


def positions(mask: Any) -> Any:
    """Where a mask holds, counted through all its axes.

    >>> from mycelia.ir import Function
    >>> Function.build(positions, TensorType(bool_, (3,))).results[0].op.name
    'positions'
    """
    flat = p.reshape(mask, (-1,))
    if known_equal(flat.shape[0], 0):
        return p.cast(flat, int64)  # none at all
    return Positions(born(flat.shape[0]))(flat)
