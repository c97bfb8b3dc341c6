"""Functions to functions of the same meaning: less to do, in a better form."""

import sys

from mycelia.errors import ArgumentError
from mycelia.ir import Function, verify
from mycelia.options import Options
from mycelia.passes.epilogue import fuse_epilogues
from mycelia.passes.expand import expand
from mycelia.passes.inline import inline
from mycelia.passes.inner import everywhere
from mycelia.passes.products import products_for, shape_products
from mycelia.passes.reduction import split_reductions
from mycelia.passes.simplify import fold, simplify

NEEDED = (inline, expand)  # without them lowering would meet ops that it has no rule for
PIPELINE = tuple(everywhere(run) for run in (*NEEDED, fold, shape_products, simplify, split_reductions, fuse_epilogues))


def optimise(fn: Function, options: Options) -> Function:
    """Run every pass that is not switched off, in order."""
    _check(options)
    own = everywhere(products_for(options.target.short_units))
    for run in (own if run.__name__ == own.__name__ else run for run in PIPELINE):
        if run.__name__ in options.without:
            continue
        before, fn = fn, run(fn)
        if options.verify:
            _verified(fn, run.__name__)
        if "passes" in options.show and fn != before:
            print(f"after {run.__name__}:\n{fn}", file=sys.stderr)
    return fn


def _check(options: Options) -> None:
    names = [run.__name__ for run in PIPELINE]
    needed = [run.__name__ for run in NEEDED]
    for name in sorted(options.without):
        if name not in names:
            raise ArgumentError(f"there is no pass {name!r}", hint=f"the passes are {', '.join(names)}")
        if name in needed:
            raise ArgumentError(
                f"{name} cannot be switched off: lowering relies on it",
                hint=f"these can: {', '.join(n for n in names if n not in needed)}",
            )


def _verified(fn: Function, name: str) -> None:
    try:
        verify(fn)
    except AssertionError as wrong:
        raise AssertionError(f"after the pass {name}: {wrong}") from wrong


__all__ = [
    "NEEDED",
    "PIPELINE",
    "everywhere",
    "expand",
    "fold",
    "fuse_epilogues",
    "inline",
    "optimise",
    "shape_products",
    "simplify",
    "split_reductions",
]
