"""Every program does under jit what it does in Python: results, types, effects, exceptions, over several calls."""

from pathlib import Path

import pytest

from tests.promises.judge import Program, difference, programs

CORPUS = [p for path in sorted(Path(__file__).parent.glob("programs/*.txt")) for p in programs(path)]


@pytest.mark.parametrize("program", CORPUS, ids=str)
@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_a_program_does_under_jit_what_it_does_in_python(program: Program) -> None:
    found, _ = difference(program)
    assert found is None, found


def test_names_are_unique() -> None:
    names = [str(p) for p in CORPUS]
    assert len(set(names)) == len(names)
