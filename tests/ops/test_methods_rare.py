"""Methods of tensors and operations that few programs need, beside NumPy."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops
from mycelia.errors import MyceliaError
from mycelia.ops import primitive_more
from tests.ops.judged import check_gradient, check_values

RNG = np.random.default_rng(0)
A, V = RNG.normal(size=(3, 4)), RNG.normal(size=5)
TALL = RNG.normal(size=(7, 3))
AT = np.array([0, 2])
IDS = np.array([0, 0, 2])


def changed(x, change):
    x = x.copy()
    change(x)
    return x


def segments(of, x, empty=0.0):
    return np.stack([of(x[k == IDS], 0) if (k == IDS).any() else np.full(x.shape[1:], empty) for k in range(3)])


CASES = {
    "resize up": (lambda x: x.resize(2, 8), lambda x: np.resize(np.r_[x.ravel(), np.zeros(4)], (2, 8)), A),
    "resize down": (lambda x: x.resize((5,)), lambda x: x.ravel()[:5], A),
    "select part": (lambda x: x.select(-1, 2), lambda x: x[:, 2], A),
    "select named": (lambda x: x.select(dim=0, index=-1), lambda x: x[-1], A),
    "select where": (lambda x: x.select(x > 0, -x), np.abs, A),
    "select number": (lambda x: x.select(x > 0, 0.5), lambda x: np.where(x > 0, x, 0.5), A),
    "sum_to_size": (lambda x: x.sum_to_size((3, 1)), lambda x: x.sum(1, keepdims=True), A),
    "sum_to_size less": (lambda x: x.sum_to_size(4), lambda x: x.sum(0), A),
    "kthvalue": (
        lambda x: x.kthvalue(2, 0), lambda x: (np.sort(x, 0)[1], np.argsort(x, 0)[1]), A,
    ),
    "fill_diagonal": (lambda x: x.fill_diagonal(9.0), lambda x: changed(x, lambda y: np.fill_diagonal(y, 9.0)), A),
    "fill_diagonal tall": (
        lambda x: x.fill_diagonal(9.0, True), lambda x: changed(x, lambda y: np.fill_diagonal(y, 9.0, True)), TALL,
    ),
    "index_put": (
        lambda x, v: x.index_put((Tensor(AT), Tensor([1, -1])), v[:2]),
        lambda x, v: changed(x, lambda y: y.__setitem__((AT, [1, -1]), v[:2])), A, V,
    ),
    "index_put added": (
        lambda x, v: x.index_put([Tensor([1, 1])], v[:4], True),
        lambda x, v: changed(x, lambda y: np.add.at(y, [1, 1], v[:4])), A, V,
    ),
    "itemset": (lambda x: x.itemset(5, 2.0), lambda x: changed(x, lambda y: y.__setitem__((1, 1), 2.0)), A),
    "itemset at": (lambda x: x.itemset(1, 2, 2.0), lambda x: changed(x, lambda y: y.__setitem__((1, 2), 2.0)), A),
    "scatter_add": (
        lambda x, v: x.scatter_add(0, Tensor([0, 0]), v[:2]),
        lambda x, v: changed(x, lambda y: np.add.at(y, [0, 0], v[:2])), V, RNG.normal(size=5),
    ),
    "scatter_div": (
        lambda x: x.scatter_div(Tensor([[0], [2]]), Tensor(np.full((2, 4), 2.0))),
        lambda x: changed(x, lambda y: y.__setitem__(AT, y[AT] / 2)), A,
    ),
    "addbmm": (lambda x: ops.addbmm(x[0, 0, 0], x, x.swapaxes(-1, -2), beta=2, alpha=3),
               lambda x: 2 * x[0, 0, 0] + 3 * sum(y @ y.T for y in x), RNG.normal(size=(2, 3, 4))),
    "inplace_update": (
        lambda x, v: x.inplace_update(v[:4].reshape(1, 4), (1,)),
        lambda x, v: changed(x, lambda y: y.__setitem__(1, v[:4])), A, V,
    ),
    "mH": (lambda x: x.mH, lambda x: x.T, A), "H": (lambda x: x.H, lambda x: x.T, A),
    "soft_shrink": (lambda x: x.soft_shrink(0.3), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.3, 0), A),
    "SegmentSum": (lambda x: ops.SegmentSum()(x, Tensor(IDS)), lambda x: segments(np.sum, x), A),
    "SegmentMean": (lambda x: ops.SegmentMean()(x, Tensor(IDS)), lambda x: segments(np.mean, x), A),
    "SegmentMax": (lambda x: ops.SegmentMax()(x, Tensor(IDS)), lambda x: segments(np.max, x), A),
    "SegmentMin": (lambda x: ops.SegmentMin()(x, Tensor(IDS)), lambda x: segments(np.min, x), A),
    "SegmentProd": (lambda x: ops.SegmentProd()(x, Tensor(IDS)), lambda x: segments(np.prod, x), A),
    "EuclideanNorm": (lambda x: ops.EuclideanNorm()(x, Tensor([1])), lambda x: np.linalg.norm(x, axis=1), A),
    "NthElement": (lambda x: ops.NthElement(True)(x, 1), lambda x: np.sort(x, -1)[:, -2], A),
    "Padding": (lambda x: ops.Padding(3)(x[:, :1]), lambda x: np.pad(x[:, :1], ((0, 0), (0, 2))), A),
    "SplitV": (lambda x: ops.SplitV([1, -1], 1, 2)(x), lambda x: (x[:, :1], x[:, 1:]), A),
    "Roll": (lambda x: ops.Roll(1, 0)(x), lambda x: np.roll(x, 1, 0), A),
    "Unpack": (lambda x: ops.Pack(1)(ops.Unpack()(x)), np.transpose, A),
    "DiagPart": (lambda x: ops.DiagPart()(x[:, :3]), lambda x: np.diagonal(x[:, :3]), A),
    "pows": (lambda x: ops.pows(x, 3), lambda x: x**3, A),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    check_values(CASES[name], lambda f: f)
    check_gradient(CASES[name])


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("Segment")])
def test_compiled_values(name):
    check_values(CASES[name], ms.jit)


IN_PLACE = {
    "sigmoid_": ((), lambda x: 1 / (1 + np.exp(-x))),
    "tanh_": ((), np.tanh),
    "masked_fill_": ((Tensor(A > 0), 2.0), lambda x: np.where(x > 0, 2.0, x)),
    "fill_diagonal_": ((9.0,), CASES["fill_diagonal"][1]),
    "index_add_": ((0, Tensor(AT), Tensor(A[:2])), lambda x: changed(x, lambda y: np.add.at(y, AT, A[:2]))),
    "index_copy_": ((0, Tensor(AT), Tensor(A[:2])), lambda x: changed(x, lambda y: y.__setitem__(AT, A[:2]))),
    "index_fill_": ((0, Tensor(AT, ms.int32), 2.0), lambda x: changed(x, lambda y: y.__setitem__(AT, 2.0))),
    "put_": ((Tensor([1, -1]), Tensor([7.0, 8.0])), lambda x: changed(x, lambda y: np.put(y, [1, -1], [7.0, 8.0]))),
    "scatter_": (
        (1, Tensor([[0], [1], [2]]), Tensor(A[:, :1])),
        lambda x: changed(x, lambda y: np.put_along_axis(y, np.array([[0], [1], [2]]), A[:, :1], 1)),
    ),
    "index_put_": (((Tensor(AT),), Tensor([1.0])), lambda x: changed(x, lambda y: y.__setitem__(AT, 1.0))),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_done_in_place_stays_there(name):
    arguments, oracle = IN_PLACE[name]
    w = Parameter(A, name="w")
    assert getattr(w, name)(*arguments) is w
    np.testing.assert_allclose(w.asnumpy(), oracle(A), atol=1e-9)


def test_random_numbers_fill_a_tensor_in_its_shape_and_type():
    ms.set_seed(1)
    x = Tensor(np.zeros((50, 40)), ms.float32)
    drawn = x.uniform(2.0, 3.0).asnumpy()
    assert drawn.min() >= 2
    assert drawn.max() <= 3
    assert x.asnumpy().max() == 0
    assert abs(x.normal_(5.0, 0.1).asnumpy().mean() - 5) < 0.05
    assert abs(x.exponential_(2.0).asnumpy().mean() - 0.5) < 0.1
    assert set(np.unique(x.bernoulli_(0.5).asnumpy())) == {0.0, 1.0}
    assert x.uniform_().dtype is ms.float32
    assert Tensor([[-100.0, 100.0]]).random_categorical(3).tolist() == [[1, 1, 1]]


def test_places_of_a_mask_are_drawn_each_once():
    mask = RNG.random(size=(5, 6)) > 0.5
    for count in (4, 100):
        places, there = ops.RandomChoiceWithMask(count, 3)(Tensor(mask))
        assert places.shape == (count, 2)
        assert there.asnumpy().sum() == min(count, mask.sum())
        found = [tuple(row) for row in places.asnumpy()[there.asnumpy()]]
        assert len(set(found)) == len(found)
        assert all(mask[at] for at in found)
        assert (places.asnumpy()[~there.asnumpy()] == 0).all()


def test_whole_numbers():
    x = Tensor([2, 0, 1])
    assert x.choose([[0, 1, 2], [3, 4, 5], [6, 7, 8]]).tolist() == [6, 1, 5]
    assert Tensor([5, -1]).choose([[0, 1], [2, 3]], "wrap").tolist() == [2, 3]
    assert Tensor([1.0, 2.0, 5.0]).searchsorted(Tensor([2.0, 4.0]), side="right").tolist() == [2, 2]
    assert [t.tolist() for t in Tensor([1, 2, 2, 3]).unique_with_pad(0)] == [[1, 2, 3, 0], [0, 1, 1, 2]]
    assert ops.ConfusionMatrix(2)(Tensor([0, 1, 1]), Tensor([0, 0, 1])).tolist() == [[1, 0], [1, 1]]
    assert [t.tolist() for t in ops.ListDiff()(Tensor([1, 2, 3]), Tensor([2]))] == [[1, 3], [0, 2]]
    assert ops.UnravelIndex()(Tensor([2, 5]), Tensor([3, 3])).tolist() == [[0, 1], [2, 2]]
    assert ops.LowerBound()(Tensor([1, 2, 2]), Tensor([2])).tolist() == [1]
    assert ops.UpperBound()(Tensor([1, 2, 2]), Tensor([2])).tolist() == [3]
    assert ops.HistogramFixedWidth(5)(Tensor([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]), Tensor([0.0, 5.0])).tolist() == [
        2,
        1,
        1,
        0,
        2,
    ]
    assert ops.tuple_len((1, 2)) == 2
    assert [type(x) for x in ops.mixed_precision_cast("float16", [Tensor([1.0]), 2])] == [Tensor, int]


def test_losses_norms_and_pools_of_old():
    logits, labels, weights = np.log([[0.2, 0.8], [0.5, 0.5]]), [1, 0], np.array([1.0, 2.0])
    found, total = ops.NLLLoss()(Tensor(logits), Tensor(labels, ms.int32), Tensor(weights))
    picked = -logits[[0, 1], labels] * weights[labels]
    np.testing.assert_allclose([found.item(), total.item()], [picked.sum() / 3, 3])
    x, one, zero = RNG.normal(size=(4, 3)), np.ones(3), np.zeros(3)
    out, mean, variance, *_ = ops.BatchNorm(True)(
        *map(Tensor, (x, one, zero)), *[Parameter(t, name=n) for t, n in ((zero, "m"), (one, "v"))]
    )
    np.testing.assert_allclose(mean.asnumpy(), x.mean(0), atol=1e-12)
    np.testing.assert_allclose(variance.asnumpy(), x.var(0), atol=1e-12)
    np.testing.assert_allclose(out.asnumpy(), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), atol=1e-9)
    image = np.arange(16.0).reshape(1, 1, 4, 4)
    assert [t.tolist() for t in ops.MaxPoolWithArgmax(2, 2)(Tensor(image))] == [[[[[5, 7], [13, 15]]]]] * 2
    wide = ops.ResizeBilinearV2(align_corners=True)(Tensor(image), (7, 7)).asnumpy()
    np.testing.assert_allclose(wide[..., ::2, ::2], image)
    assert ops.ResizeNearestNeighborV2()(Tensor(image), (2, 2)).tolist() == image[:, :, ::2, ::2].tolist()


@pytest.mark.many("op", [n for n in primitive_more.__all__ if n[0].isupper()], pack=100)
def test_operations_as_objects_take_what_their_line_says(op):
    kind = getattr(ops, op)
    required = [p.name for p in kind.__signature__.parameters.values() if p.default is p.empty]
    assert repr(kind(**dict.fromkeys(required, 1))).startswith(f"{op}(")
    with pytest.raises(MyceliaError, match=f"{op} takes"):
        kind(**dict.fromkeys(required, 1), no_such_attribute=1)


def test_mistakes_are_told():
    x = Tensor(A)
    for call, words in (
        (lambda: x.select(1), "takes \\(dim, index\\)"),
        (lambda: x.sum_to_size((2, 2)), "cannot be summed"),
        (lambda: x.kthvalue(9), "no element number 9"),
        (lambda: x.choose([[1]]), "asked of whole numbers"),
        (lambda: Tensor([1]).choose([[1]], "other"), "no mode"),
        (lambda: Tensor([1]).choose([[1]], "raise"), "has 1 choices"),
        (lambda: Tensor([1.0]).fill_diagonal(1.0), "takes matrices"),
        (lambda: Tensor([1.0]).H, "asked of matrices"),
        (lambda: Tensor([1.0]).requires_grad_(False), "only a Parameter"),
        (lambda: ops.SegmentSum()(x, Tensor([1, 0, 0])), "in order"),
        (lambda: x.itemset(99, 1.0), "no element 99"),
    ):
        with pytest.raises(MyceliaError, match=words):
            call()
