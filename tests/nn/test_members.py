"""The members of Cell mean what MindSpore's mean (recorded/record_members.py asked it)."""

import copy
import importlib
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.errors import MyceliaError

HERE = Path(__file__).parent / "recorded"
sys.path.insert(0, str(HERE))
try:
    members = importlib.import_module("members")
finally:
    sys.path.remove(str(HERE))
TOLD = json.loads((HERE / "members.json").read_text())


@pytest.mark.many("name", members.CASES)
def test_members_mean_what_mindspores_mean(name):
    assert json.loads(json.dumps(members.CASES[name](ms))) == TOLD[name]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        self.register_buffer("seen", ms.Tensor([0.0]))

    def construct(self, x):
        self.seen = self.seen + 1.0
        return self.dense(x) * self.seen


X = np.array([[1.0, 2.0]], np.float32)


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_buffers_change_eagerly_and_compiled(way):
    net = Net()
    run = way(net)
    assert run(ms.Tensor(X)).tolist() == [[3.0, 3.0]]
    assert run(ms.Tensor(X)).tolist() == [[6.0, 6.0]]
    assert net.get_buffer("seen").tolist() == [2.0]


def test_copies_have_their_own_buffers_and_hooks():
    net = Net()
    net.register_forward_hook(lambda cell, args, out: out * 0)
    net.pipeline_stage = 1
    twin = copy.deepcopy(net)
    twin.seen = ms.Tensor([5.0])
    assert net.seen.tolist() == [0.0]
    assert [name for name, _ in twin.named_buffers()] == ["seen"]
    assert twin.pipeline_stage == 1
    assert twin(ms.Tensor(X)).tolist() == [[0.0, 0.0]]
    assert list(pickle.loads(pickle.dumps(Net())).state_dict()) == list(Net().state_dict())


@pytest.mark.parametrize(
    ("given", "named", "prefix"),
    [
        ((), {}, ""),
        ((), {"prefix": "a."}, "a."),
        (("b.",), {}, "b."),
        (("b.", True), {}, "b."),
        (("b.",), {"prefix": "a."}, "a."),
    ],
)
def test_a_state_is_asked_for_in_the_old_order_too(given, named, prefix):
    net, held = nn.Dense(2, 1), {"more": 1}
    with pytest.warns(FutureWarning, match="by name"):
        found = net.state_dict(held, *given, **named)
    assert found is held
    assert list(found) == ["more", f"{prefix}weight", f"{prefix}bias"]


@pytest.mark.parametrize("kind", ["pre", "hook"])
def test_hooks_on_the_way_back_work_in_compiled_programs(kind):
    def gradient(way):
        net = nn.Dense(2, 1, weight_init="ones")
        if kind == "pre":
            net.register_backward_pre_hook(lambda cell, come: (come[0] * 2,))
        else:
            net.register_backward_hook(lambda cell, leave, come: (leave[0] * 3 + come[0],))
        return way(ms.grad(lambda x: net(x * x).sum()))(ms.Tensor(X)).tolist()

    assert gradient(ms.jit) == gradient(lambda f: f)
    assert gradient(lambda f: f) == ([[4.0, 8.0]] if kind == "pre" else [[8.0, 16.0]])


def test_compiling_changes_nothing():
    net = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2), nn.Dropout(p=0.5)).set_train()
    before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    random = ms.get_rng_state()
    net.compile(ms.Tensor(np.ones((4, 2), np.float32)))
    assert net.compiled
    for p in net.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), before[p.name])
    np.testing.assert_array_equal(ms.get_rng_state().asnumpy(), random.asnumpy())


def test_types_and_memory_of_a_network():
    net = Net().to(ms.float16)
    assert {p.dtype for p in net.get_parameters()} == {ms.float16}
    assert net.seen.dtype is ms.float16
    assert net.to(ms.Tensor([1.0])).dense.weight.dtype is ms.float32
    assert net.to("CPU", ms.float16).dense.bias.dtype is ms.float16
    assert net.to("cpu").dense.bias.dtype is ms.float16
    assert ms.Tensor([1.0]).to("cpu").device == "CPU:0"
    with pytest.raises(ms.errors.ArgumentError, match="no back end for it"):
        ms.Tensor([1.0]).to_("cuda")
    net.to_empty()
    assert not any(p.asnumpy().any() for p in net.get_parameters())


def test_parameter_hooks_of_a_whole_network_change_what_is_seen_and_not_what_is_held():
    net = nn.SequentialCell(
        nn.Dense(1, 1, weight_init="ones", bias_init="ones"), nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    )
    net.register_parameter_forward_hook(ops.square)
    net[0].weight.set_data(ms.Tensor([[3.0]]))
    assert net(ms.Tensor([[2.0]])).item() == 19.0
    slope = ms.grad(net, None, [net[0].weight])(ms.Tensor([[2.0]]))
    assert slope[0].item() == 12.0
    assert net[0].weight.item() == 3.0


MISTAKES = {
    "cannot name a buffer": lambda: Net().register_buffer("a.b", ms.Tensor(1.0)),
    "which is no buffer": lambda: Net().register_buffer("dense", ms.Tensor(1.0)),
    "buffer a is a Tensor or None": lambda: Net().register_buffer("a", 3),
    "has shape": lambda: Net().load_state_dict({"seen": ms.Tensor([1.0, 2.0])}, strict=False),
    "missing are": lambda: Net().load_state_dict({}),
    "a hook is a function": lambda: Net().register_forward_hook(3),
    "in a floating type": lambda: Net().to(ms.int32),
    "to has no typ": lambda: Net().to(typ=ms.float32),
    "pipeline_stage is": lambda: setattr(Net(), "pipeline_stage", -1),
    "gave 2 gradients for 1 arguments": lambda: gradient_of_two(),
    "dictionary with params and hook": lambda: Net().register_parameter_forward_hook([{"params": []}]),
    "do not belong": lambda: Net().register_parameter_forward_hook([{"params": [nn.Dense(1, 1).bias], "hook": abs}]),
    "jit has no setting": lambda: Net().set_jit_config({"level": 3}),
}  # fmt: skip


def gradient_of_two():
    net = nn.ReLU()
    net.register_backward_hook(lambda cell, leave, come: (leave[0], leave[0]))
    return ms.grad(net)(ms.Tensor([1.0]))


@pytest.mark.many("message", MISTAKES)
def test_mistakes_are_told(message):
    with pytest.raises((MyceliaError, AttributeError), match=message):
        MISTAKES[message]()
