"""From planes of luma and chroma to RGB: chroma at full resolution, and colours."""

from __future__ import annotations

from mycelia.dataset.vision.jpeg.bits import FRAME, PART
from mycelia.routines.words import Bytes, Longs, Words, word


def chroma(planes: Bytes, view: Longs, sums: Words, full: Words, at: int, stride: int, y: int) -> int:
    """One row of a chroma plane at full resolution: every sample 3 to 1 with the neighbour that it lies nearer to."""
    wide, tall = view[4], view[5]
    row = (y >> tall) - (view[9] >> tall)
    near = at + row * stride
    far = near
    if tall:
        other = (y >> 1) + (y & 1) * 2 - 1
        far = near + (min(max(other, 0), view[7] - 1) - (y >> 1)) * stride
    first = view[0] >> wide
    end = (view[0] + view[2] - 1 >> wide) + 1
    low, high = max(first - 1, 0), min(end + 1, view[6])
    shift = view[8] >> wide
    for i in range(high - low):
        here = planes[near + low - shift + i]
        sums[low - first + 1 + i] = here * 3 + planes[far + low - shift + i] if tall else here
    if low == first:
        sums[0] = sums[1]
    if high == end:
        sums[end - first + 1] = sums[end - first]
    if wide:
        before, after, down = word(8 if tall else 1), word(7 if tall else 2), word(4 if tall else 2)
        for i in range(end - first):
            full[2 * i] = sums[i + 1] * 3 + sums[i] + before >> down
            full[2 * i + 1] = sums[i + 1] * 3 + sums[i + 2] + after >> down
    else:
        half, down = word(1 + (y & 1) if tall else 0), word(2 if tall else 0)
        for i in range(end - first):
            full[i] = sums[i + 1] + half >> down
    return 0


def colours(planes: Bytes, at: int, blue: Words, red: Words, skip: int, out: Bytes, to: int, width: int) -> int:
    """One row of luma and chroma as RGB."""
    for x in range(width):
        y, cb, cr = planes[at + x], blue[skip + x] - 128, red[skip + x] - 128
        out[to + 3 * x] = min(max(y + (cr * 91881 + 32768 >> 16), 0), 255)
        out[to + 3 * x + 1] = min(max(y + (cb * -22554 - cr * 46802 + 32768 >> 16), 0), 255)
        out[to + 3 * x + 2] = min(max(y + (cb * 116130 + 32768 >> 16), 0), 255)
    return 0


def paint(planes: Bytes, frame: Longs, view: Longs, sums: Words, blue: Words, red: Words, out: Bytes) -> int:
    """The rectangle as RGB, from the planes of the MCUs that it touches."""
    width = view[2]
    for row in range(view[3]):
        y = view[1] + row
        at = frame[FRAME + 5] + (y - view[9]) * frame[FRAME + 6] + view[0] - view[8]
        to = row * width * 3
        if frame[7] == 1:
            for x in range(width):
                out[to + 3 * x] = planes[at + x]
                out[to + 3 * x + 1] = planes[at + x]
                out[to + 3 * x + 2] = planes[at + x]
        else:
            second, third = FRAME + PART, FRAME + 2 * PART
            chroma(planes, view, sums, blue, frame[second + 5], frame[second + 6], y)
            chroma(planes, view, sums, red, frame[third + 5], frame[third + 6], y)
            colours(planes, at, blue, red, view[0] & view[4], out, to, width)
    return 0
