"""Kernels of eager mode serve many shapes, and who computes follows from the shapes alone."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.eager import dispatch
from mycelia.eager.generic import named
from mycelia.types import TensorType, float32

PROGRAMS = {
    "chain": lambda x, w: (ops.gelu(x) * 2.0 - x).sum(),
    "product": lambda x, w: ops.tanh(x @ w).sum(),
    "softmax": lambda x, w: (ops.softmax(x @ w, -1) * x.sum(1, keepdims=True)).sum(),
    "columns": lambda x, w: ((x - x.mean(0)) ** 2).sum(0).sum(),
    "largest": lambda x, w: (x.max(1) + ops.cumsum(x, 1)[:, 3]).sum(),
    "moved": lambda x, w: (ops.flip(x, (0,)) * ops.cat((x[1:], x[:1]), 0)).sum(),
}


def data(rows, columns):
    rng = np.random.default_rng(rows * 1000 + columns)
    return rng.normal(size=(rows, columns)).astype("f"), rng.normal(size=(columns, 40)).astype("f")


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_kernel_serves_all_sizes_of_a_class(name, monkeypatch):
    built = []
    original = dispatch.native_for_all
    monkeypatch.setattr(dispatch, "native_for_all", lambda fn: built.append(fn) or original(fn))
    gradient = ms.value_and_grad(PROGRAMS[name], (0, 1) if name in ("product", "softmax") else 0)
    for rows in (300, 301, 257, 511, 1000, 300):
        x, w = data(rows, 137)
        got = gradient(Tensor(x), Tensor(w))
        wide = gradient(Tensor(x.astype("d")), Tensor(w.astype("d")))
        assert got[0].item() == pytest.approx(wide[0].item(), rel=2e-4, abs=2e-2)
        pair = zip(got[1], wide[1], strict=True) if isinstance(got[1], tuple) else [(got[1], wide[1])]
        for g, v in pair:
            np.testing.assert_allclose(g.asnumpy(), v.asnumpy(), rtol=2e-3, atol=2e-3)
    before = len(built)
    gradient(*map(Tensor, data(333, 137)))
    assert len(built) == before


def test_bits_do_not_depend_on_what_was_computed_before():
    x, w = data(400, 137)
    program = ms.grad(PROGRAMS["softmax"], (0, 1))
    one = [g.asnumpy() for g in program(Tensor(x), Tensor(w))]
    dispatch._ready.clear()  # as in a new process, which meets other shapes first
    program(*map(Tensor, data(500, 137)))
    program(*map(Tensor, data(260, 137)))
    for a, b in zip(one, program(Tensor(x), Tensor(w)), strict=True):
        np.testing.assert_array_equal(a, b.asnumpy())


def test_sizes_of_one_class_have_one_key():
    keys = {n: named([TensorType(float32, (n, 3))]) for n in (2, 16, 17, 63, 64, 511, 512, 4095)}
    assert keys[2] is keys[16] is None
    classes = [keys[n][0] for n in (17, 63, 64, 511, 512, 4095)]
    assert classes[0] == classes[1] != classes[2] == classes[3] != classes[4] == classes[5]
