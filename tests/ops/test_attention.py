"""Attention by blocks of queries is attention: values and gradients are those of the plain form, at any size."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import ops
from mycelia.ops import attending, attention


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of few queries, for every size that has any."""
    monkeypatch.setattr(attention, "BLOCKS_FROM", 1)
    monkeypatch.setattr(attending, "BLOCK_OF_SCORES", 40)
    monkeypatch.setattr(attending, "FEWEST", 2)
    attending._whole.cache_clear()
    yield
    attending._whole.cache_clear()


def plain(q, k, v, mask=None, causal=False):
    """The formula, by NumPy in float64."""
    scores = np.einsum("...qd,...kd->...qk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.arange(k.shape[-2]) > np.arange(q.shape[-2])[:, None], -np.inf, scores)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("...qk,...kv->...qv", e / e.sum(-1, keepdims=True), v)


def differences(f, arrays, ct, step=1e-6):
    """The gradient of sum(f * ct), by central differences along random directions."""
    rng = np.random.default_rng(5)
    for i, x in enumerate(arrays):
        way = rng.normal(size=x.shape)
        ends = [f(*[a + s * way if j == i else a for j, a in enumerate(arrays)]) for s in (step, -step)]
        yield way, ((ends[0] - ends[1]) * ct).sum() / (2 * step)


def drawn(rng, *shape):
    return rng.normal(size=shape)


SHAPES = [  # of queries, keys, values
    ((2, 1, 5, 4), (3, 9, 4), (2, 3, 9, 6)),  # batches are broadcast, lengths and widths differ
    *[
        pytest.param(shapes, marks=pytest.mark.slow)
        for shapes in (
            ((7, 3), (7, 3), (7, 3)),
            ((2, 3, 16, 4), (2, 3, 16, 4), (2, 3, 16, 4)),
            ((1, 13, 1), (1, 1, 1), (1, 1, 2)),  # one key
            ((4, 1, 3), (4, 23, 3), (1, 23, 3)),  # one query
        )
    ],
]
MASKS = [
    ("bool", (2, 1, 10, 11)),
    ("float", (10, 11)),
    *[
        pytest.param(kind, shape, marks=pytest.mark.slow)
        for kind in ("bool", "float")
        for shape in ((11,), (1, 11), (10, 1), (3, 1, 1, 11), (2, 3, 10, 11))
    ],
]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_blocks_of_queries_give_what_the_formula_gives(small_blocks, shapes, causal):
    rng = np.random.default_rng(1)
    arrays = [drawn(rng, *s) for s in shapes]
    expected = plain(*arrays, causal=causal)

    def f(*tensors):
        return ops.scaled_dot_product_attention(*tensors, is_causal=causal)

    tensors = [ms.Tensor(a) for a in arrays]
    for run in (f, ms.jit(f)):
        np.testing.assert_allclose(run(*tensors).asnumpy(), expected, rtol=1e-12, atol=1e-12)
    ct = drawn(rng, *expected.shape)
    gradients = ms.jit(ms.grad(lambda *tensors: (f(*tensors) * ms.Tensor(ct)).sum(), (0, 1, 2)))(*tensors)
    eager = ms.grad(lambda *tensors: (f(*tensors) * ms.Tensor(ct)).sum(), (0, 1, 2))(*tensors)
    slopes = differences(lambda *a: plain(*a, causal=causal), arrays, ct)
    for g, h, (way, slope) in zip(gradients, eager, slopes, strict=True):
        np.testing.assert_allclose((g.asnumpy() * way).sum(), slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(g.asnumpy(), h.asnumpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("kind", "shape"), MASKS)
def test_masks_hide_or_are_added_as_in_the_formula(small_blocks, shape, kind):
    rng = np.random.default_rng(2)
    q, k, v = drawn(rng, 2, 3, 10, 4), drawn(rng, 2, 3, 11, 4), drawn(rng, 2, 3, 11, 4)
    if shape[0] == 3:
        q, k, v = (x[:, None].repeat(3, 1) for x in (q, k, v))
        q, k, v = (x.reshape((2, 3, 3, *x.shape[-2:])) for x in (q, k, v))
    mask = rng.normal(size=shape)
    if kind == "bool":
        mask = mask > -0.5
        mask[..., 0] = True  # every query sees something
    tensors = [ms.Tensor(a) for a in (q, k, v, mask)]
    ct = drawn(rng, *plain(q, k, v, mask).shape)

    def f(q, k, v, mask):
        return (ops.scaled_dot_product_attention(q, k, v, mask) * ms.Tensor(ct)).sum()

    np.testing.assert_allclose(ms.jit(f)(*tensors).asnumpy(), (plain(q, k, v, mask) * ct).sum(), rtol=1e-10)
    wrt = (0, 1, 2) if kind == "bool" else (0, 1, 2, 3)
    gradients = ms.jit(ms.grad(f, wrt))(*tensors)
    for g, (way, slope) in zip(
        gradients,
        differences(lambda *a: plain(*a, *([mask] if kind == "bool" else [])), [q, k, v, mask][: len(wrt)], ct),
        strict=True,
    ):
        np.testing.assert_allclose((g.asnumpy() * way).sum(), slope, rtol=1e-6, atol=1e-7)


def test_second_derivatives_and_batches_go_through_blocks(small_blocks):
    rng = np.random.default_rng(3)
    q, k, v, w = (ms.Tensor(drawn(rng, 9, 3)) for _ in range(4))

    def f(q):
        return (ops.scaled_dot_product_attention(q, k, v, is_causal=True) * w).sum()

    def slope(q):
        return (ms.grad(f)(q) * w).sum()

    there, back = (slope(ms.Tensor(q.asnumpy() + s * w.asnumpy())).item() for s in (1e-5, -1e-5))
    curved = (ms.jit(ms.grad(slope))(q) * w).sum().item()
    np.testing.assert_allclose(curved, (there - back) / 2e-5, rtol=1e-5)
    many = ms.Tensor(drawn(rng, 4, 9, 3))
    each = np.array([f(ms.Tensor(x)).item() for x in many.asnumpy()])
    np.testing.assert_allclose(ms.vmap(f)(many).asnumpy(), each, rtol=1e-10)


def test_dropped_weights_are_dropped_again_on_the_way_back(small_blocks):
    rng = np.random.default_rng(4)
    q, k = (ms.Tensor(drawn(rng, 2, 12, 3)) for _ in range(2))
    v = np.eye(12)[None].repeat(2, 0)  # so the result is the weights

    def f(v):
        ms.set_seed(11)
        return ops.scaled_dot_product_attention(q, k, v, dropout_p=0.5)

    weights = f(ms.Tensor(v)).asnumpy()
    full = ops.scaled_dot_product_attention(q, k, ms.Tensor(v)).asnumpy()
    kept = weights != 0
    assert 0.25 < kept.mean() < 0.75
    np.testing.assert_allclose(weights[kept], 2 * full[kept], rtol=1e-10)
    gradient = ms.grad(lambda v: f(v).sum())(ms.Tensor(v)).asnumpy()
    np.testing.assert_allclose(gradient, np.repeat(weights.sum(1)[..., None], 12, -1), rtol=1e-10)


def test_a_query_that_sees_nothing_is_not_a_number_as_in_the_plain_form(small_blocks, monkeypatch):
    q = ms.Tensor(np.ones((6, 2), "f"))
    mask = np.ones((6, 6), bool)
    mask[2] = False
    by_blocks = ops.scaled_dot_product_attention(q, q, q, ms.Tensor(mask)).asnumpy()
    monkeypatch.setattr(attention, "BLOCKS_FROM", 1 << 30)
    at_once = ops.scaled_dot_product_attention(q, q, q, ms.Tensor(mask)).asnumpy()
    np.testing.assert_array_equal(np.isnan(by_blocks), np.isnan(at_once))
    assert np.isnan(by_blocks[2]).all()
    assert not np.isnan(by_blocks[3:]).any()


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_short_types_go_by_blocks_too(small_blocks, dtype):
    rng = np.random.default_rng(6)
    arrays = [drawn(rng, 2, 9, 4) for _ in range(3)]
    out = ops.scaled_dot_product_attention(*[ms.Tensor(a, dtype) for a in arrays], is_causal=True)
    assert out.dtype is dtype
    rounded = [ms.Tensor(a, dtype).astype(ms.float64).asnumpy() for a in arrays]
    bound = {ms.float16: 1e-2, ms.bfloat16: 8e-2}[dtype]
    np.testing.assert_allclose(out.astype(ms.float64).asnumpy(), plain(*rounded, causal=True), atol=bound)


def test_no_matrix_of_scores_is_ever_there():
    q = ms.Tensor(np.zeros((2, 2048, 8), "f"))

    @ms.jit
    def step(q):
        return ms.grad(lambda q: ops.scaled_dot_product_attention(q, q, q).sum())(q)

    step(q)
    planned = step.show("memory").split("arena: ")[1].split(" bytes")[0]
    assert int(planned.replace(",", "")) < 2048 * 2048 * 4


def test_lengths_that_change_are_one_program(small_blocks):
    rng = np.random.default_rng(7)

    @ms.jit
    def step(q, k, v):
        return ms.grad(lambda q: (ops.scaled_dot_product_attention(q, k, v) ** 2).sum())(q)

    for length in (16, 24, 5):
        q, k, v = (drawn(rng, 2, length, 3) for _ in range(3))
        got = step(*[ms.Tensor(a) for a in (q, k, v)]).asnumpy()
        ((way, slope),) = differences(lambda q, k=k, v=v: plain(q, k, v) ** 2, [q], 1.0)
        np.testing.assert_allclose((got * way).sum(), slope, rtol=1e-5, atol=1e-6)
