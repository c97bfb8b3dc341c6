"""Functions that few programs need, against NumPy and SciPy: values eager and compiled, gradients by differences."""

import itertools
from math import inf, nan

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial
import scipy.special

import mycelia as ms
from mycelia import Tensor, mint, ops
from mycelia import primitives as p
from mycelia.eager import wrap
from mycelia.errors import MyceliaError
from mycelia.ops import primitive_rare
from tests.ops.judged import check_gradient, check_values

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
POSITIVE = RNG.uniform(0.2, 5.0, size=(3, 4))
V, W = RNG.normal(size=5), RNG.normal(size=5)
CUBE = RNG.normal(size=(2, 3, 4))
IMAGE = RNG.normal(size=(2, 4, 4, 6))
ODD = np.array([0.0, -0.0, 1.5, -2.5, inf, -inf, nan])
INTS, OTHERS = RNG.integers(-20, 20, size=12), RNG.integers(1, 9, size=12)
WORDS = np.array([0, 1, -1, 2**31 - 1, -(2**31), 12345], np.int32)
ROWS = np.array([[0, 1], [2, 3], [0, 1]])
UPDATES = RNG.normal(size=3)


def scattered(at, x, rows, updates):
    out = x.copy()
    at(out, tuple(rows.T), updates)
    return out


def segments(of, start, x, ids, count):
    out = np.full((count, *x.shape[1:]), start)
    of.at(out, ids, x)
    return out


def running(of, x, axis):
    """The extremes so far, and the last place where each is."""
    best = of.accumulate(x, axis)
    moved, found = np.moveaxis(x, axis, 0), np.moveaxis(best, axis, 0)
    places = np.zeros(moved.shape, np.int64)
    for i in range(len(moved)):
        for j in range(i + 1):
            places[i] = np.where(moved[j] == found[i], j, places[i])
    return best, np.moveaxis(places, 0, axis)


