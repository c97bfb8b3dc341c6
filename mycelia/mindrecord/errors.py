"""What can be wrong with a record file."""

from __future__ import annotations

from mycelia.errors import MyceliaError


class RecordError(MyceliaError, RuntimeError):
    """A record file is damaged, incomplete, or not a record file.

    >>> issubclass(RecordError, RuntimeError)
    True
    """
