"""The audio cases: sentences in the common names, read once by MindSpore (to record) and again by Mycelia.

A case is `name: (expression, input, tolerance)`. The expression builds the transform from `A` (the audio module); the
tolerance bounds |got - want| / max(1, |want|) of every element. Left out is what MindSpore gets wrong; for that and for
what it makes at random see audio_torch_cases.py, whose judge is torchaudio.
"""

import numpy as np


def inputs() -> dict[str, np.ndarray]:
    """The arrays that the cases name."""
    t = np.arange(400) / 400
    tones = np.stack([np.sin(2 * np.pi * 23 * t) * 0.4, np.cos(2 * np.pi * 57 * t + t) * 0.3])
    rng = np.random.Generator(np.random.PCG64(9))
    wave = tones + 0.1 * rng.standard_normal((2, 400))
    spec = np.abs(rng.standard_normal((2, 11, 14))) + 0.01
    n = np.arange(2400)
    m = np.arange(14000)
    voice = np.where(m > 11000, 0.6 * np.sign(np.sin(m * 0.12)) * np.abs(np.sin(m * 0.004)), 0)
    quiet = 0.002 * rng.standard_normal(2400)
    return {
        "wave": wave,
        "wave32": wave.astype(np.float32),
        "mono": wave[0],
        "long32": (np.sin(n * 0.157) * 0.5 + 0.2 * np.sin(n * 0.314) + quiet).astype(np.float32),
        "spec": spec,
        "spec32": spec.astype(np.float32),
        "complex": rng.standard_normal((2, 11, 14, 2)),
        "complex33": rng.standard_normal((1, 17, 6, 2)),
        "mulaw": np.arange(0, 256, 5).astype(np.int32),
        "mulaw16": np.arange(16).astype(np.int32),
        "batch": np.stack([wave, wave[::-1] * 0.5]),
        "voice": (voice + 0.002 * np.random.Generator(np.random.PCG64(9)).standard_normal(14000))[None],
        "silence": np.zeros((1, 4, 5)),
        "int16": (wave * 100).astype(np.int16),
    }


TIGHT = 5e-6  # double precision, with coefficients that MindSpore rounds to single
SINGLE = 2e-5  # single precision

SPEC = (
    "{'n_fft': 64, 'win_length': 64, 'hop_length': 32, 'pad': 0, 'window': A.WindowType.HANN, 'power': 2.0,"
    " 'normalized': False, 'center': True, 'pad_mode': A.BorderType.REFLECT, 'onesided': True}"
)
MEL = SPEC[:-1] + ", 'f_min': 0.0, 'f_max': 4000.0, 'n_mels': 20, 'norm': A.NormType.NONE, 'mel_scale': A.MelType.HTK}"

