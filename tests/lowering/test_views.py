"""Reading elsewhere costs nothing: reshapes, transposes and slices move no memory."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.testing import compile, lower, optimise
from mycelia.transforms import vjp
from tests.lowering.programs import check, copies, f32, invokes, launches, lowered, softmax

VIEWS = {
    "a reshape": (lambda x: p.reshape(x, (48, 64)), f32(6, 8, 64)),
    "a transpose": (lambda x: p.transpose(x, (1, 0)), f32(64, 48)),
    "a slice of rows": (lambda x: p.slice_(x, (8, 0), (56, 64)), f32(60, 64)),
    "a slice of columns": (lambda x: p.slice_(x, (0, 16), (48, 80)), f32(48, 96)),
    "a transposed slice": (lambda x: p.transpose(p.slice_(x, (2, 3), (66, 51)), (1, 0)), f32(70, 60)),
    "one of a stack": (lambda x: p.reshape(p.slice_(x, (1, 0, 0), (2, 48, 64)), (48, 64)), f32(3, 48, 64)),
}
each_view = pytest.mark.parametrize(("view", "t"), VIEWS.values(), ids=VIEWS)


@each_view
def test_a_view_feeding_a_product_makes_no_copy(view, t):
    program = lowered(lambda x, w: p.matmul(view(x), w), t, f32(64, 40))
    assert not launches(program)
    assert not copies(program)
    check(lambda x, w: p.matmul(view(x), w), t, f32(64, 40))


@each_view
def test_a_view_on_the_right_of_a_product_makes_no_copy(view, t):
    program = lowered(lambda w, x: p.matmul(w, view(x)), f32(40, 48), t)
    assert not launches(program)
    assert not copies(program)
    check(lambda w, x: p.matmul(w, view(x)), f32(40, 48), t)


@each_view
def test_a_view_read_by_a_kernel_is_read_in_place(view, t):
    (launch,) = launches(lowered(lambda x: p.exp(view(x)), t))
    assert [b.type for b in launch.reads()] == [t]
    check(lambda x: p.exp(view(x)), t, tolerance=1e-5)


LYING = {
    "a reshape": (lambda x: p.reshape(x, (48, 64)), f32(6, 8, 64)),
    "rows of one number": (lambda x: p.reshape(x, (3072, 1)), f32(3072)),
    "some rows": (lambda x: p.slice_(x, (8, 0), (56, 64)), f32(60, 64)),
    "one of a stack": (lambda x: p.reshape(p.slice_(x, (1, 0, 0), (2, 48, 64)), (48, 64)), f32(3, 48, 64)),
}


@pytest.mark.parametrize(("view", "t"), LYING.values(), ids=LYING)
def test_a_view_that_lies_row_by_row_is_sorted_where_it_is(view, t):
    def python(x):
        return p.Sort(0, False)(view(x))[0]

    assert not launches(lowered(python, t))
    check(python, t)


def test_a_view_that_lies_otherwise_is_copied_once_to_be_sorted():
    def python(x):
        return p.Sort(0, False)(p.transpose(x, (1, 0)))[0]

    assert len(launches(lowered(python, f32(60, 64)))) == 1
    check(python, f32(60, 64))


BATCH, TIME, HEADS, WIDTH = 2, 32, 4, 16


def attention(x, w):
    """Heads are split off and joined again by reshapes and transposes."""
    qkv = p.reshape(p.matmul(x, w), (BATCH, TIME, 3, HEADS, WIDTH))

    def part(n):
        one = p.slice_(qkv, (0, 0, n, 0, 0), (BATCH, TIME, n + 1, HEADS, WIDTH))
        return p.transpose(p.reshape(one, (BATCH, TIME, HEADS, WIDTH)), (0, 2, 1, 3))

    weights = softmax(p.matmul(part(0), p.transpose(part(1), (0, 1, 3, 2))) * 0.25)
    mixed = p.transpose(p.matmul(weights, part(2)), (0, 2, 1, 3))
    return p.reshape(mixed, (BATCH, TIME, HEADS * WIDTH))


ATTENTION = f32(BATCH, TIME, HEADS * WIDTH), f32(HEADS * WIDTH, 3 * HEADS * WIDTH), f32(HEADS * WIDTH, HEADS * WIDTH)


def test_attention_splits_heads_without_a_copy_and_joins_them_with_one():
    program = lowered(lambda x, w, o: p.matmul(attention(x, w), o), *ATTENTION)
    assert len(invokes(program)) == 4
    weighing, joining = launches(program)
    assert len(weighing.kernel.sweeps) == 3
    assert [b.type.size for b in joining.writes()] == [BATCH * TIME * HEADS * WIDTH]
    assert not copies(program)
    check(lambda x, w, o: p.matmul(attention(x, w), o), *ATTENTION, tolerance=1e-5)


def test_the_gradient_of_attention_runs_six_kernels_beside_its_products():
    fn = vjp(Function.build(lambda x, w, o: p.matmul(attention(x, w), o), *ATTENTION))
    program = lower(optimise(fn), {})
    assert not copies(program)
    assert len(launches(program)) <= 6


def test_a_view_that_no_strides_describe_is_copied_once():
    def fn(x, w):
        return p.matmul(p.reshape(p.transpose(x, (1, 0, 2)), (48, 64)), w)

    types = f32(6, 8, 64), f32(64, 40)
    assert len(launches(lowered(fn, *types))) == 1
    check(fn, *types)


def test_flips_pads_and_joins_are_computed_where_they_are_read():
    def fn(x, y):
        return p.exp(p.flip(p.pad(p.concat([x, y], 1), (1, 0), (2, 1)), (0, 1)))

    assert len(launches(lowered(fn, f32(5, 7), f32(5, 3)))) == 1
    check(fn, f32(5, 7), f32(5, 3), tolerance=1e-5)


def test_a_gather_is_computed_where_it_is_read():
    rows = np.array([3, 0, 2, 2], np.int32)
    fn = Function.build(lambda x: p.tanh(p.gather(x, p.constant(rows), 0)), f32(5, 9))
    assert len(launches(lower(optimise(fn), {}))) == 1
    x = np.random.default_rng(0).standard_normal((5, 9)).astype("f")
    np.testing.assert_allclose(compile(fn)(x)[0], np.tanh(x[rows]), rtol=1e-6)