AROUND = [(0, 0), (1, 1), (0, 0), (0, 0)]
IDS = np.array([1, 0, 1])
LABELS = np.array([2, 0, 3])
CASES = {
    "atleast_2d": (lambda x: ops.atleast_2d(x), lambda x: np.atleast_2d(x), V),
    "atleast_3d": (lambda x: ops.atleast_3d(x), lambda x: np.atleast_3d(x), V),
    "atleast_3d-2": (lambda x: ops.atleast_3d(x), lambda x: np.atleast_3d(x), A),
    "dstack": (lambda x, y: ops.dstack([x, y]), lambda x, y: np.dstack([x, y]), A, B),
    "column_stack": (lambda x, y: ops.column_stack([x, y]), lambda x, y: np.column_stack([x, y]), V, W),
    "hsplit": (lambda x: ops.hsplit(x, 2), lambda x: np.hsplit(x, 2), A),
    "hsplit-1": (lambda x: ops.hsplit(x, [1, 3]), lambda x: np.hsplit(x, [1, 3]), V),
    "vsplit": (lambda x: ops.vsplit(x, 3), lambda x: np.vsplit(x, 3), A),
    "dsplit": (lambda x: ops.dsplit(x, [1]), lambda x: np.dsplit(x, [1]), CUBE),
    **{
        f"rot90{k}": (lambda x, k=k: ops.rot90(x, k, (0, 2)), lambda x, k=k: np.rot90(x, k, (0, 2)), CUBE)
        for k in (-1, 0, 1, 2, 3)
    },
    "block_diag": (lambda x, y: ops.block_diag(x, y), lambda x, y: scipy.linalg.block_diag(x, y), A, V),
    "kron": (lambda x, y: ops.kron(x, y), np.kron, A, V),
    "cartesian_prod": (
        lambda x, y: ops.cartesian_prod(x, y),
        lambda x, y: np.stack([g.ravel() for g in np.meshgrid(x, y, indexing="ij")], 1),
        V,
        W,
    ),
    "cross": (lambda x, y: ops.cross(x, y, 0), lambda x, y: np.cross(x, y, axis=0), A, B),
    "vecdot": (lambda x, y: ops.vecdot(x, y, axis=0), lambda x, y: (x * y).sum(0), A, B),
    "addr": (lambda x, y: ops.addr(x[:, None] * 0, x, y, alpha=2), lambda x, y: 2 * np.outer(x, y), V, W),
    "ger": (lambda x, y: ops.ger(x, y), np.outer, V, W),
    "matrix_power": (lambda x: ops.matrix_power(x[:, :3], 5), lambda x: np.linalg.matrix_power(x[:, :3], 5), A),
    "bidense": (
        lambda x, y: ops.bidense(x, y, Tensor(RNG.spawn(1)[0].normal(size=(2, 4, 4)) * 0 + 1.5)),
        lambda x, y: np.einsum("ni,oij,nj->no", x, np.full((2, 4, 4), 1.5), y),
        A,
        B,
    ),
    "batch_dot": (
        lambda x: ops.batch_dot(x, x, (2, 2)),
        lambda x: np.einsum("bik,bjk->bij", x, x),
        CUBE,
    ),
    "diagflat": (lambda x: ops.diagflat(x, -2), lambda x: np.diagflat(x, -2), V),
    "matrix_band_part": (lambda x: ops.matrix_band_part(x, 1, 0), lambda x: np.tril(np.triu(x, -1)), A),
    "mirror_pad": (
        lambda x: ops.mirror_pad(x, [[1, 2], [0, 3]], "SYMMETRIC"),
        lambda x: np.pad(x, [[1, 2], [0, 3]], "symmetric"),
        A,
    ),
    "reverse_sequence": (
        lambda x: ops.reverse_sequence(x, Tensor([1, 4, 3]), 1),
        lambda x: np.stack([np.r_[row[:n][::-1], row[n:]] for row, n in zip(x, (1, 4, 3), strict=True)]),
        A,
    ),
    "space_and_back": (
        lambda x: ops.batch_to_space_nd(
            ops.space_to_batch_nd(x, [2, 3], [[2, 0], [1, 2]]), [2, 3], [[2, 0], [1, 2]]
        ),
        lambda x: x,
        IMAGE,
    ),
    "channel_shuffle": (
        lambda x: ops.channel_shuffle(x, 2),
        lambda x: x.reshape(2, 2, 2, 4, 6).swapaxes(1, 2).reshape(x.shape),
        IMAGE,
    ),
    "copysign": (lambda x, y: ops.copysign(x, y), np.copysign, A, B),
    "heaviside": (lambda x: ops.heaviside(x, Tensor(0.5)), lambda x: np.heaviside(x, 0.5), A),
    "fmax": (lambda x, y: ops.fmax(x, y), np.fmax, A, B),
    "fmin": (lambda x, y: ops.fmin(x, y), np.fmin, A, B),
    "ldexp": (lambda x: ops.ldexp(x, Tensor([1, 2, 3, 4])), lambda x: np.ldexp(x, [1, 2, 3, 4]), A),
    "logaddexp2": (lambda x, y: ops.logaddexp2(x, y), np.logaddexp2, A, B),
    "float_power": (lambda x: ops.float_power(x, 2.5), lambda x: np.float_power(x, 2.5), POSITIVE),
    "xdivy": (lambda x, y: ops.xdivy(x, y), lambda x, y: x / y, A, POSITIVE),
    "sinc": (lambda x: ops.sinc(x), np.sinc, A),
    "inv": (lambda x: ops.inv(x), np.reciprocal, POSITIVE),
    "erfinv": (lambda x: ops.erfinv(x), scipy.special.erfinv, np.tanh(A)),
    "lgamma": (lambda x: ops.lgamma(x), scipy.special.gammaln, np.r_[POSITIVE.ravel(), 37.5, -0.3, -2.7]),
    "digamma": (lambda x: ops.digamma(x), scipy.special.digamma, np.r_[POSITIVE.ravel(), 37.5, -0.3, -2.7]),
    "mvlgamma": (lambda x: ops.mvlgamma(x, 3), lambda x: scipy.special.multigammaln(x, 3), POSITIVE.ravel() + 2),
    "fast_gelu": (lambda x: ops.fast_gelu(x), lambda x: x / (1 + np.exp(-1.702 * x)), A),
    "msort": (lambda x: ops.msort(x), lambda x: np.sort(x, 0), A),
    "aminmax": (lambda x: ops.aminmax(x, axis=1), lambda x: (x.min(1), x.max(1)), A),
    "cummax": (lambda x: ops.cummax(x, 1), lambda x: running(np.maximum, x, 1), A),
    "cummin": (lambda x: ops.cummin(x, -2), lambda x: running(np.minimum, x, 0), A),
    "logcumsumexp": (lambda x: ops.logcumsumexp(x, 1), lambda x: np.log(np.cumsum(np.exp(x), 1)), A),
    "quantile": (lambda x: ops.quantile(x, [0.1, 0.5, 1.0], 1), lambda x: np.quantile(x, [0.1, 0.5, 1.0], 1), A),
    "quantile-all": (lambda x: ops.quantile(x, 0.3), lambda x: np.quantile(x, 0.3), A),
    "quantile-kept": (
        lambda x: ops.quantile(x, 0.3, 0, keepdims=True),
        lambda x: np.quantile(x, 0.3, 0, keepdims=True),
        A,
    ),
    "renorm": (
        lambda x: ops.renorm(x, 2, 0, 1.0),
        lambda x: x * np.minimum(1, 1 / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-7)),
        A,
    ),
    **{
        f"dist{order}": (lambda x, y, p=order: ops.dist(x, y, p), lambda x, y, p=order: np.linalg.norm(x - y, p), V, W)
        for order in (1, 2, 3, inf)
    },
    **{
        f"cdist{order}": (
            lambda x, y, p=order: ops.cdist(x, y, p),
            lambda x, y, p=order: np.linalg.norm(x[:, None] - y[None], p, axis=-1),
            A,
            B,
        )
        for order in (1, 2, 2.5, inf)
    },
    "pdist": (lambda x: ops.pdist(x), lambda x: scipy.spatial.distance.pdist(x), A),
    "cov": (lambda x: ops.cov(x), np.cov, A),
    "cov-weighed": (
        lambda x: ops.cov(x, correction=0, fweights=Tensor([1, 2, 1, 3]), aweights=Tensor([0.5, 1.0, 2.0, 1.0])),
        lambda x: np.cov(x, ddof=0, fweights=[1, 2, 1, 3], aweights=[0.5, 1.0, 2.0, 1.0]),
        A,
    ),
    "trapz": (lambda y, x: ops.trapz(y, x), lambda y, x: np.trapezoid(y, x), V, np.sort(W)),
    "vander": (lambda x: ops.vander(x), np.vander, V),
    "lrn": (
        lambda x: ops.lrn(x, 1, 1.0, 0.5, 0.5),
        lambda x: x / np.sqrt(1 + 0.5 * sum(np.pad(x**2, AROUND)[:, i : i + 4] for i in range(3))),
        IMAGE,
    ),
    "tensor_scatter_mul": (
        lambda x, u: ops.tensor_scatter_mul(x, Tensor(ROWS), u),
        lambda x, u: scattered(np.multiply.at, x, ROWS, u),
        A,
        UPDATES,
    ),
    "tensor_scatter_div": (
        lambda x, u: ops.tensor_scatter_div(x, Tensor(ROWS), u),
        lambda x, u: scattered(np.divide.at, x, ROWS, u),
        A,
        UPDATES,
    ),
    "tensor_scatter_max": (
        lambda x, u: ops.tensor_scatter_max(x, Tensor(ROWS), u),
        lambda x, u: scattered(np.maximum.at, x, ROWS, u),
        A,
        UPDATES,
    ),
    "tensor_scatter_min": (
        lambda x, u: ops.tensor_scatter_min(x, Tensor(ROWS), u),
        lambda x, u: scattered(np.minimum.at, x, ROWS, u),
        A,
        UPDATES,
    ),
    "unsorted_segment_prod": (
        lambda x: ops.unsorted_segment_prod(x, Tensor(IDS), 3),
        lambda x: segments(np.multiply, 1.0, x, IDS, 3),
        A,
    ),
    "unsorted_segment_max": (
        lambda x: ops.unsorted_segment_max(x, Tensor(IDS), 2),
        lambda x: segments(np.maximum, -inf, x, IDS, 2),
        A,
    ),
    "unsorted_segment_min": (
        lambda x: ops.unsorted_segment_min(x, Tensor(IDS), 2),
        lambda x: segments(np.minimum, inf, x, IDS, 2),
        A,
    ),
    "inplace_update": (
        lambda x, y: ops.inplace_update(x, y[:2], (2, 0)),
        lambda x, y: np.stack([y[1], x[1], y[0]]),
        A,
        B,
    ),
    "inplace_add": (lambda x, y: ops.inplace_add(x, y[:1], 1), lambda x, y: x + np.eye(3)[1][:, None] * y[0], A, B),
    "inplace_sub": (lambda x, y: ops.inplace_sub(x, y[:1], 1), lambda x, y: x - np.eye(3)[1][:, None] * y[0], A, B),
    "select_scatter": (
        lambda x, y: ops.select_scatter(x, y[:, 0], 1, 2),
        lambda x, y: np.where(np.arange(4) == 2, y[:, :1], x),
        A,
        B,
    ),
    "slice_scatter": (
        lambda x, y: ops.slice_scatter(x, y[:, :2], 1, 0, 4, 2),
        lambda x, y: np.stack([y[:, 0], x[:, 1], y[:, 1], x[:, 3]], 1),
        A,
        B,
    ),
    "masked_scatter": (
        lambda x, y: ops.masked_scatter(x, Tensor(A > 0), y),
        lambda x, y: np.where(A > 0, y.ravel()[np.maximum(np.cumsum(A > 0) - 1, 0)].reshape(x.shape), x),
        A,
        B,
    ),
}  # fmt: skip


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.many("name", CASES, pack=25)
def test_values(name, run):
    check_values(CASES[name], run)


