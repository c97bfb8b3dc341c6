"""Summaries are files of events that TensorBoard reads: its own checksums and messages, byte by byte."""

import struct
import zlib

import numpy as np
import pytest

import mycelia as ms
import mycelia.dataset as ds
from mycelia import Tensor, nn, ops, train
from mycelia.errors import MyceliaError
from mycelia.train.callback import summaries
from mycelia.train.callback.base import InternalCallbackParam
from mycelia.train.protobuf import fields
from mycelia.train.summary import events
from mycelia.train.summary.pictures import png

# by hand, from the definition of the messages:
# Event(wall_time=1.5, step=3, summary=Summary(value=[Value(tag="a", simple_value=2.0)]))
TOLD = bytes.fromhex("17000000000000000000000009000000000000f83f10032a0a0a080a01611500000040")


def test_checksums_are_those_of_the_standard():
    def plain(masked):
        turned = (masked - 0xA282EAD8) & 0xFFFFFFFF
        return (turned >> 17 | turned << 15) & 0xFFFFFFFF

    assert events._table() == events.TABLE  # which was made when the module was imported
    assert plain(events.checksum(b"123456789")) == 0xE3069283  # RFC 3720, B.4 and its like
    assert plain(events.checksum(bytes(32))) == 0x8A9136AA
    assert plain(events.checksum(bytes([0xFF] * 32))) == 0x62A8AB43
    assert plain(events.checksum(bytes(range(32)))) == 0x46DD794E


def test_an_event_has_the_fields_of_its_definition():
    message = events.event(1.5, 3, events.summary(events.scalar("a", 2.0)))
    assert message == TOLD[12:]
    record = events.record(message)
    assert record[:8] == struct.pack("<Q", len(message))
    assert record[12:-4] == message


def values(record):
    """Every value of a file: step, tag, and its other fields by number."""
    found = []
    for message in events.messages(record.log_dir):
        held = dict(fields(message))
        for _, value in fields(held[5]) if 5 in held else ():
            pair = dict(fields(value))
            found.append((held[2], bytes(pair.pop(1)).decode(), pair))
    return found


def test_all_kinds_of_values(tmp_path):
    weights = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    with train.SummaryRecord(str(tmp_path), network=nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())) as record:
        record.add_value("scalar", "loss", ms.Tensor([0.25]))
        record.add_value("histogram", "weights", ms.Tensor(weights))
        record.add_value("image", "pictures", ms.Tensor(np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2)))
        record.add_value("tensor", "numbers", ms.Tensor([[1.0, 2.0]]))
        record.add_value("text", "note", "it learns")
        record.add_value("custom_lineage_data", "chosen", {"rate": 0.1, "kind": "small", "deep": True})
        assert record.record(7)
    found = {tag: pair for step, tag, pair in values(record) if step == 7}
    assert found["loss"][2] == 0.25
    histogram = dict(fields(found["weights"][5]))
    assert histogram[3] == weights.size
    np.testing.assert_allclose(histogram[4], weights.sum(dtype=np.float64))
    np.testing.assert_allclose(histogram[5], np.square(weights, dtype=np.float64).sum())
    limits, counts = (np.frombuffer(histogram[n], np.float64) for n in (6, 7))
    inside = [((weights > a) & (weights <= b)).sum() for a, b in zip([-np.inf, *limits[:-1]], limits, strict=True)]
    assert counts.sum() == weights.size
    assert np.abs(np.array(inside) - counts).sum() <= 2  # on the edges
    picture = dict(fields(found["pictures"][4]))
    assert (picture[1], picture[2], picture[3]) == (2, 2, 3)
    tensor = dict(fields(found["numbers"][8]))
    assert np.frombuffer(tensor[4], np.float32).tolist() == [1.0, 2.0]
    assert b"it learns" in bytes(found["note"][8])
    assert {"_hparams_/experiment", "_hparams_/session_start_info"} <= set(found)
    graphs = [dict(fields(m)) for m in events.messages(record.log_dir)]
    nodes = [bytes(dict(fields(node))[1]) for g in graphs if 4 in g for n, node in fields(g[4]) if n == 1]
    assert b"0/weight" in nodes  # no box around all layers, which TensorBoard would fold


