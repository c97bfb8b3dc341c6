"""What docs/differences.md says of reading and of images is so."""

from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.errors import ArgumentError, DTypeError, ShapeError

FLOATS = np.linspace(0, 1, 48, dtype=np.float32).reshape(4, 4, 3)
PIXELS = np.zeros((4, 4, 3), np.uint8)


def rows(dataset):
    return [row[0].tolist() for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_gamma_of_floats_and_of_whole_numbers():
    np.testing.assert_allclose(vision.AdjustGamma(2.0, 0.5)(FLOATS), 0.5 * FLOATS**2, rtol=1e-6)
    with pytest.raises(DTypeError, match="int32"):
        vision.AdjustGamma(2.0)(PIXELS.astype(np.int32))


def test_the_hue_of_floats_stays_a_colour():
    turned = vision.AdjustHue(0.2)(FLOATS)
    assert 0 <= turned.min() <= turned.max() <= 1
    np.testing.assert_allclose(turned.max(-1), FLOATS.max(-1), rtol=1e-5)  # the value of HSV


def test_points_on_a_line_are_refused():
    square, line = [[0, 0], [3, 0], [3, 3], [0, 3]], [[0, 0], [1, 1], [2, 2], [3, 3]]
    for start, end in ((square, line), (line, square)):
        with pytest.raises(ArgumentError, match="do not span a plane"):
            vision.Perspective(start, end)(PIXELS)


def test_channels_that_are_not_there_are_refused():
    with pytest.raises(ShapeError, match="4 channels"):
        vision.ConvertColor(vision.ConvertMode.COLOR_RGBA2RGB)(PIXELS)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_an_axis_of_one_stays(shape):
    image = np.arange(5, dtype=np.uint8).reshape(shape)
    operations = [vision.AutoContrast(), vision.Equalize(), vision.Normalize([1.0], [1.0])]
    assert [operation(image).shape for operation in operations] == [shape] * 3


def test_truth_values_become_bytes_when_they_are_resized():
    resized = vision.Resize((6, 6), vision.Inter.NEAREST)(np.eye(3, dtype=bool))
    np.testing.assert_array_equal(resized, np.kron(np.eye(3, dtype=np.uint8), np.ones((2, 2), np.uint8)), strict=True)


def test_lines_come_in_the_order_given_without_their_ends(tmp_path):
    files = [str(tmp_path / "b.txt"), str(tmp_path / "a.txt")]
    Path(files[0]).write_bytes(b"1\r\n2\r\n")
    Path(files[1]).write_bytes(b"3\n4\n5\n")
    assert rows(ds.TextFileDataset(files, shuffle=False)) == ["1", "2", "3", "4", "5"]
    shards = [ds.TextFileDataset(files, shuffle=False, num_shards=2, shard_id=shard) for shard in range(2)]
    assert [rows(shard) for shard in shards] == [["1", "3", "5"], ["2", "4"]]


def test_an_empty_cell_takes_the_default(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\n,2\n")
    table = ds.CSVDataset(str(tmp_path / "t.csv"), column_defaults=["none", 7], shuffle=False)
    read = [(str(a), int(b)) for a, b in table.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert read == [("1", 7), ("none", 2)]


def test_a_sampler_and_a_number_of_samples():
    assert rows(ds.NumpySlicesDataset(np.arange(10), num_samples=3, sampler=ds.SequentialSampler(2))) == [2, 3, 4]


def test_only_images_of_a_class_count(tmp_path):
    (tmp_path / "kind" / "deeper").mkdir(parents=True)
    for name in ("1.png", "text.txt", "deeper/2.png"):
        (tmp_path / "kind" / name).write_bytes(b"never opened")
    assert ds.ImageFolderDataset(str(tmp_path)).get_dataset_size() == 1


def test_short_files_of_a_collection_are_read(tmp_path):
    for number in range(1, 6):
        (tmp_path / f"data_batch_{number}.bin").write_bytes(bytes(3073 * 3))
    assert ds.Cifar10Dataset(str(tmp_path), usage="train").get_dataset_size() == 15
