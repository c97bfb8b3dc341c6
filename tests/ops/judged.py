"""Functions beside others that mean the same: values eager and compiled, slopes by differences."""

import numpy as np

import mycelia as ms
from mycelia import Tensor


def leaves(found):
    several = found if isinstance(found, tuple | list) else [found]
    return [t.asnumpy() if isinstance(t, Tensor) else np.asarray(t) for t in several]


def check_values(case, run, tolerance=1e-9):
    """A case is a function of tensors, an oracle of arrays, and arrays."""
    function, oracle, *inputs = case
    for got, want in zip(leaves(run(function)(*map(Tensor, inputs))), leaves(oracle(*inputs)), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def check_gradient(case, step=1e-6, tolerance=2e-5):
    """Along one random direction: the slope is the gradient times it. Whole numbers among the inputs stay."""
    function, _, *inputs = case

    def leaves_of(found):
        return [t for t in (found if isinstance(found, tuple | list) else [found]) if t.dtype.is_float]

    def number(*xs):
        return sum((o * o * 0.3 + o).sum() for o in leaves_of(function(*xs)))

    rng = np.random.default_rng(1)
    moving = [i for i, x in enumerate(inputs) if x.dtype.kind == "f"]
    along = [rng.normal(size=x.shape) if x.dtype.kind == "f" else 0 for x in inputs]
    gradients = ms.grad(number, list(moving))(*map(Tensor, inputs))
    slope = sum(float((g.asnumpy() * along[i]).sum()) for g, i in zip(gradients, moving, strict=True))
    ends = [number(*[Tensor(x + s * step * d) for x, d in zip(inputs, along, strict=True)]).item() for s in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=tolerance, atol=tolerance)
