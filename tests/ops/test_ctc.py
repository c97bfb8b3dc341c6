"""Labels without places, beside a sum over every way to say them; and boxes that overlap, beside a loop."""

from itertools import groupby, product

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import MyceliaError
from tests.ops.judged import check_gradient

RNG = np.random.default_rng(0)
TIME, BATCH, CLASSES = 4, 3, 3
SCORES = RNG.normal(size=(TIME, BATCH, CLASSES))
LOGS = SCORES - np.log(np.exp(SCORES).sum(-1, keepdims=True))
LABELS, COUNTS, LENGTHS = np.array([[1, 2], [2, 2], [1, 0]]), np.array([2, 2, 1]), np.array([4, 3, 4])


def said(path, blank, merged=True):
    return [label for label in ([c for c, _ in groupby(path)] if merged else path) if label != blank]


def every_way(logs, labels, counts, lengths, blank=0, collapsed=False, merged=True):
    """The losses by the definition: all sequences of classes that say the labels, with their probabilities added up."""
    losses = []
    for n in range(logs.shape[1]):
        wanted = labels[n][: counts[n]].tolist()
        wanted = [label for label, _ in groupby(wanted)] if collapsed else wanted
        ways = [w for w in product(range(logs.shape[2]), repeat=int(lengths[n])) if said(w, blank, merged) == wanted]
        total = sum(np.exp(sum(logs[t, n, c] for t, c in enumerate(w))) for w in ways)
        losses.append(-np.log(total) if ways else np.inf)
    return np.array(losses)


WANTED = every_way(LOGS, LABELS, COUNTS, LENGTHS)
ABOUT = (Tensor(LABELS), Tensor(LENGTHS), Tensor(COUNTS))


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_the_loss_is_that_of_every_way_to_say_the_labels(run):
    for reduction, want in (("none", WANTED), ("sum", WANTED.sum()), ("mean", (WANTED / COUNTS).mean())):
        found = run(lambda x, r=reduction: ops.ctc_loss(x, *ABOUT, reduction=r)[0])(Tensor(LOGS))
        np.testing.assert_allclose(found.asnumpy(), want, rtol=1e-9)
    last = run(lambda x: ops.ctc_loss(x, Tensor(LABELS - 1), *ABOUT[1:], blank=2, reduction="none")[0])(Tensor(LOGS))
    shifted = every_way(LOGS, LABELS - 1, COUNTS, LENGTHS, 2)
    np.testing.assert_allclose(last.asnumpy(), shifted, rtol=1e-9)


def test_gradients_of_the_loss():
    check_gradient((lambda x: ops.ctc_loss(ops.log_softmax(x, -1), *ABOUT)[0], None, SCORES))
    compiled = ms.jit(ms.grad(lambda x: ops.ctc_loss(x, *ABOUT)[0]))(Tensor(LOGS))
    np.testing.assert_allclose(
        compiled.asnumpy(), ms.grad(lambda x: ops.ctc_loss(x, *ABOUT)[0])(Tensor(LOGS)).asnumpy(), atol=1e-12
    )


def test_labels_one_after_the_other_and_one_example_alone():
    flat = Tensor(np.concatenate([row[:n] for row, n in zip(LABELS, COUNTS, strict=True)]))
    found, alphas = ops.ctc_loss(Tensor(LOGS), flat, LENGTHS.tolist(), COUNTS.tolist(), reduction="none")
    np.testing.assert_allclose(found.asnumpy(), WANTED, rtol=1e-9)
    assert alphas.shape == (BATCH, TIME, 2 * 5 + 1)
    assert np.isneginf(alphas.asnumpy()[1, 3]).all()  # beyond its length
    assert np.isneginf(alphas.asnumpy()[2, :, 3:]).all()  # and beyond its labels
    after = alphas.asnumpy()[range(BATCH), LENGTHS - 1]  # the last label, and the blank behind it
    ends = np.logaddexp(after[range(BATCH), 2 * COUNTS], after[range(BATCH), 2 * COUNTS - 1])
    np.testing.assert_allclose(-ends, WANTED, rtol=1e-9)
    one = ops.ctc_loss(Tensor(LOGS[:, 0]), Tensor([1, 2]), Tensor([4]), Tensor([2]), reduction="none")[0]
    np.testing.assert_allclose(one.asnumpy(), WANTED[:1], rtol=1e-9)
    nothing = ops.ctc_loss(Tensor(LOGS[:, :1]), Tensor([[1]]), Tensor([4]), Tensor([0]), reduction="sum")[0]
    np.testing.assert_allclose(nothing.item(), -LOGS[:, 0, 0].sum(), rtol=1e-9)


