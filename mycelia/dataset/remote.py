"""Files behind addresses (`s3://…`, `https://…`, `memory://…`): fetched through fsspec when they are needed, and kept.

A file is fetched in pieces; a connection that breaks is taken up where it broke. What was fetched lies in a folder, by
address and version, so that the next run, and other processes, find it there.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mycelia.dataset.errors import DataError
from mycelia.errors import ArgumentError, DependencyError
from mycelia.frozen import frozen

PIECE = 1 << 22  # bytes that are asked for at once


@frozen
class Remote:
    """How files are fetched: where they are kept, how many bytes in all, and how often a request is tried."""

    folder: str = ""  # empty: one of this user's, among the temporary files
    most: int = 1 << 36
    attempts: int = 5
    wait: float = 0.2  # seconds before the second attempt; twice as long before every further one


class _Chosen:
    """The one place where it is kept."""

    remote = Remote()


def set_remote(
    folder: str | None = None, most: int | None = None, attempts: int | None = None, wait: float | None = None
) -> Remote:
    """Choose how files behind addresses are fetched; gives how it was done before.

    >>> before = set_remote(attempts=3); get_remote().attempts
    3
    >>> _ = set_remote(before.folder, before.most, before.attempts, before.wait)
    """
    before = _Chosen.remote
    if most is not None and most < 0:
        raise ArgumentError(f"most is a number of bytes, and was {most}")
    if attempts is not None and attempts < 1:
        raise ArgumentError(f"attempts must be at least 1, and is {attempts}")
    given: dict[str, Any] = {"folder": folder, "most": most, "attempts": attempts, "wait": wait}
    _Chosen.remote = replace(before, **{k: v for k, v in given.items() if v is not None})
    return before


def get_remote() -> Remote:
    """How files behind addresses are fetched.

    >>> get_remote().attempts
    5
    """
    return _Chosen.remote


def addressed(name: str) -> bool:
    """Whether a name is an address.

    >>> addressed("s3://bucket/a.tar"), addressed("/data/a.tar")
    (True, False)
    """
    scheme, found, _ = name.partition("://")
    return bool(found) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


# file systems that hold bytes; others of fsspec unpack, link or make up files, and some run what a file says
SCHEMES = frozenset((
    "file", "local", "memory", "http", "https", "ftp", "ftps", "sftp", "ssh", "smb", "webdav", "hdfs", "webhdfs",
    "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "obs", "tos", "hf", "dbfs", "gdrive", "box",
))  # fmt: skip


def _system(address: str) -> tuple[Any, str]:
    """The file system that an address belongs to, and the address as it calls it."""
    scheme = address.partition("://")[0]
    if scheme not in SCHEMES or "::" in address:
        raise ArgumentError(
            f"this address is not understood: {address!r}",
            hint=f"an address begins with one of {sorted(SCHEMES)}, followed by ://, and is not chained by ::",
        )
    if find_spec("fsspec") is None:
        raise DependencyError("files behind addresses need the library fsspec", hint='pip install "mycelia[remote]"')
    try:
        system, path = import_module("fsspec").core.url_to_fs(address)
    except ImportError as error:  # of the library for this kind of address
        raise DependencyError(f"{address.partition('://')[0]}:// needs another library: {error}") from error
    except ValueError as error:
        raise ArgumentError(f"this address is not understood: {error}", given={"address": address}) from error
    return system, path


def _tried(address: str, call: Any) -> Any:
    """The answer of a call that may fail for a while."""
    how = _Chosen.remote
    for attempt in range(how.attempts):
        try:
            return call()
        except FileNotFoundError:
            raise
        except Exception as error:
            if attempt + 1 == how.attempts:
                raise DataError(
                    f"cannot fetch a file: {error!r}",
                    given={"address": address, "attempts": how.attempts},
                    hint="config.set_remote(attempts=..., wait=...) tries more often",
                ) from error
            time.sleep(how.wait * 2**attempt * random.uniform(0.5, 1))  # readers must not all come back at once
    raise AssertionError("there is at least one attempt")


def expanded(address: str) -> list[str]:
    """The addresses that a pattern stands for, sorted; an address without signs of a pattern stands for itself."""
    if not any(sign in address for sign in "*["):
        return [address]
    system, path = _system(address)
    return sorted(system.unstrip_protocol(p) for p in _tried(address, lambda: system.glob(path)))


def local(name: str) -> str:
    """A file that can be opened: the name itself, or for an address what was fetched from it.

    >>> local("a.tar")
    'a.tar'
    """
    if not addressed(name):
        return name
    system, path = _system(name)
    try:
        told = _tried(name, lambda: system.info(path))
    except FileNotFoundError as error:
        raise DataError("there is no such file", given={"address": name}) from error
    size = told.get("size")
    version = [str(told.get(k)) for k in ("size", "ETag", "etag", "mtime", "LastModified", "last_modified", "created")]
    word = hashlib.sha256("\n".join([name, *version]).encode()).hexdigest()[:40]
    place = (
        _folder() / f"{word}-{re.sub(r'[^A-Za-z0-9._-]', '_', name.rpartition('/')[2])[-80:]}"
    )  # its ending may tell
    if place.is_file() and size in (None, place.stat().st_size):
        with suppress(OSError):
            os.utime(place)  # it was used just now
        return str(place)
    _fetch(system, path, name, size, place)
    _tidy(place)
    return str(place)


def _folder() -> Path:
    told = _Chosen.remote.folder or str(Path(tempfile.gettempdir(), f"mycelia-remote-{os.getuid()}"))
    folder = Path(told)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _Chosen.remote.folder and folder.stat().st_uid != os.getuid():
        raise DataError("the folder for fetched files belongs to somebody else", given={"folder": told},
                        hint="config.set_remote(folder=...) chooses another")  # fmt: skip
    return folder


def _fetch(system: Any, path: str, address: str, size: int | None, place: Path) -> None:
    """Fetch a file to a name of its own, which it takes only when it is whole."""
    handle, partial = tempfile.mkstemp(dir=place.parent, prefix=".part-")
    got = 0
    try:
        with os.fdopen(handle, "wb") as file:

            def rest() -> None:
                nonlocal got
                with system.open(path, "rb", block_size=PIECE) as source:
                    if got:
                        source.seek(got)
                    while piece := source.read(PIECE):
                        file.write(piece)
                        got += len(piece)
                if size is not None and got < size:
                    raise OSError(f"{got} of {size} bytes have come")

            _tried(address, rest)
        if size is not None and got != size:
            raise DataError(f"a file has {size} bytes, and {got} have come", given={"address": address})
        os.replace(partial, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def _tidy(kept: Path) -> None:
    """Remove what was not used for the longest time; who has a file open keeps it."""
    files = []
    for path in kept.parent.iterdir():
        with suppress(OSError):
            files.append((path.stat().st_mtime, path.stat().st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= _Chosen.remote.most:
            return
        if path != kept and not path.name.startswith(".part-"):
            with suppress(OSError):
                path.unlink()
            total -= size
