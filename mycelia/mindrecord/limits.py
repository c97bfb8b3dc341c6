"""One limit for the sizes that files declare: pictures, records, archives, sounds. No memory is asked for beyond it."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from pathlib import Path
from typing import Any

from mycelia.mindrecord.errors import RecordError
from mycelia.plainfiles import content_of, opened


class TooLarge(RecordError, ValueError):
    """A file declares, or unfolds to, more bytes than the limit.

    >>> believed(1 << 60, "a picture")
    Traceback (most recent call last):
    mycelia.mindrecord.limits.TooLarge: a picture declares 1152921504606846976 bytes, more than the limit of 1073741824
    ...
    """


class _Limit:
    """The one place where it is kept."""

    bytes = 1 << 30


def largest() -> int:
    """The limit in bytes: what one sample, record, member of an archive or unfolded file may have.

    >>> largest() >= 1
    True
    """
    return _Limit.bytes


def set_largest(size: int) -> None:
    """Change the limit.

    >>> before = largest(); set_largest(7); largest(); set_largest(before)
    7
    """
    _Limit.bytes = size


def believed(size: int, what: str, **given: Any) -> int:
    """The declared size, when it is within the limit.

    >>> believed(5, "a record", file="a.tar")
    5
    """
    if not 0 <= size <= largest():
        raise TooLarge(
            f"{what} declares {size} bytes, more than the limit of {largest()}",
            given=given,
            hint="the file is damaged, or made to exhaust memory; config.set_largest_sample(bytes) if it is meant so",
        )
    return size


def unfolded(path: str | Path, kind: str = "GZIP") -> bytes:
    """The content of a file that is compressed, read no further than the limit; `kind` is GZIP, ZLIB or BZ2.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "a.gz"); _ = place.write_bytes(gzip.compress(b"abc"))
    >>> unfolded(place)
    b'abc'
    """
    most = largest()
    if kind in ("GZIP", "BZ2"):
        with os.fdopen(opened(path), "rb") as file, (gzip.open if kind == "GZIP" else bz2.open)(file, "rb") as zipped:
            whole = zipped.read(most + 1)
    else:
        inner = zlib.decompressobj()
        whole = inner.decompress(content_of(path), most + 1)
        if len(whole) <= most and not inner.eof:
            raise zlib.error("the compressed data ends too early")
    believed(len(whole), "a compressed file", file=str(path))
    return whole
