"""A call of one of our own functions, made ready: the words that it is told, the tables they point to, its room."""

from __future__ import annotations

from mycelia.frozen import frozen
from mycelia.types import Array


@frozen(eq=False)
class Tabled:
    """Words in the order that the function knows, with the tables, of 64-bit words, whose addresses they hold."""

    words: Array
    tables: tuple[Array, ...]
    room: int
