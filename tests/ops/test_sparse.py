"""Sparse matrices against SciPy's."""

import numpy as np
import pytest
import scipy.sparse

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import MyceliaError
from mycelia.ops import sparse

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.uniform(size=(4, 5)) < 0.4, RNG.uniform(0.1, 0.9, size=(4, 5)), 0).astype(np.float32)
OTHER = np.where(RNG.uniform(size=(4, 5)) < 0.4, RNG.normal(size=(4, 5)), 0).astype(np.float32)


def coo(a):
    return Tensor(a).to_coo()


def csr(a):
    return Tensor(a).to_csr()


def test_both_kinds_hold_what_scipy_holds():
    want = scipy.sparse.csr_matrix(DENSE)
    found = csr(DENSE)
    assert found.indptr.tolist() == want.indptr.tolist()
    assert found.indices.tolist() == want.indices.tolist()
    assert found.values.tolist() == want.data.tolist()
    for kind in (coo, csr):
        np.testing.assert_array_equal(kind(DENSE).to_dense().asnumpy(), DENSE)
    np.testing.assert_array_equal(csr(DENSE).to_coo().to_csr().to_dense().asnumpy(), DENSE)


@pytest.mark.parametrize("name", sparse.ELEMENTWISE)
def test_functions_of_the_numbers_that_are_held(name):
    x = DENSE + (1.5 if name == "acosh" else 0) * (DENSE != 0)
    held = x[x != 0]
    want = getattr(ops, name)(Tensor(held)).tolist()
    assert getattr(ops, f"coo_{name}")(coo(x)).values.tolist() == want
    assert getattr(ops, f"csr_{name}")(csr(x)).values.tolist() == want
    with pytest.raises(MyceliaError, match="a COOTensor is needed"):
        getattr(ops, f"coo_{name}")(csr(x))


def test_sums():
    found = ops.coo_add(coo(DENSE), coo(OTHER), Tensor(0.0))
    np.testing.assert_allclose(found.to_dense().asnumpy(), DENSE + OTHER)
    np.testing.assert_allclose((coo(DENSE) + coo(OTHER)).to_dense().asnumpy(), DENSE + OTHER)
    found = ops.coo_add(coo(DENSE), coo(OTHER), Tensor(0.5)).to_dense().asnumpy()
    np.testing.assert_allclose(found, np.where(np.abs(DENSE + OTHER) >= 0.5, DENSE + OTHER, 0))
    found = ops.csr_add(csr(DENSE), csr(OTHER), Tensor(2.0), Tensor(-1.0))
    np.testing.assert_allclose(found.to_dense().asnumpy(), 2 * DENSE - OTHER, rtol=1e-6)


