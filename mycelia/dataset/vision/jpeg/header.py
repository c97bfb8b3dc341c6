"""What a JPEG file says before its picture begins, if it is of a kind that is decoded here."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from mycelia.dataset.vision.jpeg.bits import TABLE, huffman
from mycelia.runtime.routine import Routine
from mycelia.types import Array

coder = Routine(huffman)


@dataclass(frozen=True, eq=False)
class Header:
    """What a file says before its picture begins."""

    height: int
    width: int
    parts: tuple[tuple[int, int, int], ...]  # for each component: samples across and down in an MCU, quantisation table
    chosen: tuple[tuple[int, int], ...]  # for each component: its tables for DC and for AC
    tables: Array
    quant: Array
    start: int


def _picture_begins(data: bytes) -> int:
    """Where the picture of a file begins, most likely; 0 if it does not."""
    found = data.find(b"\xff\xda")
    return found + 2 + int.from_bytes(data[found + 2 : found + 4], "big") if found > 0 else 0


@lru_cache(maxsize=256)
def header(data: bytes) -> Header | None:
    """The header, if it is all of `data`, and of a kind that is decoded here."""
    about = _Parts()
    place = 2
    while place + 4 <= len(data) and data[place] == 255:
        kind, length = data[place + 1], int.from_bytes(data[place + 2 : place + 4], "big")
        body = data[place + 4 : place + 2 + length]
        place += 2 + length
        if len(body) != length - 2 or not about.take(kind, body):
            return None
        if kind == SCAN:
            return about.header(body, place) if place == len(data) else None
    return None


SCAN = 0xDA


@dataclass(eq=False)
class _Parts:
    """What the segments of a header have said so far."""

    quant: Array = field(default_factory=lambda: np.zeros(4 * 64, np.int32))
    tables: Array = field(default_factory=lambda: np.zeros(8 * TABLE, np.int32))
    known: set[int] = field(default_factory=set)
    frame: bytes = b""
    jfif: bool = False
    adobe: int | None = None

    def take(self, kind: int, body: bytes) -> bool:
        """Hear of a segment; False if the picture is of a kind that is not decoded here."""
        match kind:
            case 0xE0:
                self.jfif = self.jfif or body[:5] == b"JFIF\0"
            case 0xEE if body[:5] == b"Adobe" and len(body) >= 12:
                self.adobe = body[11]
            case 0xDB:
                return _quantisers(body, self.quant)
            case 0xC4:
                return _coders(body, self.tables, self.known)
            case 0xC0 | 0xC1:
                self.frame = body
                return len(body) >= 6 and body[0] == 8 and len(body) == 6 + 3 * body[5]
            case 0xDD:
                return not any(body)  # no restart markers
        return not 0xC0 <= kind <= 0xCF or kind == 0xC4 or kind == 0xCC

    def header(self, scan: bytes, start: int) -> Header | None:
        """All of it, if the picture is grey, or YCbCr in one scan."""
        frame = self.frame
        if not frame or len(scan) != 4 + 2 * scan[0] or scan[0] != frame[5] or frame[5] not in (1, 3):
            return None
        height, width = int.from_bytes(frame[1:3], "big"), int.from_bytes(frame[3:5], "big")
        about = [frame[6 + 3 * i : 9 + 3 * i] for i in range(frame[5])]
        names = [a[0] for a in about]
        parts = tuple((a[1] >> 4, a[1] & 15, a[2]) for a in about)
        chosen = tuple((scan[2 + 2 * i] >> 4, 4 + (scan[2 + 2 * i] & 15)) for i in range(scan[0]))
        if [scan[1 + 2 * i] for i in range(scan[0])] != names or scan[-3:] != b"\0\x3f\0" or not height or not width:
            return None
        if any(q > 3 for *_, q in parts) or any(t not in self.known for pair in chosen for t in pair):
            return None
        if len(parts) == 1:
            parts = ((1, 1, parts[0][2]),)
        elif not self._colours(names, parts, width):
            return None
        return Header(height, width, parts, chosen, self.tables, self.quant, start)

    def _colours(self, names: list[int], parts: tuple[tuple[int, int, int], ...], width: int) -> bool:
        """Whether three components are YCbCr, with chroma at full or half resolution."""
        if parts[0][:2] not in ((1, 1), (2, 1), (1, 2), (2, 2)) or {p[:2] for p in parts[1:]} != {(1, 1)}:
            return False
        if parts[0][0] == 2 and width <= 4:  # so narrow pictures are widened in another way
            return False
        return self.jfif or (self.adobe == 1 if self.adobe is not None else names != [82, 71, 66])


def _quantisers(body: bytes, quant: Array) -> bool:
    """Read tables of divisors."""
    while body:
        size = 128 if body[0] >> 4 else 64
        number, rest = body[0] & 15, body[1 : 1 + size]
        if number > 3 or len(rest) != size:
            return False
        quant[number * 64 :][:64] = np.frombuffer(rest, ">u2" if size == 128 else "u1")
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


def header_of(data: Array) -> Header | None:
    """What a file says of its picture, if it is one that is decoded here."""
    if data[-64:].tobytes().rfind(b"\xff\xd9") < 0:
        return None  # it has no end
    for most in (4096, len(data)):
        begin = data[:most].tobytes()
        end = _picture_begins(begin)
        if 0 < end <= len(begin):
            return header(begin[:end])
    return None
