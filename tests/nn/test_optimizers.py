"""Optimizers: groups, decay, learning rates, and what they belong to."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.errors import ArgumentError, ShapeError
from mycelia.runtime import stages


def weight(number, name="w"):
    return ms.Parameter(ms.Tensor([number]), name=name)


def gradients(*values):
    return tuple(ms.Tensor([v]) for v in values)


def test_each_group_has_its_own_rate_and_decay():
    a, b = weight(1.0, "a"), weight(1.0, "b")
    groups = [{"params": [a], "lr": 0.5}, {"params": [b], "weight_decay": 1.0}, {"order_params": [b, a]}]
    optimizer = nn.SGD(groups, learning_rate=0.1, weight_decay=0.0)
    assert optimizer.parameters == (b, a)
    optimizer(gradients(1.0, 2.0))
    assert (a.item(), b.item()) == pytest.approx((0.0, 0.8))
    assert [rate.item() for rate in optimizer.get_lr()] == pytest.approx([0.1, 0.5])
    assert optimizer.get_weight_decay() == (1.0, 0.0)


def test_a_group_may_centre_its_gradients():
    w = ms.Parameter(ms.Tensor([[1.0, 1.0]]), name="w")
    optimizer = nn.SGD([{"params": [w], "grad_centralization": True}], learning_rate=1.0)
    optimizer((ms.Tensor([[1.0, 3.0]]),))
    np.testing.assert_array_equal(w.asnumpy(), [[2.0, 0.0]])


def test_without_groups_scales_and_shifts_do_not_decay():
    w, gamma = weight(1.0), weight(1.0, "norm.gamma")
    nn.SGD([w, gamma], learning_rate=1.0, weight_decay=0.5)(gradients(0.0, 0.0))
    assert (w.item(), gamma.item()) == (0.5, 1.0)


def test_the_decay_itself_may_be_a_schedule():
    w = weight(1.0)
    optimizer = nn.SGD([w], learning_rate=1.0, weight_decay=nn.PolynomialDecayLR(0.5, 0.0, 2, 1.0))
    optimizer(gradients(0.0))
    assert w.item() == 0.5
    optimizer(gradients(0.0))
    assert w.item() == 0.375


def test_a_list_of_rates_ends_with_its_last():
    w = weight(0.0)
    optimizer = nn.SGD([w], learning_rate=[1.0, 0.5])
    for expected in (-1.0, -1.5, -2.0):
        optimizer(gradients(1.0))
        assert w.item() == expected


def test_a_rate_can_be_assigned_between_steps_also_of_a_compiled_one():
    w = weight(0.0)
    optimizer = nn.SGD([w], learning_rate=1.0)
    step = ms.jit(lambda g: optimizer((g,)))
    step(ms.Tensor([1.0]))
    optimizer.learning_rate.set_data(ms.Tensor(0.25))
    step(ms.Tensor([1.0]))
    assert w.item() == -1.25


@pytest.mark.parametrize("make", [
    lambda p: nn.SGD(p, nn.ExponentialDecayLR(0.1, 0.9, 2), momentum=0.9, dampening=0.1),
    lambda p: nn.Momentum(p, [0.1, 0.2, 0.3], 0.9, use_nesterov=True),
    lambda p: nn.Adam(p, nn.CosineDecayLR(0.0, 0.1, 5), use_nesterov=True, use_amsgrad=True),
    lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.1),
    lambda p: nn.AdamW(p, 0.1),
])  # fmt: skip
def test_a_compiled_update_is_the_eager_one(make):
    start = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    after = []
    for wrapped in (lambda f: f, ms.jit):
        w = ms.Parameter(start, name="w")
        optimizer = make([w])
        step = wrapped(lambda g, optimizer=optimizer: optimizer((g,)))
        for seed in range(4):
            step(ms.Tensor(np.random.default_rng(seed + 1).standard_normal((4, 3)).astype(np.float32)))
        after.append(w.asnumpy())
    np.testing.assert_allclose(after[0], after[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [nn.Adam, nn.AdamW, nn.AdamWeightDecay])
def test_a_compiled_update_is_one_kernel_for_each_parameter_and_one_for_numbers(kind, monkeypatch):
    lower, programs = stages.lower, []

    def noted(*args, **options):
        programs.append(lower(*args, **options))
        return programs[-1]

    monkeypatch.setattr(stages, "lower", noted)
    weights = [ms.Parameter(np.ones((8, 5), np.float32), name=f"w{i}") for i in range(3)]
    optimizer = kind(weights, 0.1)
    ms.jit(lambda *g: optimizer(g))(*(ms.Tensor(np.ones((8, 5), np.float32)) for _ in weights))
    assert [len(program.block.steps) for program in programs] == [1 + len(weights)]


def test_an_optimizer_does_not_rename_or_own_the_weights_of_the_network():
    net = nn.Dense(2, 1)
    optimizer = nn.Adam(net.trainable_params())
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    assert [p.name for p in net.get_parameters()] == ["weight", "bias"]
    assert sorted(p.name for p in optimizer.get_parameters()) == [
        "global_step", "learning_rate", "moment1.bias", "moment1.weight", "moment2.bias", "moment2.weight",
    ]  # fmt: skip
    assert len(step.parameters_dict()) == 8
    assert not optimizer.trainable_params()


def test_a_scaled_loss_is_differentiated_scaled_and_reported_as_it_is():
    net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
    optimizer = nn.SGD(net.trainable_params(), 0.25, loss_scale=1024.0)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, sens=1024.0, return_grad=True)
    loss, found = step(ms.Tensor([[1.0]]), ms.Tensor([[3.0]]))
    assert (loss.item(), found["weight"].item(), net.weight.item()) == (4.0, -4096.0, 2.0)


def test_forward_value_and_grad_gives_what_it_is_asked_for():
    net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
    x, weights = ms.Tensor([[3.0]]), net.trainable_params()
    value, (of_inputs, of_weights) = nn.ForwardValueAndGrad(net, weights, get_all=True, get_by_list=True)(x)
    assert (value.item(), of_inputs[0].item(), of_weights[0].item()) == (3.0, 1.0, 3.0)
    _, (of_weight,) = nn.ForwardValueAndGrad(net, weights, get_by_list=True, sens_param=True)(x, ms.Tensor([[2.0]]))
    assert of_weight.item() == 6.0


def test_a_network_with_its_loss_shows_both_to_an_evaluation():
    loss, out, labels = nn.WithEvalCell(nn.Identity(), nn.MSELoss())(ms.Tensor([1.0]), ms.Tensor([3.0]))
    assert (loss.item(), out.item(), labels.item()) == (4.0, 1.0, 3.0)


@pytest.mark.many(
    ("wrong", "words"),
    [
        (lambda: nn.SGD([], 0.1), "needs parameters"),
        (lambda: nn.SGD([ms.Tensor([1.0])], 0.1), "changes parameters, not Tensor"),
        (lambda: nn.SGD([{"params": [weight(1.0)], "rate": 1}], 0.1), "has no 'rate'"),
        (lambda: nn.SGD([weight(1.0)], "fast"), "is no learning rate"),
        (lambda: nn.SGD([weight(1.0)], -0.1), "a learning rate is a number from 0"),
        (lambda: nn.SGD([weight(1.0)], 0.1, nesterov=True), "needs a momentum"),
        (lambda: nn.SGD([{"params": [weight(1.0)]}, {"params": []}], 0.1), "a group of parameters is empty"),
        (lambda: nn.SGD([weight(1.0)], 0.1, weight_decay=-0.1), "weight_decay is a number from 0"),
        (lambda: nn.Adam([{"params": [weight(1.0)], "weight_decay": "1e-4"}]), "weight_decay is a number from 0"),
        (lambda: nn.Adam([weight(1.0)], beta1=1.0), "beta1 is at least 0 and below 1"),
        (lambda: nn.Adam([weight(1.0)], eps=0.0), "eps is a positive number"),
        (lambda: nn.Adam([weight(1.0)])(gradients(1.0, 2.0)), "has 1 parameters and was given 2"),
        (lambda: nn.Adam([weight(1.0)])((ms.Tensor([1.0, 2.0]),)), r"of shape \(1,\) was given a gradient"),
    ],
    ids=lambda case: case[1],
)
def test_mistakes_are_told_in_words(wrong, words):
    with pytest.raises((ArgumentError, ShapeError), match=words):
        wrong()


def test_a_parameter_is_given_once():
    w = weight(1.0)
    with pytest.raises(ArgumentError, match="twice"):
        nn.SGD([w, w], 0.1)


class Published(nn.Optimizer):
    """Momentum as MindSpore's documentation writes an optimizer of one's own."""

    def __init__(self, params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.hyper_map = ops.HyperMap()
        self.beside = self.parameters.clone(prefix="moments", init="zeros")
        self.momentum, self.opt = momentum, ops.ApplyMomentum()

    def construct(self, gradients):
        gradients = self.flatten_gradients(gradients)
        gradients = self.scale_grad(self.gradients_centralization(self.decay_weight(gradients)))
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        for i in range(self.param_length):
            rate = lr[i] if self.is_group_lr else lr
            self.opt(self.parameters[i], self.beside[i], rate, gradients[i], self.momentum)
        return True


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("grouped", [False, True])
def test_an_optimizer_written_for_mindspore_takes_the_steps_of_ours(run, grouped):
    gradients = [np.random.RandomState(s).normal(size=(2, 3)).astype(np.float32) for s in range(4)]

    def trained(kind):
        w, b = ms.Parameter(np.ones((2, 3), np.float32), name="w"), ms.Parameter(np.ones((2, 3), np.float32), name="b")
        groups = [{"params": [w], "lr": 0.2, "weight_decay": 0.25}, {"params": [b], "grad_centralization": True}]
        optimizer = kind(groups if grouped else [w, b], 0.1, 0.9, weight_decay=0.5, loss_scale=4.0)
        step = run(optimizer)
        for g in gradients:
            step((ms.Tensor(g), ms.Tensor(g * 2)))
        assert optimizer.global_step.item() == 4
        return np.stack([w.asnumpy(), b.asnumpy()])

    np.testing.assert_allclose(trained(Published), trained(nn.Momentum), rtol=1e-6)


def test_the_rate_of_a_parameter_is_a_parameter():
    w, b = ms.Parameter([1.0], name="w"), ms.Parameter([1.0], name="b")
    optimizer = nn.SGD([{"params": [w], "lr": 0.25}, {"params": [b]}], 0.5)
    assert [rate.item() for rate in optimizer.get_lr_parameter([b, w])] == [0.5, 0.25]
    with pytest.raises(ArgumentError, match="does not change other"):
        optimizer.get_lr_parameter(ms.Parameter([1.0], name="other"))


def test_the_state_of_an_optimizer_fits_it():
    for kind in (nn.SGD, nn.Momentum, nn.Adam, nn.AdamWeightDecay, nn.RMSProp, nn.Adagrad, nn.Lamb):
        options = {"momentum": 0.9} if kind is nn.Momentum else {}
        net = nn.SequentialCell(nn.Dense(2, 1))
        one, two = (kind(net.trainable_params(), learning_rate=0.1, **options) for _ in range(2))
        one((ms.Tensor([[1.0, 2.0]]), ms.Tensor([3.0])))
        assert two.load_state_dict(one.state_dict()) == ([], [])
        for name, held in one.state_dict().items():
            np.testing.assert_array_equal(two.state_dict()[name].asnumpy(), held.asnumpy(), err_msg=f"{kind} {name}")
        with pytest.raises(ms.errors.MyceliaError, match="unexpected are moment9"):
            two.load_state_dict({**one.state_dict(), "moment9.0.weight": ms.Tensor(1.0)})


def test_an_optimizer_tells_what_its_groups_have():
    """What published optimizers and callbacks read, as MindSpore's have it."""
    net = nn.Dense(2, 2)
    w, b = net.weight, net.bias
    plain = nn.SGD([w, b], 0.5)
    grouped = nn.SGD([{"params": [w], "lr": 0.25, "weight_decay": 0.125}, {"params": [b]}], 0.5)
    ordered = nn.SGD([{"params": [w]}, {"params": [b]}, {"order_params": [b, w]}], [0.5, 0.25])
    decayed = nn.SGD([w, b], 0.5, weight_decay=nn.ExponentialDecayLR(0.1, 0.5, 1))
    assert [o.is_group_params_ordered for o in (plain, grouped, ordered)] == [False, False, True]
    assert [o.dynamic_lr for o in (plain, grouped, ordered)] == [False, False, True]
    assert [o.exec_weight_decay for o in (plain, grouped, decayed)] == [False, True, True]
    assert [o.dynamic_weight_decay for o in (plain, grouped, decayed)] == [False, False, True]
    assert [rate.item() for rate in grouped.learning_rate] == [0.25, 0.5]
    assert [decay.item() for decay in grouped.weight_decay] == [0.125, 0.0]
    assert plain.learning_rate.item() == 0.5
    assert (plain.weight_decay.item(), decayed.dynamic_decay_flags) == (0.0, (True, True))
    plain.target = "CPU"
    with pytest.raises(ArgumentError):
        plain.target = "GPU"


