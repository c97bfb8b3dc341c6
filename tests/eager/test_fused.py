"""Functions that eager mode runs as one program: what they give is what their ops give one by one."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia import primitives as p
from mycelia.api import native
from mycelia.api.fused import MANY, fused
from mycelia.eager import dispatch
from mycelia.eager.trace import trace
from mycelia.ir import Param
from mycelia.ops.normalization import _of_batch
from mycelia.ops.recurrence import _walk
from mycelia.runtime.executable import Calls
from mycelia.types import type_of

ROWS, WIDTH = 300, 90  # odd sizes, large enough for a native program


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """These tensors are large, wherever we are."""
    monkeypatch.setattr(dispatch, "LARGE", 1 << 12)


def numbers(*shape: int, seed: int = 0, dtype: str = "float32") -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


X, Y, POSITIVE = numbers(ROWS, WIDTH), numbers(ROWS, WIDTH, seed=1), ops.abs(numbers(ROWS, WIDTH, seed=2)) + 0.1
CLASSES = Tensor(np.random.default_rng(3).integers(0, WIDTH, ROWS).astype(np.int32))
SCALE, SHIFT = numbers(WIDTH, seed=4), numbers(WIDTH, seed=5)
PICTURES = numbers(20, 6, 15, 15)
LSTM = [numbers(120, n, seed=n) * 0.1 for n in (40, 30)] + [numbers(120, seed=i) for i in (6, 7)]
CALLS = [
    (ops.relu, (X,), {}),
    (ops.gelu, (X,), {}),
    (ops.gelu, (X,), {"approximate": "tanh"}),
    (ops.silu, (X,), {}),
    (ops.softplus, (X, 2.0), {}),
    (ops.leaky_relu, (X, 0.1), {}),
    (ops.glu, (X,), {}),
    (ops.softmax, (X,), {}),
    (ops.softmax, (X, 0), {}),
    (ops.log_softmax, (X, -2), {}),
    (ops.layer_norm, (X, (WIDTH,), SCALE, SHIFT), {}),
    (ops.rms_norm, (X, SCALE), {}),
    (ops.group_norm, (PICTURES, 3), {}),
    (ops.cross_entropy, (X, CLASSES), {}),
    (ops.cross_entropy, (X, CLASSES), {"weight": POSITIVE[0], "label_smoothing": 0.1}),
    (ops.mse_loss, (X, Y), {}),
    (ops.binary_cross_entropy_with_logits, (X, POSITIVE), {"weight": SCALE, "pos_weight": SHIFT}),
    (ops.kl_div, (X, POSITIVE, "sum"), {}),
    (ops.dense, (X, numbers(70, WIDTH), numbers(70)), {}),
    (ops.conv2d, (PICTURES, numbers(5, 6, 3, 3), numbers(5)), {"pad_mode": "same"}),
    (ops.scaled_dot_product_attention, (X[None], Y[None], X[None]), {"is_causal": True}),
    (_walk, ("lstm", 2, 4, False, numbers(9, 5, 40), *[numbers(5, 30, seed=i) for i in (1, 2)], *LSTM), {}),
    (ops.std, (X, 1), {}),
    (ops.logsumexp, (X, 0), {}),
]


def first(out: Tensor | tuple[Tensor, ...]) -> Tensor:
    return out[0] if isinstance(out, tuple) else out


@pytest.mark.parametrize(
    ("fn", "args", "options"), CALLS, ids=[f"{f.__name__}-{i}" for i, (f, _, _) in enumerate(CALLS)]
)
def test_a_function_gives_what_its_ops_give(fn, args, options, monkeypatch):
    """Oracle: the same function op by op, which the laws of ops hold to NumPy."""
    plain = fn.__wrapped__ if hasattr(fn, "__wrapped__") else fn
    differ = tuple(i for i, a in enumerate(args) if isinstance(a, Tensor) and a.dtype == ms.float32)

    def loss(call):
        return lambda *given: (first(call(*given, **options)) ** 2).sum()

    together = ms.value_and_grad(loss(fn), differ)(*args)
    monkeypatch.setattr(dispatch, "LARGE", 1 << 60)  # nothing is large: op by op
    apart = ms.value_and_grad(loss(plain), differ)(*args)
    for a, b in zip(ms.tree.flatten(together)[0], ms.tree.flatten(apart)[0], strict=True):
        exact = b.asnumpy().astype(np.float64)
        np.testing.assert_allclose(a.asnumpy(), exact, rtol=2e-4, atol=2e-5 * max(1.0, np.abs(exact).max()))


def test_a_call_is_one_program_and_one_more_on_the_way_back():
    before = Calls.count
    out = ops.softmax(X)
    assert Calls.count == before + 1
    assert out.shape == X.shape
    ms.grad(ops.softmax)(X)
    assert Calls.count <= before + 4  # forward, back, and what the gradient begins with


def test_a_product_of_many_multiplications_is_native_though_its_operands_are_small():
    """NumPy's library would make threads of its own for it, which take the processor from ours while they wait."""
    x, w = numbers(40, 30), numbers(30, 40)
    assert x.size + w.size + 1600 < dispatch.LARGE < 40 * 30 * 40 // 4
    before = Calls.count
    out = p.Contract("ij", "jk", "ik")(x, w)
    assert Calls.count == before + 1
    np.testing.assert_allclose(out.asnumpy(), x.asnumpy() @ w.asnumpy(), rtol=1e-4, atol=1e-5)


