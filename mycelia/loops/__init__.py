"""The loop IR: index expressions, scalar expressions, kernels. Data structures only; codegen gives them machine code."""

from mycelia.loops.expr import (
    Buffer,
    Expr,
    Fold,
    binary,
    cast,
    const,
    folded,
    load,
    position,
    select,
    unary,
)
from mycelia.loops.index import Datum, Index, Quotient, Remainder, Variable, datum, index
from mycelia.loops.kernel import Kernel, Stage, Store, Update

__all__ = [
    "Buffer",
    "Datum",
    "Expr",
    "Fold",
    "Index",
    "Kernel",
    "Quotient",
    "Remainder",
    "Stage",
    "Store",
    "Update",
    "Variable",
    "binary",
    "cast",
    "const",
    "datum",
    "folded",
    "index",
    "load",
    "position",
    "select",
    "unary",
]
