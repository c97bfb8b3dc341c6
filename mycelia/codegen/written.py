"""Kernels that this process wrote before, as text: an equal kernel of another program is not written again."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from mycelia.codegen.vecmath.accuracy import BY_NAME

MOST = 16_000_000  # characters that are remembered


class Written:
    """Texts by all that they follow from: what the caller says, and the formulas of functions as they are now.

    Threads may come at once: then a text is written twice, and is the same.

    >>> texts = Written()
    >>> texts.find("kernel", lambda: "define ...")
    'define ...'
    >>> texts.find("kernel", lambda: "define something else ...")
    'define ...'
    """

    def __init__(self) -> None:
        self._texts: dict[Hashable, str] = {}
        self._size = 0

    def find(self, about: Hashable, write: Callable[[], str]) -> str:
        """The text that was written for this, or is now. When there is too much of them, all are forgotten."""
        key = about, *BY_NAME.items()
        found = self._texts.get(key)
        if found is None:
            found = write()
            if self._size + len(found) > MOST:
                self._texts, self._size = {}, 0
            self._texts[key] = found
            self._size += len(found)
        return found
