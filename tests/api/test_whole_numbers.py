"""Gradients with respect to whole numbers: those of the same formula on real numbers, cut; never a silent zero.

The values of CASES are MindSpore 2.10's for weights and for arguments alike. It gives floating gradients of quotients
(`w / 2`), where ours have the type of the weight.
"""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.errors import DTypeError

X = Tensor([0.5, 2.0, -3.0])
N = Tensor([4, 5, 6], ms.int32)
TABLE = Tensor(np.arange(12.0).reshape(4, 3), ms.float32)


def doubled(n):
    """2 ** (n - 1) times what n is at the end of n - 1 steps down: recursion on each of many numbers."""
    return doubled(n - 1) * 2 if n > 1 else n * 1


CASES = {
    "product": (lambda w: (w * N).sum(), [4, 5, 6]),
    "square": (lambda w: w * w, [2, 4, 6]),
    "power": (lambda w: ops.pow(w, 3), [3, 12, 27]),
    "with floats": (lambda w: (w * X).sum(), [0, 2, -3]),
    "cast": (lambda w: ops.cast(w, ms.float32) * X, [0, 2, -3]),
    "longer": (lambda w: ops.cast(w, ms.int64) * 2, [2, 2, 2]),
    "one element": (lambda w: w[1] * 3.0, [0, 3, 0]),
    "slice": (lambda w: (w[:2] * 2).sum(), [2, 2, 0]),
    "comparison": (lambda w: ops.where(w > 1, X, X * 2).sum(), [0, 0, 0]),
    "positions": (lambda w: ops.gather(TABLE, w, 0).sum(), [0, 0, 0]),
    "positions and values": (lambda w: (ops.gather(w, w - 1, 0) * w).sum(), [2, 4, 6]),
    "floor": (lambda w: (w // 2).sum(), [0, 0, 0]),
    "remainder": (lambda w: (w % 2).sum(), [1, 1, 1]),
    "exponential": (lambda w: ops.exp(w.astype(ms.float32)).sum(), [2, 7, 20]),
    "reshape": (lambda w: (w.reshape(3, 1) * w).sum(), [12, 12, 12]),
    "matrix product": (lambda w: ops.matmul(w.astype(ms.float32), X), [0, 2, -3]),
    "largest": (lambda w: w.max(), [0, 0, 1]),
    "absolute": (lambda w: ops.abs(w - 2).sum(), [-1, 0, 1]),
    "joined": (lambda w: ops.concat([w, N]) * 2, [2, 2, 2]),
    "scattered": (lambda w: (ops.tensor_scatter_add(N, w.reshape(3, 1) - 1, w) * N).sum(), [4, 5, 6]),
    "stopped": (lambda w: ops.stop_gradient(w) * X, [0, 0, 0]),
    "unused": (lambda w: X.sum(), [0, 0, 0]),
    "recursion of each": (lambda w: ms.vmap(doubled)(w).sum(), [1, 2, 4]),
    "returned twice": (lambda w: [w * w] * 2, [4, 8, 12]),
}


def weight(dtype=ms.int32, **settings):
    return Parameter(Tensor([1, 2, 3], dtype), name="steps", **settings)


@pytest.mark.many("name", CASES)
@pytest.mark.parametrize("way", ["weight", "argument", "compiled weight", "compiled argument"])
def test_the_derivative_of_whole_numbers_is_that_of_real_ones(way, name):
    fn, wanted = CASES[name]
    w = weight()
    found = ms.grad(lambda: fn(w), None, w) if "weight" in way else ms.grad(fn)
    found = ms.jit(found) if "compiled" in way else found
    got = found() if "weight" in way else found(w.value())
    assert got.dtype is ms.int32
    assert got.tolist() == wanted


@pytest.mark.parametrize("dtype", [ms.int8, ms.uint8, ms.int16, ms.int64])
def test_the_gradient_has_the_type_of_the_weight(dtype):
    w = weight(dtype)
    got = ms.grad(lambda: (w * w).sum(), None, w)()
    assert (got.dtype, got.tolist()) == (dtype, [2, 4, 6])


def test_truth_values_are_numbers_too():
    w = Parameter(Tensor([True, False, True]), name="mask")
    assert ms.grad(lambda: (w * X).sum(), None, w)().tolist() == [True, True, True]
    assert ms.grad(lambda: ops.where(w, X, X).sum(), None, w)().tolist() == [False] * 3


class Counting(nn.Cell):
    """A layer, and a counter that is looked at but does not decide what comes out."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
        self.steps = Parameter(Tensor(7, ms.int32), name="steps")

    def construct(self, x):
        y = self.dense(x)
        return ops.where(self.steps > 3, y, y * 2.0).sum()


@pytest.mark.parametrize("compiled", [False, True])
def test_counters_that_nothing_depends_on_have_zero_gradients_and_disturb_nobody(compiled):
    net = Counting()
    found = ms.value_and_grad(net, 0, net.trainable_params())
    _, (to_x, weights) = (ms.jit(found) if compiled else found)(Tensor(np.ones((1, 3), np.float32)))
    by_name = {w.name: g for w, g in zip(net.trainable_params(), weights, strict=True)}
    assert (by_name["steps"].dtype, by_name["steps"].item()) == (ms.int32, 0)
    np.testing.assert_allclose(to_x.asnumpy()[0], net.dense.weight.asnumpy().sum(0), rtol=1e-6)


def test_floating_weights_beside_whole_ones_keep_their_gradients():
    w, v = weight(), Parameter(Tensor([1.0, 2.0, 3.0]), name="v")
    to_w, to_v = ms.grad(lambda: (w * v * v).sum(), None, [w, v])()
    assert (to_w.tolist(), to_v.tolist()) == ([1, 4, 9], [2.0, 8.0, 18.0])


def test_a_compiled_function_inside_an_eager_gradient_is_looked_into():
    w = weight()
    inner = ms.jit(lambda x: (w * x * x).sum())
    assert ms.grad(inner, None, w)(X).tolist() == [0, 4, 9]
    assert ms.grad(lambda x: inner(x) * 2, (0,), w)(X)[1].tolist() == [0, 8, 18]


def test_a_gradient_of_whole_numbers_leaves_nothing_behind_for_floating_ones():
    """The way back through a cast was kept without the type that it came from: later ones were zero."""
    w = Parameter(Tensor([[1, 2]], ms.int32), name="steps")
    ms.grad(lambda: ops.cast(w, ms.float32).sum(), None, w)()
    x = Tensor([[1.0, 2.0]], ms.float64)
    got = ms.grad(lambda x: ops.cast(x, ms.float32).sum())(x)
    assert (got.dtype, got.tolist()) == (ms.float64, [[1.0, 1.0]])


def test_gradients_of_gradients():
    w = weight()
    cube = lambda x: (w * w * w * x).sum()  # noqa: E731
    assert ms.grad(lambda x: ms.grad(cube, None, w)(x).astype(ms.float32).sum())(X).tolist() == [0.0, 0.0, 0.0]
    second = ms.grad(lambda: ms.grad(lambda: (w * w * w).sum(), None, w)().sum(), None, w)
    assert second().tolist() == [6, 12, 18]
    assert ms.grad(lambda x: ms.grad(lambda y: (y * y * w).sum())(x).sum(), None, w)(X).tolist() == [1, 4, -6]


def test_the_same_result_twice_and_a_cotangent_of_ones_own():
    w = weight()
    assert ms.grad(lambda: (w * w, w * w), None, w)().tolist() == [4, 8, 12]
    sens = Tensor([1, 10, 100], ms.int32)
    assert ms.grad(lambda x: x * x, sens_param=True)(w.value(), sens).tolist() == [2, 40, 600]
    value, back = ms.vjp(lambda x: x * x, w.value())
    assert (value.tolist(), back(sens)[0].tolist()) == ([1, 4, 9], [2, 40, 600])


@pytest.mark.parametrize("compiled", [False, True])
def test_python_loops_and_branches_are_followed(compiled):
    w = weight()

    def looped(x):
        for _ in range(2):
            x = x * w if x.sum() > -100 else x
        return x

    found = ms.grad(looped, None, w)
    assert (ms.jit(found) if compiled else found)(X).tolist() == [1, 8, -18]


def test_what_cannot_be_followed_is_an_error_that_names_the_weight():
    w = weight()

    def measured():
        return ops.pyfunc(lambda a: a * 2, w, w)

    with pytest.raises(DTypeError, match="the weight steps of whole numbers cannot be differentiated"):
        ms.grad(measured, None, w)()
    counted = weight(requires_grad=False)
    assert (
        ms.grad(lambda x: (x * ops.pyfunc(lambda a: a * 2, counted, counted)).sum(), None, counted)(X).tolist()
        == [0] * 3
    )


def _while(x):
    y = x
    while y.sum() < 100:
        y = y * x
    return y


def _branch(x):
    return x * x if x.sum() > 4 else x * 3


def _turns(x):
    s = x[0]
    for i in range(40):
        s = s * x[1] + i if s < 1000 else s - x[0]
    return s


def _counted(x):
    i, z = ops.zeros((), ms.int32), ops.zeros_like(x)
    while i < x[2]:
        z, i = z + x * x * i, i + 1
    return z


def _sorted(x):
    values, order = ops.sort(x)
    return values * values * order


@pytest.mark.parametrize("fn", [_while, _branch, _turns, _counted, _sorted])
@pytest.mark.parametrize("compiled", ["neither", "function", "gradient", "both"])
def test_branches_and_loops_are_followed(fn, compiled):
    real = ms.grad(fn)(Tensor([2, 3, 5], ms.float64))
    inner = ms.jit(fn) if compiled in ("function", "both") else fn
    outer = ms.grad(inner)
    found = (ms.jit(outer) if compiled in ("gradient", "both") else outer)(Tensor([2, 3, 5], ms.int32))
    assert found.dtype is ms.int32
    assert found.tolist() == real.asnumpy().astype(np.int32).tolist()


def test_a_mask_that_decides_a_size_has_no_gradient():
    """MaskedSelect with gradients of all its arguments, as MindSpore answers."""
    by = ops.GradOperation(get_all=True, sens_param=True)(ms.jit(ops.masked_select))
    x, mask = Tensor([1.0, 2.0, 3.0]), Tensor([True, False, True])
    given, none = by(x, mask, Tensor([5.0, 7.0]))
    assert given.tolist() == [5, 0, 7]
    assert none.tolist() == [False, False, False]


@pytest.mark.parametrize("outside", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_whole_numbers_beside_others_have_gradients_in_any_order(outside):
    w, x = Tensor([1, 2, 3], ms.int32), Tensor([0.5, 2.0, 4.0])
    for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1)):
        given = [(w, x, w * 2)[i] for i in order]

        def fn(*args, order=order):
            a, b, c = (args[order.index(i)] for i in range(3))
            return (a * b * c).sum()

        found = outside(ms.grad(fn, (0, 1, 2)))(*given)
        want = (x * (w * 2), w * (w * 2), w * x)
        for g, i, arg in zip(found, order, given, strict=True):
            assert g.dtype == arg.dtype
            np.testing.assert_array_equal(g.asnumpy(), want[i].asnumpy().astype(g.asnumpy().dtype))
