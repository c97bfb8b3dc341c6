"""How random transforms draw: as often as they say, within the bounds they were given, and all over them."""

import numpy as np
import pytest

import mycelia.dataset.vision as V
from mycelia.dataset.random import seeded
from mycelia.dataset.vision.base import SAME

IMAGE = np.random.default_rng(2).integers(0, 256, (20, 30, 3)).astype(np.uint8)
DRAWS = 2000
WITH_PROBABILITY = [
    V.RandomHorizontalFlip(0.3), V.RandomVerticalFlip(0.3), V.RandomEqualize(0.3), V.RandomInvert(0.3),
    V.RandomAutoContrast(5.0, None, 0.3), V.RandomAdjustSharpness(2.0, 0.3), V.RandomGrayscale(0.3),
    V.RandomPerspective(0.5, 0.3),
]  # fmt: skip


def draws(transform):
    """Many transforms that a random one draws for a picture."""
    rng = np.random.default_rng(7)
    return [transform.draw(rng, *IMAGE.shape[:2]) for _ in range(DRAWS)]


def fills(values, low, high):
    """Whether values lie within [low, high], evenly: their mean and their ends tell."""
    values = np.asarray(values, float)
    assert values.min() >= low - 1e-6
    assert values.max() <= high + 1e-6
    width = high - low
    assert values.min() < low + 0.02 * width
    assert values.max() > high - 0.02 * width
    assert abs(values.mean() - (low + high) / 2) < 4 * width / np.sqrt(12 * len(values))


@pytest.mark.parametrize("transform", WITH_PROBABILITY, ids=lambda t: type(t).__name__)
def test_a_probability_is_the_share_of_images_that_change(transform):
    share = np.mean([drawn != SAME for drawn in draws(transform)])
    assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / DRAWS)


@pytest.mark.parametrize("name", ["RandomHorizontalFlipWithBBox", "RandomVerticalFlipWithBBox", "RandomErasing"])
def test_a_probability_holds_where_boxes_or_noise_come_along(name):
    transform, boxes = getattr(V, name)(0.3), np.array([[1.0, 2, 3, 4]], np.float32)
    columns = (IMAGE.transpose(2, 0, 1),) if name == "RandomErasing" else (IMAGE, boxes)
    with seeded(np.random.default_rng(5)):
        outs = [transform(*columns) for _ in range(DRAWS)]
    share = np.mean([not np.array_equal(out[0] if len(columns) == 2 else out, columns[0]) for out in outs])
    assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / DRAWS)


def test_angles_and_factors_fill_their_intervals():
    fills([d.degrees for d in draws(V.RandomRotation(30))], -30, 30)
    fills([d.degrees for d in draws(V.RandomRotation((10, 50)))], 10, 50)
    fills([d.saturation_factor for d in draws(V.RandomColor((0.2, 1.4)))], 0.2, 1.4)
    fills([d.sharpness_factor for d in draws(V.RandomSharpness((0.2, 1.4)))], 0.2, 1.4)
    fills([d.bits for d in draws(V.RandomPosterize((2, 6)))], 2, 6)


def test_affine_maps_fill_their_intervals():
    drawn = draws(V.RandomAffine((-20, 70), (-0.3, 0.1, 0.2, 0.4), (0.5, 2.0), (-5, 15, 3, 9)))
    fills([d.degrees for d in drawn], -20, 70)
    fills([d.translate[0] for d in drawn], -0.3, 0.1)
    fills([d.translate[1] for d in drawn], 0.2, 0.4)
    fills([d.scale for d in drawn], 0.5, 2.0)
    fills([d.shear[0] for d in drawn], -5, 15)
    fills([d.shear[1] for d in drawn], 3, 9)


def test_colours_are_adjusted_within_their_intervals_in_every_order():
    drawn = [d.transforms for d in draws(V.RandomColorAdjust(0.4, (0.5, 2.0), 3.0, 0.1))]
    factors = {type(step).__name__: [] for step in drawn[0]}
    for steps in drawn:
        for step in steps:
            factors[type(step).__name__].append(next(iter(vars(step).values())))
    fills(factors["AdjustBrightness"], 0.6, 1.4)
    fills(factors["AdjustContrast"], 0.5, 2.0)
    fills(factors["AdjustSaturation"], 0.0, 4.0)
    fills(factors["AdjustHue"], -0.1, 0.1)
    assert len({tuple(type(step).__name__ for step in steps) for steps in drawn}) == 24


def test_bands_are_solarized_within_their_bounds():
    bands = np.array([d.threshold for d in draws(V.RandomSolarize((40, 90)))])
    assert bands.min() == 40
    assert bands.max() == 90
    assert (bands[:, 0] <= bands[:, 1]).all()


def test_corners_of_a_perspective_move_inwards_by_no_more_than_they_may():
    moved = np.array([np.subtract(d.end_points, d.start_points) for d in draws(V.RandomPerspective(0.6, 1.0))])
    inwards = moved * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    assert inwards.min() == 0
    assert inwards[..., 0].max() == int(0.6 * 15)
    assert inwards[..., 1].max() == int(0.6 * 10)


def test_crops_lie_everywhere_with_equal_chance():
    corners = np.array([d.coordinates for d in draws(V.RandomCrop((16, 25)))])
    counts = np.unique(corners, axis=0, return_counts=True)[1]
    assert len(counts) == 5 * 6
    assert (np.abs(counts - DRAWS / 30) < 5 * np.sqrt(DRAWS / 30)).all()


def test_erased_rectangles_have_the_share_and_the_ratio_they_may():
    erasing, rng = V.RandomErasing(1.0, (0.05, 0.2), (0.5, 2.0)), np.random.default_rng(4)
    for _ in range(500):
        down, across = erasing.box(rng, 200, 300)
        height, width = down.stop - down.start, across.stop - across.start
        assert 0.048 < height * width / 60000 < 0.205
        assert 0.48 < width / height < 2.05


def test_lighting_moves_along_the_principal_colours_with_the_deviation_asked_for():
    colours = np.array([d.colour for d in draws(V.RandomLighting(0.1))])
    axes = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
    along = colours @ np.linalg.inv((axes * [55.46, 4.794, 1.148]).T)
    np.testing.assert_allclose(along.std(0), 0.1, rtol=0.08)
    np.testing.assert_allclose(along.mean(0), 0, atol=0.01)
