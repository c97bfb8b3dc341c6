"""A function does the same wherever it is called: programs of the corpus, where what is compiled is their caller.

The caller calls it under a condition, in a loop, in a recursion, in a generator, in an error handler. To the function
nothing has changed; to capture, which now meets it in the middle of something, everything has.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mycelia import Tensor
from mycelia.api.jit import jit
from tests.promises.generator.meaning import interpreting
from tests.promises.judge import Program, alike, compiler, outcome, programs
from tests.promises.test_programs import CORPUS

CALLERS = programs(Path(__file__).parent / "callers.txt")
SPARSE = 509  # one program of so many in every run


def made_by(caller: Program) -> Callable[[Any], Any]:
    """What makes the caller of a function."""
    name = f"<{caller}>"
    linecache.cache[name] = len(caller.text), None, caller.text.splitlines(True), name
    space: dict[str, Any] = {"ONE": Tensor([1.0]), "__name__": caller.name}
    exec(compile(caller.text, name, "exec", dont_inherit=True), space)
    return space["make"]  # type: ignore[no-any-return]


def difference(caller: Program, program: Program) -> str | None:
    """What differs if Python calls the caller, and if jit does."""
    make = made_by(caller)

    def is_another_rule(fn: Any) -> bool:  # programs about gradients say so of their functions, see `transformed`
        return bool(getattr(fn, "is_gradient", False) or getattr(fn, "may_be_refused", False))

    want = outcome(program, lambda fn: fn if is_another_rule(fn) else make(fn))
    got = outcome(program, lambda fn: compiler([])(fn) if is_another_rule(fn) else jit(make(fn)))
    return None if alike(want, got) else f"eager {want}\njit   {got}"


@pytest.mark.parametrize("caller", CALLERS, ids=lambda c: c.name)
@pytest.mark.filterwarnings("ignore")
def test_a_program_does_the_same_called_by_another(caller: Program) -> None:
    begin = CALLERS.index(caller) * 11
    bad = {}
    for program in CORPUS[begin::SPARSE]:
        with interpreting():
            bad[str(program)] = difference(caller, program)
    found = [f"{name}: {words}" for name, words in bad.items() if words is not None]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("caller", CALLERS, ids=lambda c: c.name)
@pytest.mark.filterwarnings("ignore")
def test_every_program_does_the_same_called_by_another(caller: Program) -> None:
    with interpreting():
        found = [f"{p}: {words}" for p in CORPUS if (words := difference(caller, p)) is not None]
    assert not found, "\n".join(found)
