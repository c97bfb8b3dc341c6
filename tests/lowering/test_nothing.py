"""Of nothing, nothing is computed; and what is found, moved or repeated in a program lies where Python has it."""

from dataclasses import replace

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.ir import Function, interpret
from mycelia.lowering import lower as lower_as_it_is
from mycelia.primitives.pooling import MaxPoolPick
from mycelia.runtime.layout import layout
from mycelia.testing import compile
from mycelia.transforms import value_and_grad
from mycelia.types import TensorType, bfloat16, bool_, float16, float32, float64, int32, int64
from tests.lowering.programs import check, f32, launches, lowered, numbers, typed
from tests.runtime.programs import whole

POOL = ((2,), (2,), ((0, 0),))


def slopes(fn, *types):
    """The derivatives of the sum of a function, by all its arguments."""
    whole = Function.build(lambda *x: p.reduce_sum(fn(*x)), *types)
    both = value_and_grad(whole, (True,) * len(types))
    return lambda *x: both(*x)


def conv(x, w):
    return p.conv(x, w, (2, 1), ((1, 0), (0, 1)))


EMPTY = {
    "map": (lambda x: p.tanh(x) * 2.0, f32(3, 0)),
    "sum of none": (lambda x: (p.reduce_sum(x, (1,)), p.reduce_prod(x, (1,)), p.reduce_sum(x, (0,))), f32(3, 0)),
    "any of none": (lambda x: (p.reduce_any(x, (1,)), p.reduce_all(x, (1,))), typed(bool_, 3, 0)),
    "products of no terms": (p.matmul, f32(3, 0), f32(0, 4)),
    "no products": (p.matmul, f32(0, 3), f32(3, 4)),
    "whole products of no terms": (p.matmul, typed(int32, 3, 0), typed(int32, 0, 4)),
    "no products of no terms": (p.matmul, typed(float64, 2, 3, 0), typed(float64, 2, 0, 0)),
    "batches of no products": (p.matmul, f32(0, 3, 5), f32(0, 5, 4)),
    "no images": (conv, f32(0, 2, 6, 5), f32(4, 2, 3, 2)),
    "images without channels": (conv, f32(2, 0, 6, 5), f32(4, 0, 3, 2)),
    "no windows": (conv, f32(2, 2, 6, 5), f32(0, 2, 3, 2)),
    "whole images without channels": (conv, typed(int32, 2, 0, 6, 5), typed(int32, 4, 0, 3, 2)),
    "no whole images": (conv, typed(int64, 0, 2, 6, 5), typed(int64, 4, 2, 3, 2)),
    "slopes of no images": (slopes(conv, f32(0, 2, 6, 5), f32(4, 2, 3, 2)), f32(0, 2, 6, 5), f32(4, 2, 3, 2)),
    "slopes of no channels": (slopes(conv, f32(2, 0, 6, 5), f32(4, 0, 3, 2)), f32(2, 0, 6, 5), f32(4, 0, 3, 2)),
    "slopes of no windows": (slopes(conv, f32(2, 2, 6, 5), f32(0, 2, 3, 2)), f32(2, 2, 6, 5), f32(0, 2, 3, 2)),
    "largest of none": (p.MaxPool(*POOL), f32(0, 2, 6)),
    "mean of none": (lambda x: p.avg_pool(x, (2,), (2,), ((0, 0),)), f32(2, 0, 6)),
    "slopes of the largest of none": (p.MaxPoolGrad(*POOL), f32(0, 2, 3), f32(0, 2, 6)),
    "picked from none": (MaxPoolPick(*POOL), f32(0, 2, 6), f32(0, 2, 6)),
    "slopes of means": (slopes(lambda x: p.avg_pool(x, (2,), (2,), ((0, 0),)), f32(2, 0, 6)), f32(2, 0, 6)),
    "sorted": (lambda x: p.sort(x, 0), f32(3, 0)),
    "order": (lambda x: p.order_of(x, 1), f32(3, 0)),
    "largest few": (lambda x: p.topk(x, 1, 2), f32(0, 3)),
    "no largest": (lambda x: p.topk(x, 1, 0), f32(2, 3)),
    "searched": (lambda x, y: p.search(x, y), f32(3), f32(0)),
    "searched in none": (lambda x, y: p.search(x, y), f32(0), f32(3)),
    "running sums": (lambda x: (p.cumsum(x, 0), p.cumsum(x, 1)), f32(3, 0)),
    "gathered": (lambda x: p.gather(x, p.constant(np.zeros((0, 2), np.int32)), 0), f32(3, 4)),
    "scattered": (lambda x, u: p.scatter_add(x, p.constant(np.zeros(0, np.int32)), u, 0), f32(3, 4), f32(0, 4)),
    "scattered into none": (
        lambda x, u: p.scatter_add(x, p.constant(np.zeros(2, np.int32)), u, 0), f32(3, 0), f32(2, 0),
    ),
    "rows of a sparse matrix": (
        lambda v, d: p.sparse_product(p.constant(np.zeros(4, np.int32)), p.constant(np.zeros(0, np.int32)), v, d),
        f32(0), f32(2, 3),
    ),
    "columns of none": (
        lambda v, d: p.sparse_product(
            p.constant(np.array([0, 1, 2], np.int32)), p.constant(np.array([0, 1], np.int32)), v, d
        ),
        f32(2), f32(2, 0),
    ),
    "joined": (lambda x, y: (p.concat((x, y), 1), p.concat((y, x, y), 1)), f32(3, 0), f32(3, 2)),
    "around none": (lambda x: p.pad(x, (1, 2), (0, 1)), f32(0, 3)),
    "turned": (lambda x: p.transpose(p.tanh(x), (1, 0)), f32(3, 0)),
}  # fmt: skip


