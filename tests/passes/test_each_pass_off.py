"""Each pass is only about speed: without it, and with every function verified between passes, all laws hold.

The slow tests judge all there is. What decides is the function that reaches the lowering: where it is the same with a
pass and without it, the machine code is the same too, and is judged once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import pytest

from mycelia.api.native import pushed, recorded
from mycelia.api.options import options as usual
from mycelia.ir import Function
from mycelia.options import Options
from mycelia.passes import NEEDED, PIPELINE, optimise
from mycelia.testing import LAWS, all_samples
from mycelia.testing.samples import Sample
from tests.fuzz import judge
from tests.fuzz.programs import Case, mapped, pulled_back, random_case
from tests.promises.judge import Program, difference
from tests.promises.test_programs import CORPUS

PASSES = [run.__name__ for run in PIPELINE if run not in NEEDED]
SAMPLES = list(all_samples())
NATIVE_LAWS = ("execution_equals_reference", "every_claimed_dtype_works")  # those that run machine code

each_pass = pytest.mark.parametrize("off", PASSES)


@contextmanager
def without(*off: str) -> Iterator[None]:
    """All that is compiled is compiled without these passes, and verified after each of the others."""

    def chosen(*given: object) -> Options:
        return replace(usual(*given), without=frozenset(off), verify=True)

    for kept in (recorded, pushed):  # what was compiled with the pass
        kept.cache_clear()
    with mock.patch("mycelia.api.native.options", chosen), mock.patch("mycelia.testing.native.options", chosen):
        yield


@contextmanager
def noted() -> Iterator[list[tuple[Function, Options, Function]]]:
    """The functions that are compiled inside the block: as they are, for which options, and after all passes."""
    found = []

    def noting(fn: Function, options: Options) -> Function:
        after = optimise(fn, options)
        found.append((fn, options, after))
        return after

    with mock.patch("mycelia.runtime.stages.optimise", noting):
        yield found


def each_off(name: str, judged: Callable[[], str | None]) -> Iterator[str]:
    """What `judged` finds with every pass, and without each that has something to do."""
    with without(), noted() as functions:
        found = judged()
    if found is not None:
        yield f"{name}, with every pass: {found}"
    for off in PASSES:
        with without(off):
            changes = [optimise(fn, replace(o, without=frozenset({off}))) != after for fn, o, after in functions]
            found = judged() if any(changes) else None
        if found is not None:
            yield f"{name}, without {off}: {found}"


def broken_law(sample: Sample, laws: tuple[str, ...]) -> str | None:
    for law in laws:
        try:
            LAWS[law](sample)
        except Exception as error:  # whatever it is, it belongs into the list
            return f"{law}: {error}"
    return None


def case_of(seed: int) -> Case | None:
    if seed % 3 == 0:
        return random_case(seed)
    return (pulled_back if seed % 3 == 1 else mapped)(random_case(seed, steps=7), seed)


def unlike_python(program: Program) -> str | None:
    return difference(program)[0]


@each_pass
def test_some_samples_obey_their_laws(off: str) -> None:
    with without(off):
        for sample in SAMPLES[PASSES.index(off) :: 20]:
            assert broken_law(sample, NATIVE_LAWS[:1]) is None, sample


@each_pass
def test_some_random_programs_are_right(off: str) -> None:
    with without(off):
        for seed in range(12):
            if (case := case_of(seed)) is not None:
                judge.check(case, f"program {seed}")


@each_pass
@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_some_programs_do_as_python_does(off: str) -> None:
    with without(off):
        for program in CORPUS[PASSES.index(off) :: 300]:
            assert unlike_python(program) is None, program


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_all_samples_obey_their_laws(part: int) -> None:
    found = [f for s in SAMPLES[part::8] for f in each_off(str(s), lambda s=s: broken_law(s, NATIVE_LAWS))]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(50_000, 50_500, 50))
def test_many_random_programs_are_right(first: int) -> None:
    cases = {s: case for s in range(first, first + 50) if (case := case_of(s)) is not None}
    found = [f for s, case in cases.items() for f in each_off(f"program {s}", lambda case=case: judge.difference(case))]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
@pytest.mark.filterwarnings("ignore")
def test_the_corpus_does_as_python_does(part: int) -> None:
    found = [f for p in CORPUS[part::16] for f in each_off(str(p), lambda p=p: unlike_python(p))]
    assert not found, "\n".join(found)


def test_a_pass_that_breaks_something_is_found() -> None:
    """The judge judges: a broken law is told once for each pass without which the program is another."""
    (sample,) = [s for s in SAMPLES if s.op.name == "multiply"][:1]
    ran = []
    told = list(each_off("it", lambda: ran.append(broken_law(sample, NATIVE_LAWS[:1])) or "wrong"))
    assert told[0] == "it, with every pass: wrong"
    assert len(told) == len(ran) < 1 + len(PASSES)
