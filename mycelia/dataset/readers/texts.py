"""Texts: reviews, news, questions, tagged words, translations, running text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from mycelia.dataset.errors import DataError
from mycelia.dataset.filedata import listed
from mycelia.dataset.plan import Data
from mycelia.dataset.readers.base import COMMON, SAMPLED, TEXT, Reader, Samples, i32, lines_of, text, u32
from mycelia.dataset.textfiles import CSVData, LineData
from mycelia.errors import ArgumentError
from mycelia.mindrecord.formats import find

LATE = "num_samples=None, shuffle='global', num_shards=None, shard_id=None, num_parallel_workers=None, cache=None"


class CsvReader(Reader):
    """A dataset in `train.csv` and `test.csv` without header lines."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "test", "all")
    fields: ClassVar[tuple[str, ...]] = ()

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test"] if usage in (None, "all") else [str(usage)]
        return CSVData([str(find(dataset_dir, f"{p}.csv")) for p in parts], ",", None, self.fields)


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
    fields = ("index", "title", "content")


class YahooAnswersDataset(CsvReader):
    """Yahoo! Answers: class, title, content and answer."""

    fields = ("class", "title", "content", "answer")


class YelpReviewDataset(CsvReader):
    """Yelp reviews, full or polarity: label and text."""

    words = f"dataset_dir, usage=None, {LATE}"
    fields = ("label", "text")


class LineReader(Reader):
    """A dataset of running text, a line a row."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "test", "valid", "all")
    name: ClassVar[str] = "{}"

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test", "valid"] if usage in (None, "all") else [str(usage)]
        return LineData([str(find(dataset_dir, self.name.format(p))) for p in parts])


class PennTreebankDataset(LineReader):
    """Penn Treebank: `ptb.train.txt` and its kin."""

    name = "ptb.{}.txt"


class WikiTextDataset(LineReader):
    """WikiText-2 or WikiText-103: `wiki.train.tokens` and its kin."""

    name = "wiki.{}.tokens"


class EnWik9Dataset(Reader):
    """The first 10^9 bytes of the English Wikipedia: `enwik9`."""

    words = (
        "dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=True, num_shards=None, shard_id=None,"
        " cache=None"
    )

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        return LineData([str(find(dataset_dir, "enwik9"))])


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
            for path in sorted(Path(dataset_dir, part, name).glob("*.txt"))
        ]
        return Samples(("text", "label"), rows, (_file_text, i32))


def _file_text(path: str) -> Any:
    return text(Path(path).read_text(encoding="utf-8"))


def sentences(path: Path, separator: str | None, columns: int) -> list[tuple[list[str], ...]]:
    """Sentences of a file with one tagged word a line and an empty line between them: a list per column."""
    found: list[tuple[list[str], ...]] = []
    words: list[list[str]] = []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""]):
        if not line.strip():
            if words:
                found.append(tuple(list(c) for c in zip(*words, strict=True)))
            words = []
            continue
        cells = line.split(separator)
        if len(cells) < columns:
            where = {"file": str(path), "line": number + 1}
            raise DataError(f"a line has {len(cells)} cells, and should have {columns}", given=where)
        words.append(cells[:columns])
    return found


class CoNLL2000Dataset(Reader):
    """CoNLL-2000 chunking: words with part-of-speech and chunk tags, a sentence a row."""

    words = f"dataset_dir, usage=None, {LATE}"
    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test"] if usage in (None, "all") else [str(usage)]
        rows = [r for part in parts for r in sentences(find(dataset_dir, f"{part}.txt"), None, 3)]
        return Samples(("word", "pos_tag", "chunk_tag"), rows, (text, text, text))


class UDPOSDataset(Reader):
    """Universal Dependencies part-of-speech tags: words, universal and Stanford tags, a sentence a row."""

    words = f"dataset_dir, usage=None, {LATE}"
    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = {"train": ["train"], "test": ["test"], "valid": ["dev"]}.get(str(usage), ["train", "test", "dev"])
        rows = [r for part in parts for r in sentences(find(dataset_dir, f"en-ud-tag.v2.{part}.txt"), "\t", 3)]
        return Samples(("word", "universal", "stanford"), rows, (text, text, text))


class SST2Dataset(Reader):
    """SST-2 of GLUE: `train.tsv`, `dev.tsv`, `test.tsv`; the test part has no labels."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "dev", "test")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        part = usage or "train"
        rows = [line.split("\t") for line in lines_of(find(dataset_dir, f"{part}.tsv"))[1:]]
        if part == "test":
            return Samples(("sentence",), [(r[1].strip(),) for r in rows], (text,))
        pairs = [(r[0].strip(), r[1].strip()) for r in rows]
        return Samples(("sentence", "label"), pairs, (text, text))


