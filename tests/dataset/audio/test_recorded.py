"""Every audio transform gives what MindSpore 2.10 or torchaudio 2.11 gave, within its case's tolerance."""

import pathlib

import numpy as np
import pytest

import mycelia.dataset.audio as A
from tests.dataset.recorded import audio_cases as cases
from tests.dataset.recorded import audio_torch_cases as torch_cases
from tests.dataset.recorded import covered

HERE = pathlib.Path(__file__).parents[1] / "recorded"
RECORDED = np.load(HERE / "audio.npz")
TORCH = np.load(HERE / "audio_torch.npz")
INPUTS = cases.inputs()

ELSEWHERE = {  # what has no recorded answer, and the law that judges it instead
    "InverseMelScale": "test_an_inverted_mel_scale_has_the_same_mel_spectrogram: it starts at random",
    "DensityFunction.RPDF": "test_dither_moves_by_no_more_than_a_few_steps: drawn at random",
    "DensityFunction.GPDF": "test_dither_moves_by_no_more_than_a_few_steps: drawn at random",
    "FadeShape.LOGARITHMIC": "test_no_fade_is_louder_than_the_wave: MindSpore is louder, torchaudio clamps",
}


def close(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    error = np.abs(got.astype(np.float64) - want) / np.maximum(1, np.abs(want))
    assert error.max() <= tolerance


@pytest.mark.many("name", cases.CASES, pack=100)
def test_equals_what_mindspore_answered(name):
    expression, given, tolerance = cases.CASES[name]
    out = eval(expression, {"A": A, "np": np})(INPUTS[given])
    parts = out if isinstance(out, tuple) else (out,)
    for i, got in enumerate(parts):
        close(got, RECORDED[f"{name}.{i}"], tolerance)
    assert f"{name}.{len(parts)}" not in RECORDED


@pytest.mark.parametrize("name", torch_cases.CASES)
def test_equals_what_torchaudio_answered(name):
    expression, _, given, tolerance = torch_cases.CASES[name]
    close(eval(expression, {"A": A, "np": np})(INPUTS[given]), TORCH[name], tolerance)


SPOKEN_OF = covered.mentioned([case[0] for case in [*cases.CASES.values(), *torch_cases.CASES.values()]], "A", A)


@pytest.mark.many("name", covered.expected(A), pack=100)
def test_every_transform_option_and_mode_has_a_recorded_answer(name):
    if name in ELSEWHERE:
        return
    assert name in SPOKEN_OF
    missing = covered.expected(A)[name] - SPOKEN_OF[name]
    assert not {option for option in missing if f"{name}.{option}" not in ELSEWHERE}