@pytest.mark.many("name", EMPTY, pack=20)
def test_of_nothing_nothing_is_computed(name):
    fn, *types = EMPTY[name]
    check(fn, *types)


@pytest.mark.many("name", EMPTY, pack=20)
def test_nor_where_no_pass_has_looked(name):
    """Sizes that come out of data are only known to lowering."""
    fn, *types = EMPTY[name]
    function = Function.build(fn, *types)
    inputs = [numbers(t, i) for i, t in enumerate(types)]
    plain = compile(function, without=frozenset({"simplify", "fold"}))
    for got, want in zip(plain(*inputs), interpret(function, *inputs), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got, want)
    layout(lower_as_it_is(function, {}, options()), options())


# ---------------------------------------------------------------------------------------- where things lie


def test_places_that_a_fold_finds_are_read_when_it_is_done():
    def found(t, i):
        most = p.reduce_max(i, (1,), True)
        return p.gather(t, most, 0) + p.cast(i, float32), p.reduce_sum(p.gather(t, most, 0) * p.cast(i, float32), (1,))

    types = f32(50), typed(int64, 6, 7)
    fn = Function.build(found, *types)
    inputs = numbers(types[0]), np.random.default_rng(0).integers(0, 50, (6, 7))
    for got, want in zip(compile(fn)(*inputs), interpret(fn, *inputs), strict=True):
        np.testing.assert_allclose(got.reshape(-1), want.reshape(-1), rtol=1e-5)


@pytest.mark.many(("left", "right"), [
    (lambda x: p.slice_(x, (0, 0), (80, 80), (2, 2)), lambda y: y),
    (lambda x: p.flip(p.slice_(x, (0, 0), (40, 40), (1, 1)), (1,)), lambda y: y),
    (lambda x: p.broadcast(p.slice_(x, (0, 0), (40, 1), (1, 1)), (40, 40)), lambda y: y),
    (lambda x: p.slice_(x, (0, 0), (40, 40), (1, 1)),
     lambda y: p.broadcast(p.slice_(y, (0, 0), (1, 40), (1, 1)), (40, 40))),
    (lambda x: p.transpose(p.slice_(x, (0, 0), (80, 40), (2, 1)), (1, 0)), lambda y: p.transpose(y, (1, 0))),
], ids=lambda case: "a product")  # fmt: skip
def test_products_take_operands_wherever_they_lie(left, right):
    for dtype, exact in ((float32, 2e-5), (float64, 1e-12)):
        check(lambda x, y: p.matmul(left(x), right(y)), typed(dtype, 80, 80), typed(dtype, 40, 40), tolerance=exact)


