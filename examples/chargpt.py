"""A small GPT learns to write sonnets, letter by letter, and writes one: greedily, by chance, and with beams.

python examples/chargpt.py            300 steps
python examples/chargpt.py --quick    a few, without beams, to see that it runs
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import GPT, beam_search, compiled_step, generate

TEXT = (Path(__file__).resolve().parent / "data" / "sonnets.txt").read_text()
LETTERS = sorted(set(TEXT))
LONG = 64


def pieces(rng: np.random.Generator, count: int) -> tuple[ms.Tensor, ms.Tensor]:
    """So many pieces of the text, and the same one letter later."""
    numbers = np.array([LETTERS.index(c) for c in TEXT], np.int32)
    found = np.stack([numbers[s : s + LONG + 1] for s in rng.integers(0, len(numbers) - LONG - 1, count)])
    return ms.Tensor(found[:, :-1]), ms.Tensor(found[:, 1:])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="a GPT of letters")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    width, layers, steps = (16, 1, 12) if quick else (128, 4, 300)
    net = GPT(len(LETTERS), width, layers, heads=4, longest=2 * LONG)

    def loss(x: ms.Tensor, y: ms.Tensor) -> ms.Tensor:
        return ops.cross_entropy(net(x).reshape((-1, len(LETTERS))), y.reshape(-1))

    step = compiled_step(loss, nn.AdamWeightDecay(net.trainable_params(), 3e-3), largest=1.0)
    rng = np.random.default_rng(0)
    for n in range(steps):
        value = step(*pieces(rng, 4 if quick else 32))
        if n % max(steps // 6, 1) == 0 or n == steps - 1:
            print(f"step {n + 1}: loss {value.item():.3f}")
    first = ms.Tensor([[LETTERS.index(c) for c in "Love "]], ms.int32)
    length = 4 if quick else LONG
    told = {
        "greedily": generate(net, first, length),
        "by chance": generate(net, first, length, temperature=0.8, top_k=10, top_p=0.95, seed=0),
    }
    if not quick:
        told["with beams"] = beam_search(net, first, length // 4, beams=3)[0]
    for how, tokens in told.items():
        print(f"{how}: {''.join(LETTERS[int(i)] for i in tokens.asnumpy()[0])!r}")


if __name__ == "__main__":
    main()
