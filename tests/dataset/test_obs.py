"""Record files in cloud storage, with a client that keeps its objects in memory."""

import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import mycelia.dataset as ds
from mycelia.dataset.errors import DataError
from mycelia.dataset.sources import obs
from mycelia.errors import ArgumentError, DependencyError
from mycelia.mindrecord import FileWriter

MEET = "s3://bucket/meet"


class Client:
    """The three calls of the client library that are used."""

    objects: dict[tuple[str, str], bytes] = {}
    fetched: list[str] = []

    def __init__(self, access_key_id: str, secret_access_key: str, server: str) -> None:
        assert (access_key_id, secret_access_key, server) == ("id", "secret", "example.org")

    def getObject(self, bucket: str, key: str, downloadPath: str) -> SimpleNamespace:
        if (bucket, key) not in self.objects:
            return SimpleNamespace(status=404)
        self.fetched.append(key)
        Path(downloadPath).write_bytes(self.objects[bucket, key])
        return SimpleNamespace(status=200)

    def putContent(self, bucket: str, key: str, content: str) -> SimpleNamespace:
        self.objects[bucket, key] = content.encode()
        return SimpleNamespace(status=200)

    def listObjects(self, bucket: str, prefix: str) -> SimpleNamespace:
        keys = [SimpleNamespace(key=k) for b, k in self.objects if b == bucket and k.startswith(prefix)]
        return SimpleNamespace(status=200, body=SimpleNamespace(contents=keys))

    def close(self) -> None:
        pass


@pytest.fixture
def cloud(monkeypatch, tmp_path):
    """A cloud with two record files of 3 and 4 rows."""
    module = ModuleType("obs")
    module.ObsClient = Client
    monkeypatch.setitem(sys.modules, "obs", module)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Client, "objects", {})
    monkeypatch.setattr(Client, "fetched", [])
    paths, row = [], 0
    for name, count in (("a", 3), ("b", 4)):
        writer = FileWriter(str(tmp_path / name))
        writer.add_schema({"x": {"type": "int32"}, "y": {"type": "string"}})
        writer.write_raw_data([{"x": row + i, "y": f"row {row + i}"} for i in range(count)])
        writer.commit()
        row += count
        Client.objects["bucket", f"records/{name}"] = (tmp_path / name).read_bytes()
        paths.append(f"s3://bucket/records/{name}")
    return paths


def _open(paths, **given):
    return ds.OBSMindDataset(paths, "example.org", "id", "secret", MEET, **given)


def _read(dataset):
    return [int(row["x"]) for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]


def test_rows_come_from_the_cloud_and_files_are_fetched_once(cloud):
    assert _read(_open(cloud, shuffle=False)) == list(range(7))
    assert sorted(_read(_open(cloud))) == list(range(7))
    assert _open(cloud, columns_list=["y"]).get_col_names() == ["y"]
    assert Client.fetched == ["records/a", "records/b"]


def test_shards_wait_for_each_other_and_have_as_many_rows(cloud):
    parts = [_open(cloud, shuffle=False, num_shards=2, shard_id=i) for i in range(2)]
    read = [_read(p) for p in parts]
    assert [len(r) for r in read] == [4, 4]
    assert set(read[0]) | set(read[1]) == set(range(7))
    uneven = [_read(_open(cloud, num_shards=2, shard_id=i, shard_equal_rows=False)) for i in range(2)]
    assert sorted(uneven[0] + uneven[1]) == list(range(7))


def test_a_process_that_never_comes_is_named(cloud, monkeypatch):
    monkeypatch.setattr(obs, "PATIENCE", 0.3)
    with pytest.raises(Exception, match="have not fetched their files"):
        _read(_open(cloud, num_shards=3, shard_id=1))


def test_a_file_that_is_not_there_is_named_and_nothing_is_left_behind(cloud, tmp_path):
    with pytest.raises(DataError, match="s3://bucket/records/c"):
        _open(["s3://bucket/records/c"])
    assert list((tmp_path / "mycelia-obs").iterdir()) == []


def test_keys_are_kept_out_of_plans_and_messages(cloud):
    dataset = _open(cloud)
    assert "secret" not in str(dataset.to_json())
    assert "secret" not in repr(obs.Storage("example.org", "id", "secret", MEET))


def test_without_the_client_library_the_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "obs", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DependencyError, match="esdk-obs-python"):
        _open(["s3://bucket/a"])


def test_wrong_arguments_are_refused():
    for paths in ([], ["records/a"], ["http://bucket/a"]):
        with pytest.raises(ArgumentError):
            _open(paths)
    with pytest.raises(ArgumentError, match="rank_id"):
        ds.sync_wait_for_dataset(2, 2, 0, obs.Storage("example.org", "id", "secret", MEET))
