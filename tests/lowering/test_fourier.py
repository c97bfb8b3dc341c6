"""Fourier transforms by a function of our own: SciPy's values in more digits, for every way to plan one."""

import ctypes

import numpy as np
import pytest
import scipy.fft

from mycelia import primitives as p
from mycelia.codegen import driver
from mycelia.codegen.fourier import emit_fourier
from mycelia.ir import Function
from mycelia.primitives.pairing import in_pairs
from mycelia.runtime.fourier import _Plan, radices
from mycelia.testing import compile, lower, optimise
from mycelia.types import TensorType, complex64, complex128, float32, float64
from tests.loops.test_units import check_meaning, unit_of

RNG = np.random.default_rng(5)
# (lines, length): one stage with a square and a rest; lanes that are not filled; two stages, even and odd sides, one
# line and several; a prime by convolution, short and long
SHAPES = [(11, 24), (3, 30), (1, 96), (2, 4096), (1, 1 << 16), (3, 3**4 * 5**2 * 7), (1, 11 * 13 * 31), (2, 10007)]
PARTS = {complex64: float32, complex128: float64}


def numbers(shape, dtype):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape) if dtype.is_complex else x).astype(dtype.numpy)


def error(got, want):
    """The distance of two transforms, as a share of the second one."""
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


@pytest.mark.parametrize("dtype", [complex64, complex128], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_errors_are_as_small_as_those_of_scipy(shape, dtype):
    real, n = PARTS[dtype], shape[1]
    x, y, half = numbers(shape, dtype), numbers(shape, real), numbers((shape[0], n // 2 + 1), dtype)

    def all_ways(x, y, half):
        return p.Fft(1)(x), p.Fft(1, inverse=True)(x), p.Rfft(1)(y), p.Irfft(1, length=n)(half)

    types = [TensorType(d, a.shape) for d, a in zip((dtype, real, dtype), (x, y, half), strict=True)]
    got = compile(Function.build(all_ways, *types))(x, y, half)
    exact = [
        scipy.fft.fft(x.astype(np.clongdouble)),
        scipy.fft.ifft(x.astype(np.clongdouble), norm="forward"),
        scipy.fft.rfft(y.astype(np.longdouble)),
        scipy.fft.irfft(half.astype(np.clongdouble), n, norm="forward"),
    ]
    bound = np.finfo(real.numpy).eps * (2 if radices(n) else 4) * max(1, np.log2(n)) / 4
    for ours, want in zip(got, exact, strict=True):
        assert error(ours, want) < bound


def test_a_transform_is_a_call_whose_unit_is_data_and_means_what_machine_code_computes():
    def both(x, y):
        return p.Fft(0)(x), p.Irfft(1, length=5)(p.Fft(1, inverse=True)(x)), p.Rfft(0)(y)

    fn = in_pairs(Function.build(both, TensorType(complex64, (12, 3)), TensorType(float32, (4, 6))))
    text = str(lower(optimise(fn)))
    assert "invoke FourierCall[" in text
    assert "host" not in text
    assert unit_of(fn).binding.recipes
    check_meaning(fn, numbers((12, 3, 2), float32), numbers((4, 6), float32))


def test_lengths_that_vary_are_planned_when_they_are_known():
    import mycelia as ms

    f = ms.jit(ms.ops.fft, dynamic=1)
    for n in (6, 7, 300, 311):
        x = numbers((2, n), complex128)
        assert error(f(ms.Tensor(x)).asnumpy(), np.fft.fft(x)) < 1e-14


def test_many_programs_call_a_function_that_is_written_once(monkeypatch):
    kinds = []
    monkeypatch.setattr(driver, "emit_fourier", lambda kind, options: kinds.append(kind) or emit_fourier(kind, options))
    driver._own.cache_clear()  # of the tests before
    for factor in (1.0, 2.0, 3.0):
        compile(Function.build(lambda x, k=factor: p.Fft(0)(x * k), TensorType(complex64, (24,))))
    assert len(kinds) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "turned", [lambda x: x, np.asfortranarray, lambda x: x[::-1], lambda x: x[:, ::2], np.transpose]
)
def test_numbers_that_a_plan_keeps_lie_row_by_row(dtype, turned):
    plan, numbers = _Plan(np.dtype(dtype), 4, 1), turned(np.arange(12.0).reshape(3, 4) * (1 - 2j))
    wide = np.result_type(dtype, np.complex64)
    for address, want in (
        (plan.factors(numbers), numbers.astype(wide)),
        (plan.table(numbers.astype(wide)), numbers.astype(wide)),
        (plan.factors_apart(numbers), np.concatenate([numbers.real, numbers.imag], 1).astype(dtype)),
    ):
        assert plan.tables[address].ctypes.data == address
        assert ctypes.string_at(address, want.nbytes) == want.tobytes()
        assert plan.tables[address].nbytes == want.nbytes
