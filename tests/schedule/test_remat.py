"""Whatever is kept and whatever is computed again: the same bits come out, in no more memory than was allowed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.errors import ArgumentError, OutOfMemory
from mycelia.ir import Function
from mycelia.loops import Invoke, Program, parse_program, show
from mycelia.loops import equal as equal_programs
from mycelia.options import KEEPING, Memory, Wishes
from mycelia.runtime.stages import room_for, scheduled, written
from mycelia.schedule import POLICIES, arena_bytes, in_good_order, memory_report, plan_memory
from mycelia.schedule.lives import lives
from mycelia.testing import compile, lower, optimise
from mycelia.transforms import value_and_grad
from mycelia.types import TensorType, float32
from tests.fuzz.programs import pulled_back, random_case, training_case
from tests.schedule.networks import inputs_of, norm, training_step
from tests.schedule.shadow import Shadow

room = room_for(options())


def results(fn: Function, donated: dict[int, int], inputs: list[np.ndarray], memory: Memory, turns: int = 1) -> list:
    """What a training step gives after some turns."""
    run = compile(fn, donated, memory=memory, threads=1)
    given = [x.copy() for x in inputs]
    for _ in range(turns):
        out = run(*given)
        for i, k in donated.items():
            given[k] = out[i]
    return [np.array(r) for r in out]


def program_of(fn: Function, donated: dict[int, int], memory: Memory) -> Program:
    asked = options(Wishes(memory))
    return scheduled(written(fn, donated, asked)[0], asked)


def repeated(program: Program) -> int:
    """How many steps the report says are done again."""
    found = re.search("done again: ([0-9]+) of", memory_report(program, room))
    return int(found[1]) if found else 0


def equal(xs: list[np.ndarray], ys: list[np.ndarray]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(xs, ys, strict=True))


def check_plan(program: Program) -> None:
    """Whoever reads finds what was written: no step that is done again finds its operands changed."""
    fixed = {b: n for n, b in enumerate((*program.inputs, *program.outputs, *program.constants))}
    plan = plan_memory(program.block, fixed, program.shared, room)
    Shadow(plan, program, room, lambda: True).run(program.block)
    assert plan.arena == arena_bytes(program, room)


def test_every_policy_that_can_be_asked_for_exists():
    assert set(KEEPING) == set(POLICIES)


@pytest.mark.parametrize("seed", range(4))
def test_every_policy_gives_the_same_bits(seed):
    fn, donated = training_step(seed, 5 + seed)
    inputs = inputs_of(fn, seed)
    unrestricted = results(fn, donated, inputs, Memory(), turns=3)
    for keep in KEEPING:
        assert equal(results(fn, donated, inputs, Memory(keep), turns=3), unrestricted), keep
        check_plan(program_of(fn, donated, Memory(keep)))


@pytest.mark.parametrize("seed", range(3))
def test_a_budget_is_kept_and_changes_no_bit(seed):
    fn, donated = training_step(seed, 12 + 2 * seed)
    inputs = inputs_of(fn, seed)
    whole = arena_bytes(program_of(fn, donated, Memory()), room)
    unrestricted = results(fn, donated, inputs, Memory(), 2)
    for part in (0.8, 0.5):
        budget = int(whole * part)
        program = program_of(fn, donated, Memory(budget=budget))
        assert arena_bytes(program, room) <= budget
        assert repeated(program) > 0
        check_plan(program)
        assert equal(results(fn, donated, inputs, Memory(budget=budget), 2), unrestricted)


@pytest.mark.parametrize("keep", KEEPING)
def test_what_is_made_again_is_written_down_and_read(keep):
    """Rows wait in scratch, of which a kernel that is run twice has one."""
    w = TensorType(float32, (16, 16))

    def loss(x, *weights):
        for each in weights:
            x = norm(p.tanh(p.matmul(x, each)))
        return p.reduce_sum(x * x)

    fn = value_and_grad(Function.build(loss, TensorType(float32, (8, 16)), *[w] * 6), (False, *[True] * 6))
    program = program_of(fn, {}, Memory(keep))
    assert equal_programs(parse_program(show(program)), program)


def test_the_arena_of_a_compiled_program_is_what_was_planned():
    fn, donated = training_step(3, 20)
    whole = arena_bytes(program_of(fn, donated, Memory()), room)
    for memory in (Memory(), Memory("auto"), Memory(budget=whole // 2)):
        run = compile(fn, donated, memory=memory, threads=1)
        assert run.binding.arena == arena_bytes(program_of(fn, donated, memory), room)


# random programs with branches, of which both sides seem to live
TOO_SMALL = [training_step(seed, 10) for seed in range(4)]
TOO_SMALL += [(case.fn, donated) for case, donated in (training_case(seed, steps=20) for seed in (47, 59, 66))]


@pytest.mark.parametrize(("fn", "donated"), TOO_SMALL, ids=range(len(TOO_SMALL)))
def test_a_budget_that_is_too_small_says_which_would_do(fn, donated):
    with pytest.raises(OutOfMemory, match="bytes at least") as told:
        program_of(fn, donated, Memory(budget=1))
    least = int(re.search("needs ([0-9,]+) bytes", str(told.value))[1].replace(",", ""))
    assert arena_bytes(program_of(fn, donated, Memory(budget=least)), room) <= least
    with pytest.raises(OutOfMemory):
        program_of(fn, donated, Memory(budget=least - 1))


def test_a_large_budget_changes_nothing():
    fn, donated = training_step(0, 8)
    assert repeated(program_of(fn, donated, Memory(budget=2**40))) == 0


def test_a_deep_network_needs_a_small_part_of_what_it_computes():
    fn, donated = training_step(1, 48, rows=256)
    whole, auto = (program_of(fn, donated, m) for m in (Memory(), Memory("auto")))
    assert arena_bytes(auto, room) < arena_bytes(whole, room) / 2.5
    products = [sum(isinstance(s, Invoke) for s in q.block.steps) for q in (whole, auto)]
    assert products[0] < products[1] <= products[0] * 4 / 3  # no more than one way forward is done again


def test_products_are_not_computed_again_where_they_are_kept():
    fn, donated = training_step(1, 24, rows=256)
    whole, dots = (program_of(fn, donated, m) for m in (Memory(), Memory("dots")))
    assert sum(isinstance(s, Invoke) for s in whole.block.steps) == sum(isinstance(s, Invoke) for s in dots.block.steps)
    assert arena_bytes(dots, room) <= arena_bytes(whole, room)


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_give_the_same_bits_with_every_policy(seed):
    if seed % 2:
        case, donated = training_case(seed, steps=12)
    else:
        found = pulled_back(random_case(seed, steps=10), seed)
        if found is None:
            pytest.skip("nothing to differentiate")
        case, donated = found, {}
    inputs = list(case.inputs)
    unrestricted = results(case.fn, donated, inputs, Memory())
    whole = program_of(case.fn, donated, Memory())
    for memory in (Memory("dots"), Memory("nothing"), Memory("auto"), Memory(budget=arena_bytes(whole, room) * 3 // 4)):
        try:
            again = results(case.fn, donated, inputs, memory)
        except OutOfMemory:
            assert memory.budget is not None
            continue
        assert equal(again, unrestricted), memory


@pytest.mark.parametrize("seed", range(30))
def test_a_better_order_needs_no_more_memory_and_finds_what_it_reads(seed):
    case, donated = training_case(seed, steps=12)
    program = lower(optimise(case.fn), donated)
    ordered = in_good_order(program, room)
    assert sorted(map(id, ordered.block.steps)) == sorted(map(id, program.block.steps))
    assert max(lives(ordered, room).live, default=0) <= max(lives(program, room).live, default=0)
    check_plan(ordered)


def test_gradients_do_not_wait_for_one_another():
    fn, donated = training_step(0, 16, rows=64, plain=True)
    program = lower(optimise(fn), donated)
    live = [max(lives(q, room).live) for q in (program, in_good_order(program, room))]
    assert live[1] < 0.75 * live[0]


def test_the_report_says_what_is_planned_and_what_is_done_again():
    fn, donated = training_step(2, 12)
    once, program = (program_of(fn, donated, m) for m in (Memory(), Memory("auto")))
    report = memory_report(program, room)
    assert f"arena: {arena_bytes(program, room):,} bytes planned" in report
    assert repeated(program) == len(program.block.steps) - len(once.block.steps) > 0
    assert "done again" not in memory_report(once, room)


def test_what_cannot_be_asked_for_is_refused():
    with pytest.raises(ArgumentError, match="there is no policy 'some'"):
        Memory("some")
    with pytest.raises(ArgumentError, match="a number of bytes"):
        Memory(budget=-1)
    with pytest.raises(ArgumentError, match="a number of bytes"):
        Memory(budget=1.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="either what is kept is said"):
        Memory("dots", 100)