class SQuADDataset(Reader):
    """SQuAD 1.1 or 2.0: context, question, the texts of the answers and where they start."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "dev", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        rows: list[tuple[Any, ...]] = []
        for part in ["train", "dev"] if usage in (None, "all") else [str(usage)]:
            path = find(dataset_dir, f"{part}-v1.1.json", f"{part}-v2.0.json")
            try:
                for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
                    for paragraph in article["paragraphs"]:
                        rows += [(paragraph["context"], *_answered(q)) for q in paragraph["qas"]]
            except (KeyError, TypeError, json.JSONDecodeError) as error:
                raise DataError(f"this is not SQuAD's format: {error}", given={"file": str(path)}) from error
        return Samples(("context", "question", "text", "answer_start"), rows, (text, text, text, u32))


def _answered(question: dict[str, Any]) -> tuple[str, list[str], list[int]]:
    answers = question["answers"] or [{"text": "", "answer_start": 0}]
    return question["question"], [a["text"] for a in answers], [a["answer_start"] for a in answers]


class Pairs(Reader):
    """Sentences and their translations."""

    @staticmethod
    def rows_of(source: list[str], target: list[str], where: str) -> Data:
        """Lines side by side."""
        if len(source) != len(target):
            given = {"file": where, "lines": len(source), "translations": len(target)}
            raise DataError("there are not as many translations as sentences", given=given)
        return Samples(("text", "translation"), list(zip(source, target, strict=True)), (text, text))


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
        parts = list(places) if usage in (None, "all") else [str(usage)]
        both: list[list[str]] = []
        for language in (source, target):
            paths = [Path(dataset_dir, f"{places[p]}.{language}") for p in parts]
            both.append([line for p in paths for line in lines_of(p)])
        return self.rows_of(both[0], both[1], dataset_dir)


_pair = language_pair
_TAGGED = re.compile(r"^\s*<(?!seg)[^>]*>")
_SEGMENT = re.compile(r"<seg[^>]*>(.*?)</seg>")


def iwslt_lines(path: Path) -> list[str]:
    """The sentences of a training file without its notes, or of the segments of an XML file."""
    if path.suffix == ".xml":
        return [found.strip() for found in _SEGMENT.findall(path.read_text(encoding="utf-8"))]
    return [line.strip() for line in lines_of(path) if not _TAGGED.match(line)]


class IWSLT2017Dataset(Pairs):
    """IWSLT 2017: a folder per pair, `train.tags.*`, and XML files for validation and test."""

    words = f"dataset_dir, usage=None, language_pair=None, {LATE}"
    usages = ("train", "valid", "test", "all")
    year: ClassVar[str] = "17"

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str | None, language_pair: Any, valid_set: Any = None, test_set: Any = None
    ) -> Data:
        source, target = tuple(language_pair or ("de", "en"))
        name = f"{source}-{target}"
        folders = [p for p in Path(dataset_dir).rglob(name) if p.is_dir()]
        if not folders and (Path(dataset_dir) / f"train.tags.{name}.{source}").exists():
            folders = [Path(dataset_dir)]
        if not folders:
            raise ArgumentError(f"there is no folder {name!r}", given={"looked in": dataset_dir})
        sets = {
            "valid": f"IWSLT{self.year}.TED.{valid_set or self.usual[0]}.{name}",
            "test": f"IWSLT{self.year}.TED.{test_set or self.usual[1]}.{name}",
        }
        parts = ["train", "valid", "test"] if usage in (None, "all") else [str(usage)]
        both: list[list[str]] = []
        for language in (source, target):
            paths = [
                folders[0] / (f"train.tags.{name}.{language}" if p == "train" else f"{sets[p]}.{language}.xml")
                for p in parts
            ]
            both.append([line for p in paths for line in iwslt_lines(p)])
        return self.rows_of(both[0], both[1], str(folders[0]))

    usual: ClassVar[tuple[str, str]] = ("dev2010", "tst2010")


class IWSLT2016Dataset(IWSLT2017Dataset):
    """IWSLT 2016: as 2017, with a choice of validation and test sets."""

    words = f"dataset_dir, usage=None, language_pair=None, valid_set=None, test_set=None, {LATE}"
    year = "16"
    usual = ("tst2013", "tst2014")


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
        if task not in CLUE:
            raise ArgumentError(f"CLUE has no task {task!r}", hint=f"there are {list(CLUE)}")
        columns = tuple(sorted(CLUE[task]["test" if usage == "test" else "train"]))
        rows: list[tuple[Any, ...]] = []
        for path in listed(dataset_files, "CLUEDataset"):
            for number, line in enumerate(lines_of(path)):
                try:
                    told = json.loads(line)
                    told.update(told.get("target", {}))
                    rows.append(tuple(told[c] for c in columns))
                except (KeyError, json.JSONDecodeError) as error:
                    where = {"file": path, "line": number + 1}
                    raise DataError(f"a line does not fit the task {task}: {error}", given=where) from error
        return Samples(columns, rows, (text,) * len(columns))