def test_adam_says_which_wishes_exclude_each_other():
    w = ms.Parameter([1.0, 2.0], name="w")
    for wish in ("use_lazy", "use_offload"):
        v = ms.Parameter([1.0, 2.0], name="v")
        nn.Adam([v], 0.5, **{wish: True})((ms.Tensor([1.0, -2.0]),))
        assert v.tolist() == pytest.approx([0.5, 2.5])
        with pytest.raises(ArgumentError):
            nn.Adam([w], 0.5, use_amsgrad=True, **{wish: True})
    with pytest.raises(ArgumentError):
        nn.Adam([w], use_lazy=True, use_offload=True)


def test_an_optimizer_shows_how_it_changes_weights():
    net = nn.Dense(3, 4)
    both = net.trainable_params()
    assert repr(nn.Adam(both, 0.01)) == (
        "Adam(2 parameters, learning_rate=0.01, beta1=0.9, beta2=0.999, eps=1e-08, loss_scale=1.0)"
    )
    cosine = nn.SGD(both, nn.CosineDecayLR(0.0, 0.1, 100), weight_decay=1e-4)
    assert "learning_rate=CosineDecayLR(min_lr=0.0, max_lr=0.1, decay_steps=100), weight_decay=0.0001" in repr(cosine)
    assert "learning_rate=0.1 ... 0.3 in 3 steps" in repr(nn.Momentum(both, [0.1, 0.2, 0.3], 0.9))
    groups = [{"params": [net.weight], "lr": 0.5}, {"params": [net.bias], "weight_decay": 0.1}]
    assert "learning_rate=[0.001, 0.5], weight_decay=[0.0, 0.1]" in repr(nn.Adam(groups))