@pytest.mark.many(
    "equation", ["abk,kc->acb", "kab,kc->acb", "bak,ckd->bdac", "xak,xkc->cxa", "abk,ck->cab", "ak,kbc->bac"]
)
def test_products_are_written_in_any_order_of_axes(equation):
    left, right, out = equation.replace("->", ",").split(",")
    sizes = {"a": 20, "b": 3, "c": 24, "d": 2, "k": 32, "x": 4}
    types = ["".join(part) for part in (left, right)]
    for dtype, exact in ((float32, 2e-5), (float64, 1e-12)):
        operands = [typed(dtype, *(sizes[letter] for letter in part)) for part in types]
        check(p.contract(left, right, out), *operands, tolerance=exact)


@pytest.mark.many(
    "op", [p.scatter_add, p.scatter_max, p.scatter_min, p.scatter_mul, p.scatter_update], ids=lambda op: op.__name__
)
def test_updates_are_scattered_along_any_axis(op):
    for shape in ((5,), (1, 5), (5, 1), (2, 5, 3), (1, 5, 1), (3, 1, 5)):
        scattered(op, shape, shape.index(5))


def scattered(op, shape, axis):
    where = np.array([[4, 0], [2, 3]])  # each once: which of two updates stays is nobody's promise
    changes = (*shape[:axis], 2, 2, *shape[axis + 1 :])
    check(lambda x, u: op(x, p.constant(where), u, axis), f32(*shape), f32(*changes))
    check(lambda x, u: op(x, p.constant(where[0]), u, axis), f32(*shape), f32(*shape[:axis], 2, *shape[axis + 1 :]))


