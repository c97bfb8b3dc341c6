"""Operations that are loaded when asked for: their values and gradients are those that MindSpore gave, eagerly and
compiled; where it gave none, those of finite differences. What is drawn has the moments of its distribution.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.errors import MyceliaError
from mycelia.ops.later import COVERS, LATER, found
from tests.each import each
from tests.ops.recorded.later_cases import CASES, SELDOM, numbers

SAID = json.loads((Path(__file__).parent / "recorded" / "later.json").read_text())
PRIMITIVES = sorted(n for n in LATER if LATER[n] in ("primitive_last", "primitive_seldom", "together"))


FAST = ("lp_pool2d", "adaptive_max_pool2d", "fractional_max_pool2d", "multi_margin_loss", "deformable_conv2d", "LSTM")
"""What is also compiled in the quick run."""
CONSTANT = ("MatrixLogarithm", "tensor_range")
"""What does not depend on the tensor of the case."""
MISTAKEN = ("Coalesce", "EmbeddingLookup", "crop_and_resize_bilinear_v2")
"""Whose gradients MindSpore gives to rows that nobody asked for, or as zeros, or in another shape."""


def listed(out):
    return list(out) if isinstance(out, tuple) else [out]


def values_and_gradient(name):
    call = CASES[name][0]

    def total(x):
        out = listed(call(x))
        return ops.sum(out[0]), out

    def both(x):
        (_, out), gradient = ms.value_and_grad(total, has_aux=True)(x)
        return out, gradient

    return both


def check(name, run):
    x = numbers(CASES[name][1])
    said = SAID.get(name, {})  # MindSpore has no kernel for some
    if name in SELDOM and (name in CONSTANT or not listed(CASES[name][0](Tensor(x)))[0].is_floating_point()):
        out, gradient = run(lambda x: listed(CASES[name][0](x)))(Tensor(x)), None
    else:
        out, gradient = run(values_and_gradient(name))(Tensor(x))
    for ours, theirs in zip(out, said.get("value", out), strict=True):
        np.testing.assert_allclose(
            ours.asnumpy(), np.asarray(theirs.asnumpy() if isinstance(theirs, Tensor) else theirs), rtol=2e-4, atol=2e-4
        )
    if gradient is None:
        return
    if "gradient" in said and name not in MISTAKEN:
        np.testing.assert_allclose(gradient.asnumpy(), np.array(said["gradient"]), rtol=2e-3, atol=2e-3)
        return
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    wide = [Tensor((x + s * 1e-4 * direction).astype(np.float64)) for s in (1, -1)]
    ends = [ops.sum(listed(CASES[name][0](w))[0]).item() for w in wide]
    slope = (ends[0] - ends[1]) / 2e-4
    np.testing.assert_allclose((gradient.asnumpy() * direction).sum(), slope, rtol=1e-2, atol=1e-2)


def test_values_and_gradients_are_those_of_mindspore():
    each(check, [(name, (name, lambda f: f)) for name in CASES])


def test_compiled_values_and_gradients_are_those_of_mindspore():
    each(check, [(name, (name, ms.jit)) for name in FAST])


@pytest.mark.slow
def test_all_compiled_values_and_gradients_are_those_of_mindspore():
    each(check, [(name, (name, ms.jit)) for name in CASES])


def test_a_name_is_found_where_it_is_looked_for():
    def same(name):
        assert getattr(ops, name) is found(name) is getattr(ops.functional, name)

    each(same, [(name, (name,)) for name in sorted(LATER)])


def test_names_of_mindspores_own_files_are_those_of_mint():
    def there(name):
        assert getattr(ops.functional, name) is not None

    each(there, [(name, (name,)) for name in sorted(COVERS)])


def test_operations_as_objects_take_what_their_line_says():
    def take(op):
        kind = getattr(ops, op)
        required = [p.name for p in kind.__signature__.parameters.values() if p.default is p.empty]
        assert repr(kind(**dict.fromkeys(required, 1))).startswith(f"{op}(")
        with pytest.raises(MyceliaError, match=f"{op} takes"):
            kind(**dict.fromkeys(required, 1), no_such_attribute=1)

    each(take, [(op, (op,)) for op in PRIMITIVES])


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_what_is_drawn_has_the_moments_of_its_distribution(run):
    for call, mean, variance in (
        (lambda: ops.random_gamma((4000,), Tensor([0.3, 1.0, 7.5], ms.float64), seed=3), [0.3, 1, 7.5], [0.3, 1, 7.5]),
        (lambda: ops.gamma((4000,), Tensor([2.0]), Tensor([4.0]), seed=5), [0.5], [0.125]),
        (lambda: ops.random_poisson((4000,), Tensor([0.0, 0.3, 9.0, 30.0]), seed=4), [0, 0.3, 9, 30], [0, 0.3, 9, 30]),
        (lambda: ops.standard_laplace((4000, 1), seed=6), [0.0], [2.0]),
    ):
        drawn = run(call)().asnumpy().astype(np.float64)
        sigma = np.sqrt(np.array(variance) / len(drawn))
        np.testing.assert_array_less(np.abs(drawn.mean(0) - mean), 5 * sigma + 1e-9)
        np.testing.assert_allclose(drawn.var(0), variance, rtol=0.15, atol=1e-9)


def test_poisson_numbers_follow_their_distribution_function():
    from scipy import stats

    for rate in (2.0, 10.0, 50.0):
        drawn = ops.random_poisson((6000,), Tensor(rate), seed=8, dtype=ms.int64).asnumpy()
        points = np.arange(int(rate * 3) + 4)
        seen = np.array([(drawn <= k).mean() for k in points])
        assert np.abs(seen - stats.poisson.cdf(points, rate)).max() < 0.03


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_noise_that_softens_a_choice(run):
    scores = Tensor(np.array([[0.0, 1.0, 2.0]] * 4000, np.float32))
    hard = run(lambda x: ops.gumbel_softmax(x, 0.7, True))(scores).asnumpy()
    assert set(np.unique(hard.round(6))) == {0.0, 1.0}
    np.testing.assert_allclose(hard.mean(0), np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum(), atol=0.04)
    assert float(ops.abs(run(ms.grad(lambda x: ops.gumbel_softmax(x, 0.7, True)[:, 0].sum()))(scores)).sum()) > 0
    x = Tensor([-1.0, -2.0, 3.0])
    steep = run(lambda x: ops.rrelu(x, 0.25, 0.5))(x).asnumpy()
    assert -0.5 <= steep[0] <= -0.25
    assert -1.0 <= steep[1] <= -0.5
    assert steep[2] == 3.0


def test_classes_are_drawn_as_samples():
    drawn, of_right, of_drawn = ops.log_uniform_candidate_sampler(Tensor([[1, 7], [0, 4]]), 2, 5, True, 5)
    assert sorted(drawn.tolist()) == [0, 1, 2, 3, 4]
    chances = np.log((np.array([[1, 7], [0, 4]]) + 2) / (np.array([[1, 7], [0, 4]]) + 1)) / np.log(6)
    np.testing.assert_allclose(of_right.asnumpy(), 1 - (1 - chances) ** 5, rtol=1e-5)
    assert of_drawn.shape == (5,)
    rest, _, _ = ops.uniform_candidate_sampler(Tensor([[0], [1]]), 1, 2, True, 4, remove_accidental_hits=True)
    assert sorted(rest.tolist()) == [2, 3]
    with pytest.raises(MyceliaError, match="cannot be drawn"):
        ops.uniform_candidate_sampler(Tensor([[0]]), 1, 5, True, 4)


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_loops_as_operations(run):
    step = run(lambda x: ops.WhileLoop()(lambda v: v.sum() < 100, lambda v: v * 2, x))
    assert step(Tensor([1.0, 2.0])).tolist() == [64.0, 128.0]
    assert run(lambda x: ops.ForiLoop()(1, 4, lambda i, v: v * i, x))(Tensor([1.0])).tolist() == [6.0]
    last, all_of = run(lambda x: ops.Scan()(lambda v, e: (v + e, v * e), x, [1.0, 2.0, 3.0]))(Tensor([1.0]))
    assert last.tolist() == [7.0]
    assert [a.tolist() for a in all_of] == [[1.0], [4.0], [12.0]]
    slope = ms.grad(lambda x: ops.WhileLoop()(lambda v: v.sum() < 10, lambda v: v * x, x).sum())(Tensor([3.0]))
    assert slope.tolist() == [3 * 9.0]


def test_sparse_steps_change_the_rows_that_they_name():
    w, a, z = (Parameter(np.full((3, 2), v, np.float32), name=str(v)) for v in (0.5, 0.25, 0.125))
    rows, at = Tensor(np.ones((2, 2), np.float32)), Tensor([1, 7])  # there is no row 7
    dense = [Parameter(p.asnumpy(), name=f"d{i}") for i, p in enumerate((w, a, z))]
    ops.SparseApplyFtrl(0.1, 0.01, 0.01, -0.5)(w, a, z, rows, at)
    ops.ApplyFtrl()(*dense, Tensor(np.ones((3, 2), np.float32)), 0.1, 0.01, 0.01, -0.5)
    for ours, theirs, old in zip((w, a, z), dense, (0.5, 0.25, 0.125), strict=True):
        np.testing.assert_allclose(ours.asnumpy()[1], theirs.asnumpy()[1], rtol=1e-6)
        assert ours.asnumpy()[[0, 2]].tolist() == [[old, old]] * 2
    w, a = Parameter(np.ones((2, 1), np.float32)), Parameter(np.zeros((2, 1), np.float32))
    ops.SparseApplyAdagrad(0.5)(w, a, Tensor([[1.0], [2.0]]), Tensor([0, 0]))  # gradients of one row are added
    assert a.tolist() == [[9.0], [0.0]]
    assert w.tolist() == [[0.5], [1.0]]


def test_operations_of_the_users_own():
    class Scaled(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, factor=2):
            self.init_prim_io_names(["x"], ["y"])

        def __call__(self, x):
            return x * self.factor

    op = Scaled(3)
    assert op.name == "Scaled"
    assert op.attrs["factor"] == 3
    assert op(Tensor([1.0])).tolist() == ms.jit(lambda x: op(x))(Tensor([1.0])).tolist() == [3.0]
    with pytest.raises(MyceliaError, match="has no rule"):
        ops.Primitive("add")(Tensor([1.0]))


def test_layers_mean_their_functions():
    x = Tensor(numbers((1, 2, 5, 7)))
    where = Tensor(np.full((1, 2, 2), 0.3, np.float32))
    ours = nn.FractionalMaxPool2d(2, (2, 3), return_indices=True, _random_samples=where)(x)
    theirs = ops.fractional_max_pool2d(x, 2, (2, 3), return_indices=True, _random_samples=where)
    assert [o.tolist() for o in ours] == [t.tolist() for t in theirs]
    assert nn.AdaptiveMaxPool2d((2, 3), True)(x)[1].tolist() == ops.adaptive_max_pool2d(x, (2, 3), True)[1].tolist()
    with pytest.raises(MyceliaError, match="do not fit"):
        nn.FractionalMaxPool2d(4, (3, 3))(x)
