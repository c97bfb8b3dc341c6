"""Random programs: compiled code gives what the interpreter gives; so do its gradient and its batches."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia.testing import compile
from tests.fuzz.judge import check
from tests.fuzz.programs import LARGE, Case, mapped, pulled_back, random_case, training_case

PACK = 20  # programs to a test


def programs(first: int, packs: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("seed", range(first, first + packs * PACK, PACK))


def check_programs(seed: int) -> None:
    for s in range(seed, seed + PACK):
        check(random_case(s), f"program {s}")


def check_gradients(seed: int) -> None:
    for s in range(seed, seed + PACK // 2):
        case = pulled_back(random_case(s, steps=7), s)
        if case is not None:
            check(case, f"gradient of program {s}")


def check_batches(seed: int) -> None:
    for s in range(seed, seed + PACK // 2):
        check(mapped(random_case(s, steps=7), s), f"batch of program {s}")


def check_batched_gradients(seed: int) -> None:
    for s in range(seed, seed + PACK // 4):
        case: Case | None = pulled_back(random_case(s, steps=5), s)
        if case is not None:
            check(mapped(case, s), f"batch of the gradient of program {s}")


@programs(0, 8)
def test_compiled_programs_give_what_the_interpreter_gives(seed: int) -> None:
    check_programs(seed)


@programs(10_000, 4)
def test_gradients_of_programs_are_compiled_right(seed: int) -> None:
    check_gradients(seed)


@programs(20_000, 3)
def test_batches_of_programs_are_compiled_right(seed: int) -> None:
    check_batches(seed)


@programs(30_000, 2)
def test_batches_of_gradients_are_compiled_right(seed: int) -> None:
    check_batched_gradients(seed)


@pytest.mark.slow
@programs(100_000, 60)
def test_many_programs_give_what_the_interpreter_gives(seed: int) -> None:
    check_programs(seed)
    check_gradients(seed)
    check_batches(seed)
    check_batched_gradients(seed)


@pytest.mark.slow
@programs(200_000, 20)
def test_long_programs_give_what_the_interpreter_gives(seed: int) -> None:
    for s in range(seed, seed + PACK // 4):
        check(random_case(s, steps=40), f"long program {s}")


def check_updates(seed: int) -> None:
    for s in range(seed, seed + PACK // 2):
        case, donated = training_case(s)
        want = compile(case.fn)(*case.inputs)
        arrays = [x.copy() for x in case.inputs]
        got = compile(case.fn, donated)(*arrays)
        for result, param in donated.items():
            assert got[result] is arrays[param], f"program {s}"
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5, err_msg=f"result {i} of program {s}")


@programs(50_000, 2)
def test_programs_over_larger_tensors_give_what_the_interpreter_gives(seed: int) -> None:
    for s in range(seed, seed + PACK // 2):
        check(random_case(s, steps=8, extents=LARGE), f"large program {s}")


@pytest.mark.slow
@programs(400_000, 10)
def test_gradients_over_larger_tensors_are_compiled_right(seed: int) -> None:
    for s in range(seed, seed + PACK // 4):
        case = pulled_back(random_case(s, steps=6, extents=LARGE), s)
        if case is not None:
            check(case, f"gradient of large program {s}")


@programs(40_000, 3)
def test_parameters_updated_in_place_get_what_they_would_get_elsewhere(seed: int) -> None:
    check_updates(seed)


@pytest.mark.slow
@programs(300_000, 40)
def test_many_parameters_updated_in_place_get_what_they_would_get_elsewhere(seed: int) -> None:
    check_updates(seed)
