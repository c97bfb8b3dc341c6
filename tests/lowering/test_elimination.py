"""Small matrices are solved by loops of ours: what NumPy says of them, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor
from mycelia import numpy as mnp
from mycelia.api.options import options
from mycelia.ir import Function
from mycelia.loops import EliminationCall, Invoke
from mycelia.loops.elimination import LARGEST
from mycelia.lowering import lower
from mycelia.primitives.lapack import Cholesky, Determinant, LogDeterminant, Solve
from mycelia.runtime.own_routines import WORTH_A_THREAD
from mycelia.runtime.stages import compiled
from mycelia.types import type_of

SIZES = (0, 1, 2, 3, 4, 7, 16, LARGEST)
BATCHES: tuple[tuple[int, ...], ...] = ((), (1,), (5,), (2, 3), (0,))
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


def program(op: Any, *arrays: Any) -> Function:
    results = op if isinstance(op, Determinant) else lambda *x: list(op(*x))
    return Function.build(results, *map(type_of, arrays))


def machine_code(op: Any, *arrays: Any, threads: int = 2) -> tuple[Any, ...]:
    return compiled(program(op, *arrays), {}, replace(options(), threads=threads))(*arrays)


def matrices(batch: tuple[int, ...], n: int, columns: int, dtype: str) -> Any:
    rng = np.random.default_rng(n + 7 * columns + len(batch))
    return rng.normal(size=(*batch, n, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.many("n", SIZES)
def test_they_are_numpy_s(n: int, batch: tuple[int, ...], dtype: str) -> None:
    x, near = matrices(batch, n, n, dtype), TOLERANCE[dtype]
    exact = x.astype(np.float64)
    for columns in (0, 1, 2, 9):
        side = matrices(batch, n, columns, dtype)
        found, there = machine_code(Solve(), x, side)
        assert found.dtype == dtype
        assert there.all()
        assert there.shape == batch
        size = 1 + np.abs(found).max(initial=0) * n
        np.testing.assert_allclose(exact @ found, side, atol=near * size)
    (found,) = machine_code(Determinant(), x)
    np.testing.assert_allclose(found, np.linalg.det(exact), rtol=near * 10)
    sign, size = machine_code(LogDeterminant(), x)
    expected = np.linalg.slogdet(exact)
    np.testing.assert_array_equal(sign, expected.sign)
    np.testing.assert_allclose(size, expected.logabsdet, rtol=near, atol=near)
    whole = (exact @ np.swapaxes(exact, -1, -2) + np.eye(n)).astype(dtype)
    lower_part, there = machine_code(Cholesky(), whole)
    assert there.all()
    np.testing.assert_allclose(lower_part, np.linalg.cholesky(whole.astype(np.float64)), rtol=near, atol=near)
    assert (lower_part == np.tril(lower_part)).all()


@pytest.mark.parametrize(
    "rows",
    [
        [[0.0, 0.0], [0.0, np.inf]],
        [[1.0, 2.0], [2.0, 4.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[np.inf, 1.0], [1.0, 2.0]],
        [[-1.0, 0.0], [0.0, 1.0]],
        [[0.0, 1.0], [1.0, 0.0]],
        [[4.0, 1.0], [3.0, 1.0]],  # of which half the sum with its transpose is meant
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_has_no_answer_is_told_as_by_lapack(rows: list[list[float]]) -> None:
    x = np.stack([np.array(rows), np.eye(2) * 3])  # the neighbour is not touched
    for op, arrays in ((Solve(), (x, x + 1)), (LogDeterminant(), (x,)), (Cholesky(), (x,)), (Determinant(), (x,))):
        expected = op.reference(*arrays)
        for got, want in zip(
            machine_code(op, *arrays), expected if isinstance(expected, tuple) else (expected,), strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=1e-12)


def test_what_is_no_number_is_none_in_what_comes_of_it() -> None:
    x = np.array([[np.nan, 1.0], [1.0, 2.0]])
    assert np.isnan(machine_code(Determinant(), x)[0])
    assert np.isnan(machine_code(LogDeterminant(), x)[1])
    for op, arrays in ((Solve(), (x, np.eye(2))), (Cholesky(), (x,))):
        found, there = machine_code(op, *arrays)
        assert np.isnan(found[np.isnan(op.reference(*arrays)[0])]).all()
        assert there  # nobody can tell


@pytest.mark.parametrize("op", [Solve(), Determinant(), LogDeterminant(), Cholesky()], ids=lambda op: op.name)
def test_threads_share_a_batch_and_change_nothing(op: Any) -> None:
    x = matrices((701,), 6, 6, "float64")
    x = x @ np.swapaxes(x, -1, -2) + np.eye(6)
    arrays = (x, x[..., :1].copy()) if isinstance(op, Solve) else (x,)
    (call,) = [s.call for s in lower(program(op, *arrays), {}, options()).walk() if isinstance(s, Invoke)]
    assert isinstance(call, EliminationCall)
    assert call.multiplications >= WORTH_A_THREAD
    for one, two in zip(machine_code(op, *arrays, threads=1), machine_code(op, *arrays), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("size", [LARGEST + 1, 3])
def test_large_and_complex_ones_are_lapack_s(size: int) -> None:
    dtype = "float64" if size > LARGEST else "complex128"
    x = matrices((), size, size, "float64").astype(dtype)
    fast = ms.jit(lambda a: mnp.linalg.solve(a, a))
    np.testing.assert_allclose(fast(Tensor(x)).asnumpy(), np.eye(size), atol=1e-9)


def filtered(z: Any, F: Any, H: Any) -> Any:
    state, spread, score = mnp.zeros(2, dtype="float64"), mnp.eye(2, dtype="float64"), 0.0
    for seen in z:
        state, spread = F @ state, F @ spread @ F.T + 0.01 * mnp.eye(2)
        left, S = seen - H @ state, H @ spread @ H.T + 0.25 * mnp.eye(2)
        gain = mnp.linalg.solve(S.T, (spread @ H.T).T).T
        state, spread = state + gain @ left, (mnp.eye(2) - gain @ H) @ spread
        score = score - 0.5 * (mnp.linalg.slogdet(S)[1] + left @ mnp.linalg.solve(S, left))
    return score


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_the_likelihood_of_a_filter_has_the_slopes_of_differences(way: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    z, F, H = rng.normal(size=(40, 2)), np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.2, 1.0]])
    slopes = way(ms.grad(filtered, (1, 2)))(*map(Tensor, (z, F, H)))
    for place, slope in ((1, slopes[0]), (2, slopes[1])):
        for i in np.ndindex(2, 2):
            ends = []
            for step in (1e-5, -1e-5):
                given = [z, F.copy(), H.copy()]
                given[place][i] += step
                ends.append(float(filtered(*map(Tensor, given)).asnumpy()))
            np.testing.assert_allclose(slope.asnumpy()[i], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-6)
