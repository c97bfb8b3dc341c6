"""Record files in cloud storage: fetched to this machine once, then read like any others."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.samplers import Shuffle
from mycelia.dataset.sources.filedata import Mode
from mycelia.dataset.sources.memory import MappableDataset
from mycelia.dataset.sources.records import RecordData
from mycelia.dataset.transforms.base import extra
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array

PATIENCE = 3600.0  # seconds that one process waits for the others
BETWEEN = 0.2  # seconds between two looks


def bucket_and_key(path: str) -> tuple[str, str]:
    """The bucket and the key of `s3://bucket/key`.

    >>> bucket_and_key("s3://flowers/records/a.mindrecord")
    ('flowers', 'records/a.mindrecord')
    """
    scheme, _, rest = path.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme not in ("s3", "obs") or not bucket:
        raise ArgumentError(f"a path in cloud storage is s3://bucket/key, and is {path!r}")
    return bucket, key


@frozen
class Storage:
    """A place in the cloud, with the keys to it. The client library is loaded when it is first needed.

    >>> Storage("example.org", "id", "secret", "s3://bucket/meet")
    Storage(server='example.org', sync_obs_path='s3://bucket/meet')
    """

    server: str
    ak: str
    sk: str
    sync_obs_path: str

    def __repr__(self) -> str:
        return f"Storage(server={self.server!r}, sync_obs_path={self.sync_obs_path!r})"

    def _ask(self, call: str, path: str, *given: Any, **options: Any) -> Any:
        library = extra("obs", "esdk-obs-python", "reading from cloud storage")
        client = library.ObsClient(access_key_id=self.ak, secret_access_key=self.sk, server=self.server)
        try:
            answer = getattr(client, call)(bucket_and_key(path)[0], *given, **options)
        finally:
            client.close()
        if answer.status >= 300:
            what = {"server": self.server, "path": path, "status": answer.status}
            raise DataError("cloud storage refuses", given=what, hint="do the path and the keys fit?")
        return answer

    def fetch(self, path: str, folder: Path) -> str:
        """A file of the storage on this machine; it is fetched if it is not there, and never seen half."""
        here = folder / f"{hashlib.sha256(f'{self.server} {path}'.encode()).hexdigest()[:16]}-{Path(path).name}"
        if not here.exists():
            folder.mkdir(parents=True, exist_ok=True)
            part = here.with_name(f".{here.name}.{os.getpid()}.part")
            try:
                self._ask("getObject", path, bucket_and_key(path)[1], downloadPath=str(part))
                part.replace(here)
            finally:
                part.unlink(missing_ok=True)
        return str(here)

    def _meeting(self, epoch: int) -> str:
        job = os.environ.get("BATCH_JOB_ID", "unknown")
        return f"{bucket_and_key(self.sync_obs_path)[1].rstrip('/')}/{job}/{epoch}/".lstrip("/")

    def arrive(self, rank: int, epoch: int) -> None:
        """Tell the others that a process has its files."""
        mark = f"{self._meeting(epoch)}download_dataset_ready_{rank}.txt"
        self._ask("putContent", self.sync_obs_path, mark, content="ok")

    def arrived(self, epoch: int) -> int:
        """How many processes have their files."""
        answer = self._ask("listObjects", self.sync_obs_path, prefix=self._meeting(epoch))
        return sum(content.key.endswith(".txt") for content in answer.body.contents)


def sync_wait_for_dataset(rank_id: int, rank_size: int, current_epoch: int, obs_runtime: Storage) -> None:
    """Wait until all processes have fetched their files; `OBSMindDataset` does it before its first row.

    >>> cloud = Storage("example.org", "id", "secret", "s3://bucket/meet")
    >>> sync_wait_for_dataset(0, 1, 0, cloud)
    >>> sync_wait_for_dataset(1, 1, 0, cloud)
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: rank_id must be in [0, 1), and is 1...
    """
    if not 0 <= rank_id < rank_size:
        raise ArgumentError(f"rank_id must be in [0, {rank_size}), and is {rank_id}")
    begin = time.monotonic()
    while rank_size > 1 and (there := obs_runtime.arrived(current_epoch)) < rank_size:
        if time.monotonic() - begin > PATIENCE:
            given = {"rank_id": rank_id, "ready": there, "of": rank_size, "sync_obs_path": obs_runtime.sync_obs_path}
            raise DataError(f"the other processes have not fetched their files in {PATIENCE:.0f} s", given=given)
        time.sleep(BETWEEN)


class FetchedData(RecordData):
    """Rows of record files that came from the cloud; the first one is given when all processes have theirs."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str] | None, storage: Storage, rank: int, ranks: int):
        super().__init__(paths, columns, None, 0)
        self.storage, self.rank, self.ranks, self.met = storage, rank, ranks, False

    def _meet(self) -> None:
        if not self.met:
            sync_wait_for_dataset(self.rank, self.ranks, 0, self.storage)
            self.met = True

    def fetch(self, index: int) -> Row:
        self._meet()
        return super().fetch(index)

    def gather(self, indices: Array) -> Row | None:
        self._meet()
        return super().gather(indices)


class OBSMindDataset(MappableDataset):
    """Rows of record files in cloud storage (`s3://bucket/key`), which need the package esdk-obs-python.

    The files are fetched when the dataset is made, into the folder for temporary files, and stay there. With shards,
    the processes meet in `sync_obs_path`: none reads a row before all have their files.

    >>> OBSMindDataset(["a.mindrecord"], "example.org", "id", "secret", "s3://bucket/meet")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: a path in cloud storage is s3://bucket/key, and is 'a.mindrecord'...
    """

    def __init__(
        self,
        dataset_files: Sequence[str],
        server: str,
        ak: str,
        sk: str,
        sync_obs_path: str,
        columns_list: Sequence[str] | None = None,
        shuffle: Mode = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = True,
    ) -> None:
        names = [dataset_files] if isinstance(dataset_files, str) else list(dataset_files)
        if not names:
            raise ArgumentError("OBSMindDataset needs at least one file")
        for path in (*names, sync_obs_path):
            bucket_and_key(path)
        storage = Storage(server, ak, sk, sync_obs_path)
        folder = Path(tempfile.gettempdir(), "mycelia-obs")
        paths = [storage.fetch(name, folder) for name in names]
        rank, ranks = shard_id or 0, num_shards or 1
        data = FetchedData(paths, columns_list, storage, rank, ranks)
        order = choose(None, None, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        if shard_equal_rows and hasattr(order, "equal_rows"):
            order.equal_rows = True
        if ranks > 1:
            storage.arrive(rank, 0)
        super().__init__(data, order, arguments={"dataset_files": names, "server": server})
