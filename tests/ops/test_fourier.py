"""Fourier transforms: NumPy's and SciPy's values, eagerly and compiled; laws; gradients as finite differences."""

import numpy as np
import pytest
import scipy.fft

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ops import fourier

RNG = np.random.default_rng(1)
REAL = RNG.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=REAL.shape)
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = [f"{name}{n}" for name in ONE for n in ("2", "n")]
FEW = [1, 2, 12, 17, 64, 210]
MANY = [3, 4, 5, 7, 8, 9, 11, 15, 16, 31, 36, 49, 97, 100, 120, 128, 251, 256, 343, 1000, 1009]
LENGTHS = [*FEW, *(pytest.param(n, marks=pytest.mark.slow) for n in MANY)]


def numbers(name):
    return REAL if name.startswith(("rfft", "ihfft")) else COMPLEX


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
@pytest.mark.parametrize("name", ONE)
def test_transforms_along_an_axis_are_those_of_scipy(name, norm):
    x = numbers(name)
    for n in (None, 3, 8):
        for dim in (-1, 0, 1):
            want = getattr(scipy.fft, name)(x, n, dim, norm)
            got = getattr(ops, name)(Tensor(x), n, dim, norm).asnumpy()
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", SEVERAL)
def test_transforms_along_several_axes_are_those_of_scipy(name):
    x = numbers(name)
    ways = [(None, (-2, -1)), ((3, 4), (0, 2)), ((2, 7), (1, -1))]
    ways += [(None, None), ((3, 6), None), (None, (2, 0, 1))] if name.endswith("n") else []
    for s, dim in ways:
        want = getattr(scipy.fft, name)(x, s, dim, norm="ortho")
        got = getattr(ops, name)(Tensor(x), s, dim, "ortho").asnumpy()
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", LENGTHS)
def test_any_length_compiled(n, dtype):
    x = (RNG.normal(size=(3, n)) + 1j * RNG.normal(size=(3, n))).astype(dtype)
    f = ms.jit(lambda x: (ops.fft(x), ops.ifft(x), ops.fft(x.T, dim=0), ops.rfft(ops.real(x)), ops.irfft(x, n)))
    want = [np.fft.fft(x), np.fft.ifft(x), np.fft.fft(x.T, axis=0), np.fft.rfft(x.real), np.fft.irfft(x, n)]
    near = 2e-5 if dtype == "complex64" else 1e-13
    for got, expected in zip(f(Tensor(x)), want, strict=True):
        scale = near * np.abs(expected).max()
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=0, atol=scale * max(1, np.log2(n)))


