"""Fused transforms give what the transforms give one by one, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import random, vision
from mycelia.dataset.flow.buffers import Places
from mycelia.dataset.plan import fusion, operations


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


def test_rows_are_made_in_the_place_of_their_own_column():
    batch = np.zeros((2, 3, 4, 5), np.float32)
    image = np.full((4, 5, 3), 9, np.uint8)
    steps = (vision.Normalize([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), vision.HWC2CHW())
    source = ds.NumpySlicesDataset({"other": [1], "image": image[None]})
    node = source.map(list(steps), "image").plan
    places = Places()
    places.stand((batch[0], batch[1]))
    other, made = node.apply((np.array(1), image), 0, 0, 0, 0, places)
    assert made is places.of(1)
    assert (batch[0] == 0).all()
    assert other == 1
    places.stand((batch[0], batch[1, :2]))  # of another shape
    assert not np.shares_memory(node.apply((np.array(1), image), 0, 0, 0, 0, places)[1], batch)


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


NORMAL, PLANES = vision.Normalize([120.5, 115.0, 104.25], [58.0, 57.5, 57.0]), vision.HWC2CHW()


def told(function):
    """A result, or what an error says without where."""
    try:
        return function()
    except Exception as error:
        return type(error), str(error).split("\n  at")[0]


@pytest.mark.parametrize("mean", [[1.0, 2.0, 3.0], [7.0], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
def test_whatever_comes_is_normalised_or_refused_as_by_the_two_steps(mean):
    rng = np.random.default_rng(1)
    normalize = vision.Normalize(mean, [3.0] * len(mean))
    fused = fusion.NormalizeToPlanes(normalize, PLANES)
    shapes = [(5, 6), (5, 6, 1), (5, 6, 2), (5, 6, 3), (5, 6, 4), (0, 5, 3), (5, 0, 3), (2, 5, 6, 3), (7,)]
    images = [rng.integers(0, 256, shape, np.uint8) for shape in shapes]
    images += [np.ones((4, 5, 3), kind) for kind in (np.int64, bool, np.float16)] + [None, "text", [[1, 2]], 5]
    for image in images:
        ours, theirs = told(lambda x=image: fused(x)), told(lambda x=image: PLANES(normalize(x)))
        if isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype
        else:
            assert ours == theirs


def test_two_columns_are_normalised_at_once():
    images = [np.random.default_rng(2).integers(0, 256, (4, 5, 3), np.uint8) for _ in range(2)]
    rows = ds.NumpySlicesDataset({"a": images, "b": images[::-1]}, shuffle=False)
    for a, b in rows.map([NORMAL, PLANES], ["a", "b"]).create_tuple_iterator(num_epochs=1, output_numpy=True):
        assert {x.shape for x in (a, b)} == {(3, 4, 5)}
    made = fusion.NormalizeToPlanes(NORMAL, PLANES)(*images)
    for ours, image in zip(made, images, strict=True):
        np.testing.assert_array_equal(ours, PLANES(NORMAL(image)))


@pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
@pytest.mark.parametrize("mode", list(ds.config.ErrorSamplesMode))
@pytest.mark.parametrize(("workers", "processes"), [(1, False), (4, False), (2, True)])
def test_a_folder_of_good_and_bad_files_gives_the_same_fused_and_not(tmp_path, monkeypatch, mode, workers, processes):
    rng = np.random.default_rng(3)
    for number in range(8):
        vision.write_jpeg(str(tmp_path / f"{number}.jpg"), rng.integers(0, 256, (30, 20 + number, 3), np.uint8))
    vision.write_png(str(tmp_path / "grey.png"), rng.integers(0, 256, (9, 8), np.uint8))
    whole = (tmp_path / "1.jpg").read_bytes()
    at = whole.find(b"\xff\xc0") + 5
    bad = {
        "3cut": whole[:700],
        "4empty": b"",
        "5huge": whole[:at] + b"\xff" * 4 + whole[at + 4 :],
        "6text": b"\xff\xd8\xff",
    }
    for name, data in bad.items():
        (tmp_path / f"{name}.jpg").write_bytes(data)
    monkeypatch.setattr(ds.config._Settings, "options", replace(ds.config.current_options(), error_samples_mode=mode))

    def rows():
        ds.config.set_seed(5)
        steps = [vision.Decode(), vision.RandomResizedCrop(8), NORMAL, PLANES]
        images = ds.ImageFolderDataset(str(tmp_path.parent), shuffle=False, class_indexing={tmp_path.name: 0})
        images = images.map(steps, "image", num_parallel_workers=workers, python_multiprocessing=processes).batch(3)
        return [row[0] for row in images.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    fused = told(rows)
    monkeypatch.setattr(operations, "fuse", lambda steps: tuple(enumerate(steps)))
    apart = told(rows)
    if mode is ds.config.ErrorSamplesMode.RETURN:
        assert fused[0] is apart[0]
        assert "3cut.jpg" in fused[1]
        assert "3cut.jpg" in apart[1]
    else:
        assert sum(map(len, fused)) == (9 if mode is ds.config.ErrorSamplesMode.SKIP else 13)
        for a, b in zip(fused, apart, strict=True):
            np.testing.assert_array_equal(a, b)
