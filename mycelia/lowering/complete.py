"""Every op is lowered, by the rule for what it says of itself; asked when the lowering is imported."""

from __future__ import annotations

from collections.abc import Mapping

from mycelia.ir import Lowered, Op
from mycelia.lowering.steps import lower_step
from mycelia.primitives import Call, CustomVjp, Reduction

CALLED = (Call, CustomVjp)  # what the pass `inline` puts in its place


def check(ops: Mapping[str, type[Op]]) -> None:
    """Complain of an op for which there is no rule, or one that it does not say.

    >>> from mycelia.primitives import Exp
    >>> check({"exp": Exp}) is None
    True
    """
    nothing = lower_step.dispatch(object)
    for name, op in ops.items():
        has_step = lower_step.dispatch(op) is not nothing
        if has_step != (op.native is Lowered.STEP):
            told = "says that it is a step, and no rule of lower_step is for it"
            raise TypeError(f"op {name} {told if not has_step else 'is lowered as a step, and does not say so'}")
        if (op.native is Lowered.FOLD) != issubclass(op, Reduction):
            raise TypeError(f"op {name}: a fold inside a kernel is a Reduction, and every Reduction is one")
        if op.native is Lowered.CALLED and not issubclass(op, CALLED):
            raise TypeError(f"op {name}: the pass inline knows {', '.join(c.__name__ for c in CALLED)}")
