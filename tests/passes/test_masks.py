"""What a mask chooses, changes and writes back is a choice; what it is, it stays."""

import numpy as np
import pytest

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor
from tests.each import each

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 9, 7)).astype("f")


def rows(x, y, m):
    x[m[:, 0]] = x[m[:, 0]] * y[m[:, 0]] - 1.0
    return x


def elements(x, y, m):
    x[m] = x[m] ** 2 + y[m]
    return x


def twice(x, y, m):
    x[m] = -x[m]
    x[m] += y[m]
    return x


def two_masks(x, y, m):
    x[m] = abs(x[m])
    x[y > 0] = x[y > 0] * y[y > 0]
    return x


def broadcast(x, y, m):
    x[m[:, 0]] = x[m[:, 0]] * y[0] + 1.0
    return x


def of_all(x, y, m):
    """A number that comes out of what was chosen."""
    x[m] = x[m] - x[m].sum()
    return x


def chosen_too(x, y, m):
    x[m] = x[m] * 2.0
    return x, y[m] + 1.0


def counted(x, y, m):
    x[m] = x[m] * float(2) + x[m].size
    return x


def in_a_loop(x, y, m):
    for _ in range(40):
        x[m] = x[m] * 0.5 + y[m]
        m = m & (x < 1.0)
    return x, m


CHOICES = {f.__name__: f for f in (rows, elements, twice, two_masks, broadcast, of_all, in_a_loop)}
KEPT = {f.__name__: f for f in (chosen_too, counted)}


def positions(fn):
    """Whether a program counts where a mask holds."""
    return "birth" in fn.show("program")


def same(fn, run, *inputs):
    want = fn(*[x.copy() for x in inputs])
    got = run(*map(Tensor, inputs))
    for a, b in zip(*[r if isinstance(r, tuple) else (r,) for r in (got, want)], strict=True):
        np.testing.assert_allclose(a.asnumpy(), b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fn", (CHOICES | KEPT).values(), ids=CHOICES | KEPT)
def test_what_is_written_by_a_mask_is_what_numpy_writes(fn):
    run = ms.jit(fn)
    for m in (X > 0, X > 9, X < 9):
        same(fn, run, X, Y, m)
    assert "one native call" in run.explain()


@pytest.mark.parametrize("fn", [CHOICES[n] for n in ("rows", "elements", "twice", "two_masks", "broadcast")])
def test_a_choice_needs_no_positions(fn):
    run = ms.jit(fn)
    run(Tensor(X), Tensor(Y), Tensor(X > 0))
    assert not positions(run)


@pytest.mark.parametrize("fn", KEPT.values(), ids=KEPT)
def test_positions_stay_for_whoever_else_asks_how_many_there_are(fn):
    run = ms.jit(fn)
    run(Tensor(X), Tensor(Y), Tensor(X > 0))
    assert positions(run)


def test_what_takes_long_is_computed_where_the_mask_holds():
    def fn(x, y, m):
        x[m] = np.tanh(np.exp(x[m]) * np.sin(y[m]))
        return x

    def mine(x, y, m):
        x[m] = mnp.tanh(mnp.exp(x[m]) * mnp.sin(y[m]))
        return x

    run = ms.jit(mine)
    run(Tensor(X), Tensor(Y), Tensor(X > 0))
    assert positions(run)
    same(fn, run, X, Y, X > 0)


def test_all_types_are_written_by_masks():
    def check(dtype):
        x, y = ((a * 4).astype(dtype) for a in (X, Y))
        run = ms.jit(elements)
        same(elements, run, x, y, X > 0)
        assert not positions(run)

    each(check, [(dtype, (dtype,)) for dtype in ("f4", "f8", "c8", "c16", "i4", "i8")])


def test_division_by_what_the_mask_leaves_out_is_nobody_s_concern():
    def fn(x, y, m):
        x[m] = x[m] // y[m]
        return x

    x, y = np.arange(63).reshape(9, 7), np.arange(63).reshape(9, 7) % 3
    same(fn, ms.jit(fn), x, y, y > 0)