@pytest.mark.many("name", CASES, pack=100)
def test_gradients(name):
    check_gradient(CASES[name])


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_whole_numbers(run):
    x, y = Tensor(INTS), Tensor(OTHERS)
    assert run(ops.gcd)(x, y).tolist() == np.gcd(INTS, OTHERS).tolist()
    assert run(ops.lcm)(x, y).tolist() == np.lcm(INTS, OTHERS).tolist()
    assert run(ops.floor_mod)(x, y).tolist() == np.mod(INTS, OTHERS).tolist()
    assert run(ops.truncate_mod)(x, y).tolist() == np.fmod(INTS, OTHERS).tolist()
    assert run(ops.truncate_div)(x, y).tolist() == np.trunc(INTS / OTHERS).tolist()
    assert run(ops.population_count)(Tensor(WORDS)).tolist() == [bin(int(w) & 0xFFFFFFFF).count("1") for w in WORDS]
    assert run(lambda i: ops.combinations(i[:4], 3))(x).shape == (4, 3)
    assert run(lambda i: ops.dyn_shape(i))(x).tolist() == [12]


def test_odd_numbers():
    x = Tensor(ODD)
    assert ops.isposinf(x).tolist() == np.isposinf(ODD).tolist()
    assert ops.isneginf(x).tolist() == np.isneginf(ODD).tolist()
    np.testing.assert_array_equal(ops.heaviside(x, 0.5).asnumpy(), np.heaviside(ODD, 0.5))
    np.testing.assert_array_equal(ops.fmax(x, 0.25).asnumpy(), np.fmax(ODD, 0.25))
    np.testing.assert_array_equal(ops.copysign(3.0, x).asnumpy(), np.copysign(3.0, ODD))
    np.testing.assert_array_equal(ops.logaddexp2(x, x).asnumpy(), ODD + 1)
    np.testing.assert_array_equal(ops.lgamma(Tensor([inf, -inf, nan, 0.0, -3.0])).asnumpy(), [inf, inf, nan, inf, inf])
    np.testing.assert_array_equal(ops.erfinv(Tensor([1.0, -1.0, 2.0])).asnumpy(), [inf, -inf, nan])
    np.testing.assert_array_equal(ops.cummax(Tensor([1.0, nan, 3.0]), 0)[0].asnumpy(), [1.0, nan, nan])
    assert np.isnan(ops.quantile(Tensor([1.0, nan]), 0.5).item())
    assert ops.nanquantile(Tensor([1.0, nan, 3.0, 7.0]), 0.25).item() == 2.0
    assert [t.item() for t in ops.nanmedian(Tensor([4.0, 1.0, nan, 3.0]))] == [3.0, 3]


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("right", [False, True])
def test_places_in_order(run, right):
    row, values = np.array([1.0, 2.0, 2.0, 5.0]), np.array([[0.0, 2.0], [5.0, 9.0]])
    found = run(lambda r, v: ops.searchsorted(r, v, right=right))(Tensor(row), Tensor(values))
    assert found.tolist() == np.searchsorted(row, values, "right" if right else "left").tolist()
    assert ops.bucketize(Tensor(values), row.tolist(), right=right).tolist() == found.tolist()


