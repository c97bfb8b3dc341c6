"""Datasets of texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .files import lines, put


def csv_news(columns: int) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        for part, count in (("train", 5), ("test", 2)):
            told = [",".join(f'"{part}{i}, cell {c} ""said"""' for c in range(columns)) for i in range(count)]
            lines(root / f"{part}.csv", told)

    return make


def imdb(root: Path) -> None:
    for part in ("train", "test"):
        for name in ("pos", "neg"):
            for i in range(2):
                put(root / part / name / f"{i}_7.txt", f"{part} {name} {i} film")


def conll(root: Path) -> None:
    for part in ("train", "test"):
        put(root / f"{part}.txt", f"{part} NN B-NP\nruns VB B-VP\n\nIt PRP B-NP\n\nAll DT B-NP\nend VB B-VP\n\n")


def udpos(root: Path) -> None:
    for part in ("train", "test", "dev"):
        told = f"{part}\tNOUN\tNN\nruns\tVERB\tVBZ\n\nIt\tPRON\tPRP\n\nAll\tDET\tDT\nend\tVERB\tVB\n\n"
        put(root / f"en-ud-tag.v2.{part}.txt", told)


def ptb(root: Path) -> None:
    for part in ("train", "test", "valid"):
        put(root / f"ptb.{part}.txt", f" first {part} line \n second {part} line \n third \n")


def wikitext(root: Path) -> None:
    for part in ("train", "test", "valid"):
        put(root / f"wiki.{part}.tokens", f" \n = {part} = \n \n some words \n more words \n")


def enwik9(root: Path) -> None:
    put(root / "enwik9", "<mediawiki>\n  <siteinfo>\n\n    text é [[link]]\n\tend\n")


def squad(root: Path) -> None:
    for version in ("1.1",):
        for part in ("train", "dev"):
            answers = [{"text": "He", "answer_start": 3}, {"text": part, "answer_start": 6}]
            qas = [{"id": str(i), "question": f"Who {i}?", "answers": answers[: 1 + i % 2]} for i in range(3)]
            paragraph = {"context": f"So He {part}", "qas": qas}
            told = {"version": version, "data": [{"title": part, "paragraphs": [paragraph]}]}
            put(root / f"{part}-v{version}.json", json.dumps(told))


def squad2(root: Path) -> None:
    for part in ("train", "dev"):
        qas = [
            {"id": "1", "question": "Who?", "is_impossible": False, "answers": [{"text": "He", "answer_start": 3}]},
            {"id": "2", "question": "Why?", "is_impossible": True, "answers": [],
             "plausible_answers": [{"text": "So", "answer_start": 0}]},
        ]  # fmt: skip
        told = {"version": "v2.0", "data": [{"title": part, "paragraphs": [{"context": f"So He {part}", "qas": qas}]}]}
        put(root / f"{part}-v2.0.json", json.dumps(told))


def sst2(root: Path) -> None:
    put(root / "train.tsv", "sentence\tlabel\ngood film \t1\nbad film \t0\nodd film \t1\n")
    put(root / "dev.tsv", "sentence\tlabel\nfine\t1\n")
    put(root / "test.tsv", "index\tsentence\n0\tunknown film\n1\tnew film\n")


def multi30k(root: Path) -> None:
    for place in ("training/train", "validation/val", "mmt16_task1_test/test"):
        put(root / f"{place}.en", f"A dog, {place}.\nA cat.\nA cow.\n")
        put(root / f"{place}.de", f"Ein Hund, {place}.\nEine Katze.\nEine Kuh.\n")
    for language, word in (("en", "A dog."), ("de", "Ein Hund.")):
        put(root / "mmt16_task1_test" / f"val.{language}", f"{word}\n")


def _iwslt(place: Path, year: str, name: str, sets: list[str]) -> None:
    for language in name.split("-"):
        told = ["<url>http://ted</url>", "<keywords>talks</keywords>", "<speaker>A B</speaker>", "<talkid>1</talkid>"]
        told += ["<title>T</title>", "<description>D</description>", f" first {language} ", f"second {language}"]
        lines(place / f"train.tags.{name}.{language}", [*told, f"third {language}"])
        for part in sets:
            words = [f'<seg id="{i}"> {part} {language} {i} &amp; more </seg>' for i in (1, 2)]
            head = ['<?xml version="1.0" encoding="UTF-8"?>', "<mteval>", f'<refset setid="x" trglang="{language}">']
            body = [*head, '<doc docid="1">', "<title>T</title>", *words, "</doc>", "</refset>", "</mteval>"]
            lines(place / f"IWSLT{year}.TED.{part}.{name}.{language}.xml", body)


def iwslt2016(root: Path) -> None:
    for name in ("de-en", "en-fr"):
        source, target = name.split("-")
        sets = ["dev2010", "tst2010", "tst2013", "tst2014"]
        _iwslt(root / "texts" / source / target / name, "16", name, sets)


def iwslt2017(root: Path) -> None:
    place = root / "texts" / "DeEnItNlRo" / "DeEnItNlRo" / "DeEnItNlRo-DeEnItNlRo"
    for name in ("de-en", "it-nl"):
        _iwslt(place, "17", name, ["dev2010", "tst2010"])


CLUE = {
    "afqmc": {"sentence1": "a{}", "sentence2": "b{}", "label": "{}"},
    "tnews": {"label": "10{}", "label_desc": "news_{}", "sentence": "s{}", "keywords": "k{}"},
    "iflytek": {"label": "{}", "label_des": "d{}", "sentence": "s{}"},
    "cmnli": {"sentence1": "a{}", "sentence2": "b{}", "label": "neutral{}"},
}


def clue(root: Path) -> None:
    for task, cells in CLUE.items():
        rows = [{k: v.format(i) for k, v in cells.items()} for i in range(3)]
        lines(root / f"{task}.train.json", [json.dumps(r) for r in rows])
        tested = [{"id": i, **{k: v for k, v in r.items() if not k.startswith("label")}} for i, r in enumerate(rows)]
        lines(root / f"{task}.test.json", [json.dumps(r) for r in tested])
    rows = []
    for i in range(3):
        target = {"span2_index": 20 + i, "span1_index": 10 + i, "span1_text": f"x{i}", "span2_text": f"y{i}"}
        rows.append({"target": target, "idx": i, "text": f"t{i}"})
    lines(root / "wsc.test.json", [json.dumps(r) for r in rows])
    lines(root / "wsc.train.json", [json.dumps({**r, "label": "true"}) for r in rows])
    rows = [{"id": i, "abst": f"a{i}", "keyword": ["k", f"l{i}"]} for i in range(3)]
    lines(root / "csl.test.json", [json.dumps(r) for r in rows])
    lines(root / "csl.train.json", [json.dumps({**r, "label": str(i)}) for i, r in enumerate(rows)])