def test_the_same_call_gives_the_same_bits_every_time():
    again = [ops.layer_norm(X, (WIDTH,), SCALE, SHIFT).asnumpy() for _ in range(5)]
    assert all((again[0] == other).all() for other in again)


def test_all_sizes_of_a_class_share_a_program(monkeypatch):
    ops.softmax(numbers(301, 97))
    monkeypatch.setattr(native, "executor", None)  # nothing can be compiled any more
    for rows in (290, 299, 310, 401):
        x = numbers(rows, 97)
        np.testing.assert_allclose(ops.softmax(x).asnumpy().sum(1), np.ones(rows), rtol=1e-5)


def test_arguments_that_are_equal_and_not_the_same_have_their_own_programs():
    @fused
    def scaled(x, by):
        return x * 2.0 if by is True else x * by

    assert scaled(X, True).asnumpy()[0, 0] == pytest.approx(2 * X.asnumpy()[0, 0])
    assert scaled(X, 1).asnumpy()[0, 0] == X.asnumpy()[0, 0]
    negative, positive = scaled(POSITIVE, -0.0).asnumpy(), scaled(POSITIVE, 0.0).asnumpy()
    assert np.signbit(negative).all()
    assert not np.signbit(positive).any()


def test_a_wrong_class_is_named_as_ever():
    with pytest.raises(IndexError, match=f"target {WIDTH} is none of {WIDTH} classes"):
        ops.cross_entropy(X, CLASSES * 0 + WIDTH)
    with pytest.raises(IndexError, match="target -1 is none"):
        ms.grad(ops.cross_entropy)(X, CLASSES * 0 - 1)


def test_a_function_that_draws_random_numbers_draws_them_once_a_call():
    ms.set_seed(7)
    first_draw, second_draw = (
        ops.scaled_dot_product_attention(X[None], X[None], X[None], dropout_p=0.5).asnumpy() for _ in range(2)
    )
    ms.set_seed(7)
    again = ops.scaled_dot_product_attention(X[None], X[None], X[None], dropout_p=0.5).asnumpy()
    assert (first_draw == again).all()
    assert (first_draw != second_draw).any()


def test_what_a_function_finds_outside_of_its_arguments_is_read_at_each_call():
    factor = Parameter(Tensor([2.0]), name="factor")

    @fused
    def scaled(x):
        return x * factor

    assert scaled(X).asnumpy()[0, 0] == 2 * X.asnumpy()[0, 0]
    factor.set_data(Tensor([3.0]))
    assert scaled(X).asnumpy()[0, 0] == 3 * X.asnumpy()[0, 0]


