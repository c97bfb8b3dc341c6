"""Random programs do under jit what they do in Python, over several calls; so do their gradients and batches.

`python -m tests.promises.generator FIRST COUNT` runs others, and shows what differs as a small program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.promises.generator.pool import Judge
from tests.promises.generator.shrink import shrink
from tests.promises.generator.writer import Writer

PACK = 60  # programs to a test, which one other process judges


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """One process for all packs: to start another takes as long as many programs."""
    with Judge() as judge:
        yield judge


def check(judge: Judge, seeds: range, pure: bool) -> None:
    """Judge the programs of these seeds; the complaint shows a small program."""
    for seed in seeds:
        writer = Writer(seed, pure)
        text, native = writer.program(), writer.native
        verdict = judge(text, native)
        if verdict.bad:
            small = shrink(text, lambda smaller: judge(smaller, native).kind == verdict.kind, most=100)  # noqa: B023
            raise AssertionError(f"seed {seed}: {verdict.kind}\n{small}\n{judge(small, native).words}")


@pytest.mark.parametrize("first", range(0, 420, PACK))
def test_generated_programs_do_under_jit_what_they_do_in_python(judge: Judge, first: int) -> None:
    check(judge, range(first, first + PACK), pure=False)


@pytest.mark.parametrize("first", range(0, 120, PACK))
def test_gradients_and_batches_of_generated_functions_are_those_of_python(judge: Judge, first: int) -> None:
    check(judge, range(first, first + PACK), pure=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000_000, 1_028_000, 500))
def test_many_generated_programs_do_under_jit_what_they_do_in_python(judge: Judge, first: int) -> None:
    check(judge, range(first, first + 500), pure=False)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000_000, 1_002_000, 500))
def test_gradients_and_batches_of_many_generated_functions_are_those_of_python(judge: Judge, first: int) -> None:
    check(judge, range(first, first + 500), pure=True)


def test_a_seed_always_gives_the_same_program() -> None:
    assert Writer(7).program() == Writer(7).program() != Writer(8).program()


def test_programs_that_hang_or_kill_their_process_are_seen() -> None:
    loop = "def main():\n    if J.__name__ != 'eager':\n        while True: pass"
    with Judge(limit=1.0, plain=1.0) as judge:
        assert judge(loop).kind == "hang"
        assert judge(loop.replace("while True: pass", "__import__('os').abort()")).kind == "crash"
        assert judge("def main():\n    while True: pass").kind == "endless"
        assert judge("def main():\n    return J.__name__ == 'eager'").kind == "different"
        assert judge("def main():\n    return T([1.])").kind == "same"


def test_a_program_shrinks_to_the_statements_that_matter() -> None:
    body = "y = x + 1\n    if x:\n        z = [math.pi, bad(x) * 2]\n    return y"
    text = f"import math\ndef f(x):\n    {body}\ndef main(): return f(3)\n"
    small = shrink(text, lambda smaller: "bad(" in smaller)
    assert len(ast.unparse(ast.parse(small))) < 40
