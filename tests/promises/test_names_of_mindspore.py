"""The README: the names and meanings are those of MindSpore 2.x: its users change one import."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as mindspore  # the one line that changes
from mycelia import Parameter, Tensor, dataset, nn, ops, train

USUAL = {
    mindspore: "Tensor Parameter jit grad value_and_grad vmap set_seed float32 int32 set_context GRAPH_MODE",
    nn: "Cell Dense Conv2d ReLU Flatten SequentialCell CrossEntropyLoss SGD Momentum Adam BatchNorm2d Dropout",
    ops: "matmul relu softmax concat stack gather topk where reduce_sum ReduceSum MatMul assign clip_by_value",
    dataset: "GeneratorDataset MnistDataset",
    mindspore.train: "save_checkpoint load_checkpoint",
}


@pytest.mark.parametrize("where", USUAL, ids=lambda m: m.__name__)
def test_the_usual_names_are_there(where):
    missing = [name for name in USUAL[where].split() if not hasattr(where, name)]
    assert not missing


def test_a_program_for_mindspore_runs():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor(np.ones((2, 1)), mindspore.float32), name="weight")

        def construct(self, x):
            return ops.matmul(x, self.weight)

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    try:
        net = Net()
        x = Tensor(np.array([[1.0, 2.0]]), mindspore.float32)
        assert net(x).asnumpy().tolist() == [[3.0]]
        grad = mindspore.grad(lambda v: net(v).sum())(x)
        assert grad.asnumpy().tolist() == [[1.0, 1.0]]
    finally:
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    assert train is mindspore.train


def test_a_name_that_is_missing_says_what_is_near():
    with pytest.raises(AttributeError, match="relu"):
        ops.reluu  # noqa: B018
