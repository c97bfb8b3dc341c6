"""Plain files, and nothing else that has a name: a pipe would make a reader wait for ever, a device has no end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import numpy as np

from mycelia.types import Array


def opened(path: str | Path) -> int:
    """A plain file, opened for reading: a pipe would make the reader wait for ever, and a device has no end.

    >>> opened("/dev/zero")
    Traceback (most recent call last):
    OSError: [Errno 22] this is not a plain file: '/dev/zero'
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer does not wait either
    kind = os.fstat(file).st_mode
    if not stat.S_ISREG(kind):
        os.close(file)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "this is not a plain file", str(path))
    return file


def array_of(path: str | Path) -> Array:
    """The bytes of a plain file, in memory of their own.

    >>> array_of(__file__)[:3].tobytes()
    b'\"\"\"'
    """
    file = opened(path)
    try:
        whole, at = np.empty(os.fstat(file).st_size, np.uint8), 0
        while at < len(whole) and (got := os.readv(file, [whole[at:].data])):
            at += got
        return whole[:at]
    finally:
        os.close(file)


def content_of(path: str | Path) -> bytes:
    """The bytes of a plain file.

    >>> content_of(__file__)[:3]
    b'\"\"\"'
    """
    with os.fdopen(opened(path), "rb") as file:
        return file.read()
