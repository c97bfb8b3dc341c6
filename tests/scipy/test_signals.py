"""Signals, distances, clusters and curves are SciPy's; gradients are slopes.

V: 20 numbers; W: 6; X: (4, 20); B, A: a filter that is stable; S: sections; G: (5, 7); H: (3, 2); D: complex;
I, J: whole; T: places that rise; F: values at them; R: (6, 2) values; P: places between; M, N: points; L: truths
C: weights.
"""

import numpy as np
import pytest
import scipy.signal

import mycelia as ms
from mycelia import Tensor
from mycelia.scipy import cluster, interpolate, signal
from tests.scipy.judged import cases_of, compiled_is_eager, gradients_are_slopes, same_values, smooth_names

rng = np.random.default_rng(12)
b, a = scipy.signal.butter(3, 0.3)
ARRAYS = {
    "V": rng.normal(size=20), "W": rng.normal(size=6), "X": rng.normal(size=(4, 20)), "B": b, "A": a,
    "S": scipy.signal.butter(4, 0.3, output="sos"), "G": rng.normal(size=(5, 7)), "H": rng.normal(size=(3, 2)),
    "D": rng.normal(size=9) + 1j * rng.normal(size=9), "I": rng.integers(-5, 5, 12), "J": rng.integers(-5, 5, 4),
    "T": np.cumsum(rng.random(6) + 0.2), "F": rng.normal(size=6), "R": rng.normal(size=(6, 2)),
    "P": rng.uniform(0.7, 2.5, (2, 3)), "M": rng.normal(size=(6, 3)), "N": rng.normal(size=(4, 3)),
    "L": rng.random((5, 8)) < 0.5, "C": rng.random(3) + 0.2, "K": rng.normal(size=100), "Z": rng.normal(size=(8, 8)),
}  # fmt: skip
WINDOWS = (
    "boxcar triang bartlett parzen bohman hann hamming blackman nuttall blackmanharris flattop barthann cosine lanczos"
)
METRICS = "euclidean sqeuclidean cityblock chebyshev canberra braycurtis cosine correlation hamming jaccard minkowski"
TRUTHS = "dice rogerstanimoto russellrao sokalsneath yule jaccard hamming"
CASES = [f"signal.windows.{w}({n}, sym={s})" for w in WINDOWS.split() for n, s in ((7, True), (8, True), (8, False))]
CASES += [f"spatial.distance.{m}(M[0], M[1])" for m in METRICS.split()]
CASES += [f"spatial.distance.{m}(M[0], M[1], w=C)" for m in METRICS.split()]
CASES += [f'spatial.distance.cdist(M, N, "{m}")' for m in METRICS.split()]
CASES += [f'spatial.distance.pdist(M, "{m}")' for m in ("euclidean", "seuclidean", "mahalanobis", "jensenshannon")
          if m != "jensenshannon"]  # fmt: skip
