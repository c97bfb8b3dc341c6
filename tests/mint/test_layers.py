"""Layers of mint give what PyTorch's give, with their gradients and what they remember, eager and compiled."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia.errors import MyceliaError
from mycelia.mint import nn

HERE = Path(__file__).parent / "recorded"
sys.path.insert(0, str(HERE))
try:
    layers = importlib.import_module("layers")
finally:
    sys.path.remove(str(HERE))
TOLD = np.load(HERE / "layers.npz")


@pytest.mark.many("name", layers.LAYERS)
def test_layers_are_those_of_pytorch(name):
    kind, args, options, _ = layers.LAYERS[name]
    norm = "Norm" in name
    for training in layers.MODES if norm else (True,):
        key = f"{name}/{training}"
        for way in (lambda f: f, ms.jit) if norm or training else (lambda f: f,):
            layer = getattr(nn, kind)(*args, **options).set_train(training)
            for i, parameter in enumerate(layer.get_parameters()):
                parameter.set_data(ms.Tensor(layers.numbers(*parameter.shape, seed=10 + i)))
            given = [ms.Tensor(x) for x in layers.inputs(name)]
            weight = ms.Tensor(layers.numbers(*TOLD[f"{key}/out"].shape, seed=99))

            def weighed(*given, layer=layer, weight=weight):
                out = layer(*given)
                return (out * weight).sum(), out

            layer(*given)
            (_, out), slope = way(ms.value_and_grad(weighed, 0, has_aux=True))(*given)
            np.testing.assert_allclose(out.asnumpy(), TOLD[f"{key}/out"], rtol=2e-5, atol=2e-6)
            np.testing.assert_allclose(slope.asnumpy(), TOLD[f"{key}/slope"], rtol=1e-4, atol=2e-5)
            for what, held in layer.named_buffers():
                np.testing.assert_allclose(held.asnumpy(), TOLD[f"{key}/{what}"], rtol=2e-5, atol=1e-6)


MISTAKES = {
    "groups do not divide": lambda: nn.Conv2d(3, 4, 3, groups=2),
    "is for a stride of 1": lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"),
    "features was given shape": lambda: nn.BatchNorm2d(3)(ms.Tensor(np.ones((1, 2, 3, 3), np.float32))),
    "inplace of ReLU6": lambda: nn.ReLU6(inplace=True),
    "either a size or a scale_factor": lambda: nn.UpsamplingNearest2d(),
    "in_features of Linear": lambda: nn.Linear(0, 3),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_told(message):
    with pytest.raises(MyceliaError, match=message):
        MISTAKES[message]()
