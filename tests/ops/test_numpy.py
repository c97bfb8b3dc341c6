"""Functions equal their NumPy and SciPy counterparts, in values, shapes and element types where both have them."""

import numpy as np
import pytest
import scipy.special

import mycelia.ops as ops
from mycelia.eager import Tensor

rng = np.random.default_rng(0)
X = rng.normal(size=(3, 4)).astype("f")
Y = rng.normal(size=(3, 4)).astype("f")
P = np.abs(X) + 0.1
U = np.clip(X, -0.9, 0.9)
I = rng.integers(-5, 9, (3, 4))  # noqa: E741
J = rng.integers(1, 5, (3, 4))
V = rng.normal(size=4).astype("f")
T = rng.normal(size=(2, 3, 4)).astype("f")


def same(got, wanted, tolerance=2e-6):
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


UNARY = {
    "abs": (np.abs, X), "neg": (np.negative, X), "sign": (np.sign, X), "sqrt": (np.sqrt, P), "square": (np.square, X),
    "rsqrt": (lambda x: 1 / np.sqrt(x), P), "reciprocal": (np.reciprocal, P), "exp": (np.exp, X),
    "exp2": (np.exp2, X), "expm1": (np.expm1, X), "log": (np.log, P), "log1p": (np.log1p, P), "log2": (np.log2, P),
    "log10": (np.log10, P), "sin": (np.sin, X), "cos": (np.cos, X), "tan": (np.tan, U), "asin": (np.arcsin, U),
    "acos": (np.arccos, U), "atan": (np.arctan, X), "sinh": (np.sinh, X), "cosh": (np.cosh, X), "tanh": (np.tanh, X),
    "asinh": (np.arcsinh, X), "acosh": (np.arccosh, P + 1), "atanh": (np.arctanh, U), "erf": (scipy.special.erf, X),
    "erfc": (scipy.special.erfc, X), "floor": (np.floor, X), "ceil": (np.ceil, X), "round": (np.round, X * 3),
    "trunc": (np.trunc, X * 3), "sigmoid": (scipy.special.expit, X),
    "softmax": (lambda x: scipy.special.softmax(x, -1), X), "rad2deg": (np.rad2deg, X),
    "log_softmax": (lambda x: scipy.special.log_softmax(x, -1), X), "deg2rad": (np.deg2rad, X),
    "isnan": (np.isnan, X / np.where(X > 0, 1, np.nan)), "isinf": (np.isinf, np.where(X > 0, np.inf, X)),
    "isfinite": (np.isfinite, np.where(X > 0, np.inf, X)), "signbit": (np.signbit, X),
    "nan_to_num": (np.nan_to_num, np.where(X > 0, np.nan, X)), "frac": (lambda x: x - np.trunc(x), X * 3),
    "bitwise_not": (np.invert, I), "logical_not": (np.logical_not, I),
    "log_sigmoid": (scipy.special.log_expit, X), "softsign": (lambda x: x / (1 + abs(x)), X),
    "softplus": (lambda x: np.logaddexp(x, 0), X * 10), "silu": (lambda x: x * scipy.special.expit(x), X),
    "relu": (lambda x: np.maximum(x, 0), X), "relu6": (lambda x: np.clip(x, 0, 6), X * 5),
    "gelu": (lambda x: x * scipy.special.ndtr(x), X),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), X), "celu": (lambda x: np.where(x > 0, x, np.expm1(x)), X),
    "leaky_relu": (lambda x: np.where(x > 0, x, 0.2 * x), X),
    "mish": (lambda x: x * np.tanh(np.logaddexp(x, 0)), X), "tanhshrink": (lambda x: x - np.tanh(x), X),
    "hardswish": (lambda x: x * np.clip(x + 3, 0, 6) / 6, X * 3),
    "hardsigmoid": (lambda x: np.clip(x + 3, 0, 6) / 6, X * 3),
    "hardtanh": (lambda x: np.clip(x, -1, 1), X), "hardshrink": (lambda x: np.where(abs(x) > 0.5, x, 0), X),
    "softshrink": (lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0), X),
    "selu": (lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), X),
    "ravel": (np.ravel, X), "fliplr": (np.fliplr, X), "flipud": (np.flipud, X), "t": (np.transpose, X),
    "tril": (np.tril, X), "triu": (np.triu, X), "diag": (np.diag, V), "diagonal": (np.diagonal, X),
    "trace": (np.trace, X), "sum": (np.sum, X), "mean": (np.mean, X), "prod": (np.prod, X), "amax": (np.max, X),
    "amin": (np.min, X), "argmax": (np.argmax, X), "argmin": (np.argmin, X), "var": (np.var, X), "std": (np.std, X),
    "all": (np.all, I), "any": (np.any, I), "count_nonzero": (np.count_nonzero, I), "ptp": (np.ptp, X),
    "nansum": (np.nansum, np.where(X > 0, np.nan, X)), "nanmean": (np.nanmean, np.where(X > 0, np.nan, X)),
    "nonzero": (lambda x: np.stack(np.nonzero(x), -1), I), "norm": (np.linalg.norm, X), "argsort": (np.argsort, X),
    "squeeze": (np.squeeze, X[:, None]), "zeros_like": (np.zeros_like, I), "ones_like": (np.ones_like, X),
    "bincount": (np.bincount, J.ravel()), "sgn": (np.sign, I), "invert": (np.invert, I > 0),
}  # fmt: skip


