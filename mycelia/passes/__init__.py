"""Functions to functions of the same meaning: less to do, in a better form."""

from mycelia.ir import Function
from mycelia.passes.epilogue import fuse_epilogues
from mycelia.passes.expand import expand
from mycelia.passes.inline import inline
from mycelia.passes.inner import everywhere
from mycelia.passes.reduction import split_reductions
from mycelia.passes.simplify import fold, simplify

PIPELINE = tuple(everywhere(run) for run in (inline, expand, fold, simplify, split_reductions, fuse_epilogues))


def optimise(fn: Function) -> Function:
    """Run every pass, in order."""
    for run in PIPELINE:
        fn = run(fn)
    return fn


__all__ = [
    "PIPELINE",
    "everywhere",
    "expand",
    "fold",
    "fuse_epilogues",
    "inline",
    "optimise",
    "simplify",
    "split_reductions",
]
