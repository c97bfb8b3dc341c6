"""A look at rows: pictures, sounds, texts and numbers, for a terminal, a notebook, or a page of HTML."""

from __future__ import annotations

import html
import io
import wave
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.dataset.vision.codec import decode, encode_png, is_jpeg
from mycelia.errors import MyceliaError
from mycelia.frozen import frozen
from mycelia.types import Array

WIDE = 24  # characters of a picture or a sound in a terminal
BLOCKS = " ▁▂▃▄▅▆▇█"
SIGNATURES = (b"\x89PNG", b"GIF8", b"BM", b"RIFF")  # of pictures; the last is that of sounds, too


def picture_of(value: Any) -> Array | None:
    """An image of bytes (H, W, 1 or 3), if a value looks like one: pixels, planes, or an encoded file.

    >>> picture_of(np.zeros((4, 5, 3), np.uint8)).shape, picture_of(np.zeros(3)) is None
    ((4, 5, 3), True)
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "uif":
        return None
    if value.ndim == 1 and value.dtype == np.uint8:
        known = is_jpeg(value) or value[:4].tobytes().startswith(SIGNATURES)
        try:
            return decode(np.ascontiguousarray(value)) if known else None
        except MyceliaError:
            return None
    if value.ndim == 3 and value.shape[0] in (1, 3) and value.shape[2] not in (1, 3):
        value = value.transpose(1, 2, 0)
    if value.ndim == 2 and min(value.shape) > 3:
        value = value[..., None]
    if value.ndim != 3 or value.shape[2] not in (1, 3) or not value.size:
        return None
    if value.dtype != np.uint8:
        finite = np.nan_to_num(value.astype(np.float64))
        low, high = finite.min(), finite.max()
        value = ((finite - low) / max(high - low, 1e-12) * 255).astype(np.uint8)
    return np.ascontiguousarray(value)


def sound_of(value: Any) -> Array | None:
    """Samples (channels, time) within [-1, 1], if a value looks like a sound.

    >>> sound_of(np.zeros((1, 800), np.float32)).shape, sound_of(np.zeros(3)) is None
    ((1, 800), True)
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.ndim not in (1, 2):
        return None
    samples = np.atleast_2d(value)
    if samples.shape[0] > 8 or samples.shape[1] < 256 or not np.isfinite(samples).all() or np.abs(samples).max() > 1.5:
        return None
    return samples


def wav_of(samples: Array, rate: int) -> bytes:
    """Samples as a WAV file.

    >>> wav_of(np.zeros((1, 4)), 8000)[:4]
    b'RIFF'
    """
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((len(samples), 2, rate, 0, "NONE", ""))
        file.writeframes((np.clip(samples.T, -1, 1) * 32767).astype("<i2").tobytes())
    return out.getvalue()


def in_few_words(value: Any, most: int = 60) -> str:
    """A value in a few words: its text, or its type, its shape and its first numbers.

    >>> in_few_words(np.array("word")), in_few_words(np.arange(3, dtype=np.int8))
    ("'word'", 'int8[3] 0 1 2')
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {in_few_words(v, most // 2)}" for k, v in value.items()) + "}"
    array = np.asarray(value)
    if array.ndim == 0:
        word = repr(array.item())
        return word if len(word) <= most else f"{word[: most - 1]}…"
    shown = " ".join(str(v) for v in array.ravel()[:8].tolist())
    more = " …" if array.size > 8 else ""
    return f"{array.dtype}{list(array.shape)} {shown}{more}"[: most + 20]


def in_half_blocks(image: Array, wide: int = WIDE) -> str:
    """A picture in half blocks and colours, as terminals show them: two rows of pixels in a line.

    >>> in_half_blocks(np.zeros((2, 2, 3), np.uint8), 2).count("▀")
    2
    """
    height, width = image.shape[:2]
    wide = min(wide, width)
    tall = max(2, round(height * wide / width) // 2 * 2)
    rows = (np.arange(tall) * height // tall)[:, None]
    columns = np.arange(wide) * width // wide
    small = np.broadcast_to(image[rows, columns], (tall, wide, image.shape[2]))
    small = np.repeat(small, 3, 2) if small.shape[2] == 1 else small
    lines = []
    for y in range(0, tall, 2):
        cells = (
            "\x1b[38;2;{};{};{}m\x1b[48;2;{};{};{}m▀".format(*small[y, x].tolist(), *small[y + 1, x].tolist())
            for x in range(wide)
        )
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines)


def sparkline(samples: Array, wide: int = WIDE) -> str:
    """How loud a sound is, piece by piece.

    >>> sparkline(np.array([[0.0] * 300 + [1.0] * 300]), 2)
    ' █'
    """
    loud = np.abs(samples).max(0)
    pieces = [float(p.max()) if p.size else 0.0 for p in np.array_split(loud, wide)]
    top = max([*pieces, 1e-9])
    return "".join(BLOCKS[round(p / top * (len(BLOCKS) - 1))] for p in pieces)


@frozen
class Preview:
    """Some rows of a dataset: `print` it, let a notebook show it, or `save` it as a page of HTML.

    >>> import mycelia.dataset as ds
    >>> print(ds.NumpySlicesDataset({"x": [1, 2], "word": ["a", "b"]}, shuffle=False).preview(1))
    row 0
      x     1
      word  'a'
    """

    rows: Sequence[dict[str, Any]]
    rate: int = 16000  # of sounds whose rows do not tell

    def __str__(self) -> str:
        return "\n".join(f"row {i}\n" + "\n".join(self._lines(row)) for i, row in enumerate(self.rows))

    def __repr__(self) -> str:
        return str(self)

    def _lines(self, row: dict[str, Any]) -> list[str]:
        wide = max(map(len, row))
        lines = []
        for name, value in row.items():
            image, sound = picture_of(value), sound_of(value)
            told = in_few_words(value) if image is None else f"{value.dtype}{list(value.shape)}"
            lines.append(f"  {name.ljust(wide)}  {told}{'  ' + sparkline(sound) if sound is not None else ''}")
            if image is not None:
                lines += [" " * (wide + 4) + line for line in in_half_blocks(image).splitlines()]
        return lines

    def html(self) -> str:
        """The rows as a table of HTML, with pictures to see and sounds to hear."""
        names = list(self.rows[0]) if self.rows else []
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{self._cell(v, row)}</td>' for v in row.values())}</tr>" for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cell(self, value: Any, row: dict[str, Any]) -> str:
        image, sound = picture_of(value), sound_of(value)
        if image is not None:
            data = b64encode(encode_png(image).tobytes()).decode()
            return f'<img src="data:image/png;base64,{data}" style="max-height:160px"/>'
        if sound is not None:
            rate = next((int(v) for k, v in row.items() if "rate" in k and np.ndim(v) == 0), self.rate)
            data = b64encode(wav_of(sound, rate)).decode()
            return f'<audio controls src="data:audio/wav;base64,{data}"></audio>'
        return html.escape(in_few_words(value, 200))

    _repr_html_ = html

    def save(self, file: str | Path) -> None:
        """Write the rows to a page of HTML.

        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp(), "a.html"); Preview([{"x": np.array("<b>")}]).save(place)
        >>> "&lt;b&gt;" in place.read_text()
        True
        """
        Path(file).write_text(f'<!DOCTYPE html><meta charset="utf-8">{self.html()}', encoding="utf-8")
