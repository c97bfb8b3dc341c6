"""Functions to functions of the same meaning: less to do, in a better form."""

from mycelia.ir import Function
from mycelia.passes.expand import expand
from mycelia.passes.inline import inline
from mycelia.passes.inner import everywhere

PIPELINE = (everywhere(inline), everywhere(expand))


def optimise(fn: Function) -> Function:
    """Run every pass, in order."""
    for run in PIPELINE:
        fn = run(fn)
    return fn


__all__ = ["PIPELINE", "everywhere", "expand", "inline", "optimise"]
