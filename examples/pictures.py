"""A variational autoencoder learns digits, and draws new ones into a picture file.

python examples/pictures.py --file drawn.pgm
python examples/pictures.py --quick    a few steps, to see that it runs
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mycelia as ms
from mycelia import nn
from mycelia.models import VAE, compiled_step

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"


def save(path: Path, pictures: np.ndarray) -> None:
    """Rows of pictures of grey values from 0 to 1, as one file that image viewers open (PGM)."""
    rows, columns, height, width = pictures.shape
    whole = (pictures.transpose(0, 2, 1, 3).reshape(rows * height, columns * width) * 255).astype(np.uint8)
    path.write_bytes(f"P5 {whole.shape[1]} {whole.shape[0]} 255\n".encode() + whole.tobytes())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="draw digits")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    parser.add_argument("--file", type=Path, help="where the drawing goes (a temporary file)")
    asked = parser.parse_args(arguments)
    path = asked.file or Path(tempfile.mkdtemp()) / "drawn.pgm"
    ms.set_seed(1)
    images = (np.load(DATA)["train_images"] / 255).reshape(-1, 784).astype(np.float32)
    hidden, steps = (32, 10) if asked.quick else (400, 2000)
    net = VAE(784, hidden, 16)
    step = compiled_step(net, nn.Adam(net.trainable_params(), 1e-3))
    rng = np.random.default_rng(0)
    losses = [step(ms.Tensor(images[rng.integers(0, len(images), 64)])).item() for _ in range(steps)]
    print(f"loss {losses[0]:.1f} -> {losses[-1]:.1f} nats a picture")
    drawn = net.decode(ms.Tensor(rng.normal(size=(32, 16)).astype(np.float32))).asnumpy()
    save(path, drawn.reshape(4, 8, 28, 28))
    print(f"drew 32 digits into {path.name}")


if __name__ == "__main__":
    main()
