"""vmap equals a loop: with any axes, nested, inside and around gradients."""

from collections import Counter

import numpy as np
import pytest

import mycelia.ops as ops
from mycelia.api import grad, jit, jvp, value_and_grad, vmap
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, CaptureError, ShapeError
from mycelia.types import float16, float64, int8

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(5, 3, 4)).astype("f"), rng.normal(size=(4, 2)).astype("f")

FUNCTIONS = [
    lambda x: x * 2.0 + 1.0,
    lambda x: ops.softmax(x, -1),
    lambda x: x @ Tensor(Y),
    lambda x: x.sum(axis=0),
    lambda x: x[1:, ::-1],
    lambda x: x[[0, 2]],
    lambda x: ops.sort(Tensor([3.0, 1.0]))[0] * x.mean(),
    lambda x: ops.concat([x, x], 1).reshape(-1),
    lambda x: ops.where(x > 0, x, 0.0),
    lambda x: ops.one_hot(x.argmax(1), 4, 1.0, 0.0),
    lambda x: ops.layer_norm(x, (4,)),
    lambda x: (x, {"sum": x.sum()}, [x.T]),
    lambda x: ops.zeros((2,)) + x[0, 0],
    lambda x: ops.pad(x, (1, 2)),
    lambda x: ops.cumsum(x, 1),
    lambda x: x.max(axis=1),
    lambda x: ops.gather(x, Tensor([[0, 1], [2, 0]]), 0),
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vmap_equals_a_loop(f, axis):
    many = np.moveaxis(X, 0, axis)
    got = vmap(f, in_axes=axis)(Tensor(many))
    one = [f(Tensor(x)) for x in X]
    compare(got, one)


def compare(got, one):
    if isinstance(got, Tensor):
        np.testing.assert_allclose(got.asnumpy(), np.stack([o.asnumpy() for o in one]), rtol=1e-5, atol=1e-6)
    elif isinstance(got, dict):
        for k in got:
            compare(got[k], [o[k] for o in one])
    else:
        for k, g in enumerate(got):
            compare(g, [o[k] for o in one])


def test_axes_of_arguments_and_results_are_chosen_one_by_one():
    x, y = Tensor(X), Tensor(Y)
    a, b = vmap(lambda x, y: (x @ y, y), in_axes=(0, None), out_axes=(1, None))(x, y)
    np.testing.assert_allclose(a.asnumpy(), np.moveaxis(X @ Y, 0, 1), rtol=1e-5)
    assert b.shape == Y.shape
    nested = vmap(lambda tree: tree["a"] * tree["b"], in_axes=({"a": 0, "b": None},))
    np.testing.assert_allclose(nested({"a": x, "b": Tensor(2.0)}).asnumpy(), X * 2, rtol=1e-6)


def test_vmap_inside_vmap_is_a_loop_in_a_loop():
    f = vmap(vmap(lambda x, y: x * y, in_axes=(0, None)), in_axes=(None, 0))
    got = f(Tensor([1.0, 2.0]), Tensor([10.0, 20.0, 30.0]))
    np.testing.assert_allclose(got.asnumpy(), np.outer([10, 20, 30], [1, 2]))


def test_gradients_flow_through_vmap_to_what_it_reads():
    w = Parameter(Y, name="w")
    scale = Tensor([2.0])

    def loss(x):
        return vmap(lambda row: ops.tanh(row @ w).sum() * scale)(x).sum()

    def loop(x):
        return sum((ops.tanh(row @ w).sum() * scale).sum() for row in x)

    for f, g in zip(_both(loss, w), _both(loop, w), strict=True):
        np.testing.assert_allclose(f.asnumpy(), g.asnumpy(), rtol=1e-5, atol=1e-5)


def _both(f, w):
    value, (gx, (gw,)) = value_and_grad(f, 0, [w])(Tensor(X[0]))
    return value, gx, gw


def test_gradients_and_tangents_inside_vmap_equal_a_loop():
    w = Parameter(Y, name="w")
    f = lambda x: ops.exp(x @ w).sum()  # noqa: E731
    by_weight = vmap(grad(f, None, w))(Tensor(X[0]))
    second = vmap(grad(lambda x: grad(f)(x).square().sum()))(Tensor(X[0]))
    pushed = vmap(lambda x: jvp(f, x, x)[1])(Tensor(X[0]))
    for k, x in enumerate(X[0]):
        x = Tensor(x)
        np.testing.assert_allclose(by_weight[k].asnumpy(), grad(f, None, w)(x).asnumpy(), rtol=1e-5)
        np.testing.assert_allclose(
            second[k].asnumpy(), grad(lambda x: grad(f)(x).square().sum())(x).asnumpy(), rtol=1e-4
        )
        np.testing.assert_allclose(pushed[k].asnumpy(), jvp(f, x, x)[1].asnumpy(), rtol=1e-5, atol=1e-6)
    assert isinstance(w._data, np.ndarray)


def test_the_gradient_by_a_parameter_of_a_vmapped_gradient_by_it():
    w = Parameter([2.0], name="w")
    f = lambda x: (w * w * w * x).sum()  # noqa: E731
    inner = lambda: vmap(grad(f, None, w))(Tensor([1.0, 10.0])).sum()  # noqa: E731  # 3 w^2 (1 + 10)
    assert grad(inner, None, w)().tolist() == [132.0]


def test_python_values_pass_through():
    assert vmap(lambda x: (x, "name", 3))(Tensor([1.0]))[1:] == ("name", 3)


def test_mistakes_say_what_to_do():
    with pytest.raises(ShapeError, match="one number of examples"):
        vmap(lambda x, y: x)(Tensor(X), Tensor(Y))
    with pytest.raises(ShapeError, match="along axis 7"):
        vmap(lambda x: x, in_axes=7)(Tensor(X))
    with pytest.raises(ArgumentError, match="depends on the example"):
        vmap(lambda x: x, out_axes=None)(Tensor(X))
    with pytest.raises(CaptureError, match=r"(?s)a number was asked for.*ops\.where"):
        vmap(lambda x: x * float(x.sum()))(Tensor(X))


class Swallowing:
    """A manager that lets no error out."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def swallowed_by_a_manager(x):
    y = x * 2
    with Swallowing():
        y = x * float(x.sum())
    return y


def swallowed_by_finally(x):
    y = x * 2
    while True:
        try:
            y = x * float(x.sum())
        finally:
            break  # noqa: B012
    return y


@pytest.mark.parametrize("fn", [swallowed_by_a_manager, swallowed_by_finally])
@pytest.mark.parametrize("how", [lambda f: vmap(f), lambda f: jit(vmap(f)), lambda f: jit(lambda x: vmap(f)(x))])
def test_a_function_cannot_swallow_that_it_is_refused(fn, how):
    with pytest.raises(CaptureError):
        how(fn)(Tensor([[1.0], [2.0]]))


def test_a_function_without_a_module_is_mapped():
    space = {"k": 3.0}
    exec("def scaled(x): return x * k", space)
    assert vmap(space["scaled"])(Tensor([1.0, 2.0])).tolist() == [3.0, 6.0]


def test_a_counter_is_returned_as_it_was_made():
    counted = vmap(lambda x: Counter("aab"))(Tensor([1.0, 2.0]))
    assert type(counted) is Counter
    assert counted == {"a": 2, "b": 1}


@pytest.mark.parametrize("run", [vmap, lambda f: jit(vmap(f))])
def test_what_a_branching_function_notes_is_noted_once(run):
    """The function must not run up to its branch, and then once more in another way."""
    noted = []

    def f(x):
        noted.append(1)
        if x.sum() > 0.0:
            return x, {"twice": x * 2.0}
        return -x, {"twice": x}

    first, others = run(f)(Tensor([[1.0, 2.0], [-1.0, -3.0]]))
    assert noted == [1]
    assert first.tolist() == [[1.0, 2.0], [1.0, 3.0]]
    assert others["twice"].tolist() == [[2.0, 4.0], [-1.0, -3.0]]


def test_a_number_that_all_examples_share_leaves_a_tensor_its_type() -> None:
    def scaled(x: Tensor, factor: float) -> Tensor:
        return vmap(lambda row, factor: row * factor, (0, None))(x, factor)

    def counted(x: Tensor, factor: float) -> Tensor:
        for i in range(40):
            x = vmap(lambda row, i: row + i, (0, None))(x, i - 20)
        return x

    for fn in (scaled, counted):
        compiled = jit(fn)
        for dtype, factors in ((int8, (2, 3, 4)), (float16, (2, 3, 0.5, 0.25)), (float64, (0.1, 0.7, 3))):
            x = Tensor([1, 2, 3], dtype)
            for factor in factors:
                want = x.asnumpy() * factor if fn is scaled else x.asnumpy() - 20
                for got in (fn(x, factor), compiled(x, factor)):
                    assert got.dtype == dtype
                    np.testing.assert_array_equal(got.asnumpy(), want.astype(x.asnumpy().dtype))
