"""One jitted function over many shapes does what eager mode does: values, types, gradients, updates, errors."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops
from tests.sizes.corpus import CASES, Case
from tests.sizes.running import Both, drawn

SOME = (
    "mlp_train", "lenet_train", "batch_norm_train", "gpt_train", "rnn_over_time", "cond_on_a_tensor", "recursion",
    "means_and_deviations", "cumulative", "joined", "slices", "assigned_slices", "reshaped", "broadcasts", "aranges",
    "scattered", "masked", "ordered", "integers", "products", "mapped", "jacobians",
)  # fmt: skip
by_name = {case.name: case for case in CASES}
SHAPES = 1000  # in all programs together


@pytest.mark.parametrize("name", SOME)
def test_the_shapes_after_the_first_agree_with_eager_and_share_programs(name: str) -> None:
    case, r = by_name[name], np.random.default_rng(0)
    both = Both(case)
    for _ in range(5):
        both.check(r, drawn(case, r, least=2))
    assert both.programs <= 3 or not case.generic


@pytest.mark.parametrize("name", ["softmaxes", "filled", "half_precision"])
def test_empty_and_single_sizes_agree_with_eager(name: str) -> None:
    case, r = by_name[name], np.random.default_rng(1)
    both = Both(case)
    for sizes in [(3, 4), (0, 4), (1, 5), (5, 5), (4, 0), (1, 1)]:
        both.check(r, sizes)


def test_there_are_enough_programs() -> None:
    assert len(CASES) >= 30
    assert len(by_name) == len(CASES)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_random_shapes_agree_with_eager(case: Case) -> None:
    r = np.random.default_rng(len(case.name))
    both = Both(case)
    for _ in range(-(-SHAPES // len(CASES))):
        both.check(r, drawn(case, r))


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c.generic], ids=[c.name for c in CASES if c.generic])
def test_one_program_serves_fifty_sizes(case: Case) -> None:
    r = np.random.default_rng(3)
    both = Both(case)
    for _ in range(50):
        both.check(r, tuple(int(n) for n in r.integers(2, case.limit, case.sizes)))
    assert both.programs <= 3


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_a_program_that_is_symbolic_from_the_first_call_agrees_with_eager(case: Case) -> None:
    r = np.random.default_rng(5)
    both = Both(case, dynamic=1)
    for _ in range(6):
        both.check(r, drawn(case, r))


# ------------------------------------------------------------------------------------------ gradients from outside


DIFFERENTIATED = [
    lambda x: (ops.tanh(x) * x).sum(),
    lambda x: x.reshape(-1).sum() * 2 + (x.reshape(-1) ** 2).sum(),
    lambda x: ops.softmax(x, 0)[0].sum() + ops.cumsum(x, 1).mean(),
    lambda x: (x @ x.T).sum() + x[1:].sum(),
]


@pytest.mark.parametrize("which", range(len(DIFFERENTIATED)))
def test_a_jitted_function_is_differentiated_at_all_sizes(which: int) -> None:
    f = DIFFERENTIATED[which]
    jitted = ms.jit(f)
    r = np.random.default_rng(0)
    for shape in [(3, 4), (5, 4), (7, 6), (2, 9), (5, 4)]:
        x = Tensor(r.standard_normal(shape).astype("float32"))
        np.testing.assert_allclose(ms.grad(jitted)(x).asnumpy(), ms.grad(f)(x).asnumpy(), 1e-5, 1e-5)
        twice = ms.grad(lambda x, f=jitted: (ms.grad(f)(x) ** 2).sum())(x)
        expected = ms.grad(lambda x, f=f: (ms.grad(f)(x) ** 2).sum())(x)
        np.testing.assert_allclose(twice.asnumpy(), expected.asnumpy(), 1e-4, 1e-4)


def test_a_result_without_a_cotangent_counts_as_zero_at_all_sizes() -> None:
    pair = ms.jit(lambda x: (x * 2, x * x))
    for n in (3, 5, 7):
        x = Tensor(np.arange(n, dtype="float32"))
        assert ms.grad(lambda x: pair(x)[1].sum())(x).tolist() == (2 * np.arange(n)).tolist()
