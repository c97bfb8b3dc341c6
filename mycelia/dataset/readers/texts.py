"""Texts: reviews, news, questions, tagged words, translations, running text."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

from mycelia.checks import choice
from mycelia.dataset.errors import DataError
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.readers.base import (
    BY_FILES,
    COMMON,
    SAMPLED,
    TEXT,
    Reader,
    Samples,
    file_of,
    files_in,
    i32,
    text,
    u32,
)
from mycelia.dataset.readers.lines import parsed, parsed_line, split_lines, text_of
from mycelia.dataset.sources.filedata import listed
from mycelia.dataset.sources.textbytes import TextBytes
from mycelia.dataset.sources.textfiles import CSVData, LineData
from mycelia.errors import ArgumentError
from mycelia.types import Array

LATE = f"num_samples=None, {BY_FILES}, num_shards=None, shard_id=None, num_parallel_workers=None, cache=None"


class CsvReader(Reader):
    """A dataset in `train.csv` and `test.csv` without header lines."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "test", "all")
    every: ClassVar[tuple[str, ...]] = ("test", "train")
    fields: ClassVar[tuple[str, ...]] = ()

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = self.every if usage in (None, "all") else (str(usage),)
        return CSVData([file_of(dataset_dir, f"{p}.csv") for p in parts], ",", None, self.fields)


class AGNewsDataset(CsvReader):
    """AG News: index, title and description."""

    fields = ("index", "title", "description")


class AmazonReviewDataset(CsvReader):
    """Amazon reviews, full or polarity: label, title and content."""

    fields = ("label", "title", "content")


class DBpediaDataset(CsvReader):
    """DBpedia: class, title and content."""

    fields = ("class", "title", "content")


class SogouNewsDataset(CsvReader):
    """Sogou News: index, title and content."""

    words = f"dataset_dir, usage=None, {LATE}"
    every = ("train", "test")
    fields = ("index", "title", "content")


class YahooAnswersDataset(CsvReader):
    """Yahoo! Answers: class, title, content and answer."""

    fields = ("class", "title", "content", "answer")


class YelpReviewDataset(CsvReader):
    """Yelp reviews, full or polarity: label and text."""

    words = f"dataset_dir, usage=None, {LATE}"
    every = ("train", "test")
    fields = ("label", "text")


class RunningText(Reader):
    """A dataset of running text, a line a row."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "test", "valid", "all")
    name: ClassVar[str] = "{}"

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["test", "train", "valid"] if usage in (None, "all") else [str(usage)]
        return LineData([file_of(dataset_dir, self.name.format(p)) for p in parts])


class PennTreebankDataset(RunningText):
    """Penn Treebank: `ptb.train.txt` and its kin."""

    name = "ptb.{}.txt"


class WikiTextDataset(RunningText):
    """WikiText-2 or WikiText-103: `wiki.train.tokens` and its kin."""

    name = "wiki.{}.tokens"


class EnWik9Dataset(Reader):
    """The first 10^9 bytes of the English Wikipedia: `enwik9`, every line a row, also the empty ones."""

    words = (
        "dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=True, num_shards=None, shard_id=None,"
        " cache=None"
    )

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        return EveryLine([file_of(dataset_dir, "enwik9")])


class EveryLine(LineData):
    """Lines of text files, the empty ones among them."""

    @lazy
    def lines(self) -> list[tuple[TextBytes, Array]]:
        return [(raw, raw.lines()) for raw in map(TextBytes, self.paths)]


class IMDBDataset(Reader):
    """IMDB reviews: `train` and `test`, each with `pos` and `neg`; label 1 is positive."""

    words = f"dataset_dir, usage=None, {COMMON}, {SAMPLED}"
    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test"] if usage in (None, "all") else [str(usage)]
        rows = [
            (str(path), label)
            for part in parts
            for name, label in (("pos", 1), ("neg", 0))
            for path in files_in(Path(dataset_dir, part, name), [".txt"])
        ]
        return Samples(("text", "label"), rows, (_file_text, i32))


def _file_text(path: str) -> Any:
    return text(text_of(path))


def sentences(path: str, separator: str | None, columns: int) -> list[tuple[list[str], ...]]:
    """Sentences of a file with one tagged word a line and an empty line between them: a list per column."""
    found: list[tuple[list[str], ...]] = []
    words: list[list[str]] = []

    def cells(line: str) -> list[str]:
        split = line.split(separator)
        if len(split) < columns:
            raise ValueError(split)
        return split[:columns]

    for number, line in enumerate([*split_lines(text_of(path)), ""], 1):
        if line.strip():
            words.append(parsed_line(path, number, line, cells, f"a word and {columns - 1} tags"))
        elif words:
            found.append(tuple(list(c) for c in zip(*words, strict=True)))
            words = []
    return found


class CoNLL2000Dataset(Reader):
    """CoNLL-2000 chunking: words with part-of-speech and chunk tags, a sentence a row."""

    words = f"dataset_dir, usage=None, {LATE}"
    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["test", "train"] if usage in (None, "all") else [str(usage)]
        rows = [r for part in parts for r in sentences(file_of(dataset_dir, f"{part}.txt"), None, 3)]
        return Samples(("word", "pos_tag", "chunk_tag"), rows, (text, text, text))


class UDPOSDataset(Reader):
    """Universal Dependencies part-of-speech tags: words, universal and Stanford tags, a sentence a row."""

    words = f"dataset_dir, usage=None, {LATE}"
    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = {"train": ["train"], "test": ["test"], "valid": ["dev"]}.get(str(usage), ["dev", "test", "train"])
        rows = [r for part in parts for r in sentences(file_of(dataset_dir, f"en-ud-tag.v2.{part}.txt"), "\t", 3)]
        return Samples(("word", "universal", "stanford"), rows, (text, text, text))


class SST2Dataset(Reader):
    """SST-2 of GLUE: `train.tsv`, `dev.tsv`, `test.tsv`; the test part has no labels."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "dev", "test")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        part = usage or "train"
        path = file_of(dataset_dir, f"{part}.tsv")
        if part == "test":
            return Samples(("sentence",), parsed(path, self._tested, "a number, a tab, a sentence", skip=1), (text,))
        return Samples(
            ("sentence", "label"), parsed(path, self._labelled, "a sentence, a tab, a label", 1), (text, text)
        )

    @staticmethod
    def _tested(line: str) -> tuple[str]:
        _, sentence = line.split("\t")
        return (sentence,)

    @staticmethod
    def _labelled(line: str) -> tuple[str, str]:
        sentence, label = line.split("\t")
        return sentence, label


