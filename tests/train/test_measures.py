"""Metrics and files of numbers with each of their options, against plain Python and NumPy."""

import math
import struct

import numpy as np
import pytest

from mycelia import Parameter, Tensor, train
from mycelia.errors import ArgumentError, MyceliaError, ShapeError
from mycelia.train import protobuf
from mycelia.train.callback.base import InternalCallbackParam
from mycelia.train.summary import events
from tests.each import each


def refused(call, kind=MyceliaError):
    with pytest.raises(kind):
        call()


# ---------------------------------------------------------------------------------------- metrics


def test_areas_are_those_of_numpy():
    x, y = np.random.default_rng(0).random((2, 9))
    x[3] = x[5]
    order = sorted(range(9), key=lambda i: (x[i], y[i]))
    wanted = np.trapezoid(y[order], x[order])
    assert train.auc(x, y, reorder=True) == pytest.approx(wanted)
    assert train.auc(list(x[order]), tuple(y[order])) == pytest.approx(wanted)
    assert train.auc(x[order][:, None][::-1], y[order][:, None][::-1]) == pytest.approx(wanted)
    each(lambda x, y, kind: refused(lambda: train.auc(x, y), kind), [
        ("x is a tensor", (Tensor([0.0, 1.0]), [0.0, 1.0], ArgumentError)),
        ("x is a number", (3, [0.0, 1.0], ArgumentError)),
        ("y is a number", ([0.0, 1.0], 3, ArgumentError)), ("y is None", ([0.0, 1.0], None, ArgumentError)),
        ("lengths", ([0.0, 1.0], [0.0], ShapeError)), ("axes", (np.ones((2, 2)), np.ones(2), ShapeError)),
        ("a point", ([0.0], [0.0], ShapeError)),
    ])  # fmt: skip


def test_confusion_of_one_class_or_of_scores_from_a_threshold_on():
    alone = train.ConfusionMatrix(1)
    alone.update(np.zeros(3, int), np.zeros(3, int))
    assert alone.eval().tolist() == [[3.0]]
    each(lambda *given: refused(lambda: train.ConfusionMatrix(*given)), [(str(g), g) for g in (
        (0,), (-1,), (2.0,), (True,), (2, "rows"), (2, "no_norm", True), (2, "no_norm", "half"))])  # fmt: skip
    scores, labels = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.array([0, 1, 0, 1, 1])
    for threshold in (0, 0.3, 0.5, 0.6, 1):
        metric = train.ConfusionMatrix(2, "no_norm", threshold)
        metric.update(scores, labels)
        said = (scores >= threshold).astype(int)
        wanted = [[((labels == t) & (said == s)).sum() for s in (0, 1)] for t in (0, 1)]
        np.testing.assert_array_equal(metric.eval(), wanted)
        metric.eval()[:] = 7  # what is given out is nobody's but the caller's
        np.testing.assert_array_equal(metric.eval(), wanted)


def test_occlusion_at_the_borders_of_its_choices():
    assert train.OcclusionSensitivity(0.0, 1, 1) is not None
    each(
        lambda bad: refused(lambda: train.OcclusionSensitivity(0.0, bad)), [(str(b), (b,)) for b in (0, -1, True, 1.5)]
    )
    each(
        lambda bad: refused(lambda: train.OcclusionSensitivity(0.0, 1, bad)),
        [(str(b), (b,)) for b in (0, -1, "1", True, 1.5)],
    )


def test_measures_of_nothing_in_common():
    bleu = train.BleuScore()
    bleu.update([["a", "b"]], [[["c", "d"]]])
    assert bleu.eval() == 0.0
    here, nowhere = np.array([[1, 1, 0]]), np.array([[0, 0, 0]])
    for metric in (
        train.HausdorffDistance(), train.HausdorffDistance(directed=True), train.MeanSurfaceDistance(),
        train.MeanSurfaceDistance(symmetric=True), train.RootMeanSquareDistance(),
    ):  # fmt: skip
        metric.update(here, nowhere, 1)
        assert metric.eval() == math.inf
        metric.update(nowhere, here, 1)
        assert metric.eval() == math.inf


def test_metrics_of_ones_own_make_arrays_of_inputs():
    class Sum(train.Metric):
        def clear(self):
            self.total = 0.0

        @train.rearrange_inputs
        def update(self, *inputs):
            self.total += sum(self._convert_data(data).sum() * 10**i for i, data in enumerate(inputs))

        def eval(self):
            return self.total

    assert Sum()(Tensor([1.0, 2.0]), [3], np.float32(4)) == 3 + 30 + 400
    assert Sum().set_indexes([2, 0])([1], [2], [3]) == 3 + 10


# ---------------------------------------------------------------------------------------- files of numbers


