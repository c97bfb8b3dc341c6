"""Mycelia among its peers: the cases of the benchmark, written as a user would write them.

The benchmark loads this file in a process of its own, where `common` holds the cases, their inputs and weights. Modes:
`eager` runs op by op, `jit` runs the whole case as one native program.
"""

import common as K
from common import case

import mycelia as ms
from mycelia import nn, ops

BOTH = ("eager", "jit")


def setup(threads):
    """Threads are set by the environment; random numbers begin where they always begin."""
    ms.set_seed(0)


def version():
    return ms.__version__


def compiled(fn, mode):
    return ms.jit(fn) if mode == "jit" else fn


def tensors(arrays):
    return [ms.Tensor(a) for a in arrays]


# ------------------------------------------------------------------------------------------------------- small tensors


@case("eager_add", ("eager",))
def eager_add(mode):
    a, b = tensors([K.randn(16), K.randn(16, seed=1)])

    def step():
        for _ in range(1000):
            c = a + b
        return c.sum()

    return step


@case("eager_chain", ("eager",))
def eager_chain(mode):
    a, b = tensors([K.randn(16), K.randn(16, seed=1)])

    def chain(x):
        for _ in range(5):
            x = x * b
            x = x + b
        return x

    gradient = ms.grad(chain, sens_param=True)

    def step():
        for _ in range(200):
            g = gradient(a, b)
        return g.sum()

    return step


# ------------------------------------------------------------------------------------------------------- large tensors


@case("ew_chain", BOTH)
def ew_chain(mode):
    args = tensors(K.randn(K.M16, seed=i) for i in range(4))
    f = compiled(lambda a, b, c, d: ops.tanh(a * b + c) * ops.sigmoid(d), mode)
    return lambda: f(*args)[0]


def forward(fn, mode, args):
    f = compiled(fn, mode)
    return lambda: f(*args).reshape(-1)[0]


def forward_and_back(fn, mode, args, ct):
    """The result and the gradients of all arguments."""
    f = compiled(ms.value_and_grad(fn, range(len(args)), sens_param=True), mode)
    return lambda: f(*args, ct)[1][0].reshape(-1)[0]


@case("softmax", BOTH)
def softmax(mode, grad):
    x, ct = tensors([K.randn(*K.SM), K.randn(*K.SM, seed=1)])

    def fn(x):
        return ops.softmax(x, -1)

    return forward_and_back(fn, mode, [x], ct) if grad else forward(fn, mode, [x])


@case("layernorm", BOTH)
def layernorm(mode, grad):
    width = K.LN[1]
    x, ct = tensors([K.randn(*K.LN), K.randn(*K.LN, seed=1)])
    w, b = tensors([K.randn(width, seed=2), K.randn(width, seed=3)])

    def fn(x, w, b):
        return ops.layer_norm(x, (width,), w, b)

    return forward_and_back(fn, mode, [x, w, b], ct) if grad else forward(fn, mode, [x, w, b])


@case("reduce", BOTH)
def reduce(mode, axis, grad):
    x, ct = tensors([K.randn(*K.RED), K.randn(K.RED[1 - axis], seed=1)])

    def fn(x):
        return x.sum(axis)

    return forward_and_back(fn, mode, [x], ct) if grad else forward(fn, mode, [x])


@case("matmul", BOTH)
def matmul(mode, n):
    a, b = tensors([K.randn(n, n), K.randn(n, n, seed=1)])
    f = compiled(lambda a, b: a @ b, mode)
    return lambda: f(a, b)[0, 0]


@case("bmm", BOTH)
def bmm(mode):
    a, b = tensors([K.randn(64, 128, 128), K.randn(64, 128, 128, seed=1)])
    f = compiled(lambda a, b: a @ b, mode)
    return lambda: f(a, b)[0, 0, 0]


# ------------------------------------------------------------------------------------------------------------ training


def dense(w, b=None):
    """A layer with given weights, which the benchmark holds as (inputs, outputs)."""
    weight, bias = ms.Tensor(w.T.copy()), None if b is None else ms.Tensor(b)
    return nn.Dense(*w.shape, weight_init=weight, bias_init=bias, has_bias=b is not None)


def trainer(net, optimizer, x, y, mode):
    """A whole step: forward, loss, backward, update."""
    loss_fn = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_fn(net(x), y)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    def train_step(x, y):
        loss, gradients = grad_fn(x, y)
        optimizer(gradients)
        return loss

    step = compiled(train_step, mode)
    x, y = tensors([x, y])
    return lambda: step(x, y)