def test_histograms():
    data = np.round(RNG.normal(size=50), 2).astype(np.float32)
    want = np.histogram(data, 7, (-1.5, 1.5))[0]
    assert ops.histc(Tensor(data), 7, -1.5, 1.5).tolist() == want.tolist()
    assert ops.histc(Tensor(data), 7).sum().item() == 50
    assert ops.histc(Tensor([2.0, 2.0]), 3).tolist() == [0.0, 2.0, 0.0]


def test_runs_of_equal_elements():
    x = Tensor([1, 1, 2, 2, 2, 1])
    values, inverse, counts = ops.unique_consecutive(x, True, True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 1, 1, 2], [2, 3, 1])
    assert ops.unique_consecutive(Tensor([[1, 2], [1, 2], [3, 4]]), dim=0).tolist() == [[1, 2], [3, 4]]


def test_runs_of_equal_elements_are_found_inside_one_program():
    for dim in (None, 0, -1):

        def plain(x, dim=dim):
            return ops.unique_consecutive(x, True, True, dim)

        runs = ms.jit(plain)
        for shape in ((4, 3), (7, 2), (1, 3), (0, 3), (3, 0)):
            data = RNG.integers(0, 2, shape)
            rows = data.reshape(-1) if dim is None else np.moveaxis(data, dim, 0)
            groups = [list(g) for _, g in itertools.groupby(range(len(rows)), lambda i: rows[i].tolist())]  # noqa: B023
            kept = rows[[g[0] for g in groups]]
            inverse = [i for i, g in enumerate(groups) for _ in g]
            for fn in (runs, plain):
                found = fn(Tensor(data, ms.int32))
                np.testing.assert_array_equal(found[0].asnumpy(), kept if dim is None else np.moveaxis(kept, 0, dim))
                assert found[1].reshape(-1).tolist() == inverse
                assert found[2].tolist() == [len(g) for g in groups]
        assert "in Python" not in runs.explain()


