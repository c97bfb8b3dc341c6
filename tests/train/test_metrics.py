"""Metrics say what MindSpore's say, and what scikit-learn's say where MindSpore has no answer."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import train
from mycelia.errors import ArgumentError

HERE = Path(__file__).parent / "recorded"


def loaded(name):
    """A module beside the recordings."""
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = loaded("metric_cases").CASES
ARRAYS = np.load(HERE / "metrics.npz")
ZERO_BY_ZERO = {"precision_recall_of_several_labels"}  # where nothing was said MindSpore divides by nothing: NaN


@pytest.mark.many("name", PROGRAMS)
def test_metrics_are_those_of_mindspore(name):
    recorded = [ARRAYS[key] for key in sorted(ARRAYS.files) if key.rpartition(".")[0] == name]
    got = PROGRAMS[name](ms)
    assert len(got) == len(recorded)
    for ours, theirs in zip(got, recorded, strict=True):
        if name in ZERO_BY_ZERO and np.isnan(theirs).all():
            assert np.isfinite(ours).all()
            continue
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)


def test_what_mindspore_cannot_tell_is_what_scikit_learn_says():
    known = np.load(HERE / "sklearn.npz")
    x, y = loaded("record_sklearn").scores(1, 40, 3)
    halves = (x[:20], y[:20]), (x[20:], y[20:])

    def told(metric, batches=halves, **options):
        for batch in batches:
            metric.update(*batch)
        return metric.eval(**options)

    false, true, _ = told(train.ROC(class_num=3))
    for c in range(3):
        np.testing.assert_allclose(false[c], known[f"fpr{c}"], rtol=1e-12)
        np.testing.assert_allclose(true[c], known[f"tpr{c}"], rtol=1e-12)
        np.testing.assert_allclose(train.auc(false[c], true[c]), known[f"auc{c}"], rtol=1e-12)
    np.testing.assert_allclose(told(train.Precision()), known["precision"], rtol=1e-12)
    np.testing.assert_allclose(told(train.Recall()), known["recall"], rtol=1e-12)
    np.testing.assert_allclose(told(train.Fbeta(2)), known["fbeta2"], rtol=1e-12)
    np.testing.assert_allclose(told(train.Accuracy()), known["accuracy"], rtol=1e-12)
    apart = [(a + np.arange(3) * 1e-6, b) for a, b in halves]
    np.testing.assert_allclose(told(train.TopKCategoricalAccuracy(2), apart), known["top2"], rtol=1e-12)
    np.testing.assert_allclose(told(train.ConfusionMatrix(3, "target")), known["confusion"], rtol=1e-12)
    np.testing.assert_allclose(np.log(told(train.Perplexity())), known["log_loss"], rtol=1e-12)
    one = [((a.argmax(1) == 1).astype(int)[:, None, None], (b == 1).astype(int)[:, None, None]) for a, b in halves]
    np.testing.assert_allclose(told(train.ConfusionMatrixMetric(True, "mcc"), one)[0], known["matthews"], rtol=1e-12)
    several = ((x[::-1] > 0.3).astype(int), (x > 0.3).astype(int))
    precision = told(train.Precision("multilabel"), [several], average=True)
    np.testing.assert_allclose(precision, known["several"], rtol=1e-12)
    np.testing.assert_allclose(
        told(train.CosineSimilarity(zero_diagonal=False), [(x[:5],)]), known["similar"], rtol=1e-12
    )


def test_distances_of_edges_are_those_of_scipy():
    ndimage = pytest.importorskip("scipy.ndimage")
    rng = np.random.default_rng(0)
    for shape in ((12,), (9, 11), (5, 6, 7)):
        a, b = rng.random((2, *shape)) > 0.4
        edges = [m ^ ndimage.binary_erosion(m) for m in (a, b)]
        for metric, ways in (
            ("euclidean", ndimage.distance_transform_edt(~edges[1])),
            ("taxicab", ndimage.distance_transform_cdt(~edges[1], "taxicab")),
            ("chessboard", ndimage.distance_transform_cdt(~edges[1], "chessboard")),
        ):
            ours = train.MeanSurfaceDistance(distance_metric=metric)
            ours.update(a, b, 1)
            assert ours.eval() == pytest.approx(ways[edges[0]].mean(), rel=1e-12)


def test_reductions_of_confusion_metrics_follow_numpy():
    x, y = np.random.default_rng(1).integers(0, 2, (2, 4, 3, 6))
    values = np.array([[(p & q).sum() / q.sum() for p, q in zip(a, b, strict=True)] for a, b in zip(x, y, strict=True)])
    for way, expected in (
        ("none", values),
        ("mean_batch", values.mean(0)),
        ("sum_batch", values.sum(0)),
        ("mean_channel", values.mean(1)),
        ("sum_channel", values.sum(1)),
    ):
        metric = train.ConfusionMatrixMetric(True, "recall", True, way)
        metric.update(x, y)
        np.testing.assert_allclose(metric.eval(), expected, rtol=1e-12)


def test_a_margin_for_each_axis_hides_that_much():
    net = ms.nn.SequentialCell(ms.nn.Flatten(), ms.nn.Dense(12, 1, weight_init="ones", bias_init="zeros"))
    metric = train.OcclusionSensitivity(margin=[1, 2])
    metric.update(net, np.ones((1, 3, 4), np.float32), 0)
    rows, columns = np.array([1, 2, 2]), np.array([2, 3, 4, 3])
    np.testing.assert_allclose(metric.eval(), np.outer(rows, columns), rtol=1e-6)


MISTAKES = {
    "there is no metric 'acuracy'": lambda: train.get_metric_fn("acuracy"),
    "Accuracy has seen no samples": lambda: train.Accuracy().eval(),
    "takes predictions, labels, and got 1 inputs": lambda: train.Accuracy().update(np.zeros((2, 2))),
    "must be a tensor, an array or a list, and is a str": lambda: train.Accuracy().update("a", "b"),
    "whole numbers below the 3 classes": lambda: train.Accuracy().update(np.zeros((2, 3)), np.array([0, 3])),
    "takes scores of every class and labels": lambda: train.Recall().update(np.zeros((2, 3)), np.zeros(3)),
    "eval_type is one of classification, multilabel": lambda: train.Accuracy("other"),
    "rows of 0 and 1": lambda: train.Accuracy("multilabel").update(np.full((2, 2), 0.5), np.ones((2, 2))),
    "k is a whole number from 1": lambda: train.TopKCategoricalAccuracy(0),
    "beta is a number above 0": lambda: train.Fbeta(-1),
    "of one shape": lambda: train.MSE().update(np.zeros(2), np.zeros(3)),
    "a loss is one number": lambda: train.Loss().update(np.zeros(2)),
    "classes are whole numbers from 0 to 1": lambda: train.ConfusionMatrix(2).update(np.array([2]), np.array([0])),
    "normalize is no_norm": lambda: train.ConfusionMatrix(2, "rows"),
    "did you mean specificity": lambda: train.ConfusionMatrixMetric(metric_name="specifity"),
    "decrease is one of": lambda: train.ConfusionMatrixMetric(decrease="max"),
    "need ROC": lambda: train.ROC().update(np.zeros((4, 2)), np.zeros(4)),
    "x neither rises nor falls": lambda: train.auc([0.0, 2.0, 1.0], [1.0, 1.0, 1.0]),
    "at least two points": lambda: train.auc([0.0], [1.0]),
    "n_gram is a whole number from 1 to 4": lambda: train.BleuScore(5),
    "a list of references": lambda: train.BleuScore().update([["a"]], []),
    "smooth is a number above 0": lambda: train.Dice(0.0),
    "distance_metric is one of": lambda: train.HausdorffDistance("city"),
    "percentile is a number from 0 to 100": lambda: train.HausdorffDistance(percentile=101.0),
    "in neither of the two pictures": lambda: train.HausdorffDistance().update(np.ones((2, 2)), np.ones((2, 2)), 7),
    "takes a network, a batch of one picture": lambda: train.OcclusionSensitivity().update(1, 2, 3),
    "indexes are a list": lambda: train.Accuracy().set_indexes((0, 1)),
    "labels are places among 2 classes": lambda: train.Perplexity().update(np.ones((1, 2)), np.array([2])),
}


@pytest.mark.many("message", MISTAKES)
def test_mistakes_are_told(message):
    with pytest.raises(ms.errors.MyceliaError, match=message):
        MISTAKES[message]()


def test_another_number_of_classes_is_told():
    metric = train.Precision()
    metric.update(np.eye(3), np.arange(3))
    with pytest.raises(ms.errors.ArgumentError, match="3 classes before, and now of 2"):
        metric.update(np.eye(2), np.arange(2))


@pytest.mark.parametrize("beta", [True, "2", None, 0, -1.0, float("nan")])
def test_beta_is_a_number_above_0(beta):
    with pytest.raises(ms.errors.ArgumentError, match="beta is a number above 0"):
        train.Fbeta(beta)


@pytest.mark.parametrize("box", [[2, 1, 0, 3], [0, 3, 3, 2], [0, 4, 0, 3], [0, 3, 0, 9], [5, -1, 0, 3], [0, 3]])
def test_a_box_outside_of_a_picture_is_told(box):
    metric = ms.train.OcclusionSensitivity(0.0, 1, 7, box)
    net, picture = ms.nn.Dense(4, 2), ms.Tensor(np.ones((1, 4, 4), np.float32))
    with pytest.raises(ArgumentError, match="b_box"):
        metric.update(net, picture, ms.Tensor([0]))


@pytest.mark.parametrize("box", [[1, 2, 0, 3], [-1, -1, -1, -1], [2, 2, 3, 3], None])
def test_the_falls_of_a_box_are_those_of_hiding_each_of_its_elements(box):
    class Total(ms.nn.Cell):
        def construct(self, x):
            return ms.ops.stack([x.sum((1, 2)), -x.sum((1, 2))], 1)

    picture = np.random.default_rng(0).random((1, 4, 4)).astype(np.float32)
    metric = ms.train.OcclusionSensitivity(0.0, 1, 3, box)
    metric.update(Total(), ms.Tensor(picture), ms.Tensor([0]))
    rows, columns = ((max(0, a), 3 if b < 0 else b) for a, b in ((box or [0, -1] * 2)[:2], (box or [0, -1] * 2)[2:]))
    want = [
        [picture[0, max(0, i - 1) : i + 1, max(0, j - 1) : j + 1].sum() for j in range(columns[0], columns[1] + 1)]
        for i in range(rows[0], rows[1] + 1)
    ]
    np.testing.assert_allclose(metric.falls, want, rtol=1e-4, atol=1e-5)