def test_pictures_are_png_files_that_others_read():
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    raw = png(pixels)
    at, parts = 8, {}
    while at < len(raw):
        size, kind = struct.unpack(">I", raw[at : at + 4])[0], raw[at + 4 : at + 8]
        parts[kind] = raw[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + parts[kind]) == struct.unpack(">I", raw[at + 8 + size : at + 12 + size])[0]
        at += 12 + size
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(5, 22)
    np.testing.assert_array_equal(rows[:, 1:].reshape(5, 7, 3), pixels)
    Image = pytest.importorskip("PIL.Image")
    import io

    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(raw))), pixels)


def test_networks_show_values_eagerly_and_compiled(tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.show, self.weigh = ops.ScalarSummary(), ops.TensorSummary()

        def construct(self, x):
            self.show("sum", x.sum())
            self.weigh("all", x)
            return x * 2

    for number, way in enumerate((lambda f: f, ms.jit)):
        with train.SummaryRecord(str(tmp_path / str(number))) as record:
            net = way(Net())
            assert net(ms.Tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
            record.record(1)
            net(ms.Tensor([5.0, 2.0]))
            record.set_mode("eval")
            record.record(2)
        assert [(step, tag) for step, tag, _ in values(record)] == [(1, "sum"), (1, "all")]
        assert events.scalars(record.log_dir) == {"sum": [(1, 3.0)]}


def test_files_are_followed_by_others_where_they_would_grow_too_large(tmp_path):
    with train.SummaryRecord(str(tmp_path), max_file_size=200, export_options={"tensor_format": "npy"}) as record:
        for step in range(6):
            record.add_value("scalar", "loss", ms.Tensor(float(step)))
            record.add_value("tensor", "a/b", ms.Tensor([float(step)]))
            record.record(step)
    files = sorted(tmp_path.glob("events.tfevents.*"))
    assert len(files) > 1
    found = sorted(pair for file in files for pair in events.scalars(file).get("loss", []))
    assert found == [(step, float(step)) for step in range(6)]
    assert np.load(tmp_path / "export/tensor/a_b_3.npy").tolist() == [3.0]


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 1, 4, 4)).astype(np.float32)
    return ds.NumpySlicesDataset({"x": x, "y": (x.sum((1, 2, 3)) > 0).astype(np.int32)}, shuffle=False).batch(4)


def test_a_training_is_collected(tmp_path, capsys):
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 2))
    model = train.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"accuracy"})
    history, losses = train.History(), []
    watch = train.LambdaCallback(on_train_step_end=lambda run: losses.append(run.original_args().net_outputs.item()))
    landscape = {"unit": "epoch", "intervals": [[1, 2, 3]]}
    collector = train.SummaryCollector(
        str(tmp_path), collect_freq=5, custom_lineage_data={"width": 16},
        collect_specified_data={"collect_landscape": landscape},
    )  # fmt: skip
    flops = train.FlopsUtilizationCollector(4, computility=10**9)
    model.fit(2, data(), data(), callbacks=[watch, collector, flops, history])
    file = next(tmp_path.glob("events.tfevents.*"))
    found = events.scalars(file)
    assert [step for step, _ in found["loss/auto"]] == [1, 5, 10, 15]
    np.testing.assert_allclose([v for _, v in found["loss/auto"]], [losses[s - 1] for s in (1, 5, 10, 15)], rtol=1e-6)
    np.testing.assert_allclose([v for _, v in found["eval/accuracy"]], history.history["accuracy"], rtol=1e-6)
    tags = {tag for _, tag, _ in values(collector.record)}
    assert {"1.weight/auto", "1.bias/auto", "input_data/auto", "_hparams_/session_start_info"} <= tags
    assert all(word in file.read_bytes() for word in (b"SequentialCell", b"CrossEntropyLoss", b"SGD"))
    told = [(step, tag, bytes(held[9])) for step, tag, held in values(collector.record) if 9 in held]
    assert [step for step, tag, _ in told if tag.startswith("eval_lineage")] == [8, 16]  # steps of the training
    (experiment,) = [about for _, tag, about in told if tag == "_hparams_/experiment"]
    assert b"loss/auto" in experiment
    assert b"eval/accuracy" in experiment
    assert any(4 in dict(fields(message)) for message in events.messages(file))
    assert (tmp_path / "ckpt_dir/train_metadata.json").exists()
    assert flops.flops == 2 * 2 * 4 * 16 * 2  # forward, and the gradient of the weight
    assert "Train per step time:" in capsys.readouterr().out