def test_the_product_of_complex_vectors_takes_conjugates():
    x, y = RNG.normal(size=(2, 5, 2)).astype("f").view(np.complex64)[..., 0]
    np.testing.assert_allclose(mint.vdot(Tensor(x), Tensor(y)).asnumpy(), np.vdot(x, y), rtol=1e-5)


def test_diagonals_are_written():
    for offset in (-1, 0, 2):
        x, values = A.copy(), np.full(len(np.diagonal(A, offset)), 7.0)
        found = ops.diagonal_scatter(Tensor(A), Tensor(values), offset).asnumpy()
        np.testing.assert_array_equal(np.diagonal(found, offset), values)
        off = ~np.eye(3, 4, offset, dtype=bool)
        np.testing.assert_array_equal(found[off], x[off])


def test_parameters_are_changed_in_place_and_what_they_hold_comes_back():
    for name, at in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide),
                     ("max", np.maximum), ("min", np.minimum)):  # fmt: skip
        w, want = ms.Parameter(A, name="w"), A.copy()
        at.at(want, [2, 0], B[:2])
        found = getattr(ops, f"scatter_{name}")(w, Tensor([2, 0]), Tensor(B[:2]))
        np.testing.assert_allclose(w.asnumpy(), want)
        np.testing.assert_allclose(found.asnumpy(), want)
        assert type(found) is Tensor
        v, want = ms.Parameter(A, name="v"), A.copy()
        at.at(want, tuple(ROWS.T), UPDATES)
        getattr(ops, f"scatter_nd_{name}")(v, Tensor(ROWS), Tensor(UPDATES))
        np.testing.assert_allclose(v.asnumpy(), want)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8])
