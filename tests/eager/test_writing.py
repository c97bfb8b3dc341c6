"""Writing at positions: the last write wins, wherever they are known, and only the winner has a gradient."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

WAYS = {"eager": lambda f: f, "jit": ms.jit}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
seeds = pytest.mark.parametrize("seed", range(4))
float_types = ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"]


def assigned(x, index, value):
    out = x.copy()
    out[index] = value
    return out


def written(x, i, v):
    y = x + 0
    y[i] = v
    return y


@every_way
@seeds
@pytest.mark.parametrize("dtype", float_types)
def test_repeated_positions_keep_the_last(way, seed, dtype):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (5, 3)).astype(dtype)
    i, v = rng.integers(-5, 5, 12), rng.integers(0, 100, (12, 3)).astype(dtype)
    got = way(lambda x, i, v: ops.tensor_scatter_update(x, i.reshape(12, 1), v))(Tensor(x), Tensor(i), Tensor(v))
    np.testing.assert_array_equal(got.asnumpy(), assigned(x, i, v))


@every_way
@seeds
def test_an_index_tensor_that_repeats_assigns(way, seed):
    rng = np.random.default_rng(seed)
    x, i, v = rng.normal(size=7).astype("f"), rng.integers(-7, 7, (4, 5)), rng.normal(size=(4, 5)).astype("f")
    got = way(written)(Tensor(x), Tensor(i), Tensor(v))
    np.testing.assert_array_equal(got.asnumpy(), assigned(x, i, v))
    got = way(written)(Tensor(x), Tensor(i), Tensor(2.5))
    np.testing.assert_array_equal(got.asnumpy(), assigned(x, i, 2.5))


@every_way
@seeds
def test_index_fill_fills(way, seed):
    rng = np.random.default_rng(seed)
    x, i = rng.normal(size=(3, 6)).astype("f"), rng.integers(-6, 6, 9)
    got = way(lambda x, i: ops.index_fill(x, 1, i, 5.0))(Tensor(x), Tensor(i))
    np.testing.assert_array_equal(got.asnumpy(), assigned(x, (slice(None), i), 5.0))


INDICES = {
    "rows and columns": lambda i, j: (i, j),
    "broadcast": lambda i, j: (i[:, None], j),
    "apart": lambda i, j: (i, slice(None), j[: len(i)]),
    "a slice between": lambda i, j: (i, slice(1, 3)),
    "a step": lambda i, j: (slice(None, None, 2), i),
    "backwards": lambda i, j: (slice(None, None, -1), i),
    "an int": lambda i, j: (i, 2),
    "last": lambda i, j: (..., i),
}


@every_way
@seeds
@pytest.mark.parametrize("name", INDICES)
def test_any_index_with_repeats_means_what_it_means_in_numpy(way, name, seed):
    rng = np.random.default_rng(seed)
    x, i, j = rng.normal(size=(5, 5, 5)).astype("f"), rng.integers(-5, 5, 6), rng.integers(-5, 5, 6)
    index = INDICES[name]
    v = rng.normal(size=x[index(i, j)].shape).astype("f")
    got = way(lambda x, i, j, v: written(x, index(i, j), v))(*map(Tensor, (x, i, j, v)))
    np.testing.assert_array_equal(got.asnumpy(), assigned(x, index(i, j), v))


@every_way
@seeds
def test_gradients_flow_to_the_last_write_only(way, seed):
    rng = np.random.default_rng(seed)
    x, v, w = (
        rng.normal(size=(4, 2)).astype("f"),
        rng.normal(size=(9, 2)).astype("f"),
        rng.normal(size=(4, 2)).astype("f"),
    )
    i = rng.integers(-4, 4, 9)
    weights = Tensor(w)
    of_x, of_v = way(ms.grad(lambda x, v, i: (written(x, i, v) * weights).sum(), grad_position=(0, 1)))(
        Tensor(x), Tensor(v), Tensor(i)
    )
    last = {int(p) % 4: k for k, p in enumerate(i)}
    wanted = np.zeros_like(v)
    for place, k in last.items():
        wanted[k] = w[place]
    np.testing.assert_array_equal(of_v.asnumpy(), wanted)
    np.testing.assert_array_equal(of_x.asnumpy(), assigned(w, i, 0))


@every_way
@seeds
def test_each_example_of_a_batch_keeps_its_own_last(way, seed):
    rng = np.random.default_rng(seed)
    x, i = rng.normal(size=(6, 4)).astype("f"), rng.integers(-4, 4, (6, 9))
    v = rng.normal(size=(6, 9)).astype("f")
    got = way(ms.vmap(written))(Tensor(x), Tensor(i), Tensor(v))
    np.testing.assert_array_equal(got.asnumpy(), np.stack([assigned(*row) for row in zip(x, i, v, strict=True)]))


@every_way
def test_a_mask_writes_where_it_holds(way):
    x, m = np.arange(6.0, dtype="f").reshape(2, 3), np.array([[True, False, True], [False, True, True]])
    got = way(lambda x, m: written(x, m, 9.0))(Tensor(x), Tensor(m))
    np.testing.assert_array_equal(got.asnumpy(), assigned(x, m, 9.0))
    v = np.arange(4.0, dtype="f") * 10
    np.testing.assert_array_equal(way(written)(Tensor(x), Tensor(m), Tensor(v)).asnumpy(), assigned(x, m, v))


@every_way
def test_scatter_nd_update_writes_the_last(way):
    p = ms.Parameter(Tensor(np.zeros(3, "f")), name="p")
    update = ops.ScatterNdUpdate()
    way(lambda i, v: update(p, i, v))(Tensor([[1], [1], [0]]), Tensor([1.0, 2.0, 3.0]))
    assert p.asnumpy().tolist() == [3.0, 2.0, 0.0]


@every_way
def test_scatter_along_an_axis_keeps_the_last(way):
    x, i, v = np.zeros((2, 3), "f"), np.array([[0, 0, 2], [1, 1, 1]]), np.arange(6.0, dtype="f").reshape(2, 3)
    got = way(lambda x, i, v: ops.scatter(x, 1, i, v))(Tensor(x), Tensor(i), Tensor(v))
    assert got.asnumpy().tolist() == [[1.0, 0.0, 2.0], [0.0, 5.0, 0.0]]
