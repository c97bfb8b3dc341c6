"""What lies on a border: draws that are the probability itself, halves that are rounded, moves by whole pixels."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import mycelia.dataset.vision as V
from mycelia.dataset import transforms
from mycelia.dataset.random import seeded
from mycelia.dataset.vision.resample import by_taps
from mycelia.errors import MyceliaError
from tests.dataset.vision.every import TRANSFORMS, columns

RNG = np.random.default_rng(3)


class Drawn(np.random.Generator):
    """A generator whose every `random()` of one number is the same."""

    def __new__(cls, value):
        return super().__new__(cls, np.random.PCG64(1))

    def __init__(self, value):
        super().__init__(np.random.PCG64(1))
        self.value = value

    def random(self, size=None, *args, **kwargs):
        return self.value if size is None else super().random(size, *args, **kwargs)


WITH_PROBABILITY = [name for name, made in TRANSFORMS.items() if hasattr(made, "prob") and "Mix" not in name]


def changed(transform, given):
    """Whether a transform that draws the least number there is, and one that draws the largest, changes its columns."""
    found = []
    for value in (0.0, np.nextafter(1, 0)):
        with seeded(Drawn(value)):
            out = transform(*(c.copy() for c in given))
        outs = out if isinstance(out, tuple) else (out,)
        found.append(not all(np.array_equal(a, b) for a, b in zip(outs, given, strict=True)))
    return found


@pytest.mark.parametrize("name", WITH_PROBABILITY)
def test_what_has_no_chance_never_happens_and_what_is_certain_always_does(name):
    given = columns(name)
    if "Grayscale" in name or "Contrast" in name:
        given[0][0, 0] = 3  # there is something to do
    transform = TRANSFORMS[name]
    if name == "RandomAdjustSharpness":
        transform = V.RandomAdjustSharpness(3.0)
    if name == "RandomPerspective":
        transform = V.RandomPerspective(0.9)
    assert changed(dataclasses.replace(transform, prob=0.0), given) == [False, False]
    assert changed(dataclasses.replace(transform, prob=1.0), given) == [True, True]


def test_batches_are_mixed_when_their_turn_comes():
    images = np.stack([np.full((6, 5, 3), level, np.uint8) for level in (10, 90, 200)])
    labels, differ = np.eye(3, dtype=np.float32), {0.0: 0, 1.0: 0}
    for chance in differ:
        with seeded(np.random.default_rng(1)):
            for _ in range(30):
                made = V.CutMixBatch(V.ImageBatchFormat.NHWC, prob=chance)(images, labels)
                differ[chance] += not np.array_equal(made[0], images)
    assert differ[0.0] == 0
    assert differ[1.0] > 15  # a row may be its own partner, and a cut may be empty


def test_a_random_application_has_no_chance_or_is_certain():
    given = columns("Invert")
    assert changed(transforms.RandomApply([V.Invert()], 0.0), given) == [False, False]
    assert changed(transforms.RandomApply([V.Invert()], 1.0), given) == [True, True]
    for chance, want in ((0.0, [False, False]), (1.0, [True, True])):
        assert changed(V.RandomSelectSubpolicy([[(V.Invert(), chance)]]), given) == want


SIZES = [1, 2, 3, 4, 6, 8, 9, 12]


@pytest.mark.parametrize("shape", [(6, 8), (6, 8, 1), (6, 8, 3), (6, 8, 4), (12, 4, 3), (5, 7, 3)], ids=str)
@pytest.mark.parametrize("mode", [V.Inter.NEAREST, V.Inter.LINEAR, V.Inter.AREA])
def test_every_ratio_of_sizes_is_that_of_opencv(mode, shape):
    opencv = pytest.importorskip("cv2")
    flag = {0: opencv.INTER_NEAREST, 2: opencv.INTER_LINEAR, 4: opencv.INTER_AREA}[mode]
    few = RNG.integers(0, 4, shape).astype(np.uint8)  # sums of four are often halves
    for image in (few, RNG.integers(0, 256, shape).astype(np.uint8)):
        for height, width in itertools.product(SIZES, SIZES):
            want = opencv.resize(image, (width, height), interpolation=flag)
            np.testing.assert_array_equal(
                by_taps(image, height, width, mode).reshape(want.shape), want, f"{height, width}"
            )


@pytest.mark.parametrize("mode", [V.Inter.LINEAR, V.Inter.AREA])
def test_pictures_of_real_numbers_are_resized_as_opencv_does(mode):
    opencv = pytest.importorskip("cv2")
    flag = {2: opencv.INTER_LINEAR, 4: opencv.INTER_AREA}[mode]
    image = RNG.normal(size=(6, 8, 3)).astype(np.float32)
    for height, width in itertools.product(SIZES, SIZES):
        want = opencv.resize(image, (width, height), interpolation=flag)
        if mode == V.Inter.LINEAR and (height, width) == (3, 4):
            continue  # OpenCV takes the mean of four
        np.testing.assert_allclose(by_taps(image, height, width, mode), want, 1e-4, 1e-5, err_msg=f"{height, width}")


def moved(image, across, down):
    """An image moved by whole pixels, with zeros behind it."""
    out = np.zeros_like(image)
    height, width = image.shape[:2]
    for y, x in itertools.product(range(height), range(width)):
        if 0 <= y - down < height and 0 <= x - across < width:
            out[y, x] = image[y - down, x - across]
    return out


@pytest.mark.parametrize("channels", [0, 1, 3])
@pytest.mark.parametrize("across", [-3, 0, 2])
@pytest.mark.parametrize("down", [-2, 0, 1])
def test_a_map_moves_by_parts_of_width_and_height(across, down, channels):
    image = RNG.integers(1, 256, (5, 8, channels) if channels else (5, 8)).astype(np.uint8)
    made = V.Affine(0.0, (across / 8, down / 5), 1.0, 0.0)(image)
    np.testing.assert_array_equal(made, moved(image, across, down))
    drawn = V.RandomAffine(0, translate=(across / 8, across / 8, down / 5, down / 5))(image)
    np.testing.assert_array_equal(drawn, made)


@pytest.mark.parametrize("sign", [-1, 1])
def test_one_shear_leans_along_x_and_two_along_both(sign):
    image = RNG.integers(1, 256, (5, 9)).astype(np.uint8)
    along_x = np.stack([moved(image[y : y + 1], sign * -(y - 2), 0)[0] for y in range(5)])
    along_y = np.stack([moved(image[:, x : x + 1], 0, sign * -(x - 4))[:, 0] for x in range(9)], 1)
    for shear, want in ((45, along_x), ((45, 0), along_x), ((0, 45), along_y)):
        turned = tuple(sign * s for s in shear) if isinstance(shear, tuple) else sign * shear
        made = V.Affine(0.0, (0.0, 0.0), 1.0, turned)(image)
        np.testing.assert_array_equal(made, want, f"{shear}")
    a, b = V.Affine(0.0, (0, 0), 1.0, sign * 20.0), V.Affine(0.0, (0, 0), 1.0, (sign * 20.0, 0.0))
    np.testing.assert_array_equal(a(image), b(image))


def test_shears_of_a_random_map_are_drawn_where_they_belong():
    image = RNG.integers(1, 256, (5, 9)).astype(np.uint8)
    for given, want in (((45, 45), (45, 0)), ((45, 45, 0, 0), (45, 0)), ((0, 0, 45, 45), (0, 45))):
        made = V.RandomAffine(0, shear=given)(image)
        np.testing.assert_array_equal(made, V.Affine(0.0, (0, 0), 1.0, want)(image), str(given))
    drawn = [V.RandomAffine(0, shear=30).draw(RNG, 5, 9).shear for _ in range(300)]
    assert {s[1] for s in drawn} == {0}
    assert min(s[0] for s in drawn) < -28
    assert max(s[0] for s in drawn) > 28


def test_what_is_erased_may_touch_each_border_and_cross_none():
    image = RNG.integers(1, 255, (4, 6, 3), np.uint8)
    for top, left, height, width in itertools.product((0, 1, 3, 4), (0, 2, 5, 6), (1, 3, 4, 5), (1, 4, 6, 7)):
        erase = V.Erase(top, left, height, width)
        if top + height > 4 or left + width > 6:
            with pytest.raises(MyceliaError, match="outside the image"):
                erase(image)
            continue
        rows, columns = np.mgrid[:4, :6]
        inside = (rows >= top) & (rows < top + height) & (columns >= left) & (columns < left + width)
        np.testing.assert_array_equal(erase(image), np.where(inside[..., None], 0, image))