def test_windows(count):
    known = {"bartlett": np.bartlett, "blackman": np.blackman, "hamming": np.hamming, "hann": np.hanning}
    for name, window in known.items():
        found = getattr(ops, f"{name}_window")(count, False, dtype=ms.float64).asnumpy()
        np.testing.assert_allclose(found, window(count), atol=1e-12)
        longer = window(count + 1)[:count] if count > 1 else window(count)
        found = getattr(ops, f"{name}_window")(count, dtype=ms.float64).asnumpy()
        np.testing.assert_allclose(found, longer, atol=1e-12)
    np.testing.assert_allclose(ops.kaiser_window(count, False, 5.0, dtype=ms.float64).asnumpy(), np.kaiser(count, 5.0))


def test_boxes_are_told_and_found_again():
    left, size = RNG.uniform(5, 30, size=(6, 2)), RNG.uniform(3, 20, size=(6, 2))
    boxes, anchors = np.hstack([left, left + size]), np.hstack([left - 1, left + size + 2])
    means, stds = (0.1, 0.2, 0.0, -0.1), (0.5, 0.5, 0.3, 0.2)
    told = ops.bounding_box_encode(Tensor(anchors), Tensor(boxes), means, stds)
    found = ops.bounding_box_decode(Tensor(anchors), told, (100, 100), means, stds)
    np.testing.assert_allclose(found.asnumpy(), boxes, rtol=1e-9)
    overlap = ops.iou(Tensor(boxes), Tensor(boxes)).asnumpy()
    np.testing.assert_allclose(np.diag(overlap), 1.0)
    np.testing.assert_allclose(overlap, overlap.T)
    image, boxes = Tensor([10.0, 10, 1]), Tensor([[0.0, 0, 9, 9], [-1.0, 0, 9, 9], [0.0, 0, 10, 9]])
    assert ops.check_valid(boxes, image).tolist() == [True, False, False]


@pytest.mark.many("op", primitive_rare.__all__, pack=100)
def test_operations_as_objects_take_what_their_line_says(op):
    kind = getattr(ops, op)
    required = [p.name for p in kind.__signature__.parameters.values() if p.default is p.empty]
    made = kind(**dict.fromkeys(required, 1))
    assert repr(made).startswith(f"{op}(")
    with pytest.raises(MyceliaError, match=f"{op} takes"):
        kind(**dict.fromkeys(required, 1), no_such_attribute=1)
    for name in kind.only:
        with pytest.raises(MyceliaError, match=f"{name} of {op} is"):
            kind(**dict.fromkeys(required, 1), **{name: object()})


def test_operations_as_objects_mean_their_functions():
    x, y = Tensor(A), Tensor(B)
    assert ops.Cummax(1)(x)[0].tolist() == ops.cummax(x, 1)[0].tolist()
    assert ops.CumProd(exclusive=True)(Tensor([2.0, 3.0, 4.0]), 0).tolist() == [1.0, 2.0, 6.0]
    assert ops.CumProd(reverse=True)(Tensor([2.0, 3.0, 4.0]), 0).tolist() == [24.0, 12.0, 4.0]
    assert ops.DivNoNan()(Tensor([1.0, 4.0]), Tensor([0.0, 2.0])).tolist() == [0.0, 2.0]
    assert ops.MulNoNan()(Tensor([nan, 4.0]), Tensor([0.0, 2.0])).tolist() == [0.0, 8.0]
    assert ops.InvertPermutation()((2, 0, 1)) == (1, 2, 0)
    assert ops.InvertPermutation()(Tensor([2, 0, 1])).tolist() == [1, 2, 0]
    assert ops.SquaredDifference()(x, y).tolist() == ((x - y) * (x - y)).tolist()
    assert ops.LpNorm(1)(x).shape == (3,)
    assert ms.jit(ops.TensorScatterMax())(x, Tensor(ROWS), Tensor(UPDATES)).shape == (3, 4)
    assert ops.ScatterMax()(ms.Parameter(A, name="w"), Tensor([0]), Tensor(B[:1])).shape == (3, 4)


def test_infinities_of_one_operand_stay_out_of_the_rest():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([inf, 0.0, 1.0])
    np.testing.assert_array_equal(ops.cross(Tensor(x), Tensor(y)).asnumpy(), np.cross(x, y))
    np.testing.assert_array_equal(ops.cross(Tensor(CUBE[0].T), Tensor(x)).asnumpy(), np.cross(CUBE[0].T, x))
    found = ops.SegmentMax()(Tensor([inf, -4.0]), Tensor([0, 2], ms.int32)).asnumpy()
    np.testing.assert_array_equal(found, [inf, 0.0, -4.0])
    assert not np.signbit(found[1])


