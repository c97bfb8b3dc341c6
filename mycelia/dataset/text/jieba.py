"""Chinese words by Jieba's files: the most probable words of a dictionary, a hidden Markov model for the rest."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median

from mycelia.checks import existing_file, member, text, truth, whole
from mycelia.dataset.text.base import Token, Tokenizer
from mycelia.dataset.text.modes import JiebaMode
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

IMPOSSIBLE = -3.14e100
STATES = "BEMS"  # the beginning, end, middle of a word, or a word of a single character
SEPARATORS = re.compile("([ \t\n\uff0c\u3002])")
LATIN = re.compile("[A-Za-z][A-Za-z0-9]*|[0-9][0-9.]*|[\x00-\x7f]")


@frozen
class MarkovModel:
    """Log-probabilities of the states, of their succession, and of each character in each state."""

    start: list[float]
    succession: list[list[float]]
    emission: list[dict[str, float]]

    @classmethod
    def read(cls, path: Path) -> MarkovModel:
        """From a file: one line of starts, four of successions, four of `character:value` with commas."""
        lines = [line for line in path.read_text(encoding="utf8").splitlines() if line and not line.startswith("#")]
        try:
            start, *succession = ([float(v) for v in line.split()] for line in lines[:5])
            emission = [dict(_pair(entry) for entry in line.split(",") if entry) for line in lines[5:9]]
        except ValueError as error:
            raise ArgumentError(f"not a hidden Markov model: {error}", given={"hmm_path": str(path)}) from None
        if [len(row) for row in (start, *succession)] != [4] * 5 or len(emission) != 4:
            raise ArgumentError("the hidden Markov model is not complete", given={"hmm_path": str(path)})
        return cls(start, succession, emission)

    def states(self, run: str) -> list[int]:
        """The most probable states of the characters; where nothing is known, each ends a word."""
        scores = [self.start[s] + self.emission[s].get(run[0], IMPOSSIBLE) for s in range(4)]
        before: list[list[int]] = []
        for character in run[1:]:
            reached, origin = [IMPOSSIBLE] * 4, [1] * 4
            for state in range(4):
                for previous in range(4):
                    step = scores[previous] + self.succession[previous][state]
                    score = step + self.emission[state].get(character, IMPOSSIBLE)
                    if score > reached[state]:
                        reached[state], origin[state] = score, previous
            scores = reached
            before.append(origin)
        path = [1 if scores[1] >= scores[3] else 3]
        for origin in reversed(before):
            path.append(origin[path[-1]])
        return path[::-1]

    def cut(self, run: str) -> Iterator[str]:
        """The words of a run of characters; Latin words and numbers stay whole, other signs of ASCII stand alone."""
        last = 0
        for m in LATIN.finditer(run):
            yield from self._words(run[last : m.start()])
            yield m.group()
            last = m.end()
        yield from self._words(run[last:])

    def _words(self, run: str) -> Iterator[str]:
        start = 0
        for i, state in enumerate(self.states(run) if run else [], 1):
            if state in (1, 3):
                yield run[start:i]
                start = i
        if start < len(run):
            yield run[start:]


def _pair(entry: str) -> tuple[str, float]:
    """A character and its value, from `character:value`."""
    character, _, value = entry.rpartition(":")
    return character, float(value)


class Dictionary:
    """Words with log-probabilities, from a file of `word frequency tag`."""

    def __init__(self, path: Path) -> None:
        entries = [line.split() for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
        try:
            counts = {entry[0]: float(entry[1]) for entry in entries}
        except (IndexError, ValueError):
            raise ArgumentError("not a dictionary of words and frequencies", given={"mp_path": str(path)}) from None
        self.total = sum(counts.values())
        self.weights = {word: math.log(max(n, 1e-300) / self.total) for word, n in counts.items()}
        self.least, self.usual = min(self.weights.values()), median(self.weights.values())
        self.longest = max(map(len, counts))
        self.own: set[str] = set()

    def add(self, word: str, frequency: int | None) -> None:
        """One more word; without a frequency, as probable as the median word."""
        self.weights[word] = self.usual if not frequency else math.log(frequency / self.total)
        self.longest = max(self.longest, len(word))
        self.own.add(word)

    def cut(self, run: str) -> Iterator[str]:
        """The most probable sequence of words; an unknown character is a word with the least probability."""
        best = [(0.0, 1)] * (len(run) + 1)
        for i in range(len(run) - 1, -1, -1):
            top = (self.weights.get(run[i], self.least) + best[i + 1][0], 1)
            for size in range(2, min(self.longest, len(run) - i) + 1):
                weight = self.weights.get(run[i : i + size])
                if weight is not None and weight + best[i + size][0] > top[0]:
                    top = (weight + best[i + size][0], size)
            best[i] = top
        i = 0
        while i < len(run):
            yield run[i : i + best[i][1]]
            i += best[i][1]


class JiebaTokenizer(Tokenizer):
    """Chinese words, with Jieba's dictionary (`mp_path`) and hidden Markov model (`hmm_path`)."""

    def __init__(
        self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False
    ) -> None:
        self.mode = member(self, "mode", mode, JiebaMode)
        self.with_offsets = truth(self, "with_offsets", with_offsets)
        self.model = MarkovModel.read(existing_file(self, "hmm_path", hmm_path))
        self.dictionary = Dictionary(existing_file(self, "mp_path", mp_path))

    def add_word(self, word: str, freq: int | None = None) -> None:
        """One more word for the dictionary."""
        if not text(self, "word", word):
            raise ArgumentError("word must not be empty")
        self.dictionary.add(word, None if freq is None else whole(self, "freq", freq, 0))

    def add_dict(self, user_dict: str | Mapping[str, int]) -> None:
        """More words: a table, or a file with a word and its frequency on each line; other lines do not count."""
        if isinstance(user_dict, Mapping):
            words = dict(user_dict)
        else:
            lines = existing_file(self, "user_dict", user_dict).read_text(encoding="utf8").splitlines()
            words = {p[0]: int(p[1]) for p in map(str.split, lines) if len(p) == 2 and p[1].isdigit()}
        for word, frequency in words.items():
            self.add_word(word, frequency)

    def words(self, run: str) -> Iterable[str]:
        """The words of a run without separators."""
        if self.mode == JiebaMode.HMM:
            yield from self.model.cut(run)
            return
        single = ""
        for word in self.dictionary.cut(run):
            if self.mode == JiebaMode.MIX and len(word) == 1 and word not in self.dictionary.own:
                single += word
                continue
            yield from self.model.cut(single)
            single = ""
            yield word
        yield from self.model.cut(single)

    def tokens(self, source: str) -> Iterator[Token]:
        """Separators are tokens of their own."""
        place = 0
        for i, run in enumerate(SEPARATORS.split(source)):
            for word in [run] if i % 2 else self.words(run):
                yield Token(word, place, place + len(word))
                place += len(word)
