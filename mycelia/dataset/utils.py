"""Helpers around datasets: lines of large files by number, images with boxes drawn on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.dataset.readers.base import optional
from mycelia.dataset.sources.textfiles import LineData
from mycelia.errors import ArgumentError
from mycelia.types import Array


class LineReader:
    """The lines of a large file by number, without reading it all.

    >>> import pathlib, tempfile
    >>> place = pathlib.Path(tempfile.mkdtemp(), "a.txt"); _ = place.write_text("one\\ntwo\\n")
    >>> reader = LineReader(str(place)); reader.len(), reader.readline(1)
    (2, 'two')
    """

    def __init__(self, filename: str) -> None:
        self.data: LineData | None = LineData([filename])

    def len(self) -> int:
        """How many lines that are not empty the file has.

        >>> LineReader(__file__).len() > 10
        True
        """
        return len(self._open())

    def readline(self, line: int) -> str:
        """A line, counted from 0.

        >>> LineReader(__file__).readline(0)[:10]
        '\"\"\"Helpers'
        """
        data = self._open()
        if not 0 <= line < len(data):
            raise ArgumentError(f"line must be in [0, {len(data)}), and is {line}")
        return data.line(line)

    def _open(self) -> LineData:
        if self.data is None:
            raise ArgumentError("the reader is closed")
        return self.data

    def close(self) -> None:
        """Let go of the file.

        >>> reader = LineReader(__file__)
        >>> reader.close()
        >>> reader.data is None
        True
        """
        self.data = None


def imshow_det_bbox(
    image: Array,
    bboxes: Array,
    labels: Array,
    segm: Array | None = None,
    class_names: Sequence[str] | None = None,
    score_threshold: float = 0,
    bbox_color: tuple[int, int, int] = (0, 255, 0),
    text_color: tuple[int, int, int] = (203, 192, 255),
    mask_color: tuple[int, int, int] = (128, 0, 128),
    thickness: int = 2,
    font_size: float = 0.8,
    show: bool = True,
    win_name: str = "win",
    wait_time: int = 2000,
    out_file: str | None = None,
) -> Array:
    """An image (H, W, C) or (C, H, W) with boxes (x1, y1, x2, y2 and perhaps a score), names and masks; needs OpenCV.

    >>> imshow_det_bbox.__name__
    'imshow_det_bbox'
    """
    opencv: Any = optional("cv2", "opencv-python-headless", "drawing boxes")
    drawn = np.ascontiguousarray(image.transpose(1, 2, 0) if image.shape[0] in (1, 3) else image).copy()
    if bboxes.ndim != 2 or bboxes.shape[1] not in (4, 5) or len(labels) != len(bboxes):
        raise ArgumentError("bboxes are (N, 4) or (N, 5), with a label each", given={"bboxes": bboxes.shape})
    scores = bboxes[:, 4] if bboxes.shape[1] == 5 else np.ones(len(bboxes))
    for i in np.flatnonzero(scores >= score_threshold).tolist():
        left, top, right, bottom = (int(v) for v in bboxes[i, :4])
        if segm is not None:
            mask = segm[i].astype(bool)
            drawn[mask] = (drawn[mask] * 0.5 + np.array(mask_color) * 0.5).astype(drawn.dtype)
        opencv.rectangle(drawn, (left, top), (right, bottom), bbox_color, thickness)
        number = int(np.ravel(labels[i])[0])
        name = class_names[number] if class_names is not None else f"class {number}"
        told = f"{name}|{scores[i]:.02f}" if bboxes.shape[1] == 5 else name
        opencv.putText(drawn, told, (left, max(top - 2, 0)), opencv.FONT_HERSHEY_COMPLEX, font_size, text_color)
    if out_file is not None:
        opencv.imwrite(out_file, drawn)
    if show:
        opencv.imshow(win_name, drawn)
        opencv.waitKey(wait_time)
    return drawn
