"""Each pass is only about speed: without it, and with every function verified between passes, all laws hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mycelia.api.native import pushed, recorded
from mycelia.api.options import options as usual
from mycelia.options import Options
from mycelia.passes import NEEDED, PIPELINE
from mycelia.testing import LAWS, all_samples
from tests.fuzz.judge import check
from tests.fuzz.programs import mapped, pulled_back, random_case
from tests.promises.judge import difference
from tests.promises.test_programs import CORPUS

PASSES = [run.__name__ for run in PIPELINE if run not in NEEDED]
SAMPLES = list(all_samples())

pytestmark = pytest.mark.parametrize("off", PASSES)


@pytest.fixture(autouse=True)
def without(off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is compiled is compiled without the pass, and verified after each of the others."""

    def chosen(*given: object) -> Options:
        return replace(usual(*given), without=frozenset({off}), verify=True)

    for place in ("mycelia.api.native.options", "mycelia.testing.native.options"):
        monkeypatch.setattr(place, chosen)
    for kept in (recorded, pushed):  # what was compiled with the pass
        kept.cache_clear()


def laws_hold(first: int, step: int, *laws: str) -> None:
    for sample in SAMPLES[first::step]:
        for law in laws:
            LAWS[law](sample)


def fuzzers_find_nothing(seeds: range) -> None:
    variants: list[Callable[[int], object]] = [
        lambda s: random_case(s),
        lambda s: pulled_back(random_case(s, steps=7), s),
        lambda s: mapped(random_case(s, steps=7), s),
    ]
    for s in seeds:
        case = variants[s % 3](s)
        if case is not None:
            check(case, f"program {s}")  # type: ignore[arg-type]  # each variant makes cases


def corpus_does_as_python(first: int, step: int) -> None:
    for program in CORPUS[first::step]:
        found, _ = difference(program)
        assert found is None, f"{program}: {found}"


def test_some_samples_obey_their_laws(off: str) -> None:
    laws_hold(PASSES.index(off), 20, "execution_equals_reference")


def test_some_random_programs_are_right(off: str) -> None:
    fuzzers_find_nothing(range(12))


@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_some_programs_do_as_python_does(off: str) -> None:
    corpus_does_as_python(PASSES.index(off), 80)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_all_samples_obey_their_laws(off: str, part: int) -> None:
    laws_hold(part, 8, "execution_equals_reference", "every_claimed_dtype_works")  # those that run machine code


@pytest.mark.slow
@pytest.mark.parametrize("first", range(50_000, 50_500, 50))
def test_many_random_programs_are_right(off: str, first: int) -> None:
    fuzzers_find_nothing(range(first, first + 50))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
@pytest.mark.filterwarnings("ignore")
def test_the_corpus_does_as_python_does(off: str, part: int) -> None:
    corpus_does_as_python(part, 8)
