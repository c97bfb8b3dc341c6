"""Operations that few programs ask for, against SciPy, NumPy and Python's own."""

import colorsys

import numpy as np
import pytest
import scipy.special

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import MyceliaError

RNG = np.random.default_rng(3)


def close(found, wanted, tolerance=2e-5):
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("centred", [False, True])
def test_spectra_of_frames_are_scipys(centred):
    x, window = RNG.normal(size=(2, 50)).astype(np.float32), np.hanning(8).astype(np.float32)
    padded = np.pad(x, ((0, 0), (4, 4)), mode="reflect") if centred else x
    frames = np.stack([padded[:, i : i + 8] * window for i in range(0, padded.shape[1] - 7, 3)], -2)
    wanted = np.swapaxes(np.fft.rfft(frames), -1, -2)
    found = ops.stft(Tensor(x), 8, 3, 8, Tensor(window), centred, return_complex=True)
    close(found, wanted)
    parts = ops.stft(Tensor(x), 8, 3, 8, Tensor(window), centred)
    close(parts, np.stack([wanted.real, wanted.imag], -1))
    if not centred:
        whole = ops.STFT(8, 3, 8, True, False, True)(Tensor(x), Tensor(window))
        close(whole, np.swapaxes(np.fft.fft(frames), -1, -2) / np.sqrt(8))


def test_special_functions_as_objects_are_scipys():
    a, b, x = (RNG.uniform(0.2, 0.9, 4).astype(np.float32) for _ in range(3))
    close(ops.Betainc()(Tensor(a), Tensor(b), Tensor(x)), scipy.special.betainc(a, b, x))
    close(ops.Igamma()(Tensor(a), Tensor(x)), scipy.special.gammainc(a, x))
    close(ops.Igammac()(Tensor(a), Tensor(x)), scipy.special.gammaincc(a, x))
    close(ops.Zeta()(Tensor(a + 2), Tensor(x)), scipy.special.zeta(a + 2, x))
    close(ops.Polygamma()(Tensor(2), Tensor(x)), scipy.special.polygamma(2, x), 1e-4)


def test_a_transposed_convolution_in_space_is_the_transpose():
    w = Tensor(RNG.normal(size=(3, 2, 2, 3, 2)).astype(np.float32))
    forward = ops.Conv3D(3, (2, 3, 2), pad_mode="pad", pad=1, stride=2)
    x = Tensor(RNG.normal(size=(1, 2, 5, 5, 4)).astype(np.float32))
    y = forward(x, w)
    v = Tensor(RNG.normal(size=y.shape).astype(np.float32))
    pulled = ms.grad(lambda x: (forward(x, w) * v).sum())(x)
    sizes = zip(x.shape[2:], y.shape[2:], (2, 3, 2), strict=True)
    extra = tuple(n - ((e - 1) * 2 - 2 + k) for n, e, k in sizes)
    back = ops.Conv3DTranspose(3, 2, (2, 3, 2), pad_mode="pad", pad=1, stride=2, output_padding=extra)
    close(back(v, w), pulled.asnumpy())
    with pytest.raises(MyceliaError, match="does not fit"):
        ops.Conv3D(4, (2, 3, 2))(x, w)


def test_colours_are_those_of_python():
    rgb = RNG.uniform(size=(7, 3)).astype(np.float32)
    rgb[0], rgb[1] = 0.0, 0.5
    hsv = np.array([colorsys.rgb_to_hsv(*row) for row in rgb])
    close(ops.RGBToHSV()(Tensor(rgb)), hsv)
    close(ops.HSVToRGB()(Tensor(hsv.astype(np.float32))), rgb)


def test_small_ones():
    found, places = ops.ListDiff()(Tensor([1, 2, 3, 4]), Tensor([2, 4]))
    assert (found.tolist(), places.tolist(), places.dtype) == ([1, 3], [0, 2], ms.int32)
    assert ops.FillDiagonal(9.0)(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[9, 2], [3, 9]]
    assert ops.PadV3()(Tensor([[1.0]]), (1, 0, 0, 1), 5.0).tolist() == [[5, 1], [5, 5]]
    assert ops.PadV3("constant", False)(Tensor([[1.0]]), (1, 0, 0, 1), 5.0).tolist() == [[5, 1], [5, 5]]
    assert ops.ConjugateTranspose()(Tensor([[1 + 2j, 3j]]), (1, 0)).tolist() == [[1 - 2j], [-3j]]
    assert [t.tolist() for t in ops.UniqueWithPad()(Tensor([1, 2, 2]), 0)] == [[1, 2, 0], [0, 1, 1]]
    assert ops.padding(Tensor([[8.0], [1.0]]), 3).tolist() == [[8, 0, 0], [1, 0, 0]]
    assert ops.expand(Tensor([[1.0]]), Tensor([2, -1])).tolist() == [[1], [1]]
    assert ops.CheckNumerics()(Tensor([1.0])).tolist() == [1]
    with pytest.raises(MyceliaError, match="finite"):
        ops.CheckNumerics()(Tensor([1.0, float("nan")]))
    assert ops.floormod(Tensor([-7.0]), 2).tolist() == [1]
    assert ops.scalar_div(1, 4) == 0.25
    assert ops.tuple_setitem((1, 2, 3), -1, 9) == (1, 2, 9)
    assert ms.jit(lambda x: x * ops.scalar_add(1, 2))(Tensor([2.0])).tolist() == [6]
    matrix, right = np.array([[1.0, 0], [0, 2], [1, 1]], np.float32), np.array([[1.0], [2], [3]], np.float32)
    close(ops.Lstsq()(Tensor(matrix), Tensor(right)), np.linalg.lstsq(matrix, right, rcond=None)[0])
    drawn = ops.TruncatedNormal(seed=1)((1000,)).asnumpy()
    assert abs(drawn).max() <= 2
    assert drawn.std() > 0.8


@pytest.mark.parametrize(("swap", "wanted"), [(False, [1.8875663, 0, 1.4596899]), (True, [1.8875663, 0, 2.2669661])])
def test_triplets_may_be_swapped(swap, wanted):
    """PyTorch's answers."""
    rng = np.random.default_rng(0)
    given = [Tensor(rng.normal(size=(3, 4)).astype(np.float32)) for _ in range(3)]
    close(ops.triplet_margin_loss(*given, 0.7, 3, 1e-6, swap, "none"), wanted)
    close(ops.TripletMarginLoss(3, swap, 1e-6, "none")(*given, Tensor(0.7)), wanted)
