"""Views: what is written through one tensor is seen by all that share its memory; eager, compiled, and as in NumPy."""

import gc

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops

START = np.arange(12, dtype="f").reshape(3, 4)


class Arrays:
    """The same programs on NumPy, whose views share memory."""

    reshape = staticmethod(lambda x, *shape: x.reshape(*shape))
    flatten = staticmethod(lambda x: x.reshape(x.shape[0], -1))
    transpose = staticmethod(lambda x, axes: x.transpose(axes))
    swapaxes = staticmethod(lambda x, a, b: x.swapaxes(a, b))
    moveaxis = staticmethod(np.moveaxis)
    expand_dims = staticmethod(np.expand_dims)
    squeeze = staticmethod(np.squeeze)
    split = staticmethod(lambda x, size, axis=0: tuple(np.split(x, x.shape[axis] // size, axis)))
    chunk = staticmethod(lambda x, n, axis=0: tuple(np.split(x, n, axis)))
    unbind = staticmethod(lambda x, dim=0: tuple(np.moveaxis(x, dim, 0)[i, ...] for i in range(x.shape[dim])))
    narrow = staticmethod(
        lambda x, axis, start, length: np.moveaxis(np.moveaxis(x, axis, 0)[start : start + length], 0, axis)
    )


def a_row(f, x):
    y = x[0]
    y[...] = 9.0
    return x, y


def a_column(f, x):
    y = x[:, 1]
    y[1:] = -1.0
    return x, y


def the_base_is_written(f, x):
    y = x[1:, ::2]
    x[1, 0] = 100.0
    x[2] = 7.0
    return x, y


def a_view_of_a_view(f, x):
    y = x.T
    z = y[1:3]
    z[0, 1] = 50.0
    y[2] = 8.0
    return x, y, z


def two_views_that_overlap(f, x):
    y, z = x[0:2], x[1:3]
    y[1] = 5.0
    z[1, 0] = 6.0
    y[0, 0] = z[0, 0] + 1.0
    return x, y, z


def another_shape(f, x):
    y = f.reshape(x, (2, 6))
    y[1, 2:] = 3.0
    z = f.reshape(y, (12,))
    z[0] = 1.5
    return x, y, z


def other_axes(f, x):
    y = f.transpose(x, (1, 0))
    z = f.swapaxes(x, 0, 1)
    w = f.moveaxis(x, 0, 1)
    y[0] = 2.0
    z[1, 1] = 4.0
    w[3, 2] = 5.0
    return x, y, z, w


def axes_of_extent_one(f, x):
    y = f.expand_dims(x, 0)
    z = f.squeeze(y)
    y[0, 1] = 4.0
    z[2, 2] = 3.0
    w = x[None, :, None, 1]
    w[0, 0, 0] = 77.0
    return x, y, z, w


def parts(f, x):
    a, b = f.split(x, 2, 1)
    c, d = f.chunk(x, 2, 1)
    e = f.unbind(x, 0)
    n = f.narrow(x, 1, 1, 2)
    a[0, 0] = 10.0
    d[1] = 11.0
    e[2][3] = 12.0
    n[0] = 13.0
    return x, a, b, c, d, *e, n


def rows_one_by_one(f, x):
    for i, row in enumerate(x):
        row[...] = row * (i + 1) + 1
    return (x,)


def the_old_numbers_stay_where_they_were_computed(f, x):
    y = x[0]
    z = y * 2
    y[0] = 40.0
    w = y * 2
    return x, y, z, w


def a_copy_is_no_view(f, x):
    y = x[[0, 1]]
    z = x * 1
    y[...] = 9.0
    z[...] = 8.0
    return x, y, z


def a_branch(f, x):
    y = x[0]
    if x.sum() > 0:
        y[1] = 9.0
    else:
        x[0] = 3.0
    return x, y


def a_loop(f, x):
    y = x[1]
    for i in range(3):
        y[i] = x[0, i] + 10.0
        x[0, i] = y[0] + i
    return x, y


def a_long_loop(f, x):
    y = x[2]
    for i in range(40):
        row = x[i % 3]
        row[i % 4] = row[i % 4] + i
        y[0] = y[0] + 1.0
    return x, y


def a_loop_while(f, x):
    y = x[1]
    while y[0] < 9.0:
        row = x[0]
        row[...] = row + 1.0
        y[0] = y[0] + 1.0
    return x, y


def one_of_two(f, x):
    y = x[0] if x[1, 1] > 0 else x[1]
    z = y[1:]
    z[0] = 70.0
    x[0, 2] = 80.0
    return x, y, z


def a_view_that_a_loop_leaves(f, x):
    y = x[0]
    i = 0
    while x[0, 1] + i < 4.0:
        y = x[1]
        i = i + 1
    x[1, 2] = 60.0
    return x, y


def inside_containers(f, x):
    d = {"a": x[0], "b": [x[1], x.T]}
    d["a"][0] = 31.0
    d["b"][1][1, 1] = 32.0
    x[1, 3] = 33.0
    return x, d["a"], d["b"][0], d["b"][1]


def called(f, y):
    y[0] = 4.0
    return y[1:]


def a_function_that_writes(f, x):
    y = called(f, x[2])
    y[0] = 44.0
    return x, y


PROGRAMS = [
    a_row, a_column, the_base_is_written, a_view_of_a_view, two_views_that_overlap, another_shape, other_axes,
    axes_of_extent_one, parts, rows_one_by_one, the_old_numbers_stay_where_they_were_computed, a_copy_is_no_view,
    a_branch, a_loop, a_long_loop, a_loop_while, one_of_two, a_view_that_a_loop_leaves, inside_containers,
    a_function_that_writes,
]  # fmt: skip


def lists(outs):
    return [x.tolist() for x in outs]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_views_are_those_of_numpy(program):
    array, tensor = START.copy(), Tensor(START)
    assert lists(program(ops, tensor)) == lists(program(Arrays, array))
    assert tensor.tolist() == array.tolist()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_views_are_those_of_eager_mode(program):
    compiled = ms.jit(lambda x: program(ops, x))
    for sign in (1, -1, 1):
        eager, tensor = Tensor(sign * START), Tensor(sign * START)
        wanted, got = program(ops, eager), compiled(tensor)
        assert lists(got) == lists(wanted)
        assert tensor.tolist() == eager.tolist()
        for outs, x in ((wanted, eager), (got, tensor)):  # what comes back shares memory as it does eagerly
            x[0, 0] = 1000.0
            outs[-1][...] = -5.0
            outs[1 % len(outs)][...] = -6.0
        assert lists(got) == lists(wanted)
        assert tensor.tolist() == eager.tolist()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_through_writes(program):
    """Against differences of a smooth function of all that a program returns."""

    def loss(x):
        return sum(((out * out).sum() for out in program(ops, x * 1.0)), Tensor(0.0, ms.float64))

    at = Tensor((START + 1) / 7, ms.float64)
    slope = ms.grad(loss)(at).asnumpy()
    compiled = ms.jit(ms.grad(loss))(at).asnumpy()
    assert np.allclose(slope, compiled)
    for i in range(0, 12, 5):
        step = np.zeros(12)
        step[i] = 1e-6
        step = step.reshape(3, 4)
        up, down = (loss(Tensor(at.asnumpy() + s * step, ms.float64)).item() for s in (1, -1))
        assert abs((up - down) / 2e-6 - slope.reshape(-1)[i]) < 1e-4 * (1 + abs(slope).max())


def test_a_view_of_a_parameter_sees_what_training_makes_of_it():
    w = Parameter([[1.0, 2.0], [3.0, 4.0]], name="w")
    row, kept = w[0], w.value()
    w.set_data(w * 2)
    assert row.tolist() == [2.0, 4.0]
    row[0] = 7.0
    assert w.tolist() == [[7.0, 4.0], [6.0, 8.0]]
    assert kept.tolist() == [[1.0, 2.0], [3.0, 4.0]]

    @ms.jit
    def step(x):
        w.set_data(w + x)
        return w.sum()

    for n in (1, 2):
        step(Tensor(1.0))
        assert row.tolist() == [7.0 + n, 4.0 + n]


def test_a_program_that_knows_two_tensors_of_one_memory():
    def f(x, y):
        x[0] = 5.0
        return y + 0

    compiled = ms.jit(f)
    x = Tensor([1.0, 2.0])
    assert compiled(x, Tensor([0.0])).tolist() == [0.0]
    x = Tensor([1.0, 2.0])
    assert compiled(x, x[:1]).tolist() == [5.0]


def test_views_that_are_gone_cost_nothing():
    x = Tensor(np.zeros(10, "f"))
    for i in range(10_000):
        x[i % 10]
    gc.collect()
    assert len(x._kin.views) < 50
    y = x[2:]
    del x
    assert y.tolist() == [0.0] * 8


@pytest.mark.parametrize("place", [1, -1])
def test_a_place_that_only_the_program_knows(place):
    def f(x, i):
        y = x[i]
        y[0] = 50.0
        x[i, 1] = 60.0
        return x, y

    eager, tensor, array = Tensor(START), Tensor(START), START.copy()
    wanted = lists(f(array, place))
    assert lists(f(eager, place)) == lists(ms.jit(f)(tensor, place)) == wanted
    assert eager.tolist() == tensor.tolist() == array.tolist()
    eager, tensor, index = Tensor(START), Tensor(START), Tensor(place)  # a tensor chooses: it is a copy
    assert lists(f(eager, index)) == lists(ms.jit(f)(tensor, index))
    assert eager.tolist() == tensor.tolist()
    assert eager[place, 0].item() == START[place, 0]


def test_vmap_of_a_function_that_writes_through_a_view():
    def f(x):
        x = x * 1
        y = x[:2]
        y[0] = 9.0
        return x

    for run in (ms.vmap(f), ms.jit(ms.vmap(f))):
        assert run(Tensor(START)).tolist() == [[9.0, *row[1:]] for row in START.tolist()]


def test_adding_makes_a_new_tensor():
    x = Tensor(START)
    y = x[0]
    y += 9.0
    assert x.tolist() == START.tolist()


def expanded(x):
    return ops.broadcast_to(x[0], (3, 3)), x


@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_written_to_one_of_many_equal_rows_is_written_to_all(row, compiled):
    """As in memory, and in MindSpore 2.10, which was asked."""
    rows, x = (ms.jit(expanded) if compiled else expanded)(Tensor([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]]))
    rows[row, :2] = 7.0
    np.testing.assert_array_equal(rows.asnumpy(), [[7, 7, 3]] * 3)
    np.testing.assert_array_equal(x.asnumpy(), [[7, 7, 3], [4, 5, 6]])


def test_a_program_that_writes_to_one_of_many_equal_rows_is_right():
    def written(x):
        rows = x.expand_as(ops.zeros((3, 2)))
        rows[0] = 5.0
        return rows * 1, x * 2

    for run in (written, ms.jit(written)):
        rows, twice = run(Tensor([1.0, 2.0]))
        assert (rows.tolist(), twice.tolist()) == ([[5.0, 5.0]] * 3, [10.0, 10.0])


def test_writing_to_repeated_elements_while_a_gradient_is_taken_is_an_error():
    def loss(x):
        rows = ops.broadcast_to(x, (3, 2))
        rows[0] = x * 2
        return rows.sum()

    with pytest.raises(ValueError, match="repeats elements"):
        ms.grad(loss)(Tensor([1.0, 2.0]))


@pytest.mark.parametrize("start", [1.0, -1.0])
@pytest.mark.parametrize("take", [lambda x: x[0].reshape(3, 1), lambda x: ops.broadcast_to(x[0], (3, 3)).T])
def test_a_part_of_a_part_of_one_of_two_tensors_shares_memory_with_the_one_that_it_is(start, take):
    def part(x):
        if x.sum() > 0:
            x = x + 7.0
        return take(x), x

    x = Tensor(np.full((2, 3), start, "f"))
    view, whole = ms.jit(part)(x)
    view[1] = 50.0
    assert whole.tolist()[0][1] == 50.0
    assert (whole is x) == (start < 0)


@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.uint16])
def test_a_part_is_a_view_whatever_kind_of_number_tells_its_place(kind):
    x = Tensor(np.zeros((2, 3), "f"))
    row, element = x[kind(1)], x[kind(0), kind(2)]
    row[kind(1)] = 5.0
    element.add_(2.0)
    assert x.tolist() == [[0.0, 0.0, 2.0], [0.0, 5.0, 0.0]]
    x[kind(0)] = 7.0
    assert element.item() == 7.0