@case("mlp_train", BOTH)
def mlp_train(mode):
    p = K.mlp_params()
    net = nn.SequentialCell(dense(*p[:2]), nn.ReLU(), dense(*p[2:4]), nn.ReLU(), dense(*p[4:]))
    return trainer(net, nn.Adam(net.trainable_params(), K.ADAM["lr"]), *K.mlp_data(), mode)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        p = K.lenet_params()
        w1, b1, w2, b2 = tensors(p[:4])
        self.c1 = nn.Conv2d(1, 6, 5, pad_mode="pad", padding=2, has_bias=True, weight_init=w1, bias_init=b1)
        self.c2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True, weight_init=w2, bias_init=b2)
        self.f1, self.f2, self.f3 = dense(*p[4:6]), dense(*p[6:8]), dense(*p[8:])
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(ops.relu(self.c1(x)))
        x = self.flatten(self.pool(ops.relu(self.c2(x))))
        return self.f3(ops.relu(self.f2(ops.relu(self.f1(x)))))


@case("lenet_train", BOTH)
def lenet_train(mode):
    net = LeNet()
    optimizer = nn.Momentum(net.trainable_params(), K.SGDM["lr"], K.SGDM["momentum"])
    return trainer(net, optimizer, *K.lenet_data(), mode)


class ConvNorm(nn.Cell):
    def __init__(self, p, name, stride):
        super().__init__()
        w = p[f"{name}.w"]
        out, given, size, _ = w.shape
        self.conv = nn.Conv2d(given, out, size, stride, pad_mode="pad", padding=size // 2, weight_init=ms.Tensor(w))
        self.norm = nn.BatchNorm2d(out)

    def construct(self, x):
        return self.norm(self.conv(x))


class Basic(nn.Cell):
    def __init__(self, p, number, stride, downsample):
        super().__init__()
        self.c1, self.c2 = ConvNorm(p, f"l{number}.c1", stride), ConvNorm(p, f"l{number}.c2", 1)
        self.ds = ConvNorm(p, f"l{number}.ds", stride) if downsample else None

    def construct(self, x):
        rest = x if self.ds is None else self.ds(x)
        return ops.relu(self.c2(ops.relu(self.c1(x))) + rest)


class ResNet18(nn.Cell):
    def __init__(self):
        super().__init__()
        p = K.resnet18_params()
        self.stem = ConvNorm(p, "stem", 1)
        blocks = enumerate(K.resnet18_blocks())
        self.blocks = nn.SequentialCell(*[Basic(p, n, stride, down) for n, (_, _, stride, down) in blocks])
        self.fc = dense(p["fc.w"], p["fc.b"])

    def construct(self, x):
        return self.fc(self.blocks(ops.relu(self.stem(x))).mean((2, 3)))


@case("resnet18_train", BOTH)
def resnet18_train(mode, batch=None):
    net, (x, y) = ResNet18(), K.cifar_data()
    return trainer(net, nn.Momentum(net.trainable_params(), 0.01, 0.9), x[:batch], y[:batch], mode)


class Block(nn.Cell):
    def __init__(self, p, number):
        super().__init__()
        width = (K.GPT["D"],)
        self.ln1, self.ln2 = nn.LayerNorm(width, epsilon=1e-5), nn.LayerNorm(width, epsilon=1e-5)
        layers = (dense(p[f"{number}.{n}.w"], p[f"{number}.{n}.b"]) for n in ("qkv", "proj", "fc", "out"))
        self.qkv, self.proj, self.fc, self.out = layers

    def construct(self, x):
        batch, time, width = x.shape
        heads = self.qkv(self.ln1(x)).reshape((batch, time, 3, K.GPT["H"], -1))
        q, k, v = heads.transpose((2, 0, 3, 1, 4))
        mixed = ops.scaled_dot_product_attention(q, k, v, is_causal=True).swapaxes(1, 2)
        x = x + self.proj(mixed.reshape((batch, time, width)))
        return x + self.out(ops.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Cell):
    def __init__(self):
        super().__init__()
        p, g = K.gpt_params(), K.GPT
        self.wte = nn.Embedding(g["V"], g["D"], embedding_table=ms.Tensor(p["wte"]))
        self.wpe = nn.Embedding(g["T"], g["D"], embedding_table=ms.Tensor(p["wpe"]))
        self.blocks = nn.CellList([Block(p, number) for number in range(g["L"])])
        self.lnf, self.head = nn.LayerNorm((g["D"],), epsilon=1e-5), dense(p["head.w"])

    def construct(self, tokens):
        x = self.wte(tokens) + self.wpe.embedding_table[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x)).reshape((-1, K.GPT["V"]))