CASES += [f"spatial.distance.{m}(L[0], L[1])" for m in TRUTHS.split()]
CASES += cases_of("""
signal.windows.gaussian(7, 1.5); signal.windows.general_gaussian(7, 1.5, 2.0); signal.windows.tukey(9, 0.4)
signal.windows.kaiser(7, 4.0); signal.windows.exponential(7, tau=2.0); signal.windows.general_cosine(7, [0.5, 0.3, 0.2])
signal.windows.general_hamming(7, 0.6); signal.get_window("hann", 6); signal.get_window(("kaiser", 3.0), 6)
signal.get_window(4.0, 6); signal.windows.hann(0); signal.windows.hann(1)
signal.convolve(V, W); signal.convolve(V, W, "same"); signal.convolve(W, V, "valid"); signal.convolve(G, H)
signal.convolve(G, H, "same"); signal.convolve(G, H, "valid"); signal.convolve(I, J); signal.convolve(D, D)
signal.convolve(K, K); signal.convolve(K, K, method="fft"); signal.convolve(V, W, method="fft")
signal.correlate(V, W); signal.correlate(V, W, "same"); signal.correlate(W, V, "valid"); signal.correlate(G, H, "valid")
signal.correlate(D, D[:4]); signal.correlation_lags(5, 3); signal.correlation_lags(5, 4, "same")
signal.correlation_lags(5, 3, "valid"); signal.fftconvolve(V, W, "same"); signal.fftconvolve(X, X[:, :3], axes=1)
signal.oaconvolve(V, W); signal.convolve2d(G, H); signal.convolve2d(G, H, "same", "symm")
signal.convolve2d(G, H, "full", "wrap"); signal.correlate2d(G, H, "same", "fill", 2.0); signal.correlate2d(G, H)
signal.correlate2d(G, H, "same")
signal.correlate2d(G, H, "valid"); signal.deconvolve(V, W); signal.lfilter(B, A, V); signal.lfilter(B, A, X, axis=0)
signal.lfilter(B, [1.0], V); signal.lfilter([0.5], A, V); signal.lfilter(B, A, V, zi=np.ones(3))
signal.lfilter(B, A, V[:2], zi=np.ones(3)); signal.lfilter_zi(B, A); signal.filtfilt(B, A, V)
signal.filtfilt(B, A, X, padtype="even", padlen=5); signal.filtfilt(B, A, V, padtype=None); signal.sosfilt(S, V)
signal.sosfilt(S, X, zi=np.ones((2, 4, 2))); signal.sosfilt_zi(S); signal.sosfiltfilt(S, K)
signal.butter(3, 0.3); signal.butter(4, 0.2, "high"); signal.butter(3, 10.0, fs=100.0)
signal.sosfilt(signal.butter(5, 0.2, output="sos"), V); signal.freqz(B, A, 8); signal.freqz(B, worN=8, whole=True)
signal.detrend(X); signal.detrend(X, type="constant", axis=0); signal.detrend(V, bp=[7, 12]); signal.hilbert(V)
signal.hilbert(X, axis=0); signal.hilbert(V, 15); signal.hilbert2(G); signal.medfilt(V, 5); signal.medfilt(G)
signal.wiener(V); signal.wiener(G, (3, 5)); signal.savgol_coeffs(7, 2); signal.savgol_coeffs(7, 3, 1, 0.5)
signal.savgol_filter(V, 7, 2); signal.savgol_filter(X, 5, 2, deriv=1, delta=0.5, mode="mirror")
signal.savgol_filter(X, 5, 3, axis=1, mode="constant"); signal.resample(V, 13); signal.resample(V, 30)
signal.resample(X, 7, axis=1); signal.upfirdn(W, V, 3, 2); signal.upfirdn(W, X, 2, axis=0)
signal.periodogram(V); signal.periodogram(X, 10.0, "hann", scaling="spectrum"); signal.welch(K, 2.0, nperseg=32)
signal.welch(K, nperseg=31, noverlap=10, nfft=40, detrend="linear"); signal.welch(K, nperseg=16, average="median")
signal.csd(K, K[::-1], nperseg=32); signal.csd(K, K[::-1], nperseg=16, average="median")
signal.coherence(K, K[::-1], nperseg=16); signal.spectrogram(K, nperseg=16)
signal.stft(K, nperseg=16); signal.stft(K, 2.0, nperseg=15, noverlap=5, boundary="even", padded=False)
signal.stft(X, nperseg=8, axis=-1); signal.istft(signal.stft(K, nperseg=16)[2], nperseg=16)
signal.check_COLA("hann", 16, 8); signal.sawtooth(V * 3.0); signal.sawtooth(V, 0.3); signal.square(V * 3.0, 0.3)
signal.chirp(V, 1.0, 2.0, 3.0); signal.chirp(V, 1.0, 2.0, 3.0, "quadratic"); signal.chirp(V, 1.0, 2.0, 3.0, "log")
signal.chirp(V, 1.0, 9.0, 3.0, "hyperbolic"); signal.gausspulse(V, 2.0); signal.unit_impulse(5, 2)
signal.unit_impulse((3, 3), "mid"); spatial.distance.minkowski(M[0], M[1], 3)
spatial.distance.jensenshannon(C, C[::-1])
spatial.distance.cdist(M, N, "minkowski", p=3); spatial.distance.cdist(M, N, "seuclidean", V=C)
spatial.distance.mahalanobis(M[0], M[1], np.diag(C)); spatial.distance.squareform(V[:10])
spatial.distance.squareform(spatial.distance.squareform(V[:10])); spatial.distance.pdist(L, "jaccard")
spatial.distance.directed_hausdorff(M, N)[0]; spatial.distance.directed_hausdorff(M, N)[1:]
cluster.vq.whiten(M); cluster.vq.vq(M, N); cluster.vq.kmeans(M, M[:2]); cluster.vq.kmeans2(M, M[:3], minit="matrix")
interpolate.interp1d(T, F)(P); interpolate.interp1d(T, R, axis=0)(P); interpolate.interp1d(T, F, "nearest")(P)
interpolate.interp1d(T, F, "previous")(P); interpolate.interp1d(T, F, "next")(P); interpolate.interp1d(T, F, "cubic")(P)
interpolate.interp1d(T, F, bounds_error=False, fill_value=(1.0, 2.0))(V)
interpolate.interp1d(T, F, fill_value="extrapolate")(V); interpolate.CubicSpline(T, F)(V)
interpolate.CubicSpline(T, R)(P)
interpolate.CubicSpline(T, F, bc_type="natural")(P); interpolate.CubicSpline(T, F, bc_type="clamped")(P)
interpolate.CubicSpline(T, F, bc_type=((1, 0.5), (2, -0.3)))(P); interpolate.CubicSpline(T[:3], F[:3])(P)
interpolate.CubicSpline(T[:2], F[:2])(P); interpolate.CubicSpline(T[:4], F[:4])(P); interpolate.CubicSpline(T, F)(P, 2)
interpolate.CubicSpline(T, np.concatenate([F[:-1], F[:1]]), bc_type="periodic")(V)
interpolate.CubicSpline(T, F).integrate(T[0], T[-1]); interpolate.CubicSpline(T, F).antiderivative()(P)
interpolate.PchipInterpolator(T, F)(P); interpolate.PchipInterpolator(T, R)(P)
interpolate.PchipInterpolator(T[:2], F[:2])(P)
interpolate.pchip_interpolate(T, F, P, der=1); interpolate.Akima1DInterpolator(T, F)(P)
interpolate.CubicHermiteSpline(T, F, F[::-1])(P); interpolate.BarycentricInterpolator(T, F)(P)
interpolate.barycentric_interpolate(T, R, P); interpolate.barycentric_interpolate(T, F, T)
interpolate.RegularGridInterpolator((T, T[:2]), R)(np.stack([P, P * 0.1 + T[0]], -1))
interpolate.RegularGridInterpolator((T, T[:2]), R, "nearest")(np.stack([P, P * 0.1 + T[0]], -1))
interpolate.interpn((T,), R, np.reshape(P, (-1, 1)))
interpolate.RegularGridInterpolator((T,), F, bounds_error=False)(np.reshape(V, (-1, 1)))
interpolate.RegularGridInterpolator((T,), F, bounds_error=False, fill_value=None)(np.reshape(V, (-1, 1)))
""")


