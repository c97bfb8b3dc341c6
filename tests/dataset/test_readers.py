"""Readers give what MindSpore 2.10 gave for the same files (recorded_readers.json), where it could read them."""

from __future__ import annotations

import inspect
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import readers
from mycelia.errors import ArgumentError, DependencyError

from . import published

RECORDED = json.loads((Path(__file__).parent / "recorded_readers.json").read_text())
SHARED = Path(__file__).parents[3] / "shared" / "compat" / "api_names.tsv"


def close(ours, theirs) -> bool:
    """Texts and kinds are equal; sums agree to 1e-4: MindSpore divides 16-bit sound by 32767, we by 32768."""
    if isinstance(ours, list) and len(ours) == 3 and isinstance(ours[2], float):
        return ours[:2] == theirs[:2] and np.isclose(ours[2], theirs[2], rtol=1e-4, atol=1e-3)
    return ours == theirs


@pytest.mark.parametrize("case", range(len(published.CASES)))
def test_a_reader_gives_the_recorded_rows(case, tmp_path):
    published.rng = np.random.default_rng(case)
    rows = published.told(published.opened(ds, case, tmp_path))
    assert rows
    name, theirs = RECORDED[case]
    assert name == published.CASES[case][0]
    if theirs is None:
        return
    ours, theirs = (sorted(r, key=str) for r in (rows, theirs))  # files of several parts may come in another order
    assert len(ours) == len(theirs)
    for mine, recorded in zip(ours, theirs, strict=True):
        assert list(mine) == list(recorded)
        assert all(close(mine[k], recorded[k]) for k in mine), (mine, recorded)


