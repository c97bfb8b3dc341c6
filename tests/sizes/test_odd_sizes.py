"""Programs of users that look at sizes, through shapes that go up and down, with empty and single rows between them."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.tree import flatten

SHAPES = [(4, 3), (6, 3), (7, 5), (1, 3), (0, 3), (2, 1), (33, 2), (3, 0), (8, 8), (4, 3)]


def loop(x):
    total = x[0] * 0
    for i in range(x.shape[0]):
        total = total * 0.5 + x[i]
    return total


def halvings(x):
    n, k = x.shape[0], 0
    while n > 1:
        n //= 2
        k += 1
    return x * k


def written(x):
    y = x * 1
    y[0] = 0
    y[-1] = 5
    y[x.shape[0] // 2 :] += 1
    return y


def causal(x):
    n = x.shape[0]
    mask = ops.arange(n)[:, None] >= ops.arange(n)[None, :]
    return ops.where(mask, x @ x.T, Tensor(-1e9, ms.float32)).max(1)


PROGRAMS = {
    "halves": lambda x: (x[: x.shape[0] // 2].sum(0), x[x.shape[0] // 2 :].sum(0)),
    "pairs": lambda x: x.reshape(-1, 2).sum(1) if x.size % 2 == 0 else x.reshape(-1),
    "last rows": lambda x: x[-3:] * 2,
    "steps": lambda x: (x[::2], x[1::2], x[::-1]),
    "outer": lambda x: x.sum(1)[:, None] * x.sum(1)[None, :],
    "causal": causal,
    "loop": loop,
    "halvings": halvings,
    "written": written,
    "roll": lambda x: ops.roll(x, 1, 0),
    "joined": lambda x: ops.cat([x, x[:1], x], 0),
    "moments": lambda x: (x.mean(), x.std(), x.var(0), x / x.shape[0]),
    "topk": lambda x: ops.topk(x.reshape(-1), max(1, x.size // 3)),
    "places": lambda x: (x.argmax(0), x.argmin(1), x.reshape(-1).argmax()),
    "mask": lambda x: (ops.nonzero(x > 0), x[x > 0].sum()),
    "unique": lambda x: ops.unique((x * 2).astype(ms.int32).reshape(-1)),
    "permuted": lambda x: x[(ops.arange(x.shape[0]) * 7) % x.shape[0]],
    "parts": lambda x: ops.split(x, 2, 0) if x.shape[0] else x,
    "repeated": lambda x: (ops.tile(x, (2, 1)).sum(0), ops.repeat_interleave(x, 2, 0)),
    "only shapes": lambda x: (ops.zeros((x.shape[0] + 1, 2)), ops.full((x.shape[1],), x.shape[0]), ops.eye(x.shape[0])),
    "numbers": lambda x: (x * float(x.shape[0]) ** 0.5, len(x), [x.shape[0] * 2]),
    "branch": lambda x: x + 1 if x.shape[0] > 6 else x - 1,
    "stacked": lambda x: ops.stack([x, x * 2], 1).reshape(x.shape[0] * 2, -1),
    "key": lambda x: list({x.shape[0]: x.sum()}.items()),
    "words": lambda x: (f"{x.shape}", str(x.shape[0])),
}


def outcome(run, x):
    """The parts of a result, or the type of an error."""
    try:
        leaves, structure = flatten(run(x))
    except Exception as error:
        return type(error), []
    return structure, leaves


@pytest.mark.parametrize("what", ["itself", "gradient"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_is_as_eager_at_every_shape(name, what):
    program = PROGRAMS[name]

    def loss(x):
        tensors = [t for t in flatten(program(x))[0] if isinstance(t, Tensor) and t.dtype == ms.float32]
        return sum([t.sum() for t in tensors], Tensor(0.0))

    plain = program if what == "itself" else ms.grad(loss)
    compiled = ms.jit(plain)
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        x = Tensor(rng.standard_normal(shape).astype("f"))
        (kind, got), (expected, wanted) = outcome(compiled, x), outcome(plain, x)
        assert kind == expected, shape
        for g, w in zip(got, wanted, strict=True):
            assert type(g) is type(w), shape
            if isinstance(w, Tensor):
                assert (g.shape, g.dtype) == (w.shape, w.dtype), shape
                np.testing.assert_allclose(g.asnumpy(), w.asnumpy(), rtol=1e-4, atol=1e-4, err_msg=str(shape))
            else:
                assert g == w, shape


def test_second_derivatives_of_products_are_right_at_all_sizes() -> None:
    def second(x: Tensor) -> Tensor:
        return ms.grad(lambda x: (ms.grad(lambda x: x.prod())(x) ** 2).sum())(x)

    compiled = ms.jit(second)
    for n in (3, 4, 5, 6, 7, 8, 12, 1, 2, 4):
        x = Tensor(np.linspace(-1.5, 2.0, n).astype("float32"))
        np.testing.assert_allclose(compiled(x).asnumpy(), second(x).asnumpy(), 1e-4, 1e-5)
