"""What one kernel computes together."""

from __future__ import annotations

from functools import reduce

import pytest

from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.testing import lower, optimise
from mycelia.transforms import value_and_grad
from mycelia.types import int32
from tests.lowering.programs import check, f32, invokes, launches, layer_norm, lowered, softmax, typed

X = f32(64, 96)


def one_kernel(fn, *types):
    (launch,) = launches(lowered(fn, *types))
    return launch.kernel


def sweeps_with(kind, program):
    """How many sweeps compute an expression of this kind; inside a sweep, equal expressions are computed once."""
    sweeps = [s for launch in launches(program) for s in launch.kernel.sweeps]
    roots = [[e for _, e in s.folds] + [a.value for a in (*s.actions, *s.after)] for s in sweeps]
    return sum(any(e.kind == kind for r in of_sweep for e in r.walk()) for of_sweep in roots)


def test_a_chain_of_elementwise_ops_is_one_kernel_of_one_loop():
    kernel = one_kernel(lambda x, y: p.tanh(x * y + 1.0) / (p.exp(y) + 2.0), X, X)
    (sweep,) = kernel.sweeps
    assert not kernel.rows
    assert [v.extent for v in sweep.columns] == [64 * 96]


def test_a_long_chain_is_still_one_kernel():
    assert one_kernel(lambda x: reduce(lambda a, _: p.sin(a) * 0.5 + x, range(40), x), X)


def test_what_is_read_twice_at_each_of_sixty_levels_is_looked_at_once():
    def fn(x):
        for _ in range(60):
            x = p.maximum(x + x, x * x)
        return p.matmul(x, x), p.reduce_sum(x, (0,))

    lowered(fn, f32(4, 4))  # 2**60 ways lead down


def test_several_results_over_one_domain_are_one_kernel():
    kernel = one_kernel(lambda x, y: (x + y, p.exp(x), x * y), X, X)
    assert len(kernel.written()) == 3


def test_a_softmax_is_one_kernel_of_three_sweeps():
    assert len(one_kernel(softmax, X).sweeps) == 3


def test_a_layer_norm_is_one_kernel_of_three_sweeps():
    assert len(one_kernel(layer_norm, X, f32(96), f32(96)).sweeps) == 3


def test_a_softmax_keeps_its_exponentials_aside_rather_than_computing_them_twice():
    assert sweeps_with("exp", lowered(softmax, X)) == 1


def test_attention_scores_are_scaled_masked_and_normalised_in_one_kernel():
    mask = typed(int32, 64, 96)
    kernel = one_kernel(lambda x, m: softmax(p.select(p.equal(m, p.lift(0, m)), x * 0.125, p.lift(-1e9, x))), X, mask)
    assert len(kernel.sweeps) == 3


def test_log_softmax_and_the_loss_of_it_are_one_kernel_and_a_sum_over_rows():
    def loss(x, chosen):
        shifted = x - p.stop_gradient(p.reduce_max(x, (1,), True))
        logs = shifted - p.log(p.reduce_sum(p.exp(shifted), (1,), True))
        there = p.equal(p.broadcast(p.reshape(chosen, (64, 1)), (64, 96)), p.iota(int32, (64, 96), 1))
        return p.mean(-p.reduce_sum(p.select(there, logs, p.lift(0.0, x)), (1,)))

    program = lowered(loss, X, typed(int32, 64))
    assert len(launches(program)) == 2
    assert not any(b.type.shape == (64, 96) for s in launches(program) for b in s.writes())
    check(loss, X, typed(int32, 64))


def test_reductions_over_the_same_columns_share_a_kernel():
    kernel = one_kernel(lambda x, y: (p.reduce_sum(x, (0,)), p.reduce_sum(x * y, (0,)), p.reduce_max(x, (0,))), X, X)
    assert len(kernel.written()) == 3


def test_reductions_over_the_same_rows_share_a_kernel():
    kernel = one_kernel(lambda x: (p.reduce_sum(x, (1,)), p.reduce_max(x, (1,)), p.reduce_sum(x * x, (1,))), X)
    assert len(kernel.sweeps) == 1


