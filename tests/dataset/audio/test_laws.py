"""Laws of audio transforms, against SciPy, and what MindSpore gets wrong and we do not."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import fft, signal

import mycelia.dataset.audio as A
from mycelia.dataset.audio import vad
from mycelia.dataset.audio.filtering import lfilter
from mycelia.dataset.audio.stft import istft, stft, window
from mycelia.dataset.random import seeded
from mycelia.errors import MyceliaError

RNG = np.random.default_rng(5)
WAVE = RNG.standard_normal((2, 3, 500)) * 0.1
SPEC = np.abs(RNG.standard_normal((3, 20, 30)))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_the_block_filter_equals_scipys(time, zeros, poles, seed):
    rng = np.random.default_rng(seed)
    b, roots = rng.standard_normal(zeros), rng.uniform(-0.95, 0.95, poles - 1)
    a = np.poly(roots) * rng.uniform(0.5, 2)
    x = rng.standard_normal((2, time))
    np.testing.assert_allclose(
        lfilter(b, np.atleast_1d(a), x), signal.lfilter(b, np.atleast_1d(a), x), rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_does_not_reach_back_in_time(bad):
    x = RNG.standard_normal((2, 200))
    x[:, 100] = bad
    got, want = lfilter([0.4, 0.1], [1.0, -0.3, 0.2], x), signal.lfilter([0.4, 0.1], [1.0, -0.3, 0.2], x)
    np.testing.assert_allclose(got[:, :100], want[:, :100], rtol=1e-12)
    assert not np.isfinite(got[:, 100:]).any()
    np.testing.assert_array_equal(np.isfinite(lfilter([0.4], [1.0], x)), np.isfinite(x))


@pytest.mark.parametrize(
    "transform",
    [
        A.LowpassBiquad(8000, 900.0),
        A.HighpassBiquad(8000, 900.0),
        A.BandpassBiquad(8000, 900.0),
        A.BandrejectBiquad(8000, 900.0),
        A.AllpassBiquad(8000, 900.0),
        A.BassBiquad(8000, 6.0),
        A.TrebleBiquad(8000, -6.0, 2800),
        A.EqualizerBiquad(8000, 1000.0, 6.0),
    ],
    ids=lambda t: type(t).__name__,
)
def test_a_biquad_has_the_response_that_its_name_promises(transform):
    name = type(transform).__name__
    frequencies = np.array([1.0, 900.0 if "equal" not in name.lower() else 1000.0, 3999.0])
    _, response = signal.freqz(*transform.coefficients(), worN=frequencies, fs=8000)
    gain = 20 * np.log10(np.abs(response) + 1e-12)
    low, middle, high = gain
    expected = {
        "LowpassBiquad": (0, -3.01, -60),
        "HighpassBiquad": (-60, -3.01, 0),
        "BandpassBiquad": (-50, 0, -50),
        "BandrejectBiquad": (0, -100, 0),
        "AllpassBiquad": (0, 0, 0),
        "BassBiquad": (6, 0.1, 0),
        "TrebleBiquad": (0, 0, -6),
        "EqualizerBiquad": (0, 6, 0),
    }[name]
    for got, want in zip((low, middle, high), expected, strict=True):
        assert got <= want if want <= -50 else abs(got - want) < 0.2


def test_filtering_there_and_back_equals_scipy_without_padding():
    b, a = [0.2, 0.3, 0.1], [1.0, -0.4, 0.2]
    there = signal.lfilter(b, a, WAVE)
    back = signal.lfilter(b, a, there[..., ::-1])[..., ::-1]
    np.testing.assert_allclose(A.Filtfilt(a, b, clamp=False)(WAVE), back, atol=1e-12)


@pytest.mark.parametrize("kind", list(A.WindowType))
def test_windows_equal_scipys(kind):
    name = ("kaiser", 12.0) if kind == A.WindowType.KAISER else kind.value
    np.testing.assert_allclose(window(kind, 20), signal.get_window(name, 20, fftbins=True), atol=1e-12)


def test_the_spectrogram_equals_scipys():
    weights = signal.get_window("hann", 64)
    padded = np.pad(WAVE, [(0, 0), (0, 0), (32, 32)], "reflect")
    short = signal.ShortTimeFFT(weights, 16, 1.0, fft_mode="onesided")
    want = np.abs(short.stft(padded, p0=2, p1=2 + 500 // 16 + 1, k_offset=0, padding="zeros")) ** 2
    got = A.Spectrogram(64, hop_length=16)(WAVE)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_a_wave_comes_back_from_its_spectrogram(onesided, normalized):
    forward = A.Spectrogram(40, hop_length=10, power=0.0, normalized=normalized, onesided=onesided)
    back = A.InverseSpectrogram(500, 40, hop_length=10, normalized=normalized, onesided=onesided)
    np.testing.assert_allclose(back(forward(WAVE)), WAVE, atol=1e-12)
    padded = A.InverseSpectrogram(500, 40, hop_length=10, pad=7)(
        A.Spectrogram(40, hop_length=10, pad=7, power=0.0)(WAVE)
    )
    np.testing.assert_allclose(padded, WAVE, atol=1e-12)


def test_griffin_lim_finds_a_wave_with_the_given_magnitudes():
    tone = np.sin(np.arange(800) * 0.3)
    power = A.Spectrogram(64, hop_length=16)(tone)
    with seeded(np.random.default_rng(0)):
        wave = A.GriffinLim(64, 200, hop_length=16)(power)
    error = np.abs(np.sqrt(A.Spectrogram(64, hop_length=16)(wave)) - np.sqrt(power)).sum() / np.sqrt(power).sum()
    assert error < 0.1


def test_the_cosine_transform_equals_scipys():
    x = RNG.standard_normal(12)
    np.testing.assert_allclose(x @ A.create_dct(12, 12, A.NormMode.ORTHO), fft.dct(x, norm="ortho"), atol=1e-5)
    np.testing.assert_allclose(x @ A.create_dct(12, 12), fft.dct(x), atol=1e-5)


def test_mel_features_of_doubles_equal_those_of_singles():
    mel = A.MelSpectrogram(8000, 64, n_mels=12)
    np.testing.assert_allclose(mel(WAVE), mel(WAVE.astype(np.float32)), rtol=1e-3)
    mfcc = A.MFCC(8000, 8, melkwargs={"n_fft": 64, "n_mels": 20})
    np.testing.assert_allclose(mfcc(WAVE), mfcc(WAVE.astype(np.float32)), rtol=1e-3, atol=1e-3)


def test_an_inverted_mel_scale_has_the_same_mel_spectrogram():
    scale = A.MelScale(5, 8000, n_stft=20)
    mel = scale(SPEC)
    with seeded(np.random.default_rng(0)):
        spec = A.InverseMelScale(20, 5, 8000, max_iter=2000, tolerance_change=0.0)(mel)
    assert (spec >= 0).all()
    np.testing.assert_allclose(scale(spec), mel, atol=0.02)


def test_resampling_keeps_a_slow_tone():
    t = np.arange(2000) / 16000
    tone = np.sin(2 * np.pi * 300 * t)
    for rate in (8000, 12000, 22050, 32000):
        got = A.Resample(16000, rate)(tone)
        want = np.sin(2 * np.pi * 300 * np.arange(len(got)) / rate)
        np.testing.assert_allclose(got[100:-100], want[100:-100], atol=5e-3)


def test_stretching_changes_length_and_not_pitch():
    tone = np.sin(2 * np.pi * 500 * np.arange(8000) / 8000)
    weights = window(A.WindowType.HANN, 256)
    spectra = stft(tone, 256, 64, weights)
    pairs = np.stack([spectra.real, spectra.imag], -1)
    out = A.TimeStretch(64, 129, 0.5)(pairs)
    wave = istft(out[..., 0] + 1j * out[..., 1], 256, 64, weights)
    assert abs(len(wave) - 16000) < 300
    peak = np.abs(np.fft.rfft(wave[2000:10000])).argmax() * 8000 / 8000
    assert abs(peak - 500) < 5


def test_a_shift_of_twelve_steps_is_an_octave():
    tone = np.sin(2 * np.pi * 400 * np.arange(8000) / 8000)
    shifted = A.PitchShift(8000, 12)(tone)
    assert shifted.shape == tone.shape
    assert abs(np.abs(np.fft.rfft(shifted[1000:7000])).argmax() * 8000 / 6000 - 800) < 5


def test_voice_begins_where_torchaudio_finds_it():
    m = np.arange(14000)
    rng = np.random.Generator(np.random.PCG64(9))
    voice = np.where(m > 11000, 0.6 * np.sign(np.sin(m * 0.12)) * np.abs(np.sin(m * 0.004)), 0)
    wave = voice + 0.002 * rng.standard_normal(14000)
    assert A.Vad(8000)(wave).shape == (VOICE[0],)
    assert A.Vad(8000, 5.0, 0.1, 0.5, 0.1, 0.01, boot_time=0.05)(wave).shape == (VOICE[1],)
    np.testing.assert_array_equal(A.Vad(8000)(wave), wave[-VOICE[0] :])
    assert A.Vad(8000)(0.002 * rng.standard_normal(14000)).shape == (0,)


VOICE = (4000, 4080)  # samples left by torchaudio 2.11's functional.vad


@pytest.mark.parametrize(("allowed_gap", "longest"), [(0.0, 0), (0.02, 0), (0.03, 1), (0.26, 5), (0.28, 6)])
def test_a_gap_is_counted_in_whole_measures_and_rounded(monkeypatch, allowed_gap, longest):
    """One word, silence, then a cry that triggers: the word belongs to it if the silence is short enough."""
    wave = np.arange(16000.0)
    for distance in (1, 2, 5, 6, 7):
        levels = iter([*[1.0] * 20, 7.0, *[1.0] * (distance - 1), 1000.0])
        monkeypatch.setattr(vad.Meter, "measure", lambda *_, levels=levels: np.array([next(levels)]))
        start = A.Vad(8000, allowed_gap=allowed_gap)(wave)[0]
        assert start == 400 * (20 if distance <= longest else 20 + distance)


def test_mu_law_survives_the_way_there_and_back():
    codes = np.arange(256)
    np.testing.assert_array_equal(A.MuLawEncoding()(A.MuLawDecoding()(codes).astype(np.float64)), codes)


def test_shifting_down_mirrors_shifting_up():
    wave = np.linspace(-1, 1, 101)
    np.testing.assert_allclose(A.DCShift(-0.6, 0.02)(-wave), -A.DCShift(0.6, 0.02)(wave), atol=1e-12)
    np.testing.assert_allclose(A.DCShift(-0.6)(wave), np.clip(wave - 0.6, -1, 1), atol=1e-12)


def test_no_fade_is_louder_than_the_wave():
    for shape in A.FadeShape:
        faded = A.Fade(50, 60, shape)(np.ones(200))
        assert faded.max() <= 1
        assert faded[0] == 0
        assert faded[-1] < 1e-9
        assert (np.diff(faded[:50]) >= 0).all()
        assert (np.diff(faded[-60:]) <= 0).all()


def test_a_phaser_without_delay_echoes_the_last_sample():
    x = np.array([0.5, 0.0, 0.0])
    np.testing.assert_allclose(A.Phaser(8000, 1.0, 1.0, 0.0, 0.5)(x), [0.5, 0.25, 0.125])


def test_what_is_no_number_is_heard():
    wave = np.where(np.arange(50) == 20, np.nan, 0.1)
    assert np.isnan(A.Phaser(8000)(wave)[20])
    assert np.isfinite(A.AmplitudeToDB()(np.where(SPEC > 2, np.nan, SPEC))[SPEC <= 2]).all()


def test_whole_numbers_become_single_precision_before_the_effect():
    wave = np.arange(30, dtype=np.uint8).reshape(2, 15) % 2
    np.testing.assert_array_equal(
        A.Flanger(8000, width=50.0)(wave), A.Flanger(8000, width=50.0)(wave.astype(np.float32))
    )


def test_the_array_passed_in_stays_as_it_is():
    pairs = RNG.standard_normal((2, 11, 14, 2))
    before = pairs.copy()
    A.InverseSpectrogram(n_fft=20, normalized=True)(pairs)
    np.testing.assert_array_equal(pairs, before)


def test_a_spectrogram_without_centring_gives_the_whole_wave_back():
    wave = WAVE[0, :, :320]
    forward = A.Spectrogram(40, hop_length=10, power=0.0, window=A.WindowType.HAMMING, center=False)
    back = A.InverseSpectrogram(n_fft=40, hop_length=10, window=A.WindowType.HAMMING, center=False)
    np.testing.assert_allclose(back(forward(wave)), wave, atol=1e-12)


def test_batches_and_channels_stay_apart():
    assert A.GriffinLim(38, 2)(np.stack([SPEC, SPEC])).shape[:-1] == (2, 3)
    for transform in (
        A.MelSpectrogram(8000, 64, n_mels=12),
        A.LowpassBiquad(8000, 900.0),
        A.PitchShift(8000, 2, n_fft=64),
    ):
        np.testing.assert_allclose(transform(WAVE)[1, 2], transform(WAVE[1, 2]), atol=1e-9)


def test_masks_cover_one_stripe():
    for seed in range(20):
        with seeded(np.random.default_rng(seed)):
            out = A.FrequencyMasking(True, 6, mask_value=-1.0)(SPEC)
        rows = (out == -1).all(-1)
        np.testing.assert_array_equal((out == -1).any(-1), rows)
        assert rows.sum(1).max() <= 6
        assert (np.diff(np.flatnonzero(rows[0])) == 1).all()
    np.testing.assert_array_equal(A.TimeMasking(False, 4, 3, 9.0)(SPEC)[..., 3:7], 9.0)
    np.testing.assert_array_equal(A.TimeMasking()(SPEC), SPEC)


def test_sliding_normalisation_equals_a_loop():
    feats = SPEC[0]
    op = A.SlidingWindowCmn(7, 4, norm_vars=True)
    start, end = op.bounds(len(feats))
    want = [
        (feats[t] - feats[a:b].mean(0)) / feats[a:b].std(0) for t, (a, b) in enumerate(zip(start, end, strict=True))
    ]
    np.testing.assert_allclose(op(feats), want, atol=1e-9)


@pytest.mark.parametrize("density", list(A.DensityFunction))
def test_dither_moves_by_no_more_than_a_few_steps(density):
    with seeded(np.random.default_rng(0)):
        out = A.Dither(density)(WAVE)
    assert np.abs(out - WAVE).max() < 6 / 2**15
    np.testing.assert_allclose(out * 2**15, np.rint(out * 2**15), atol=1e-9)


@pytest.mark.parametrize(
    "transform",
    [A.Spectrogram(16), A.MFCC(melkwargs={"n_mels": 64}), A.Phaser(8000), A.Vad(8000), A.LFilter([1.0], [0.5]),
     A.PhaseVocoder(1.5, np.zeros((3, 1)))],
    ids=lambda t: type(t).__name__,
)  # fmt: skip
def test_transforms_travel_between_processes(transform):
    x = np.ones((3, 8, 2)) if isinstance(transform, A.PhaseVocoder) else WAVE
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(transform))(x), transform(x))


def test_float_types_stay_and_integers_become_single():
    kinds = {np.float64: np.float64, np.float32: np.float32, np.float16: np.float32, np.int16: np.float32}
    for dtype, out in (kinds | {np.uint8: np.float32, np.bool_: np.float32}).items():
        assert A.Gain(2.0)(np.ones(4, dtype)).dtype == out
    assert A.LowpassBiquad(8000, 900.0)(np.ones(4, np.float16)).dtype == np.float16  # filters leave half alone
    assert A.DetectPitchFrequency(8000, win_length=1)(np.ones(400)).dtype == np.float32


MISTAKES = [
    (lambda: A.LowpassBiquad(0, 100.0), "sample_rate"),
    (lambda: A.LowpassBiquad(8000, 100.0, 1.5), "Q"),
    (lambda: A.Spectrogram(16, 20), "win_length"),
    (lambda: A.Spectrogram(16, window="hann"), "WindowType"),
    (lambda: A.Spectrogram(400)(np.zeros(1)), "nothing to reflect"),
    (lambda: A.Angle()(np.zeros((3, 3))), "pairs"),
    (lambda: A.MFCC(n_mfcc=500), "n_mfcc"),
    (lambda: A.MelScale(n_stft=11)(np.zeros((5, 4))), "frequencies"),
    (lambda: A.Fade(10)(np.zeros(5)), "longer"),
    (lambda: A.Gain()(np.array(["a"])), "numbers"),
    (lambda: A.DeemphBiquad(8000), "44100"),
    (lambda: A.MaskAlongAxis(3, 9, 0.0, 1)(np.zeros((1, 5, 5))), "outside"),
    (lambda: A.Vad(8000, hp_filter_freq=3000.0, lp_filter_freq=100.0)(np.zeros(8000)), "nothing"),
    (lambda: A.LFilter([0.0, 1.0], [1.0, 1.0]), "begin"),
    (lambda: A.Phaser(8000, delay_ms=9.0), "delay_ms"),
    (lambda: A.Resample(16000.5, 8000), "whole"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_a_mistake_is_told(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        call()
    assert isinstance(raised.value, MyceliaError)


def test_a_wave_that_is_asked_for_longer_than_its_spectra_ends_in_silence():
    x = np.random.default_rng(0).normal(size=(2, 3, 64))
    weights = window(A.WindowType.HANN, 16)
    wave = istft(stft(x, 16, 4, weights), 16, 4, weights, length=90)
    assert wave.shape == (2, 3, 90)
    np.testing.assert_allclose(wave[..., :64], x, atol=1e-9)
    assert not wave[..., 72:].any()


def test_banks_of_no_filters_are_refused():
    for make in (
        A.create_dct,
        lambda *n: A.linear_fbanks(20, 0.0, 4000.0, *n),
        lambda *n: A.melscale_fbanks(20, 0.0, 4000.0, *n),
    ):
        for count in ((0, 8000), (-1, 8000), (2.5, 8000), (4, 0)):
            with pytest.raises((MyceliaError, TypeError, ValueError)):
                make(*count)
