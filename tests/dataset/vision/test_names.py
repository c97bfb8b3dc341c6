"""The modules and functions that MindSpore users import by name."""

import numpy as np
import pytest

import mycelia.dataset.vision as V
from mycelia.dataset.random import seeded
from mycelia.dataset.vision import py_transforms_util as util
from mycelia.dataset.vision import transforms, utils, validators

IMAGE = np.random.default_rng(2).integers(0, 256, (20, 30, 3)).astype(np.uint8)


def test_transforms_and_modes_are_one_thing_under_each_name():
    for name in transforms.__all__:
        if hasattr(V, name):
            assert getattr(V, name) is getattr(transforms, name)
    for name in ("Inter", "Border", "ConvertMode", "SliceMode", "read_image", "write_png"):
        assert getattr(V, name) is getattr(utils, name)
    assert validators.margins(3) == utils.parse_padding(3) == (3, 3, 3, 3)


def test_interpolations_have_mindspores_numbers():
    numbers = {
        "NEAREST": 0,
        "ANTIALIAS": 1,
        "BILINEAR": 2,
        "LINEAR": 2,
        "BICUBIC": 3,
        "CUBIC": 3,
        "AREA": 4,
        "PILCUBIC": 5,
    }
    assert {name: mode.value for name, mode in V.Inter.__members__.items()} == numbers


@pytest.mark.parametrize(
    ("function", "arguments", "transform"),
    [
        ("adjust_brightness", (1.3,), V.AdjustBrightness(1.3)),
        ("adjust_contrast", (1.3,), V.AdjustContrast(1.3)),
        ("adjust_saturation", (1.3,), V.AdjustSaturation(1.3)),
        ("adjust_hue", (0.1,), V.AdjustHue(0.1)),
        ("adjust_gamma", (1.3, 1.0), V.AdjustGamma(1.3)),
        ("auto_contrast", (1.0, None), V.AutoContrast(1.0)),
        ("center_crop", ((5, 6),), V.CenterCrop((5, 6))),
        ("crop", (1, 2, 3, 4), V.Crop((1, 2), (3, 4))),
        ("equalize", (), V.Equalize()),
        ("horizontal_flip", (), V.HorizontalFlip()),
        ("hwc_to_chw", (), V.HWC2CHW()),
        ("invert_color", (), V.Invert()),
        ("normalize", ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), V.Normalize([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])),
        ("pad", ((1, 2), 5, V.Border.CONSTANT), V.Pad((1, 2), 5)),
        ("random_crop", ((5, 6), None, False, 0, V.Border.CONSTANT), V.RandomCrop((5, 6))),
        ("resize", ((5, 6),), V.Resize((5, 6))),
        ("rotate", (30, V.Inter.NEAREST, False, None, 0), V.Rotate(30)),
        ("to_tensor", (np.float32,), V.ToTensor()),
        ("to_type", (np.float32,), V.ToType(np.float32)),
        ("vertical_flip", (), V.VerticalFlip()),
    ],
)
def test_plain_functions_do_what_the_transforms_do(function, arguments, transform):
    with seeded(np.random.default_rng(0)):
        got = getattr(util, function)(IMAGE, *arguments)
    with seeded(np.random.default_rng(0)):
        np.testing.assert_array_equal(got, transform(IMAGE))


def test_kinds_of_images_are_told_apart():
    assert util.is_numpy(IMAGE)
    assert not util.is_pil(IMAGE)
    assert "ToPIL" in util.augment_error_message.format(type(IMAGE))
    assert V.get_image_size(IMAGE) == [20, 30]
    assert V.get_image_num_channels(IMAGE) == 3
    assert V.get_image_num_channels(IMAGE[..., 0]) == 1


def test_boxes_stay_inside_a_random_crop():
    boxes = np.array([[2, 3, 10, 8], [20, 10, 9, 9]], np.float32)
    for seed in range(20):
        with seeded(np.random.default_rng(seed)):
            image, moved = V.RandomResizedCropWithBBox((12, 16))(IMAGE, boxes)
        assert image.shape == (12, 16, 3)
        assert (moved[:, :4] >= 0).all()
        assert (moved[:, 0] + moved[:, 2] <= 16 + 1e-4).all()
        assert (moved[:, 1] + moved[:, 3] <= 12 + 1e-4).all()


def test_augmenting_boxes_changes_nothing_outside_them():
    boxes = np.array([[2, 3, 10, 8]], np.float32)
    image, same = V.BoundingBoxAugment(V.Invert(), 1.0)(IMAGE, boxes)
    want = IMAGE.copy()
    want[3:11, 2:12] = 255 - want[3:11, 2:12]
    np.testing.assert_array_equal(image, want)
    np.testing.assert_array_equal(same, boxes)
    small, scaled = V.RandomResizeWithBBox((10, 15))(IMAGE, boxes)
    assert small.shape == (10, 15, 3)
    np.testing.assert_allclose(scaled, boxes / 2)


def test_random_rectangles_keep_to_their_bounds():
    crop = V.RandomResizedCrop(8, (0.2, 0.5), (0.5, 2.0))
    for seed in range(200):
        chosen = crop.draw(np.random.default_rng(seed), 100, 120)
        area, ratio = chosen.height * chosen.width / 12000, chosen.width / chosen.height
        assert 0.19 < area < 0.51
        assert 0.48 < ratio < 2.1


def test_a_probability_is_kept():
    with seeded(np.random.default_rng(0)):
        flips = sum(not np.array_equal(V.RandomHorizontalFlip(0.3)(IMAGE), IMAGE) for _ in range(1000))
    assert abs(flips / 1000 - 0.3) < 0.05


def test_a_mark_says_that_a_function_does_not_draw():
    assert V.not_random(lambda x: x).random is False
