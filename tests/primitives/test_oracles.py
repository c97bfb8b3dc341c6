"""Ops against oracles that others wrote: NumPy and SciPy. The laws judge everything else by these meanings."""

import numpy as np
import pytest
from scipy import ndimage, signal, special, stats

from mycelia import primitives as p
from mycelia.ir import Function, Value, interpret
from mycelia.testing import by_elements
from mycelia.types import bfloat16, float16, float32, float64, type_of, uint32

rng = np.random.default_rng(0)


def run(python, *arrays):
    return interpret(Function.build(python, *map(type_of, arrays)), *arrays)[0]


@pytest.mark.parametrize(
    ("x", "w"), [((2, 3, 7), (4, 3, 3)), ((1, 2, 5, 6), (3, 2, 2, 3)), ((1, 1, 4, 4, 4), (1, 1, 2, 3, 2))]
)
def test_convolution_is_correlation(x, w):
    x, w = rng.normal(size=x), rng.normal(size=w)
    got = run(p.conv, x, w)
    for n in range(x.shape[0]):
        for o in range(w.shape[0]):
            want = sum(signal.correlate(x[n, c], w[o, c], mode="valid") for c in range(x.shape[1]))
            np.testing.assert_allclose(got[n, o], want, atol=1e-12)


def test_strides_padding_dilation_and_groups_choose_what_correlation_sees():
    x, w = rng.normal(size=(1, 4, 9, 8)), rng.normal(size=(6, 2, 2, 3))
    got = run(lambda x, w: p.conv(x, w, (2, 3), ((1, 0), (2, 1)), (3, 2), groups=2), x, w)
    dilated = np.zeros((6, 2, 4, 5))
    dilated[:, :, ::3, ::2] = w
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)))
    for o in range(6):
        channels = range(0, 2) if o < 3 else range(2, 4)
        want = sum(signal.correlate(padded[0, c], dilated[o, c % 2], mode="valid") for c in channels)
        np.testing.assert_allclose(got[0, o], want[::2, ::3], atol=1e-12)


def test_max_pooling_is_a_maximum_filter():
    x = rng.normal(size=(2, 3, 8, 9))
    got = run(lambda x: p.max_pool(x, (3, 3), (2, 1), ((1, 1), (1, 1))), x)
    want = ndimage.maximum_filter(x, (1, 1, 3, 3), mode="constant", cval=-np.inf)[:, :, ::2]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("count", [True, False])
def test_mean_pooling_is_a_uniform_filter(count):
    x = rng.normal(size=(2, 3, 8, 9))
    got = run(lambda x: p.avg_pool(x, (3, 3), (1, 2), ((1, 1), (1, 1)), count), x)
    want = ndimage.uniform_filter(x, (1, 1, 3, 3), mode="constant")
    if not count:
        want = want / ndimage.uniform_filter(np.ones_like(x), (1, 1, 3, 3), mode="constant")
    np.testing.assert_allclose(got, want[..., ::2], atol=1e-12)


@pytest.mark.parametrize(
    ("x", "y"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (6, 3, 4)),
     ((2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 1)), ((0, 2, 3), (3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,))],
)  # fmt: skip
def test_matmul_is_numpys(x, y):
    x, y = rng.normal(size=x), rng.normal(size=y)
    np.testing.assert_allclose(run(p.matmul, x, y), np.matmul(x, y), atol=1e-12)


@pytest.mark.parametrize("equation", ["mk,kn->mn", "bmk,bkn->nbm", "abc,cb->a", "a,b->ba", "abcd,bd->dac", "ab,ab->ba"])
def test_contraction_is_einsum(equation):
    left, right = equation.split("->")[0].split(",")
    size = dict(zip("abcdkmn", (2, 3, 4, 5, 6, 7, 8), strict=True))
    x, y = (rng.normal(size=[size[c] for c in letters]) for letters in (left, right))
    np.testing.assert_allclose(
        run(p.contract(left, right, equation.split("->")[1]), x, y), np.einsum(equation, x, y), atol=1e-12
    )


def test_the_error_function_and_the_sigmoid_are_scipys():
    x = np.linspace(-7, 7, 1001)
    np.testing.assert_allclose(run(p.erf, x), special.erf(x), rtol=1e-15)
    np.testing.assert_allclose(run(p.sigmoid, x), special.expit(x), rtol=1e-14)


def test_gather_and_scatter_are_indexing():
    x, i = rng.normal(size=(5, 6)), np.array([[1, 0], [4, 4]])
    np.testing.assert_array_equal(run(lambda x, i: p.gather(x, i, 1), x, i), x[:, i])
    updates = rng.normal(size=(5, 2, 2))
    want = x.copy()
    np.add.at(want, (slice(None), i), updates)
    np.testing.assert_array_equal(run(lambda x, i, u: p.scatter_add(x, i, u, 1), x, i, updates), want)


# -------------------------------------------------------------------------------------------- random numbers

KEY, COUNTER = np.array([3, 5], np.uint32), np.array([0, 9], np.uint32)


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [  # from the paper's known answers: counters and keys are 0, all ones, and digits of pi
        ((0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ],
)
def test_philox_gives_the_known_answers(counter, key, words):
    bits = p.RandomBits((4,)).reference(np.array(key, np.uint32), np.array(counter, np.uint32))
    assert tuple(bits.tolist()) == words


def test_philox_agrees_with_a_scalar_version():
    def philox(c, k):
        for _ in range(10):
            a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
            c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
            k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
        return c

    want = [word for block in range(5) for word in philox([block, 0, 0, 9], [3, 5])]
    assert p.RandomBits((20,)).reference(KEY, COUNTER).tolist() == want


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 15, 16, 17, 63])
def test_few_words_are_the_first_of_many(count):
    many = p.RandomBits((64,)).reference(KEY, COUNTER)
    few = p.RandomBits((count,)).reference(KEY, COUNTER)
    assert few.dtype == np.uint32
    np.testing.assert_array_equal(few, many[:count])


@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64])
def test_uniform_numbers_are_uniform(dtype):
    numbers = run(lambda k, c: p.uniform(k, c, (20000,), dtype), KEY, COUNTER).astype(np.float64)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    step = {float16: 2.0**-11, bfloat16: 2.0**-8}.get(dtype, 0.0)
    assert stats.kstest(numbers + step / 2, "uniform").pvalue > 0.01 or step > 1e-3


@pytest.mark.parametrize("dtype", [float32, float64])
def test_normal_numbers_are_normal(dtype):
    numbers = run(lambda k, c: p.normal(k, c, (20000,), dtype), KEY, COUNTER)
    assert stats.kstest(numbers, "norm").pvalue > 0.01


def test_bernoulli_is_true_as_often_as_asked():
    hits = run(lambda k, c: p.bernoulli(k, c, 0.3, (20000,)), KEY, COUNTER).sum()
    assert stats.binomtest(int(hits), 20000, 0.3).pvalue > 0.01


def test_random_numbers_are_the_same_element_by_element():
    fn = Function.build(lambda k, c: p.normal(k, c, (3, 5)), type_of(KEY), type_of(COUNTER))
    np.testing.assert_allclose(by_elements(fn, KEY, COUNTER)[0], interpret(fn, KEY, COUNTER)[0], rtol=1e-6)


def test_other_counters_give_other_numbers():
    one, other = (p.RandomBits((1000,)).reference(KEY, np.array([c, 0], np.uint32)) for c in (0, 1))
    assert not np.isin(one, other).any()


def test_a_key_is_a_value_like_any_other():
    key = Value(p.Full(1, uint32, (2,)))
    assert p.uniform(key, key, (2, 3)).closed
