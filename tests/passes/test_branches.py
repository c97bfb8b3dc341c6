"""What branches do together is done once, and what stands around them is not done again."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, Op, inner_functions, interpret, verify
from mycelia.passes import join_branches
from mycelia.primitives import Cond, Contract, While
from mycelia.types import TensorType, bool_, float64, int64

M, V, TRUTH = TensorType(float64, (3, 3)), TensorType(float64, (3,)), TensorType(bool_, ())


def product(a, x):
    return p.contract("MK", "K", "M")(a, x)


def times(n):
    """A side of a branch: a product, and what is made of it."""
    return Function.build(lambda a, x: (product(a, x) * float(n),), M, V)


def number(n):
    return Function.build(lambda a, x: (p.full(float(n), float64, (3,)),), M, V)


def turns():
    """A side with a loop that may not end."""
    counter = TensorType(int64, ())
    body = Function.build(lambda a, n, x: (n + 1, product(a, x)), M, counter, V)
    more = Function.build(lambda a, n, x: (p.less(n, 3),), M, counter, V)
    return Function.build(lambda a, x: (While(more, body, 1)(a, p.full(0, int64, ()), x)[1],), M, V)


def count(fn, kind):
    """How many ops of a kind a function has, with those inside of its branches and loops."""
    inner = [f for v in fn.values() if isinstance(v.op, Op) for f in inner_functions(v.op)]
    return sum(isinstance(v.op, kind) for v in fn.values()) + sum(count(f, kind) for f in inner)


def same(fn, other, *inputs):
    verify(other)
    for got, want in zip(interpret(other, *inputs), interpret(fn, *inputs), strict=True):
        np.testing.assert_array_equal(got, want)


def arrays(truth):
    rng = np.random.default_rng(0)
    return np.array(truth), rng.normal(size=(3, 3)), rng.normal(size=3)


@pytest.mark.parametrize("truth", [True, False])
def test_branches_on_one_condition_that_share_work_are_one(truth):
    def python(c, a, x):
        (one,), (two,) = Cond(number(1), times(2))(c, a, x), Cond(times(3), times(4))(c, a, x)
        return two, one + two

    fn = Function.build(python, TRUTH, M, V)
    joined = join_branches(fn)
    assert (count(fn, Cond), count(joined, Cond)) == (2, 1)
    assert (count(fn, Contract), count(joined, Contract)) == (3, 2)  # one on each side
    same(fn, joined, *arrays(truth))


@pytest.mark.parametrize("truth", [True, False])
def test_a_loop_that_several_results_need_runs_once(truth):
    def python(c, a, x):
        return Cond(number(1), turns())(c, a, x)[0] + Cond(number(2), turns())(c, a, x)[0] * 2.0

    fn = Function.build(python, TRUTH, M, V)
    joined = join_branches(fn)
    assert (count(fn, While), count(joined, While)) == (2, 1)
    same(fn, joined, *arrays(truth))


@pytest.mark.parametrize("truth", [True, False])
def test_what_is_there_is_handed_into_a_branch(truth):
    def python(c, a, x):
        return product(a, x) + 1.0, *Cond(times(1), times(2))(c, a, x)

    fn = Function.build(python, TRUTH, M, V)
    joined = join_branches(fn)
    assert (count(fn, Contract), count(joined, Contract)) == (3, 1)
    same(fn, joined, *arrays(truth))


@pytest.mark.parametrize("truth", [True, False])
def test_what_is_handed_in_may_come_out_of_another_branch(truth):
    def python(c, a, x):
        (y,) = Cond(number(1), times(2))(c, a, x)
        return (*Cond(times(5), times(6))(p.logical_not(c), a, y), product(a, y))

    fn = Function.build(python, TRUTH, M, V)
    joined = join_branches(fn)
    assert (count(fn, Contract), count(joined, Contract)) == (4, 2)
    same(fn, joined, *arrays(truth))


def test_branches_that_share_nothing_stay_apart():
    def python(c, a, x):
        return *Cond(number(1), times(2))(c, a, x), *Cond(times(2), number(2))(c, a, x * 2.0)

    fn = Function.build(python, TRUTH, M, V)
    assert join_branches(fn) == fn


def test_a_branch_that_reads_another_stays_behind_it():
    def python(c, a, x):
        (y,) = Cond(number(1), times(2))(c, a, x)
        return (*Cond(times(2), number(2))(c, a, y + product(a, x)), *Cond(number(3), times(3))(c, a, x))

    fn = Function.build(python, TRUTH, M, V)
    for truth in (True, False):
        same(fn, join_branches(fn), *arrays(truth))


def test_a_function_with_effects_keeps_their_order():
    told = []

    def python(c, a, x):
        p.HostCall(p.Callee(lambda y: told.append(y.sum())))(x)
        return (*Cond(number(1), times(2))(c, a, x), product(a, x))

    fn = Function.build(python, TRUTH, M, V)
    assert join_branches(fn) == fn
