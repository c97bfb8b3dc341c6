"""A JPEG decoder that makes only the rectangle that is asked for, to the last bit as libjpeg-turbo does.

A picture is cut into MCUs, small groups of 8 x 8 blocks. All blocks up to the last one needed are read from the bit
stream, since nothing tells where the next one begins; only those that the rectangle touches are transformed, brought to
full resolution and converted to RGB. The loops are routines: Python here, machine code when they run.

Baseline files are decoded. Others (progressive, arithmetic coding, CMYK, restart markers, odd subsampling) and broken
ones are left to the libraries: there is no header, or there are no pixels. What follows the last block is not read.
"""

from __future__ import annotations

import threading

import numpy as np

from mycelia.api.options import options
from mycelia.dataset.vision.jpeg.bits import FRAME, PART, TABLE, scan
from mycelia.dataset.vision.jpeg.colour import paint
from mycelia.dataset.vision.jpeg.header import JpegHeader, claimed_size, coder, header_of
from mycelia.errors import ArgumentError
from mycelia.runtime.routine import Routine
from mycelia.types import Array

__all__ = ["Box", "JpegHeader", "claimed_size", "header_of", "pixels", "ready"]

Box = tuple[int, int, int, int]  # top, left, height, width

KEPT = 1 << 26  # bytes of planes that a thread keeps for the next picture

_scan, _paint = Routine(scan, options), Routine(paint, options)


def ready() -> bool:
    """Whether the routines are compiled; if not, that begins now."""
    return min(coder.ready(), _scan.ready(), _paint.ready())


class _Scratch(threading.local):
    """Memory that a thread decodes with."""

    def __init__(self) -> None:
        self.coefs, self.work = np.empty(64, np.int32), np.empty(64, np.int32)
        self.state = np.empty(FRAME + 3 * PART, np.int64)
        self.lines = [np.empty(0, np.int32)] * 3
        self.planes = np.empty(0, np.uint8)

    def fit(self, width: int, size: int) -> None:
        """Have room for lines and planes."""
        if len(self.lines[0]) < width:
            self.lines = [np.empty(width, np.int32) for _ in range(3)]
        if len(self.planes) < size:
            self.planes = np.empty(size, np.uint8)

    def release(self) -> None:
        """Let go of what a very large picture needed."""
        if len(self.planes) > KEPT:
            self.lines, self.planes = [np.empty(0, np.int32)] * 3, np.empty(0, np.uint8)


_scratch = _Scratch()


def pixels(data: Array, about: JpegHeader, box: Box | None = None, out: Array | None = None) -> Array | None:
    """The rectangle `box` of the picture in `data` as RGB, in `out` if given; None if the file is broken."""
    top, left, height, width = box or (0, 0, about.height, about.width)
    if min(top, left) < 0 or min(height, width) < 1 or top + height > about.height or left + width > about.width:
        raise ArgumentError(
            "a rectangle lies outside its picture", given={"box": box, "picture": (about.height, about.width)}
        )
    if out is not None and (out.shape != (height, width, 3) or out.dtype != np.uint8 or not out.flags.c_contiguous):
        raise ArgumentError("the place of a rectangle does not fit it", given={"box": box, "place": out.shape})
    (across, down, _), *_ = about.parts
    wide, tall = 8 * across, 8 * down  # of an MCU
    bounds = max(top - 2, 0) // tall, max(left - 2, 0) // wide
    rows, columns = -(-min(top + height + 2, about.height) // tall), -(-min(left + width + 2, about.width) // wide)
    frame = [about.start, len(data) - 8, -(-about.width // wide), rows, bounds[0], bounds[1], columns, len(about.parts)]
    size = 0
    for (h, v, q), (dc, ac) in zip(about.parts, about.chosen, strict=True):
        stride = (columns - bounds[1]) * 8 * h
        frame += [h, v, dc * TABLE, ac * TABLE, q * 64, size, stride]
        size += stride * (rows - bounds[0]) * 8 * v
    view = [left, top, width, height, across - 1, down - 1, -(-about.width // across), -(-about.height // down),
            bounds[1] * wide, bounds[0] * tall]  # fmt: skip
    s = _scratch
    s.fit(width + 32, size)
    numbers = np.array(frame, np.int64)
    try:
        if _scan(data, numbers, about.tables, about.quant, s.coefs, s.work, s.planes, s.state) < 0:
            return None
        out = np.empty((height, width, 3), np.uint8) if out is None else out
        _paint(s.planes, numbers, np.array(view, np.int64), *s.lines, out)
        return out
    finally:
        s.release()
