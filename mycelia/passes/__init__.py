"""Functions to functions of the same meaning: less to do, in a better form."""

from collections.abc import Iterable, Iterator

from mycelia.cost import called_from, chosen_up_to
from mycelia.errors import ArgumentError
from mycelia.ir import Function, verify
from mycelia.options import Options
from mycelia.passes.accumulate import accumulate
from mycelia.passes.branches import join_branches
from mycelia.passes.epilogue import epilogues_from, fuse_epilogues
from mycelia.passes.inner import Pass, everywhere
from mycelia.passes.later_sums import sum_later
from mycelia.passes.masks import choose_by_masks, masks_for
from mycelia.passes.products import products_for, shape_products
from mycelia.passes.reduction import split_reductions
from mycelia.passes.simplify import fold, simplify
from mycelia.passes.written_out import expand, inline

NEEDED = (inline, expand)  # without them a back end would meet ops that it has no rule for
CANONICAL: tuple[Pass, ...] = (*NEEDED, fold, sum_later, shape_products, simplify, join_branches)
NATIVE: tuple[Pass, ...] = (
    choose_by_masks,
    accumulate,
    split_reductions,
    fuse_epilogues,
)  # what machine code of our own is better for
PIPELINE = (*CANONICAL, *NATIVE)


class PassCount:
    """How many passes have run: none do when a program is found again that was compiled before."""

    count = 0


def optimise(fn: Function, options: Options) -> Function:
    """Run every pass of the native back end that is not switched off, in order."""
    return _run(fn, options, native_passes(options))


def native_passes(options: Options) -> tuple[Pass, ...]:
    """The passes of the native back end, for a processor, in order."""
    own: dict[Pass, Pass] = {
        shape_products: products_for(options.target.short_units),
        choose_by_masks: masks_for(chosen_up_to(options.target.vector_bytes)),
        fuse_epilogues: epilogues_from(called_from(options.target)),
    }
    return tuple(own.get(run, run) for run in (*CANONICAL, *NATIVE))


def canonical(fn: Function, options: Options, following: tuple[Pass, ...]) -> Function:
    """Run the canonical passes, and those that follow for a back end; those that are switched off are left out."""
    return _run(fn, options, (*CANONICAL, *following))


def pass_by_pass(fn: Function, options: Options, passes: tuple[Pass, ...]) -> str:
    """What each pass does: the function after it, if it changes something."""
    lines = []
    for run, after in _after_each(fn, options, passes):
        changed = after != fn
        count = f"{len(fn.values())} values before, {len(after.values())} after" if changed else "nothing to do"
        lines += [f"{run.__name__}: {count}", *([str(after)] if changed else [])]
        fn = after
    lines += [f"{name}: switched off" for name in sorted(options.without)]
    return "\n".join(lines)


def _run(fn: Function, options: Options, passes: tuple[Pass, ...]) -> Function:
    for _, after in _after_each(fn, options, passes):
        fn = after
    return fn


def _after_each(fn: Function, options: Options, passes: tuple[Pass, ...]) -> Iterator[tuple[Pass, Function]]:
    check_names(options.without, passes)
    for run in passes:
        if run.__name__ not in options.without:
            PassCount.count += 1
            fn = everywhere(run)(fn)
            if options.verify:
                _verified(fn, run.__name__)
            yield run, fn


def check_names(without: Iterable[str], passes: tuple[Pass, ...] = ()) -> None:
    """Complain about a pass that does not exist, or that nothing runs without.

    >>> check_names(["flod"])
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: there is no pass 'flod'
    ...
    """
    if isinstance(without, str | bytes) or not isinstance(without, Iterable):
        raise ArgumentError(
            f"passes that do not run are several names, not {without!r}", hint='passes_off=("simplify",) names one'
        )
    names = [run.__name__ for run in (*(passes or CANONICAL), *NATIVE)]
    needed = [run.__name__ for run in NEEDED]
    for name in without:
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
    "PassCount",
    "accumulate",
    "canonical",
    "check_names",
    "choose_by_masks",
    "everywhere",
    "expand",
    "fold",
    "fuse_epilogues",
    "inline",
    "join_branches",
    "native_passes",
    "optimise",
    "pass_by_pass",
    "shape_products",
    "simplify",
    "split_reductions",
    "sum_later",
]