def test_products_and_rows():
    x = RNG.normal(size=(5, 1)).astype(np.float32)
    np.testing.assert_allclose(csr(DENSE).mv(Tensor(x)).asnumpy(), DENSE @ x, rtol=1e-5)
    np.testing.assert_allclose((csr(DENSE) * Tensor(OTHER)).to_dense().asnumpy(), DENSE * OTHER, rtol=1e-6)
    np.testing.assert_allclose(csr(DENSE).sum(1).asnumpy(), DENSE.sum(1, keepdims=True), rtol=1e-6)
    soft = ops.csr_softmax(csr(DENSE), ms.float32).to_dense().asnumpy()
    raised = np.where(DENSE != 0, np.exp(DENSE), 0)
    np.testing.assert_allclose(soft, raised / np.maximum(raised.sum(1, keepdims=True), 1e-9), rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_behind_the_other(axis):
    found = ops.coo_concat((coo(DENSE), coo(OTHER)), axis)
    np.testing.assert_array_equal(found.to_dense().asnumpy(), np.concatenate([DENSE, OTHER], axis))


def test_numbers_at_one_place_are_added_and_places_are_put_in_order():
    x = ms.COOTensor(Tensor([[1, 0], [0, 1], [1, 0]]), Tensor([1.0, 2.0, 3.0]), (2, 2))
    assert x.coalesce().indices.tolist() == [[0, 1], [1, 0]]
    assert x.to_dense().tolist() == x.coalesce().to_dense().tolist() == [[0.0, 2.0], [4.0, 0.0]]


def test_gradients_reach_the_numbers():
    at = Tensor([[0, 1], [1, 0]])
    found = ms.grad(lambda v: (ms.COOTensor(at, v, (2, 2)).to_dense() * Tensor([[1.0, 2.0], [3.0, 4.0]])).sum())
    assert found(Tensor([5.0, 6.0])).tolist() == [2.0, 3.0]


def test_what_does_not_fit_is_refused():
    with pytest.raises(MyceliaError, match="a row for each number"):
        ms.COOTensor(Tensor([[0, 1]]), Tensor([1.0, 2.0]), (2, 2))
    with pytest.raises(MyceliaError, match="one start more than rows"):
        ms.CSRTensor(Tensor([0, 1]), Tensor([0]), Tensor([1.0]), (2, 2))


def test_operators_and_members_of_both_kinds():
    x, y, dense = scipy.sparse.csr_matrix(DENSE), scipy.sparse.csr_matrix(OTHER), np.abs(OTHER) + 1
    for kind in (coo, csr):
        a, b = kind(DENSE), kind(OTHER)
        for found, want in (
            (-b, -y), (b.abs(), abs(y)), (a + b, x + y), (a - b, x - y), (a * Tensor(dense), x.multiply(dense)),
            (a / Tensor(dense), x / dense), (a * 2.0, x * 2.0),
        ):  # fmt: skip
            assert type(found) is type(a)
            np.testing.assert_allclose(found.to_dense().asnumpy(), want.toarray(), rtol=1e-6)
        with pytest.raises(MyceliaError, match="multiplied with a dense one"):
            a * b
    np.testing.assert_allclose((coo(DENSE) - Tensor(OTHER)).asnumpy(), DENSE - OTHER, rtol=1e-6)
    np.testing.assert_allclose(coo(DENSE).add(coo(OTHER), 0.5).to_dense().asnumpy(), np.where(
        np.abs(DENSE + OTHER) >= 0.5, DENSE + OTHER, 0), rtol=1e-6)  # fmt: skip
    scaled = csr(DENSE).add(csr(OTHER), Tensor(2.0), Tensor(3.0)).to_dense().asnumpy()
    np.testing.assert_allclose(scaled, 2 * DENSE + 3 * OTHER, rtol=1e-6)
    for right in (Tensor(OTHER.T), csr(OTHER.T)):
        found = csr(DENSE).mm(right)
        found = found if isinstance(found, Tensor) else found.to_dense()
        np.testing.assert_allclose(found.asnumpy(), (x @ y.T).toarray(), rtol=1e-5, atol=1e-7)
    a = csr(DENSE)
    slope = ms.grad(lambda v: ms.CSRTensor(a.indptr, a.indices, v, a.shape).mm(Tensor(OTHER.T)).sum())(a.values)
    np.testing.assert_allclose(slope.asnumpy(), OTHER.sum(0)[a.indices.asnumpy()], rtol=1e-5, atol=1e-6)
    with pytest.raises(MyceliaError, match="has no product"):
        a.mm(Tensor(DENSE))


def _drawn(rng, dtype, places, shape=(5, 7), share=0.4):
    held = np.where(rng.random(shape) < share, rng.normal(size=shape) * 4, 0).astype(dtype)
    held[2] = 0
    where = np.argwhere(held)
    starts = np.concatenate([[0], np.cumsum(np.bincount(where[:, 0], minlength=shape[0]))]).astype(places)
    return held, starts, where[:, 1].astype(places), held[tuple(where.T)]


@pytest.mark.parametrize(
    ("dtype", "places"), [("f", "i4"), ("d", "i8"), ("i4", "i4"), ("f2", "i2"), ("F", "i4")], ids=str
)
def test_products_with_rows_are_those_of_the_whole_compiled_too(dtype, places):
    rng = np.random.default_rng(3)
    held, *parts = _drawn(rng, dtype, places)
    for width in (1, 5, 40):
        dense = (rng.normal(size=(7, width)) * 4).astype(dtype)

        def product(starts, columns, values, dense):
            return ms.CSRTensor(starts, columns, values, (5, 7)).mm(dense)

        run = ms.jit(product)
        for f in (product, run):
            got = f(*map(Tensor, parts), Tensor(dense)).asnumpy()
            np.testing.assert_allclose(got, held @ dense, rtol=1e-2 if dtype == "f2" else 1e-5, atol=1e-2)
        assert "one native call" in run.explain()


@pytest.mark.parametrize("dtype", ["f", "d", "i8", "f2"])
def test_rows_of_any_length_are_added_up_whole(dtype):
    rng = np.random.default_rng(6)
    run = ms.jit(lambda *parts: ms.CSRTensor(*parts[:3], (6, 61)).mm(parts[3]))
    for share in (0.05, 0.3, 0.6, 1.0):
        held, *parts = _drawn(rng, dtype, "i4", (6, 61), share)
        column = rng.integers(-4, 5, (61, 1)).astype(dtype)
        got = run(*map(Tensor, parts), Tensor(column)).asnumpy()
        scale = np.abs(held).astype("d") @ np.abs(column) + 1
        assert (np.abs(got - held.astype("d") @ column) <= scale * (1e-2 if dtype == "f2" else 1e-6)).all()


def test_gradients_of_products_with_rows_are_those_of_the_whole():
    rng = np.random.default_rng(4)
    held, starts, columns, values = _drawn(rng, "d", "i8")
    dense, weights = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    where = np.argwhere(held)

    def total(values, dense):
        out = ms.CSRTensor(Tensor(starts), Tensor(columns), values, (5, 7)).mm(dense)
        return (out * Tensor(weights)).sum()

    for f in (ms.grad(total, (0, 1)), ms.jit(ms.grad(total, (0, 1)))):
        by_values, by_dense = f(Tensor(values), Tensor(dense))
        np.testing.assert_allclose(by_values.asnumpy(), (weights @ dense.T)[tuple(where.T)], atol=1e-12)
        np.testing.assert_allclose(by_dense.asnumpy(), held.T @ weights, atol=1e-12)


@pytest.mark.parametrize(
    ("starts", "columns"),
    [([0, 1, 2], [0, 7]), ([0, 1, 2], [-1, 1]), ([0, 2, 1], [0, 1]), ([0, 1, 1], [0, 1])],
    ids=str,
)
def test_rows_that_do_not_exist_are_refused_compiled_too(starts, columns):
    def product(starts, columns, values, dense):
        return ms.ops.csr_mv(ms.CSRTensor(starts, columns, values, (2, 2)), dense)

    good = Tensor([0, 1, 2]), Tensor([0, 1]), Tensor([1.0, 2.0]), Tensor([[1.0], [1.0]])
    run = ms.jit(product)
    assert run(*good).tolist() == [[1.0], [2.0]]
    for f in (product, run):
        with pytest.raises(ms.errors.MyceliaError):
            f(Tensor(starts), Tensor(columns), *good[2:])
