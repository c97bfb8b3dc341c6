"""Kernels on several threads: whatever the sizes are, all rows are computed, each by one thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.codegen import emitted_function
from mycelia.ir import Function, interpret
from mycelia.runtime import tiles
from mycelia.testing import compile
from mycelia.threads import apart
from mycelia.threads.apart import others
from mycelia.threads.openmp import load_openmp
from mycelia.types import Array, bfloat16, float32, float64, int32
from tests.fuzz.judge import difference
from tests.fuzz.programs import pulled_back, random_case
from tests.lowering.programs import f32, numbers, softmax, typed

TEAMS = (2, 3, 5)


@pytest.fixture(autouse=True)
def _everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little there is to do, threads share it."""
    monkeypatch.setattr(emitted_function, "shared_from", lambda target: -1)
    monkeypatch.setattr(tiles, "WORTH_A_THREAD", 0)


def with_team(count: int, work: Callable[[], None]) -> None:
    """Do something on a thread that has `count` threads to share it with, and goes with them."""
    raised: list[BaseException] = []

    def run() -> None:
        load_openmp().omp_set_num_threads(count)
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def same_on_all_teams(fn: Function, *inputs: Array, within: Sequence[Any] | None = None) -> None:
    """One thread, two, three and five give the same bits, and what the interpreter gives; `within`: how far apart the
    results may be, where a library adds up terms in an order of its own.
    """
    bounds = within or [0.0] * len(fn.results)
    alone, shared = compile(fn)(*inputs), compile(fn, threads=max(TEAMS))
    for got, want in zip(alone, interpret(fn, *inputs), strict=True):
        np.testing.assert_allclose(got.astype("d"), np.asarray(want, "d"), rtol=1e-2, atol=1e-4)
    for count in TEAMS:

        def work(count: int = count) -> None:
            for got, want, most in zip(shared(*inputs), alone, bounds, strict=True):
                if within:
                    assert np.all(np.abs(got - want) <= most), f"on {count} threads"
                else:
                    np.testing.assert_array_equal(got, want, f"on {count} threads")

        with_team(count, work)


def everything(flat, rows, columns, integers):
    """Kernels of every form."""
    return (
        p.tanh(flat) * flat, p.reduce_sum(flat), p.reduce_max(flat), softmax(rows), p.reduce_sum(rows, (1,)),
        p.cumsum(rows, 0), p.reduce_sum(columns, (0,)), p.tanh(p.transpose(columns, (1, 0))),
        p.reduce_sum(integers * integers, (1,)),
    )  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 63, 65, 129, 1003])
def test_kernels_of_odd_sizes_are_shared_right(n):
    fn = Function.build(everything, f32(n), f32(n, 7), f32(7, n), typed(int32, n, 3))
    same_on_all_teams(fn, *[numbers(t, i) for i, t in enumerate(fn.types)])


@pytest.mark.parametrize("dtype", [float32, float64, int32, bfloat16], ids=lambda d: d.name)
def test_products_of_odd_sizes_are_shared_right(dtype):
    sizes = (1, 1, 1), (3, 5, 2), (17, 9, 33), (65, 31, 129), (5, 3, 260)
    types = [typed(dtype, *t) for rows, terms, columns in sizes for t in ((rows, terms), (terms, columns))]
    fn = Function.build(lambda *x: [p.matmul(a, b) for a, b in zip(x[::2], x[1::2], strict=True)], *types)
    inputs = [numbers(t, i) for i, t in enumerate(fn.types)]
    rounding = None
    if dtype is float32:  # on AVX2 oneDNN adds up the last rows of a thread's part in another order than all others
        pairs = zip(inputs[::2], inputs[1::2], strict=True)
        rounding = [np.finfo("f").eps * a.shape[1] * (np.abs(a) @ np.abs(b)) for a, b in pairs]
    same_on_all_teams(fn, *inputs, within=rounding)


def test_random_programs_and_their_gradients_run_on_three_threads():
    def work() -> None:
        for seed in range(60_000, 60_010):
            for case in (random_case(seed), pulled_back(random_case(seed, steps=6), seed)):
                found = case and difference(case, lambda fn: compile(fn, threads=3))
                assert not found, f"program {seed}: {found}\n{case.fn}"

    with_team(3, work)


def places_of_others(team: int) -> list[set[int]]:
    """Processors on which the others of a team may not run, though this thread may, after a program."""
    program = compile(Function.build(lambda x: p.tanh(x), f32(1 << 21)), threads=team)
    found: list[set[int]] = []

    def work() -> None:
        program(np.zeros(1 << 21, "f"))
        found.extend(os.sched_getaffinity(0) - os.sched_getaffinity(thread) for thread in others())

    with_team(team, work)
    assert len(found) == team - 1
    return found


PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@pytest.mark.skipif(PROCESSORS < 2, reason="threads have no choice")
def test_the_others_of_a_team_stay_off_the_processor_of_the_one_that_leads():
    (forbidden,) = places_of_others(2)
    assert len(forbidden) == 1


def test_more_threads_than_processors_run_anywhere():
    if hasattr(os, "sched_getaffinity"):
        assert not any(places_of_others(PROCESSORS + 1))


@pytest.mark.skipif(PROCESSORS < 2, reason="threads have no choice")
def test_a_forked_child_leaves_the_threads_of_its_parent_where_they_are():
    def work() -> None:
        apart.place(0)
        assert apart.team.others
        child = os.fork()
        if not child:
            os._exit(apart.team.others is not None or apart.team.processor != -1)
        assert os.waitpid(child, 0) == (child, 0)

    with_team(2, work)