def test_whole_numbers_stay_whole_where_nan_is_looked_for():
    x = np.array([2**62 + 1, 5, -3])
    for fn, want in ((ops.nan_to_num, x), (ops.nansum, x.sum())):
        for run in (fn, ms.jit(fn)):
            np.testing.assert_array_equal(run(Tensor(x)).asnumpy(), want)
            assert run(Tensor(x)).dtype == ms.int64
    assert ops.nan_to_num(Tensor([True, False])).tolist() == [True, False]


def test_a_row_that_a_table_does_not_have_changes_none_that_it_has():
    w, a = ms.Parameter(Tensor([[1.0], [2.0]])), ms.Parameter(Tensor([[1.0], [1.0]]))
    step = ops.SparseApplyAdagradV2(lr=0.1, epsilon=1e-6)
    step(w, a, Tensor([[nan], [1.0]]), Tensor([7, 0], ms.int32))
    assert np.isfinite(w.asnumpy()).all()
    assert w.asnumpy()[1, 0] == 2.0


def test_runs_and_different_elements_of_what_was_assigned_a_constant():
    x = Tensor([[1.0, 2.0], [3.0, 3.0]])
    x.hold(wrap(p.full(2.0, x.dtype, x.shape)))  # numbers that are known, and not yet computed
    assert [t.tolist() for t in ops.unique(x)] == [[2.0], [[0, 0], [0, 0]]]
    assert ops.unique_consecutive(x).tolist() == [2.0]


def test_a_border_of_negative_zeros_is_negative():
    for pad in (ops.pad, ms.jit(lambda x, padding, value: ops.pad(x, padding, value=value))):
        assert np.signbit(pad(Tensor([1.0]), (1, 1), value=-0.0).asnumpy()).tolist() == [True, False, True]


@pytest.mark.parametrize(("dtype", "large"), [(ms.float16, 2048), (ms.bfloat16, 256)], ids=str)
def test_small_numbers_that_are_added_one_by_one_to_a_large_one_of_half_precision_count(dtype, large):
    """Each alone is rounded off: sums are rounded once, at the end."""
    x, ones = Tensor(np.full((3, 2), large), dtype), Tensor(np.ones((8, 2)), dtype)
    at = Tensor(np.array([0, 0, 2, 0, 0, 0, 0, 0]), ms.int32)
    for add in (
        lambda x, at, ones: ops.tensor_scatter_add(x, at[:, None], ones),
        lambda x, at, ones: ops.index_add(x, at, ones, 0),
        lambda x, at, ones: ops.tensor_scatter_sub(x, at[:, None], -ones),
    ):
        for run in (add, ms.jit(add)):
            found = run(x, at, ones)
            assert found.dtype == dtype
            assert found.astype(ms.float32).tolist() == [[large + 8] * 2, [large] * 2, [large] * 2]


def test_a_bias_is_added_to_products_of_every_size_and_layout():
    rng = np.random.default_rng(5)
    with_bias = {
        "plain": lambda a, b, c: ops.matmul(a, b) + c,
        "turned": lambda a, b, c: ops.matmul(a.T, b) + c,  # columns a power of two apart, too
        "each row": lambda a, b, c: ops.relu(ops.matmul(b.T, a.T) + c[:, None]),
        "added to": lambda a, b, c: ops.addmm(c, a, b),
    }
    for rows, terms, columns in ((512, 65, 33), (256, 64, 48), (128, 256, 512), (64, 64, 1024), (33, 300, 1200)):
        a, b, c = (rng.integers(-3, 4, shape).astype("f") for shape in ((rows, terms), (terms, columns), columns))
        for name, fn in with_bias.items():
            left = a.T.copy() if name == "turned" else a
            want = np.maximum((a @ b + c).T, 0) if name == "each row" else a @ b + c
            found = ms.jit(fn)(Tensor(left), Tensor(b), Tensor(c)).asnumpy()
            np.testing.assert_array_equal(found, want, f"{name} of {rows, terms, columns}")
