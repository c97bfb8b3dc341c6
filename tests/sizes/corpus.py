"""Programs as users write them, each over one to three sizes that change from call to call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops

Build = Callable[[], tuple[Callable[..., Any], list[Any]]]
Draw = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A program: how it is built (a function and the parameters that it changes), and arguments for given sizes."""

    name: str
    build: Build
    draw: Draw
    sizes: int  # how many it has
    generic: bool  # whether one program serves all sizes of at least two
    limit: int  # the largest size that is tried


CASES: list[Case] = []


def floats(r: np.random.Generator, *shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(r.standard_normal(shape).astype(dtype))


def whole(r: np.random.Generator, high: int, *shape: int) -> Tensor:
    return Tensor(r.integers(0, high, shape).astype("int32"))


def program(draw: Draw, generic: bool = True, limit: int = 40) -> Callable[[Build], Build]:
    """A decorator: the function builds a program; `draw(rng, *sizes)` makes its arguments."""

    def add(build: Build) -> Build:
        sizes = draw.__code__.co_argcount - 1
        CASES.append(Case(build.__name__, build, draw, sizes, generic, limit))
        return build

    return add


def plain(draw: Draw, generic: bool = True, limit: int = 40) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same for a function without parameters of its own."""

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(fn.__name__, lambda: (fn, []), draw, draw.__code__.co_argcount - 1, generic, limit))
        return fn

    return add


def trained(net: nn.Cell, loss: Callable[..., Any], optimizer: Any) -> tuple[Callable[..., Any], list[Any]]:
    """A train step, and the parameters that it changes."""
    gradient = ms.value_and_grad(lambda *args: loss(net, *args), None, optimizer.parameters)

    def step(*args: Tensor) -> Any:
        value, gradients = gradient(*args)
        optimizer(gradients)
        return value, gradients

    return step, list(net.get_parameters())


# ------------------------------------------------------------------------------------------------------------ networks


@program(lambda r, n: (floats(r, n, 6),))
def mlp():
    net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
    return net.construct, []


@program(lambda r, n: (floats(r, n, 6), whole(r, 3, n)))
def mlp_train():
    net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
    return trained(net, lambda f, x, y: ops.cross_entropy(f(x), y), nn.Adam(net.trainable_params(), 0.01))


@program(lambda r, n: (floats(r, n, 5), floats(r, n, 1)))
def momentum_train():
    net = nn.SequentialCell(nn.Dense(5, 8), nn.Tanh(), nn.Dense(8, 1))
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9, weight_decay=0.01)
    return trained(net, lambda f, x, y: ops.mse_loss(f(x), y), optimizer)


@program(lambda r, n: (floats(r, n, 5), floats(r, n, 1)))
def sgd_train():
    net = nn.SequentialCell(nn.Dense(5, 8), nn.GELU(), nn.Dense(8, 1))
    return trained(net, lambda f, x, y: ((f(x) - y) ** 2).mean(), nn.SGD(net.trainable_params(), 0.05))


@program(lambda r, n: (floats(r, n, 4), floats(r, n, 4)))
def adamw_train():
    net = nn.Dense(4, 4)
    optimizer = nn.AdamW(net.trainable_params(), lr=0.01, weight_decay=0.1)
    return trained(net, lambda f, x, y: ops.smooth_l1_loss(f(x), y), optimizer)


@program(lambda r, n: (floats(r, n, 2, 10, 10), whole(r, 4, n)), limit=12)
def lenet_train():
    net = nn.SequentialCell(
        nn.Conv2d(2, 4, 3, pad_mode="pad", padding=1, has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(100, 4),
    )
    return trained(net, lambda f, x, y: ops.cross_entropy(f(x), y), nn.Momentum(net.trainable_params(), 0.1, 0.9))


@program(lambda r, n, h, w: (floats(r, n, 3, h + 2, w + 2),), limit=14)
def images_of_any_size():
    conv = nn.Conv2d(3, 4, 3, pad_mode="valid")
    return lambda x: ops.relu(conv(x)).mean((2, 3)), []


@program(lambda r, n, h: (floats(r, n, 3, h + 3, 9),), limit=14)
def strided_convolution():
    conv = nn.Conv2d(3, 4, 3, stride=2, pad_mode="same", has_bias=True)
    return lambda x: conv(x), []


@plain(lambda r, n, h: (floats(r, 2, 1, n + 2, h + 2),), limit=10)
def enlarged(x):
    twice = [2 * n for n in x.shape[2:]]
    near, between = (ops.interpolate(x, twice, mode=mode) for mode in ("nearest", "bilinear"))
    corners = ops.interpolate(x, scale_factor=3, mode="bilinear", align_corners=True)
    return near, between, corners, ms.grad(lambda x: (ops.interpolate(x, (4, 4), mode="bilinear") ** 2).sum())(x)


@program(lambda r, n, h: (floats(r, n, 3, h + 2, h + 2),), limit=10)
def transposed_convolution():
    conv = nn.Conv2dTranspose(3, 2, 3, stride=2, pad_mode="same")
    return lambda x: ms.grad(lambda x: (conv(x) ** 2).sum())(x), []


@program(lambda r, n, t: (floats(r, n, 3, t + 4),), limit=20)
def convolution_in_time():
    conv = nn.Conv1d(3, 5, 3, pad_mode="pad", padding=1)
    return lambda x: ms.grad(lambda x: ops.tanh(conv(x)).sum())(x), []


@program(lambda r, n, h: (floats(r, n, 2, 2 * h + 2, 8),), limit=10)
def poolings():
    most, average = nn.MaxPool2d(2, 2), nn.AvgPool2d(2, 2)
    return lambda x: (most(x), average(x), ms.grad(lambda x: (most(x) * average(x)).sum())(x)), []


@program(lambda r, n, t: (floats(r, n, t, 8),))
def layer_norm():
    norm = nn.LayerNorm((8,))
    return trained(norm, lambda f, x: (f(x) ** 2 * x).sum(), nn.SGD(norm.trainable_params(), 0.01))


@program(lambda r, n: (floats(r, n + 1, 6),))
def batch_norm_train():
    net = nn.SequentialCell(nn.Dense(6, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dense(5, 1))
    net.set_train()
    return trained(net, lambda f, x: (f(x) ** 2).mean(), nn.SGD(net.trainable_params(), 0.05))


@program(lambda r, n, h: (floats(r, n, 3, h, 5),), limit=12)
def batch_norm_of_images():
    net = nn.SequentialCell(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))
    net.set_train()
    return (lambda x: net(x).abs()), list(net.get_parameters())


@program(lambda r, n: (floats(r, n, 6),))
def batch_norm_inference():
    net = nn.BatchNorm1d(6)
    net.set_train(False)
    return net.construct, []


@program(lambda r, n, t: (floats(r, n, t, 8),), limit=20)
def attention():
    qkv, proj = nn.Dense(8, 24), nn.Dense(8, 8)

    def run(x):
        batch, time, width = x.shape
        q, k, v = qkv(x).reshape((batch, time, 3, 2, -1)).transpose((2, 0, 3, 1, 4))
        scores = q @ k.swapaxes(-1, -2) / 2.0
        mask = ops.tril(ops.ones((time, time), ms.bool_))
        weights = ops.softmax(ops.masked_fill(scores, ~mask, -1e9), -1)
        return proj((weights @ v).swapaxes(1, 2).reshape((batch, time, width)))

    return run, []


@program(lambda r, n, t, s: (floats(r, n, t, 8), floats(r, n, s, 8)), limit=20)
def cross_attention():
    q, k, v = nn.Dense(8, 8), nn.Dense(8, 8), nn.Dense(8, 8)

    def run(x, y):
        weights = ops.softmax(q(x) @ k(y).swapaxes(1, 2) * 8**-0.5, -1)
        return weights @ v(y)

    return (lambda x, y: ms.grad(lambda x, y: run(x, y).sum(), (0, 1))(x, y)), []


class Block(nn.Cell):
    """A block of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.one, self.two = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.proj = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.wide, self.narrow = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x: Any) -> Any:
        batch, time, width = x.shape
        q, k, v = self.qkv(self.one(x)).reshape((batch, time, 3, self.heads, -1)).transpose((2, 0, 3, 1, 4))
        mixed = ops.scaled_dot_product_attention(q, k, v, is_causal=True).swapaxes(1, 2)
        x = x + self.proj(mixed.reshape((batch, time, width)))
        return x + self.narrow(ops.gelu(self.wide(self.two(x))))


