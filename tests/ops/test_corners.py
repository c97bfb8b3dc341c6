"""Where a function has a corner, its derivative is a slope between those at both sides, and never NaN."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

LENGTHS = {
    "norm": lambda x: ops.norm(x),
    "frobenius": lambda x: ops.norm(x.reshape(1, 3), "fro"),
    "std": lambda x: ops.std(x),
    "hypot": lambda x: ops.hypot(x[0], x[1]),
    "clipped": lambda x: ops.clip_by_global_norm((x,), 1.0)[0].sum() - x.sum(),
}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_a_length_of_nothing_has_no_slope(name, wrap):
    f, nothing = wrap(LENGTHS[name]), Tensor(np.zeros(3, "f"))
    np.testing.assert_array_equal(ms.grad(f)(nothing).asnumpy(), np.zeros(3))
    np.testing.assert_array_equal(ms.grad(lambda x: ms.grad(f)(x).sum())(nothing).asnumpy(), np.zeros(3))
    assert np.isnan(f(Tensor(np.array([np.nan, 1.0, 2.0], "f"))).asnumpy()).all()
