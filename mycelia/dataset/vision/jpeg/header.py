"""What a JPEG file says before its picture begins, if it is of a kind that is decoded here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from mycelia.api.options import options
from mycelia.dataset.vision.jpeg.bits import TABLE, huffman
from mycelia.frozen import frozen
from mycelia.runtime.routine import Routine
from mycelia.types import Array

SCAN, COMMENT = 0xDA, 0xFE
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
SHORT = 4096  # bytes of a header that is worth remembering

coder = Routine(huffman, options)


@frozen(eq=False)
class JpegHeader:
    """What a file says before its picture begins."""

    height: int
    width: int
    parts: tuple[tuple[int, int, int], ...]  # for each component: samples across and down in an MCU, quantisation table
    chosen: tuple[tuple[int, int], ...]  # for each component: its tables for DC and for AC
    tables: Array
    quant: Array
    start: int


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The kinds of the segments of a file and where they begin and end, as they tell, up to that of the picture."""
    place, kind = 2, 0
    while kind != SCAN and place + 4 <= len(data) and data[place] == 255:
        kind, begin = data[place + 1], place
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
        yield kind, begin, place


def claimed_size(data: Array) -> tuple[int, int] | None:
    """Height and width that a JPEG file of any kind claims; None if it does not tell.

    >>> claimed_size(np.frombuffer(bytes.fromhex("ffd8 ffc2 0008 08 0102 0003"), np.uint8))
    (258, 3)
    """
    for most in (SHORT, len(data)):
        begin = data[:most].tobytes()
        for kind, at, _ in _segments(begin):
            if kind in FRAMES and at + 9 <= len(begin):
                return int.from_bytes(begin[at + 5 : at + 7], "big"), int.from_bytes(begin[at + 7 : at + 9], "big")
    return None


@lru_cache(maxsize=256)
def header(data: bytes) -> JpegHeader | None:
    """The header, if it is all of `data`, and of a kind that is decoded here."""
    about = _Parts()
    for kind, begin, end in _segments(data):
        body = data[begin + 4 : end]
        if len(body) != end - begin - 4 or not about.take(kind, body):
            return None
        if kind == SCAN:
            return about.header(body, end) if end == len(data) else None
    return None


@dataclass(eq=False)
class _Parts:
    """What the segments of a header have said so far."""

    quant: Array = field(default_factory=lambda: np.zeros(4 * 64, np.int32))
    tables: Array = field(default_factory=lambda: np.zeros(8 * TABLE, np.int32))
    known: set[int] = field(default_factory=set)  # tables for Huffman codes
    scales: set[int] = field(default_factory=set)  # tables of divisors
    frame: bytes = b""
    jfif: bool = False
    adobe: int | None = None

    def take(self, kind: int, body: bytes) -> bool:
        """Hear of a segment; False if the picture is of a kind that is not decoded here."""
        match kind:
            case 0xE0:
                self.jfif = self.jfif or (body[:5] == b"JFIF\0" and len(body) >= 14)
            case 0xEE if body[:5] == b"Adobe" and len(body) >= 12:
                self.adobe = body[11]
            case 0xDB:
                return _quantisers(body, self.quant, self.scales)
            case 0xC4:
                return _coders(body, self.tables, self.known)
            case 0xC0 | 0xC1:
                first, self.frame = not self.frame, body
                return first and len(body) >= 6 and body[0] == 8 and len(body) == 6 + 3 * body[5]
            case 0xDD:
                return body == b"\0\0"  # no restart markers
        return kind in (SCAN, COMMENT) or 0xE0 <= kind <= 0xEF

    def header(self, scan: bytes, start: int) -> JpegHeader | None:
        """All of it, if the picture is grey, or YCbCr in one scan."""
        frame = self.frame
        if not frame or not scan or len(scan) != 4 + 2 * scan[0] or scan[0] != frame[5] or frame[5] not in (1, 3):
            return None
        height, width = int.from_bytes(frame[1:3], "big"), int.from_bytes(frame[3:5], "big")
        about = [frame[6 + 3 * i : 9 + 3 * i] for i in range(frame[5])]
        names = [a[0] for a in about]
        parts = tuple((a[1] >> 4, a[1] & 15, a[2]) for a in about)
        chosen = tuple((scan[2 + 2 * i] >> 4, 4 + (scan[2 + 2 * i] & 15)) for i in range(scan[0]))
        if [scan[1 + 2 * i] for i in range(scan[0])] != names or scan[-3:] != b"\0\x3f\0" or not height or not width:
            return None
        if any(q not in self.scales for *_, q in parts) or any(not (1 <= n <= 4) for p in parts for n in p[:2]):
            return None
        if any(dc > 3 or dc not in self.known or ac not in self.known for dc, ac in chosen):
            return None
        if len(parts) == 1:
            parts = ((1, 1, parts[0][2]),)
        elif not self._colours(names, parts, width):
            return None
        return JpegHeader(height, width, parts, chosen, self.tables, self.quant, start)

    def _colours(self, names: list[int], parts: tuple[tuple[int, int, int], ...], width: int) -> bool:
        """Whether three components are YCbCr, with chroma at full or half resolution."""
        if parts[0][:2] not in ((1, 1), (2, 1), (1, 2), (2, 2)) or {p[:2] for p in parts[1:]} != {(1, 1)}:
            return False
        if parts[0][0] == 2 and width <= 4:  # so narrow pictures are widened in another way
            return False
        return self.jfif or (self.adobe == 1 if self.adobe is not None else names != [82, 71, 66])


def _quantisers(body: bytes, quant: Array, known: set[int]) -> bool:
    """Read tables of divisors."""
    while body:
        size = 128 if body[0] >> 4 else 64
        number, rest = body[0] & 15, body[1 : 1 + size]
        if number > 3 or len(rest) != size:
            return False
        quant[number * 64 :][:64] = np.frombuffer(rest, ">u2" if size == 128 else "u1")
        known.add(number)
        body = body[1 + size :]
    return True


def _coders(body: bytes, tables: Array, known: set[int]) -> bool:
    """Read Huffman tables."""
    while body:
        counts = np.frombuffer(body[1:17], np.uint8)
        kind, number, total = body[0] >> 4, body[0] & 15, int(counts.sum())
        symbols = np.frombuffer(body[17 : 17 + total], np.uint8)
        if kind > 1 or number > 3 or len(counts) != 16 or total > 256 or len(symbols) != total:
            return False
        padded = np.zeros(256, np.uint8)
        padded[:total] = symbols
        if coder(counts, padded, tables, (4 * kind + number) * TABLE, 1 - kind) < 0:
            return False
        known.add(4 * kind + number)
        body = body[17 + total :]
    return True


def header_of(data: Array) -> JpegHeader | None:
    """What a file says of its picture, if it is one that is decoded here."""
    tail = max(len(data) - 64, 0)
    end = tail + data[tail:].tobytes().rfind(b"\xff\xd9")
    if end < tail:
        return None  # it has no end
    for most in (SHORT, len(data)):
        begin = data[:most].tobytes()
        *_, (kind, _, start) = [(0, 0, 0), *_segments(begin)]
        if kind == SCAN and start <= len(begin):
            about = (header if start <= SHORT else header.__wrapped__)(begin[:start])
            return about if start <= end else None  # the routines stop at the end: it must lie ahead of them
    return None