class Gpt(nn.Cell):
    """A small language model."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(64, 8)
        self.block, self.head = Block(8, 2), nn.Dense(8, 11)

    def construct(self, tokens: Any) -> Any:
        x = self.words(tokens) + self.places.embedding_table[: tokens.shape[1]]
        return self.head(self.block(x))


@program(lambda r, n, t: (whole(r, 11, n, t), whole(r, 11, n, t)), limit=20)
def gpt_train():
    net = Gpt()

    def loss(f, x, y):
        return ops.cross_entropy(f(x).reshape((-1, 11)), y.reshape(-1))

    return trained(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))  # Adam enlarges the noise of keys' biases


@program(lambda r, n, t: (whole(r, 9, n, t),))
def embedding():
    table = nn.Embedding(9, 4)
    return trained(table, lambda f, x: (f(x) ** 2).mean(), nn.SGD(table.trainable_params(), 0.1))


@program(lambda r, n, t: (floats(r, n, t, 4),), generic=False, limit=8)
def rnn_over_time():
    inner, outer = nn.Dense(4, 4), nn.Dense(4, 4)

    def run(x):
        h = ops.zeros((x.shape[0], 4))
        for t in range(x.shape[1]):
            h = ops.tanh(inner(x[:, t]) + outer(h))
        return h

    return run, []


@program(lambda r, n, t: (floats(r, n, t + 1, 4),), generic=False, limit=8)
def rnn_with_a_while_loop():
    inner = nn.Dense(4, 4)

    def run(x):
        h, t = ops.zeros((x.shape[0], 4)), 0
        while t < x.shape[1]:
            h = ops.tanh(inner(x[:, t]) + h)
            t += 1
        return h

    return run, []


@program(lambda r, n: (floats(r, n, 4),))
def dropout():
    drop = nn.Dropout(p=0.4)
    drop.set_train()
    return (lambda x: drop(x) + ops.dropout(x, 0.2)), []


@program(lambda r, n, t: (floats(r, n, t, 3),))
def nested_cells():
    net = nn.SequentialCell(nn.Dense(3, 5), nn.SequentialCell(nn.LayerNorm((5,)), nn.SiLU()), nn.Dense(5, 2))
    return net.construct, []


# ------------------------------------------------------------------------------------------------------- control flow


@plain(lambda r, n, t: (floats(r, n, t),))
def cond_on_a_tensor(x):
    if x.sum() > 0:
        return ops.exp(-x * x)
    return x * 2 - 1


@plain(lambda r, n: (floats(r, n),))
def while_on_a_tensor(x):
    y = ops.abs(x) + 1
    while y.sum() > 1:
        y = y * 0.5
    return y, ms.grad(lambda x: (x * x).sum())(x)


@plain(lambda r, n, t: (floats(r, n, t),))
def loop_of_a_fixed_length(x):
    y = x
    for i in range(20):
        y = ops.tanh(y * 0.5 + x) + 0.1 * i
    return y


@plain(lambda r, n: (floats(r, n), Tensor(5, ms.int32)))
def recursion(x, k):
    def power(x, k):
        if k <= 0:
            return ops.ones_like(x)
        return x * power(x, k - 1)

    return power(ops.tanh(x), k)


@plain(lambda r, n, t: (floats(r, n, t),))
def branch_on_sizes(x):
    if x.shape[0] > x.shape[1]:
        return x.sum(0)
    return x.sum(1)


@plain(lambda r, n: (floats(r, n, 3),), generic=False)
def sizes_that_are_returned(x):
    return x * x.shape[0], x.shape[0], len(x)


# ---------------------------------------------------------------------------------------------------------- reductions


@plain(lambda r, n, t: (floats(r, n, t, 5),))
def means_and_deviations(x):
    return x.mean(), x.mean(0), x.mean((0, 1)), x.var(1), x.std(0), ops.std(x, 2, ddof=0)


@plain(lambda r, n, t: (floats(r, n, t),))
def norms(x):
    return ops.norm(x), ops.norm(x, dim=0), ops.norm(x, 1, dim=1), (x * x).sum(-1, keepdims=True).sqrt()


@plain(lambda r, n, t: (floats(r, n, t),))
def softmaxes(x):
    return ops.softmax(x, 0), ops.softmax(x, 1), ops.log_softmax(x, 0), ops.log_softmax(x, -1), ops.logsumexp(x, 1)


@plain(lambda r, n, t: (floats(r, n, t),))
def gradients_of_softmaxes(x):
    def loss(x):
        return (ops.softmax(x, 0) * ops.log_softmax(x, 1)).sum() + ops.logsumexp(x, 0).sum() + x.std(0).sum()

    return ms.value_and_grad(loss)(x)


@plain(lambda r, n, t: (floats(r, n, t),))
def largest_and_smallest(x):
    return ops.amax(x, 1), ops.argmax(x, 1), ops.argmin(x, 0), x.max(), x.min(0), ops.argmax(x)


@plain(lambda r, n, t: (floats(r, n, t),))
def cumulative(x):
    return ops.cumsum(x, 0), ops.cumsum(x, -1), ms.grad(lambda x: (ops.cumsum(x, 1) * x).sum())(x)


@plain(lambda r, n, t: (floats(r, n, t),))
def products_of_all(x):
    y = ops.tanh(x)
    return y.prod(1), ops.any(x > 2, 0), ops.all(x > -3, 1), ops.count_nonzero(x > 0)


# ------------------------------------------------------------------------------------------------------------ movement


@plain(lambda r, n, t: (floats(r, n, 3), floats(r, t, 3)))
def joined(x, y):
    return ops.cat((x, y), 0), ops.cat((x, x, x), 1), ops.stack((x, x * 2), 1), ops.stack([y, y], 0)


@plain(lambda r, n: (floats(r, n, 6),))
def parted(x):
    a, b = ops.split(x, 3, 1)
    c, d, e = ops.chunk(x, 3, 1)
    return a * b, c + d - e


@plain(lambda r, n: (floats(r, 2 * n + 2, 3),))
def parted_in_halves(x):
    half = x.shape[0] // 2
    return x[:half] + x[half:], ops.cat((x[half:], x[:half]))


@plain(lambda r, n, t: (floats(r, n + 2, t + 3, 2),))
def slices(x):
    return x[1:], x[:-1], x[-1], x[:, -2], x[..., 0], x[:, 1:-1], x[-2:], x[None, :, 0]


@plain(lambda r, n, t: (floats(r, n + 4, t),))
def stepped_slices(x):
    return x[::2], x[1::2], x[1:-1:2], x[::3]


@plain(lambda r, n, t: (floats(r, n + 2, t),))
def gradients_of_slices(x):
    return ms.grad(lambda x: (x[1:] * x[:-1]).sum() + (x[-1] ** 3).sum() + x[:, :1].sum())(x)


@plain(lambda r, n, t: (floats(r, n + 2, t),))
def assigned_slices(x):
    y = x * 1
    y[0] = 5.0
    y[-1] = x[0]
    y[1:] += 1
    return y


@plain(lambda r, n, t: (floats(r, n, t),))
def flipped(x):
    return ops.flip(x, (0,)), ops.flip(x, (0, 1)), ops.roll(x, 2, 0), ops.roll(x, 1, 1)


@plain(lambda r, n, t: (floats(r, n, t, 4),))
def reshaped(x):
    n, t, c = x.shape
    y = x.reshape((n * t, c)).reshape((n, t * c)).reshape(-1)
    return (
        y,
        x.flatten(),
        x.reshape((-1, 2)),
        x.reshape((n, t, 2, 2)).transpose((0, 2, 1, 3)),
        ops.flatten(x, "C", start_dim=1),
    )


@plain(lambda r, n, t: (floats(r, n, t, 4),))
def turned(x):
    return (
        x.transpose((1, 0, 2)),
        x.swapaxes(0, 2),
        ops.permute(x, (2, 1, 0)).reshape((4, -1)),
        x.transpose((2, 0, 1)) * 2,
    )


@plain(lambda r, n, t: (floats(r, n, t),))
def padded(x):
    return ops.pad(x, (1, 2)), ops.pad(x, (0, 1, 2, 0), value=3.0)


@plain(lambda r, n: (floats(r, n),))
def jacobians(x):
    return ms.jacrev(lambda x: ops.tanh(x) * x.sum())(x), ms.jacfwd(ops.square)(x)


@plain(lambda r, n, t: (floats(r, n), floats(r, t)))
def outer_products(x, y):
    return x[:, None] * y[None, :], ops.outer(x, y), x.expand_dims(1) - y, ops.broadcast_to(y, (x.shape[0], y.shape[0]))


@plain(lambda r, n, t: (floats(r, n, t), floats(r, t), floats(r, n, 1)))
def broadcasts(x, y, z):
    return x + y, x * z, y - z, ms.grad(lambda y, z: (x * y * z).sum(), (0, 1))(y, z)


@plain(lambda r, n, t: (floats(r, n, t), floats(r, n, t)))
def sums_of_equal_shapes(x, y):
    return x + y, ops.maximum(x, y), ops.where(x > y, x, y * 2), ops.minimum(x, 0.5)


@plain(lambda r, n, t: (floats(r, n, t),))
def repeated(x):
    return ops.tile(x, (2, 1)), ops.tile(x, (1, 3)), ops.repeat_interleave(x, 2, 1)


# ------------------------------------------------------------------------------------------------- creation and indices


@plain(lambda r, n, t: (floats(r, n, t),))
def aranges(x):
    n, t = x.shape
    return x + ops.arange(t), ops.arange(0, n, 2), ops.arange(n) * 2, ops.arange(t)[:, None] <= ops.arange(t)


@plain(lambda r, n, t: (floats(r, n, t),))
def filled(x):
    n, t = x.shape
    return (
        ops.zeros((n, t)) + x,
        ops.ones((t, n)),
        ops.full((n,), 2.5),
        ops.zeros_like(x),
        ops.full_like(x, 3),
        ops.eye(n),
    )


@plain(lambda r, n: (whole(r, 5, n),))
def one_hot(x):
    return ops.one_hot(x, 5), nn.CrossEntropyLoss()(ops.one_hot(x, 5).astype(ms.float32), x)


@plain(lambda r, n, t: (floats(r, n + 3, t), whole(r, 3, t)))
def gathered(x, i):
    return x[i], ops.gather(x, i, 0), ops.gather_elements(x, 0, i[None]), ops.index_select(x, 0, i)


@plain(lambda r, n, t: (floats(r, n, 6), whole(r, 6, n)))
def picked_rows(x, i):
    return x[ops.arange(x.shape[0]), i], ops.gather_elements(x, 1, i[:, None])


@plain(lambda r, n, t: (floats(r, n + 3, t), whole(r, 3, n), floats(r, n, t)))
def scattered(x, i, u):
    return ops.tensor_scatter_add(x, i[:, None], u)


@plain(lambda r, n, t: (floats(r, n, t),))
def masked(x):
    mask = x > 0
    return ops.where(mask, x, 0.0), ops.masked_fill(x, mask, -1.0), (x * mask).sum(0), ops.triu(x), ops.tril(x, -1)


@plain(lambda r, n, t: (floats(r, n, t + 3),))
def ordered(x):
    values, places = ops.sort(x, 1)
    best, where = ops.topk(x, 3)
    return values, places, best, where


@plain(lambda r, n: (floats(r, n, 5), whole(r, 5, n)))
def accuracy(x, y):
    return (x.argmax(1) == y).astype(ms.float32).mean(), ops.nll_loss(ops.log_softmax(x, 1), y)


# ------------------------------------------------------------------------------------------------------- element types


@plain(lambda r, n, t: (floats(r, n, t, dtype="float16"),))
def half_precision(x):
    return ops.softmax(x, -1), x.sum(0), x @ x.swapaxes(0, 1), x.astype(ms.float32).mean()


@plain(lambda r, n, t: (floats(r, n, t).astype(ms.bfloat16),))
def brain_floats(x):
    return ops.tanh(x), x.sum(1), (x @ x.swapaxes(0, 1)).astype(ms.float32)


@plain(lambda r, n, t: (floats(r, n, t, dtype="float64"),))
def doubles(x):
    return ops.exp(x).sum(0), x @ x.T, ms.grad(lambda x: (ops.sin(x) ** 2).sum())(x)


@plain(lambda r, n, t: (whole(r, 100, n, t), whole(r, 9, n, t)))
def integers(x, y):
    return x // (y + 1), x % (y + 1), x.sum(0), ops.bitwise_and(x, y), x.astype(ms.int64).max(), (x > y).sum()


@plain(lambda r, n: (Tensor(r.integers(0, 2, n).astype(bool)), floats(r, n)))
def booleans(m, x):
    return m & (x > 0), ~m, ops.where(m, x, -x), m.any(), ops.logical_xor(m, x > 1)


# ---------------------------------------------------------------------------------------------------- linear algebra


@plain(lambda r, n, t, k: (floats(r, n, t), floats(r, t, k)))
def products(x, y):
    return x @ y, ops.matmul(x, y).sum(), ms.grad(lambda x, y: (x @ y).sum(), (0, 1))(x, y)


@plain(lambda r, n, t, k: (floats(r, n, t, 4), floats(r, n, 4, k)))
def batches_of_products(x, y):
    return ops.bmm(x, y), x @ y, ops.einsum("ntc,nck->nkt", x, y)


@plain(lambda r, n, t: (floats(r, n), floats(r, n), floats(r, n, t)))
def vectors(x, y, m):
    return (x * y).sum(), x @ m, m.T @ y


# ---------------------------------------------------------------------------------------------------------- transforms


@plain(lambda r, n: (floats(r, n, 4), floats(r, 4)))
def gradients_of_samples(x, w):
    return ms.vmap(ms.grad(lambda w, x: ops.tanh((x * w).sum())), (None, 0))(w, x)


@plain(lambda r, n, t: (floats(r, n, t), floats(r, n, t)))
def mapped(x, y):
    return ms.vmap(lambda a, b: (a * b).sum() + ops.softmax(a).max())(x, y), ms.vmap(lambda a: a * 2, 1, 1)(x)


@plain(lambda r, n: (floats(r, n),))
def second_derivatives(x):
    f = ms.grad(lambda x: (x**3).sum())
    return ms.grad(lambda x: (f(x) * x).sum())(x)


@plain(lambda r, n: (floats(r, n, 3), floats(r, n, 3)))
def tangents(x, v):
    return ms.jvp(lambda x: ops.sin(x) * x.sum(0), x, v)


@plain(lambda r, n, t: ([floats(r, n, 3), floats(r, t, 3)], {"scale": floats(r, 3)}))
def nested_arguments(pair, more):
    x, y = pair
    return {"sum": (x * more["scale"]).sum(0), "all": [x @ y.T, y]}
