"""Scalar expressions: how one element is computed from other elements.

One node class with a `kind`, shared by construction: writing the same expression twice gives the same object, so
a kernel computes it once. The kinds, by number of arguments:

    0   const(value)   load(buffer, index)   position(index)   folded(fold)
    1   neg abs not sqrt floor ceil rint trunc sign signbit isnan cast
        and the functions of codegen/vecmath: exp log tanh ...
    2   add sub mul div mod pow max min and or xor shl shr mulhi  lt le gt ge eq ne
    3   select(condition, then, otherwise)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

from mycelia.interning import Interned
from mycelia.loops.index import Atom, Index, Variable
from mycelia.sizes import Dim, Sym
from mycelia.types import DType, TensorType, bool_, row_major

PREDICATES = frozenset(("isnan", "signbit"))
COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))

_interned = Interned["Expr"]()


@dataclass(frozen=True, eq=False, slots=True)
class Buffer:
    """A place in memory for the elements of one tensor, in the order given by `strides` (in elements)."""

    name: str
    type: TensorType
    strides: tuple[Dim, ...]

    @staticmethod
    def dense(name: str, type: TensorType) -> Buffer:
        return Buffer(name, type, row_major(type.shape))

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True)
class Fold:
    """A reduction: `combine` over everything that one sweep of a kernel visits, per row. See `Sweep`."""

    combine: str  # add, mul, max, min, and, or
    dtype: DType
    number: int = field(default_factory=count().__next__)

    def __repr__(self) -> str:
        return f"f{self.number}"


# What one instruction of the loop IR costs, in additions. Elementary functions are formulas of many (codegen/vecmath).
ELEMENTARY_COST = 10
COST = {
    "load": 0, "const": 0, "position": 0, "folded": 0, "cast": 1, "add": 1, "sub": 1, "mul": 1, "neg": 1, "abs": 1,
    "max": 1, "min": 1, "select": 1, "and": 1, "or": 1, "xor": 1, "not": 1, "shl": 1, "shr": 1, "floor": 1, "ceil": 1,
    "rint": 1, "trunc": 1, "isnan": 1, "signbit": 1, "lt": 1, "le": 1, "gt": 1, "ge": 1, "eq": 1, "ne": 1, "sign": 2,
    "mulhi": 2, "div": 4, "sqrt": 4,
}  # fmt: skip


class Expr:
    """One scalar of a known element type."""

    __slots__ = ("__weakref__", "args", "attribute", "dtype", "kind")

    kind: str
    args: tuple[Expr, ...]
    dtype: DType
    attribute: Any  # the constant, (buffer, offset index), the index, or the fold

    def __new__(cls, kind: str, args: tuple[Expr, ...], dtype: DType, attribute: Any = None) -> Expr:
        key = (kind, args, dtype, attribute)
        if kind == "const":  # 0.0 == -0.0 == False, and nan != nan, but they are not the same constant
            key = (kind, repr(attribute), dtype)  # type: ignore[assignment]
        found = _interned.get(key)
        if found is None:
            made = object.__new__(cls)
            made.kind, made.args, made.dtype, made.attribute = kind, args, dtype, attribute
            found = _interned.keep(key, made)
        return found

    def __add__(self, other: Expr) -> Expr:
        return binary("add", self, other)

    def __sub__(self, other: Expr) -> Expr:
        return binary("sub", self, other)

    def __mul__(self, other: Expr) -> Expr:
        return binary("mul", self, other)

    def __truediv__(self, other: Expr) -> Expr:
        return binary("div", self, other)

    @property
    def cost(self) -> int:
        """What it takes beyond its arguments, in additions."""
        return COST.get(self.kind, ELEMENTARY_COST)

    def variables(self) -> set[Variable]:
        """The loop variables that the value depends on."""
        found: set[Variable] = set()
        for e in self.walk():
            if e.kind == "load":
                found |= e.attribute[1].variables()
            elif e.kind == "position":
                found |= e.attribute.variables()
        return found

    def walk(self) -> list[Expr]:
        """Every expression below this one and itself, each once, arguments first. Not what indices read."""
        if not self.args:
            return [self]
        order: dict[Expr, None] = {}
        stack: list[Expr | None] = [self]  # None: the arguments of the one below are done
        while stack:
            e = stack.pop()
            if e is None:
                order[stack.pop()] = None  # type: ignore[index]  # an expression lies below each None
            elif e not in order:
                if e.args:
                    stack += (e, None, *e.args)
                else:
                    order[e] = None
        return list(order)

    def substitute(self, new: dict[Atom, Index], folds: dict[Fold, Expr] | None = None) -> Expr:
        """The expression with loop variables, and possibly folds, replaced."""
        done: dict[Expr, Expr] = {}
        for e in self.walk():
            if e.kind == "load":
                buffer, offset = e.attribute
                done[e] = Expr("load", (), e.dtype, (buffer, offset.substitute(new)))
            elif e.kind == "position":
                done[e] = Expr("position", (), e.dtype, e.attribute.substitute(new))
            elif e.kind == "folded" and folds and e.attribute in folds:
                done[e] = folds[e.attribute]
            else:
                done[e] = Expr(e.kind, tuple(done[a] for a in e.args), e.dtype, e.attribute)
        return done[self]

    def __repr__(self) -> str:
        if self.kind == "const":
            return f"{self.attribute}"
        if self.kind == "load":
            return f"{self.attribute[0]}[{self.attribute[1]}]"
        if self.kind in ("position", "folded"):
            return f"{self.kind}({self.attribute})"
        return f"{self.kind}({', '.join(map(repr, self.args))})"


def const(value: float | int | bool | Sym, dtype: DType) -> Expr:
    """A number, or a size that is one when the program runs.

    >>> from mycelia.types import float32
    >>> const(1.5, float32) * const(2.0, float32)
    mul(1.5, 2.0)
    """
    if isinstance(value, Sym):
        return Expr("position", (), dtype, Index(value))  # type: ignore[arg-type]  # a size is typed as an int
    exact = {"f": float, "b": bool}.get(dtype.kind, int)(value)
    return Expr("const", (), dtype, exact)


def unary(kind: str, x: Expr, dtype: DType | None = None) -> Expr:
    """`kind` of one scalar; the element type is that of `x` unless said otherwise."""
    return Expr(kind, (x,), dtype or (bool_ if kind in PREDICATES else x.dtype))


def binary(kind: str, x: Expr, y: Expr) -> Expr:
    """`kind` of two scalars of the same element type."""
    assert x.dtype is y.dtype, f"{kind} of {x.dtype} and {y.dtype}"
    return Expr(kind, (x, y), bool_ if kind in COMPARISONS else x.dtype)


def select(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """`then` where `condition` holds, else `otherwise`. Both are computed."""
    assert condition.dtype is bool_, "select takes a bool"
    assert then.dtype is otherwise.dtype, f"select of {then.dtype} and {otherwise.dtype}"
    return Expr("select", (condition, then, otherwise), then.dtype)


def cast(x: Expr, dtype: DType) -> Expr:
    """The same number as another element type: floats round towards zero to integers, and non-zero is true."""
    return x if x.dtype is dtype else Expr("cast", (x,), dtype)


def load(buffer: Buffer, at: tuple[Index, ...]) -> Expr:
    """The element of `buffer` at an index per axis."""
    offset = Index(0)
    for i, stride in zip(at, buffer.strides, strict=True):
        offset = offset + i * stride
    return Expr("load", (), buffer.type.dtype, (buffer, offset))


def position(at: Index, dtype: DType) -> Expr:
    """An index as a number: what `arange` is made of."""
    known = not at.terms and isinstance(at.constant, int)
    return const(at.constant, dtype) if known else Expr("position", (), dtype, at)


def folded(fold: Fold) -> Expr:
    """The result of a reduction that an earlier sweep has finished."""
    return Expr("folded", (), fold.dtype, fold)


def neutral(combine: str, dtype: DType) -> float | int | bool:
    """What changes nothing when combined."""
    if combine in ("add", "or"):
        return 0
    if combine in ("mul", "and"):
        return 1
    if dtype.kind == "f":
        return -inf if combine == "max" else inf
    if dtype.kind == "b":
        return combine == "min"
    least = -(1 << (dtype.bits - 1)) if dtype.kind == "i" else 0
    most = (1 << (dtype.bits - (dtype.kind == "i"))) - 1
    return least if combine == "max" else most
