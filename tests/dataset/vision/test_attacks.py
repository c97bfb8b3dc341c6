"""Wrong arguments and strange images: every transform answers, or tells what was wrong, and leaves its input alone."""

import inspect
from contextlib import suppress

import numpy as np
import pytest

import mycelia.dataset as ds
import mycelia.dataset.vision as V
from mycelia.dataset.random import seeded
from mycelia.errors import MyceliaError
from tests.dataset.vision import every
from tests.each import each

NAN = float("nan")
WRONG = [None, -1, 0, 1e30, NAN, float("inf"), "x", b"x", [], (), [1], (1, 2, 3, 4, 5), {}, object(), True,
         (2, 1), (0, 0), np.array([1, 2]), (None, None), ("p", "q"), [[1]], 2**70, -(2**70), 1 + 2j, (NAN, 1.0),
         slice(1)]  # fmt: skip


@pytest.mark.many("name", list(every.CLASSES))
def test_a_wrong_argument_is_refused_by_its_name_or_works(name):
    kind, good = every.CLASSES[name], every.ARGUMENTS.get(name, ())
    parameters = list(inspect.signature(kind).parameters)
    for i, parameter in enumerate(parameters):
        for wrong in WRONG:
            given = {**dict(zip(parameters, good, strict=False)), parameters[i]: wrong}
            try:
                transform = kind(**given)
            except MyceliaError as error:
                told = str(error)
                assert any(word in told for word in (*parameters, "element type", "transform", "prob")), (
                    parameter,
                    told,
                )
                continue
            if name not in every.DECODERS:
                with suppress(MyceliaError):
                    transform(*every.columns(name))


IMAGES = {
    "nothing": np.array(5, np.uint8),
    "a row": np.arange(5, dtype=np.uint8),
    "no rows": np.zeros((0, 4, 3), np.uint8),
    "no channels": np.zeros((4, 4, 0), np.uint8),
    "one pixel": np.zeros((1, 1, 3), np.uint8),
    "two channels": np.zeros((9, 8, 2), np.uint8),
    "many channels": np.zeros((9, 8, 7), np.uint8),
    "words": np.array([["a", "b"]]),
    "objects": np.array([[None, 1]], object),
    "complex": np.zeros((5, 6, 3), complex),
    "dates": np.zeros((5, 6), "datetime64[s]"),
    "not a number": np.full((12, 14, 3), np.nan, np.float32),
    "infinite": np.full((12, 14, 3), np.inf, np.float32),
    "half": np.ones((12, 14, 3), np.float16),
    "signed": np.full((12, 14, 3), -7, np.int8),
    "large": np.full((12, 14, 3), 2**40, np.int64),
    "truth": np.ones((12, 14, 3), bool),
    "six axes": np.zeros((1, 1, 2, 5, 6, 3), np.uint8),
}


@pytest.mark.many("name", list(every.TRANSFORMS), pack=100)
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Casting complex values:numpy.exceptions.ComplexWarning")
def test_a_strange_image_is_answered_or_refused_in_words(name):
    def check(image):
        rest = list(every.columns(name)[1:])
        if rest and "Mix" not in name and image.ndim in (2, 3):
            rest = [np.array([[0, 0, 1, 1]], np.float32)]
        with suppress(MyceliaError):
            every.TRANSFORMS[name](image, *rest)

    each(check, [(what, (image,)) for what, image in IMAGES.items()])


@pytest.mark.parametrize("name", list(every.TRANSFORMS))
def test_columns_that_cannot_be_written_are_read_and_left_alone(name):
    if name == "ToPIL":
        pytest.importorskip("PIL", reason="it makes Pillow images")
    for spread in (np.asarray, lambda x: np.repeat(x, 2, 0)[::2], np.asfortranarray):
        given = tuple(spread(column) for column in every.columns(name))
        before = [column.copy() for column in given]
        for column in given:
            column.flags.writeable = False
        with seeded(np.random.default_rng(0)):
            out = every.TRANSFORMS[name](*given)
        with seeded(np.random.default_rng(0)):
            again = every.TRANSFORMS[name](*every.columns(name))
        for column, old in zip(given, before, strict=True):
            np.testing.assert_array_equal(column, old)
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (out, again)), strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("name", [name for name in every.ARGUMENTS if name in every.TRANSFORMS])
def test_lists_and_numpy_numbers_stand_for_tuples_and_numbers(name):
    def other(value):
        if isinstance(value, bool) or not isinstance(value, (int, float, tuple)):
            return value
        if isinstance(value, tuple):
            return [other(v) for v in value]
        return np.float64(value) if isinstance(value, float) else np.int32(value)

    arguments = [a if hasattr(a, "name") else other(a) for a in every.ARGUMENTS[name]]
    answers = []
    for transform in (every.CLASSES[name](*arguments), every.TRANSFORMS[name]):
        with seeded(np.random.default_rng(0)):
            out = transform(*every.columns(name))
        answers.append(out if isinstance(out, tuple) else (out,))
    for a, b in zip(*answers, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize(
    "name", [n for n in every.TRANSFORMS if "BBox" not in n and "Mix" not in n and "Bounding" not in n]
)
def test_every_mode_of_pillow_is_answered_or_refused_in_words(name):
    pillow = pytest.importorskip("PIL.Image")

    def check(mode):
        image = pillow.fromarray(every.IMAGE)
        image = pillow.fromarray(every.IMAGE[..., 0].astype(np.uint16)) if mode == "I;16" else image.convert(mode)
        before = image.tobytes()
        with suppress(MyceliaError):
            every.TRANSFORMS[name](image)
        assert image.tobytes() == before

    modes = ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "HSV", "I", "I;16", "F"]
    each(check, [(mode, (mode,)) for mode in modes])


CHANCE = [V.RandomCrop(7), V.RandomResizedCrop(8), V.RandomHorizontalFlip(), V.RandomColorAdjust(0.4, 0.4, 0.4, 0.1),
          V.RandomRotation(30), V.RandAugment(), V.AutoAugment(), V.TrivialAugmentWide(), V.CutOut(3),
          V.RandomPerspective(0.5, 0.9), V.RandomSolarize(), V.RandomLighting(0.3)]  # fmt: skip


def drawn(transform, workers, processes):
    """The images of two epochs of a seeded pipeline."""
    seed = ds.config.get_seed()
    ds.config.set_seed(99)
    try:
        source = ds.NumpySlicesDataset({"image": np.stack([every.IMAGE] * 12)}, shuffle=True)
        mapped = source.map(transform, "image", num_parallel_workers=workers, python_multiprocessing=processes)
        return [row["image"] for _ in range(2) for row in mapped.create_dict_iterator(1, output_numpy=True)]
    finally:
        ds.config.set_seed(seed)


@pytest.mark.parametrize("transform", CHANCE, ids=lambda t: type(t).__name__)
def test_a_seeded_pipeline_draws_the_same_in_threads_and_in_processes(transform):
    alone = drawn(transform, 1, False)
    others = [drawn(transform, 3, False)] + ([drawn(transform, 2, True)] if transform in CHANCE[:2] else [])
    for images in others:
        for a, b in zip(alone, images, strict=True):
            np.testing.assert_array_equal(a, b)
    assert len({image.tobytes() for image in alone}) > 1