@case("gpt_train", BOTH)
def gpt_train(mode):
    net, (x, y) = Gpt(), K.gpt_data()
    optimizer = nn.AdamW(net.trainable_params(), lr=K.ADAMW["lr"], weight_decay=K.ADAMW["wd"])
    return trainer(net, optimizer, x, y.reshape(-1), mode)


class Lstm(nn.Cell):
    def __init__(self):
        super().__init__()
        p, c = K.lstm_params(), K.LSTM
        self.lstm, self.head = nn.LSTM(c["I"], c["H"], 2), dense(*p[8:])
        for i in range(2):
            lists = (self.lstm.w_ih_list, self.lstm.w_hh_list, self.lstm.b_ih_list, self.lstm.b_hh_list)
            for weights, given in zip(lists, p[4 * i : 4 * i + 4], strict=True):
                weights[i].set_data(ms.Tensor(given))

    def construct(self, x):
        return self.head(self.lstm(x)[0][-1])


@case("lstm_train", BOTH)
def lstm_train(mode):
    net = Lstm()
    return trainer(net, nn.Adam(net.trainable_params(), 1e-3), *K.lstm_data(), mode)


# ----------------------------------------------------------------------------------------------- programs of gradients


@case("while_grad", BOTH)
def while_grad(mode):
    (a,) = tensors([K.newton_input()])

    def roots(a):
        x = a
        while (ops.abs(x * x - a) / a).max() > K.NEWTON_TOL:
            x = 0.5 * (x + a / x)
        return x.sum()

    f = compiled(ms.grad(roots), mode)
    return lambda: f(a).sum()


@case("tree_grad", ("eager", "jit", "jit-unrolled"))
def tree_grad(mode):
    """The tree's bounds are numbers, for which a program is written out; with `jit` they are tensors, and it recurs."""
    w, b, leaves = tensors(K.tree_params())
    low, high = (ms.Tensor(n, ms.int32) for n in (0, leaves.shape[0]))

    def tree(w, b, leaves, low, high):
        if high - low == 1:
            return leaves[low]
        middle = (low + high) // 2
        left, right = tree(w, b, leaves, low, middle), tree(w, b, leaves, middle, high)
        return ops.tanh(ops.cat((left, right)) @ w + b)

    def total(w, b, leaves, low, high):
        return tree(w, b, leaves, low, high).sum()

    gradient = ms.grad(total, (0, 1))
    if mode == "jit":
        recurring = ms.jit(gradient)
        return lambda: recurring(w, b, leaves, low, high)[0].sum()
    f = ms.jit(gradient) if mode == "jit-unrolled" else gradient
    return lambda: f(w, b, leaves, 0, leaves.shape[0])[0].sum()


def small_loss(theta, x, y):
    w1, b1 = theta[:160].reshape((10, 16)), theta[160:176]
    w2, b2 = theta[176:192].reshape((16, 1)), theta[192:]
    return ((ops.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()


@case("hvp", BOTH)
def hvp(mode):
    theta, x, y, v = tensors(K.small_mlp())

    def product(theta, v, x, y):
        return ms.jvp(ms.grad(lambda t: small_loss(t, x, y)), theta, v)[1]

    f = compiled(product, mode)
    return lambda: f(theta, v, x, y).sum()


@case("hessian", BOTH)
def hessian(mode):
    theta, x, y, _ = tensors(K.small_mlp())
    f = compiled(lambda theta, x, y: ms.jacfwd(ms.grad(lambda t: small_loss(t, x, y)))(theta), mode)
    return lambda: ops.abs(f(theta, x, y)).sum()


@case("per_sample_grad", BOTH)
def per_sample_grad(mode):
    params, (x, y) = tensors(K.mlp_params()), tensors(K.mlp_data(64))

    def loss(w1, b1, w2, b2, w3, b3, x, y):
        hidden = ops.relu(ops.relu(x @ w1 + b1) @ w2 + b2)
        return ops.cross_entropy((hidden @ w3 + b3)[None], y[None])

    gradients = ms.vmap(ms.grad(loss, tuple(range(6))), in_axes=(None,) * 6 + (0, 0))
    f = compiled(gradients, mode)
    return lambda: ops.abs(f(*params, x, y)[5]).sum()
