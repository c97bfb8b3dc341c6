"""Every argument of a transform has bounds: the last value within is taken, the first one beyond is refused by name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia.dataset.audio as A
import mycelia.dataset.text as T
import mycelia.dataset.transforms as C
import mycelia.dataset.vision as V
from mycelia.dataset.vision.padding import LARGEST
from mycelia.errors import MyceliaError
from tests.dataset.vision.every import TRANSFORMS

INF = math.inf
AUDIO = {
    "Flanger": A.Flanger(44100), "Phaser": A.Phaser(44100), "Vad": A.Vad(16000), "Contrast": A.Contrast(),
    "DCShift": A.DCShift(0.5, 0.1), "Overdrive": A.Overdrive(), "Fade": A.Fade(), "MuLawEncoding": A.MuLawEncoding(),
    "MuLawDecoding": A.MuLawDecoding(), "ComputeDeltas": A.ComputeDeltas(), "SlidingWindowCmn": A.SlidingWindowCmn(),
    "MaskAlongAxis": A.MaskAlongAxis(0, 2, 0.0, 1), "MaskAlongAxisIID": A.MaskAlongAxisIID(3, 0.0, 1),
    "FrequencyMasking": A.FrequencyMasking(), "TimeMasking": A.TimeMasking(), "AmplitudeToDB": A.AmplitudeToDB(),
    "ComplexNorm": A.ComplexNorm(), "Magphase": A.Magphase(1.0), "DetectPitchFrequency": A.DetectPitchFrequency(16000),
    "Resample": A.Resample(16000, 8000), "Spectrogram": A.Spectrogram(), "InverseSpectrogram": A.InverseSpectrogram(),
    "GriffinLim": A.GriffinLim(), "SpectralCentroid": A.SpectralCentroid(8000), "TimeStretch": A.TimeStretch(),
    "PhaseVocoder": A.PhaseVocoder(1.3, np.zeros((3, 1))), "PitchShift": A.PitchShift(8000, 4), "MFCC": A.MFCC(),
    "LFCC": A.LFCC(), "MelSpectrogram": A.MelSpectrogram(), "InverseMelScale": A.InverseMelScale(20, 5),
    "MelScale": A.MelScale(5), "BandBiquad": A.BandBiquad(8000, 200.0), "BassBiquad": A.BassBiquad(8000, 5.0),
    "EqualizerBiquad": A.EqualizerBiquad(8000, 200.0, 5.0), "LowpassBiquad": A.LowpassBiquad(8000, 200.0),
    "BandpassBiquad": A.BandpassBiquad(8000, 200.0), "Dither": A.Dither(), "Vol": A.Vol(1.0),
}  # fmt: skip
PLAIN = {
    "OneHot": C.OneHot(3), "RandomApply": C.RandomApply([V.Invert()]), "SlidingWindow": T.SlidingWindow(2),
    "Truncate": T.Truncate(3), "TruncateSequencePair": T.TruncateSequencePair(4), "Ngram": T.Ngram(2),
    "WordpieceTokenizer": T.WordpieceTokenizer(T.Vocab.from_list(["a", "[UNK]"])), "PadEnd": C.PadEnd([3]),
}  # fmt: skip
BASES: dict[str, Any] = TRANSFORMS | AUDIO | PLAIN

Wrap = Callable[[Any], Any]
SAME: Wrap = lambda v: v  # noqa: E731
FIRST: Wrap = lambda v: (v, 1)  # noqa: E731
SECOND: Wrap = lambda v: (1, v)  # noqa: E731
LOW: Wrap = lambda v: (v, 1e9)  # noqa: E731
BOTH: Wrap = lambda v: (v, v)  # noqa: E731
ZERO_FIRST: Wrap = lambda v: (v, 0)  # noqa: E731
ZERO_SECOND: Wrap = lambda v: (0, v)  # noqa: E731
LISTED: Wrap = lambda v: [v]  # noqa: E731

WHOLE: list[tuple[str, float, float, Wrap]] = [
    ("CutOut.length", 1, LARGEST, SAME), ("CutOut.num_patches", 1, LARGEST, SAME), ("MixUp.batch_size", 1, INF, SAME),
    ("SlicePatches.num_height", 1, INF, SAME), ("SlicePatches.num_width", 1, INF, SAME),
    ("SlicePatches.fill_value", 0, 255, SAME), ("RandAugment.num_ops", 0, LARGEST, SAME),
    ("RandAugment.magnitude", 0, 30, SAME), ("TrivialAugmentWide.num_magnitude_bins", 2, LARGEST, SAME),
    ("UniformAugment.num_ops", 1, 2, SAME), ("RandomPosterize.bits", 1, 8, BOTH),
    ("RandomSolarize.threshold", 0, 255, BOTH), ("Posterize.bits", 0, 8, SAME), ("AutoContrast.ignore", 0, 255, SAME),
    ("AutoContrast.ignore", 0, 255, FIRST), ("RandomErasing.value", 0, 255, SAME),
    ("RandomErasing.value", 0, 255, lambda v: (1, v, 1)), ("RandomErasing.max_attempts", 1, LARGEST, SAME),
    ("RandomResizedCrop.max_attempts", 1, INF, SAME), ("Crop.coordinates", 0, INF, FIRST),
    ("Crop.coordinates", 0, INF, SECOND), ("Pad.padding", 0, LARGEST, SAME), ("PadToSize.size", 1, LARGEST, SAME),
    ("Erase.top", 0, INF, SAME), ("Erase.left", 0, INF, SAME), ("Erase.height", 1, INF, SAME),
    ("Erase.width", 1, INF, SAME), ("ResizedCrop.top", 0, INF, SAME), ("ResizedCrop.left", 0, INF, SAME),
    ("ResizedCrop.height", 1, INF, SAME), ("ResizedCrop.width", 1, INF, SAME), ("Flanger.sample_rate", 1, INF, SAME),
    ("Phaser.sample_rate", 1, INF, SAME), ("Vad.sample_rate", 1, INF, SAME), ("Fade.fade_in_len", 0, INF, SAME),
    ("Fade.fade_out_len", 0, INF, SAME), ("MuLawEncoding.quantization_channels", 1, INF, SAME),
    ("MuLawDecoding.quantization_channels", 1, INF, SAME), ("ComputeDeltas.win_length", 3, INF, SAME),
    ("SlidingWindowCmn.cmn_window", 1, INF, SAME), ("SlidingWindowCmn.min_cmn_window", 1, INF, SAME),
    ("MaskAlongAxis.mask_start", 0, INF, SAME), ("MaskAlongAxis.mask_width", 1, INF, SAME),
    ("MaskAlongAxis.axis", 1, 2, SAME), ("MaskAlongAxisIID.mask_param", 0, INF, SAME),
    ("MaskAlongAxisIID.axis", 1, 2, SAME), ("FrequencyMasking.freq_mask_param", 0, INF, SAME),
    ("FrequencyMasking.mask_start", 0, INF, SAME), ("TimeMasking.time_mask_param", 0, INF, SAME),
    ("TimeMasking.mask_start", 0, INF, SAME), ("DetectPitchFrequency.sample_rate", 1, INF, SAME),
    ("DetectPitchFrequency.win_length", 1, INF, SAME), ("Resample.lowpass_filter_width", 1, INF, SAME),
    ("Spectrogram.n_fft", 1, INF, SAME), ("Spectrogram.hop_length", 1, INF, SAME), ("Spectrogram.pad", 0, INF, SAME),
    ("InverseSpectrogram.length", 0, INF, SAME), ("InverseSpectrogram.pad", 0, INF, SAME),
    ("GriffinLim.n_iter", 1, INF, SAME), ("GriffinLim.length", 0, INF, SAME),
    ("SpectralCentroid.sample_rate", 1, INF, SAME), ("TimeStretch.hop_length", 1, INF, SAME),
    ("TimeStretch.n_freq", 1, INF, SAME), ("MelScale.n_mels", 1, INF, SAME), ("PitchShift.sample_rate", 1, INF, SAME),
    ("MFCC.n_mfcc", 1, 128, SAME), ("LFCC.n_lfcc", 1, 128, SAME), ("InverseMelScale.max_iter", 1, INF, SAME),
    ("OneHot.num_classes", 1, INF, SAME), ("SlidingWindow.width", 1, INF, SAME),
    ("Truncate.max_seq_len", 1, INF, SAME), ("TruncateSequencePair.max_length", 1, INF, SAME),
    ("Ngram.n", 1, INF, SAME), ("Ngram.n", 1, INF, LISTED), ("WordpieceTokenizer.max_bytes_per_token", 0, INF, SAME),
    ("PadEnd.pad_shape", 1, INF, LISTED),
]  # fmt: skip
REAL: list[tuple[str, float, float, Wrap]] = [
    *((f"{name}.prob", 0, 1, SAME) for name, base in TRANSFORMS.items() if hasattr(base, "prob")),
    ("RandomApply.prob", 0, 1, SAME), ("OneHot.smoothing_rate", 0, 1, SAME), ("BoundingBoxAugment.ratio", 0, 1, SAME),
    ("RandomSelectSubpolicy.policy", 0, 1, lambda v: [[(V.Invert(), v)]]),
    ("Rescale.rescale", -LARGEST, LARGEST, SAME), ("Rescale.shift", -LARGEST, LARGEST, SAME),
    ("Erase.value", 0, 255, SAME), ("Erase.value", 0, 255, lambda v: (1, 1, v)),
    ("RandomErasing.scale", 0, LARGEST, BOTH), ("RandomErasing.ratio", 1, LARGEST, SECOND),
    ("Rotate.degrees", -LARGEST, LARGEST, SAME), ("Rotate.center", -LARGEST, LARGEST, FIRST),
    ("Rotate.center", -LARGEST, LARGEST, SECOND), ("RandomRotation.degrees", 0, LARGEST, SAME),
    ("RandomRotation.degrees", -LARGEST, LARGEST, BOTH), ("Affine.degrees", -180, 180, SAME),
    ("Affine.translate", -1, 1, FIRST), ("Affine.translate", -1, 1, SECOND), ("Affine.shear", -180, 180, SAME),
    ("Affine.shear", -180, 180, FIRST), ("Affine.shear", -180, 180, SECOND),
    ("RandomAffine.degrees", 0, LARGEST, SAME), ("RandomAffine.translate", -1, 1, BOTH),
    ("RandomAffine.translate", -1, 1, lambda v: (0, 0, v, v)),
    ("RandomAffine.translate", -1, 1, lambda v: (v, v, 0, 0)), ("RandomAffine.shear", 0, 180, SAME),
    ("RandomAffine.shear", -180, 180, BOTH), ("RandomAffine.shear", -180, 180, lambda v: (0, 0, v, v)),
    ("RandomAffine.shear", -180, 180, lambda v: (v, v, 0, 0)), ("RandomAffine.scale", 5e-324, LARGEST, BOTH),
    ("RandomPerspective.distortion_scale", 0, 1, SAME), ("RandomColor.degrees", 0, LARGEST, BOTH),
    ("RandomSharpness.degrees", 0, LARGEST, BOTH), ("RandomAdjustSharpness.degree", 0, LARGEST, SAME),
    ("RandomColorAdjust.brightness", 0, LARGEST - 1, SAME), ("RandomColorAdjust.contrast", 0, LARGEST, BOTH),
    ("RandomColorAdjust.saturation", 0, LARGEST, BOTH), ("RandomColorAdjust.hue", 0, 0.5, SAME),
    ("RandomColorAdjust.hue", -0.5, 0.5, BOTH), ("RandomLighting.alpha", 0, LARGEST, SAME),
    ("AdjustBrightness.brightness_factor", 0, LARGEST, SAME), ("AdjustContrast.contrast_factor", 0, LARGEST, SAME),
    ("AdjustSaturation.saturation_factor", 0, LARGEST, SAME), ("AdjustHue.hue_factor", -0.5, 0.5, SAME),
    ("AdjustSharpness.sharpness_factor", 0, LARGEST, SAME), ("AdjustGamma.gamma", 0, LARGEST, SAME),
    ("AdjustGamma.gain", -LARGEST, LARGEST, SAME), ("AutoContrast.cutoff", 0, math.nextafter(50, 0), SAME),
    ("Solarize.threshold", 0, 255, SAME), ("Solarize.threshold", 0, 255, BOTH),
    ("GaussianBlur.sigma", 0, LARGEST, SAME), ("GaussianBlur.sigma", 0, LARGEST, BOTH),
    ("Contrast.enhancement_amount", 0, 100, SAME), ("DCShift.shift", -2, 2, SAME), ("Overdrive.gain", 0, 100, SAME),
    ("Overdrive.color", 0, 100, SAME), ("Phaser.gain_in", 0, 1, SAME), ("Phaser.gain_out", 0, 1e9, SAME),
    ("Phaser.delay_ms", 0, 5, SAME), ("Phaser.decay", 0, 0.99, SAME), ("Phaser.mod_speed", 0.1, 2, SAME),
    ("Flanger.delay", 0, 30, SAME), ("Flanger.depth", 0, 10, SAME), ("Flanger.regen", -95, 95, SAME),
    ("Flanger.width", 0, 100, SAME), ("Flanger.speed", 0.1, 10, SAME), ("Flanger.phase", 0, 100, SAME),
    ("Vad.allowed_gap", 0, INF, SAME), ("Vad.pre_trigger_time", 0, INF, SAME), ("Vad.boot_time", 0, INF, SAME),
    ("Vad.noise_reduction_amount", 0, INF, SAME), ("Vad.measure_duration", 0, INF, SAME),
    ("ComplexNorm.power", 0, INF, SAME), ("Magphase.power", 0, INF, SAME), ("Spectrogram.power", 0, INF, SAME),
    ("GriffinLim.momentum", 0, INF, SAME), ("InverseMelScale.tolerance_loss", 0, INF, SAME),
    ("InverseMelScale.tolerance_change", 0, INF, SAME),
]  # fmt: skip
ABOVE: list[tuple[str, float, float, Wrap]] = [
    ("MixUpBatch.alpha", 0, LARGEST, SAME), ("CutMixBatch.alpha", 0, LARGEST, SAME), ("MixUp.alpha", 0, LARGEST, SAME),
    ("Affine.scale", 0, LARGEST, SAME), ("AmplitudeToDB.ref_value", 0, INF, SAME),
    ("AmplitudeToDB.amin", 0, INF, SAME), ("AmplitudeToDB.top_db", 0, INF, SAME),
    ("DetectPitchFrequency.frame_time", 0, INF, SAME), ("DetectPitchFrequency.freq_low", 0, INF, SAME),
    ("DetectPitchFrequency.freq_high", 0, INF, SAME), ("Resample.rolloff", 0, 1, SAME),
    ("GriffinLim.power", 0, INF, SAME), ("PhaseVocoder.rate", 0, INF, SAME), ("TimeStretch.fixed_rate", 0, INF, SAME),
    ("MelSpectrogram.power", 0, INF, SAME), ("BandBiquad.Q", 0, 1, SAME), ("BassBiquad.Q", 0, 1, SAME),
    ("EqualizerBiquad.Q", 0, 1, SAME), ("LowpassBiquad.Q", 0, 1, SAME),
    *((f"Vad.{name}", 0, INF, SAME) for name in (
        "trigger_time", "search_time", "noise_up_time", "noise_down_time", "measure_freq", "measure_smooth_time",
        "hp_filter_freq", "lp_filter_freq", "hp_lifter_freq", "lp_lifter_freq",
    )),
]  # fmt: skip


def with_field(place: str, value: Any) -> Any:
    name, _, field = place.partition(".")
    return dataclasses.replace(BASES[name], **{field: value})


def taken(place: str, value: Any) -> None:
    made = with_field(place, value)
    held = getattr(made, place.partition(".")[2])
    assert repr(held) == repr(value) or list(np.ravel(held)) == list(np.ravel(value))


def refused(place: str, value: Any) -> None:
    with pytest.raises(MyceliaError) as told:
        with_field(place, value)
    assert place.partition(".")[2] in str(told.value).splitlines()[0], "the argument is named"


def name_of(case: Any) -> str:
    return case[0]


@pytest.mark.many(("place", "least", "most", "wrap"), WHOLE, ids=name_of)
def test_whole_numbers_are_taken_up_to_their_bounds(place, least, most, wrap):
    taken(place, wrap(least))
    refused(place, wrap(least - 1))
    if most < INF:
        taken(place, wrap(most))
        refused(place, wrap(most + 1))
    for odd in (least + 0.5, True, "1", [[1]]):
        refused(place, wrap(odd))


@pytest.mark.many(("place", "least", "most", "wrap"), REAL, ids=name_of)
def test_numbers_are_taken_up_to_their_bounds(place, least, most, wrap):
    taken(place, wrap(least))
    refused(place, wrap(np.nextafter(least, -INF)))
    if most < INF:
        taken(place, wrap(most))
        refused(place, wrap(np.nextafter(most, INF)))
    for odd in (math.nan, True, "1", 1j):
        refused(place, wrap(odd))


@pytest.mark.many(("place", "least", "most", "wrap"), ABOVE, ids=name_of)
def test_numbers_that_lie_above_a_bound_are_not_it(place, least, most, wrap):
    taken(place, wrap(math.nextafter(least, INF)))
    refused(place, wrap(least))
    if most < INF:
        taken(place, wrap(most))
        refused(place, wrap(np.nextafter(most, INF)))


FLAGS = [
    f"{name}.{field.name}"
    for name, base in BASES.items()
    if dataclasses.is_dataclass(base)
    for field in dataclasses.fields(base)
    if field.init and type(getattr(base, field.name)) is bool
]
MODES = [
    f"{name}.{field.name}"
    for name, base in BASES.items()
    if dataclasses.is_dataclass(base)
    for field in dataclasses.fields(base)
    if field.init and hasattr(type(getattr(base, field.name)), "__members__")
]


@pytest.mark.many("place", FLAGS)
def test_flags_are_true_or_false(place):
    for value in (True, False, np.True_):
        taken(place, value)
    for value in (0, 1, "no", None, [True]):
        refused(place, value)


@pytest.mark.many("place", MODES)
def test_modes_are_members_of_their_own_enumeration(place):
    name, _, field = place.partition(".")
    kind = type(getattr(BASES[name], field))
    for value in (
        *(m.value for m in kind),
        "mode",
        None,
        C.Relational.EQ if kind is not C.Relational else V.Inter.AREA,
    ):
        refused(place, value)


def test_a_rate_that_is_no_number_is_told_before_it_is_divided():
    for place in ("MelScale.sample_rate", "InverseMelScale.sample_rate", "MelSpectrogram.sample_rate"):
        for odd in ("8000", 0, -1, 8000.5):
            refused(place, odd)
