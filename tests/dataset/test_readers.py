"""Readers give what MindSpore 2.10 gave for the same files (recorded_readers.json), where it could read them."""

from __future__ import annotations

import inspect
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import readers
from mycelia.dataset.readers.base import Reader
from mycelia.errors import ArgumentError, DependencyError

from . import published

RECORDED = json.loads((Path(__file__).parent / "recorded_readers.json").read_text(encoding="utf-8"))
SHARED = Path(__file__).parents[3] / "shared" / "compat" / "api_names.tsv"
UNORDERED = {"YesNoDataset", "GTZANDataset", "TedliumDataset"}  # MindSpore takes files as the folder gives them
MINE = [name for name in readers.__all__ if issubclass(getattr(ds, name), ds.MappableDataset)]


def right(case: published.Case, theirs: dict[str, Any]) -> dict[str, Any]:
    """MindSpore's answer, changed where it is wrong; each change is told in docs/differences.md."""
    (name, make, options), rows = case, theirs["rows"]
    if name == "WIDERFaceDataset" and options.get("usage") != "test":  # takes invalid, occlusion, pose for one another
        rows = [[*row[:5], row[6], row[7], row[5]] for row in rows]
    if name == "LSUNDataset" and options.get("usage") in (None, "all"):  # a class has another label in either part
        rows = [[image, [*label[:2], [label[2][0] // 2]]] for image, label in rows]
    if name == "TedliumDataset":  # all samples are zero
        rows = [[wave[:2], *rest] for wave, *rest in rows]
    if name == "FakeImageDataset":  # other noise
        rows = [[cell[:2] for cell in row] for row in rows]
    if make.__name__ == "mixed_folder" and "extensions" not in options:  # takes a text for an image
        rows = [row for row in rows if row[0][1] != [8]]
    size = theirs["size"] - (len(theirs["rows"]) - len(rows))
    return {**theirs, "rows": rows, "size": size}


def comparable(case: published.Case, ours: dict[str, Any]) -> dict[str, Any]:
    """Our answer without what MindSpore does not give."""
    rows = ours["rows"]
    if case[0] == "TedliumDataset":
        rows = [[wave[:2], *rest] for wave, *rest in rows]
    if case[0] == "FakeImageDataset":
        rows = [[cell[:2] for cell in row] for row in rows]
    return {**ours, "rows": rows}


def close(ours: Any, theirs: Any) -> bool:
    """Texts and kinds are equal; sums agree to 1e-4: MindSpore divides 16-bit sound by 32767, we by 32768."""
    if isinstance(ours, list) and len(ours) == 3 and isinstance(ours[2], float):
        return ours[:2] == theirs[:2] and bool(np.isclose(ours[2], theirs[2], rtol=1e-4, atol=1e-3))
    return bool(ours == theirs)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the datasets are made, each once."""
    return tmp_path_factory.mktemp("published in ü")


def answer(case: published.Case, places: Path) -> dict[str, Any] | None:
    """What we read in a case; None when the reader does not have its options."""
    name, make, _ = case
    if make.__module__.endswith(("arrays", "folders", "scenes")) and needs_scipy(make) and find_spec("scipy") is None:
        pytest.skip("SciPy is not installed")
    try:
        dataset = published.opened(ds, case, places / f"{name}-{make.__name__}")
        return None if dataset is None else json.loads(json.dumps(published.told(dataset)))
    except (DependencyError, ds.DataError) as error:
        if "mycelia[data]" in str(error):
            pytest.skip("Pillow is not installed")
        raise


def needs_scipy(make: Any) -> bool:
    return make.__name__ in {"svhn", "flowers", "caltech101", "sbd"}


@pytest.mark.many("case", published.CASES, pack=25, ids=published.key)
def test_a_reader_gives_what_mindspore_gave(case, places):
    ours, theirs = answer(case, places), RECORDED.get(published.key(case))
    if theirs is None:
        assert ours is None or case[0] == "HubDataset"
        return
    assert ours is not None
    assert ours["rows"]
    if "refused" in theirs:
        return
    name, _, options = case
    ours, theirs = comparable(case, ours), right(case, theirs)
    assert ours["columns"] == theirs["columns"]
    if "classes" in theirs and name != "Caltech101Dataset":  # whose classes MindSpore knows by heart
        assert ours["classes"] == theirs["classes"]
    mine, recorded = ours["rows"], theirs["rows"]
    if {"num_shards", "sampler", "num_samples"} & set(options) and (name in UNORDERED or "sampler" not in known(name)):
        return  # another order to choose from; see test_options_choose_among_the_rows
    if "num_shards" in options:  # MindSpore repeats rows until all shares are equal; ours are disjoint
        recorded = recorded[: len(mine)]
    else:
        assert ours["size"] == theirs["size"]
    if name in UNORDERED or (name, options.get("usage")) == ("WIDERFaceDataset", "test"):
        mine, recorded = (sorted(rows, key=by_content) for rows in (mine, recorded))
    assert len(mine) == len(recorded)
    for row, other in zip(mine, recorded, strict=True):
        assert len(row) == len(other)
        assert all(close(a, b) for a, b in zip(row, other, strict=True)), (row, other)


@pytest.mark.parametrize("case", published.SOURCES, ids=published.key)
def test_a_source_gives_what_mindspore_gave(case, places):
    ours, theirs = answer(case, places), RECORDED[published.key(case)]
    assert ours is not None
    assert ours["rows"]
    if "refused" in theirs:
        return
    assert (ours["columns"], ours["size"]) == (theirs["columns"], theirs["size"])
    if case[0] == "RandomDataset":  # other numbers
        ours, theirs = ({"rows": [[cell[:2] for cell in row] for row in told["rows"]]} for told in (ours, theirs))
    assert ours["rows"] == theirs["rows"]


def by_content(row: list[Any]) -> tuple[str, float]:
    """An order of rows that does not mind small differences of sounds."""
    first = row[0][2] if len(row[0]) > 2 else 0.0
    return str(row[1:]), float(first)


def known(name: str) -> set[str]:
    """The arguments of a reader."""
    return set(inspect.signature(getattr(ds, name)).parameters)


@pytest.mark.parametrize("name", MINE)
def test_options_choose_among_the_rows(name, places):
    case = next(c for c in published.PLAIN if c[0] == name)
    case = (name, case[1], {k: v for k, v in case[2].items() if k not in ("sampler", "num_samples", "num_shards")})
    if name in ("Cifar10Dataset", "Cifar100Dataset"):
        case = (name, {"Cifar10Dataset": published.cifar10, "Cifar100Dataset": published.cifar100}[name], {})
    whole = answer(case, places)["rows"]
    for shards in (1, 2, 3, len(whole), len(whole) + 2):
        parts = []
        for shard in range(shards):
            part = answer((*case[:2], {**case[2], "num_shards": shards, "shard_id": shard}), places)
            assert part["size"] == len(part["rows"])
            assert part["rows"] == whole[shard::shards]
            parts += part["rows"]
        assert sorted(parts, key=str) == sorted(whole, key=str)
    some = {"num_samples": 2}
    assert answer((*case[:2], {**case[2], **some}), places)["rows"] == whole[:2]
    if "sampler" in known(name):
        chosen = answer((*case[:2], {**case[2], "sampler": ("SubsetSampler", [1, 0])}), places)
        assert chosen["rows"] == [whole[1], whole[0]]


def test_every_reader_has_a_case():
    assert {case[0] for case in published.CASES} == set(readers.__all__)
    recorded = {key.split()[0] for key, told in RECORDED.items() if "rows" in told}
    assert set(readers.__all__) - recorded == {"HubDataset"}  # which is not one of MindSpore's
    kinds = [kind for kind in vars(ds).values() if isinstance(kind, type) and issubclass(kind, readers.base.Reader)]
    assert {kind.__name__ for kind in kinds} == {name for name in readers.__all__ if name != "HubDataset"}


def test_cifar_reads_the_binary_version(tmp_path):
    published.cifar10(tmp_path)
    raw = np.frombuffer((tmp_path / "test_batch.bin").read_bytes(), np.uint8).reshape(-1, 3073)
    row = next(ds.Cifar10Dataset(str(tmp_path), "test", shuffle=False).create_dict_iterator(1, output_numpy=True))
    np.testing.assert_array_equal(row["image"], raw[0, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    assert row["label"] == raw[0, 0]


def test_cifar_reads_the_python_version_and_nothing_that_runs_code(tmp_path):
    import pickle

    images = np.random.default_rng(0).integers(0, 256, (2, 3072)).astype(np.uint8)
    (tmp_path / "test_batch").write_bytes(pickle.dumps({b"data": images, b"labels": [3, 5]}, protocol=2))
    rows = list(ds.Cifar10Dataset(str(tmp_path), "test", shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [int(r["label"]) for r in rows] == [3, 5]
    np.testing.assert_array_equal(rows[1]["image"], images[1].reshape(3, 32, 32).transpose(1, 2, 0))
    (tmp_path / "test_batch").write_bytes(pickle.dumps(print))
    with pytest.raises(RuntimeError, match="not part of the format"):
        ds.Cifar10Dataset(str(tmp_path), "test")


def test_arguments_have_mindspores_names_and_order():
    if not SHARED.exists():
        pytest.skip("the list of names is not here")
    section = SHARED.read_text().split("# mindspore.dataset (")[1].split("\n# ")[0]
    for line in section.splitlines()[1:]:
        name, kind, words = line.split("\t")
        if kind == "class" and name in readers.__all__:
            theirs = [w.split("=")[0].strip() for w in words.strip("()").split(", ") if "=" in w or w.isidentifier()]
            theirs = [w for w in theirs if w.isidentifier()]
            ours = list(inspect.signature(getattr(ds, name)).parameters)
            assert ours == theirs, name


def test_mistakes_are_told(tmp_path):
    published.mnist(tmp_path)
    with pytest.raises(ArgumentError, match="no part 'half'"):
        ds.MnistDataset(str(tmp_path), "half")
    with pytest.raises(ArgumentError, match="no folder"):
        ds.MnistDataset(str(tmp_path / "nowhere"))
    with pytest.raises(ArgumentError, match="unexpected keyword"):
        ds.MnistDataset(str(tmp_path), colour=True)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\x09abc")
    with pytest.raises(RuntimeError, match="train-labels-idx1-ubyte"):
        ds.MnistDataset(str(tmp_path), "train")


def test_a_damaged_image_is_told_with_its_file(tmp_path):
    published.image_folder(tmp_path)
    (tmp_path / "dog" / "0.png").write_bytes(b"\xff\xd8\xff not a picture")
    dataset = ds.ImageFolderDataset(str(tmp_path), decode=True, shuffle=False)
    if find_spec("PIL") is None:
        with pytest.raises(ds.DataError, match="mycelia\\[data\\]"):
            list(dataset.create_dict_iterator(1, output_numpy=True))
        return
    with pytest.raises(ds.DataError, match=r"dog.0\.png"):
        list(dataset.create_dict_iterator(1, output_numpy=True))
    ds.config.set_error_samples_mode(ds.ErrorSamplesMode.SKIP)
    assert len(list(dataset.create_dict_iterator(1, output_numpy=True))) == 5


def test_a_cache_keeps_rows_up_to_its_size(tmp_path):
    published.image_folder(tmp_path)
    cache = ds.DatasetCache(1, size=0)
    dataset = ds.ImageFolderDataset(str(tmp_path), shuffle=False, cache=cache)
    for _ in range(2):
        assert len(list(dataset.create_dict_iterator(1, output_numpy=True))) == 6
    assert cache.get_stat().hits == cache.get_stat().misses == 6


def test_classes_are_named(tmp_path):
    published.image_folder(tmp_path)
    dataset = ds.ImageFolderDataset(str(tmp_path)).batch(2)
    assert dataset.get_class_indexing() == {"cat": 0, "dog": 1, "eel": 2}
    assert dataset.num_classes() == 3


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("mycelia.dataset.sources.parquet.find_spec", lambda name: None)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(DependencyError, match=r"pyarrow[\s\S]*mycelia\[data\]"):
        ds.ParquetDataset(str(tmp_path / "a.parquet"))


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_parquet_and_arrow_give_their_columns(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"x": np.arange(10), "v": [[1.0, 2.0]] * 10, "s": [f"t{i}" for i in range(10)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)
    for name in ("a.parquet", "a.arrow"):
        dataset = ds.ParquetDataset(str(tmp_path / name), shuffle=False)
        rows = list(dataset.create_dict_iterator(1, output_numpy=True))
        assert [int(r["x"]) for r in rows] == list(range(10))
        assert rows[3]["v"].tolist() == [1.0, 2.0]
        assert str(rows[4]["s"]) == "t4"
        batch = next(
            ds.ParquetDataset(str(tmp_path / name), ["x", "v"], shuffle=False).batch(4).create_dict_iterator(1, True)
        )
        assert batch["v"].shape == (4, 2)


def test_tar_shards_group_files_by_stem(tmp_path):
    import io
    import tarfile

    for shard in range(2):
        with tarfile.open(tmp_path / f"{shard}.tar", "w") as tar:
            for i in range(3):
                for ending, body in (("cls", b"%d" % i), ("txt", b"text %d" % i)):
                    info = tarfile.TarInfo(f"{shard}{i}.{ending}")
                    info.size = len(body)
                    tar.addfile(info, io.BytesIO(body))
    rows = list(ds.WebDataset(str(tmp_path / "*.tar"), shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [str(r["__key__"]) for r in rows] == ["00", "01", "02", "10", "11", "12"]
    assert bytes(rows[4]["txt"]) == b"text 1"
    (tmp_path / "0.tar").write_bytes(b"no tar")
    with pytest.raises(ds.DataError, match=r"0\.tar"):
        ds.WebDataset(str(tmp_path / "*.tar"))


def test_encrypted_images_are_read_by_the_users_own_function(tmp_path):
    published.image_folder(tmp_path)
    dataset = ds.ImageFolderDataset(str(tmp_path), shuffle=False, decrypt=lambda path: Path(path).read_bytes()[::-1])
    row = next(dataset.create_dict_iterator(1, output_numpy=True))
    assert bytes(row["image"])[::-1] == (tmp_path / "cat" / "0.png").read_bytes()


@pytest.mark.many("name", [n for n in readers.__all__ if issubclass(getattr(readers, n), Reader)], pack=100)
def test_a_reader_shows_its_arguments(name):
    kind = getattr(readers, name)
    shown, begun = inspect.signature(kind), inspect.signature(kind.__init__)
    assert list(begun.parameters.values())[1:] == list(shown.parameters.values())
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    assert not [p for p in shown.parameters.values() if p.kind in starred]
    assert "num_samples" in shown.parameters
