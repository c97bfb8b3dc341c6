"""What very many rows cost: orders are arithmetic, tables and archives are read in parts."""

from __future__ import annotations

import io
import pickle
import tarfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mycelia.dataset as ds
from mycelia.dataset.flow import indices
from mycelia.dataset.flow.indices import Indices, keyed, mixed_within, windowed
from mycelia.dataset.plan import samplers
from mycelia.dataset.sources import archives, parquet, tarpieces, tars
from mycelia.dataset.sources.footers import footer_of
from mycelia.errors import MyceliaError

BILLION = 10**9


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5000), st.integers(0, 2**62))
def test_a_keyed_order_holds_every_row_once(count, key):
    assert sorted(mixed_within(np.arange(count), count, key, 3).tolist()) == list(range(count))


@pytest.mark.parametrize("count", [60, 64, 65])
def test_a_keyed_order_is_uniform(count):
    seen, pairs = np.zeros((count, count)), np.zeros((count, count))
    for seed in range(3000):
        keys = np.random.default_rng(seed).integers(0, 2**63, indices.ROUNDS, np.uint64)
        order = keyed(np.arange(count), count, keys)
        seen[np.arange(count), order] += 1
        pairs[order[0], order[1]] += 1
    assert stats.chisquare(seen.ravel()).pvalue > 1e-4
    assert stats.chisquare(pairs[~np.eye(count, dtype=bool)]).pvalue > 1e-4


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.integers(1, 60), st.integers(0, 1000))
def test_windows_keep_the_promise_of_a_buffer(count, buffer, seed):
    order = windowed(count, buffer, np.random.default_rng(seed)).tolist()
    assert sorted(order) == list(range(count))
    assert all(row < place + buffer for place, row in enumerate(order))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.data())
def test_computed_orders_are_indexed_as_arrays_are(count, data):
    whole = np.random.default_rng(0).permutation(count)
    lazy = Indices(count, whole.__getitem__)
    part = slice(
        *(data.draw(st.one_of(st.none(), st.integers(-400, 400))) for _ in range(2)), data.draw(st.integers(1, 9))
    )
    assert lazy[part].tolist() == whole[part].tolist()
    inner = lazy[part]
    assert lazy[Indices(len(inner), lambda at: at)].tolist() == whole[: len(inner)].tolist()


def small(monkeypatch):
    """Let orders be computed for as few rows as there are here."""
    for module in (indices, samplers):
        monkeypatch.setattr(module, "LARGE", 1)


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("how", ["mixed", "plain", "equal", "files", "infile", "drawn", "some"])
def test_samplers_compute_what_they_would_store(how, shards, monkeypatch):
    small(monkeypatch)
    made = []
    for shard in range(shards):
        first = {
            "mixed": ds.RandomSampler(),
            "plain": ds.SequentialSampler(),
            "equal": ds.RandomSampler(),
            "files": samplers.FileSampler([10, 0, 7, 3], ds.Shuffle.FILES),
            "infile": samplers.FileSampler([10, 0, 7, 3], ds.Shuffle.INFILE),
            "drawn": ds.RandomSampler(replacement=True, num_samples=20),
            "some": ds.SequentialSampler(3, 11),
        }[how]
        share = ds.DistributedSampler(shards, shard, shuffle=False, equal_rows=how == "equal")
        share.add_child(first)
        made += share.order(20, (1, 2, 3)).tolist()
    if how == "drawn":
        assert len(made) == 20
        assert set(made) <= set(range(20))
    elif how == "some":
        assert sorted(made) == list(range(3, 14))
    else:
        assert set(made) == set(range(20))
        assert len(made) == (21 if how == "equal" and shards == 3 else 20)


class Many:
    """So many rows that nobody could store their order."""

    def __len__(self) -> int:
        return BILLION

    def __getitem__(self, index: int) -> np.int64:
        return np.int64(index)


def memory() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


