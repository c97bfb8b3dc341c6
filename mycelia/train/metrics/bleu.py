"""How much of a translation is found in translations by people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.train.metrics.metric import Metric, rearrange_inputs


class BleuScore(Metric):
    """The bilingual evaluation understudy: shares of runs of up to `n_gram` words that a reference has too.

    `update` takes a list of sentences and, for each of them, a list of references; sentences are lists of words.

    >>> metric = BleuScore(n_gram=2)
    >>> metric.update([["the", "cat", "sat"]], [[["the", "cat", "sat", "down"]]])
    >>> round(metric.eval(), 4)
    0.7165
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        if type(n_gram) is not int or not 1 <= n_gram <= 4:
            raise ArgumentError(f"n_gram is a whole number from 1 to 4, not {n_gram!r}")
        self.n_gram, self.smooth = n_gram, bool(smooth)
        self.clear()

    def clear(self) -> None:
        self.found, self.all = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self.length, self.reference_length, self.total = 0, 0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        if len(inputs) != 2 or len(inputs[0]) != len(inputs[1]):
            raise ArgumentError("BleuScore takes sentences, and a list of references for each of them")
        for said, references in zip(*inputs, strict=True):
            if not references:
                raise ArgumentError("a sentence has no reference", given={"sentence": said})
            self.total += 1
            self.length += len(said)
            self.reference_length += min((len(r) for r in references), key=lambda n: abs(len(said) - n))
            runs, known = self._runs(said), Counter[tuple[Any, ...]]()
            for reference in references:
                known |= self._runs(reference)
            for run, count in (runs & known).items():
                self.found[len(run) - 1] += count
            for run, count in runs.items():
                self.all[len(run) - 1] += count

    def _runs(self, words: Sequence[Any]) -> Counter[tuple[Any, ...]]:
        """All runs of words, with how often they occur."""
        return Counter(tuple(words[i : i + n]) for n in range(1, self.n_gram + 1) for i in range(len(words) - n + 1))

    def eval(self) -> float:
        self._measured(self.total)
        if not self.found.all():
            return 0.0
        shares = (self.found + 1) / (self.all + 1) if self.smooth else self.found / self.all
        brevity = 1.0 if self.length > self.reference_length else math.exp(1 - self.reference_length / self.length)
        return brevity * math.exp(np.log(shares).mean())
