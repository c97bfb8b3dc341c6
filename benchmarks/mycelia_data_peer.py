"""Mycelia's side of the JPEG pipeline benchmark: decode, random resized crop, flip, normalise, CHW, batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.dataset.readers import ImageFolderDataset

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


def epoch(files: Sequence[str], workers: int, batch: int) -> Callable[[], int]:
    """A function that reads all images once and gives their number; `files` lie in one folder per class."""
    ds.config.set_num_parallel_workers(workers)
    images = ImageFolderDataset(str(Path(files[0]).parent.parent), num_parallel_workers=workers, shuffle=True)
    images = images.map(
        [
            vision.RandomCropDecodeResize(224, scale=(0.08, 1.0)),
            vision.RandomHorizontalFlip(0.5),
            vision.Normalize(MEAN, STD),
            vision.HWC2CHW(),
        ],
        input_columns="image",
    ).batch(batch)

    def run() -> int:
        rows = images.create_dict_iterator(num_epochs=1, output_numpy=True)
        return sum(len(row["image"]) for row in rows)

    return run
