"""One arena: buffers share room, and never while both are needed."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.ir import Function
from mycelia.loops import Buffer, Invoke
from mycelia.runtime.layout import layout
from mycelia.runtime.recipes import bind, decided
from mycelia.schedule import buffer_bytes, plan_memory
from mycelia.testing import lower, optimise
from mycelia.transforms import vjp
from mycelia.types import TensorType, float32
from tests.fuzz.programs import mapped, pulled_back, random_case
from tests.lowering.programs import f32, lowered
from tests.runtime.programs import chain, gradient, loop, tree
from tests.schedule.shadow import Shadow


def room(step: Invoke) -> int:
    return bind(decided(step.call, options().threads)).room


def check_plans(fn: Function, seed: int = 0) -> None:
    """Whatever way the program takes, it finds what it put down."""
    program = lower(optimise(fn), {})
    unit = layout(program, options())
    rng = np.random.default_rng(seed)
    for _ in range(3):
        inner = [(r.block, unit.procedures[r.name]) for r in program.procedures]
        for block, plan in [(program.block, unit.plan), *inner]:
            Shadow(plan, program, room, lambda: bool(rng.integers(2))).run(block)


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_no_buffer_is_overwritten_while_it_is_needed(seed):
    for s in range(seed, seed + 20):
        check_plans(random_case(s, steps=12).fn, s)


@pytest.mark.parametrize("seed", range(0, 20, 10))
def test_no_buffer_of_a_gradient_is_overwritten_while_it_is_needed(seed):
    for s in range(seed, seed + 10):
        case = random_case(s, steps=7)
        for derived in (pulled_back(case, s), mapped(case, s)):
            if derived is not None:
                check_plans(derived.fn, s)


@pytest.mark.parametrize("fn", [loop(5), tree(), chain()], ids=["loop", "tree", "chain"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_plans_of_loops_and_recursion_hold_for_every_order(fn, order):
    for _ in range(order):
        fn = gradient(fn)
        fn = fn.with_results(p.reduce_sum(r) for r in fn.results)
    check_plans(fn)


def test_the_judge_notices_a_plan_in_which_everything_lies_at_one_place():
    program = lowered(network, *NETWORK)
    plan = layout(program, options()).plan
    broken = type(plan)({b: type(q)(q.slot, 0) for b, q in plan.places.items()}, plan.rooms, plan.arena)
    with pytest.raises(AssertionError, match="but there lies"):
        Shadow(broken, program, room, lambda: True).run(program.block)


NETWORK = f32(32, 64), f32(64, 64)


def network(x, w):
    for _ in range(10):
        x = p.tanh(p.matmul(x, w))
    return p.reduce_sum(x, (1,))


def total(program, plan) -> int:
    return sum(buffer_bytes(b) for b, place in plan.places.items() if place.slot is None and b not in program.shared)


def test_the_arena_of_a_deep_network_holds_two_layers_only():
    program = lowered(network, *NETWORK)
    plan = layout(program, options()).plan
    assert total(program, plan) >= 19 * 32 * 64 * 4
    rooms = max([room(s) for s in program.block.walk() if isinstance(s, Invoke)])
    assert plan.arena <= 2 * 32 * 64 * 4 + rooms + 64


def test_the_arena_of_a_gradient_is_smaller_than_everything_in_it():
    program = lower(optimise(vjp(Function.build(network, *NETWORK))), {})
    plan = layout(program, options()).plan
    assert plan.arena < 0.8 * total(program, plan)


def test_a_buffer_with_gaps_takes_the_room_of_its_gaps():
    assert buffer_bytes(Buffer("b", TensorType(float32, (3, 2)), (10, 1))) == (2 * 10 + 1 + 1) * 4
    assert buffer_bytes(Buffer("b", TensorType(float32, (3, 0)), (0, 1))) == 0
    assert buffer_bytes(Buffer("b", TensorType(float32, ()), ())) == 4


def test_buffers_with_a_slot_take_no_room():
    program = lowered(lambda x: x * 2.0, f32(100))
    plan = plan_memory(program.block, {b: i for i, b in enumerate((*program.inputs, *program.outputs))}, {}, room)
    assert plan.arena == 0