@pytest.mark.many("value", [0.0, 1.5, -1e30, 3.4e38, 1e39, -1e39, math.inf, -math.inf, 2.0**-140, 0.1])
def test_a_number_of_four_bytes_is_the_nearest_one(value):
    with np.errstate(over="ignore"):
        wanted = np.float32(value)
    assert struct.unpack("<f", protobuf.single(2, value)[1:])[0] == wanted


def test_what_is_noted_is_what_it_was_when_it_was_noted(tmp_path):
    with train.SummaryRecord(str(tmp_path), num_process=1, max_file_size=10**6) as record:
        picture, many, one = (Parameter(np.full(s, 0.5, "f"), name="p") for s in ((2, 1, 4, 4), (3,), ()))
        for plugin, value in (("image", picture), ("tensor", many), ("histogram", many), ("scalar", one)):
            record.add_value(plugin, "a", value)
        before = {plugin: np.array(value) for plugin, _, value in record.noted}
        for value in (picture, many, one):
            value.set_data(Tensor(np.full(value.shape, 7.0, "f")))
        for plugin, _, value in record.noted:
            np.testing.assert_array_equal(value, before[plugin])
            assert value.base is None  # of a batch of pictures one is kept, not all
        assert before["image"].shape == (1, 4, 4)
        with pytest.warns(UserWarning, match="a/scalar is noted twice"):
            record.add_value("scalar", "a", Tensor(2.0))
        assert record.record(1)
    assert events.scalars(record.log_dir) == {"a": [(1, 2.0)]}


def test_records_at_their_borders(tmp_path):
    each(lambda given: refused(lambda: train.SummaryRecord(str(tmp_path), **given)), [(str(g), (g,)) for g in (
        {"num_process": 0}, {"num_process": True}, {"max_file_size": 0}, {"max_file_size": 1.5}, {"file_prefix": "a/b"},
        {"file_suffix": 3}, {"network": 3}, {"raise_exception": 1}, {"export_options": {"tensor_format": "csv"}},
    )])  # fmt: skip
    each(lambda given: refused(lambda: train.SummaryCollector(str(tmp_path), **given)), [(str(g), (g,)) for g in (
        {"collect_freq": 0}, {"num_process": 0}, {"collect_tensor_freq": 0}, {"max_file_size": 0},
        {"collect_tensor_freq": True}, {"keep_default_action": 1}, {"collect_specified_data": {"collect_graph": 1}},
        {"collect_specified_data": {"graph": True}}, {"collect_specified_data": [1]},
        {"collect_specified_data": {"histogram_regular": 3}}, {"custom_lineage_data": [1]},
    )])  # fmt: skip
    collector = train.SummaryCollector(str(tmp_path), 1, 1, collect_tensor_freq=1, max_file_size=1)
    assert (collector.collect_freq, collector.num_process, collector.tensor_freq) == (1, 1, 1)
    with train.SummaryRecord(str(tmp_path), max_file_size=1) as record:
        for step in range(3):
            record.add_value("scalar", "a", Tensor(1.0))
            assert record.record(step)


@pytest.mark.parametrize("strict", [False, True])
def test_a_record_that_cannot_be_written_is_told(tmp_path, strict, monkeypatch):
    record = train.SummaryRecord(str(tmp_path), raise_exception=strict)
    record.add_value("scalar", "a", Tensor(1.0))

    def full(_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(record, "_write", full)
    if strict:
        with pytest.raises(OSError, match="no space left"):
            record.record(1)
    else:
        with pytest.warns(UserWarning, match="a summary could not be written"):
            assert record.record(1) is False
    monkeypatch.undo()
    record.close()


def test_a_histogram_of_nothing_is_empty():
    empty = events.histogram("a", np.array([np.nan, np.inf]))
    assert empty == events.histogram("a", np.zeros(0))
    assert events.histogram("a", np.array([2.0, np.nan])) == events.histogram("a", np.array([2.0]))
    assert len(empty) < len(events.histogram("a", np.array([2.0])))


@pytest.mark.many(("every", "tensors", "total"), [(1, None, 8), (1, None, 100), (3, None, 100), (10, 7, 100)])
def test_tensors_are_collected_a_few_times(every, tensors, total, tmp_path):
    collector = train.SummaryCollector(str(tmp_path), every, collect_tensor_freq=tensors)
    steps = collector._tensor_steps(InternalCallbackParam(mode="train", batch_num=4, epoch_num=total // 4))
    often = [s for s in range(total + 1) if s % (tensors or every) == 0]
    if tensors is None and len(often) > 20:
        assert (len(steps), steps.start) == (21, 0)
        assert steps[-1] <= total
    else:
        assert list(steps) == often
