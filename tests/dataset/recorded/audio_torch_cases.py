"""The audio cases that torchaudio judges: what MindSpore gets wrong, or what both can only be asked piece by piece.

A case is `name: (expression, torch expression, input, tolerance)`. The first builds Mycelia's transform from `A`; the
second computes with torchaudio's functions `F`, `torch`, and the input `x` as a tensor. Inputs are those of the audio
cases, and the tolerance is the same bound.
"""

DOUBLE = 1e-9
SINGLE = 5e-6  # filter banks are made in single precision

HANN = "torch.hann_window({0}, dtype=x.dtype)"
MEL = "F.melscale_fbanks({0}, {1}, {2}, {3}, 8000, {4}, {5!r}).to(x.dtype)"
SPEC64 = f"F.spectrogram(x, 0, {HANN.format(64)}, 64, 32, 64, 2.0, False)"

CASES: dict[str, tuple[str, str, str, float]] = {
    "mel_double": (
        "A.MelSpectrogram(8000, 64, n_mels=12)",
        f"({SPEC64}.mT @ {MEL.format(33, 0.0, 4000.0, 12, None, 'htk')}).mT", "wave", SINGLE),
    "mel_slaney_double": (
        "A.MelSpectrogram(8000, 64, f_min=50.0, f_max=3000.0, n_mels=9, norm=A.NormType.SLANEY,"
        " mel_scale=A.MelType.SLANEY)",
        f"({SPEC64}.mT @ {MEL.format(33, 50.0, 3000.0, 9, repr('slaney'), 'slaney')}).mT", "batch", SINGLE),
    "mfcc_double": (
        "A.MFCC(8000, 8, melkwargs={'n_fft': 64, 'n_mels': 20})",
        f"(F.amplitude_to_DB(({SPEC64}.mT @ {MEL.format(33, 0.0, 4000.0, 20, None, 'htk')}).mT, 10.0, 1e-10, 0.0, 80.0)"
        ".mT @ F.create_dct(8, 20, 'ortho').to(x.dtype)).mT", "wave", 5e-5),
    "griffin_lim_momentum": (
        "A.GriffinLim(20, 6, momentum=0.99, rand_init=False)",
        f"F.griffinlim(x, {HANN.format(20)}, 20, 10, 20, 2.0, 6, 0.99, None, False)", "spec", 1e-6),
    "griffin_lim_momentum_length": (
        "A.GriffinLim(20, 4, 16, 5, power=1.0, momentum=0.5, length=65, rand_init=False)",
        f"F.griffinlim(x, {HANN.format(16)}, 20, 5, 16, 1.0, 4, 0.5, 65, False)", "spec", 1e-6),
    "dc_shift_down_limited": ("A.DCShift(-0.7, 0.05)", "-F.dcshift(-x, 0.7, 0.05)", "wave", DOUBLE),
    "vad": ("A.Vad(8000)", "F.vad(x, 8000)", "voice", 0),
    "vad_options": (
        "A.Vad(8000, 5.0, 0.1, 0.5, 0.1, 0.01, 0.05, 0.2, 0.02, 1.2, 25.0, 0.1, 0.3, 60.0, 3500.0, 160.0, 1900.0)",
        "F.vad(x, 8000, 5.0, 0.1, 0.5, 0.1, 0.01, 0.05, 0.2, 0.02, 1.2, 25.0, 0.1, 0.3, 60.0, 3500.0, 160.0, 1900.0)",
        "voice", 0),
    "inverse_spectrogram_options": (
        "A.InverseSpectrogram(36, 32, 28, 8, 0, A.WindowType.HANN, True, True, A.BorderType.REFLECT, True)",
        "F.inverse_spectrogram(torch.view_as_complex(x), 36, 0, torch.hann_window(28, dtype=x.dtype), 32, 8, 28, True)",
        "complex33", DOUBLE),
    "inverse_spectrogram_pad": (
        "A.InverseSpectrogram(30, 32, 32, 8, 4)",
        f"F.inverse_spectrogram(torch.view_as_complex(x), 30, 4, {HANN.format(32)}, 32, 8, 32, False)",
        "complex33", DOUBLE),
    "amplitude_to_db_silence": (
        "A.AmplitudeToDB(A.ScaleType.MAGNITUDE, 1.0, 1e-3, 30.0)",
        "F.amplitude_to_DB(x * 0, 20.0, 1e-3, 0.0, 30.0)", "silence", DOUBLE),
    "phase_vocoder_double": (
        "A.PhaseVocoder(0.7, np.linspace(0, np.pi * 5, 11)[..., None])",
        "torch.view_as_real(F.phase_vocoder(torch.view_as_complex(x), 0.7,"
        " torch.linspace(0, torch.pi * 5, 11, dtype=x.dtype)[..., None]))", "complex", DOUBLE),
    "lowpass": ("A.LowpassBiquad(8000, 900.0)", "F.lowpass_biquad(x, 8000, 900.0)", "wave", DOUBLE),
    "flanger": ("A.Flanger(8000)", "F.flanger(x, 8000)", "batch", 1e-6),
    "spectral_centroid": (
        "A.SpectralCentroid(8000, 64)",
        f"F.spectral_centroid(x, 8000, 0, {HANN.format(64)}, 64, 32, 64)[..., None, :]", "wave", DOUBLE),
    "sliding_cmn": ("A.SlidingWindowCmn(5, 3, True, True)", "F.sliding_window_cmn(x, 5, 3, True, True)", "spec", 1e-7),
    "deltas": ("A.ComputeDeltas(7)", "F.compute_deltas(x, 7)", "spec", DOUBLE),
    "resample": ("A.Resample(16000, 12000)", "F.resample(x, 16000, 12000)", "wave", 1e-6),
}  # fmt: skip