@pytest.mark.many("name", UNARY, pack=100)
def test_functions_of_one_tensor(name):
    oracle, x = UNARY[name]
    same(getattr(ops, name)(Tensor(x)), oracle(x), 1e-5)
    if hasattr(Tensor, name):
        same(getattr(Tensor(x), name)(), oracle(x), 1e-5)


BINARY = {
    "add": (np.add, X, V), "sub": (np.subtract, X, V), "mul": (np.multiply, X, V), "div": (np.divide, X, P),
    "floor_divide": (np.floor_divide, I, J), "remainder": (np.remainder, I, J), "fmod": (np.fmod, X, P),
    "pow": (np.power, P, V), "atan2": (np.arctan2, X, Y), "maximum": (np.maximum, X, V), "minimum": (np.minimum, X, V),
    "hypot": (np.hypot, X, Y), "logaddexp": (np.logaddexp, X * 50, Y), "xlogy": (scipy.special.xlogy, X, P),
    "logical_and": (np.logical_and, I, J), "logical_or": (np.logical_or, I, J), "logical_xor": (np.logical_xor, I, J),
    "bitwise_and": (np.bitwise_and, I, J), "bitwise_or": (np.bitwise_or, I, J), "bitwise_xor": (np.bitwise_xor, I, J),
    "bitwise_left_shift": (np.left_shift, I, J), "bitwise_right_shift": (np.right_shift, I, J),
    "greater": (np.greater, I, J), "greater_equal": (np.greater_equal, I, J), "less": (np.less, I, J),
    "less_equal": (np.less_equal, I, J), "equal": (np.equal, I, J), "not_equal": (np.not_equal, I, J),
    "isclose": (np.isclose, X, X + 1e-6), "matmul": (np.matmul, T, Y.T), "outer": (np.outer, V, V),
    "inner": (np.inner, X, Y), "mm": (np.matmul, X, Y.T), "mv": (np.matmul, X, V),
    "bmm": (np.matmul, T, T.swapaxes(1, 2)),
    "dot": (np.dot, T, Y.T),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name):
    oracle, x, y = BINARY[name]
    same(getattr(ops, name)(Tensor(x), Tensor(y)), oracle(x, y), 1e-5)


