"""Functions to functions of the same meaning: less to do, in a better form."""

import sys

from mycelia.errors import ArgumentError
from mycelia.ir import Function, verify
from mycelia.options import Options
from mycelia.passes.accumulate import accumulate
from mycelia.passes.epilogue import fuse_epilogues
from mycelia.passes.expand import expand
from mycelia.passes.inline import inline
from mycelia.passes.inner import Pass, everywhere
from mycelia.passes.products import products_for, shape_products
from mycelia.passes.reduction import split_reductions
from mycelia.passes.simplify import fold, simplify

NEEDED = (inline, expand)  # without them a back end would meet ops that it has no rule for
CANONICAL: tuple[Pass, ...] = (*NEEDED, fold, shape_products, simplify)
NATIVE: tuple[Pass, ...] = (accumulate, split_reductions, fuse_epilogues)  # what machine code of our own is better for
PIPELINE = (*CANONICAL, *NATIVE)


def optimise(fn: Function, options: Options) -> Function:
    """Run every pass of the native back end that is not switched off, in order."""
    own = products_for(options.target.short_units)
    return _run(fn, options, (*(own if run is shape_products else run for run in CANONICAL), *NATIVE))


def canonical(fn: Function, options: Options, following: tuple[Pass, ...]) -> Function:
    """Run the canonical passes, and those that follow for a back end; those that are switched off are left out."""
    return _run(fn, options, (*CANONICAL, *following))


def _run(fn: Function, options: Options, passes: tuple[Pass, ...]) -> Function:
    _check(options, passes)
    for run in passes:
        if run.__name__ in options.without:
            continue
        before, fn = fn, everywhere(run)(fn)
        if options.verify:
            _verified(fn, run.__name__)
        if "passes" in options.show and fn != before:
            print(f"after {run.__name__}:\n{fn}", file=sys.stderr)
    return fn


def _check(options: Options, passes: tuple[Pass, ...]) -> None:
    names = [run.__name__ for run in (*passes, *NATIVE)]
    needed = [run.__name__ for run in NEEDED]
    for name in sorted(options.without):
        if name not in names:
            raise ArgumentError(f"there is no pass {name!r}", hint=f"the passes are {', '.join(dict.fromkeys(names))}")
        if name in needed:
            raise ArgumentError(
                f"{name} cannot be switched off: back ends rely on it",
                hint=f"these can: {', '.join(n for n in dict.fromkeys(names) if n not in needed)}",
            )


def _verified(fn: Function, name: str) -> None:
    try:
        verify(fn)
    except AssertionError as wrong:
        raise AssertionError(f"after the pass {name}: {wrong}") from wrong


__all__ = [
    "CANONICAL",
    "NATIVE",
    "NEEDED",
    "PIPELINE",
    "Pass",
    "accumulate",
    "canonical",
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
