"""The programs of the corpus under grad, grad of grad, vmap and grad of vmap, compiled, give what Python gives.

Each call of a jitted function with a floating tensor in front is transformed as well. Where Python has no answer (an
example raises, nothing depends on the tensor) there is nothing to compare, nor where examples change the world: one
after the other is not all at once.
"""

from __future__ import annotations

from typing import Any

import pytest

from mycelia.eager import Tensor
from tests.promises.judge import Program, alike, compiler, eager, outcome, seen
from tests.promises.test_programs import CORPUS
from tests.promises.transformed import names

GROUPS = {
    "R0",
    "R1",
    "R2",
    "R7",
    "exits",
    "joins",
    "aliases",
    "shared",
    "gradients",
    "two_ways",
    "positions_and_writes",
}
HOW = ["GRAD", "GRAD2", "BATCH", "GRAD_BATCH"]


def answers(program: Program, how: str, compiled: bool) -> tuple[list[Any], Any]:
    """What the transformed function gives in every call, and what the program does."""
    transform, jit = names(compiled)[how], compiler([]) if compiled else eager
    found: list[Any] = []

    def wrap(fn: Any) -> Any:
        transformed = jit(transform(fn))

        def called(*args: Any, **options: Any) -> Any:
            if args and not options and isinstance(args[0], Tensor) and "Float" in str(args[0].dtype):
                try:
                    found.append(seen(transformed(args[0].copy(), *args[1:])))
                except Exception as error:
                    found.append(seen(error))
            return fn(*args, **options)

        return called

    done = outcome(program, wrap)
    return found, done


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("program", [p for p in CORPUS if p.group in GROUPS], ids=str)
@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_a_program_is_transformed_as_python_says(program: Program, how: str) -> None:
    (want, world), (got, other) = answers(program, how, compiled=False), answers(program, how, compiled=True)
    if not alike(world, other) and "BATCH" in how:
        pytest.skip("examples change the world")
    assert alike(world, other)
    assert alike(want, got), f"python {want}\ncompiled {got}"
