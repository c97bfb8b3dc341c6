"""Movement: the same elements at other places. It costs nothing: it folds into whoever reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Mistake, Op, Operand, Purity, Reader, Sample, Value, each_part
from mycelia.loops import Expr, Index, const
from mycelia.primitives.elementwise import at_broadcast
from mycelia.primitives.family import (
    ALL,
    Shaped,
    broadcast_shape,
    check_dims,
    draw,
    mapping,
    names,
)
from mycelia.sizes import same
from mycelia.types import Array, DType, Shape, TensorType, float32, row_major

__all__ = [
    "Broadcast",
    "Flip",
    "Reshape",
    "Transpose",
    "align",
    "broadcast",
    "expand_dims",
    "flip",
    "moveaxis",
    "reshape",
    "transpose",
]


@frozen
class Reshape(Shaped):
    """The same elements in row-major order, under another shape."""

    cheap: ClassVar[bool] = True
    shape: Shape
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    in_parts = each_part

    def infer(self, x: TensorType) -> TensorType:
        if prod(self.shape) != prod(x.shape) or any(e < 0 for e in self.shape):
            raise ShapeError(
                f"cannot reshape {x} to shape {self.shape}",
                given={"elements before": x.size, "elements after": prod(self.shape)},
                hint="the number of elements must stay the same",
            )
        return TensorType(x.dtype, self.shape)

    def reference(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        if x.type.empty:
            return const(0, x.type.dtype)
        flat = Index(0)
        for i, stride in zip(index, row_major(self.shape), strict=True):
            flat = flat + i * stride
        return x.at([flat // s % e for s, e in zip(row_major(x.type.shape), x.type.shape, strict=True)])

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (reshape(ct, x.shape),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return reshape(x, (size, *self.shape))

    def axes(self, x: TensorType) -> str:
        """The first axes of groups with equal products correspond: (4, 6) -> (24,) may be split along 4."""
        if x.empty:
            return mapping([["1"] * x.rank], ["1"] * len(self.shape))
        before, after, free = ["1"] * x.rank, ["1"] * len(self.shape), iter(names(52))
        i = j = 0
        while i < x.rank and j < len(self.shape):
            if 1 in (x.shape[i], self.shape[j]):
                i, j = i + (x.shape[i] == 1), j + (self.shape[j] == 1 != x.shape[i])
                continue
            before[i] = after[j] = next(free)
            m, n, i, j = x.shape[i], self.shape[j], i + 1, j + 1
            while m != n:
                if m < n:
                    m, i = m * x.shape[i], i + 1
                else:
                    n, j = n * self.shape[j], j + 1
        return mapping([before], after)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 6)
        yield from (Sample(cls(s), (x,)) for s in [(8, 6), (2, 24), (48,), (6, 8), (2, 2, 2, 6), (2, 1, 4, 6, 1)])
        yield Sample(cls((3,)), (draw(1, 3, 1),))
        yield Sample(cls((1, 1)), (draw(),))
        yield Sample(cls((0, 5)), (draw(3, 0),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((4,)).infer(x), ShapeError, "cannot reshape f32[2, 3] to shape (4,)")
        yield Mistake(lambda: cls((-2, -3)).infer(x), ShapeError, "cannot reshape")


@frozen
class Transpose(Op):
    """The axes in another order: axis `i` of the output is axis `permutation[i]` of the input."""

    cheap: ClassVar[bool] = True
    permutation: tuple[int, ...]
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    purity: ClassVar[Purity] = Purity.TOTAL

    in_parts = each_part

    def infer(self, x: TensorType) -> TensorType:
        if len(self.permutation) != x.rank or sorted(self.permutation) != list(range(x.rank)):
            raise ShapeError(
                f"transpose needs each axis of {x} once",
                given={"permutation": self.permutation},
                hint=f"give a permutation of {tuple(range(x.rank))}",
            )
        return TensorType(x.dtype, tuple([x.shape[i] for i in self.permutation]))

    def reference(self, x: Array) -> Array:
        return x.transpose(self.permutation)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return x.at([index[self.permutation.index(i)] for i in range(len(self.permutation))])

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (transpose(ct, tuple(self.permutation.index(i) for i in range(len(self.permutation)))),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return transpose(x, (0, *(i + 1 for i in self.permutation)))

    def axes(self, x: TensorType) -> str:
        a = names(x.rank)
        return mapping([a], [a[i] for i in self.permutation])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 6)
        yield from (Sample(cls(order), (x,)) for order in [(2, 0, 1), (1, 2, 0), (0, 2, 1)])
        yield Sample(cls(()), (draw(),))
        yield Sample(cls((1, 0)), (draw(0, 3),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((0, 0)).infer(x), ShapeError, "needs each axis of f32[2, 3] once")
        yield Mistake(lambda: cls((0,)).infer(x), ShapeError, "give a permutation of (0, 1)")


@frozen
class Broadcast(Shaped):
    """Repeat along new leading axes and along axes of extent 1, as in NumPy."""

    cheap: ClassVar[bool] = True
    shape: Shape
    dtypes: ClassVar[tuple[DType, ...]] = ALL

    in_parts = each_part

    def infer(self, x: TensorType) -> TensorType:
        if broadcast_shape(x.shape, self.shape) != self.shape or any(isinstance(e, int) and e < 0 for e in self.shape):
            raise ShapeError(
                f"cannot broadcast {x} to shape {self.shape}",
                hint="aligned at the right, each extent must be 1 or equal to the target",
            )
        return TensorType(x.dtype, self.shape)

    def reference(self, x: Array) -> Array:
        return np.broadcast_to(x, self.shape)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return at_broadcast(x, index)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (p.unbroadcast(ct, x.shape),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return broadcast(align(x, len(self.shape)), (size, *self.shape))

    def axes(self, x: TensorType) -> str:
        out = names(len(self.shape))
        before = ["1" if e == 1 else n for e, n in zip(x.shape, out[len(out) - x.rank :], strict=True)]
        return mapping([before], [n if n in before else "1" for n in out])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls((4, 2, 3)), (draw(1, 2, 1),))
        yield Sample(cls((4, 2, 3)), (draw(2, 1),))
        yield Sample(cls((2, 2)), (draw(),))
        yield Sample(cls((2, 1)), (draw(2, 1),))
        yield Sample(cls((2, 0)), (draw(2, 1),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((4, 3)).infer(x), ShapeError, "cannot broadcast f32[2, 3] to shape (4, 3)")
        yield Mistake(lambda: cls((3,)).infer(x), ShapeError, "cannot broadcast f32[2, 3] to shape (3,)")
        yield Mistake(lambda: cls((1, 3)).infer(x), ShapeError, "equal to the target")


@frozen
class Flip(Op):
    """The order along `dims` reversed."""

    cheap: ClassVar[bool] = True
    dims: tuple[int, ...]
    dtypes: ClassVar[tuple[DType, ...]] = ALL
    purity: ClassVar[Purity] = Purity.TOTAL

    in_parts = each_part

    def infer(self, x: TensorType) -> TensorType:
        check_dims(self, x, self.dims)
        return x

    def reference(self, x: Array) -> Array:
        return np.flip(x, self.dims)

    def element(self, index: Sequence[Index], x: Reader) -> Expr:
        return x.at(
            [
                Index(e - 1) - i if k in self.dims else i
                for k, (i, e) in enumerate(zip(index, x.type.shape, strict=True))
            ]
        )

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (flip(ct, self.dims),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return flip(x, tuple(d + 1 for d in self.dims))

    def axes(self, x: TensorType) -> str:
        a = ["1" if i in self.dims else n for i, n in enumerate(names(x.rank))]
        return mapping([a], a)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield from (Sample(cls(dims), (draw(2, 4, 3),)) for dims in [(1,), (0, 2), ()])
        yield Sample(cls((0,)), (draw(0, 2),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x = TensorType(float32, (2, 3))
        yield Mistake(lambda: cls((2,)).infer(x), ShapeError, "counted from 0 to 1")
        yield Mistake(lambda: cls((0, 0)).infer(x), ShapeError, "flip names an axis twice")


def reshape(x: Operand, shape: Sequence[int]) -> Operand:
    """`x` under another shape; one extent may be -1 and is computed.

    >>> reshape(p.zeros(float32, (2, 6)), (3, -1)).shape
    (3, 4)
    """
    shape = tuple(shape)
    if -1 in shape:
        known = -prod(shape)
        shape = tuple((prod(x.shape) // known if known else 0) if e == -1 else e for e in shape)
    return x if same(x.shape, shape) else Reshape(shape)(x)


def transpose(x: Operand, permutation: Sequence[int] | None = None) -> Operand:
    """`x` with its axes in another order, reversed if none is given.

    >>> transpose(p.zeros(float32, (2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    rank = len(x.shape)
    permutation = tuple(reversed(range(rank))) if permutation is None else tuple(permutation)
    return x if permutation == tuple(range(rank)) else Transpose(permutation)(x)


def moveaxis(x: Operand, source: int, destination: int) -> Operand:
    """`x` with one axis taken out and put elsewhere.

    >>> moveaxis(p.zeros(float32, (2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    order = [i for i in range(len(x.shape)) if i != source]
    order.insert(destination, source)
    return transpose(x, order)


def broadcast(x: Operand, shape: Sequence[int]) -> Operand:
    """`x` repeated to `shape`, as in NumPy.

    >>> broadcast(p.zeros(float32, (3, 1)), (2, 3, 4)).shape
    (2, 3, 4)
    """
    shape = tuple(shape)
    return x if same(x.shape, shape) else Broadcast(shape)(x)


def align(x: Operand, rank: int) -> Operand:
    """A mapped operand with axes of extent 1 after its leading one, so that the rest has `rank` axes.

    >>> align(p.zeros(float32, (9, 3)), 2).shape
    (9, 1, 3)
    """
    return reshape(x, (x.shape[0], *(1,) * (rank - len(x.shape) + 1), *x.shape[1:]))


def expand_dims(x: Operand, dims: Sequence[int]) -> Operand:
    """`x` with axes of extent 1, which are `dims` of the result.

    >>> expand_dims(p.zeros(float32, (3, 4)), (0, 2)).shape
    (1, 3, 1, 4)
    """
    if len(set(dims)) < len(dims):
        raise ShapeError(f"a new axis is named twice in {tuple(dims)}", hint="name each axis once")
    old = iter(x.shape)
    return reshape(x, tuple(1 if i in dims else next(old) for i in range(len(x.shape) + len(dims))))


def flip(x: Operand, dims: Sequence[int]) -> Operand:
    """`x` with the order along `dims` reversed.

    >>> flip(p.zeros(float32, (2, 3)), (1,)).shape
    (2, 3)
    """
    return Flip(tuple(dims))(x) if dims else x
