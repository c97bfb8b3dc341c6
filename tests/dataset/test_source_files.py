"""Sources in files meet what is found in files: marks, quotes, missing files, other kinds than a schema says."""

from __future__ import annotations

from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset.sources.arrowcells import ragged
from mycelia.dataset.sources.arrowweights import OBJECT, weight_of
from mycelia.errors import ArgumentError
from mycelia.mindrecord.errors import RecordError

from .published import sources


def rows(dataset: Any) -> list[dict[str, Any]]:
    return [{k: v.tolist() for k, v in r.items()} for r in dataset.create_dict_iterator(1, True)]


def written(path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_a_byte_order_mark_is_no_text(tmp_path):
    place = written(tmp_path / "a", b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    assert rows(ds.TextFileDataset(place, shuffle=False)) == [{"text": "a,b"}, {"text": "1,2"}]
    assert rows(ds.CSVDataset(place, shuffle=False)) == [{"a": "1", "b": "2"}]


def test_a_quoted_cell_goes_on_in_the_next_line(tmp_path):
    place = written(tmp_path / "a.csv", b'a,b\n1,"x\n\ny"\n5" disk,2\n"",z\n3,"4"\n')
    dataset = ds.CSVDataset(place, shuffle=False)
    assert [r["b"] for r in rows(dataset)] == ["x\n\ny", "2", "z", "4"]
    place = written(tmp_path / "b.csv", b'a,b\n1,2\n\n1,"x\n')
    with pytest.raises(ds.DataError, match=r"not CSV: unexpected end[\s\S]*b.csv, line 4"):
        rows(ds.CSVDataset(place, shuffle=False))


def test_mistakes_in_text_files_are_told_with_their_lines(tmp_path):
    place = written(tmp_path / "a.csv", b"a,b\n\n1,2\ncaf\xe9,3\n")
    with pytest.raises(ds.DataError, match=r"not UTF-8[\s\S]*a.csv, line 4"):
        rows(ds.CSVDataset(place, shuffle=False))
    place = written(tmp_path / "b.csv", b"a,b\n1,2\n99999999999,3\n")
    with pytest.raises(ds.DataError, match=r"a cell does not fit[\s\S]*b.csv, line 3"):
        rows(ds.CSVDataset(place, column_defaults=[0, 0], shuffle=False))
    with pytest.raises(ArgumentError, match="two columns have the name"):
        ds.CSVDataset(written(tmp_path / "c.csv", b"a,a\n1,2\n"))
    with pytest.raises(ArgumentError, match=r"different columns[\s\S]*e.csv"):
        ds.CSVDataset([written(tmp_path / "d.csv", b"a\n1\n"), written(tmp_path / "e.csv", b"b\n1\n")])


def test_one_missing_file_of_several_is_told(tmp_path):
    with pytest.raises(ArgumentError, match=r"no such file[\s\S]*gone"):
        ds.TextFileDataset([written(tmp_path / "a", b"x\n"), str(tmp_path / "gone")])


def test_tfrecords_are_read_as_mindspore_reads_them(tmp_path):
    sources.records(tmp_path)
    place = str(tmp_path / "a.tfrecord")
    first = next(ds.TFRecordDataset(place, shuffle=False).create_dict_iterator(1, True))
    assert first["raw"].dtype == np.uint8
    assert first["raw"].tolist() == [0, 255, 7, 1]
    assert bytes(first["name"]) == b"row 0"
    told = ds.TFRecordDataset(place, str(tmp_path / "schema.json"), shuffle=False)
    assert told.get_col_names() == ["n", "one", "raw", "x"]
    schema = ds.Schema(str(tmp_path / "schema.json"))
    schema.num_rows = 2
    assert ds.TFRecordDataset(place, schema, shuffle=False).get_dataset_size() == 2
    schema = ds.Schema()
    schema.add_column("name", "int64")
    with pytest.raises(ds.DataError, match=r"is bytes, and the schema says int64[\s\S]*record 0"):
        rows(ds.TFRecordDataset(place, schema, shuffle=False))


def test_schemas_and_packed_records_that_cannot_be_read_are_told(tmp_path):
    sources.packed(tmp_path)
    cut = written(tmp_path / "cut.gz", (tmp_path / "a.gz").read_bytes()[:-20])
    with pytest.raises(RecordError, match=r"cut\.gz"):
        ds.TFRecordDataset(cut, compression_type="GZIP")
    with pytest.raises(ArgumentError, match=r"cannot read a schema[\s\S]*gone\.json"):
        ds.Schema(str(tmp_path / "gone.json"))
    with pytest.raises(ArgumentError, match=r"cannot read a schema[\s\S]*bad\.json"):
        ds.Schema(written(tmp_path / "bad.json", b"{"))


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
@pytest.mark.parametrize("streamed", [False, True])
def test_batches_of_arrow_files_are_read_one_by_one(streamed, tmp_path):
    pa = pytest.importorskip("pyarrow")
    words = [f"w{i % 3}" for i in range(50)]
    columns = {
        "x": list(range(50)),
        "l": [[i, i + 1] for i in range(50)],
        "s": words,
        "d": pa.array(words).dictionary_encode(),
    }
    for names in (["x", "l", "s"], ["x", "d"]):
        table = pa.table({n: columns[n] for n in names})
        place = str(tmp_path / f"{'-'.join(names)}.arrow")
        with (pa.ipc.new_stream if streamed else pa.ipc.new_file)(place, table.schema) as writer:
            for batch in table.to_batches(7):
                writer.write_batch(batch)
        for order in (list(range(50)), [49, 0, 30, 7]):
            got = rows(ds.ParquetDataset(place, sampler=order, num_parallel_workers=2))
            assert [r["x"] for r in got] == order
            if "l" in names:
                assert [r["l"] for r in got] == [[i, i + 1] for i in order]
            assert [str(r["s" if "s" in names else "d"]) for r in got] == [words[i] for i in order]


def test_arrow_keeps_bytes_and_nested_lists_and_reads_streams(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"raw": [b"ab\0", b"\xff"], "grid": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        got = rows(ds.ParquetDataset(str(tmp_path / name), shuffle=False))
        assert got[0] == {"raw": [97, 98, 0], "grid": [[1, 2], [3, 4]]}
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "b.parquet")
    with pytest.raises(ds.DataError, match=r"different columns[\s\S]*b\.parquet"):
        ds.ParquetDataset([str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])


WORDS = ["to", "", "be é", "or not " * 5, "x"] * 3
LISTS = [[1, 2], [], [3], [4, 5, 6], [7]] * 3


@pytest.mark.parametrize("kind", ["string", "large_string", "list_", "large_list"])
def test_columns_of_texts_and_lists_are_their_values_in_one_piece(kind):
    pa = pytest.importorskip("pyarrow")
    values, inner = (WORDS, []) if "string" in kind else (LISTS, [pa.int32()])
    whole = pa.array(values, getattr(pa, kind)(*inner))
    for first, last in ((0, 15), (3, 11), (1, 2), (14, 15), (5, 5)):
        column = pa.chunked_array([whole.slice(first, last - first), whole.slice(0, 2)])
        found = ragged(column)
        given = found.texts() if found.text else [row.tolist() for row in found.rows()]
        assert given == [*values[first:last], *values[:2]]


@pytest.mark.parametrize("kind", ["int8", "int64", "float64", "date32", "decimal128", "string", "binary", "struct"])
@pytest.mark.parametrize("named", [False, True])
def test_cells_of_arrow_weigh_as_much_as_their_numbers_and_no_more_than_objects(kind, named):
    pa = pytest.importorskip("pyarrow")
    values = {"string": WORDS, "binary": [w.encode() for w in WORDS], "struct": [{"x": n} for n in range(15)]}
    numbers = [Decimal(n) for n in range(15)] if kind == "decimal128" else list(range(15))
    dtype = {"struct": None, "decimal128": pa.decimal128(9)}.get(kind, kind)
    plain = pa.array(values.get(kind, numbers), dtype)
    array = plain if not named else pa.DictionaryArray.from_arrays(pa.array([*range(15), 0, 14, 3], pa.int8()), plain)
    each = array.dictionary_decode() if named else array
    cells = [c.encode() if kind == "string" else c for c in each.to_pylist()]
    bytes_of_each = sum(map(len, cells)) if kind in ("string", "binary") else each.nbytes
    many = len(array) if named and kind == "struct" else 1  # as much as they may be at most
    assert bytes_of_each <= weight_of(array) <= (bytes_of_each + OBJECT * len(each)) * many
