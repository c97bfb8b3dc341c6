"""Elementwise ops: one output element from the elements at the same place; shapes broadcast as in NumPy.

A new one needs a scalar formula, an oracle and a gradient; the family gives the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Mistake, Op, Operand, Purity, Reader, Sample, Value
from mycelia.loops import Expr, Index, binary, unary
from mycelia.primitives.creation import lift
from mycelia.primitives.family import (
    FLOATS,
    HALVES,
    broadcast_shape,
    check_dtype,
    draw,
    given,
    mapping,
    names,
)
from mycelia.sizes import Sym, known_equal, same
from mycelia.types import Array, DType, Shape, TensorType, bool_, float32, float64, int32

__all__ = [
    "Elementwise",
    "lifted",
    "unbroadcast",
]

SHAPES: dict[int, tuple[tuple[Shape, ...], ...]] = {
    1: (((),), ((5,),), ((2, 3),), ((0, 3),)),
    2: (
        ((), ()),
        ((2, 4), (2, 4)),
        ((4,), (2, 4)),
        ((2, 4), (4,)),
        ((2, 1), (1, 4)),
        ((2, 1, 4), (3, 1)),
        ((), (3,)),
        ((0, 3), (1, 3)),
    ),
}


@frozen
class Elementwise(Op, abstract=True):
    """The family: broadcasting, batching, splitting, half precision and samples."""

    arity: ClassVar[int]
    dtypes: ClassVar[tuple[DType, ...]] = FLOATS
    kind: ClassVar[str]  # of the scalar expression, see loops/expr.py
    oracle: ClassVar[Callable[..., Any]]  # the meaning, on arrays of one element type
    domain: ClassVar[tuple[float, float]] = (-2.0, 2.0)
    points: ClassVar[tuple[float, ...]] = ()  # further points: edges of the domain, large and small numbers
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self, x: TensorType, *others: TensorType) -> TensorType:
        check = x.dtype not in self.dtypes
        shape: Shape | None = x.shape
        for y in others:
            check = check or y.dtype is not x.dtype
            if shape is not None and (len(y.shape) != len(shape) or y.shape != shape):
                shape = broadcast_shape(shape, y.shape)
        if check:
            check_dtype(self, x, *others)
        return self.outcome(x, shape if shape is not None else _no_broadcast(self, x, *others))

    def outcome(self, x: TensorType, shape: Shape) -> TensorType:
        """The type of the output, from the first operand and the shape."""
        return x if shape is x.shape else TensorType(x.dtype, shape)

    def reference(self, *inputs: Array) -> Any:
        if inputs[-1].dtype not in HALVES:
            return type(self).oracle(*inputs)
        out = type(self).oracle(*[x.astype(np.float32) if x.dtype in HALVES else x for x in inputs])
        return out.astype(inputs[-1].dtype) if out.dtype == np.float32 else out

    def element(self, index: Sequence[Index], *inputs: Reader) -> Expr:
        return self.scalar(*[at_broadcast(x, index) for x in inputs])

    def scalar(self, *inputs: Expr) -> Expr:
        """One element from elements."""
        return unary(self.kind, inputs[0]) if self.arity == 1 else binary(self.kind, *inputs)

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        rank = max(len(x.shape) - m for x, m in zip(inputs, mapped, strict=True))
        return self(*(p.align(x, rank) if m else x for x, m in zip(inputs, mapped, strict=True)))

    def axes(self, *inputs: TensorType) -> str:
        rank = max(x.rank for x in inputs)
        out = names(rank)
        operands = [["1" if e == 1 else n for e, n in zip(x.shape, out[rank - x.rank :], strict=True)] for x in inputs]
        named = {n for operand in operands for n in operand}
        return mapping(operands, [n if n in named else "1" for n in out])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shapes in SHAPES[cls.arity]:
            yield Sample(cls(), tuple(cls.draw(s, seed) for seed, s in enumerate(shapes)))
        if cls.points:
            grid = np.array(list(product(cls.points, repeat=cls.arity)), cls.draw((), 0).dtype)
            yield Sample(cls(), tuple(grid.T.copy()), smooth=False, note="hard points")

    @classmethod
    def draw(cls, shape: Shape, seed: int) -> Array:
        """Numbers that the op accepts."""
        numbers = draw(*shape, low=cls.domain[0], high=cls.domain[1], seed=seed)
        if float32 in cls.dtypes:
            return numbers
        return np.rint(numbers).astype(np.int32) if int32 in cls.dtypes else numbers > 0

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        if cls.arity == 2:
            a, b, c = (TensorType(cls.dtypes[-1], s) for s in ((2,), (3,), (2,)))
            other = c.with_dtype(bool_ if cls.dtypes[-1] is not bool_ else float64)
            yield Mistake(lambda: cls().infer(a, b), ShapeError, f"{cls.name} cannot broadcast")
            yield Mistake(lambda: cls().infer(a, other), DTypeError, f"{cls.name} needs operands of one element type")
        for wrong in (bool_, int32, float32):
            if wrong not in cls.dtypes:
                bad = TensorType(wrong, (2,))
                yield Mistake(lambda bad=bad: cls().infer(*[bad] * cls.arity), DTypeError, f"{cls.name} needs a")  # type: ignore[misc]  # a default binds the loop variable


def _no_broadcast(op: Op, *inputs: TensorType) -> Shape:
    raise ShapeError(
        f"{op.name} cannot broadcast shapes {' and '.join(str(x.shape) for x in inputs)} together",
        given=given(inputs),
        hint="aligned at the right, two extents must be equal, or one of them 1",
    )


def at_broadcast(x: Reader, index: Sequence[Index]) -> Expr:
    """The element of `x` that belongs to an element of a result it was broadcast to."""
    shape = x.type.shape
    return x.at(
        [Index(0) if known_equal(e, 1) else i for e, i in zip(shape, index[len(index) - len(shape) :], strict=True)]
    )


def unbroadcast(ct: Operand, shape: Shape) -> Operand:
    """A cotangent of a broadcast operand, summed back to the shape it had.

    >>> from mycelia.primitives import zeros
    >>> unbroadcast(zeros(float32, (2, 3, 4)), (3, 1)).shape
    (3, 1)
    """
    if same(ct.shape, shape):
        return ct
    extra = len(ct.shape) - len(shape)
    repeated = [extra + i for i, e in enumerate(shape) if known_equal(e, 1) and not known_equal(ct.shape[extra + i], 1)]
    return p.reshape(p.reduce_sum(ct, (*range(extra), *repeated)), shape)


NUMBER = (float, int, bool, complex, Sym)


def lifted(op: Op) -> Callable[[Any, Any], Any]:
    """The function of a binary op: a Python number becomes a scalar of the other operand's element type.

    >>> from mycelia.primitives import Add, zeros
    >>> lifted(Add())(zeros(float32, (3,)), 1).inputs[1].op.number
    1.0
    """

    def apply(x: Any, y: Any) -> Any:
        if type(x) in NUMBER:
            return type(y).apply(op, (lift(x, y), y))
        return op(x, lift(y, x) if type(y) in NUMBER else y)

    apply.__name__ = apply.__qualname__ = op.name
    apply.__doc__ = (type(op).__doc__ or "").split("\n")[0]
    return apply
