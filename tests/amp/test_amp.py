"""Mixed precision: levels and scales are MindSpore's, a step is one native call, an overflow changes nothing."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, amp, nn, ops
from mycelia.errors import ArgumentError, MyceliaError

HERE = Path(__file__).parent / "recorded"


def loaded(name):
    """A module beside the recordings."""
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = loaded("scaling_cases").CASES
TOLD = json.loads((HERE / "scaling.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_scales_and_levels_are_those_of_mindspore(name):
    assert json.loads(json.dumps(PROGRAMS[name](ms))) == TOLD[name]


def test_a_white_list_casts_inside_and_gives_32_bits():
    inside = []

    class Looking(nn.Dense):
        def construct(self, x):
            inside.append((x.dtype, self.weight.dtype))
            return super().construct(x)

    for change in (
        lambda net: amp.auto_mixed_precision(net, "O1", ms.bfloat16),
        lambda net: amp.custom_mixed_precision(net, white_list=[Looking], dtype=ms.bfloat16),
    ):
        net = change(nn.SequentialCell(Looking(2, 2), nn.ReLU(), Looking(2, 1)))
        assert net(Tensor([[1.0, 2.0]])).dtype is ms.float32
        assert net[0](Tensor([[1.0, 2.0]])).dtype is ms.float32
    assert set(inside) == {(ms.bfloat16, ms.bfloat16)}


def network():
    ms.set_seed(1)
    return nn.SequentialCell(nn.Dense(8, 16), nn.LayerNorm((16,)), nn.ReLU(), nn.Dense(16, 3))


def batch(seed=0, factor=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(32, 8)).astype(np.float32)
    return Tensor(x * np.float32(factor)), Tensor((x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 1).astype(np.int32))


def state(*cells):
    return {f"{i}.{p.name}": p.asnumpy().copy() for i, c in enumerate(cells) for p in c.get_parameters()}


@pytest.mark.parametrize("compiled", [False, True])
def test_an_overflow_changes_nothing_but_the_scale(compiled):
    net = network()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    update = nn.DynamicLossScaleUpdateCell(1024.0, 2, 1000)
    cell = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer, update)
    step = ms.jit(cell) if compiled else cell
    _, overflow, scale = step(*batch())
    assert not bool(overflow)
    assert scale.item() == 1024.0
    before = state(net, optimizer)
    loss, overflow, scale = step(*batch(factor=np.inf))
    assert bool(overflow)
    assert not np.isfinite(loss.item())
    assert scale.item() == 1024.0
    assert cell.scale_sense.item() == 512.0
    for name, value in state(net, optimizer).items():
        np.testing.assert_array_equal(value, before[name])
    _, overflow, scale = step(*batch())
    assert not bool(overflow)
    assert scale.item() == 512.0
    assert optimizer.global_step.item() == 2
    if compiled:
        assert step.explain().count("one native call") == 1
        assert "Python" not in step.explain()


@pytest.mark.parametrize("sense", [Tensor(64.0), Tensor([64.0]), nn.FixedLossScaleUpdateCell(64.0)])
def test_a_scaled_step_is_the_plain_step(sense):
    plain, scaled = network(), network()
    one = nn.TrainOneStepCell(nn.WithLossCell(plain, nn.CrossEntropyLoss()), nn.SGD(plain.trainable_params(), 0.1))
    two = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(scaled, nn.CrossEntropyLoss()), nn.SGD(scaled.trainable_params(), 0.1), sense
    )
    for i in range(3):
        loss, _, scale = two(*batch(i))
        np.testing.assert_allclose(loss.asnumpy(), one(*batch(i)).asnumpy(), rtol=1e-6)
        assert scale.asnumpy().reshape(()) == 64.0
    for a, b in zip(plain.get_parameters(), scaled.get_parameters(), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize("level", ["O1", "O2", "O3"])
def test_training_in_16_bits_comes_near_training_in_32(level, dtype):
    last = {}
    for kind in ("O0", level):
        net = network()
        step = ms.jit(
            amp.build_train_network(
                net, nn.Adam(net.trainable_params(), 0.01), nn.CrossEntropyLoss(), kind,
                cast_model_type=dtype, loss_scale_manager=amp.DynamicLossScaleManager(2**10, 2, 50),
            )
        )  # fmt: skip
        for i in range(60):
            loss, overflow, _ = step(*batch(i % 4))
            assert not bool(overflow)
        last[kind] = loss.item()
        assert {p.dtype for p in net.get_parameters()} == {ms.float32}
    assert last[level] == pytest.approx(last["O0"], rel=0.05)


def test_a_step_of_ones_own_is_one_native_call():
    net, scaler = amp.auto_mixed_precision(network(), "O2", ms.bfloat16), amp.DynamicLossScaler(2**10, 2, 2)
    optimizer, loss_fn = nn.SGD(net.trainable_params(), 0.1), nn.CrossEntropyLoss()

    def forward(x, y):
        return scaler.scale(loss_fn(net(x), y))

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, gradients = grad_fn(x, y)
        gradients = scaler.unscale(gradients)
        fine = amp.all_finite(gradients)
        if fine:
            optimizer(gradients)
        scaler.adjust(fine)
        return scaler.unscale(loss), fine

    first, fine = step(*batch())
    assert bool(fine)
    assert not bool(step(*batch(factor=np.nan))[1])
    assert optimizer.global_step.item() == 1
    for _ in range(20):
        loss, fine = step(*batch())
    assert loss.item() < first.item()
    assert step.explain().count("one native call") == 1


def test_products_in_16_bits_are_added_up_in_32():
    ones = Tensor(np.ones((1, 4097), np.float32))
    net = amp.auto_mixed_precision(nn.Dense(4097, 1, weight_init="ones", bias_init="zeros"), "O3")
    assert net(ones).item() == 4096.0  # 4097 rounded to float16 once; added up in float16 it would stop at 2048


def test_a_small_gradient_survives_by_its_scale():
    def gradient(scale):
        w = ms.Parameter(Tensor([1.0]), name="w")
        low = lambda x: ops.cast(ops.cast(x, ms.float16) * ops.cast(w, ms.float16), ms.float32)  # noqa: E731
        return ms.grad(lambda x: low(x).sum() * scale, None, [w])(Tensor([1e-8]))[0].item()

    assert gradient(1.0) == 0.0
    assert gradient(2.0**14) == 0.0  # the input itself is too small for float16

    def of_loss(scale):
        w = ms.Parameter(Tensor([1.0]), name="w")
        fn = lambda x: ops.cast(ops.cast(w, ms.float16) * ops.cast(x, ms.float16), ms.float32).sum() * (1e-9 * scale)  # noqa: E731
        return ms.grad(fn, None, [w])(Tensor([1.0]))[0].item() / scale

    assert of_loss(1.0) == 0.0
    assert of_loss(2.0**14) == pytest.approx(1e-9, rel=1e-2)


MISTAKES = {
    "there is no level 'O4'": lambda: amp.auto_mixed_precision(network(), "O4"),
    "auto is for operators": lambda: amp.auto_mixed_precision(network(), "auto"),
    "mixed precision is for a Cell": lambda: amp.auto_mixed_precision(abs, "O1"),
    "float16 or bfloat16, not in": lambda: amp.auto_mixed_precision(network(), "O1", ms.float64),
    "in mixed precision already": lambda: amp.auto_mixed_precision(amp.auto_mixed_precision(network(), "O1"), "O2"),
    "a white list or a black list": lambda: amp.custom_mixed_precision(network()),
    "is no kind of cell": lambda: amp.custom_mixed_precision(network(), white_list=[ops.matmul]),
    "scale_factor is a whole number from 2": lambda: amp.DynamicLossScaler(2, 1, 3),
    "scale_window is a whole number from 1": lambda: amp.DynamicLossScaleManager(2, 2, 0),
    "scale_value is a number of at least 1": lambda: amp.StaticLossScaler(0),
    "scale_sense is a Cell or a Tensor": lambda: nn.TrainOneStepWithLossScaleCell(
        network(), nn.SGD(network().trainable_params(), 0.1), 3.0
    ),
    "a scale is one number": lambda: nn.TrainOneStepWithLossScaleCell(
        network(), nn.SGD(network().trainable_params(), 0.1), Tensor([1.0, 2.0])
    ),
    "there is no boost 'O1'": lambda: amp.build_train_network(network(), None, boost_level="O1"),
    "build_train_network has no loss_scale": lambda: amp.build_train_network(network(), None, loss_scale=3),
    "needs an optimizer": lambda: amp.build_train_network(network(), None),
    "give the optimizer loss_scale=8.0": lambda: amp.build_train_network(
        n := network(), nn.SGD(n.trainable_params(), 0.1), loss_scale_manager=amp.FixedLossScaleManager(8.0, False)
    ),
    "all_finite takes tensors": lambda: amp.all_finite([1.0]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_told(message):
    with pytest.raises(MyceliaError, match=message):
        MISTAKES[message]()


def test_a_fixed_scale_without_looking_for_overflows_is_divided_out_by_the_optimizer():
    nets = network(), network()
    steps = [
        amp.build_train_network(nets[0], nn.SGD(nets[0].trainable_params(), 0.1), nn.CrossEntropyLoss()),
        amp.build_train_network(
            nets[1], nn.SGD(nets[1].trainable_params(), 0.1, loss_scale=8.0), nn.CrossEntropyLoss(),
            loss_scale_manager=amp.FixedLossScaleManager(8.0, False),
        ),
    ]  # fmt: skip
    for step in steps:
        step(*batch())
    for a, b in zip(*(n.get_parameters() for n in nets), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-7)


def test_the_optimizer_must_not_divide_twice():
    net = network()
    with pytest.raises(ArgumentError, match="leave out loss_scale of the optimizer"):
        amp.build_train_network(
            net, nn.SGD(net.trainable_params(), 0.1, loss_scale=8.0), loss_scale_manager=amp.FixedLossScaleManager(8.0)
        )


@pytest.mark.parametrize("level", ["O2", "O3"])
@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_remembered_of_batches_stays_in_32_bits(level, compiled):
    net = amp.auto_mixed_precision(nn.SequentialCell(nn.Dense(8, 4), nn.BatchNorm1d(4)), level).set_train()
    call = ms.jit(net) if compiled else net
    for i in range(3):
        assert call(batch(i)[0]).dtype is ms.float32
    mean = net[1].moving_mean
    assert mean.dtype is ms.float32
    assert np.abs(mean.asnumpy()).min() > 0
    if compiled:
        assert call.explain().count("one native call") == 1


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: nn.Dense(4, 3), (4096, 4)),
        (lambda: nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True), (8, 1, 34, 34)),
        (lambda: nn.Conv1d(2, 2, 3, pad_mode="valid", has_bias=True), (64, 2, 66)),
    ],
    ids=["dense", "conv2d", "conv1d"],
)
def test_sums_of_16_bits_are_made_of_32(layer, shape, dtype, way):
    """Of thousands of numbers, a sum in 16 bits would stop where one more is less than half a step."""
    x = np.random.default_rng(0).integers(1, 4, shape).astype(np.float32) / 4  # which 16 bits can hold
    plain, low = layer(), amp.auto_mixed_precision(layer(), "O1", dtype)
    found = []
    for net in (plain, low):
        gradients = ms.grad(lambda a, net=net: net(a).sum(), None, net.trainable_params())
        found.append([g.asnumpy() for g in way(gradients)(ms.Tensor(x))])
    for exact, rounded in zip(*found, strict=True):
        assert exact.max() > 2000
        np.testing.assert_allclose(rounded, exact, rtol=2**-8 if dtype is ms.bfloat16 else 2**-11)


SIXTEEN = {  # the cells in MindSpore's white list; it names operators too, and here these follow their cell
    "Conv1d": (lambda: nn.Conv1d(2, 3, 3), [(1, 2, 5)]),
    "Conv1dTranspose": (lambda: nn.Conv1dTranspose(2, 3, 3), [(1, 2, 5)]),
    "Conv2d": (lambda: nn.Conv2d(2, 3, 3), [(1, 2, 5, 5)]),
    "Conv2dTranspose": (lambda: nn.Conv2dTranspose(2, 3, 3), [(1, 2, 5, 5)]),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 3), [(1, 2, 4, 4, 4)]),
    "Conv3dTranspose": (lambda: nn.Conv3dTranspose(2, 3, 3), [(1, 2, 4, 4, 4)]),
    "Dense": (lambda: nn.Dense(4, 3), [(2, 4)]),
    "LSTMCell": (lambda: nn.LSTMCell(4, 3), [(2, 4), [(2, 3), (2, 3)]]),
    "GRUCell": (lambda: nn.GRUCell(4, 3), [(2, 4), (2, 3)]),
    "RNNCell": (lambda: nn.RNNCell(4, 3), [(2, 4), (2, 3)]),
}


@pytest.mark.parametrize("name", SIXTEEN)
def test_what_is_on_the_white_list_computes_in_16_bits_and_gives_32(name):
    assert {kind.__name__ for kind in amp.get_white_list()} == set(SIXTEEN)
    make, shapes = SIXTEEN[name]
    rng = np.random.default_rng(0)

    def inputs(shape):
        if isinstance(shape, list):
            return tuple(map(inputs, shape))
        return ms.Tensor(rng.normal(size=shape).astype(np.float32))

    given = [inputs(shape) for shape in shapes]
    plain = make()
    low = amp.auto_mixed_precision(make(), "O1")
    ms.load_param_into_net(low, plain.parameters_dict())
    exact, got = plain(*given), low(*given)
    first, other = (out[0] if isinstance(out, tuple) else out for out in (exact, got))
    assert other.dtype is ms.float32
    assert (first.asnumpy() != other.asnumpy()).any()
    np.testing.assert_allclose(other.asnumpy(), first.asnumpy(), rtol=2e-2, atol=2e-2)
