"""Calls of metrics: each takes the framework, `ms.train` and all, and gives numbers or arrays."""

import numpy as np

CASES = {}


def case(fn):
    """Note a program under its name."""
    CASES[fn.__name__] = fn
    return fn


def draws(seed=0):
    return np.random.default_rng(seed)


def scores(seed=0, count=12, classes=4):
    """Predictions that add up to one, and labels."""
    rng = draws(seed)
    x = rng.random((count, classes)).astype(np.float32)
    return x / x.sum(1, keepdims=True), rng.integers(0, classes, count).astype(np.int32)


def hot(labels, classes=4):
    return np.eye(classes, dtype=np.float32)[labels]


def told(metric, *batches, ask=lambda m: m.eval()):
    """What a metric says after some batches, and again after it was cleared and told the last of them."""
    metric.clear()
    for batch in batches:
        metric.update(*batch)
    first = ask(metric)
    metric.clear()
    metric.update(*batches[-1])
    return flat(first) + flat(ask(metric))


def flat(value):
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [np.asarray(value, np.float64)]


@case
def accuracy_of_classes(ms):
    x, y = scores(1)
    u, v = scores(2)
    m = ms.train.Accuracy()
    return told(m, (ms.Tensor(x), ms.Tensor(y)), (u, v)) + told(m, (x, hot(y)), (u.tolist(), v.tolist()))


@case
def accuracy_of_several_labels(ms):
    x, y = draws(3).integers(0, 2, (2, 9, 3)).astype(np.float32)
    y[:5] = x[:5]
    return told(ms.train.Accuracy("multilabel"), (x, y), (x[:4], y[:4]))


@case
def precision_recall_f(ms):
    x, y = scores(4, 20, 3)
    u, v = scores(5, 20, 3)
    got = []
    for m in (ms.train.Precision(), ms.train.Recall(), ms.train.F1(), ms.train.Fbeta(2), ms.train.Fbeta(0.5)):
        got += told(m, (ms.Tensor(x), ms.Tensor(y)), (u, hot(v, 3)))
        got += told(m, (x, y), (u, v), ask=lambda m: m.eval(True))
    return got


@case
def precision_recall_of_several_labels(ms):
    x, y = draws(6).integers(0, 2, (2, 12, 4)).astype(np.float32)
    got = []
    for m in (ms.train.Precision("multilabel"), ms.train.Recall("multilabel")):
        got += told(m, (x, y), (y, x)) + told(m, (x, y), ask=lambda m: m.eval(True))
    return got


@case
def precision_of_a_class_that_is_never_predicted(ms):
    x, y = np.array([[0.9, 0.1, 0.0]] * 4, np.float32), np.array([0, 1, 2, 0])
    return told(ms.train.Precision(), (x, y)) + told(ms.train.Recall(), (x, y)) + told(ms.train.F1(), (x, y))


@case
def top_k(ms):
    x, y = scores(7, 30, 8)
    got = []
    for m in (
        *map(ms.train.TopKCategoricalAccuracy, (1, 3, 8)),
        ms.train.Top1CategoricalAccuracy(),
        ms.train.Top5CategoricalAccuracy(),
    ):
        got += told(m, (x, y), (ms.Tensor(x[::-1].copy()), hot(y[::-1], 8)))
    return got


@case
def errors(ms):
    rng = draws(8)
    x, y = rng.normal(size=(2, 5, 3)).astype(np.float32)
    got = []
    for m in (ms.train.MAE(), ms.train.MSE()):
        got += told(m, (x, y), (ms.Tensor(y[:2]), ms.Tensor(x[:2]))) + told(m, (x[:, 0], y[:, 0]))
    return got


@case
def loss(ms):
    return told(
        ms.train.Loss(), (ms.Tensor(0.5),), (ms.Tensor(np.array([2.0], np.float32)),), (np.array(1.25, np.float32),)
    )


@case
def confusion_matrices(ms):
    x, y = scores(9, 25, 4)
    got = []
    for norm in ("no_norm", "target", "prediction", "all"):
        m = ms.train.ConfusionMatrix(4, norm)
        got += told(m, (x, y), (x.argmax(1), y))
    p, q = draws(10).random(20).astype(np.float32), draws(11).integers(0, 2, 20)
    return got + told(ms.train.ConfusionMatrix(2, threshold=0.3), (p, q))


NAMES = (
    "sensitivity", "specificity", "precision", "negative predictive value", "miss rate", "fall out",
    "false discovery rate", "false omission rate", "prevalence threshold", "threat score", "accuracy",
    "balanced accuracy", "f1 score", "matthews correlation coefficient", "fowlkes mallows index", "informedness",
    "markedness",
)  # fmt: skip


@case
def confusion_matrix_metrics(ms):
    rng = draws(12)
    x, y = rng.integers(0, 2, (2, 4, 3, 6)).astype(np.float32)
    got = []
    for name in NAMES:
        got += told(ms.train.ConfusionMatrixMetric(True, name, False, "mean"), (x, y), (y, x))
        got += told(ms.train.ConfusionMatrixMetric(False, name, True, "mean"), (x, y))
    return got


