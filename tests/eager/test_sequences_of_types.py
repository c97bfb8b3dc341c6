"""What eager mode keeps of one call is right for the next, whatever its shape, element type and strides."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

# each with its gradients by hand: of the sum of f(x, y)
PROGRAMS = {
    "add": (lambda x, y: x + y, lambda x, y: (np.ones_like(x), np.ones_like(y))),
    "subtract": (lambda x, y: x - y, lambda x, y: (np.ones_like(x), -np.ones_like(y))),
    "multiply": (lambda x, y: x * y, lambda x, y: (y, x)),
    "divide": (lambda x, y: x / y, lambda x, y: (1 / y, -x / (y * y))),
    "negative": (lambda x, y: -x * -y, lambda x, y: (y, x)),
    "tanh": (lambda x, y: ops.tanh(x) * y, lambda x, y: (y * (1 - np.tanh(x) ** 2), np.tanh(x))),
    "maximum": (lambda x, y: ops.maximum(x, y), lambda x, y: (np.heaviside(x - y, 0.5), np.heaviside(y - x, 0.5))),
    "sum": (lambda x, y: x.sum() * y, lambda x, y: (np.full_like(x, y.sum()), np.full_like(y, x.sum()))),
    "square": (lambda x, y: x * x + y, lambda x, y: (2 * x, np.ones_like(y))),
}
SHAPES = [(), (1,), (3,), (8, 8), (1, 64), (128, 128), (200, 90), (182, 182), (40, 30, 30), (0, 4), (32769,)]
TOLERANCE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-10}


def numbers(rng, shape, dtype):
    """Numbers away from zero, in one of the layouts that an array can have."""
    layout = rng.integers(4)
    made = rng.uniform(0.5, 2.0, (shape[0] * 2, *shape[1:]) if shape and layout == 1 else shape).astype(dtype)
    if shape and layout == 1:
        made = made[::2]
    if layout == 2:
        made = np.asfortranarray(made)
    return made[..., ::-1] if shape and layout == 3 else made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_right_along_any_sequence_of_types(name, seed):
    function, by_hand = PROGRAMS[name]
    rng = np.random.default_rng(seed)
    gradient = ms.grad(lambda x, y: function(x, y).sum(), grad_position=(0, 1))
    for _ in range(12):
        shape, dtype = SHAPES[rng.integers(len(SHAPES))], rng.choice(list(TOLERANCE))
        if name == "sum" and dtype == "float16":
            continue  # it overflows
        x, y = numbers(rng, shape, dtype), numbers(rng, shape, dtype)
        for _ in range(rng.integers(1, 6)):
            for got, want in zip(gradient(Tensor.from_numpy(x), Tensor.from_numpy(y)), by_hand(x, y), strict=True):
                assert got.asnumpy().dtype == dtype
                np.testing.assert_allclose(got.asnumpy(), want, TOLERANCE[dtype], TOLERANCE[dtype])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_right_along_any_sequence_of_types(name, seed):
    function, _ = PROGRAMS[name]
    rng = np.random.default_rng(seed)
    kept = []
    for _ in range(12):
        shape, dtype = SHAPES[rng.integers(len(SHAPES))], rng.choice(["float32", "float64"])
        x, y = numbers(rng, shape, dtype), numbers(rng, shape, dtype)
        for _ in range(rng.integers(1, 6)):
            got = function(Tensor.from_numpy(x), Tensor.from_numpy(y))
            wide = function(Tensor.from_numpy(x.astype("float64")), Tensor.from_numpy(y.astype("float64"))).asnumpy()
            assert got.asnumpy().dtype == dtype
            assert got.shape == wide.shape
            np.testing.assert_allclose(got.asnumpy(), wide, 1e-4, 1e-4)
            kept.append((got, got.asnumpy()))
    for result, then in kept:  # no later call wrote into an earlier result
        np.testing.assert_array_equal(result.asnumpy(), then)


def test_a_gradient_at_a_large_shape_does_not_break_a_small_one():
    gradient = ms.grad(lambda x, y: (x * y).sum(), grad_position=(0, 1))
    for n in (128, 128, 128, 128, 8, 128, 3):
        x, y = (np.full((n, n), k, "f") for k in (2.0, 3.0))
        assert [g.asnumpy().tolist() for g in gradient(Tensor(x), Tensor(y))] == [y.tolist(), x.tolist()]


def test_a_gradient_in_half_precision_does_not_narrow_a_later_one():
    gradient = ms.grad(lambda x, y: (x * y).sum())
    for dtype in ("float16", "float32", "float16", "float64"):
        assert gradient(Tensor(np.ones(4, dtype)), Tensor(np.ones(4, dtype))).asnumpy().dtype == dtype
