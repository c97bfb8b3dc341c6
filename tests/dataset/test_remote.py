"""Files behind addresses: the same rows as files on disk, over connections that break, fetched once."""

from __future__ import annotations

import http.server
import io
import tarfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import remote
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.tfrecord import write_tfrecord

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def kept(tmp_path):
    before = remote.set_remote(folder=str(tmp_path / "kept"), attempts=4, wait=0.001)
    yield tmp_path / "kept"
    remote.set_remote(before.folder, before.most, before.attempts, before.wait)


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


class Site:
    """A folder behind HTTP, whose connections break as often as they are told to."""

    def __init__(self, folder: Path) -> None:
        self.asked, self.breaks = Counter[str](), 0
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                """Nothing."""

            def do_HEAD(self):
                self.do_GET(body=False)

            def do_GET(self, body=True):
                path = folder / self.path.lstrip("/")
                if not path.is_file():
                    self.send_error(404)
                    return
                data, first, last = path.read_bytes(), 0, path.stat().st_size - 1
                asked = self.headers.get("Range")
                if asked:
                    a, _, b = asked.partition("=")[2].partition("-")
                    first, last = int(a), min(last, int(b)) if b else last
                if body:
                    site.asked[self.path] += 1
                self.send_response(206 if asked else 200)
                self.send_header("Content-Length", str(last - first + 1))
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("ETag", f'"{hash(data)}"')
                if asked:
                    self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
                self.end_headers()
                if body and site.breaks:
                    site.breaks -= 1
                    self.wfile.write(data[first : first + (last - first) // 2])
                    self.close_connection = True
                elif body:
                    self.wfile.write(data[first : last + 1])

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def site(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "site").mkdir()
    made = Site(tmp_path / "site")
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def shard(path: Path, samples: int = 20) -> None:
    with tarfile.open(path, "w") as tar:
        for i in range(samples):
            info = tarfile.TarInfo(f"{path.stem}-{i}.bin")
            info.size = 3000
            tar.addfile(info, io.BytesIO(np.random.default_rng(i).bytes(3000)))


def records(path: Path) -> None:
    writer = FileWriter(str(path))
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": i} for i in range(30)])
    writer.commit()


def table(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"x": np.arange(50)}), path)


SOURCES = {
    "a.tar": (shard, lambda p: ds.WebDataset(p, shuffle=False)),
    "a.mindrecord": (records, lambda p: ds.MindDataset(p, shuffle=False)),
    "a.tfrecord": (
        lambda path: write_tfrecord(str(path), [{"x": [float(i)]} for i in range(9)]),
        lambda p: ds.TFRecordDataset(p, shuffle=False),
    ),
    "a.parquet": (table, lambda p: ds.ParquetDataset(p, shuffle=False)),
    "a.txt": (lambda path: path.write_text("one\ntwo\n"), lambda p: ds.TextFileDataset(p, shuffle=False)),
    "a.csv": (lambda path: path.write_text("a,b\n1,2\n3,4\n"), lambda p: ds.CSVDataset(p, shuffle=False)),
}


def rows(dataset):
    return [[v.tolist() for v in row] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize("name", SOURCES)
def test_rows_behind_an_address_are_those_of_the_file(name, tmp_path, memory):
    make, opened = SOURCES[name]
    make(tmp_path / name)
    memory.pipe(f"/data/{name}", (tmp_path / name).read_bytes())
    assert rows(opened(f"memory://data/{name}")) == rows(opened(str(tmp_path / name)))


def test_a_pattern_stands_for_the_addresses_that_match(tmp_path, memory):
    for number in range(3):
        shard(tmp_path / f"{number}.tar", 4)
        memory.pipe(f"/shards/{number}.tar", (tmp_path / f"{number}.tar").read_bytes())
    assert rows(ds.WebDataset("memory://shards/*.tar", shuffle=False)) == rows(
        ds.WebDataset(str(tmp_path / "*.tar"), shuffle=False)
    )


def test_shards_are_fetched_when_their_rows_are_asked_for(tmp_path, site, kept):
    for number in range(30):
        shard(tmp_path / "site" / f"{number:02}.tar", 2)
    addresses = [f"{site.address}/{number:02}.tar" for number in range(30)]
    dataset = ds.WebDataset(addresses, ["bin"], shuffle=False, num_parallel_workers=1)
    iterator = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator)
    iterator.stop()
    assert 0 < len(site.asked) < 30
    assert len(rows(dataset)) == 60


