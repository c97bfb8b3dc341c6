"""Random programs are judged fairly: where numbers are rounded a little otherwise, results differ a little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import interpret
from mycelia.types import Array
from tests.fuzz.judge import LARGEST
from tests.fuzz.programs import mapped, pulled_back, random_case

ROUNDING = (p.Add, p.Multiply, p.Divide, p.Sum, p.Tanh, p.Sin, p.Exp, p.Erf, p.Sqrt, p.Contract)  # none that only moves


@contextmanager
def rounded_otherwise() -> Iterator[None]:
    """The interpreter, with the last bit of what is rounded as chance will have it."""
    rng = np.random.default_rng(0)

    def shaken(x: Array) -> Array:
        if x.dtype.kind != "f":
            return x
        return x * (1 + rng.uniform(-1, 1, x.shape).astype(x.dtype) * np.finfo(x.dtype).eps)

    with ExitStack() as stack:
        for op in ROUNDING:
            usual = op.reference

            def reference(self: Any, *given: Any, usual: Any = usual) -> Array:
                return shaken(np.asarray(usual(self, *given)))

            stack.enter_context(mock.patch.object(op, "reference", reference))
        yield


@pytest.mark.parametrize("seed", [2246, *range(0, 160, 20)])
def test_rounding_decides_nothing(seed):
    for s in range(seed, seed + 20):
        case = random_case(s, steps=8)
        case = case if s % 3 == 0 else (pulled_back if s % 3 == 1 else mapped)(case, s)
        if case is None:
            continue
        want = interpret(case.fn, *case.inputs)
        with rounded_otherwise():
            got = interpret(case.fn, *case.inputs)
        for a, b in zip(got, want, strict=True):
            largest = np.abs(b).max(initial=0.0) if b.dtype.kind == "f" else 0.0
            if largest < LARGEST:
                assert np.abs(a.astype("d") - b.astype("d")).max(initial=0.0) <= 1e-3 * (1 + largest), f"program {s}"
