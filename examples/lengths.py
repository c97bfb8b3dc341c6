"""Sequences of different lengths: batches of similar ones, one compiled program for all lengths.

Which of two letters occurs more often in a text of 3 to 40 letters? `--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn, ops
from mycelia.models import LSTMClassifier, compiled_step


def texts(count: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Letters from 1 on, how many there are, and whether there are more of 1 than of 2."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        text = rng.integers(1, 5, rng.integers(3, 41)).astype(np.int32)
        yield text, np.int32(len(text)), np.int32((text == 1).sum() > (text == 2).sum())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="texts of different lengths")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    count, epochs, hidden = (64, 1, 4) if quick else (4000, 6, 32)
    rows = ds.GeneratorDataset(lambda: texts(count, 0), ["text", "length", "label"])
    batches = rows.bucket_batch_by_length(["text"], [10, 20, 30], [16] * 4, pad_info={"text": (None, 0)})
    net = LSTMClassifier(5, 8, hidden, layers=1, dropout=0.0)

    def loss(text: ms.Tensor, length: ms.Tensor, label: ms.Tensor) -> ms.Tensor:
        return ops.cross_entropy(net(text, length), label)

    step = compiled_step(loss, nn.Adam(net.trainable_params(), 0.01))
    for epoch in range(epochs):
        losses = [step(*batch).item() for batch in batches.create_tuple_iterator(num_epochs=1)]
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f} over {len(losses)} batches")
    right = [
        int(net(ms.Tensor(text[None]), ms.Tensor(length[None])).asnumpy().argmax() == label)
        for text, length, label in texts(20 if quick else 200, 1)
    ]
    print(f"right for {np.mean(right):.0%} of new texts; {len(step.explain().splitlines())} lines tell how it runs")


if __name__ == "__main__":
    main()