@pytest.mark.parametrize("how", ["source", "shard", "shuffle", "buffer"])
def test_a_billion_rows_are_shuffled_in_no_memory(how):
    options = {"source": {"shuffle": True}, "shard": {"num_shards": 3, "shard_id": 1}}.get(how, {"shuffle": False})
    warm = ds.GeneratorDataset([1, 2, 3], ["x"], shuffle=True).shuffle(2).batch(2)
    list(warm.create_tuple_iterator(num_epochs=1))
    before = memory()
    dataset = ds.GeneratorDataset(Many(), ["x"], **options)
    dataset = (
        dataset.shuffle({"shuffle": BILLION, "buffer": 10_000}[how]) if "uf" in how and how != "source" else dataset
    )
    rows = dataset.batch(100).create_tuple_iterator(num_epochs=1, output_numpy=True)
    seen = np.concatenate([next(rows)[0] for _ in range(20)])
    state = rows.state_dict()
    rows.stop()
    assert memory() - before < 20
    assert len(set(seen.tolist())) == len(seen)
    again = dataset.batch(100).create_tuple_iterator(num_epochs=1, output_numpy=True)
    again.load_state_dict(state)
    assert not set(next(again)[0].tolist()) & set(seen.tolist())
    again.stop()
    assert seen.max() < (12_000 if how == "buffer" else BILLION)


