"""A joint function in two parts computes what it computed whole, and stores no more than it must."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.errors import GradientError, Location
from mycelia.ir import Function, interpret, located, registry, toposort, verify
from mycelia.schedule.memory import plan_memory
from mycelia.testing import compile, lower, optimise
from mycelia.transforms import decisions, parted, value_and_grad, vjp
from mycelia.types import TensorType, float64
from tests.transforms.programs import EXAMPLES, M, S, V, build, mutual, number, rnn


def parts_of(fn: Function, **options):
    return parted(vjp(fn), len(fn.params), len(fn.results), **options)


def stored(fn: Function, **options) -> list[str]:
    """The ops whose results are stored."""
    return sorted(r.op.name for r in parts_of(fn, **options).forward.results[len(fn.results) :])


@pytest.mark.parametrize(("fn", "inputs"), EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.parametrize("save", [lambda v: True, lambda v: False], ids=["save all", "save nothing"])
def test_two_parts_are_the_whole(fn, inputs, save):
    cts = [np.float64(0.7)] * sum(t.differentiable for t in fn.result_types)
    parts = parts_of(fn, save=save)
    verify(parts.forward)
    verify(parts.backward)
    whole = interpret(vjp(fn), *inputs, *cts)
    outs = interpret(parts.forward, *inputs)
    pulled = interpret(parts.backward, *parts.kept(inputs, outs), *cts)
    for a, b in zip(whole, (*outs[: len(fn.results)], *pulled), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_parameters_and_results_are_not_stored():
    fn = build(lambda x, y: p.exp(x * y), S, S)
    parts = parts_of(fn)
    assert len(parts.forward.results) == 1
    assert parts.residuals == (0, 1, 2)


def test_what_cannot_be_passed_again_is_stored():
    fn = build(lambda x, y: p.exp(x * y), S, S)
    parts = parts_of(fn, visible=(True, False, False))
    assert parts.forward.results[1:] == (fn.params[1], fn.results[0])


def test_what_is_computed_again_takes_the_branch_that_was_taken():
    """The last bits of a sum may be others the second time: what was decided by them is kept."""

    def program(x):
        total = p.reduce_sum(p.tanh(x), (0,))
        square, other = Function.build(lambda t: t * t, S), Function.build(lambda t: -t, S)
        return p.Cond(square, other)(p.greater(total, p.lift(0.0, total)), total)[0]

    parts = parts_of(build(program, V), visible=(True, False), save=decisions)
    assert [r.op.name for r in parts.forward.results[1:]] == ["greater"]
    assert "greater" not in {v.op.name for v in parts.backward.values()}
    assert "tanh" in {v.op.name for v in parts.backward.values()}


def test_a_constant_is_made_again():
    assert stored(build(lambda x: p.reduce_sum(x * p.constant(np.arange(3.0))), V)) == []


def test_what_is_cheap_is_computed_again_and_what_is_dear_is_stored():
    def program(w, x):
        y = p.matmul(x, w)
        z = y * y + p.maximum(y, number(0.0))
        return p.reduce_sum(z * z)

    assert stored(build(program, M, V)) == ["contract"]


def test_what_only_the_way_back_needs_is_computed_there():
    fn = build(lambda x: p.reduce_sum(p.sin(x)), V)
    parts = parts_of(fn)
    assert "cos" not in {v.op.name for v in toposort(parts.forward.results)}
    assert "cos" in {v.op.name for v in toposort(parts.backward.results)}


def test_the_small_side_of_a_broadcast_is_stored():
    wide = TensorType(float64, (100, 3))
    fn = build(lambda x, y: p.reduce_sum(p.broadcast(p.exp(p.sin(x)), (100, 3)) * y), V, wide)
    sizes = [r.tensor.size for r in parts_of(fn).forward.results[1:]]
    assert max(sizes) == 3


def test_what_is_computed_again_is_said_by_each_class():
    cheap = {name for name, op in registry.items() if op.cheap}
    assert cheap >= {
        "reshape",
        "transpose",
        "broadcast",
        "slice",
        "pad",
        "flip",
        "concat",
        "cast",
        "select",
        "negative",
    }
    assert cheap >= {"add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "and", "is_nan"}
    assert not cheap & {"exp", "tanh", "power", "contract", "sum", "gather", "scatter_add", "while", "sqrt", "conv"}


def test_a_deep_graph_needs_no_deep_stack():
    def chain(x):
        for _ in range(20_000):
            x = p.sin(x)
        return x

    grad = value_and_grad(build(chain, S))
    assert len(toposort(grad.results)) > 40_000


def test_locations_are_copied():
    place = Location("here.py", 7)
    with located(place):
        fn = build(lambda x: p.sin(x * 1.25), S)
    joint = vjp(fn)
    assert {v.location for v in toposort(joint.results) if v.op.name in ("cos", "multiply")} == {place}


def test_equal_questions_have_one_answer():
    assert vjp(rnn()) is vjp(rnn())


def test_a_value_that_is_used_twice_gathers_both_cotangents():
    fn = build(lambda x: x * x + p.sin(x) * x, S)
    got = interpret(value_and_grad(fn), np.float64(0.7))[1]
    np.testing.assert_allclose(got, 2 * 0.7 + np.sin(0.7) + 0.7 * np.cos(0.7))


def test_nothing_flows_where_nothing_is_connected():
    fn = build(lambda x, y: x * 2.0, S, V)
    np.testing.assert_array_equal(interpret(value_and_grad(fn), np.float64(1), np.ones(3))[2], np.zeros(3))


def test_the_gradient_of_a_vector_is_refused():
    with pytest.raises(GradientError, match="a gradient is taken of a scalar, not of f64"):
        value_and_grad(build(lambda x: x * x, V))


def test_a_derivative_by_an_integer_is_refused():
    with pytest.raises(GradientError, match=r"parameter 1 has type i64\[\]"):
        vjp(mutual(), (False, True))


def blocks(recompute: bool) -> Function:
    """Sixteen blocks, one after the other, each with something to keep inside."""
    wide = TensorType(float64, (1000,))

    def block(x):
        for k in range(4):
            x = p.sin(p.exp(x) * (0.1 * k + 0.1)) + x
        return x

    inner = Function.build(lambda x: (block(x),), wide)

    def network(x):
        for _ in range(16):
            (x,) = p.Call(inner, recompute)(x)
        return p.reduce_sum(x * x)

    return Function.build(network, wide)


def test_recomputation_computes_again_and_keeps_less():
    plain, again = (value_and_grad(blocks(r)) for r in (False, True))
    x = np.linspace(-1, 1, 1000)
    for one, other in zip(compile(plain)(x), compile(again)(x), strict=True):
        np.testing.assert_allclose(one, other, 1e-12)
    count = [sum(isinstance(v.op, p.Exp) for v in optimise(fn).values()) for fn in (plain, again)]
    assert count[1] >= 1.9 * count[0]
    arena = [
        plan_memory(lower(optimise(fn)).block, {}, lower(optimise(fn)).shared, lambda _: 0).arena
        for fn in (plain, again)
    ]
    assert arena[1] < 0.6 * arena[0]