def test_worker_processes_read_what_was_fetched(tmp_path, site):
    shard(tmp_path / "site" / "a.tar", 40)
    dataset = ds.WebDataset(f"{site.address}/a.tar", ["bin"], shuffle=False)
    doubled = dataset.map(np.flip, ["bin"], python_multiprocessing=True, num_parallel_workers=2)
    assert [r[0][::-1] for r in rows(doubled)] == [r[0] for r in rows(dataset)]


@pytest.mark.parametrize("breaks", [1, 3])
def test_a_connection_that_breaks_is_taken_up_again(breaks, tmp_path, site, monkeypatch):
    monkeypatch.setattr(remote, "PIECE", 8192)
    shard(tmp_path / "site" / "a.tar", 30)
    site.breaks = breaks
    got = rows(ds.WebDataset(f"{site.address}/a.tar", shuffle=False))
    assert got == rows(ds.WebDataset(str(tmp_path / "site" / "a.tar"), shuffle=False))
    assert site.breaks == 0


def test_one_that_breaks_always_is_told_with_its_address(tmp_path, site, kept):
    shard(tmp_path / "site" / "a.tar")
    site.breaks = 10_000
    with pytest.raises(MyceliaError, match=r"cannot fetch[\s\S]*a\.tar[\s\S]*attempts: 4"):
        rows(ds.WebDataset(f"{site.address}/a.tar", ["bin"], shuffle=False))
    assert not list(kept.iterdir())  # nothing half


def test_what_was_fetched_is_kept_until_it_changes(tmp_path, site, kept):
    (tmp_path / "site" / "a.txt").write_text("one\n")
    for _ in range(3):
        assert rows(ds.TextFileDataset(f"{site.address}/a.txt")) == [["one"]]
    assert site.asked["/a.txt"] == 1
    (tmp_path / "site" / "a.txt").write_text("two\n")
    assert rows(ds.TextFileDataset(f"{site.address}/a.txt")) == [["two"]]


def test_what_is_kept_has_a_bound(memory, kept):
    remote.set_remote(most=2500)
    for number in range(5):
        memory.pipe(f"/{number}.txt", b"x" * 1000)
        remote.local(f"memory://{number}.txt")
        assert sum(p.stat().st_size for p in kept.iterdir()) <= 2500
    assert any(p.name.endswith("4.txt") for p in kept.iterdir())


def test_mistakes_are_told(memory, site):
    with pytest.raises(MyceliaError, match="no such file"):
        ds.TextFileDataset("memory://nowhere.txt")
    with pytest.raises(MyceliaError, match="no such file"):
        ds.TextFileDataset(f"{site.address}/nowhere.txt")
    with pytest.raises(ArgumentError, match="not understood"):
        ds.TextFileDataset("nothing://a.txt")
    with pytest.raises(ArgumentError, match="there is no such file"):
        ds.WebDataset("memory://nowhere/*.tar")
    for wrong in ({"attempts": 0}, {"most": -1}):
        with pytest.raises(ArgumentError):
            remote.set_remote(**wrong)


def test_readers_that_fetch_the_same_file_at_once_all_have_it_whole(memory):
    body = np.random.default_rng(0).bytes(1 << 20)
    memory.pipe("/a.bin", body)
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(Path(remote.local("memory://a.bin")).read_bytes()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [body] * 8