AXES = [None, 0, -1, (0, 2), (1, -1), [0, 1, 2]]


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "var", "std", "all", "any", "logsumexp"])
def test_reductions_along_axes(name, axis, keep):
    x = T > 0 if name in ("all", "any") else T
    along = tuple(axis) if isinstance(axis, list) else axis
    oracle = {"amax": np.max, "amin": np.min, "logsumexp": scipy.special.logsumexp}.get(name) or getattr(np, name)
    wanted = oracle(x, axis=along, keepdims=keep)
    same(
        getattr(ops, name)(Tensor(x), axis, keep)
        if name not in ("var", "std")
        else getattr(ops, name)(Tensor(x), axis, 0, keep),
        wanted,
        1e-5,
    )
    if name not in ("var", "std", "logsumexp"):
        same(getattr(Tensor(x), name)(axis=axis, keepdims=keep), wanted, 1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_functions_along_one_axis(axis):
    x = Tensor(T)
    same(ops.cumsum(x, axis), np.cumsum(T, axis))
    same(ops.cumprod(x, axis), np.cumprod(T, axis))
    same(ops.argmax(x, axis), np.argmax(T, axis))
    same(ops.argmin(x, axis, True), np.argmin(T, axis, keepdims=True))
    same(ops.sort(x, axis)[0], np.sort(T, axis))
    same(ops.sort(x, axis, True)[0], -np.sort(-T, axis))
    same(ops.argsort(x, axis), np.argsort(T, axis))
    same(ops.topk(x, 2, axis)[0], np.take(-np.sort(-T, axis), [0, 1], axis))
    same(ops.topk(x, 2, axis, largest=False)[1], np.take(np.argsort(T, axis), [0, 1], axis))
    values, positions = ops.max(x, axis)
    same(values, T.max(axis))
    same(positions, T.argmax(axis))
    same(ops.softmax(x, axis), scipy.special.softmax(T, axis))
    same(ops.roll(x, 2, axis), np.roll(T, 2, axis))
    same(ops.flip(x, (axis,)), np.flip(T, axis))
    same(ops.stack([x, x], axis), np.stack([T, T], axis))
    same(ops.cat([x, x], axis), np.concatenate([T, T], axis))
    same(ops.repeat_interleave(x, 3, axis), np.repeat(T, 3, axis))
    same(ops.expand_dims(x, axis), np.expand_dims(T, axis))
    same(ops.gather(x, Tensor([1, 0, -1]), axis), np.take(T, [1, 0, -1], axis))
    index = np.argsort(T, axis)
    same(ops.gather_elements(x, axis, Tensor(index)), np.take_along_axis(T, index, axis))
    for part, wanted in zip(ops.tensor_split(x, 2, axis), np.array_split(T, 2, axis), strict=True):
        same(part, wanted)
    median = np.sort(T, axis).take((T.shape[axis] - 1) // 2, axis)
    same(ops.median(x, axis)[0], median)


def test_shapes_of_all_kinds():
    x = Tensor(T)
    same(x.reshape(4, -1), T.reshape(4, -1))
    same(x.view((2, 12)), T.reshape(2, 12))
    same(ops.transpose(x, (2, 0, 1)), T.transpose(2, 0, 1))
    same(x.permute(2, 0, 1), T.transpose(2, 0, 1))
    same(x.swapaxes(0, 2), T.swapaxes(0, 2))
    same(ops.moveaxis(x, 0, -1), np.moveaxis(T, 0, -1))
    same(ops.moveaxis(x, (0, 1), (2, 0)), np.moveaxis(T, (0, 1), (2, 0)))
    same(x.T, T.T)
    same(ops.flatten(x), T.reshape(2, 12))
    same(x.flatten(), T.ravel())
    same(ops.flatten(x, start_dim=0, end_dim=1), T.reshape(6, 4))
    same(ops.broadcast_to(Tensor(V), (2, 3, 4)), np.broadcast_to(V, (2, 3, 4)))
    same(Tensor(V).expand(2, -1), np.broadcast_to(V, (2, 4)))
    same(ops.tile(Tensor(X), (2, 1, 3)), np.tile(X, (2, 1, 3)))
    same(ops.squeeze(Tensor(T[:, :1]), 1), T[:, 0])
    same(ops.hstack([Tensor(X), Tensor(Y)]), np.hstack([X, Y]))
    same(ops.vstack([Tensor(V), Tensor(V)]), np.vstack([V, V]))
    same(ops.narrow(x, 1, 1, 2), T[:, 1:3])
    same(ops.slice(x, (0, 1, 0), (1, 2, -1)), T[:1, 1:3])
    same(ops.strided_slice(x, (0, 0), (2, 3), (1, 2)), T[0:2, 0:3:2])
    assert [p.shape for p in ops.chunk(Tensor(np.zeros((7, 2))), 3)] == [(3, 2), (3, 2), (1, 2)]
    assert [p.shape for p in ops.split(Tensor(np.zeros((7, 2))), [4, 3])] == [(4, 2), (3, 2)]
    for part, wanted in zip(ops.unbind(x, 1), np.moveaxis(T, 1, 0), strict=True):
        same(part, wanted)
    for a, b in zip(ops.meshgrid(Tensor(V), Tensor(V[:2])), np.meshgrid(V, V[:2]), strict=True):
        same(a, b)


@pytest.mark.parametrize(
    ("mode", "numpy"), [("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")]
)
def test_padding_of_all_modes(mode, numpy):
    same(ops.pad(Tensor(T), (1, 2, 2, 0), mode), np.pad(T, ((0, 0), (2, 0), (1, 2)), numpy))


def test_padding_by_a_number_and_by_less_than_nothing():
    same(ops.pad(Tensor(X), (1, -1), value=3.0), np.pad(X, ((0, 0), (1, 0)), constant_values=3.0)[:, :-1])


def test_creation():
    same(ops.arange(3, 11, 3), np.arange(3, 11, 3))
    same(ops.arange(5.0), np.arange(5.0))
    same(ops.arange(5, 0, -2), np.arange(5, 0, -2))
    same(ops.linspace(-1, 2, 7), np.linspace(-1, 2, 7))
    same(ops.logspace(0, 2, 3), np.logspace(0, 2, 3), 1e-5)
    same(ops.eye(2, 3), np.eye(2, 3))
    same(ops.full((2, 2), 3), np.full((2, 2), 3))
    same(ops.tril(ops.ones((3, 3)), -1), np.tril(np.ones((3, 3)), -1))
    same(ops.diagonal(Tensor(T), 1, 0, 2), np.diagonal(T, 1, 0, 2))
    same(ops.diag_embed(Tensor(X), -1), np.stack([np.diag(r, -1) for r in X]))
    assert str(ops.zeros(3).dtype) == "Float32"
    assert str(ops.arange(3).dtype) == "Int64"


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("ij->ji", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("ij,ij->i", [(2, 3), (2, 3)]),
        ("ij,kj->", [(2, 3), (4, 3)]),
        ("...ij,...jk->...ik", [(5, 6, 2, 3), (6, 3, 4)]),
        ("i...->...", [(2, 3, 4)]),
        ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]),
        ("ab,bc,cd,de->ae", [(2, 3), (3, 4), (4, 5), (5, 2)]),
        ("abc,cd,ab->bd", [(2, 3, 4), (4, 5), (2, 3)]),
        ("iij,jk->ik", [(3, 3, 2), (2, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ],
)
def test_einsum_equals_numpys(equation, shapes):
    arrays = [rng.normal(size=s) for s in shapes]
    same(ops.einsum(equation, *map(Tensor, arrays)), np.einsum(equation, *arrays), 1e-10)


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(order):
    same(ops.norm(Tensor(X), order), np.linalg.norm(X, order), 1e-5)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, np.inf, -np.inf])
