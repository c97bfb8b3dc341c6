"""Functions of mint give what PyTorch's give, with gradients, eager and compiled."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import mint
from mycelia.errors import MyceliaError

HERE = Path(__file__).parent / "recorded"
sys.path.insert(0, str(HERE))
try:
    functions = importlib.import_module("functions")
finally:
    sys.path.remove(str(HERE))
TOLD = np.load(HERE / "functions.npz")


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.many("name", functions.CASES, pack=100)
def test_functions_are_those_of_pytorch(name, way):
    path, args, options = functions.CASES[name]
    given = [ms.Tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    weight = ms.Tensor(functions.numbers(*TOLD[f"{name}/out0"].shape, seed=99))

    def weighed(x):
        out = getattr(mint, path)(x * 1, *given[1:], **options)
        parts = out if isinstance(out, tuple) else (out,)
        return (parts[0] * weight).sum(), parts

    (_, parts), slope = way(ms.value_and_grad(weighed, 0, has_aux=True))(given[0])
    for i, part in enumerate(parts):
        np.testing.assert_allclose(part.asnumpy(), TOLD[f"{name}/out{i}"], rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(slope.asnumpy(), TOLD[f"{name}/slope"], rtol=1e-4, atol=2e-5)
    if "training" in name:
        np.testing.assert_allclose(given[1].asnumpy(), TOLD[f"{name}/mean"], rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(given[2].asnumpy(), TOLD[f"{name}/var"], rtol=2e-5, atol=1e-6)


def test_statistics_of_parts_are_those_of_the_whole():
    x = functions.numbers(6, 3, 4)
    parts = [mint.batch_norm_stats(ms.Tensor(part), 1e-5) for part in (x[:2], x[2:])]
    mean, invstd = (mint.stack([p[i] for p in parts]) for i in (0, 1))
    running = ms.Tensor(np.zeros(3, np.float32)), ms.Tensor(np.ones(3, np.float32))
    counts = ms.Tensor(np.array([8.0, 16.0], np.float32))
    found = mint.batch_norm_gather_stats_with_counts(None, mean, invstd, *running, 0.1, 1e-5, counts)
    axes = (0, 2)
    np.testing.assert_allclose(found[0].asnumpy(), x.mean(axes), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1].asnumpy(), 1 / np.sqrt(x.var(axes) + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(running[0].asnumpy(), 0.1 * x.mean(axes), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(running[1].asnumpy(), 0.9 + 0.1 * x.var(axes, ddof=1), rtol=1e-5)
    done = mint.batch_norm_elemt(ms.Tensor(x), None, None, *found)
    np.testing.assert_allclose(done.asnumpy().mean(axes), 0, atol=1e-6)


@pytest.mark.parametrize("k", [0, 4])
def test_kthvalue_counts_from_one(k):
    with pytest.raises(MyceliaError):
        mint.kthvalue(ms.Tensor([1.0, 2.0, 3.0]), k)


def test_names_of_the_parts_are_those_of_the_whole():
    for part in (mint.nn, mint.optim, mint.linalg):
        for name in part.__all__:
            assert name == "functional" or hasattr(mint, name), name