def test_cifar_reads_the_binary_version(tmp_path):
    published.cifar10(tmp_path)
    raw = np.frombuffer((tmp_path / "test_batch.bin").read_bytes(), np.uint8).reshape(-1, 3073)
    row = next(ds.Cifar10Dataset(str(tmp_path), "test", shuffle=False).create_dict_iterator(1, output_numpy=True))
    np.testing.assert_array_equal(row["image"], raw[0, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    assert row["label"] == raw[0, 0]


def test_cifar_reads_the_python_version_and_nothing_that_runs_code(tmp_path):
    import pickle

    images = np.random.default_rng(0).integers(0, 256, (2, 3072)).astype(np.uint8)
    (tmp_path / "test_batch").write_bytes(pickle.dumps({b"data": images, b"labels": [3, 5]}, protocol=2))
    rows = list(ds.Cifar10Dataset(str(tmp_path), "test", shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [int(r["label"]) for r in rows] == [3, 5]
    np.testing.assert_array_equal(rows[1]["image"], images[1].reshape(3, 32, 32).transpose(1, 2, 0))
    (tmp_path / "test_batch").write_bytes(pickle.dumps(print))
    with pytest.raises(RuntimeError, match="not part of the format"):
        ds.Cifar10Dataset(str(tmp_path), "test")


def test_arguments_have_mindspores_names_and_order():
    if not SHARED.exists():
        pytest.skip("the list of names is not here")
    section = SHARED.read_text().split("# mindspore.dataset (")[1].split("\n# ")[0]
    for line in section.splitlines()[1:]:
        name, kind, words = line.split("\t")
        if kind == "class" and name in readers.__all__:
            theirs = [w.split("=")[0].strip() for w in words.strip("()").split(", ") if "=" in w or w.isidentifier()]
            theirs = [w for w in theirs if w.isidentifier()]
            ours = list(inspect.signature(getattr(ds, name)).parameters)
            assert ours == theirs, name


def test_mistakes_are_told(tmp_path):
    published.mnist(tmp_path)
    with pytest.raises(ArgumentError, match="no part 'half'"):
        ds.MnistDataset(str(tmp_path), "half")
    with pytest.raises(ArgumentError, match="no folder"):
        ds.MnistDataset(str(tmp_path / "nowhere"))
    with pytest.raises(ArgumentError, match="unexpected keyword"):
        ds.MnistDataset(str(tmp_path), colour=True)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\x09abc")
    with pytest.raises(RuntimeError, match="train-labels-idx1-ubyte"):
        ds.MnistDataset(str(tmp_path), "train")


def test_a_damaged_image_is_told_with_its_file(tmp_path):
    published.image_folder(tmp_path)
    (tmp_path / "dog" / "0.png").write_bytes(b"\xff\xd8\xff not a picture")
    dataset = ds.ImageFolderDataset(str(tmp_path), decode=True, shuffle=False)
    if find_spec("PIL") is None:
        with pytest.raises(ds.DataError, match="mycelia\\[data\\]"):
            list(dataset.create_dict_iterator(1, output_numpy=True))
        return
    with pytest.raises(ds.DataError, match=r"dog.0\.png"):
        list(dataset.create_dict_iterator(1, output_numpy=True))
    ds.config.set_error_samples_mode(ds.ErrorSamplesMode.SKIP)
    assert len(list(dataset.create_dict_iterator(1, output_numpy=True))) == 5


def test_a_cache_keeps_rows_up_to_its_size(tmp_path):
    published.image_folder(tmp_path)
    cache = ds.DatasetCache(1, size=0)
    dataset = ds.ImageFolderDataset(str(tmp_path), shuffle=False, cache=cache)
    for _ in range(2):
        assert len(list(dataset.create_dict_iterator(1, output_numpy=True))) == 6
    assert cache.get_stat()["hits"] == cache.get_stat()["misses"] == 6


def test_classes_are_named(tmp_path):
    published.image_folder(tmp_path)
    dataset = ds.ImageFolderDataset(str(tmp_path)).batch(2)
    assert dataset.get_class_indexing() == {"cat": 0, "dog": 1, "eel": 2}
    assert dataset.num_classes() == 3


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("mycelia.dataset.shards.find_spec", lambda name: None)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(DependencyError, match=r"pyarrow[\s\S]*mycelia\[data\]"):
        ds.ParquetDataset(str(tmp_path / "a.parquet"))


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_parquet_and_arrow_give_their_columns(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"x": np.arange(10), "v": [[1.0, 2.0]] * 10, "s": [f"t{i}" for i in range(10)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)
    for name in ("a.parquet", "a.arrow"):
        dataset = ds.ParquetDataset(str(tmp_path / name), shuffle=False)
        rows = list(dataset.create_dict_iterator(1, output_numpy=True))
        assert [int(r["x"]) for r in rows] == list(range(10))
        assert rows[3]["v"].tolist() == [1.0, 2.0]
        assert str(rows[4]["s"]) == "t4"
        batch = next(
            ds.ParquetDataset(str(tmp_path / name), ["x", "v"], shuffle=False).batch(4).create_dict_iterator(1, True)
        )
        assert batch["v"].shape == (4, 2)


def test_tar_shards_group_files_by_stem(tmp_path):
    import io
    import tarfile

    for shard in range(2):
        with tarfile.open(tmp_path / f"{shard}.tar", "w") as tar:
            for i in range(3):
                for ending, body in (("cls", b"%d" % i), ("txt", b"text %d" % i)):
                    info = tarfile.TarInfo(f"{shard}{i}.{ending}")
                    info.size = len(body)
                    tar.addfile(info, io.BytesIO(body))
    rows = list(ds.WebDataset(str(tmp_path / "*.tar"), shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [str(r["__key__"]) for r in rows] == ["00", "01", "02", "10", "11", "12"]
    assert bytes(rows[4]["txt"]) == b"text 1"
    (tmp_path / "0.tar").write_bytes(b"no tar")
    with pytest.raises(ds.DataError, match=r"0\.tar"):
        ds.WebDataset(str(tmp_path / "*.tar"))


def test_encrypted_images_are_read_by_the_users_own_function(tmp_path):
    published.image_folder(tmp_path)
    dataset = ds.ImageFolderDataset(str(tmp_path), shuffle=False, decrypt=lambda path: Path(path).read_bytes()[::-1])
    row = next(dataset.create_dict_iterator(1, output_numpy=True))
    assert bytes(row["image"])[::-1] == (tmp_path / "cat" / "0.png").read_bytes()
