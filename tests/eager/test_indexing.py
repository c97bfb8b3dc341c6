"""Indexing means what NumPy means, in arrays, on the tape, and in graphs; and its gradient is that of a copy."""

from itertools import product

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api import grad
from mycelia.eager import Tensor, trace
from mycelia.types import type_of

X = np.arange(2 * 3 * 4, dtype="f").reshape(2, 3, 4)
INDICES = [
    0,
    -1,
    (1, 2),
    slice(None),
    slice(1, 3),
    (slice(None), slice(None, None, -1)),
    (slice(None), slice(None), slice(3, 0, -2)),
    (Ellipsis, 0),
    (0, Ellipsis),
    None,
    (slice(None), None, 1),
    (Ellipsis, None, slice(0, 4, 3)),
    (slice(2, 2),),
    [1, 0, 1],
    np.array([[0, 1], [1, -1]]),
    (slice(None), [2, 0]),
    ([0, 1], [2, 0]),
    ([0, 1], slice(None), [3, 0]),
    (slice(None), [0, 1], [3, 0]),
    (0, [1, 2]),
    (0, slice(None), [1, 2]),
    (slice(None), 1, [[0], [2]]),
    (None, [1, 0], slice(1, 3), None),
    (slice(None), None, [1, 0], None, [2, 3]),
    ([0, 1], None, [2, 0]),
    X > 7,
    (slice(None), np.array([True, False, True])),
    [],
    range(0),
    (slice(None), range(2, 0, -1)),
    True,
    False,
    (True, 0),
    (0, slice(None), True),
    (slice(None), True, 1),
    (Ellipsis, True),
    (True, [0, 1]),
    ([1], slice(None), True),
]
ids = [str(i).replace("\n", "") for i in INDICES]
each_index = pytest.mark.parametrize("index", INDICES, ids=ids)


def tensors(index):
    """The same index with tensors in place of arrays and lists."""
    if isinstance(index, tuple):
        return tuple(tensors(i) for i in index)
    return Tensor(np.array(index)) if isinstance(index, np.ndarray) or (isinstance(index, list) and index) else index


@each_index
def test_reading_equals_numpy(index):
    for spelled in (index, tensors(index)):
        np.testing.assert_array_equal(Tensor(X)[spelled].asnumpy(), X[index])


@each_index
def test_reading_on_the_tape_equals_numpy_and_its_gradient_marks_what_was_read(index):
    seen = []

    def read(x):
        y = x[tensors(index)]
        seen.append(y.asnumpy())
        return y * 2.0

    marks = np.zeros_like(X)
    np.add.at(marks, index, 2.0)
    np.testing.assert_array_equal(grad(read)(Tensor(X)).asnumpy(), marks)
    np.testing.assert_array_equal(seen[0], X[index])


@each_index
def test_reading_in_a_graph_equals_numpy(index):
    traced = trace.trace(lambda x: x[tensors(index)], [type_of(X)])
    got = trace.run(traced.function, [Tensor(X), *traced.captured])[0]
    np.testing.assert_array_equal(got.asnumpy(), X[index])


@pytest.mark.parametrize(
    "index",
    [([1, 0],), (slice(None), [2, 0]), ([0, 1], [2, 0]), ([0, 1], slice(None), [3, 0]), (slice(None), 1, [0, -1])],
    ids=str,
)
def test_positions_may_be_known_only_when_the_program_runs(index):
    arrays = [np.array(i) for i in index if isinstance(i, list)]

    def read(x, *given):
        known = iter(given)
        return x[tuple(next(known) if isinstance(i, list) else i for i in index)]

    traced = trace.trace(read, [type_of(X), *map(type_of, arrays)])
    got = trace.run(traced.function, [Tensor(X), *map(Tensor, arrays), *traced.captured])[0]
    np.testing.assert_array_equal(got.asnumpy(), X[index])