class SQuADDataset(Reader):
    """SQuAD 1.1 or 2.0: context, question, the texts of the answers and where they start.

    A question without an answer has an empty text that starts at 2^32 - 1.
    """

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "dev", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        rows: list[tuple[Any, ...]] = []
        for part in ["train", "dev"] if usage in (None, "all") else [str(usage)]:
            path = file_of(dataset_dir, f"{part}-v1.1.json", f"{part}-v2.0.json")
            try:
                for article in json.loads(text_of(path))["data"]:
                    for paragraph in article["paragraphs"]:
                        rows += [(paragraph["context"], *_answered(q)) for q in paragraph["qas"]]
            except (KeyError, TypeError, AttributeError, RecursionError, json.JSONDecodeError) as error:
                raise DataError(f"this is not SQuAD's format: {error}", given={"file": path}) from error
        return Samples(("context", "question", "text", "answer_start"), rows, (text, text, text, u32))


def _answered(question: dict[str, Any]) -> tuple[str, list[str], list[int]]:
    answers = question["answers"] or [{"text": "", "answer_start": 2**32 - 1}]
    return question["question"], [a["text"] for a in answers], [a["answer_start"] for a in answers]


class Pairs(Reader):
    """Sentences and their translations."""

    @staticmethod
    def rows_of(source: list[str], target: list[str], where: str) -> Data:
        """Lines side by side."""
        if len(source) != len(target):
            given = {"file": where, "lines": len(source), "translations": len(target)}
            raise DataError("there are not as many translations as sentences", given=given)
        pairs = [pair for pair in zip(source, target, strict=True) if any(pair)]
        return Samples(("text", "translation"), pairs, (text, text))


def language_pair(given: Any, allowed: list[tuple[str, str]], usual: tuple[str, str]) -> tuple[str, str]:
    """The languages to translate from and to.

    >>> language_pair(None, [("de", "en")], ("de", "en"))
    ('de', 'en')
    """
    pair = usual if given is None else tuple(given)
    if pair not in allowed:
        raise ArgumentError(f"there is no language pair {pair}", hint=f"there are {allowed}")
    return pair[0], pair[1]


class Multi30kDataset(Pairs):
    """Multi30k: English and German captions, `training/train.en` and its kin."""

    words = (
        "dataset_dir, usage=None, language_pair=None, num_samples=None, num_parallel_workers=None, shuffle=None,"
        " num_shards=None, shard_id=None, cache=None"
    )
    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None, language_pair: Any) -> Data:  # type: ignore[override]
        source, target = _pair(language_pair, [("en", "de"), ("de", "en")], ("en", "de"))
        places = {"train": "training/train", "valid": "validation/val", "test": "mmt16_task1_test/test"}
        parts = ["test", "train", "valid"] if usage in (None, "all") else [str(usage)]
        both: list[list[str]] = []
        for language in (source, target):
            paths = [Path(dataset_dir, f"{places[p]}.{language}") for p in parts]
            both.append([line for p in paths for line in split_lines(text_of(p))])
        return self.rows_of(both[0], both[1], dataset_dir)


