"""vmap of a gradient through another vmap: what flows to tensors that the inner function knows from around it."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops

S = Tensor([1.0, 2.0, 3.0])
W = Parameter(Tensor([0.5, -1.0, 2.0]), name="w")
ROWS = Tensor([[1.0, 1.0, 0.5], [2.0, 1.0, -1.0]])
BATCH = ops.stack([ROWS, ROWS * 2.0, ROWS - 1.0])
DENSE = nn.Dense(3, 2)


def of(inner):
    """The gradient by `s` of a sum over rows, of which the function knows `s`."""
    return lambda rows: ms.grad(lambda s: ms.vmap(lambda r: inner(r, s))(rows).sum())(S)


def weights(rows):
    return ms.grad(lambda z: ms.vmap(lambda r: (r * W).sum() * z.sum())(rows).sum(), None, [W])(S)[0]


def layer(rows):
    return ms.grad(lambda: ms.vmap(lambda r: ops.tanh(DENSE(r)))(rows).sum(), None, DENSE.trainable_params())()[0]


def not_by_this_one(rows):
    """The inner function knows the tensor, and not what stands for it: nothing flows."""
    return ms.grad(lambda s: ms.vmap(lambda r: (r * S).sum())(rows).sum() + (s * s).sum())(S)


def of_a_gradient_inside(rows):
    def loss(s):
        return ms.vmap(lambda r: ms.grad(lambda q: (q * q * s).sum())(r))(rows).sum()

    return ms.grad(loss)(S)


def second(rows):
    return ms.grad(lambda s: (ms.grad(lambda q: ms.vmap(lambda r: (r * q * q * q).sum())(rows).sum())(s) ** 2).sum())(S)


def forward(rows):
    return ms.jvp(lambda s: ms.vmap(lambda r: r * s * s)(rows).sum(0), S, S)[1]


def computed_before(rows):
    def loss(s):
        t = ops.exp(s)
        return ms.vmap(lambda r: (r * t).sum() + (t * t).sum())(rows).sum() + t.sum()

    return ms.grad(loss)(S)


def kept(rows):
    def loss(s):
        found = []

        def each(r):
            found.append(s * 2.0)
            return (r * found[0]).sum()

        return ms.vmap(each)(rows).sum() + (found[0] ** 2).sum()

    return ms.grad(loss)(S)


def three_deep(rows):
    return ms.grad(lambda s: ms.vmap(lambda r: ms.vmap(lambda e, t: e * t)(r, s) * s)(rows).sum())(S)


def written(rows):
    def loss(s):
        def each(r):
            y = s * 1.0
            y[0] = r[1] * s[2]
            return y * r

        return ms.vmap(each)(rows).sum()

    return ms.grad(loss)(S)


class Scaled(nn.Cell):
    """A layer with a way back of its own."""

    def construct(self, x):
        return x * W

    def bprop(self, x, out, dout):
        return (dout * W * 10.0,)


SCALED, RECOMPUTED = Scaled(), nn.SequentialCell(DENSE, nn.Tanh())
RECOMPUTED.recompute()


def own_way_back(rows):
    return ms.grad(lambda s: ms.vmap(lambda r: SCALED(r * s))(rows).sum())(S)


def recomputed(rows):
    return ms.grad(lambda s: ms.recompute(lambda r: ops.tanh(r * s), rows).sum())(S)


def recomputed_each(rows):
    return ms.grad(lambda s: ms.vmap(lambda r: ms.recompute(lambda q: ops.tanh(q * s), r))(rows).sum())(S)


def recomputed_layer(rows):
    by = DENSE.trainable_params()
    return ms.grad(lambda s: ms.vmap(lambda r: RECOMPUTED(r * s))(rows).sum(), 0, by)(S)[1][0]


def jacobian(rows):
    return ms.jacrev(lambda s: ms.vmap(lambda r: r * s * s)(rows).sum(0))(S)


def jacobian_forward(rows):
    return ms.jacfwd(lambda s: ms.vmap(lambda r: r * s * s)(rows).sum(0))(S)


def jitted_inside(rows):
    return ms.grad(lambda s: ms.vmap(lambda r: ms.jit(lambda q: q * s * s)(r))(rows).sum())(S)


def jitted_around(rows):
    return ms.jit(lambda rows: ms.grad(lambda s: ms.vmap(lambda r: r * s * s)(rows).sum())(S))(rows)


@pytest.mark.parametrize(
    "fn",
    [
        of(lambda r, s: (r * s * 2.0).sum()),
        of(lambda r, s: (s * 2.0 * r).sum()),
        of(lambda r, s: (s * s).sum() + 0.0 * r.sum()),
        of(lambda r, s: ops.where(r > 0.7, s, s * r).sum()),
        weights, layer, not_by_this_one, of_a_gradient_inside, second, forward, computed_before, kept, three_deep,
        written,
        own_way_back, recomputed, recomputed_each, recomputed_layer, jacobian, jacobian_forward, jitted_inside,
        jitted_around,
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_a_batch_of_gradients_through_a_batch_is_that_of_each_example(fn, wrap):
    wanted = np.stack([fn(rows).asnumpy() for rows in BATCH])
    np.testing.assert_allclose(wrap(ms.vmap(fn))(BATCH).asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_what_nobody_needs_of_a_group_is_no_kernel() -> None:
    places = Tensor([0, 0, 2]).reshape(3, 1)

    def total(x: Tensor) -> Tensor:
        rows = ops.stack([x, x * 0.5 - 1.0])
        return ms.vmap(lambda x: ops.tensor_scatter_add(x, places, x))(rows).sum()

    x = Tensor(np.arange(9, dtype="float32").reshape(3, 3))
    compiled = ms.jit(ms.grad(total))
    assert compiled(x).tolist() == ms.grad(total)(x).tolist()
