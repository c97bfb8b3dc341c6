"""Every primitive in eager mode: equal to its reference, and both ways back along the tape equal the transform."""

import re
from functools import wraps

import numpy as np
import pytest

from mycelia import transforms
from mycelia.api import grad, jvp, vjp
from mycelia.eager import Tensor, dispatch, quiet
from mycelia.errors import GradientError
from mycelia.ir import Function, interpret, registry
from mycelia.testing.samples import names_of
from mycelia.types import TensorType, type_of
from tests.each import each

import mycelia.ops as ops  # isort: skip


def cases():
    for name, op in sorted(registry.items()):
        samples = [s for s in op.samples() if s.inputs and all(isinstance(x, np.ndarray) for x in s.inputs)]
        if samples:
            yield pytest.param(samples, id=name)


def every_sample(check):
    """A law of one sample as a test for each op, of all its samples."""

    @pytest.mark.many("samples", list(cases()), pack=12)
    @wraps(check)
    def test(samples):
        each(check, zip(names_of(samples), [(s,) for s in samples], strict=True))

    del test.__wrapped__  # whose signature pytest would take
    return test


def as_list(results):
    return list(results) if isinstance(results, tuple) else [results]


def wide(x):
    return np.asarray(x).astype("D" if np.iscomplexobj(x) else "d")


def drawn(rng, x):
    """Numbers of the type of `x`, in any direction."""
    real = rng.normal(size=x.shape)
    return (real + 1j * rng.normal(size=x.shape) if np.iscomplexobj(x) else real).astype(x.dtype)


@every_sample
def test_eager_equals_the_reference(sample):
    fn = Function.build(sample.op, *map(type_of, sample.inputs))
    with np.errstate(all="ignore"):
        wanted = interpret(fn, *sample.inputs)
    for got, want in zip(as_list(sample.op(*map(Tensor, sample.inputs))), wanted, strict=True):
        assert type_of(got.asnumpy()) == type_of(want)
        np.testing.assert_array_equal(got.asnumpy(), want)


@every_sample
def test_gradients_along_the_tape_equal_the_transform(sample):
    fn = Function.build(sample.op, *map(type_of, sample.inputs))
    smooth = [t.differentiable for t in fn.types]
    live = [isinstance(t, TensorType) and t.differentiable for t in fn.result_types]
    if not any(smooth) or not any(live):
        return  # nothing to differentiate
    rng = np.random.default_rng(0)
    like = [np.empty(t.shape, t.dtype.numpy) for t, m in zip(fn.result_types, live, strict=True) if m]
    cts = [drawn(rng, x) for x in like]
    inputs = [Tensor(x) for x in sample.inputs]
    positions = [i for i, m in enumerate(smooth) if m]

    def run(*floats):
        given = list(inputs)
        for i, x in zip(positions, floats, strict=True):
            given[i] = x
        return tuple(y for y, m in zip(as_list(sample.op(*given)), live, strict=True) if m)

    floats = [inputs[i] for i in positions]
    try:
        back = transforms.vjp(fn)
    except GradientError as reason:  # of the op itself: the tape says so, too
        with pytest.raises(GradientError, match=re.escape(str(reason).split("\n")[0])):
            vjp(run, *floats)[1](*map(Tensor, cts))
        return
    with np.errstate(all="ignore"):
        wanted = interpret(back, *sample.inputs, *cts)[len(fn.results) :]
    first = vjp(run, *floats)[1](*map(Tensor, cts))

    def again(*floats):  # inside another gradient every step is recorded
        found.append(vjp(run, *floats)[1](*map(Tensor, cts)))
        return run(*floats)

    found = []
    grad(again, 0)(*floats)
    for results in (first, found[0]):
        for got, want in zip(results, wanted, strict=True):
            assert type_of(got.asnumpy()) == type_of(want)
            np.testing.assert_allclose(wide(got.asnumpy()), wide(want), rtol=1e-5, atol=1e-5, equal_nan=True)


@every_sample
def test_tangents_along_the_tape_equal_the_transform(sample):
    fn = Function.build(sample.op, *map(type_of, sample.inputs))
    smooth = [t.differentiable for t in fn.types]
    live = [isinstance(t, TensorType) and t.differentiable for t in fn.result_types]
    if not any(smooth) or not any(live):
        return  # nothing to differentiate
    rng = np.random.default_rng(0)
    inputs = [Tensor(x) for x in sample.inputs]
    tangents = [drawn(rng, x) for x, m in zip(sample.inputs, smooth, strict=True) if m]

    def run(*floats):  # what cannot be differentiated is no argument
        rest = iter(floats)
        given = [next(rest) if m else x for x, m in zip(inputs, smooth, strict=True)]
        return tuple(y for y, m in zip(as_list(sample.op(*given)), live, strict=True) if m)

    def move():
        floats = tuple(x for x, m in zip(inputs, smooth, strict=True) if m)
        return jvp(run, floats, tuple(map(Tensor, tangents)))[1]

    try:
        forward = transforms.jvp(fn)
    except GradientError as refused:
        with pytest.raises(GradientError, match=re.escape(str(refused).splitlines()[0])):
            move()
        return
    with np.errstate(all="ignore"):
        wanted = interpret(forward, *sample.inputs, *tangents)[len(fn.results) :]
    for got, want in zip(move(), wanted, strict=True):
        assert type_of(got.asnumpy()) == type_of(want)
        np.testing.assert_allclose(wide(got.asnumpy()), wide(want), rtol=1e-5, atol=1e-5, equal_nan=True)


def test_large_operands_go_to_the_native_hook(monkeypatch):
    asked = []

    def native(fn):
        asked.append(fn)
        return lambda *arrays: interpret(fn, *arrays)

    monkeypatch.setattr(dispatch, "native", native)
    monkeypatch.setattr(dispatch, "native_for_all", None)
    x = Tensor(np.ones(dispatch.LARGE + 1, "f"))
    small = Tensor(np.ones(3, "f"))
    assert (x + x).asnumpy().sum() == 2 * (dispatch.LARGE + 1)
    (small + small).asnumpy()
    ops.tanh(small)
    assert [str(fn.results[0].op) for fn in asked] == ["add"]
    assert grad(lambda x: (x * x).sum())(x).asnumpy()[0] == 2.0
    assert len(asked) == 5  # multiply, sum, and their ways back


def test_many_signatures_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(dispatch, "MEMORY", 8)
    for n in range(1, 30):
        x = Tensor(np.ones(n))
        assert grad(lambda x: ops.tanh(x) * x)(x).shape == (n,)
    assert len(dispatch.ready(ops.math.p.tanh).kinds) <= 8


def test_warnings_of_numpy_stay_those_of_the_user():
    assert quiet.quietly(lambda: quiet.quietly(np.divide, np.ones(1), np.zeros(1)))[0] == np.inf
    with pytest.raises(RuntimeWarning):
        np.ones(1) / np.zeros(1)
