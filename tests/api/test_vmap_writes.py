"""An example that is written to under vmap is a row of the argument: the argument holds what was written."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops

ROWS = np.arange(6.0, dtype=np.float32).reshape(3, 2)


def _item(x):
    x[0] = 7.0
    return x * 2.0


def _assigned(x):
    ops.assign(x, x * 10.0)
    return x.sum()


def _in_a_branch(x):
    if x.sum() > 2:
        x[1] = -1.0
    return x + 1.0


def _untouched(x):
    x = x + 1.0
    x[0] = 7.0
    return x


@pytest.mark.parametrize("fn", [_item, _assigned, _in_a_branch, _untouched])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("kind", [Tensor, Parameter])
@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_the_argument_holds_what_its_examples_were_given(fn, axis, kind, run):
    data = np.moveaxis(ROWS, 0, axis).copy()
    x = kind(data)
    found = run(ms.vmap(fn, in_axes=axis))(x)
    rows = [Tensor(row) for row in ROWS]
    results = [fn(row) for row in rows]
    np.testing.assert_array_equal(found.asnumpy(), np.stack([r.asnumpy() for r in results]))
    np.testing.assert_array_equal(x.asnumpy(), np.moveaxis(np.stack([r.asnumpy() for r in rows]), 0, axis))


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_a_shared_argument_cannot_be_written_to_by_each(run):
    shared = Tensor([1.0, 2.0])

    def fn(x, y):
        y[0] = x
        return x

    with pytest.raises(ValueError, match="all examples share"):
        run(ms.vmap(fn, in_axes=(0, None)))(Tensor([1.0, 2.0]), shared)
    assert shared.tolist() == [1.0, 2.0]
