"""Fused transforms give what the transforms give one by one, to the last bit."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import fusion, random, vision
from mycelia.dataset.flow.buffers import offer


@pytest.mark.parametrize("compiled", [True, False])
def test_normalising_to_planes_equals_the_two_steps(compiled, monkeypatch):
    monkeypatch.setattr(fusion._lookup, "ready", lambda: compiled)
    normalize, planes = vision.Normalize([120.5, 115.0, 104.25], [58.0, 57.5, 57.0]), vision.HWC2CHW()
    fused = fusion.NormalizeToPlanes(normalize, planes)
    rng = np.random.default_rng(0)
    for image in (
        rng.integers(0, 256, (7, 9, 3), np.uint8),
        rng.integers(0, 256, (7, 9, 3), np.uint8)[:, ::-1],
        rng.random((7, 9, 3), np.float32),
    ):
        np.testing.assert_array_equal(fused(image), planes(normalize(image)))


def test_rows_are_made_in_the_place_that_was_offered():
    batch = np.zeros((2, 3, 4, 5), np.float32)
    offer((None, batch[1]))
    fused = fusion.NormalizeToPlanes(vision.Normalize([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), vision.HWC2CHW())
    made = fused(np.full((4, 5, 3), 9, np.uint8))
    assert np.shares_memory(made, batch)
    assert (batch[0] == 0).all()
    again = fused(np.full((4, 5, 3), 9, np.uint8))
    assert not np.shares_memory(again, batch)


def test_a_pipeline_with_fused_steps_equals_one_without():
    images = ds.FakeImageDataset(12, (10, 12, 3), shuffle=False)
    normalize, planes = vision.Normalize([120.5, 115.0, 104.25], [58.0, 57.5, 57.0]), vision.HWC2CHW()
    fused = images.map([normalize, planes], "image").batch(5)
    apart = images.map([normalize], "image").map([planes], "image").batch(5)
    both = [d.create_tuple_iterator(num_epochs=1, output_numpy=True) for d in (fused, apart)]
    for a, b in zip(*both, strict=True):
        np.testing.assert_array_equal(a[0], b[0])


@pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
def test_decoding_a_crop_equals_decoding_and_then_cropping():
    rng = np.random.default_rng(0)
    steps = [vision.Decode(), vision.RandomResizedCrop(16)]
    ((number, fused),) = fusion.fuse(steps)
    assert number == 1  # where the crop draws
    for seed in range(20):
        size = (int(rng.integers(20, 60)), int(rng.integers(20, 60)), 3)
        jpeg = vision.encode_jpeg(rng.integers(0, 256, size, np.uint8))
        with random.seeded(np.random.default_rng(seed)):
            ours = fused(jpeg)
        with random.seeded(np.random.default_rng(seed)):
            np.testing.assert_array_equal(ours, steps[1](steps[0](jpeg)))
    with pytest.raises(ValueError, match="decode"):
        fused(np.frombuffer(b"\xff\xd8\xff not a picture", np.uint8))
