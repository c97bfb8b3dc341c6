"""Small files that stand for much memory, or for other files: refused before either is touched."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.dataset.sources.arrowmessages import Messages, check_unfolded
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.mindrecord.limits import TooLarge
from mycelia.plainfiles import opened

LIMIT = 1 << 20


@pytest.fixture
def small():
    ds.config.set_largest_sample(LIMIT)


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


def written(arrow, path: Path, columns: dict[str, object], codec: str | None = None, streamed: bool = False) -> Path:
    table = arrow.table(columns)
    options = arrow.ipc.IpcWriteOptions(compression=codec)
    new = arrow.ipc.new_stream if streamed else arrow.ipc.new_file
    with arrow.OSFile(str(path), "wb") as sink, new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1 << 20)
    return path


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_batch_that_unfolds_to_more_than_a_sample_may_have_is_not_unfolded(codec, streamed, small, arrow, tmp_path):
    path = written(arrow, tmp_path / "a.arrow", {"x": np.zeros(1 << 18)}, codec, streamed)
    assert path.stat().st_size < LIMIT // 8
    pool, usual = arrow.proxy_memory_pool(arrow.default_memory_pool()), arrow.default_memory_pool()
    arrow.set_memory_pool(pool)
    try:
        with pytest.raises(TooLarge, match="a batch of an Arrow file"):
            ds.ParquetDataset(str(path))
        assert pool.max_memory() < LIMIT
    finally:
        arrow.set_memory_pool(usual)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("codec", [None, "zstd", "lz4"])
def test_what_headers_say_of_batches_is_what_the_library_finds(codec, streamed, arrow, tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "x": np.arange(5000),
        "s": [f"text {i % 7}" for i in range(5000)],
        "v": [list(range(i % 5)) for i in range(5000)],
        "n": arrow.array([None if i % 3 else i for i in range(5000)]),
        "d": arrow.array([f"name {i % 11}" for i in range(5000)]).dictionary_encode(),
        "noise": rng.integers(0, 1 << 60, 5000),  # does not fold
    }
    path = written(arrow, tmp_path / "a.arrow", columns, codec, streamed)
    plain = written(arrow, tmp_path / "b.arrow", columns, None, streamed)
    check_unfolded(str(path))
    told = []
    for place in (path, plain):
        messages = Messages(opened(place))
        told.append([messages.unfolded(header, body) for header, body in messages])
    # a buffer that is stored plain is padded to eight bytes, one that is folded is not
    assert all(abs(a - b) <= 16 * 16 for a, b in zip(*told, strict=True))
    rows = list(ds.ParquetDataset(str(path), shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [int(r["x"]) for r in rows] == list(range(5000))
    assert [str(r["d"]) for r in rows] == [f"name {i % 11}" for i in range(5000)]


def test_a_file_that_lies_about_where_its_batches_are_is_damaged(arrow, tmp_path):
    path = written(arrow, tmp_path / "a.arrow", {"x": np.arange(100)}, "zstd")
    raw = bytearray(path.read_bytes())
    size = struct.unpack("<i", raw[-10:-6])[0]
    footer = len(raw) - 10 - size
    (block,) = [at for at in range(footer, len(raw) - 24) if _is_block(raw, at)][:1]
    for change in (8, -8, 1 << 40):
        forged = bytearray(raw)
        struct.pack_into("<q", forged, block, struct.unpack_from("<q", raw, block)[0] + change)
        path.write_bytes(forged)
        with pytest.raises(MyceliaError):
            ds.ParquetDataset(str(path))


def _is_block(raw: bytearray, at: int) -> bool:
    """Whether a place of the footer says where a message is: there it goes on."""
    begin, length = struct.unpack_from("<qi", raw, at)
    return 8 <= begin < at and raw[begin : begin + 4] == b"\xff\xff\xff\xff" and 0 < length < at - begin


@pytest.mark.parametrize("kind", ["named", "named in lists", "nothings", "lists of nothings", "runs", "texts"])
def test_cells_that_take_no_room_in_a_file_are_weighed_before_they_are_made(kind, small, arrow, tmp_path):
    text, count = "x" * (LIMIT >> 4), 1000
    names = arrow.array(np.zeros(count, np.int32))
    named = arrow.DictionaryArray.from_arrays(names, [text])
    columns = {
        "named": named,
        "named in lists": arrow.ListArray.from_arrays([0, count], named),
        "nothings": arrow.nulls(LIMIT),
        "lists of nothings": arrow.ListArray.from_arrays([0, LIMIT], arrow.nulls(LIMIT)),
        "runs": arrow.RunEndEncodedArray.from_arrays([1 << 30], [1]),
        "texts": arrow.array([text] * 20),
    }
    path = written(arrow, tmp_path / "a.arrow", {"c": columns[kind]})
    tracemalloc.start()
    try:
        with pytest.raises(MyceliaError):
            list(ds.ParquetDataset(str(path), shuffle=False).create_dict_iterator(1, output_numpy=True))
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()


# texts of Parquet files


def named_texts(arrow, kind: str, text: str, count: int):
    """A column of one text, many times, in a few bytes, and how it is written."""
    names = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(count, np.int32)), [text])
    encoded = {"use_dictionary": False, "column_encoding": {"c": "DELTA_BYTE_ARRAY"}}
    listed = {"use_dictionary": False, "column_encoding": {"c.list.element": "DELTA_BYTE_ARRAY"}}
    lists = arrow.ListArray.from_arrays
    return {
        "named": (names, {}),
        "named bytes": (names.cast(arrow.dictionary(arrow.int32(), arrow.binary())), {}),
        "named in lists": (lists([0, count], names), {}),
        "named in structures": (arrow.StructArray.from_arrays([names], ["x"]), {}),
        "shared": (arrow.array([text] * count), encoded),
        "shared in lists": (lists([0, count], arrow.array([text] * count)), listed),
    }[kind]


KINDS = ["named", "named bytes", "named in lists", "named in structures", "shared", "shared in lists"]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_many_rows_name_is_weighed_before_it_is_repeated(kind, version, small, arrow, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    column, how = named_texts(arrow, kind, "x" * (LIMIT >> 6), 2000)
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"c": column}), path, data_page_version=version, store_schema=False, **how)
    assert path.stat().st_size < LIMIT // 8
    del column
    before = arrow.total_allocated_bytes()
    pool = arrow.default_memory_pool()
    peak = pool.max_memory()
    with pytest.raises(MyceliaError, match="TooLarge: a group of rows"):
        list(ds.ParquetDataset(str(path), shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert max(0, pool.max_memory() - max(peak, before)) < 4 * LIMIT


@pytest.mark.parametrize("kind", KINDS)
def test_texts_that_fit_are_read_though_the_longest_would_not_fit_so_often(kind, small, arrow, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = ["x" * (LIMIT >> 4), *(f"short {i % 7}" for i in range(600))]
    column = arrow.array(texts)
    _, how = named_texts(arrow, kind, "x", 1)
    if "lists" in kind:
        column = arrow.ListArray.from_arrays([0, 1, len(texts)], column)
    if "structures" in kind:
        column = arrow.StructArray.from_arrays([column], ["x"])
    parquet.write_table(arrow.table({"c": column}), tmp_path / "a.parquet", **how)
    rows = ds.ParquetDataset(str(tmp_path / "a.parquet"), shuffle=False)
    if kind == "shared in lists":  # what these take cannot be told without unfolding them
        with pytest.raises(MyceliaError, match="TooLarge"):
            list(rows.create_dict_iterator(1, output_numpy=True))
        return
    found = [row["c"] for row in rows.create_dict_iterator(1, output_numpy=True)]
    if "structures" in kind:
        assert [cell["x"] if isinstance(cell, dict) else cell.item()["x"] for cell in found] == texts
    elif "lists" in kind:
        assert [text for cell in found for text in cell.tolist()] == texts
    else:
        assert [bytes(cell).decode() if cell.dtype == np.uint8 else str(cell) for cell in found] == texts


# videos


def video(path: Path, count: int = 3, size: tuple[int, int] = (32, 48)) -> Path:
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=10)
        stream.height, stream.width = size
        stream.pix_fmt = "bgr0"
        for i in range(count):
            frame = np.full((*size, 3), 20 * i, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    return path


PLAYLISTS = {
    "concat": "ffconcat version 1.0\nfile secret.mkv\n",
    "concat by path": "ffconcat version 1.0\nfile {place}\n",
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nsecret.mkv\n#EXT-X-ENDLIST\n",
    "hls by path": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:{place}\n#EXT-X-ENDLIST\n",
    "session": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
    "dash": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><BaseURL>{place}</BaseURL>'
    "</Period></MPD>",
}


@pytest.mark.parametrize("ending", ["mp4", "mkv", "m3u8", "ffconcat", "sdp", "mpd"])
@pytest.mark.parametrize("kind", PLAYLISTS)
def test_a_list_of_other_files_is_no_video(kind, ending, tmp_path):
    secret = video(tmp_path / "secret.mkv")
    place = tmp_path / f"a.{ending}"
    place.write_text(PLAYLISTS[kind].format(place=secret))
    for read in (
        lambda: vision.read_video(str(place)),
        lambda: vision.read_video_timestamps(str(place)),
        lambda: vision.VideoDecoder(str(place)),
        lambda: vision.DecodeVideo()(np.frombuffer(place.read_bytes(), np.uint8)),
    ):
        with pytest.raises(ArgumentError, match="not a video that can be read"):
            read()
    assert len(vision.read_video(str(secret))[0]) == 3


def test_a_name_with_a_colon_is_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    video(tmp_path / "secret.mkv").rename(tmp_path / "concat:a.mkv")
    assert len(vision.read_video("concat:a.mkv")[0]) == 3


def test_a_video_takes_no_more_memory_than_a_sample_may(small, tmp_path):
    path = video(tmp_path / "a.mkv", 4, (400, 400))  # 480,000 bytes each
    data = np.frombuffer(path.read_bytes(), np.uint8)
    assert len(vision.read_video(str(path), 0, 0.15, "sec")[0]) == 2
    for read in (
        lambda: vision.read_video(str(path)),
        lambda: vision.DecodeVideo()(data),
        lambda: vision.VideoDecoder(str(path)).get_frames_at([0, 1, 2]),
    ):
        with pytest.raises(TooLarge, match="limit"):
            read()
    assert vision.VideoDecoder(str(path)).get_frames_at([2, 0]).shape == (2, 400, 400, 3)


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_video_is_an_error_of_ours(seed, tmp_path):
    whole = bytearray(video(tmp_path / "a.mkv").read_bytes())
    rng = np.random.default_rng(seed)
    for at in rng.integers(0, len(whole), 4).tolist():
        whole[at] = int(rng.integers(256))
    data = np.frombuffer(bytes(whole[: len(whole) if seed % 2 else int(rng.integers(len(whole)))] or b"x"), np.uint8)
    (tmp_path / "b.mkv").write_bytes(data.tobytes())
    for read in (
        lambda: vision.DecodeVideo()(data),
        lambda: vision.read_video(str(tmp_path / "b.mkv")),
        lambda: vision.VideoDecoder(str(tmp_path / "b.mkv")).get_frames_at([0]),
    ):
        try:
            read()
        except MyceliaError:
            continue


def test_a_file_in_memory_is_told_by_its_length():
    pytest.importorskip("av")
    with pytest.raises(ArgumentError, match="bytes: 5"):
        vision.DecodeVideo()(np.frombuffer(b"hello", np.uint8))
