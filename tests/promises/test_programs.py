"""Every program does under jit what it does in Python: results, types, effects, exceptions, over several calls."""

from pathlib import Path

import pytest

from tests.promises.judge import Program, difference, families, programs

HERE = Path(__file__).parent
CORPUS = [
    *[p for path in sorted(HERE.glob("programs/*.txt")) for p in programs(path)],
    *[p for path in sorted(HERE.glob("families/*.txt")) for p in families(path)],
]


@pytest.mark.parametrize("program", CORPUS, ids=str)
@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_a_program_does_under_jit_what_it_does_in_python(program: Program) -> None:
    found, _ = difference(program)
    assert found is None, found


def test_there_are_six_hundred_programs_and_their_names_are_unique() -> None:
    names = [str(p) for p in CORPUS]
    assert len(set(names)) == len(names) >= 600