@pytest.mark.many(
    ("window", "stride", "before", "after", "extent"),
    [(2, 2, 0, 0, 6), (2, 2, 0, 0, 7), (2, 2, 1, 1, 6), (3, 2, 1, 1, 7), (3, 2, 0, 0, 6), (2, 3, 0, 0, 6)],
)
def test_slopes_of_windows_reach_their_elements(window, stride, before, after, extent):
    where = ((window,), (stride,), ((before, after),))
    types = f32(2, 3, extent), f32(2, 3, (extent + before + after - window) // stride + 1)
    check(slopes(lambda x, w: (p.max_pool(x, *where) - p.avg_pool(x, *where)) * w, *types), *types, tolerance=1e-5)


def test_what_lies_at_the_largest_of_a_window_is_picked():
    for shape in ((2, 3, 6), (1, 1, 2), (2, 1, 7)):
        check(MaxPoolPick(*POOL), f32(*shape), f32(*shape))
        check(MaxPoolPick(*POOL), typed(float64, *shape), typed(float64, *shape))
    check(MaxPoolPick((2, 3), (1, 2), ((1, 0), (0, 1))), f32(2, 3, 6, 7), f32(2, 3, 6, 7))


def test_sums_over_no_axes_are_what_they_sum():
    check(lambda x: (p.reduce_sum(x, ()) * 2.0, p.tanh(p.reduce_max(x, ())), x - p.reduce_prod(x, (), True)), f32(5, 9))


def test_results_of_turns_may_be_arguments_or_lie_another_way():
    v, i64 = f32(3, 4), TensorType(int64, ())
    condition = Function.build(lambda x, y, i: p.less(i, whole(3)), v, v, i64)
    body = Function.build(lambda x, y, i: (y, x, i + whole(1)), v, v, i64)  # both change places
    check(lambda x, y: p.While(condition, body, 0)(x, y, whole(0))[:2], v, v)
    same, swapped = Function.build(lambda x, y: (x, y), v, v), Function.build(lambda x, y: (y, p.tanh(x)), v, v)
    for low in (-1e9, 1e9):
        check(
            lambda x, y, low=low: p.Cond(same, swapped)(p.less(p.full(low, float32, ()), p.reduce_sum(x)), x, y), v, v
        )
    rows = Function.build(lambda x: (p.transpose(p.tanh(x), (1, 0)), p.reduce_sum(x)), v)
    for size in (0, 1, 5):
        check(lambda x, n=size: p.Map(rows, 0, n, 1)(x), f32(size, 3, 4), tolerance=1e-5)


def folded(x, w):
    """What lies with its channels last, as the library likes it."""
    return p.tanh(p.conv(x, w, (1, 1), ((1, 1), (1, 1))) * 0.05)


@pytest.mark.parametrize("reverse", [False, True])
def test_loops_over_what_lies_with_its_channels_last_see_each_element(reverse):
    v, w, e = f32(3, 16, 10, 10), f32(16, 16, 3, 3), f32(16, 10, 10)
    each = Function.build(lambda t: (p.tanh(t * 1.5), p.reduce_sum(t, (0,))), e)
    turn = Function.build(lambda k, c, t: (p.tanh(c * 0.5 + t) + p.reduce_sum(k, (0,)), t * c), v, e, e)

    def looped(x, w):
        y, start = folded(x, w), p.reduce_sum(x, (0,))
        scan = p.Scan(turn, 1, 1, reverse, 3)
        return (*p.Map(each, 0, 3, 0)(y), *p.Map(each, 0, 3, 1)(y), *scan(y, start, p.tanh(y)))

    check(looped, v, w, tolerance=2e-6)


def test_updates_of_one_place_are_all_made():
    for count in (1, 7, 64, 1000, 70_000):
        where = np.random.default_rng(count).integers(0, 5, count)
        add = lambda x, u, where=where: p.scatter_add(x, p.constant(where), u, 0)  # noqa: E731
        fn = Function.build(add, typed(int64, 5), typed(int64, count))
        x, u = np.arange(5), np.arange(count)
        want = x.copy()
        np.add.at(want, where, u)
        np.testing.assert_array_equal(compile(fn, threads=4)(x, u)[0], want)


def test_loops_are_split_where_indices_divide_them():
    """A tensor that is read as one of other shape: row i // 8, column i % 8."""
    t, other = f32(40), f32(5, 8)
    program = lowered(lambda x, y: p.tanh(p.reshape(p.transpose(y, (1, 0)), (40,))) + x, t, other)
    (launch,) = launches(program)
    said = str(launch.kernel)
    assert "//" not in said
    assert "%" not in said
    check(lambda x, y: p.tanh(p.reshape(p.transpose(y, (1, 0)), (40,))) + x, t, other)


# ---------------------------------------------------------------------------------------- what is told


PLAIN = replace(options().target, short_units=frozenset())  # a processor that multiplies no short numbers


def noted(fn, *types):
    return [
        note.text for note in lower_as_it_is(Function.build(fn, *types), {}, replace(options(), target=PLAIN)).notes
    ]


@pytest.mark.many("kind", [float16, bfloat16])
def test_products_by_plain_loops_are_told_where_they_are_long(kind):
    times = p.Contract("ab", "bc", "ac", kind)
    window = p.Conv((1, 1), ((0, 0), (0, 0)), (1, 1), 1, dtype=kind)
    t = typed(kind, 300, 300)
    told = noted(times, t, t), noted(window, typed(kind, 4, 32, 40, 40), typed(kind, 32, 32, 3, 3))
    for texts in told:
        assert len(texts) == 1
        assert texts[0].startswith("plain loops compute")
    few = typed(kind, 3, 3)
    assert noted(times, few, few) == noted(window, typed(kind, 1, 2, 4, 4), typed(kind, 2, 2, 3, 3)) == []
    assert lowered(p.matmul, f32(300, 300), f32(300, 300)).notes == ()