@each_index
@pytest.mark.parametrize("number", [True, False], ids=["number", "array"])
def test_writing_equals_numpy(index, number):
    value = 7.0 if number else np.random.default_rng(0).normal(size=X[index].shape).astype("f")
    wanted = X.copy()
    wanted[index] = value
    now, seen = Tensor(X), []
    now[tensors(index)] = value
    np.testing.assert_array_equal(now.asnumpy(), wanted)

    def write(x, v):
        y = x * 1.0
        y[tensors(index)] = v
        seen.append(y.asnumpy())
        return y * 3.0

    dx, dv = grad(write, (0, 1))(Tensor(X), Tensor(value))
    np.testing.assert_array_equal(seen[0], wanted)
    kept, written = np.full_like(X, 3.0), X.copy()
    kept[index] = 0.0
    written[...] = 0.0
    written[index] = 3.0
    np.testing.assert_array_equal(dx.asnumpy(), kept)
    np.testing.assert_allclose(dv.asnumpy().sum(), written.sum())


def test_writing_at_positions_of_the_running_program_equals_numpy():
    positions = np.array([1, 0])

    def write(x, i):
        y = x * 1.0
        y[:, i] = Tensor(np.ones((2, 2, 4), "f"))
        y[i, :, i] = 5.0
        return y

    traced = trace.trace(write, [type_of(X), type_of(positions)])
    got = trace.run(traced.function, [Tensor(X), Tensor(positions), *traced.captured])[0]
    wanted = X.copy()
    wanted[:, positions] = 1.0
    wanted[positions, :, positions] = 5.0
    np.testing.assert_array_equal(got.asnumpy(), wanted)


def test_writing_changes_this_tensor_and_its_views_and_no_other():
    x = Tensor([1.0, 2.0, 3.0])
    y, part = x + 0.0, x[:2]
    same = x.alias()
    x[0] = 9.0
    assert x.tolist() == [9.0, 2.0, 3.0]
    assert y.tolist() == same.tolist() == [1.0, 2.0, 3.0]
    assert part.tolist() == [9.0, 2.0]


def test_an_index_out_of_bounds_says_where():
    with pytest.raises(IndexError, match=r"(?s)does not fit a tensor of shape \(2, 3, 4\).*X\)\[5\]"):
        Tensor(X)[5]
    with pytest.raises(IndexError, match="does not fit"):
        grad(lambda x: p.reduce_sum(x[0, 0, 4]))(Tensor(X))
    with pytest.raises(IndexError, match="positions 0 to 7 on axis 0"):
        grad(lambda x: p.reduce_sum(x[Tensor([0, 7])]))(Tensor(X))


def test_iterating_gives_the_rows():
    assert [row.tolist() for row in Tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_positions_are_whole_numbers_of_any_kind(dtype):
    x, i = np.arange(300.0), np.array([3, 100, 5, -2 if dtype[0] == "i" else 2], dtype)
    np.testing.assert_array_equal(Tensor(x)[Tensor(i)].asnumpy(), x[i])
    changed = Tensor(x)
    changed[Tensor(i)] = -1.0
    x[i] = -1.0
    np.testing.assert_array_equal(changed.asnumpy(), x)


def test_positions_of_every_whole_type_count_from_behind_on_an_axis_longer_than_they_reach():
    x = np.arange(300.0)
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"):
        where = np.array([0, 100, -1, -100] if kind[0] == "i" else [0, 100, 200], kind)
        assert Tensor(x)[Tensor(where)].tolist() == x[where].tolist(), kind
        flows = grad(lambda x, where=where: x[Tensor(where)].sum())(Tensor(x))
        assert np.flatnonzero(flows.asnumpy()).tolist() == sorted(np.arange(300)[where]), kind


def test_truths_may_stand_at_any_place_of_an_index():
    parts = [True, False, None, Ellipsis, 1, slice(0, 2), [0, 1]]
    for index in product(parts, repeat=3):
        if sum(i is Ellipsis for i in index) > 1 or not any(i is True or i is False for i in index):
            continue
        try:
            want = X[index]
        except IndexError:
            with pytest.raises((IndexError, ValueError)):
                Tensor(X)[index]
            continue
        traced = trace.trace(lambda x: x[index], [type_of(X)])  # noqa: B023
        known = trace.run(traced.function, [Tensor(X), *traced.captured])[0]
        marks = grad(lambda x: (x[index] * want).sum())(Tensor(X)).asnumpy()  # noqa: B023
        for got in (Tensor(X)[index].asnumpy(), known.asnumpy()):
            assert got.shape == want.shape, index
            np.testing.assert_array_equal(got, want)
        expected = np.zeros_like(X)
        np.add.at(expected, index, want)
        np.testing.assert_array_equal(marks, expected)
