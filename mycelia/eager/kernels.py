"""Native kernels for eager mode: an op on large arrays that comes again and again is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from mycelia.eager import dispatch
from mycelia.ir import Function, Param, interpret
from mycelia.lowering.values import is_view
from mycelia.options import Options
from mycelia.runtime import compile
from mycelia.types import Array

PATIENCE = 3  # calls by NumPy before a kernel is worth compiling: shapes that change all the time never are


def after_a_while(fn: Function, options: Callable[[], Options]) -> Callable[..., Sequence[Array]] | None:
    """`fn` on arrays: by NumPy at first, by machine code when it turns out to be needed often. None for what only
    looks at its operand in another way: NumPy does that without copying.
    """
    if all(isinstance(v.op, Param) or is_view(v) for v in fn.values()):
        return None
    calls = 0
    kernel: Callable[..., Sequence[Array]] | None = None

    def run(*arrays: Array) -> Sequence[Array]:
        nonlocal calls, kernel
        if kernel is None:
            calls += 1
            if calls <= PATIENCE:
                return interpret(fn, *arrays)
            kernel = compile(fn, {}, options())
        return kernel(*arrays)

    return run


def install(options: Callable[[], Options]) -> None:
    """Let eager mode use native kernels, compiled with these options."""
    dispatch.native = partial(after_a_while, options=options)