@case
def confusion_matrix_metrics_reduced(ms):
    rng = draws(13)
    x, y = rng.integers(0, 2, (2, 4, 3, 6)).astype(np.float32)
    got = []
    for way in ("mean", "sum"):  # with the others MindSpore fails
        got += told(ms.train.ConfusionMatrixMetric(True, "tpr", True, way), (x, y), (y, x))
        got += told(ms.train.ConfusionMatrixMetric(True, "ppv", False, way), (x, y))
    return got


@case
def roc(ms):
    rng = draws(14)
    x, y = rng.random(15).astype(np.float32).round(1), rng.integers(0, 2, 15)
    return told(ms.train.ROC(), (x, y)) + told(ms.train.ROC(pos_label=0), (x, y))


@case
def areas(ms):
    x, y = np.linspace(0, 1, 6), draws(16).random(6)
    swapped = draws(17).permutation(6)
    return [
        np.float64(a)
        for a in (
            ms.train.auc(x, y),
            ms.train.auc(x[::-1].copy(), y[::-1].copy()),
            ms.train.auc(x[swapped], y[swapped], reorder=True),
        )
    ]


@case
def bleu(ms):
    texts = ["the cat sat on the mat today", "a b c d e f", "x y z"]
    known = [["the cat is on the mat", "there is a cat on the mat today"], ["a b c d e g h"], ["x y z w", "x y"]]
    said, meant = [t.split() for t in texts], [[t.split() for t in k] for k in known]
    got = []
    for n in (1, 2, 3, 4):
        for smooth in (False, True):
            got += told(ms.train.BleuScore(n, smooth), (said[:2], meant[:2]), (said, meant))
    return got + told(ms.train.BleuScore(), (said[2:], meant[2:]))


@case
def dice(ms):
    x = draws(18).random((3, 4)).astype(np.float64)
    y = draws(19).integers(0, 2, (3, 4))
    return told(ms.train.Dice(), (x, y), (x[:1], y[:1])) + told(ms.train.Dice(0.5), ((x > 0.5).astype(float), y))


@case
def cosine_similarities(ms):
    x = draws(20).normal(size=(4, 5))
    got = []
    for similarity in ("cosine", "dot"):
        for reduction in ("none", "sum", "mean"):
            for zero in (True, False):
                got += told(ms.train.CosineSimilarity(similarity, reduction, zero), (x,))
    return got


def pictures():
    rng = draws(21)
    x, y = rng.integers(0, 3, (2, 7, 8))
    a, b = np.zeros((2, 9, 9), int)
    a[2:6, 3:7], b[3:8, 2:6] = 1, 1
    return (x, y, 1), (a, b, 1)


@case
def hausdorff(ms):
    got = []
    for metric in ("euclidean", "chessboard", "taxicab"):
        for percentile, directed, crop in ((None, False, True), (80.0, True, False), (30.0, False, True)):
            for given in pictures():
                got += told(ms.train.HausdorffDistance(metric, percentile, directed, crop), given)
    return got


@case
def surfaces(ms):
    got = []
    for metric in ("euclidean", "chessboard", "taxicab"):
        for given in pictures():
            for symmetric in (False, True):
                got += told(ms.train.MeanSurfaceDistance(symmetric, metric), given)
            got += told(ms.train.RootMeanSquareDistance(True, metric), given)  # else MindSpore takes no root
    return got


@case
def perplexity(ms):
    x, y = scores(22, 10, 5)
    got = told(ms.train.Perplexity(), (x, y), (ms.Tensor(x[:3]), ms.Tensor(y[:3])))
    return got + told(ms.train.Perplexity(ignore_label=int(y[0])), (x, y))


@case
def occlusion(ms):
    w = draws(23).normal(size=(2, 4)).astype(np.float32)
    net = ms.nn.Dense(4, 2, weight_init=ms.Tensor(w), bias_init="zeros")
    x, label = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), np.array(1, np.int32)
    got = told(ms.train.OcclusionSensitivity(), (net, x, label))
    return got + told(ms.train.OcclusionSensitivity(0.5, 1, 3), (net, x, label))


@case
def occlusion_of_a_picture(ms):
    w = draws(24).normal(size=(3, 2 * 4 * 5)).astype(np.float32)
    net = ms.nn.SequentialCell(ms.nn.Flatten(), ms.nn.Dense(40, 3, weight_init=ms.Tensor(w), bias_init="zeros"))
    x, label = draws(25).normal(size=(1, 2, 4, 5)).astype(np.float32), np.array(2, np.int32)
    got = told(ms.train.OcclusionSensitivity(0.0, 1, 7), (net, x, label))
    return got + told(ms.train.OcclusionSensitivity(0.0, 1, 7, [0, 1, 1, 3, 0, 4]), (net, x, label))


@case
def indexes(ms):
    x, y = scores(26)
    return told(ms.train.Accuracy().set_indexes([2, 0]), (ms.Tensor(y), ms.Tensor(x[::-1].copy()), ms.Tensor(x)))