def test_derivatives_of_any_order_and_of_many_examples():
    def once(x):
        return (ops.softmax(x) * x).sum()

    def twice(x):
        return (ms.grad(once)(x) * x).sum()

    def plain(x):
        e = ops.exp(x - ops.amax(x, -1, True))
        return (e / e.sum(-1, keepdims=True) * x).sum()

    found = ms.grad(twice)(X).asnumpy()
    expected = ms.grad(lambda x: (ms.grad(plain)(x) * x).sum())(X).asnumpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(ms.vmap(ops.softmax)(X).asnumpy(), ops.softmax(X).asnumpy(), rtol=1e-5)
    out, moved = ms.jvp(ops.softmax, (X,), (Y,))
    soft = out.asnumpy()
    expected = soft * (Y.asnumpy() - (soft * Y.asnumpy()).sum(1, keepdims=True))
    np.testing.assert_allclose(moved.asnumpy(), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "make", [nn.Adam, nn.AdamWeightDecay, nn.Momentum, nn.RMSProp, nn.Adagrad], ids=lambda m: m.__name__
)
def test_an_optimizer_of_many_weights_steps_as_one_of_few(make):
    """The rule of a weight does not know how many others there are."""
    options = {"learning_rate": 0.1, "momentum": 0.9} if make is nn.Momentum else {"learning_rate": 0.1}
    few = Parameter(Tensor(X.asnumpy()[0].copy()), name="few")
    one, many = Parameter(Tensor(X.asnumpy()[0].copy()), name="one"), Parameter(Tensor(Y.asnumpy().copy()), name="many")
    alone, together = make([few], **options), make([one, many], **options)
    assert not alone.as_one
    assert together.as_one
    for step in range(4):
        gradient = numbers(WIDTH, seed=10 + step)
        held = one.asnumpy().copy()
        alone((gradient,))
        together((gradient, numbers(ROWS, WIDTH, seed=20 + step)))
        assert (one.asnumpy() != held).any()
    np.testing.assert_allclose(one.asnumpy(), few.asnumpy(), rtol=1e-5, atol=1e-6)


def test_gradients_of_a_tensor_that_is_cut_into_pieces():
    """Oracle: NumPy. Pieces overlap, repeat, have steps, and one of them flows back as it is."""
    x = numbers(40, 30, 10)

    def loss(x):
        a, b = x[:20], x[10:30:2, 3:]
        return (a * a).sum() + (b * 3.0).sum() + x.sum() + (x[5] * x[7]).sum() + (a * a).sum()

    n = x.asnumpy()
    expected = np.ones_like(n)
    expected[:20] += 4 * n[:20]
    expected[10:30:2, 3:] += 3
    expected[5] += n[7]
    expected[7] += n[5]
    np.testing.assert_allclose(ms.grad(loss)(x).asnumpy(), expected, rtol=1e-6, atol=1e-6)


def test_cotangents_that_are_shared_are_not_added_to():
    """The same array flows to several places: what one of them collects must not be seen by the others."""
    x, y = numbers(100, 50), numbers(100, 50, seed=1)

    def loss(x, y):
        s = x + y  # one cotangent for both
        return (s * 2.0).sum() + (x * 3.0).sum() + (x * 5.0).sum() + (x[:50] * 7.0).sum()

    gx, gy = ms.grad(loss, (0, 1))(x, y)
    expected = np.full((100, 50), 10.0)
    expected[:50] += 7.0
    assert (gx.asnumpy() == expected).all()
    assert (gy.asnumpy() == 2.0).all()


EARLY = [
    (ops.cross_entropy, (X[:9], CLASSES[:9])),
    (ops.nll_loss, (X[:9], CLASSES[:9])),
    (ops.layer_norm, (X[:9], (WIDTH,))),
    (ops.group_norm, (PICTURES[:1], 3)),
    (_of_batch, (PICTURES[:1], None, None, 1e-5)),
]


def test_many_ops_of_a_few_hundred_elements_are_one_program(monkeypatch):
    """Oracle: the same ops one by one; a function that is fused early has many of them, another one stays with them."""
    monkeypatch.setattr(dispatch, "LARGE", 1 << 16)
    for fn, args in EARLY:
        plain = fn.__wrapped__
        plain = getattr(plain, "__wrapped__", plain)
        traced = trace(
            lambda *xs, plain=plain, args=args: plain(*xs, *args[len(xs) :]),
            [type_of(x._data) for x in args if isinstance(x, Tensor)],
        )
        assert sum(not isinstance(v.op, Param) for v in traced.function.values()) >= MANY, fn
        before = Calls.count
        got = first(fn(*args))
        assert 1 <= Calls.count - before <= 2, fn  # the program, and what it asks of the operands
        np.testing.assert_allclose(got.asnumpy(), first(plain(*args)).asnumpy(), rtol=1e-5, atol=1e-5)
        few = [x[:1] if isinstance(x, Tensor) and fn not in (ops.group_norm, _of_batch) else x for x in args]
        before = Calls.count
        fn(*few)
        assert (Calls.count == before) == (sum(x.size for x in few if isinstance(x, Tensor)) < 512), fn
    before = Calls.count
    ops.relu(X[:9])
    assert Calls.count == before