def test_norms_of_vectors(order):
    same(ops.norm(Tensor(X), order, 1), np.linalg.norm(X, order, 1), 1e-5)


def test_tensor_dot_and_affine_products():
    same(ops.tensor_dot(Tensor(T), Tensor(Y.T), 1), np.tensordot(T, Y.T, 1), 1e-5)
    same(ops.tensor_dot(Tensor(T), Tensor(X), ((1, 2), (0, 1))), np.tensordot(T, X, ((1, 2), (0, 1))), 1e-5)
    same(ops.addmm(Tensor(np.ones((3, 3), "f")), Tensor(X), Tensor(Y.T), beta=2, alpha=3), 2 + 3 * X @ Y.T, 1e-5)
    same(ops.dense(Tensor(T), Tensor(X), Tensor(V[:3])), T @ X.T + V[:3], 1e-5)


def test_choices():
    x = Tensor(X)
    same(ops.where(x > 0, x, 0.0), np.where(X > 0, X, 0))
    same(ops.masked_fill(x, x > 0, 7.0), np.where(X > 0, 7, X))
    same(ops.masked_select(x, x > 0), X[X > 0])
    same(ops.gather_nd(Tensor(T), Tensor([[0, 1], [1, 2]])), T[[0, 1], [1, 2]])
    same(ops.one_hot(Tensor([0, 2]), 3, 1.0, 0.0), np.eye(3)[[0, 2]])
    same(ops.one_hot(Tensor([0, 2]), 3, axis=0), np.eye(3)[:, [0, 2]])
    wanted = X.copy()
    np.add.at(wanted, ([0, 0, 2],), 1.0)
    same(ops.tensor_scatter_add(x, Tensor([[0], [0], [2]]), Tensor(np.ones((3, 4), "f"))), wanted)
    wanted = X.copy()
    wanted[[0, 2]] = 5.0
    same(ops.tensor_scatter_update(x, Tensor([[0], [2]]), Tensor(np.full((2, 4), 5.0, "f"))), wanted)
    wanted = X.copy()
    np.put_along_axis(wanted, np.array([[1], [0], [3]]), 9.0, 1)
    same(ops.scatter(x, 1, Tensor([[1], [0], [3]]), Tensor(np.full((3, 1), 9.0, "f"))), wanted)
    same(ops.unsorted_segment_sum(x, Tensor([1, 0, 1]), 2), np.stack([X[1], X[0] + X[2]]))
    numbers, which = ops.unique(Tensor([5, 3, 5, 1]))
    assert (numbers.tolist(), which.tolist()) == ([5, 3, 1], [0, 1, 0, 2])
    many, places = rng.normal(size=(2, 5, 3)), np.array([[0, 4], [2, 2]])
    same(ops.gather(Tensor(many), Tensor(places), 1, 1), np.stack([many[i][places[i]] for i in range(2)]))
    same(ops.index_add(x, Tensor([1, 1]), Tensor(np.ones((3, 2), "f")), 1), X + np.array([0, 2, 0, 0]))


