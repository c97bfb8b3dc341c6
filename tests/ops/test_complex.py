"""Complex numbers: NumPy's values, eagerly and compiled; gradients as finite differences and PyTorch have them."""

import copy
import pickle

import numpy as np
import pytest
from numpy.exceptions import ComplexWarning

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor, nn, ops
from mycelia.errors import DTypeError, MyceliaError

RNG = np.random.default_rng(0)
A, B = (RNG.normal(size=(2, 3, 4)) + 1j * RNG.normal(size=(2, 3, 4))).astype(np.complex64)
FLAGS = RNG.normal(size=(3, 4)) > 0
CORNERS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-20, 30.0, np.inf, -np.inf, np.nan]
GRID = np.array([complex(a, b) for a in CORNERS for b in CORNERS])

SAME = {  # the same words mean the same here and at NumPy
    "add": lambda x, y: x + y,
    "subtract a literal": lambda x, y: 1j - x,
    "multiply by a literal": lambda x, y: x * (2 - 1j) * 0.5,
    "divide": lambda x, y: x / y,
    "divide a number": lambda x, y: 2 / x,
    "whole power": lambda x, y: x**3,
    "power": lambda x, y: x**y,
    "of a number": lambda x, y: 2**x,
    "complex exponent": lambda x, y: x**1j,
    "equal": lambda x, y: x == x * (y == y),
    "sum": lambda x, y: x.sum(1),
    "mean": lambda x, y: x.mean(0),
    "prod": lambda x, y: x.prod(),
    "std": lambda x, y: x.std(),
    "product": lambda x, y: x @ y.T,
    "part": lambda x, y: x[1:, ::2] + y[1:, :2],
    "transpose": lambda x, y: x.T.reshape(3, 4) + y,
}
NAMED = [
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "expm1",
    "log1p",
    "abs",
    "sign",
    "square",
    "reciprocal",
    "isfinite",
    "isnan",
    "isinf",
    "angle",
]
ARC = {"a" + n: "arc" + n for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
OURS = {  # ours, and NumPy's
    **{n: (lambda x, y, n=n: getattr(ops, n)(x), lambda x, y, n=n: getattr(np, n)(x)) for n in NAMED},
    **{n: (lambda x, y, n=n: getattr(ops, n)(x), lambda x, y, m=m: getattr(np, m)(x)) for n, m in ARC.items()},
    "cumsum": (lambda x, y: ops.cumsum(x, 1), lambda x, y: np.cumsum(x, 1)),
    "cumprod": (lambda x, y: ops.cumprod(x, 1), lambda x, y: np.cumprod(x, 1)),
    "einsum": (lambda x, y: ops.einsum("ij,kj->ik", x, y), lambda x, y: np.einsum("ij,kj->ik", x, y)),
    "cat": (lambda x, y: ops.cat([x, y], 1), lambda x, y: np.concatenate([x, y], 1)),
    "stack": (lambda x, y: ops.stack([x, y]), lambda x, y: np.stack([x, y])),
    "where": (lambda x, y: ops.where(Tensor(FLAGS), x, y), lambda x, y: np.where(FLAGS, x, y)),
    "flip": (lambda x, y: ops.flip(x, (1,)), lambda x, y: np.flip(x, 1)),
    "roll": (lambda x, y: ops.roll(x, 1, 0), lambda x, y: np.roll(x, 1, 0)),
    "gather": (lambda x, y: x[Tensor([0, 2])], lambda x, y: x[[0, 2]]),
    "isclose": (lambda x, y: ops.isclose(x, x + 1e-9 * y), lambda x, y: np.isclose(x, x + 1e-9 * y)),
    "real": (lambda x, y: x.real() - y.imag(), lambda x, y: x.real - y.imag),
    "conj": (lambda x, y: x.conj(), lambda x, y: x.conj()),
    "H": (lambda x, y: x.H @ y, lambda x, y: x.conj().T @ y),
    "norm": (lambda x, y: ops.norm(x), lambda x, y: np.linalg.norm(x)),
    "isreal": (lambda x, y: ops.isreal(x), lambda x, y: np.isreal(x)),
    "full": (lambda x, y: ops.full((4,), 1 + 2j, dtype=ms.complex64) * x, lambda x, y: np.complex64(1 + 2j) * x),
    "ones": (lambda x, y: x + ops.ones(4, ms.complex64) - ops.zeros_like(x), lambda x, y: x + np.complex64(1)),
    "pad": (lambda x, y: ops.pad(x, (1, 1)), lambda x, y: np.pad(x, ((0, 0), (1, 1)))),
    "with floats": (lambda x, y: x + Tensor(np.ones(4)), lambda x, y: x + np.ones(4)),
    "with ints": (lambda x, y: x + Tensor(np.ones(4, np.int64)), lambda x, y: x + np.complex64(1)),
    "pairs": (
        lambda x, y: ops.view_as_complex(ops.view_as_real(x) * 2.0),
        lambda x, y: x * np.complex64(2),
    ),
    "polar": (lambda x, y: ops.polar(ops.abs(x), ops.angle(x)), lambda x, y: x),
    "nan_to_num": (lambda x, y: ops.nan_to_num(x / 0.0), lambda x, y: np.nan_to_num(x / np.complex64(0))),
}
CASES = {name: (f, f) for name, f in SAME.items()} | OURS


@pytest.mark.parametrize("how", ["eager", "compiled"])
@pytest.mark.many("name", CASES, pack=25)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_values_are_those_of_numpy(name, how):
    ours, theirs = CASES[name]
    want = np.asarray(theirs(A, B))
    got = (ours if how == "eager" else ms.jit(ours))(Tensor(A), Tensor(B)).asnumpy()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


EDGES = [*NAMED[:9], "abs", *ARC]


@pytest.mark.parametrize("name", EDGES)
def test_infinities_and_signed_zeros_compiled_are_those_of_numpy(name):
    at = GRID if name in ("exp", "log", "sqrt", "abs", "sinh", "cosh") else GRID[np.isfinite(GRID)]
    with np.errstate(all="ignore"):
        want = getattr(np, ARC.get(name, name))(at)
    got = ms.jit(getattr(ops, name))(Tensor(at)).asnumpy()
    for part in (np.real, np.imag) if want.dtype.kind == "c" else (np.real,):
        a, b = part(got), part(want)
        either = np.isinf(b) | (b == 0)  # C leaves open which sign some of them have
        np.testing.assert_allclose(np.where(either, abs(a), a), np.where(either, abs(b), b), 1e-9, 1e-15)
        sides = (b == 0) & np.isfinite(at) & (name in ("sqrt", "log", "asin", "acos"))
        np.testing.assert_array_equal(np.signbit(a)[sides], np.signbit(b)[sides])


LOSSES = {
    "length": lambda z, w: ops.abs(z * w).sum(),
    "real part": lambda z, w: ops.real(ops.exp(z) / w).sum(),
    "angle": lambda z, w: ops.angle(z @ w.T).sum(),
    "square": lambda z, w: ops.square(ops.imag(ops.sin(z) * ops.conj(w))).mean(),
    "cast": lambda z, w: ops.abs(ops.log(z) * Tensor(np.full(4, 2.0))).sum(),
    "parts": lambda z, w: (ops.view_as_real(z**3) * ops.view_as_real(ops.sign(w))).sum(),
    "branch": lambda z, w: ops.real(z * z if ops.abs(z).sum() > 1 else z).sum(),
}


def loop(z, w):
    """A loop whose state is complex, and that ends by what it computes."""
    while ops.abs(z).max() < 20:
        z = z * z + w
    return ops.real(z).sum()


LOSSES["loop"] = loop


def slopes(f, z, step=1e-6):
    """Finite differences along the real and the imaginary axis."""
    out = np.zeros_like(z)
    for i in np.ndindex(z.shape):
        for unit in (1, 1j):
            d = np.zeros_like(z)
            d[i] = step * unit
            out[i] += unit * (f(z + d) - f(z - d)) / (2 * step)
    return out


@pytest.mark.parametrize("how", ["eager", "compiled"])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_slopes_along_both_axes(name, how):
    z, w = A[:2].astype(np.complex128), B[:2].astype(np.complex128)
    loss = LOSSES[name]
    gradient = ms.grad(loss, (0, 1))
    got = (gradient if how == "eager" else ms.jit(gradient))(Tensor(z), Tensor(w))
    for i, g in enumerate(got):
        at = [z, w]

        def f(x, i=i, at=at):
            return loss(*[Tensor(x if k == i else v) for k, v in enumerate(at)]).item()

        assert g.dtype is ms.complex128
        np.testing.assert_allclose(g.asnumpy(), slopes(f, at[i]), rtol=2e-5, atol=2e-5)


def test_gradients_of_a_real_number_through_complex_ones_are_real():
    x = Tensor([0.3, -1.2])
    g = ms.jit(ms.grad(lambda x: ops.real(ops.exp(x * 1j)).sum()))(x)
    assert g.dtype is ms.float32
    np.testing.assert_allclose(g.asnumpy(), -np.sin(x.asnumpy()), rtol=1e-6)


def test_the_gradient_of_a_holomorphic_function_is_its_conjugated_derivative():
    z = A[0]
    np.testing.assert_allclose(ms.grad(lambda z: (z * z * z).sum())(Tensor(z)).asnumpy(), np.conj(3 * z * z), rtol=1e-5)


def test_second_derivatives_and_forward_mode():
    z, t = A[0].astype(np.complex128), B[0].astype(np.complex128)
    first = ms.grad(lambda z: ops.square(ops.abs(z * z)).sum())  # |z|^4, of which the gradient is 4 |z|^2 z
    np.testing.assert_allclose(first(Tensor(z)).asnumpy(), 4 * abs(z) ** 2 * z, rtol=1e-9)
    second = ms.jit(ms.grad(lambda z: ops.real(first(z) * Tensor(t)).sum()))(Tensor(z)).asnumpy()

    def f(z):
        return float(np.real(4 * abs(z) ** 2 * z * t).sum())

    np.testing.assert_allclose(second, slopes(f, z), rtol=1e-6, atol=1e-6)
    _, moved = ms.jvp(lambda z: z * z, (Tensor(z),), (Tensor(t),))
    np.testing.assert_allclose(moved.asnumpy(), 2 * z * t, rtol=1e-9)


def test_vmap_goes_through_complex_numbers():
    got = ms.vmap(lambda z, w: ops.real(z @ w))(Tensor(A), Tensor(B)).asnumpy()
    np.testing.assert_allclose(got, np.real((A * B).sum(1)), rtol=1e-5)


def test_a_network_with_complex_weights_learns():
    class Turn(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor(np.array([1 + 0j, 1j], np.complex64)), name="w")

        def construct(self, x):
            return ops.abs(x * self.w - 2 + 1j).sum()

    net, x = Turn(), Tensor(np.array([1 + 1j, 2 - 1j], np.complex64))
    optimizer = nn.SGD(net.trainable_params(), 0.02)
    step = ms.value_and_grad(net, None, optimizer.parameters)

    @ms.jit
    def train(x):
        loss, grads = step(x)
        optimizer(grads)
        return loss

    losses = [train(x).item() for _ in range(60)]
    assert losses[-1] < 0.2 * losses[0]


@pytest.mark.parametrize("dtype", [ms.complex64, ms.complex128])
def test_tensors_are_kept_as_they_are(dtype, tmp_path):
    x = Tensor(GRID, dtype)
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert again.dtype is dtype
        np.testing.assert_array_equal(again.asnumpy().view(np.uint8), x.asnumpy().view(np.uint8))
    ms.save_checkpoint([{"name": "x", "data": x}], str(tmp_path / "x.ckpt"))
    loaded = ms.load_checkpoint(str(tmp_path / "x.ckpt"))["x"]
    assert loaded.dtype is dtype
    np.testing.assert_array_equal(loaded.asnumpy(), x.asnumpy())


def test_types_of_results():
    x = Tensor([1.0], ms.float32)
    assert (x * 1j).dtype is ms.complex64
    assert (Tensor([1], ms.int32) * 1j).dtype is ms.complex64
    assert (Tensor([1.0], ms.float64) * 1j).dtype is ms.complex128
    assert (Tensor([1j], ms.complex64) + Tensor([1.0], ms.float64)).dtype is ms.complex128
    assert Tensor(1j).dtype is Tensor([1j, 2]).dtype is ms.complex128
    assert repr(Tensor([1 + 2j])) == "Tensor(shape=[1], dtype=Complex128, value= [1+2j])"
    assert complex(Tensor([1 + 2j])) == 1 + 2j


def test_a_cast_to_real_numbers_says_what_it_leaves_out():
    with pytest.warns(ComplexWarning, match="imaginary part"):
        assert Tensor([1 + 2j]).astype(ms.int32).tolist() == [1]
    assert Tensor([2j, 0]).astype(ms.bool_).tolist() == [True, False]


@pytest.mark.parametrize("how", ["eager", "compiled"])
@pytest.mark.parametrize(
    "refused",
    [
        lambda z: z < z,
        lambda z: z // z,
        lambda z: z % z,
        lambda z: ops.amax(z),
        lambda z: ops.argmax(z),
        lambda z: ops.floor(z),
        lambda z: ops.relu(z),
        lambda z: ops.erf(z),
        lambda z: ops.softmax(z),
        lambda z: ops.clamp(z, 0, 1),
        lambda z: ops.maximum(z, z),
    ],
)
def test_what_has_no_meaning_is_refused(refused, how):
    with pytest.raises((DTypeError, MyceliaError)):
        (refused if how == "eager" else ms.jit(refused))(Tensor(A))


@pytest.mark.parametrize("how", [lambda fn: fn, ms.jit], ids=["eager", "jit"])
def test_a_complex_number_fills_complex_tensors_only(how):
    assert how(lambda: ops.full((2,), 1 + 2j))().tolist() == [1 + 2j] * 2
    assert str(ops.full((2,), 1j).dtype) == "Complex64"
    for wrong in (lambda: ops.full((2,), 1j, dtype=ms.float32), lambda: ops.full_like(ops.ones((2, 3)), 1j)):
        with pytest.raises(TypeError, match="half of it would be lost"):
            how(wrong)()


DECOMPOSED = {
    "solve": lambda a, b: mnp.linalg.solve(a, b),
    "cholesky": lambda a, b: mnp.linalg.cholesky(a),
    "inv": lambda a, b: mnp.linalg.inv(a),
    "det": lambda a, b: mnp.linalg.det(a),
    "slogdet": lambda a, b: mnp.linalg.slogdet(a)[1],
    "qr": lambda a, b: mnp.linalg.qr(a)[1],
    "svd": lambda a, b: mnp.linalg.svd(a)[1],
    "eigh": lambda a, b: mnp.linalg.eigh(a)[0],
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_gradients_of_complex_matrices_are_compiled(name):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=s) + 1j * rng.normal(size=s) for s in ((2, 3, 3), (2, 3, 2)))
    a = a @ a.conj().transpose(0, 2, 1) + 3 * np.eye(3)

    def gradient(a, b):
        return ms.grad(lambda a: ops.abs(DECOMPOSED[name](a, b)).sum())(a)

    compiled = ms.jit(gradient)
    np.testing.assert_allclose(compiled(Tensor(a), Tensor(b)).asnumpy(), gradient(Tensor(a), Tensor(b)).asnumpy(), 1e-9)
    assert "one native call" in compiled.explain()


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-20, 1e15, 1e30, np.inf, -np.inf, np.nan, -0.7, 1e-6, 80.0, 709.0]
FUNCTIONS = (
    "exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan",
    "arcsinh", "arccosh", "arctanh", "sign", "square", "reciprocal", "abs", "angle",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_functions_of_what_is_endless_zero_or_no_number_are_compiled_as_they_are_eagerly(name, dtype):
    x = np.array([complex(a, b) for a in SPECIAL for b in SPECIAL]).astype(dtype)
    function = getattr(mnp, name)
    eager, compiled = (f(Tensor(x)).asnumpy() for f in (function, ms.jit(lambda x: function(x))))
    tolerance = 3e-5 if dtype is np.complex64 else 1e-10
    parts = [[y.real, y.imag] if np.iscomplexobj(y) else [y, y] for y in (compiled, eager)]
    for got, want, beside in zip(*parts, parts[1][::-1], strict=True):
        open_sign = np.isinf(want) & np.isnan(beside)  # C says nothing of it
        np.testing.assert_allclose(*(np.where(open_sign, np.abs(y), y) for y in (got, want)), tolerance, 2e-38)
