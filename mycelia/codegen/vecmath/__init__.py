"""Vector math: elementary functions written as LLVM instructions, for one float or a vector of any width.

No library is called, and no branch is taken but the one around huge angles in 64 bits. How far a result may be from
the true value is promised in `ACCURACY`,
in units of its last place; the promise is tested over the whole range. Special values are those of C's `math.h`.
Results too small for full precision may be flushed to 0.
"""

from __future__ import annotations

from llvmlite import ir

from mycelia.codegen.vecmath import (  # noqa: F401  # each says what its functions promise
    error_function,
    exponential,
    inverse_trigonometry,
    logarithm,
    power,
    trigonometry,
)
from mycelia.codegen.vecmath.accuracy import ACCURACY, BY_NAME
from mycelia.codegen.vecmath.number import Number

__all__ = ["ACCURACY", "emit"]

__doc__ += "\n    units in the last place, at most    f32  f64\n" + "".join(
    f"    {name:35} {bound.f32:>3} {bound.f64:>4}\n" for name, bound in ACCURACY.items()
)


def emit(builder: ir.IRBuilder, function: str, *args: ir.Value) -> ir.Value:
    """Write `function` of `args` at the builder's place: float or double, scalar or vector; the result has their type.

    >>> vector = ir.VectorType(ir.FloatType(), 8)
    >>> f = ir.Function(ir.Module(), ir.FunctionType(vector, [vector]), "exp8")
    >>> builder = ir.IRBuilder(f.append_basic_block())
    >>> str(builder.ret(emit(builder, "exp", f.args[0])).operands[0].type)
    '<8 x float>'
    """
    assert function in BY_NAME, f"vecmath has no {function}; it has {', '.join(sorted(BY_NAME))}"
    return BY_NAME[function](*(Number(builder, arg) for arg in args)).value