def test_labels_that_do_not_fit_have_an_infinite_loss_or_none():
    about = (Tensor([[1, 1, 1]]), Tensor([4]), Tensor([3]))  # a blank is needed between equal ones
    x = Tensor(LOGS[:, :1])
    assert ops.ctc_loss(x, *about, reduction="none")[0].item() == np.inf
    assert ops.ctc_loss(x, *about, zero_infinity=True)[0].item() == 0
    gradient = ms.grad(lambda x: ops.ctc_loss(x, *about, zero_infinity=True)[0])(x).asnumpy()
    np.testing.assert_array_equal(gradient, 0.0)


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("collapsed", [False, True])
def test_the_operation_of_scores_gives_the_loss_and_its_gradient(collapsed, merged):
    """Its blank is the last class, and labels are given by places."""
    kind = {"collapsed": collapsed, "merged": merged}
    places = np.array([(n, k) for n, count in enumerate(COUNTS) for k in range(count)])
    labels = LABELS - 1
    values = np.array([labels[n, k] for n, k in places])
    given = (Tensor(SCORES), Tensor(places), Tensor(values, ms.int32), Tensor(LENGTHS))
    found, gradient = ops.CTCLoss(collapsed, merged)(*given)
    np.testing.assert_allclose(found.asnumpy(), every_way(LOGS, labels, COUNTS, LENGTHS, 2, **kind), rtol=1e-9)
    for eager, compiled in zip((found, gradient), ms.jit(ops.CTCLoss(collapsed, merged))(*given), strict=True):
        np.testing.assert_allclose(compiled.asnumpy(), eager.asnumpy(), atol=1e-12)
    direction = RNG.normal(size=SCORES.shape)

    def total(at):
        logs = at - np.log(np.exp(at).sum(-1, keepdims=True))
        return every_way(logs, labels, COUNTS, LENGTHS, 2, **kind).sum()

    slope = (total(SCORES + 1e-6 * direction) - total(SCORES - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose((gradient.asnumpy() * direction).sum(), slope, rtol=1e-6)


def test_the_blank_class_among_the_labels_is_one_more_label():
    """As PyTorch and MindSpore's ctc_loss count; MindSpore's CTCLoss gives numbers that no probability has."""
    half = Tensor(np.log([[[0.5, 0.5]]] * 3))
    found = ops.ctc_loss(half, Tensor([[1, 0]]), Tensor([3]), Tensor([2]), reduction="none")[0]
    np.testing.assert_allclose(found.item(), -np.log(5 / 8), rtol=1e-6)  # recorded with PyTorch 2.13
    last = ops.CTCLoss()(half, Tensor([[0, 0]]), Tensor([1], ms.int32), Tensor([2], ms.int32))[0]
    np.testing.assert_allclose(last.item(), np.log(4 / 3), rtol=1e-6)


@pytest.mark.parametrize("merged", [True, False])
def test_the_simplest_reading_takes_the_likeliest_class_of_each_step(merged):
    indices, values, extent, total = ops.ctc_greedy_decoder(Tensor(SCORES), Tensor(LENGTHS), merged)
    want = []
    for n, length in enumerate(LENGTHS):
        best = SCORES[:length, n].argmax(-1).tolist()
        want.append(said(best, 2) if merged else [c for c in best if c != 2])
    assert values.tolist() == [c for row in want for c in row]
    assert indices.tolist() == [[n, k] for n, row in enumerate(want) for k in range(len(row))]
    assert extent.tolist() == [BATCH, max(map(len, want))]
    likely = [SCORES[:length, n].max(-1).sum() for n, length in enumerate(LENGTHS)]
    np.testing.assert_allclose(total.asnumpy()[:, 0], np.negative(likely))


def test_mistakes_are_told():
    for call, words in (
        (lambda: ops.ctc_loss(Tensor([1.0]), *ABOUT), "takes \\(time, batch, classes\\)"),
        (lambda: ops.ctc_loss(Tensor(LOGS), *ABOUT, blank=3), "blank is one of 3 classes"),
        (lambda: ops.ctc_loss(Tensor(LOGS), Tensor(LOGS), *ABOUT[1:]), "whole numbers as targets"),
        (lambda: ops.ctc_loss(Tensor(LOGS), ABOUT[0], Tensor([1]), ABOUT[2]), "for each of 3 examples"),
        (lambda: ops.ctc_loss(Tensor(LOGS), *ABOUT, reduction="max"), "reduction of ctc_loss"),
        (lambda: ops.ctc_loss(Tensor(LOGS), ABOUT[0], Tensor([4, 3, 5]), ABOUT[2]), "has 0 to 4 steps"),
        (lambda: ms.jit(ops.ctc_loss)(Tensor(LOGS), ABOUT[0], Tensor([4, -3, 4]), ABOUT[2]), "has 0 to 4 steps"),
        (lambda: ops.ctc_loss(Tensor(LOGS), *ABOUT[:2], Tensor([2, -1, 1])), "has 0 or more labels"),
        (lambda: ops.ctc_loss(Tensor(LOGS), *ABOUT[:2], Tensor([2, 3, 1])), "is given 2 labels"),
        (lambda: ops.ctc_loss(Tensor(LOGS), Tensor([1, 2, 1, 1]), *ABOUT[1:]), "is given 4 labels"),
        (lambda: ops.CTCLoss()(Tensor(SCORES[0]), *[Tensor([1])] * 3), "takes \\(time, batch, classes\\)"),
        (lambda: ops.NMSWithMask()(Tensor([[1.0]])), "four corners and a score"),
    ):
        with pytest.raises(MyceliaError, match=words):
            call()


def overlap(a, b):
    wide, high = (max(0.0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1))
    both = wide * high
    return both / sum((x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)) if both == 0 else both / (
        sum((x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)) - both
    )  # fmt: skip


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("limit", [0.1, 0.5])
def test_boxes_that_overlap_a_better_one_are_left_out(run, limit):
    corner, size = RNG.uniform(0, 20, size=(12, 2)), RNG.uniform(3, 12, size=(12, 2))
    boxes = np.hstack([corner, corner + size, RNG.permutation(12)[:, None] / 12]).astype(np.float32)
    ordered, numbers, kept = run(lambda x: ops.NMSWithMask(limit)(x))(Tensor(boxes))
    best = boxes[np.argsort(-boxes[:, 4])]
    want = []
    for i, box in enumerate(best):
        want.append(all(not want[j] or overlap(box, best[j]) <= limit for j in range(i)))
    np.testing.assert_array_equal(ordered.asnumpy(), best)
    assert (numbers.tolist(), kept.tolist()) == (list(range(12)), want)
