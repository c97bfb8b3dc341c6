"""Whether compiled code gives what the interpreter gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.ir import Function, interpret
from mycelia.testing import compile
from mycelia.types import Array, float32, float64
from tests.fuzz.coarseness import coarseness
from tests.fuzz.programs import Case
from tests.fuzz.shrink import shrink

# of the largest number in a result, by the coarsest numbers that flow to it: both sides round after every operation, in
# another order
TOLERANCE = {float32: 2e-4, float64: 1e-10}
LARGEST = 1e4  # beyond this a program is too badly conditioned to say anything


def verified(fn: Function) -> Callable[..., Any]:
    """Compiled, and known to be legal after each pass."""
    return compile(fn, verify=True)


def difference(case: Case, compile: Callable[[Function], Callable[..., Any]] = verified) -> str | None:
    """What differs, in words; None if nothing does, or if the program is beyond numbers."""
    with np.errstate(all="ignore"):
        expected = [np.asarray(x) for x in interpret(case.fn, *case.inputs)]
    if any(_wild(x) for x in expected):
        return None
    try:
        got = compile(case.fn)(*case.inputs)
    except Exception as error:  # whatever it is, a smaller program may show it too
        return f"{type(error).__name__}: {error}"
    coarse = coarseness(case.fn, lambda dtype: TOLERANCE.get(dtype, 0.0))
    for i, (g, e, tolerance) in enumerate(zip(got, expected, coarse, strict=True)):
        if g.shape != e.shape or g.dtype != e.dtype:
            return f"result {i} is {g.dtype}{g.shape}, not {e.dtype}{e.shape}"
        scale = 1.0 + (float(np.abs(e).max()) if e.size and e.dtype.kind == "f" else 0.0)
        if not np.allclose(g, e, rtol=0, atol=tolerance * scale):
            worst = np.unravel_index(np.argmax(np.abs(g.astype("d") - e.astype("d"))), e.shape)
            return f"result {i} at {tuple(map(int, worst))} is {g[worst]}, not {e[worst]}"
    return None


def _wild(x: Array) -> bool:
    return x.dtype.kind == "f" and x.size > 0 and not (np.isfinite(x).all() and np.abs(x).max() < LARGEST)


def check(case: Case, name: str) -> None:
    """Complain about a difference, with a small program that shows it."""
    found = difference(case)
    if found is None:
        return
    small = shrink(case, lambda c: difference(c) is not None)
    arrays = "\n".join(f"    {np.array_repr(x)}" for x in small.inputs)
    raise AssertionError(f"{name}: {found}; in short, {difference(small)}\n{small.fn}\n{arrays}")
