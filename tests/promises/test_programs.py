"""Every program does under jit what it does in Python: results, types, effects, exceptions, over several calls.

What a program becomes is decided by capture. A quarter of the programs become machine code here; of the others the
meaning is interpreted, which takes less than half of the time. Slow tests run the machine code of all of them.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.promises.generator.meaning import interpreting
from tests.promises.judge import Program, difference, families, programs

HERE = Path(__file__).parent
CORPUS = [
    *[p for path in sorted(HERE.glob("programs/*.txt")) for p in programs(path)],
    *[p for path in sorted(HERE.glob("families/*.txt")) for p in families(path)],
]


NATIVE = set(map(str, CORPUS[::4]))


@pytest.mark.many("program", CORPUS, pack=25, ids=str)
@pytest.mark.filterwarnings("ignore")  # a program may warn, as it does in Python
def test_a_program_does_under_jit_what_it_does_in_python(program: Program) -> None:
    with nullcontext() if str(program) in NATIVE else interpreting():
        found, _ = difference(program)
    assert found is None, found


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in CORPUS if str(p) not in NATIVE], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_its_machine_code_does_what_it_does_in_python(program: Program) -> None:
    found, _ = difference(program)
    assert found is None, found


def test_there_are_six_hundred_programs_and_their_names_are_unique() -> None:
    names = [str(p) for p in CORPUS]
    assert len(set(names)) == len(names) >= 600