@pytest.fixture
def tables(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    query = pytest.importorskip("pyarrow.parquet")
    for name, (first, count) in {"a": (0, 50), "b": (50, 33)}.items():
        x = np.arange(first, first + count)
        table = arrow.table({"x": x, "s": [f"t{i}" for i in x], "v": [[i, 2 * i] for i in x]})
        query.write_table(table, tmp_path / f"{name}.parquet", row_group_size=7)
    return str(tmp_path / "*.parquet")


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_a_table_is_read_group_by_group_and_only_where_rows_are_asked_for(tables, monkeypatch):
    read = []
    real = parquet.ArrowData._read
    monkeypatch.setattr(parquet.ArrowData, "_read", lambda self, key: read.append(key) or real(self, key))
    dataset = ds.ParquetDataset(tables, shuffle=False, num_parallel_workers=1)
    assert dataset.get_dataset_size() == 83
    assert not read
    rows = dataset.skip(52).take(3).create_dict_iterator(num_epochs=1, output_numpy=True)
    got = [(int(r["x"]), str(r["s"]), r["v"].tolist()) for r in rows]
    assert got == [(i, f"t{i}", [i, 2 * i]) for i in (52, 53, 54)]
    assert read == [(1, 0)]
    whole = ds.ParquetDataset(tables, ["v", "x"], shuffle=False).batch(10)
    batches = [r["x"].tolist() for r in whole.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert [x for b in batches for x in b] == list(range(83))


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_groups_beyond_what_is_held_are_let_go_and_read_again(tables, monkeypatch):
    monkeypatch.setattr(parquet, "HELD", 200)
    dataset = ds.ParquetDataset(tables, ["x"])
    data = dataset.plan.data
    first, second = ([int(r["x"]) for r in dataset.create_dict_iterator(1, output_numpy=True)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(83))
    assert first != list(range(83))
    assert len(data.held.kept) <= 3
    shares = [ds.ParquetDataset(tables, ["x"], num_shards=3, shard_id=i) for i in range(3)]
    assert sorted(int(r["x"]) for s in shares for r in s.create_dict_iterator(1, output_numpy=True)) == list(range(83))
    assert pickle.loads(pickle.dumps(data)).fetch(60)[0] == 60


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("values", [["a", None, "b", "a"], [1, None, 2, 1], [0.5, 0.25, None, 0.5], [None, None]])
def test_values_that_are_named_by_number_are_those_that_stand_there(values, ending, tmp_path):
    import pyarrow
    import pyarrow.parquet

    plain = pyarrow.table({"x": pyarrow.array(values, None if any(values) else pyarrow.string())})
    coded = pyarrow.table({"x": plain["x"].dictionary_encode()})
    rows = []
    for name, table in (("plain", plain), ("coded", coded)):
        path = str(tmp_path / f"{name}.{ending}")
        if ending == "parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        dataset = ds.ParquetDataset(path, shuffle=False)
        rows.append([str(r["x"]) for r in dataset.create_dict_iterator(1, output_numpy=True)])
    assert rows[0] == rows[1]
    assert len(rows[0]) == len(values)


LARGE = 2**53 + 1  # no float64 is equal to it
GAPPED = {
    "int64": [1, LARGE, None, -LARGE],
    "uint8": [255, None, 0, 7],
    "bool": [True, None, False, True],
    "float32": [0.5, 1.0, 2.0, 4.0],
    "string": ["a", None, "", "ü"],
    "list<int64>": [[1, LARGE], [None, LARGE], None, []],
    "list<list<int64>>": [[[LARGE], [None]], [[2]], None, []],
    "fixed<int64>": [[LARGE, 1], [None, LARGE], None, [2, 3]],
    "list<float64>": [[1.5], [0.25, 2.0], None, []],
    "struct": [{"a": LARGE, "b": "x"}, {"a": None, "b": "y"}, None, {"a": 1, "b": None}],
    "dictionary": [LARGE, None, 2, LARGE],
}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", GAPPED)
def test_whole_numbers_stay_what_they_are_beside_missing_ones(kind, ending, tmp_path):
    arrow, query = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lists = {"list<int64>": arrow.list_(arrow.int64()), "list<list<int64>>": arrow.list_(arrow.list_(arrow.int64()))}
    others = {"fixed<int64>": arrow.list_(arrow.int64(), 2), "list<float64>": arrow.list_(arrow.float64())}
    parts = arrow.struct([("a", arrow.int64()), ("b", arrow.string())])
    made = {**lists, **others, "struct": parts, "dictionary": arrow.int64()}.get(kind)
    column = arrow.array(GAPPED[kind], made or getattr(arrow, kind if kind != "bool" else "bool_")())
    table = arrow.table({"x": column.dictionary_encode() if kind == "dictionary" else column})

    def exact(told, cell):
        if isinstance(told, dict) and isinstance(cell, dict):
            return told.keys() == cell.keys() and all(exact(told[k], cell[k]) for k in told)
        if isinstance(told, list):
            return len(told) == len(cell) and all(map(exact, told, cell))
        return cell is None or cell == told if told is None else type(told)(cell) == told

    for group in (1, 2, 4):
        place = tmp_path / f"{group}.{ending}"
        if ending == "parquet":
            query.write_table(table, place, row_group_size=group)
        else:
            with arrow.ipc.new_file(place, table.schema) as file:
                file.write_table(table, max_chunksize=group)
        source = ds.ParquetDataset(str(place), shuffle=False)
        got = [row["x"] for row in source.create_dict_iterator(num_epochs=1, output_numpy=True)]
        assert all(map(exact, GAPPED[kind], got)), got
        types = [c.dtype for c in got if isinstance(c, np.ndarray) and not c.dtype.hasobject]
        assert all(t == types[0] or t.kind == "U" for t in types), types


def test_a_batch_with_a_missing_value_says_so(tmp_path):
    arrow, query = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    query.write_table(arrow.table({"x": [1, 2, None, 4]}), tmp_path / "a.parquet")
    source = ds.ParquetDataset(str(tmp_path / "a.parquet"), shuffle=False)
    with pytest.raises(ds.DataError, match="row 2 is None, for it is missing"):
        list(source.batch(4).create_tuple_iterator(num_epochs=1, output_numpy=True))
    filled = source.map(lambda x: x if x.dtype != object else np.int64(-1))
    (batch,) = filled.batch(4).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert batch[0].tolist() == [1, 2, -1, 4]


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_a_footer_is_understood_without_the_library(tmp_path):
    import pyarrow
    import pyarrow.parquet

    kinds = {
        "n": pyarrow.array([1, None, 3]),
        "s": pyarrow.array(["a", "b", None]),
        "d": pyarrow.array([None, None, 0], pyarrow.timestamp("us", "UTC")),
        "c": pyarrow.array([1, 2, 3], pyarrow.decimal128(20, 3)),
        "l": pyarrow.array([[1], [], [2, 3]]),
        "r": pyarrow.array([{"a": 1, "b": [{"c": "x"}]}] * 3),
        "m": pyarrow.array([[("k", 1)]] * 3, pyarrow.map_(pyarrow.string(), pyarrow.int8())),
        "f": pyarrow.array([b"ab"] * 3, pyarrow.binary(2)),
    }
    schemas = set()
    for count in range(1, len(kinds) + 1):
        table = pyarrow.table({k: kinds[k] for k in list(kinds)[:count]})
        for rows in (0, 1, 3):
            path = tmp_path / f"{count}.{rows}.parquet"
            pyarrow.parquet.write_table(table.slice(0, rows), path)
            footer = footer_of(str(path))
            assert footer.rows == rows
            schemas.add(footer.schema)
    assert len(schemas) == len(kinds)


def archive(path: Path, names: list[str], format: int = tarfile.USTAR_FORMAT) -> None:
    with tarfile.open(path, "w", format=format) as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            body = name.encode() * 3
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))


NAMES = {
    "plain": ["0.txt", "0.cls", "1.txt", "1.cls"],
    "apart": ["0.txt", "1.txt", "0.cls", "1.cls"],
    "folders": ["a/0.txt", "a/0.cls", "b/0.txt", "b/0.cls"],
    "long": [
        "x" * 150 + ".txt",
        "x" * 150 + ".cls",
        "y" * 90 + "/" + "z" * 90 + ".txt",
        "y" * 90 + "/" + "z" * 90 + ".cls",
    ],
    "other letters": ["é.txt", "é.cls", "ü.txt", "ü.cls"],
}


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("names", NAMES)
def test_archives_of_every_kind_give_what_pythons_reader_finds(names, format, tmp_path):
    if names == "long" and format == tarfile.USTAR_FORMAT:
        pytest.skip("such names do not fit")
    archive(tmp_path / "a.tar", NAMES[names], format)
    rows = list(ds.WebDataset(str(tmp_path / "a.tar"), shuffle=False).create_dict_iterator(1, output_numpy=True))
    expected: dict[str, dict[str, bytes]] = {}
    with tarfile.open(tmp_path / "a.tar") as tar:
        for member in tar:
            stem, ending = archives.split(member.name)
            expected.setdefault(stem, {})[ending] = tar.extractfile(member).read()
    assert [str(r["__key__"]) for r in rows] == list(expected)
    assert [{c: r[c].tobytes() for c in ("txt", "cls")} for r in rows] == list(expected.values())


def test_samples_of_many_shards_come_in_order_and_at_random(tmp_path):
    for shard in range(5):
        archive(tmp_path / f"{shard}.tar", [f"{shard}{i:02d}.txt" for i in range(30)])
    for workers in (1, 3):
        dataset = ds.WebDataset(str(tmp_path / "*.tar"), ["txt"], shuffle=False, num_parallel_workers=workers)
        got = [r["txt"].tobytes().decode()[:3] for r in dataset.create_dict_iterator(1, output_numpy=True)]
        assert got == [f"{s}{i:02d}" for s in range(5) for i in range(30)]
        mixed = ds.WebDataset(str(tmp_path / "*.tar"), ["txt"], num_parallel_workers=workers)
        assert sorted(r["txt"].tobytes().decode()[:3] for r in mixed.create_dict_iterator(1, output_numpy=True)) == got


@pytest.mark.parametrize("seed", range(24))
def test_shards_read_in_runs_of_any_length_give_what_pythons_reader_finds(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    run = int(rng.choice([1024, 2048, 5000, 1 << 14, 1 << 22]))
    large = int(rng.choice([4, 600, 3000, 1 << 16]))
    monkeypatch.setattr(tars, "RUN", run)
    monkeypatch.setattr(tarpieces, "RUN", run)
    monkeypatch.setattr(tars, "HELD", int(rng.integers(1, 4)) * run)
    monkeypatch.setattr(tars, "AHEAD", int(rng.integers(0, 4)) * run)
    for module in (tars, tarpieces):
        monkeypatch.setattr(module, "LARGE", large)
    monkeypatch.setattr(archives, "WINDOW", int(rng.choice([512, 1500, 1 << 18])))
    monkeypatch.setattr(tarpieces, "SMALL", int(rng.choice([1, 300, 1 << 12])))
    expected: list[dict[str, bytes]] = []
    for shard in range(int(rng.integers(1, 5))):
        even = bool(rng.integers(2))
        with tarfile.open(tmp_path / f"{shard}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for i in range(int(rng.integers(1, 40))):
                name = f"{'a.b/' * int(rng.integers(2))}{shard}-{i}"
                sample = {"__key__": name.encode()}
                for ending in ("bin", "x.cls"):
                    body = rng.bytes(700 if even else int(rng.choice([0, 3, 600, 9000], p=[0.1, 0.4, 0.4, 0.1])))
                    info = tarfile.TarInfo(f"{name}.{ending}")
                    info.size = len(body)
                    tar.addfile(info, io.BytesIO(body))
                    sample[ending] = body
                expected.append(sample)

    def plain(row):
        return {k: str(v).encode() if k == "__key__" else v.tobytes() for k, v in row.items()}

    def made(columns=None):
        return ds.WebDataset(str(tmp_path / "*.tar"), columns, shuffle=False, num_parallel_workers=2)

    dataset = made()
    rows = dataset.create_dict_iterator(num_epochs=2, output_numpy=True)
    assert [plain(r) for _ in range(2) for r in rows] == expected * 2
    assert len(dataset) == len(made()) == len(expected)
    at = int(rng.integers(len(expected)))
    assert plain(dataset[at]) == plain(made()[at]) == expected[at]
    mixed = ds.WebDataset(str(tmp_path / "*.tar"), num_parallel_workers=2)
    shuffled = [plain(r) for r in mixed.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert sorted(map(str, shuffled)) == sorted(map(str, expected))
    first = made().create_dict_iterator(num_epochs=1, output_numpy=True)
    for _ in range(at):
        next(first)
    again = made().create_dict_iterator(num_epochs=1, output_numpy=True)
    again.load_state_dict(first.state_dict())
    first.stop()
    assert [plain(r) for r in again] == expected[at:]
    if len({len(e["bin"]) for e in expected}) == 1:
        for batches in (made(["bin"]).batch(7), made(["bin"]).take(at + 1).batch(3, drop_remainder=True)):
            stacked = [b for r in batches.create_dict_iterator(1, output_numpy=True) for b in r["bin"]]
            assert [b.tobytes() for b in stacked] == [e["bin"] for e in expected][: len(stacked)]
            assert len(stacked) == (len(expected) if batches.get_batch_size() == 7 else (at + 1) // 3 * 3)


def test_files_of_a_sample_that_lie_far_apart_are_put_together_or_told(tmp_path, monkeypatch):
    monkeypatch.setattr(tars, "RUN", 2048)
    names = [f"{i}.txt" for i in range(40)] + [f"{i}.cls" for i in range(40)]
    archive(tmp_path / "a.tar", names)
    for columns in (["txt", "cls"], None):
        dataset = ds.WebDataset(str(tmp_path / "a.tar"), columns, shuffle=False)
        rows = list(dataset.create_dict_iterator(1, output_numpy=True))
        assert [r["cls"].tobytes() for r in rows] == [f"{i}.cls".encode() * 3 for i in range(40)]
    archive(tmp_path / "a.tar", [*names[:40], "0.seg"])
    dataset = ds.WebDataset(str(tmp_path / "a.tar"), ["txt"], shuffle=False)
    with pytest.raises(MyceliaError, match="lie apart"):
        list(dataset.create_dict_iterator(1, output_numpy=True))
    data = tars.TarData([str(tmp_path / "a.tar")], ["txt"])
    for _ in range(2):  # who asks again is not given the rows again
        with pytest.raises(MyceliaError, match="lie apart"):
            data.reach(45)
    dataset = ds.WebDataset(str(tmp_path / "a.tar"), ["txt"], shuffle=False)
    assert dataset.get_dataset_size() == 40
    assert len(list(dataset.create_dict_iterator(1, output_numpy=True))) == 40


def test_the_first_rows_of_many_shards_need_the_first_shard_only(tmp_path):
    for shard in range(30):
        archive(tmp_path / f"{shard:02}.tar", [f"{shard}-{i}.txt" for i in range(5)])
    dataset = ds.WebDataset(str(tmp_path / "*.tar"), shuffle=False)
    for shard in range(10, 30):
        (tmp_path / f"{shard:02}.tar").unlink()
    rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert str(next(rows)["__key__"]) == "0-0"
    rows.stop()


@pytest.mark.parametrize("batch", [0, 16])
def test_what_one_reader_writes_into_its_rows_no_other_reader_sees(batch, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(1500):
            info = tarfile.TarInfo(f"{i:05}.bin")
            info.size = 5000
            tar.addfile(info, io.BytesIO(bytes([i % 77]) * 5000))
    dataset = ds.WebDataset(str(tmp_path / "a.tar"), ["bin"], shuffle=False)
    dataset = dataset.batch(batch) if batch else dataset
    one, other = (dataset.create_tuple_iterator(num_epochs=1, output_numpy=True) for _ in range(2))
    seen = []
    for (mine,) in one:
        mine[...] = 99
        seen += next(other)[0].reshape(-1, 5000).tolist()
    assert len(seen) == 1500
    assert all(row == [i % 77] * 5000 for i, row in enumerate(seen))


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_groups_that_fold_to_little_are_not_taken_for_light_ones(tmp_path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"x": np.zeros(1 << 16), "s": ["the same"] * (1 << 16)})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1 << 14)
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 14
    assert ds.ParquetDataset(str(tmp_path / "a.parquet")).plan.data.weight >= (8 + 64) << 16
    assert ds.ParquetDataset(str(tmp_path / "a.parquet"), ["x"]).plan.data.weight == 8 << 16