_pair = language_pair
_TAGGED = re.compile(r"^\s*<(?!seg)[^>]*>")
_SEGMENT = re.compile(r"<seg[^>]*>(.*?)</seg>", re.DOTALL)


def iwslt_lines(path: Path) -> list[str]:
    """The sentences of a training file without its notes, or of the segments of an XML file."""
    if path.suffix == ".xml":
        return [unescape(found.strip()) for found in _SEGMENT.findall(text_of(path))]
    return [line.strip() for line in split_lines(text_of(path)) if not _TAGGED.match(line)]


class IWSLT2017Dataset(Pairs):
    """IWSLT 2017: a folder per pair, `train.tags.*`, and XML files for validation and test."""

    words = f"dataset_dir, usage=None, language_pair=None, {LATE}"
    usages = ("train", "valid", "test", "all")
    year: ClassVar[str] = "17"
    usual: ClassVar[tuple[str, str]] = ("dev2010", "tst2010")
    pairs: ClassVar[list[tuple[str, str]]] = list(permutations(("de", "en", "it", "nl", "ro"), 2))

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str | None, language_pair: Any, valid_set: Any = None, test_set: Any = None
    ) -> Data:
        source, target = _pair(language_pair, self.pairs, ("de", "en"))
        name = f"{source}-{target}"
        trained = f"train.tags.{name}.{source}"
        found = sorted(Path(dataset_dir).rglob(trained)) + sorted(
            p for p in Path(dataset_dir).rglob(name) if p.is_dir()
        )
        if not found:
            hint = "unpack the archive of the pair inside the folder"
            raise DataError(f"there is no {trained}", given={"looked in": dataset_dir}, hint=hint)
        folder = found[0] if found[0].is_dir() else found[0].parent
        for kind, chosen in (("valid_set", valid_set), ("test_set", test_set)):
            choice(self, kind, chosen or "dev2010", ("dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014"))
        sets = {
            "valid": f"IWSLT{self.year}.TED.{valid_set or self.usual[0]}.{name}",
            "test": f"IWSLT{self.year}.TED.{test_set or self.usual[1]}.{name}",
        }
        parts = ["train", "valid", "test"] if usage in (None, "all") else [str(usage)]
        both: list[list[str]] = []
        for language in (source, target):
            paths = [
                folder / (f"train.tags.{name}.{language}" if p == "train" else f"{sets[p]}.{language}.xml")
                for p in parts
            ]
            both.append([line for p in paths for line in iwslt_lines(p)])
        return self.rows_of(both[0], both[1], str(folder))


class IWSLT2016Dataset(IWSLT2017Dataset):
    """IWSLT 2016: as 2017, with a choice of validation and test sets."""

    words = f"dataset_dir, usage=None, language_pair=None, valid_set=None, test_set=None, {LATE}"
    year = "16"
    usual = ("tst2013", "tst2014")
    pairs = [p for other in ("ar", "cs", "de", "fr") for p in (("en", other), (other, "en"))]


CLUE: dict[str, dict[str, tuple[str, ...]]] = {
    "AFQMC": {"train": ("sentence1", "sentence2", "label"), "test": ("id", "sentence1", "sentence2")},
    "CMNLI": {"train": ("sentence1", "sentence2", "label"), "test": ("id", "sentence1", "sentence2")},
    "CSL": {"train": ("id", "abst", "keyword", "label"), "test": ("id", "abst", "keyword")},
    "IFLYTEK": {"train": ("label", "label_des", "sentence"), "test": ("id", "sentence")},
    "TNEWS": {"train": ("label", "label_desc", "sentence", "keywords"), "test": ("id", "sentence", "keywords")},
    "WSC": {
        "train": ("span1_index", "span2_index", "span1_text", "span2_text", "idx", "text", "label"),
        "test": ("span1_index", "span2_index", "span1_text", "span2_text", "idx", "text"),
    },
}


class CLUEDataset(Reader):
    """CLUE, the Chinese language understanding tasks: one JSON object a line."""

    words = f"dataset_files, task='AFQMC', usage='train', {TEXT}"
    usages = ("train", "test", "eval")

    def open(self, dataset_files: Any, task: str, usage: str) -> Data:  # type: ignore[override]
        choice(self, "task", task, tuple(CLUE))
        columns = tuple(sorted(CLUE[task]["test" if usage == "test" else "train"]))

        def row(line: str) -> tuple[Any, ...]:
            told = json.loads(line)
            told.update(told.get("target", {}))
            return tuple(told[c] for c in columns)

        form = f"a JSON object with {', '.join(columns)}, as the task {task} has"
        rows = [r for path in listed(dataset_files, "CLUEDataset") for r in parsed(path, row, form)]
        return Samples(columns, rows, (_number_or_text,) * len(columns))


def _number_or_text(value: Any) -> Array:
    return u32(value) if isinstance(value, int) else text(value)
