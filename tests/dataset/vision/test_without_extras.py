"""Without the optional libraries transforms work on, or say which extra they need."""

import base64
import sys
import types

import numpy as np
import pytest

import mycelia.dataset.audio as A
import mycelia.dataset.text as T
import mycelia.dataset.vision as V
from mycelia.dataset.random import seeded
from mycelia.dataset.transforms import base
from mycelia.errors import DependencyError
from tests.dataset.vision import every

OPTIONAL = ("PIL", "PIL.Image", "PIL.ImageEnhance", "PIL.ImageOps", "cv2", "simplejpeg", "sentencepiece", "av", "scipy")
IMAGE = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)


GREY = base64.b64decode(  # a JPEG of 9 x 11 pixels of 77
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMU"
    "FRUVDA8XGBYUGBIUFRT/wAALCAAJAAsBAREA/8QAFQABAQAAAAAAAAAAAAAAAAAAAAj/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oA"
    "CAEBAAA/AJ3Af//Z"
)


@pytest.fixture
def bare(monkeypatch):
    """A Python in which no optional library can be imported."""
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)
    base.installed.cache_clear()
    yield
    base.installed.cache_clear()


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (lambda: V.Decode()(np.array([255, 216, 255, 224, 0], np.uint8)), "pillow"),
        (lambda: V.Decode()(V.encode_png(IMAGE)), "pillow"),
        (lambda: V.ToPIL()(IMAGE), "pillow"),
        (lambda: V.encode_jpeg(IMAGE), "pillow"),
        (lambda: V.DecodeVideo()(np.zeros(4, np.uint8)), "av"),
        (lambda: T.SentencePieceTokenizer(T.SentencePieceVocab(), T.SPieceTokenizerOutType.INT)("a"), "sentencepiece"),
    ],
    ids=["jpeg", "png", "to_pil", "encode", "video", "sentencepiece"],
)
@pytest.mark.usefixtures("bare")
def test_what_needs_a_library_names_it_and_the_extra(call, package):
    with pytest.raises(DependencyError, match=package) as raised:
        call()
    assert "mycelia[data]" in str(raised.value)


@pytest.mark.parametrize(
    "transform",
    [
        V.Resize((9, 11)), V.Resize((40, 50), V.Inter.AREA), V.Resize((9, 50), V.Inter.PILCUBIC), V.Rotate(30),
        V.Rotate(30, V.Inter.LINEAR), V.HorizontalFlip(), V.AdjustGamma(2.0), V.Equalize(), V.AutoContrast(),
        V.GaussianBlur(5), V.GaussianBlur((3, 9), (0.7, 2.1)), V.AdjustHue(0.2), V.AdjustSaturation(1.7), V.Grayscale(),
        V.AdjustContrast(1.7), V.ConvertColor(V.ConvertMode.COLOR_BGR2GRAY), V.Affine(9.0, (0.1, 0.2), 1.1, 3.0),
        V.RandomHorizontalFlip(1.0), V.Solarize(100),
    ],
    ids=repr,
)  # fmt: skip
def test_numbers_do_not_depend_on_what_is_installed(transform, request):
    with_libraries = transform(IMAGE)
    request.getfixturevalue("bare")
    np.testing.assert_array_equal(transform(IMAGE), with_libraries)


@pytest.mark.usefixtures("bare")
def test_sound_needs_numpy_alone():
    wave = np.sin(np.arange(4000) * 0.2)
    assert A.MFCC(8000, melkwargs={"n_fft": 64, "n_mels": 40})(wave).shape == (40, 126)
    assert A.LowpassBiquad(8000, 500.0)(wave).shape == wave.shape


@pytest.mark.parametrize("name", list(every.TRANSFORMS))
def test_every_transform_of_arrays_works_without_libraries_and_gives_the_same(name, request):
    if name == "ToPIL":
        pytest.skip("it is what makes Pillow images")
    with seeded(np.random.default_rng(0)):
        want = every.TRANSFORMS[name](*every.columns(name))
    request.getfixturevalue("bare")
    with seeded(np.random.default_rng(0)):
        got = every.TRANSFORMS[name](*every.columns(name))
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("bare")
def test_baseline_jpegs_are_decoded_without_a_library():
    np.testing.assert_array_equal(V.Decode()(np.frombuffer(GREY, np.uint8)), np.full((9, 11, 3), 77, np.uint8))
    assert V.RandomCropDecodeResize(5)(np.frombuffer(GREY, np.uint8)).tolist() == [[[77] * 3] * 5] * 5


def test_a_library_that_another_thread_is_importing_is_not_there_yet(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", types.ModuleType("PIL.Image"))
    assert V.Resize((2, 2))(IMAGE).shape == (2, 2, 3)