MISTAKES = {
    "is one number": lambda r: r.add_value("scalar", "a", ms.Tensor([1.0, 2.0])),
    "a scalar is a Tensor": lambda r: r.add_value("scalar", "a", 1.0),
    "plugin of SummaryRecord": lambda r: r.add_value("number", "a", ms.Tensor(1.0)),
    "examples, channels, height, width": lambda r: r.add_value("image", "a", ms.Tensor([1.0])),
    "the name of a value": lambda r: r.add_value("scalar", "", ms.Tensor(1.0)),
    "mode of SummaryRecord": lambda r: r.set_mode("test"),
    "step of SummaryRecord": lambda r: r.record(1.5),
    "export_options is": lambda r: train.SummaryRecord(str(r.folder), export_options={"a": 1}),
    "collect_freq of SummaryCollector": lambda r: train.SummaryCollector(str(r.folder), collect_freq=0),
    "no regular expression": lambda r: train.SummaryCollector("x", collect_specified_data={"histogram_regular": "("}),
    "is closed": lambda r: (r.close(), r.record(1)),
}


@pytest.mark.many("message", MISTAKES)
def test_mistakes_are_told(message, tmp_path):
    with train.SummaryRecord(str(tmp_path)) as record, pytest.raises(MyceliaError, match=message):
        MISTAKES[message](record)


def test_damaged_files_are_not_read(tmp_path):
    with train.SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "loss", ms.Tensor(1.0))
        record.record(1)
    raw = bytearray(record.path.read_bytes())
    for damage in (slice(-3, None), slice(20, 21)):
        broken = bytearray(raw)
        if damage.stop is None:
            del broken[damage]
        else:
            broken[damage.start] ^= 1
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(MyceliaError, match=r"ends inside|damaged"):
            list(events.messages(tmp_path / "broken"))


def test_a_disk_that_is_full_when_a_file_is_closed_ends_nothing(tmp_path):
    class Full:
        def flush(self):
            raise OSError(28, "No space left on device")

        close = flush

    for strict in (False, True):
        record = train.SummaryRecord(str(tmp_path), raise_exception=strict)
        record.file.close()
        record.file = Full()
        for work in (record.flush, record.close):
            with pytest.raises(OSError, match="No space") if strict else pytest.warns(UserWarning, match="No space"):
                work()


@pytest.mark.many(
    ("out", "loss"),
    [
        (Tensor([1.0, 2.0]), 1.5), ((Tensor(2.0), Tensor(9.0)), 2.0), ([Tensor([4.0, 6.0]), 7], 5.0), ((), None),
        (None, None), (3.0, None), ((3.0, Tensor(1.0)), None),
    ],
)  # fmt: skip
def test_the_loss_is_the_mean_of_the_first_thing_that_a_step_gave(out, loss):
    assert summaries._loss(InternalCallbackParam({"net_outputs": out})) == loss


def test_hyperparameters_are_strings_and_numbers(tmp_path):
    given = {"rate": 0.5, "width": 3, "name": "small", "large": True}
    assert train.SummaryCollector(str(tmp_path), custom_lineage_data=given) is not None
    for wrong in ({"a": None}, {"a": [1]}, {1: 2}, {"a": Tensor(1.0)}, [("a", 1)]):
        with pytest.raises(MyceliaError, match="a dictionary of strings and numbers"):
            train.SummaryCollector(str(tmp_path), custom_lineage_data=wrong)
