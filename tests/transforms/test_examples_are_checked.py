"""Under vmap each example is held to what a single call is: positions exist, texts tell numbers."""

from collections import deque

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import CaptureError

ROWS = Tensor(np.arange(12, dtype="f").reshape(4, 3))
RIGHT, WRONG = Tensor([0, 2, 1, 0]), Tensor([0, 2, 3, 0])
TABLE = nn.Embedding(3, 2)


def written(x, i):
    y = x * 1
    y[i] = 5.0
    return y


def on_one_way(x, i):
    if x.sum() > 12:
        return x[i]
    return x[0]


def in_a_loop(x, i):
    for _ in range(3):
        x = x + x[i]
    return x


LOOKS = {
    "index": lambda x, i: x[i],
    "gather": lambda x, i: ops.gather(x, i, 0),
    "gather_elements": lambda x, i: ops.gather_elements(x, 0, i.reshape(1)),
    "index_select": lambda x, i: x.index_select(0, i.reshape(1)),
    "embedding": lambda x, i: TABLE(i) + x[0],
    "cross_entropy": lambda x, i: ops.cross_entropy(x, i.astype("int32")),
    "scatter": lambda x, i: ops.tensor_scatter_update(x, i.reshape(1, 1), Tensor([7.0])),
    "multinomial": lambda x, i: x + ops.multinomial((3.0 - i) * Tensor([1.0, 0.0]), 1),
    "written": written,
    "on one way": on_one_way,
    "in a loop": in_a_loop,
    "another vmap": lambda x, i: ms.vmap(lambda k: x[k])(i + Tensor([0, 0])),
}
WAYS = {
    "eager": lambda f: ms.vmap(f),
    "jit of vmap": lambda f: ms.jit(ms.vmap(f)),
    "vmap of jit": lambda f: ms.vmap(ms.jit(f)),
    "gradient": lambda f: lambda x, i: ms.grad(lambda x: ms.vmap(f)(x, i).sum())(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("look", LOOKS)
def test_a_position_that_does_not_exist_is_an_error_for_one_of_many(look, way):
    run = WAYS[way](LOOKS[look])
    with pytest.raises((IndexError, ValueError)):
        run(ROWS, WRONG)
    run(ROWS, RIGHT)
    with pytest.raises((IndexError, ValueError)):
        run(ROWS, WRONG)


@pytest.mark.parametrize("look", [n for n in LOOKS if n != "multinomial"])
def test_positions_that_exist_give_what_each_example_gives(look):
    wanted = [LOOKS[look](x, i).asnumpy() for x, i in zip(ROWS, RIGHT, strict=True)]
    assert np.allclose(ms.vmap(LOOKS[look])(ROWS, RIGHT).asnumpy(), np.stack(wanted))


@pytest.mark.parametrize("say", [print, lambda x: print(f"{x}"), lambda x: print("sum", x.sum()), lambda x: print([x])])
def test_printing_shows_the_numbers_of_each_example(say, capsys):
    def each(x):
        say(x)
        return x * 2

    for row in ROWS:
        say(row)
    wanted = capsys.readouterr().out
    assert ms.vmap(each)(ROWS).tolist() == (ROWS * 2).tolist()
    assert capsys.readouterr().out == wanted


def test_a_size_that_depends_on_the_example_is_refused_in_words():
    for each in (lambda x: x[x > 4], lambda x: written(x[x > 4], 0), lambda x: ops.nonzero(x > 4).shape[0]):
        for run in (ms.vmap(each), ms.jit(ms.vmap(each))):
            with pytest.raises(CaptureError, match="size"):
                run(ROWS)


SUMS = {
    "mask": lambda x: x[x > 4].sum(),
    "mean": lambda x: x[x > 1].mean(),
    "nonzero": lambda x: ops.nonzero(x > 4).sum(),
    "unique": lambda x: ops.unique(x // 2)[0].sum(),
    "sorted": lambda x: ops.sort(x[x > 4])[0].sum(),
    "running sums": lambda x: ops.cumsum(x[x > 4], 0).sum(),
    "joined": lambda x: ops.concat([x[x > 4], x]).sum(),
}


@pytest.mark.parametrize("name", SUMS)
def test_what_is_computed_of_such_a_size_is_that_of_each_example(name):
    wanted = [SUMS[name](x).asnumpy() for x in ROWS]
    for run in (ms.vmap(SUMS[name]), ms.jit(ms.vmap(SUMS[name]))):
        assert np.allclose(run(ROWS).asnumpy(), np.stack(wanted))


class Box:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize("give", [Box, lambda x: deque([x]), lambda x: iter([x]), lambda x: lambda: x])
def test_what_could_hold_an_unfinished_tensor_is_refused(give):
    for run in (ms.vmap(give), ms.jit(ms.vmap(give))):
        with pytest.raises(CaptureError):
            run(ROWS)


@pytest.mark.parametrize("give", [lambda x: ({1, 2}, x * 2), lambda x: ["a", 1, None, True, x], lambda x: {"a": x}])
def test_what_is_the_same_for_all_examples_is_given_once(give):
    wanted = give(ROWS)
    for run in (ms.vmap(give), ms.jit(ms.vmap(give))):
        assert repr(run(ROWS)) == repr(wanted)


@pytest.mark.parametrize(
    "each", [lambda x: x[x > 4].sum(), lambda x: (x[x > 1] ** 2).mean(), lambda x: ops.relu(x).sum()]
)
def test_a_gradient_through_sizes_of_examples_is_right_or_refused(each):
    wanted = np.stack([ms.grad(each)(x).asnumpy() for x in ROWS])
    for run in (ms.vmap(ms.grad(each)), ms.jit(ms.vmap(ms.grad(each)))):
        assert np.allclose(run(ROWS).asnumpy(), wanted, equal_nan=True)
    for run in (ms.grad(lambda x: ms.vmap(each)(x).sum()), ms.jit(ms.grad(lambda x: ms.vmap(each)(x).sum()))):
        try:
            assert np.allclose(run(ROWS).asnumpy(), wanted, equal_nan=True)
        except CaptureError as error:
            assert "vmap(grad(f))" in str(error)  # noqa: PT017  # either is right


def test_a_tensor_that_is_kept_beyond_its_function_says_so():
    kept = []
    ms.vmap(lambda x: (kept.append(x), x * 2)[1])(ROWS)
    with pytest.raises(CaptureError, match="kept beyond"):
        kept[0].asnumpy()


def test_what_is_unique_has_no_gradient_eagerly_or_compiled():
    def sums(x):
        return ops.unique(x)[0].sum() + x.sum()

    assert ms.grad(sums)(ROWS[0]).tolist() == ms.jit(ms.grad(sums))(ROWS[0]).tolist() == [1.0, 1.0, 1.0]
