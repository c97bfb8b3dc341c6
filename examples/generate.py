"""Text, letter by letter: a small transformer whose cache of keys and values grows with every letter.

The step is compiled for the first length, once more for all lengths, and never again; `--quick` makes less of it.
"""

import argparse
import time

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops

TEXT = "the quick brown fox jumps over the lazy dog and the dog sleeps on "
LETTERS = sorted(set(TEXT))
LONGEST = 256


class Attention(nn.Cell):
    """Causal attention that is given the keys and values of what came before, and gives back those of everything."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)

    def construct(self, x, keys, values):
        batch, time, width = x.shape
        q, k, v = self.qkv(x).reshape((batch, time, 3, self.heads, -1)).transpose((2, 0, 3, 1, 4))
        k, v = ops.cat((keys, k), 2), ops.cat((values, v), 2)
        before = k.shape[2] - time
        seen = ops.arange(k.shape[2]) <= ops.arange(time)[:, None] + before
        scores = q @ k.swapaxes(-1, -2) * (width // self.heads) ** -0.5
        mixed = ops.softmax(ops.masked_fill(scores, ~seen, -1e9), -1) @ v
        return self.out(mixed.swapaxes(1, 2).reshape((batch, time, width))), k, v


class Model(nn.Cell):
    """One block, between an embedding and a layer that names letters."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(LONGEST, width)
        self.attention, self.norm = Attention(width, heads), nn.LayerNorm((width,))
        self.head = nn.Dense(width, len(LETTERS))
        self.empty = (1, heads, 0, width // heads)

    def construct(self, tokens, start, keys, values):
        x = self.words(tokens) + self.places(ops.arange(tokens.shape[1]) + start)
        mixed, keys, values = self.attention(self.norm(x), keys, values)
        return self.head(x + mixed), keys, values

    def nothing(self, batch: int = 1) -> Tensor:
        """Keys or values of no letters."""
        return ops.zeros((batch, *self.empty[1:]))


def trained(model: Model, steps: int) -> float:
    """Train on pieces of the text; the last loss."""
    numbers = np.array([LETTERS.index(c) for c in TEXT * 2], "int32")
    optimizer = nn.Adam(model.trainable_params(), 0.01)
    empty = model.nothing(16)

    def loss(x, y):
        letters, _, _ = model(x, 0, empty, empty)
        return ops.cross_entropy(letters.reshape((-1, len(LETTERS))), y.reshape(-1))

    gradient = ms.value_and_grad(loss, None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    r = np.random.default_rng(0)
    for _ in range(steps):
        starts = r.integers(0, len(TEXT), 16)
        pieces = np.stack([numbers[s : s + 33] for s in starts])
        value = step(Tensor(pieces[:, :-1]), Tensor(pieces[:, 1:]))
    return float(value)


def generated(model: Model, first: str, length: int) -> tuple[str, list[float]]:
    """The most likely text after `first`, and the seconds that each letter took."""
    step = ms.jit(model)
    keys, values = model.nothing(), model.nothing()
    text, times = first, []
    tokens = Tensor([[LETTERS.index(c) for c in first]], ms.int32)
    start = Tensor(0, ms.int32)
    for _ in range(length):
        begin = time.perf_counter()
        letters, keys, values = step(tokens, start, keys, values)
        best = int(letters[0, -1].argmax())
        times.append(time.perf_counter() - begin)
        text += LETTERS[best]
        tokens, start = Tensor([[best]], ms.int32), Tensor(keys.shape[2], ms.int32)
    return text, times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="train less, write less")
    quick = parser.parse_args().quick
    ms.set_seed(0)
    model = Model()
    print(f"loss {trained(model, 30 if quick else 400):.3f}")
    text, times = generated(model, "the ", 20 if quick else 200)
    print(text)
    print(f"first letters {[round(1000 * t) for t in times[:4]]} ms, later ones {1000 * np.median(times[4:]):.2f} ms")


if __name__ == "__main__":
    main()
