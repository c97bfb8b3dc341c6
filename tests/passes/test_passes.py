"""Passes: this program becomes that program, and means the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.cost import shared_from
from mycelia.ir import Function, interpret, rewrite, rule_for, verify
from mycelia.loops import Launch
from mycelia.passes import everywhere, expand, fold, inline, simplify
from mycelia.passes.simplify import RULES
from mycelia.testing import check_pass, lower, optimise
from mycelia.types import TensorType, bool_, float16, float32, float64, int32
from tests.fuzz.programs import mapped, pulled_back, random_case

V, M = TensorType(float32, (3,)), TensorType(float32, (2, 3))
SIMPLER = {
    "times one": (lambda x: x * 1.0, lambda x: x),
    "one times": (lambda x: 1.0 * x, lambda x: x),
    "by one": (lambda x: x / 1.0, lambda x: x),
    "by four": (lambda x: x / 4.0, lambda x: x * 0.25),
    "less nothing": (lambda x: x - 0.0, lambda x: x),
    "negated twice": (lambda x: p.negative(-x), lambda x: x),
    "reshaped twice": (lambda x: p.reshape(p.reshape(x, (6,)), (3, 2)), lambda x: p.reshape(x, (3, 2))),
    "reshaped and back": (lambda x: p.reshape(p.reshape(x, (6,)), (2, 3)), lambda x: x),
    "transposed twice": (lambda x: p.transpose(p.transpose(x, (1, 0)), (1, 0)), lambda x: x),
    "broadcast to itself": (lambda x: p.Broadcast((2, 3))(x), lambda x: x),
    "cast to itself": (lambda x: p.Cast(float32)(x), lambda x: x),
    "a gradient stopped": (p.stop_gradient, lambda x: x),
    "a choice of one": (lambda x: p.select(p.greater(x, x * 2.0), x, x), lambda x: x),
    "a known choice": (lambda x: p.select(p.full(True, bool_, (2, 3)), x, x * 2.0), lambda x: x),
    "a largest of one": (lambda x: p.reduce_max(p.reshape(x, (2, 1, 3)), (1,)), lambda x: x),
    "a sum of one": (lambda x: p.reduce_sum(p.reshape(x, (2, 1, 3)), (1,)), lambda x: x + 0.0),  # which begins with 0
}
KEPT = {
    "plus nothing, which makes -0.0 to 0.0": lambda x: x + 0.0,
    "less minus nothing": lambda x: x - -0.0,
    "times nothing, which keeps nan": lambda x: x * 0.0,
    "by three": lambda x: x / 3.0,
    "by nothing": lambda x: x / 0.0,
    "minus itself, which keeps nan": lambda x: x - x,
    "by itself": lambda x: x / x,
    "a cast to less and back": lambda x: p.cast(p.cast(x, int32), float32),
}


@pytest.mark.parametrize(("before", "after"), SIMPLER.values(), ids=SIMPLER)
def test_what_can_be_said_shorter_is(before, after):
    check_pass(simplify, before, after, M)


@pytest.mark.parametrize("fn", KEPT.values(), ids=KEPT)
def test_what_would_change_a_number_is_left_alone(fn):
    check_pass(simplify, fn, fn, M)


def test_one_that_broadcasts_stays():
    wide = Function.build(lambda x: x * p.ones(float32, (2, 3)), V)
    assert simplify(wide).results[0].shape == (2, 3)


@pytest.mark.parametrize("dtype", [float16, float32, float64])
@pytest.mark.parametrize("power", [-20, -14, -3, 5, 14])
def test_dividing_by_powers_of_two_stays_exact_in_every_precision(dtype, power):
    divisor = 2.0**power
    x = np.array([1.0, -3.0, 2.0**-9, 0.0, np.inf, np.nan], dtype.numpy)
    fn = Function.build(lambda x: x / divisor, TensorType(dtype, x.shape))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(interpret(optimise(fn), x)[0], interpret(fn, x)[0])


def test_every_rule_was_shown():
    names = {r.name for rule in RULES for r in (rule if isinstance(rule, tuple) else (rule,))}
    assert len(names) <= len(SIMPLER)


def test_numbers_that_depend_on_nothing_are_computed_now():
    check_pass(fold, lambda x: x * (p.full(2.0, float32, ()) * 3.0), lambda x: x * 6.0, V)


def test_known_numbers_may_be_infinite_or_divided_by_nothing():
    check_pass(fold, lambda x: x * (p.full(1.0, float32, ()) / 0.0), lambda x: x * float("inf"), V)
    seven, nothing = p.full(7, int32, ()), p.full(0, int32, ())
    check_pass(fold, lambda: p.floor_divide(seven, nothing), lambda: p.full(0, int32, ()))


def test_tensors_that_depend_on_nothing_are_left_to_be_computed_where_they_are_read():
    def fn(x):
        return x + p.sin(p.iota(float32, (3,), 0))

    check_pass(fold, fn, fn, V)


def test_calls_become_what_they_call():
    inner = Function.build(lambda x: (p.sin(x), x * x), V)
    check_pass(inline, lambda x: p.Call(inner)(x)[0] + p.Call(inner)(x)[1], lambda x: p.sin(x) + x * x, V)


def test_calls_of_calls_become_what_they_call():
    inner = Function.build(lambda x: p.sin(x), V)
    outer = Function.build(lambda x: p.Call(inner)(p.Call(inner)(x)[0]), V)
    check_pass(inline, lambda x: p.Call(outer)(x)[0], lambda x: p.sin(p.sin(x)), V)


def test_after_expanding_no_op_is_left_that_is_defined_by_others():
    fn = Function.build(lambda x: (p.arg_max(x, 1), p.arg_min(x, 0)), M)
    expanded = expand(fn)
    verify(expanded)
    assert expand(expanded) == expanded
    assert not any(isinstance(v.op, p.ArgMax | p.ArgMin) for v in expanded.values())
    x = np.array([[1, 5, 5], [7, -1, 2]], "f")
    for got, want in zip(interpret(expanded, x), (x.argmax(1), x.argmin(0)), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_all", "reduce_any"])
def test_a_large_reduction_of_any_kind_is_shared_by_threads(name):
    dtype = bool_ if name in ("reduce_all", "reduce_any") else float32
    fn = optimise(Function.build(getattr(p, name), TensorType(dtype, (1 << 18,))))
    assert sum(isinstance(v.op, p.Reduction) for v in fn.values()) == 2  # parts first, then the parts of them
    program = lower(fn, threads=2)
    assert any(isinstance(s, Launch) and s.work > shared_from(options().target) for s in program.block.walk())


def test_a_rule_for_a_family_is_one_for_its_members():
    @rule_for(p.Reduction)
    def forget(v):
        return p.zeros(v.dtype, v.shape)

    for member in (p.Sum, p.Max, p.Any):
        fn = Function.build(member((0,)), TensorType(bool_ if member is p.Any else float32, (3,)))
        assert not any(isinstance(v.op, p.Reduction) for v in rewrite(fn, [forget]).values())


def test_passes_go_into_branches_and_loops():
    count = TensorType(int32, ())
    then, otherwise = Function.build(lambda x: x * 1.0, V), Function.build(lambda x: p.stop_gradient(p.sin(x)), V)
    condition = Function.build(lambda x, i: p.less(i, p.full(3, int32, ())), V, count)

    def turn(x, i):
        return p.Cond(then, otherwise)(p.less(i, p.full(2, int32, ())), x)[0], i + p.full(1, int32, ())

    body = Function.build(turn, V, count)
    fn = Function.build(lambda x: p.While(condition, body, 0)(x, p.full(0, int32, ()))[0], V)
    (loop,) = (v.op for v in optimise(fn).values() if isinstance(v.op, p.While))
    (branch,) = (v.op for v in loop.body.values() if isinstance(v.op, p.Cond))
    assert branch.then == Function.build(lambda x: x, V)
    assert branch.otherwise == Function.build(lambda x: p.sin(x), V)


def test_passes_are_done_when_they_are_done():
    for seed in range(40):
        once = optimise(random_case(seed).fn)
        assert optimise(once) == once, f"program {seed}"


@pytest.mark.parametrize("run", [inline, expand, fold, simplify], ids=lambda run: run.__name__)
def test_passes_change_no_number(run):
    deep = everywhere(run)
    for seed in range(60):
        case = random_case(seed)
        gradient = pulled_back(case, seed)
        for c in (case, mapped(case, seed), gradient if gradient and seed % 3 == 0 else case):
            fn = deep(c.fn)
            verify(fn)
            with np.errstate(all="ignore"):
                for got, want in zip(interpret(fn, *c.inputs), interpret(c.fn, *c.inputs), strict=True):
                    np.testing.assert_array_equal(got, want, err_msg=f"program {seed}")
