"""Random numbers under vmap: every example draws its own, wherever it draws, and jit draws what eager mode does."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.api import vectorize

ROWS = Tensor(np.stack([np.ones(16), np.full(16, 2.0), -np.ones(16), np.full(16, 3.0)]).astype("f"))


def in_a_branch(x):
    return x + ops.rand(16) if x.sum() > 0 else x * 2.0


def in_both_branches(x):
    if x.sum() > 0:
        drawn_here = ops.rand(16)
        x = x * 0.0 + drawn_here
    else:
        x = x * 0.0 + ops.randn(16)
    return x + ops.rand(16)


def in_branches_inside(x):
    if x.sum() > 0:
        if x.max() > 1.5:
            return ops.randn(16)
        return ops.rand(16) + 5.0
    return x


def dropout_in_a_branch(x):
    return ops.dropout(x, 0.5) if x.sum() > 0 else x


def layer_in_a_branch(x, layer=nn.Dropout(p=0.5).set_train()):  # noqa: B008  # one layer for all
    return layer(x) if x.sum() > 0 else x


def in_a_loop(x):
    for _ in range(3):
        x = x + ops.rand(16)
    return x


def in_a_while(x):
    x = x[:1] * 0.0
    while x.sum() < 2.0:
        x = x + ops.rand(1)
    return x


def whole_numbers(x):
    return ops.randint(0, 1000, (16,)) if x.sum() > 0 else ops.cast(x, ms.int64)


def choices(x):
    return ops.multinomial(ops.abs(x) / 16, 5)


def choices_without_return(x):
    return ops.multinomial(ops.abs(x) / 16, 5, replacement=False)


def choices_in_a_branch(x):
    return ops.multinomial(ops.abs(x), 8) if x.sum() > 0 else ops.multinomial(ops.abs(x), 8, replacement=False)


PROGRAMS = [
    in_a_branch, in_both_branches, in_branches_inside, dropout_in_a_branch, layer_in_a_branch, in_a_loop, in_a_while,
    whole_numbers, choices, choices_without_return, choices_in_a_branch,
]  # fmt: skip


def drawn(fn, wrap):
    """Two calls, and what the session draws afterwards."""
    ms.set_seed(11)
    mapped = wrap(ms.vmap(fn))
    return [mapped(ROWS).asnumpy(), mapped(ROWS).asnumpy(), ops.rand(3).asnumpy()]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_every_example_draws_its_own_and_jit_draws_the_same(fn):
    eager = drawn(fn, lambda f: f)
    for a, b in zip(eager, drawn(fn, ms.jit), strict=True):
        np.testing.assert_array_equal(a, b)
    first, second, _ = eager
    assert not np.array_equal(first, second)  # the next call draws others
    shifts, masks = fn is in_a_branch, fn in (dropout_in_a_branch, layer_in_a_branch)
    drawn_by = [first[i] - (i + 1) if shifts else first[i] != 0.0 if masks else first[i] for i in (0, 1)]
    assert not np.allclose(*drawn_by), "two examples have drawn the same"


@pytest.mark.parametrize("fn", [in_a_branch, in_branches_inside, choices], ids=lambda fn: fn.__name__)
def test_examples_of_examples_draw_their_own(fn):
    rows = Tensor(np.ones((2, 3, 16), np.float32) * 2.0)
    results = []
    for wrap in (lambda f: f, ms.jit):
        ms.set_seed(5)
        results.append(wrap(ms.vmap(ms.vmap(fn)))(rows).asnumpy().reshape(6, -1))
    np.testing.assert_array_equal(*results)
    assert len({row.tobytes() for row in results[0]}) == 6


def test_draws_are_spread_evenly_over_examples():
    """The mean over many examples is that of the distribution: a branch per example loses none."""
    rows = Tensor(np.where(np.arange(400) % 2, 1.0, -1.0).astype("f").reshape(400, 1))
    ms.set_seed(2)
    found = ms.vmap(lambda x: ops.rand(25) if x.sum() > 0 else ops.rand(25) - 1.0)(rows).asnumpy()
    assert abs(found[1::2].mean() - 0.5) < 0.02
    assert abs(found[::2].mean() + 0.5) < 0.02
    assert len(np.unique(found)) > 9990


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_one_example_after_the_other_draws_what_all_at_once_do(fn):
    def one_by_one(fn):
        return lambda rows: vectorize._looped(fn, (rows,), 0, 0, "different")

    ms.set_seed(11)
    mapped = one_by_one(fn)
    loop = [mapped(ROWS).asnumpy(), mapped(ROWS).asnumpy(), ops.rand(3).asnumpy()]
    for a, b in zip(loop, drawn(fn, lambda f: f), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)  # other code draws normal numbers: the last bit is its own


def test_what_an_inner_batch_draws_before_a_branch_is_drawn_once():
    """A function that turns out to branch is run again in another way: all that it drew is drawn again."""

    def fn(x):
        noisy = ms.vmap(lambda e: e + ops.rand(()))(x) + ops.rand(2)
        return noisy if x.sum() > 3 else -noisy

    found = []
    for wrap in (lambda f: f, ms.jit):
        ms.set_seed(5)
        found.append((wrap(ms.vmap(fn))(Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist(), ms.get_rng_state().tolist()))
    assert found[0] == found[1]
    assert found[0][1][2] == 2


@pytest.mark.parametrize("fn", [lambda x: x + ops.rand(2), lambda x: ops.rand(2) if x > 0 else x + ops.randn(2)])
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit])
def test_no_examples_draw_nothing(fn, wrap):
    ms.set_seed(5)
    mapped = wrap(ms.vmap(fn))
    assert mapped(Tensor([1.0, 2.0])[:0]).shape == (0, 2)
    assert ms.get_rng_state().tolist() == [5, 0, 0, 0]
    assert mapped(Tensor([1.0, 2.0, 3.0])).shape == (3, 2)
    assert ms.get_rng_state().tolist() != [5, 0, 0, 0]
