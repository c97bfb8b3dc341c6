"""The cache on disk: files that were written whole, by this user, and that are read only if nobody else can write them.

A file has a head (what it is, the digest of its name and of what follows) and its content. It is written beside its
place and then put there in one step, so that processes that write the same at once harm nobody. A folder, or a file in
it, that belongs to somebody else or that others may write is not read: what lies there is run. When the folder has
grown too large, what was not used for longest goes. Whatever is wrong with it costs time, never a result; the first
such thing of a process is said, as a warning.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from functools import lru_cache
from itertools import count
from pathlib import Path

from mycelia.degradations import CACHE, Instead, concerning, degrade

HEAD = b"mycelia 2 "
LIMIT = 2 << 30  # bytes that a folder may hold
KEPT = 3 / 4  # of that, when something has to go
LARGEST = 256 << 20  # bytes of one file
ABANDONED = 3600  # seconds after which nobody finishes a file that was begun
OFTEN = 24 * 3600  # seconds between two notes that a file is still used

_begun = count()


class Cache:
    """The files of one folder, by name.

    >>> import tempfile
    >>> cache = Cache(Path(tempfile.mkdtemp()))
    >>> cache.write("a.o", b"code")
    >>> cache.read("a.o"), cache.read("b.o")
    (b'code', None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._silent = False  # whether something was said of it
        self._usable: bool | None = None  # whether it may be read; None: not looked at yet
        self._bytes: int | None = None  # how much is there, when it was looked at

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it is not there, or cannot be relied on."""
        if not self._trusted():
            return None
        path = self.folder / name
        try:
            with open(path, "rb", opener=_at_once) as file:
                about = os.fstat(file.fileno())
                if not _ours(about) or not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                    self.complain(f"{path} may have been written by somebody else, and is not used")
                    return None
                found = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.complain(f"{path} cannot be read: {error.strerror}")
            return None
        content = _content(name, found)
        if content is None:
            self.complain(f"{path} is damaged, and made again")
            return None
        if time.time() - about.st_atime > OFTEN:
            _used(path, about)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole or not at all."""
        if len(content) > LARGEST or not self._trusted(make=True):
            return
        written = _head(name, content) + content
        try:
            self._put(name, written)
        except OSError as error:
            self.complain(f"{self.folder} cannot be written: {error.strerror}")
            return
        if self._bytes is None:
            self._bytes = self._trim()
        else:
            self._bytes += len(written)
            if self._bytes > LIMIT:
                self._bytes = self._trim()

    def _put(self, name: str, written: bytes) -> None:
        """Write a file beside its place, and put it there; the folder is made again if somebody has let it go."""
        try:
            self._replace(name, written)
        except FileNotFoundError:
            self._usable = None
            if self._trusted(make=True):
                self._replace(name, written)

    def _replace(self, name: str, written: bytes) -> None:
        begun = str(self.folder / f"begun-{os.getpid()}-{next(_begun)}")
        try:
            with open(os.open(begun, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(written)
            os.replace(begun, self.folder / name)
        except OSError:
            _remove(begun)
            raise

    def _trusted(self, make: bool = False) -> bool:
        """Whether only this user, or the system, can have put there what lies in the folder."""
        if self._usable is None:
            try:
                if make:
                    self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                about = self.folder.stat()
            except OSError as error:
                if isinstance(error, FileNotFoundError) and not make:
                    return False  # nothing is there yet
                self.complain(f"{self.folder} cannot be used: {error.strerror}")
                self._usable = False
                return False
            folder, ours = stat.S_ISDIR(about.st_mode), _ours(about)
            if not folder:
                self.complain(f"{self.folder} cannot be used: it is no folder")
            elif not ours:
                self.complain(
                    f"{self.folder} can be written by others, and is not used: code there would be run (chmod go-w)"
                )
            self._usable = folder and ours
        return self._usable

    def _trim(self) -> int:
        """Let go what was not used for longest, if there is too much; what is left, in bytes."""
        found: list[tuple[float, int, str]] = []
        now = time.time()
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    try:
                        about = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # another process was faster
                    if entry.name.startswith("begun-"):
                        if now - about.st_mtime > ABANDONED:
                            _remove(entry.path)
                    elif stat.S_ISREG(about.st_mode):
                        found.append((max(about.st_atime, about.st_mtime), about.st_size, entry.path))
        except OSError:
            return 0
        total = sum(size for _, size, _ in found)
        if total > LIMIT:
            for _, size, path in sorted(found):
                _remove(path)
                total -= size
                if total <= LIMIT * KEPT:
                    break
        return total

    def complain(self, why: str) -> None:
        """Say what is wrong with it: the first time as a warning."""
        with concerning(CACHE):
            degrade(Instead.SLOW, why, warn=not self._silent)
        self._silent = True


@lru_cache(maxsize=16)
def cache_in(folder: Path) -> Cache:
    """The cache in a folder, one for the process."""
    return Cache(folder)


def _ours(about: os.stat_result) -> bool:
    """Whether nobody but this user and the system can write it."""
    return about.st_uid in (os.geteuid(), 0) and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _at_once(path: str, flags: int) -> int:
    """Open what may be no file at all, but a pipe, which nobody need ever write to."""
    return os.open(path, flags | os.O_NONBLOCK)


def _head(name: str, content: bytes) -> bytes:
    """What stands before the content of a file: another name is as wrong as another content."""
    return HEAD + hashlib.sha256(name.encode() + b"\n" + content).hexdigest().encode() + b"\n"


def _content(name: str, found: bytes) -> bytes | None:
    """What a file holds, if it is whole."""
    content = found[len(HEAD) + 65 :]
    return content if found.startswith(_head(name, content)) else None


def _used(path: Path, about: os.stat_result) -> None:
    """Note that a file was used; when it was written stays as it is."""
    try:
        os.utime(path, ns=(time.time_ns(), about.st_mtime_ns))
    except OSError:
        return  # it may go a little earlier


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # it is gone already, or stays
