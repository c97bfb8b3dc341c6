"""Readers meet files as they are found: cut short, empty, missing, in other encodings; and say which one it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import readers
from mycelia.errors import ArgumentError, DependencyError, MyceliaError
from mycelia.mindrecord.errors import RecordError

from . import published
from .published import arrays, files, folders, scenes, sounds, texts

SMALL = {
    **{case[0]: case for case in reversed(published.PLAIN) if "sampler" not in case[2]},
    "Cifar10Dataset": ("Cifar10Dataset", arrays.cifar10, {}),
    "Cifar100Dataset": ("Cifar100Dataset", arrays.cifar100, {}),
}
FILED = [name for name in readers.__all__ if name not in ("HubDataset", "FakeImageDataset")]
FOLDERS = [name for name in FILED if name not in ("ManifestDataset", "CLUEDataset")]
TABLES = {"AGNewsDataset", "AmazonReviewDataset", "DBpediaDataset", "SogouNewsDataset", "YahooAnswersDataset",
          "YelpReviewDataset", "EnWik9Dataset", "PennTreebankDataset", "WikiTextDataset"}  # fmt: skip

INJURIES: dict[str, Callable[[Path], Any]] = {
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "noise": lambda path: path.write_bytes(np.random.default_rng(0).bytes(300)),
    "flipped": lambda path: path.write_bytes(bytes(b ^ (0x15 * (i % 7 == 3)) for i, b in enumerate(path.read_bytes()))),
    "missing": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link to nowhere": lambda path: (path.unlink(), path.symlink_to("nowhere")),
}


@contextmanager
def injured(path: Path, injury: str) -> Iterator[None]:
    """While it lasts, a file is not as it was."""
    whole = path.read_bytes()
    INJURIES[injury](path)
    try:
        yield
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(whole)


def made(name: str, root: Path) -> Any:
    """The dataset of a reader, small, decoded when it can be."""
    name, make, options = SMALL[name]
    decoded = {"decode": True} if "decode" in readers_arguments(name) else {}
    return published.opened(ds, (name, make, {**options, **decoded}), root)


def readers_arguments(name: str) -> set[str]:
    return {word.partition("=")[0] for word in getattr(ds, name).words.split(", ")}


def rows_of(name: str, root: Path) -> list[Any]:
    try:
        return published.told(made(name, root))["rows"]
    except (DependencyError, ds.DataError) as error:
        if "mycelia[data]" in str(error):
            pytest.skip("a library is not installed")
        raise


def some_files(root: Path) -> list[Path]:
    """One file of every kind in every folder, but few."""
    found: dict[Any, Path] = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        found.setdefault((path.suffix, path.relative_to(root).parts[0] if path.parent != root else path.stem), path)
    return list(found.values())[:6]


def outcome(name: str, root: Path) -> tuple[list[Any], str]:
    """The rows, or what was said instead; any other error than ours is a mistake."""
    try:
        return published.told(made(name, root))["rows"], ""
    except MyceliaError as error:
        return [], str(error)


@pytest.mark.parametrize("name", FILED)
def test_an_injured_file_is_told_or_does_no_harm(name, tmp_path):
    root = tmp_path / "d"
    whole = rows_of(name, root)
    for path in some_files(root):
        for injury in INJURIES:
            with injured(path, injury):
                rows, said = outcome(name, root)
                assert rows or str(root) in said, (path, injury, said)
                assert all(len(row) == len(whole[0]) for row in rows)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_is_empty_or_missing_is_told(name, tmp_path):
    _, _, options = SMALL[name]
    others = {k: v for k, v in options.items() if k not in ("dataset_dir", "annotation_file")}
    if "annotation_file" in options:
        others["annotation_file"] = str(tmp_path / "none.json")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises((ds.DataError, RecordError), match=str(tmp_path)):
        getattr(ds, name)(dataset_dir=str(tmp_path / "empty"), **others)
    with pytest.raises(ArgumentError, match=r"no folder .*missing.*does not exist"):
        getattr(ds, name)(dataset_dir=str(tmp_path / "missing"), **others)
    with pytest.raises(ArgumentError, match=r"no folder .*file.*is a file"):
        getattr(ds, name)(dataset_dir=str(tmp_path / "file"), **others)
    with pytest.raises(ArgumentError, match="dataset_dir is the name of a folder, and was None"):
        getattr(ds, name)(dataset_dir=None, **others)


@pytest.mark.parametrize("name", [n for n in FOLDERS if getattr(ds, n).usages])
def test_a_part_that_does_not_exist_is_told_with_those_that_do(name, tmp_path):
    with pytest.raises(ArgumentError, match=r"no part 'half'[\s\S]*usage is one of \['"):
        published.opened(ds, (*SMALL[name][:2], {**SMALL[name][2], "usage": "half"}), tmp_path / "d")


WRITTEN = (".txt", ".csv", ".tsv", ".json", ".manifest", ".token", ".stm", ".xml", ".data", ".tokens", ".en", ".de")


def written(root: Path) -> list[Path]:
    return [
        p
        for p in root.rglob("*")
        if p.is_file() and (p.suffix in WRITTEN or (not p.suffix and b"\0" not in p.read_bytes()))
    ]


@pytest.mark.parametrize("name", sorted(set(FILED) - {"IMDBDataset"}))  # whose texts are whole files
def test_windows_line_ends_change_nothing(name, tmp_path):
    before = rows_of(name, tmp_path / "d")
    for path in written(tmp_path / "d"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert rows_of(name, tmp_path / "d") == before


@pytest.mark.parametrize("name", sorted(set(FILED) - TABLES))
def test_a_byte_order_mark_changes_nothing(name, tmp_path):
    before = rows_of(name, tmp_path / "d")
    for path in written(tmp_path / "d"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert rows_of(name, tmp_path / "d") == before


@pytest.mark.parametrize("name", FILED)
def test_a_dataset_is_read_through_links(name, tmp_path):
    before = rows_of(name, tmp_path / "there")
    (tmp_path / "here").mkdir()
    for path in sorted((tmp_path / "there").rglob("*")):
        place = tmp_path / "here" / path.relative_to(tmp_path / "there")
        if path.is_dir():
            place.mkdir()
        else:
            place.symlink_to(path)
    assert rows_of(name, tmp_path / "here") == before


def fails(error: str, reader: str, root: Path, /, **options: Any) -> None:
    with pytest.raises((ds.DataError, ArgumentError), match=error):
        list(getattr(ds, reader)(dataset_dir=str(root), shuffle=False, **options).create_dict_iterator(1, True))


def test_labels_out_of_range_are_told_with_file_and_index(tmp_path):
    arrays.mnist(tmp_path)
    files.idx(tmp_path / "train-labels-idx1-ubyte", np.array([1, 2, 10, 3, 4], np.uint8))
    fails(r"between 0 and 9[\s\S]*train-labels[\s\S]*index: 2[\s\S]*label: 10", "MnistDataset", tmp_path, usage="train")
    arrays.stl10(tmp_path)
    (tmp_path / "train_y.bin").write_bytes(bytes([1, 0, 3]))
    fails(r"between 1 and 10[\s\S]*train_y.bin[\s\S]*index: 1", "STL10Dataset", tmp_path, usage="train")
    (tmp_path / "train_y.bin").write_bytes(bytes([1, 3]))
    fails(r"not as many labels as images[\s\S]*train_y.bin", "STL10Dataset", tmp_path, usage="train")
    arrays.cifar10(tmp_path)
    (tmp_path / "test_batch.bin").write_bytes(bytes([11]) + bytes(3072))
    fails(r"between 0 and 9[\s\S]*label: 11", "Cifar10Dataset", tmp_path, usage="test")
    folders.places(tmp_path)
    (tmp_path / "places365_val.txt").write_text("p0.jpg 1\np1.jpg -1\n")
    fails(r"places365_val.txt\n  line: 2", "Places365Dataset", tmp_path, usage="val")


@pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
def test_patches_out_of_range_are_told_with_file_and_line(tmp_path):
    scenes.photo_tour(tmp_path)
    (tmp_path / "liberty" / "m50_100000_100000_0.txt").write_text("0 0 0 1 0 0 0\n\n0 0 0 258 0 0 0\n")
    fails(r"patches below 258[\s\S]*line: 3", "PhotoTourDataset", tmp_path, name="liberty", usage="test")


def test_broken_lines_are_told_with_file_and_number(tmp_path):
    broken = [
        ("LJSpeechDataset", sounds.ljspeech, "metadata.csv", "\nLJ001|no bars\n", {}),
        ("CMUArcticDataset", sounds.arctic, "cmu_us_aew_arctic/etc/txt.done.data", "\n( no text )\n", {}),
        ("SemeionDataset", arrays.semeion, "semeion.data", "\n1 2 3\n", {}),
        ("USPSDataset", arrays.usps, "usps", f"11 {' '.join(f'{i}:0' for i in range(256))}\n", {"usage": "train"}),
        ("SST2Dataset", texts.sst2, "train.tsv", "sentence\tlabel\nno tab\n", {"usage": "train"}),
        ("CoNLL2000Dataset", texts.conll, "train.txt", "one NN B-NP\ntwo\n", {"usage": "train"}),
        ("CelebADataset", scenes.celeba, "list_attr_celeba.txt", "1\na b\nx.jpg 1 7\n", {}),
        ("WIDERFaceDataset", scenes.wider, "wider_face_split/wider_face_train_bbx_gt.txt", "a.jpg\ntwo\n", {}),
        ("LFWDataset", scenes.lfw, "pairsDevTrain.txt", "1\nAnn\n", {"task": "pairs", "usage": "train"}),
        ("TedliumDataset", sounds.tedlium, "test/stm/Ann_2009test.stm", "\nfew words\n", {"release": "release1"}),
    ]
    for name, make, file, content, options in broken:
        make(tmp_path / name)
        (tmp_path / name / file).write_text(content)
        number = {"USPSDataset": 1, "CelebADataset": 3}.get(name, 2)
        fails(rf"a line is not [\s\S]*{Path(file).name}\n  line: {number}\n", name, tmp_path / name, **options)


def test_text_that_is_not_utf_8_is_told_with_its_line(tmp_path):
    texts.udpos(tmp_path)
    (tmp_path / "en-ud-tag.v2.test.txt").write_bytes("It\tPRON\tPRP\ncafé\tNOUN\tNN\n".encode("latin1"))
    fails(r"not UTF-8[\s\S]*v2.test.txt\n  line: 2[\s\S]*iconv", "UDPOSDataset", tmp_path, usage="test")


def test_recordings_that_end_too_early_are_told(tmp_path):
    sounds.yesno(tmp_path)
    path = tmp_path / "0_0_0_0_1_1_1_1.wav"
    path.write_bytes(path.read_bytes()[:-5])
    fails(r"cut short[\s\S]*0_0_0_0_1_1_1_1.wav", "YesNoDataset", tmp_path)
    sounds.tedlium(tmp_path / "t")
    talk = tmp_path / "t" / "test" / "sph" / "Ann_2009test.sph"
    talk.write_bytes(talk.read_bytes()[: 1024 + 6000])
    fails(r"ends before second 0.2[\s\S]*Ann_2009test.sph", "TedliumDataset", tmp_path / "t", release="release1")
    talk.write_bytes(talk.read_bytes().replace(b"-s3 pcm", b"-s3 ulw"))
    fails(r"16-bit samples[\s\S]*sph2pipe", "TedliumDataset", tmp_path / "t", release="release1")


def test_lines_end_only_at_newlines(tmp_path):
    texts.multi30k(tmp_path)
    for language in ("en", "de"):
        (tmp_path / "training" / f"train.{language}").write_bytes(f"one {language}\u2028\x85\x0ctwo\nthree\n".encode())
    rows = ds.Multi30kDataset(str(tmp_path), "train", ["en", "de"], shuffle=False).create_dict_iterator(1, True)
    assert [str(r["text"]) for r in rows] == ["one en\u2028\x85\x0ctwo", "three"]


def test_a_box_without_sides_is_told(tmp_path):
    scenes.voc(tmp_path)
    (tmp_path / "Annotations" / "0.xml").write_text("<annotation><object><name>k0</name></object></annotation>")
    fails(r"cannot read an annotation[\s\S]*0.xml", "VOCDataset", tmp_path, task="Detection")


def test_combinations_that_were_not_published_are_told(tmp_path):
    scenes.div2k(tmp_path)
    fails("no images made 2 times smaller by 'mild'", "DIV2KDataset", tmp_path, downgrade="mild")
    fails("scale of DIV2KDataset is 2, 3, 4 or 8, not 5", "DIV2KDataset", tmp_path, scale=5)
    scenes.cityscapes(tmp_path)
    unknown = r"usage of CityscapesDataset is .* or 'all', not 'test'"
    fails(unknown, "CityscapesDataset", tmp_path, quality_mode="coarse", usage="test")
    texts.iwslt2016(tmp_path)
    fails(r"no language pair \('de', 'fr'\)", "IWSLT2016Dataset", tmp_path, language_pair=("de", "fr"))
    fails(
        "test_set of IWSLT2016Dataset is 'dev2010', .*, not 'tst2099'", "IWSLT2016Dataset", tmp_path, test_set="tst2099"
    )


def test_objects_like_those_of_hugging_face_keep_their_bytes(tmp_path):
    class Photos:
        column_names = ["image", "label"]

        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> dict[str, Any]:
            return {"image": {"bytes": b"ab\0", "path": None}, "label": 1} if index == 0 else {"label": 2}

    photos = ds.HubDataset(Photos(), shuffle=False).create_dict_iterator(1, True)
    assert next(photos)["image"]["bytes"].tolist() == [97, 98, 0]
    with pytest.raises(ds.DataError, match=r"lacks the columns \['image'\][\s\S]*index 1 of Photos"):
        next(photos)