CASES: dict[str, tuple[str, str, float]] = {
    "allpass": ("A.AllpassBiquad(44100, 200.0)", "wave", TIGHT),
    "band": ("A.BandBiquad(44100, 200.0)", "wave", TIGHT),
    "band_noise": ("A.BandBiquad(44100, 200.0, 0.707, True)", "wave", TIGHT),
    "bandpass": ("A.BandpassBiquad(44100, 200.0)", "wave", TIGHT),
    "bandpass_skirt": ("A.BandpassBiquad(44100, 200.0, 0.5, True)", "wave", TIGHT),
    "bandreject": ("A.BandrejectBiquad(44100, 200.0)", "wave", TIGHT),
    "bass": ("A.BassBiquad(44100, 5.0)", "wave", TIGHT),
    "bass_single": ("A.BassBiquad(44100, 5.0)", "wave32", SINGLE),
    "treble": ("A.TrebleBiquad(44100, 5.0)", "wave", TIGHT),
    "equalizer": ("A.EqualizerBiquad(44100, 1500.0, 5.5)", "wave", TIGHT),
    "highpass": ("A.HighpassBiquad(44100, 1500.0)", "wave", TIGHT),
    "lowpass": ("A.LowpassBiquad(44100, 4000.0)", "wave", TIGHT),
    "deemph": ("A.DeemphBiquad(44100)", "wave", TIGHT),
    "deemph_48": ("A.DeemphBiquad(48000)", "wave", TIGHT),
    "riaa": ("A.RiaaBiquad(44100)", "wave", TIGHT),
    "riaa_96": ("A.RiaaBiquad(96000)", "wave", TIGHT),
    "biquad": ("A.Biquad(0.1, 0.2, 0.3, 1.5, -0.4, 0.2)", "wave", TIGHT),
    "lfilter": ("A.LFilter([1.0, -0.3, 0.2], [0.4, 0.1, 0.2])", "wave", TIGHT),
    "lfilter_free": ("A.LFilter([0.1, 0.02, 0.03], [0.4, 0.2, 0.3], False)", "wave", TIGHT),
    "filtfilt": ("A.Filtfilt([1.0, -0.3, 0.2], [0.4, 0.1, 0.2])", "wave", TIGHT),
    "amplitude_to_db": ("A.AmplitudeToDB()", "spec", SINGLE),
    "amplitude_to_db_magnitude": ("A.AmplitudeToDB(A.ScaleType.MAGNITUDE, 2.0, 1e-3, 30.0)", "spec", SINGLE),
    "db_to_amplitude": ("A.DBToAmplitude(0.5, 0.5)", "spec", SINGLE),
    "angle": ("A.Angle()", "complex", SINGLE),
    "complex_norm": ("A.ComplexNorm()", "complex", SINGLE),
    "complex_norm_power": ("A.ComplexNorm(3.0)", "complex", SINGLE),
    "magphase": ("A.Magphase(2.0)", "complex", SINGLE),
    "deltas": ("A.ComputeDeltas()", "spec", SINGLE),
    "deltas_wide": ("A.ComputeDeltas(7, A.BorderType.REFLECT)", "spec", SINGLE),
    "deltas_constant": ("A.ComputeDeltas(4, A.BorderType.CONSTANT)", "spec", SINGLE),
    "contrast": ("A.Contrast()", "wave", TIGHT),
    "dc_shift": ("A.DCShift(0.5)", "wave", TIGHT),
    "dc_shift_limited": ("A.DCShift(0.7, 0.05)", "wave", TIGHT),
    "gain": ("A.Gain(3.0)", "wave", TIGHT),
    "mu_encode": ("A.MuLawEncoding()", "wave", 0),
    "mu_decode": ("A.MuLawDecoding()", "mulaw", SINGLE),
    "overdrive": ("A.Overdrive()", "wave", TIGHT),
    "overdrive_hot": ("A.Overdrive(40.0, 60.0)", "wave", TIGHT),
    "phaser": ("A.Phaser(44100)", "wave", 1e-6),
    "phaser_triangle": ("A.Phaser(8000, 0.5, 0.8, 4.0, 0.3, 1.5, False)", "wave", 1e-6),
    "flanger": ("A.Flanger(44100)", "wave", 1e-6),
    "flanger_rich": (
        "A.Flanger(8000, 2.0, 3.0, 20.0, 60.0, 4.0, 40.0, A.Modulation.TRIANGULAR, A.Interpolation.QUADRATIC)",
        "wave", 1e-6),
    "vol": ("A.Vol(0.5)", "wave", TIGHT),
    "vol_power": ("A.Vol(4.0, A.GainType.POWER)", "wave", TIGHT),
    "vol_db": ("A.Vol(-6.0, A.GainType.DB)", "wave", TIGHT),
    "sliding_cmn": ("A.SlidingWindowCmn(5, 3)", "spec", SINGLE),
    "sliding_cmn_center": ("A.SlidingWindowCmn(5, 3, True, True)", "spec", SINGLE),
    "sliding_cmn_default": ("A.SlidingWindowCmn()", "spec", SINGLE),
    "mask_along_axis": ("A.MaskAlongAxis(2, 3, 7.0, 1)", "spec", 0),
    "mask_along_axis_time": ("A.MaskAlongAxis(2, 3, 7.0, 2)", "spec", 0),
    "spectrogram": ("A.Spectrogram(32)", "wave", SINGLE),
    "spectrogram_options": (
        "A.Spectrogram(32, 20, 8, 4, A.WindowType.HAMMING, 1.0, True, True, A.BorderType.CONSTANT, True)", "wave",
        SINGLE),
    "spectrogram_left": ("A.Spectrogram(32, center=False, onesided=False)", "wave", SINGLE),
    "spectrogram_complex": ("A.Spectrogram(32, power=0.0)", "wave", SINGLE),
    "inverse_spectrogram": ("A.InverseSpectrogram(n_fft=32)", "complex33", SINGLE),
    "inverse_spectrogram_length": ("A.InverseSpectrogram(60, 32, 32, 16)", "complex33", SINGLE),
    "mel_scale": ("A.MelScale(6, 16000, n_stft=11)", "spec", SINGLE),
    "mel_scale_slaney": (
        "A.MelScale(6, 8000, 50.0, 3500.0, 11, A.NormType.SLANEY, A.MelType.SLANEY)", "spec", SINGLE),
    "mel_spectrogram": ("A.MelSpectrogram(8000, 64, n_mels=12)", "wave32", SINGLE),
    "mfcc": (f"A.MFCC(8000, 8, melkwargs={MEL})", "wave32", 1e-4),
    "mfcc_log": (f"A.MFCC(8000, 8, log_mels=True, melkwargs={MEL})", "wave32", 1e-4),
    "lfcc": (f"A.LFCC(8000, 20, 8, speckwargs={SPEC})", "wave32", 1e-4),
    "lfcc_log": (f"A.LFCC(8000, 20, 8, 100.0, 3000.0, log_lf=True, speckwargs={SPEC})", "wave32", 1e-4),
    "dither": ("A.Dither()", "wave", TIGHT),
    "dither_shaped": ("A.Dither(A.DensityFunction.TPDF, True)", "wave", TIGHT),
    "spectral_centroid": ("A.SpectralCentroid(8000, 64)", "wave", 1e-4),
    "phase_vocoder": ("A.PhaseVocoder(1.3, np.linspace(0, np.pi * 5, 11)[..., None])", "complex", 1e-5),
    "time_stretch": ("A.TimeStretch(5, 11, 0.8)", "complex", 1e-5),
    "pitch_shift": ("A.PitchShift(8000, 3, n_fft=64)", "wave32", 1e-3),
    "detect_pitch": ("A.DetectPitchFrequency(8000, win_length=5)", "long32", SINGLE),
    "resample_down": ("A.Resample(16000, 8000)", "wave", SINGLE),
    "resample_up": ("A.Resample(8000, 12000, A.ResampleMethod.KAISER_WINDOW, 8, 0.9, 12.0)", "wave", SINGLE),
    "resample_odd": ("A.Resample(44100, 16000)", "wave32", SINGLE),
    "griffin_lim": ("A.GriffinLim(20, 5, momentum=0.0, rand_init=False)", "spec", SINGLE),
    "griffin_lim_options": ("A.GriffinLim(20, 3, 16, 5, A.WindowType.HAMMING, 1.0, 0.0, 65, False)", "spec", SINGLE),
    "create_dct": ("lambda x: A.create_dct(5, 12, A.NormMode.ORTHO)", "mono", SINGLE),
    "create_dct_plain": ("lambda x: A.create_dct(5, 12)", "mono", SINGLE),
    "linear_fbanks": ("lambda x: A.linear_fbanks(20, 0.0, 2000.0, 6, 8000)", "mono", SINGLE),
    "melscale_fbanks": ("lambda x: A.melscale_fbanks(20, 0.0, 4000.0, 6, 8000)", "mono", SINGLE),
    "melscale_fbanks_slaney": (
        "lambda x: A.melscale_fbanks(40, 0.0, 4000.0, 6, 8000, A.NormType.SLANEY, A.MelType.SLANEY)", "mono", SINGLE),
}  # fmt: skip
MORE = {  # every further option, and the shapes (time,), (channel, time), (batch, channel, time)
    "allpass_narrow": ("A.AllpassBiquad(8000, 3000.0, 0.3)", "mono", TIGHT),
    "bandreject_narrow": ("A.BandrejectBiquad(8000, 3000.0, 0.3)", "batch", TIGHT),
    "bass_options": ("A.BassBiquad(8000, -9.0, 300.0, 0.4)", "batch", TIGHT),
    "treble_options": ("A.TrebleBiquad(8000, -9.0, 2000.0, 0.4)", "mono", TIGHT),
    "equalizer_narrow": ("A.EqualizerBiquad(8000, 1500.0, -6.0, 0.2)", "batch", TIGHT),
    "highpass_narrow": ("A.HighpassBiquad(8000, 1500.0, 0.9)", "mono", TIGHT),
    "lowpass_narrow": ("A.LowpassBiquad(8000, 1500.0, 0.2)", "batch", TIGHT),
    "riaa_48": ("A.RiaaBiquad(48000)", "mono", TIGHT),
    "riaa_88": ("A.RiaaBiquad(88200)", "mono", TIGHT),
    "filtfilt_free": ("A.Filtfilt([1.0, -0.3, 0.2], [0.9, 0.7, 0.2], False)", "batch", TIGHT),
    "contrast_full": ("A.Contrast(100.0)", "batch", TIGHT),
    "contrast_none": ("A.Contrast(0.0)", "mono", TIGHT),
    "dc_shift_down": ("A.DCShift(-0.5)", "wave", TIGHT),
    "gain_single": ("A.Gain(-3.0)", "wave32", SINGLE),
    "vol_amplitude": ("A.Vol(2.0, A.GainType.AMPLITUDE)", "batch", TIGHT),
    "mu_encode_16": ("A.MuLawEncoding(16)", "mono", 0),
    "mu_decode_16": ("A.MuLawDecoding(16)", "mulaw16", SINGLE),
    "flanger_linear": (
        "A.Flanger(8000, 1.0, 2.0, -30.0, 50.0, 2.0, 10.0, A.Modulation.SINUSOIDAL, A.Interpolation.LINEAR)", "wave",
        1e-6),
    "amplitude_to_db_power": ("A.AmplitudeToDB(A.ScaleType.POWER, 3.0, 1e-4, 20.0)", "spec32", SINGLE),
    "frequency_masking": ("A.FrequencyMasking(False, 3, 2, 5.0)", "spec", 0),
    "time_masking": ("A.TimeMasking(False, 3, 2, 5.0)", "spec", 0),
    "mask_iid_nothing": ("A.MaskAlongAxisIID(0, 7.0, 1)", "spec", 0),
    "detect_pitch_options": ("A.DetectPitchFrequency(800, 0.05, 3, 20, 200)", "wave32", SINGLE),
    "spectral_centroid_options": ("A.SpectralCentroid(8000, 64, 40, 16, 3, A.WindowType.HAMMING)", "wave", 1e-4),
    "pitch_shift_options": (
        "A.PitchShift(8000, -4, 24, 64, 60, 15, A.WindowType.HAMMING)", "wave32", 1e-3),
    "resample_sinc": ("A.Resample(8000, 12000, A.ResampleMethod.SINC_INTERPOLATION, 4, 0.8)", "mono", SINGLE),
    "mel_spectrogram_options": (
        "A.MelSpectrogram(8000, 64, 40, 16, 100.0, 3000.0, 3, 12, A.WindowType.HAMMING, 1.0, True, True,"
        " A.BorderType.EDGE, True, A.NormType.SLANEY, A.MelType.SLANEY)", "wave32", SINGLE),
    "mfcc_plain": (f"A.MFCC(8000, 8, 2, A.NormMode.NONE, melkwargs={MEL})", "wave32", 2e-4),
    "lfcc_plain": (f"A.LFCC(8000, 20, 8, 0.0, 4000.0, 2, A.NormMode.NONE, speckwargs={SPEC})", "wave32", 1e-4),
    "integers_mel": ("A.MelSpectrogram(8000, 64, n_mels=12)", "int16", 1e-4),
    "integers_spectrogram": ("A.Spectrogram(32)", "int16", 1e-4),
    "integers_gain": ("A.Gain(3.0)", "int16", SINGLE),
    "integers_resample": ("A.Resample(16000, 8000)", "int16", 1e-4),
    "batch_spectrogram": ("A.Spectrogram(32)", "batch", SINGLE),
    "mono_spectrogram": ("A.Spectrogram(32)", "mono", SINGLE),
    "mono_overdrive": ("A.Overdrive()", "mono", TIGHT),
    "batch_phaser": ("A.Phaser(8000)", "batch", 1e-6),
    "batch_dither": ("A.Dither()", "batch", TIGHT),
    "fade_single_sample": ("A.Fade(1, 1)", "wave", 0),
}  # fmt: skip
CASES |= MORE
for shape in ["QUARTER_SINE", "HALF_SINE", "LINEAR", "EXPONENTIAL"]:
    CASES[f"fade_{shape}"] = (f"A.Fade(100, 150, A.FadeShape.{shape})", "wave", SINGLE)
for window in ["BARTLETT", "BLACKMAN", "HAMMING", "HANN", "KAISER"]:
    CASES[f"window_{window}"] = (f"A.Spectrogram(16, hop_length=40, window=A.WindowType.{window})", "mono", SINGLE)
for border in ["EDGE", "SYMMETRIC"]:
    CASES[f"border_{border}"] = (f"A.Spectrogram(16, hop_length=40, pad_mode=A.BorderType.{border})", "mono", SINGLE)