def test_laws():
    x, y = COMPLEX[0], COMPLEX[1]
    f = ms.jit(lambda x: ops.fft(x, dim=0))
    a, b = f(Tensor(x)).asnumpy(), f(Tensor(y)).asnumpy()
    np.testing.assert_allclose(f(Tensor(2 * x + 1j * y)).asnumpy(), 2 * a + 1j * b, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose((abs(a) ** 2).sum(0), 4 * (abs(x) ** 2).sum(0), rtol=1e-12)  # Parseval
    turned = a * np.exp(-2j * np.pi * np.arange(4) / 4)[:, None]
    np.testing.assert_allclose(f(Tensor(np.roll(x, 1, 0))).asnumpy(), turned, rtol=1e-12, atol=1e-12)  # shift
    for there, back in (("fft", "ifft"), ("fftn", "ifftn"), ("fft2", "ifft2")):
        again = getattr(ops, back)(getattr(ops, there)(Tensor(COMPLEX))).asnumpy()
        np.testing.assert_allclose(again, COMPLEX, rtol=1e-12, atol=1e-12)
    for there, back in (("rfft", "irfft"), ("ihfft", "hfft")):
        again = getattr(ops, back)(getattr(ops, there)(Tensor(REAL)), 5).asnumpy()
        np.testing.assert_allclose(again, REAL, rtol=1e-12, atol=1e-12)


def slopes(f, x, step=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
            d = np.zeros_like(x)
            d[i] = step * unit
            out[i] += unit * (f(x + d) - f(x - d)) / (2 * step)
    return out


@pytest.mark.parametrize("how", ["eager", "compiled"])
@pytest.mark.parametrize("name", [*ONE, "fft2", "irfftn", "rfft2"])
def test_gradients_are_slopes(name, how):
    x = numbers(name)[0, :3]
    weights = Tensor(RNG.normal(size=64))

    def loss(x):
        y = getattr(ops, name)(x, norm="ortho")
        flat = (ops.abs(y) if y.is_complex() else y).reshape(-1)
        return (flat * flat * flat * weights[: flat.size]).sum()

    gradient = ms.grad(loss)
    got = (gradient if how == "eager" else ms.jit(gradient))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(got, slopes(lambda x: loss(Tensor(x)).item(), x), rtol=1e-6, atol=1e-6)


def test_second_derivatives_vmap_and_forward_mode():
    x = COMPLEX[0]
    per_row = ms.vmap(lambda r: ops.fft(r))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(per_row, np.fft.fft(x), rtol=1e-12)
    _, moved = ms.jvp(ops.fft, (Tensor(x),), (Tensor(COMPLEX[1]),))
    np.testing.assert_allclose(moved.asnumpy(), np.fft.fft(COMPLEX[1]), rtol=1e-12)
    energy = ms.grad(lambda x: ops.square(ops.abs(ops.fft(x))).sum())  # n times the energy of the signal
    np.testing.assert_allclose(energy(Tensor(x)).asnumpy(), 10 * x, rtol=1e-10)
    twice = ms.jit(ms.grad(lambda x: ops.real(energy(x)).sum()))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(twice, np.full(x.shape, 10 + 0j), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [2, 3])
def test_cosine_transforms_are_those_of_scipy(kind, norm):
    for n in (None, 1, 4, 7):
        for axis in (-1, 0):
            for name in ("dct", "idct"):
                want = getattr(scipy.fft, name)(REAL, kind, n, axis, norm)
                got = getattr(fourier, name)(Tensor(REAL), kind, n, axis, norm).asnumpy()
                np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    for name in ("dctn", "idctn"):
        want = getattr(scipy.fft, name)(REAL, kind, axes=(0, 2), norm=norm)
        got = getattr(fourier, name)(Tensor(REAL), kind, axes=(0, 2), norm=norm).asnumpy()
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def test_element_types_and_frequencies():
    for given, wanted in (("float16", "complex64"), ("int32", "complex64"), ("float32", "complex64")):
        assert ops.fft(Tensor(np.ones(4, given))).dtype.name == wanted
        assert ops.irfft(Tensor(np.ones(4, given))).dtype.name == "float32"
    assert ops.rfft(Tensor(np.ones(4))).dtype is ms.complex128
    for n in (1, 4, 5):
        np.testing.assert_allclose(ops.fftfreq(n, 0.5).asnumpy(), np.fft.fftfreq(n, 0.5), rtol=1e-6)
        np.testing.assert_allclose(ops.rfftfreq(n, 0.5).asnumpy(), np.fft.rfftfreq(n, 0.5), rtol=1e-6)
    for dim in (None, 0, (0, 2), -1):
        np.testing.assert_array_equal(ops.fftshift(Tensor(REAL), dim).asnumpy(), np.fft.fftshift(REAL, dim))
        np.testing.assert_array_equal(ops.ifftshift(Tensor(REAL), dim).asnumpy(), np.fft.ifftshift(REAL, dim))


def test_what_is_wrong_is_said():
    x = Tensor(REAL)
    with pytest.raises(ArgumentError, match="norm cannot be"):
        ops.fft(x, norm="half")
    with pytest.raises(ShapeError, match="at least one element"):
        ops.fft(x, 0)
    with pytest.raises(ShapeError, match="no axis 3"):
        ops.fft(x, dim=3)
    with pytest.raises(ShapeError, match="named twice"):
        ops.fftn(x, dim=(0, 0))
    with pytest.raises(DTypeError, match="takes real numbers"):
        ops.rfft(Tensor(COMPLEX))


def test_the_operation_with_sizes_is_one_of_four():
    x, z = Tensor(REAL), Tensor(COMPLEX)
    ways = [
        (ops.FFTWithSize(1, False, False)(z), np.fft.fft(COMPLEX)),
        (ops.FFTWithSize(2, True, False, "ortho")(z), np.fft.ifft2(COMPLEX, norm="ortho")),
        (ops.FFTWithSize(3, False, True)(x), np.fft.rfftn(REAL)),
        (ops.FFTWithSize(1, False, True, onesided=False)(x), np.fft.fft(REAL)),
        (ops.FFTWithSize(1, True, True, signal_sizes=(5,))(ops.rfft(x)), REAL),
        (ops.FFTWithSize(1, True, True, onesided=False)(ops.fft(x)), REAL),
    ]
    for got, want in ways:
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-10, atol=1e-10)
    with pytest.raises(ArgumentError, match="1, 2 or 3 axes"):
        ops.FFTWithSize(4, False, False)(z)
    with pytest.raises(DTypeError, match="takes real numbers"):
        ops.FFTWithSize(1, False, True)(z)