@pytest.mark.many("case", CASES, pack=100)
def test_values_are_those_of_scipy(case):
    same_values(case, ARRAYS, 1e-8)


STEPS = (
    "hamming(M",
    "jaccard(",
    "L[",
    "signal.square",
    "hausdorff",
    '"hamming"',
    '"jaccard"',
    "zi(S",
    "butter",
    "nearest",
    "bounds_error=False)(np",
)
SMOOTH = [c for c in CASES if smooth_names(c, ARRAYS) and not any(s in c for s in STEPS)]


@pytest.mark.many("case", SMOOTH, pack=25)
def test_gradients_are_slopes(case):
    gradients_are_slopes(case, ARRAYS, bound=5e-4)


EAGER = ("kmeans", "squareform", "hausdorff", "whiten", "sosfiltfilt", "interp1d", "RegularGrid", "interpn", "freqz")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_compiled_is_eager(part):
    able = [c for c in CASES if not any(e in c for e in EAGER)]
    compiled_is_eager(able[part::6], ARRAYS, f"signals {part}")


def test_a_filter_inside_a_program_is_the_filter():
    compiled_is_eager(["signal.lfilter(B, A, X)", "signal.welch(K, nperseg=32)[1]"], ARRAYS, "filters")


def test_means_found_from_drawn_beginnings_are_stable():
    points = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 9])
    book, far = cluster.vq.kmeans(Tensor(points), 2, seed=1)
    found = np.sort(book.asnumpy()[:, 0])
    np.testing.assert_allclose(found, np.sort([points[:20, 0].mean(), points[20:, 0].mean()]), atol=1e-9)
    assert far.item() < 2


def test_numbers_beyond_are_told():
    with pytest.raises(ValueError, match="lies beyond the points"):
        interpolate.interp1d([0.0, 1.0], [0.0, 1.0])(2.0)
    with pytest.raises(ValueError, match="places must rise"):
        interpolate.CubicSpline([0.0, 0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="there is no window"):
        signal.get_window("round", 3)
    with pytest.raises(ValueError, match="must fit into the other"):
        signal.convolve(Tensor(np.ones((2, 5))), Tensor(np.ones((3, 1))), "valid")
    assert signal.lfilter([1.0], [1.0, -0.5], Tensor([1.0, 0.0], ms.float32)).dtype is ms.float32
