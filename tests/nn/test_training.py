"""Small networks train as PyTorch trains them: eagerly, compiled, and as a cell around the whole step."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.runtime.executable import Calls

HERE = Path(__file__).parent / "recorded"
SPEC = importlib.util.spec_from_file_location("recorded_torch_cases", HERE / "torch_cases.py")
given = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(given)
RECORDED = np.load(HERE / "torch.npz")


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 3, 5, pad_mode="pad", padding=2, has_bias=True)
        self.c2 = nn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=True)
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()
        self.f1, self.f2 = nn.Dense(36, 10), nn.Dense(10, 5)

    def construct(self, x):
        x = self.pool(ops.relu(self.c1(x)))
        x = self.pool(ops.relu(self.c2(x)))
        return self.f2(ops.relu(self.f1(self.flatten(x))))


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm((width,), epsilon=1e-5), nn.LayerNorm((width,), epsilon=1e-5)
        self.qkv, self.proj = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.fc, self.out = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x):
        batch, time, width = x.shape
        qkv = self.qkv(self.ln1(x)).reshape((batch, time, 3, given.GPT["heads"], -1))
        q, k, v = qkv.transpose((2, 0, 3, 1, 4))
        mixed = ops.scaled_dot_product_attention(q, k, v, is_causal=True).swapaxes(1, 2)
        x = x + self.proj(mixed.reshape((batch, time, width)))
        return x + self.out(ops.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Cell):
    def __init__(self):
        super().__init__()
        g = given.GPT
        self.wte, self.wpe = nn.Embedding(g["vocabulary"], g["width"]), nn.Embedding(g["time"], g["width"])
        self.blocks = nn.CellList([Block(g["width"]) for _ in range(g["layers"])])
        self.lnf = nn.LayerNorm((g["width"],), epsilon=1e-5)
        self.head = nn.Dense(g["width"], g["vocabulary"], has_bias=False)

    def construct(self, tokens):
        x = self.wte(tokens) + self.wpe.embedding_table[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x)).reshape((-1, given.GPT["vocabulary"]))


MODELS = {
    "mlp": (
        lambda: nn.SequentialCell(nn.Dense(12, 16), nn.ReLU(), nn.Dense(16, 5)),
        lambda p: nn.Adam(p, 1e-2),
        given.mlp_weights,
        given.mlp_data,
    ),
    "lenet": (LeNet, lambda p: nn.Momentum(p, 0.05, 0.9), given.lenet_weights, given.lenet_data),
    # the gradient of the bias of keys is zero but for rounding, which a small eps would blow up
    "gpt": (Gpt, lambda p: nn.AdamW(p, 1e-2, eps=1e-3, weight_decay=0.1), given.gpt_weights, given.gpt_data),
}


def made(name):
    """A network with the recorded weights, its optimizer and its data."""
    network, optimizer, weights, data = MODELS[name]
    net = network()
    unused = ms.load_param_into_net(net, {key: ms.Parameter(a) for key, a in weights().items()})
    assert unused == ([], [])
    x, y = data()
    return net, optimizer(net.trainable_params()), ms.Tensor(x), ms.Tensor(y.reshape(-1))


def written_step(net, optimizer):
    """The step as users write it."""
    loss_fn = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_fn(net(x), y)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    def train_step(x, y):
        loss, gradients = grad_fn(x, y)
        optimizer(gradients)
        return loss

    return train_step


STEPS = {
    "eager": written_step,
    "compiled": lambda net, optimizer: ms.jit(written_step(net, optimizer)),
    "cell": lambda net, optimizer: nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer),
}


@pytest.mark.parametrize("way", STEPS)
@pytest.mark.parametrize("name", MODELS)
def test_three_steps_lose_and_leave_what_they_did_in_pytorch(name, way):
    net, optimizer, x, y = made(name)
    step = STEPS[way](net, optimizer)
    losses = [step(x, y).item() for _ in range(3)]
    np.testing.assert_allclose(losses, RECORDED[f"{name}.losses"], rtol=2e-5)
    for parameter in net.get_parameters():
        after = RECORDED[f"{name}.after.{parameter.name}"]
        np.testing.assert_allclose(parameter.asnumpy(), after, rtol=1e-4, atol=2e-5, err_msg=parameter.name)


@pytest.mark.parametrize("name", MODELS)
def test_one_program_serves_all_steps_with_one_native_call_each(name):
    net, optimizer, x, y = made(name)
    step = ms.jit(written_step(net, optimizer))
    step(x, y)
    before = Calls.count
    for _ in range(3):
        step(x, y)
    assert Calls.count - before == 3
    assert step.explain().count("one native call") == 1
    assert optimizer.global_step.item() == 4


@pytest.mark.parametrize("name", given.OPTIMIZERS)
def test_an_optimizer_moves_weights_as_in_pytorch(name):
    kind, options = given.OPTIMIZERS[name]
    renamed = {"lr": "learning_rate", "amsgrad": "use_amsgrad"} if kind != "AdamW" else {}
    options = {renamed.get(key, key): value for key, value in options.items()}
    if kind == "Adam":
        options |= dict(zip(("beta1", "beta2"), options.pop("betas", (0.9, 0.999)), strict=True))
    w = ms.Parameter(given.numbers(3, 4), name="w")
    optimizer = getattr(nn, kind)([w], **options)
    for step in range(5):
        optimizer((ms.Tensor(given.numbers(3, 4, seed=10 + step)),))
    np.testing.assert_allclose(w.asnumpy(), RECORDED[f"optimizer.{name}"], rtol=1e-5, atol=1e-6)


def test_batch_statistics_are_those_of_pytorch():
    net = nn.BatchNorm2d(3, momentum=0.9).set_train()
    for i, batch in enumerate(given.batches()):
        out = net(ms.Tensor(batch))
        np.testing.assert_allclose(out.asnumpy(), RECORDED[f"batch_norm.{i}.out"], rtol=1e-4, atol=1e-5)
        net.set_train()
    np.testing.assert_allclose(net.moving_mean.asnumpy(), RECORDED["batch_norm.mean"], rtol=1e-5)
    np.testing.assert_allclose(net.moving_variance.asnumpy(), RECORDED["batch_norm.variance"], rtol=1e-5)


def test_the_gradient_of_batch_statistics_is_that_of_pytorch():
    net = nn.BatchNorm2d(3).set_train()
    for i, batch in enumerate(given.batches()):
        gradient = ms.grad(lambda x: (net(x) ** 3).sum())(ms.Tensor(batch))
        np.testing.assert_allclose(gradient.asnumpy(), RECORDED[f"batch_norm.{i}.grad"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", given.attention())
def test_attention_looks_where_it_does_in_pytorch(name):
    settings, inputs, masks = given.attention()[name]
    batch_first = settings.get("batch_first", False)
    net = nn.MultiheadAttention(8, 2, add_zero_attn=settings["zero"], batch_first=batch_first)
    ms.load_param_into_net(net, {key: ms.Parameter(a) for key, a in settings["weights"].items()})
    out, weights = net(*map(ms.Tensor, inputs), **{key: ms.Tensor(a) for key, a in masks.items()})
    np.testing.assert_allclose(out.asnumpy(), RECORDED[f"attention.{name}.out"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.asnumpy(), RECORDED[f"attention.{name}.weights"], rtol=1e-4, atol=1e-6)


def test_a_step_given_its_weights_as_an_attribute_is_one_native_call():
    net = nn.Dense(2, 1)
    step = ms.jit(nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01)))
    step(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[1.0]]))
    assert step.explain().count("one native call") == 1
