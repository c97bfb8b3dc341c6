"""The programs of the corpus under grad, grad of grad, vmap and grad of vmap, compiled, give what Python gives.

Each call of a jitted function with a floating tensor in front is transformed as well. Where Python has no answer (an
example raises, nothing depends on the tensor) there is nothing to compare. A function that has effects is not defined
here, and a program shows whether one of its functions has: to call it once more, transformed, in plain Python, changes
what the program does, or what Python answers when it is asked in another way.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mycelia.eager import Tensor
from tests.promises.judge import Program, alike, compiler, eager, outcome, seen
from tests.promises.test_programs import CORPUS
from tests.promises.transformed import asked_otherwise, names

HOW = ["GRAD", "GRAD2", "BATCH", "GRAD_BATCH"]
UNDEFINED = {  # programs of which Python's answers do not tell what a transformed one should do
    "arguments_with_an_order_of_their_own-moved_inside": "three examples turn an argument around, and nobody sees it",
    "hooks_and_functions_that_programs_call-bprop_global_list_grows_outside": "effects that undo each other",
    "gradients_of_ones_own-bprop_in_a_loop": "a bprop that is not linear in its cotangent: it adds something",
    "gradients_state_and_views-random_seeded_inside": "examples one by one draw the same numbers from a seed",
    "drawn-seed_set_inside": "the same",
    "the_world_around-random_tensor": "the same",
    "as_strict_as_python-hash_of_nan": "the hash of a nan is where it is in memory",
}


def answers(program: Program, transform: Any, jit: Any) -> tuple[list[Any], Any]:
    """What the transformed function gives in every call of the main thread, and what the program does."""
    found: list[Any] = []
    inside: list[Any] = []  # a function that calls another one is transformed as a whole

    def wrap(fn: Any) -> Any:
        transformed = jit(transform(fn))

        def called(*args: Any, **options: Any) -> Any:
            if (
                is_differentiable(args, options)
                and threading.current_thread() is threading.main_thread()
                and not inside
            ):
                inside.append(fn)
                try:
                    found.append(seen(transformed(args[0].copy(), *args[1:])))
                except Exception as error:
                    found.append(seen(error))
                inside.clear()
            return fn(*args, **options)

        return called

    done = outcome(program, wrap)
    return found, done


def is_differentiable(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    return bool(args and not options and isinstance(args[0], Tensor) and "Float" in str(args[0].dtype))


class Endless(BaseException):
    """A loop that ends for the program's own tensors does not for other examples."""


@contextmanager
def ending(seconds: float = 1.0) -> Iterator[None]:
    """What takes more of the processor's time is said to be endless."""

    def ring(*_: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # with the system's part: to get memory without end takes that
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def is_answer(found: Any) -> bool:
    return not (isinstance(found, tuple) and found[:1] == ("Undefined",))


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("program", CORPUS, ids=str)
@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_a_program_is_transformed_as_python_says(program: Program, how: str) -> None:
    if str(program) in UNDEFINED:
        pytest.skip(UNDEFINED[str(program)])
    try:
        with ending():
            want, world = answers(program, names(compiled=False)[how], eager)
            again, _ = answers(program, asked_otherwise()[how], eager)
    except Endless:
        pytest.skip("Python does not end")
    if not any(map(is_answer, want)):
        pytest.skip("Python has no answer")
    if not alike(outcome(program, eager), world):
        pytest.skip("it has effects")
    if len(want) != len(again) or not any(map(alike, want, again)):
        pytest.skip("it has effects, or is not linear in what comes back")
    got, other = answers(program, names(compiled=True)[how], compiler([]))
    assert alike(world, other)
    assert len(want) == len(got)
    for wanted, found, twice in zip(want, got, again, strict=True):
        assert not alike(wanted, twice) or alike(wanted, found), f"python {wanted}\ncompiled {found}"


def test_programs_that_are_left_out_are_there() -> None:
    assert set(UNDEFINED) <= set(map(str, CORPUS))
