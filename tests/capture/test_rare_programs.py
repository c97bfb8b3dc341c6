"""Words of the language that few programs say: the same under jit, down to the types, the objects and the errors."""

import contextlib
import io

import pytest
from programs import rare_loops  # noqa: F401  # they put themselves among the others
from programs.rare import WHOLE
from programs.rare_objects import EITHER
from programs.rare_parts import PARTLY

from mycelia.api.jit import jit
from tests.promises.generator.meaning import interpreting
from tests.promises.judge import alike, seen


def named(programs):
    return [pytest.param(fn, calls, id=fn.__name__) for fn, calls in programs]


def outcome(fn, args):
    """What a call gives, prints or raises, and what has become of its arguments, as anybody can see."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            found = fn(*args)
        except (TypeError, ValueError, ArithmeticError) as error:
            found = type(error).__name__
    return seen((found, args)), said.getvalue()


def same(fn, compiled, calls):
    for number, call in enumerate(calls):
        want, got = outcome(fn, call()), outcome(compiled, call())
        assert alike(want, got), f"call {number}\neager {want}\njit   {got}"


@pytest.mark.many(("fn", "calls"), named(WHOLE), pack=20)
def test_a_program_of_rare_words_is_compiled_whole_and_does_what_python_does(fn, calls):
    with interpreting():
        same(fn, jit(fn, fallback=False), (*calls, *calls))


@pytest.mark.many(("fn", "calls"), named(PARTLY), pack=20)
def test_a_program_of_rare_words_that_python_runs_in_part_does_what_python_does(fn, calls):
    compiled = jit(fn)
    with interpreting():
        same(fn, compiled, (*calls, *calls))
    assert "runs in Python" in compiled.explain()


@pytest.mark.many(("fn", "calls"), named(EITHER), pack=15)
def test_a_program_about_odd_objects_does_what_python_does(fn, calls):
    with interpreting():
        same(fn, jit(fn), (*calls, *calls))