def test_an_op_as_an_object_is_its_function():
    x = Tensor(T)
    same(ops.ReduceSum(keep_dims=True)(x, 1), T.sum(1, keepdims=True), 1e-5)
    same(ops.ReduceMean()(x, (0, 2)), T.mean((0, 2)), 1e-5)
    same(ops.Concat(axis=1)((x, x)), np.concatenate([T, T], 1))
    same(ops.Transpose()(x, (0, 2, 1)), T.transpose(0, 2, 1))
    same(ops.BatchMatMul(transpose_b=True)(x, x), T @ T.swapaxes(1, 2), 1e-5)
    same(ops.OneHot()(Tensor([1]), 3, Tensor(1.0), Tensor(0.0)), np.eye(3)[[1]])
    same(ops.Cast()(x, "float64"), T.astype("d"))
    same(ops.ArgMaxWithValue(axis=1)(x)[1], T.max(1))
    same(ops.Split(1, 3)(x)[2], T[:, 2:])
    same(ops.Pad(((0, 0), (1, 0), (0, 2)))(x), np.pad(T, ((0, 0), (1, 0), (0, 2))))
    same(
        ops.MaxPool(2, 2, "same")(Tensor(T[None])),
        ops.max_pool2d(Tensor(np.pad(T, ((0, 0), (0, 1), (0, 0)), constant_values=-9)[None]), 2).asnumpy(),
    )
    assert repr(ops.Concat(1)) == "Concat(axis=1)"
    with pytest.raises(ValueError, match="Concat takes axis"):
        ops.Concat(dim=1)