def test_what_is_cheap_is_computed_again_rather_than_stored():
    program = lowered(lambda x: (p.reduce_sum(x + 1.0, (0,)), p.reduce_sum(x + 1.0, (1,))), X)
    assert not any(b.type.shape == X.shape for s in launches(program) for b in s.writes())


def test_what_is_dear_and_read_twice_is_stored_once():
    def fn(x):
        y = p.tanh(p.exp(x))
        return p.reduce_sum(y, (0,)), p.reduce_sum(y, (1,))

    assert sweeps_with("tanh", lowered(fn, X)) == 1
    check(fn, X)


def test_relu_runs_inside_the_kernel_of_the_pooling_that_reads_it():
    def fn(x):
        return p.max_pool(p.maximum(x, p.lift(0.0, x)), (2, 2), (2, 2))

    program = lowered(fn, f32(4, 8, 12, 12))
    assert len(launches(program)) + len(invokes(program)) == 1
    check(fn, f32(4, 8, 12, 12))


def test_every_loop_of_a_pooling_runs_once():
    """Windows that do not lie on one another's lines: three loops, none of them both outside and inside."""
    for fn in (p.max_pool, p.avg_pool):
        for launch in launches(lowered(lambda x, fn=fn: fn(x, (2, 3), (2, 2)), f32(3, 4, 9, 11))):
            loops = [*launch.kernel.rows, *(v for sweep in launch.kernel.sweeps for v in sweep.columns)]
            assert len(loops) == len(set(loops)) > 2


def test_bias_and_activation_after_a_product_are_one_kernel():
    program = lowered(lambda x, w, b: p.tanh(p.matmul(x, w) + b), f32(64, 64), f32(64, 96), f32(96))
    assert (len(invokes(program)), len(launches(program))) == (1, 1)


def test_a_softmax_and_its_gradient_are_at_most_three_kernels():
    fn = Function.build(lambda x, w: p.reduce_sum(softmax(x) * w), X, X)
    program = lower(optimise(value_and_grad(fn, (True, False))), {})
    assert len(launches(program)) <= 3


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_over_any_axis_is_right(axis):
    check(lambda x: softmax(x, axis), f32(9, 7, 33))


def test_a_result_that_is_also_read_on_the_way_is_written_and_used():
    check(lambda x: (y := p.exp(x), p.reduce_sum(y, (1,), True) * y, p.reduce_max(y, (0,))), X, tolerance=1e-5)


def test_kernels_are_ordered_after_what_they_read():
    def fn(x):
        a = p.reduce_sum(p.tanh(x), (0,))
        b = p.reduce_sum(p.tanh(x) * a, (1,))
        return p.reduce_sum(p.reshape(b, (64, 1)) * x + a, (0,)), a, b

    check(fn, X, tolerance=1e-5)


UNFIT = {  # what the docstring of lowering/group.py says, one by one
    "read at another element": (lambda x: (y := p.sin(x) * 2.0, p.exp(p.transpose(y, (1, 0)))), [f32(64, 64)]),
    "finished with the last row": (lambda x: x - p.reduce_sum(x, (0,), keepdims=True), [X]),
    "two sets of axes": (lambda x, y: (p.reduce_sum(x, (1,)), p.reduce_sum(y, (0,))), [X, X]),
    "a place that a fold finds": (
        lambda x, i: p.gather(x, p.reduce_max(p.maximum(p.minimum(i, 9), 0), (1,)), 0),
        [f32(10), typed(int32, 64, 5)],
    ),
    "of another row": (lambda x: p.cos(p.flip(p.reduce_sum(x, (1,)), (0,))), [X]),
}


@pytest.mark.parametrize("why", UNFIT)
def test_what_does_not_fit_a_kernel_gets_another_one(why):
    fn, types = UNFIT[why]
    assert len(launches(lowered(fn, *types))) == 2
    check(fn, *types)
