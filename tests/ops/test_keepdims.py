"""Whether axes stay is True or False in every function that asks; MindSpore refuses numbers and texts as well."""

import inspect

import numpy as np
import pytest

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor, mint, ops
from tests.each import each

SPELLINGS = ("keepdims", "keepdim", "keep_dims")
FILLED = dict.fromkeys(("input", "x", "a", "A", "self"), Tensor(np.arange(1, 7, dtype=np.float32).reshape(2, 3)))
FILLED |= {"q": 0.5, "k": 1, "axis": 1, "dim": 1}


def parameters(space, name):
    function = getattr(space, name, None)
    if not callable(function) or isinstance(function, type):
        return {}
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


CASES = [
    (space, name, spelt)
    for space in (ops, mint, mint.linalg, mnp, mnp.linalg, Tensor)
    for name in dir(space)
    if not name.startswith("_")
    for spelt in SPELLINGS
    if spelt in parameters(space, name)
]


def call(space, name, spelt, keep, with_axis):
    asked = parameters(space, name)
    needed = {n: p for n, p in asked.items() if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    along = [n for n in ("axis", "dim") if n in asked and n not in needed][: 1 if with_axis else 0]
    free = {n: FILLED[n] for n in along}
    return getattr(space, name)(*[FILLED[n] for n in needed], **free, **{spelt: keep})


def test_there_are_many():
    assert len(CASES) > 120


@pytest.mark.parametrize("with_axis", [False, True], ids=["whole", "axis"])
def test_whether_axes_stay_is_true_or_false(with_axis):
    for case in CASES:
        call(*case, np.bool_(True), with_axis)
        for wrong in ("yes", 1, 0, None):
            with pytest.raises(TypeError, match="True or False"):  # noqa: PT012 (the name of the one that takes it)
                call(*case, wrong, with_axis)
                pytest.fail(f"{case[1:]} takes {wrong!r}")


def test_a_program_refuses_it_as_well():
    for wrong in ("yes", 1):
        with pytest.raises(TypeError, match="True or False"):
            ms.jit(lambda x, wrong=wrong: ops.logsumexp(x, 0, wrong))(Tensor([1.0]))


ROWS = np.array([[3.0, 1.0, 2.0], [0.5, 7.0, 4.0]], np.float32)
SPOKEN = {
    "kept": ((-1,), {"keepdims": True}),
    "not kept": ((-1,), {"keepdims": False}),
    "initial": ((-1,), {"initial": 5.0}),
    "where": ((0, True), {"where": ROWS > 1, "initial": 2.0}),
    "axes": (((0, 1),), {}),
    "axes kept": (((0, 1), True), {}),
    "axis by name": ((), {"axis": 1, "keepdims": True}),
}


def test_an_extreme_that_is_asked_for_in_words_of_numpy_is_that_of_numpy():
    def check(name, args, words):
        axis = words.get("axis", args[0] if args else None)
        kept = words.get("keepdims", args[1] if len(args) > 1 else False)
        more = {k: v for k, v in words.items() if k in ("initial", "where")}
        want = getattr(np, name)(ROWS, axis=axis, keepdims=kept, **more)
        got = getattr(Tensor(ROWS), name)(*args, **words)
        assert isinstance(got, Tensor)
        np.testing.assert_array_equal(got.asnumpy(), want)

    each(check, [(f"{n} {c}", (n, *given)) for n in ("max", "min") for c, given in SPOKEN.items()])


def test_an_extreme_along_one_axis_comes_with_its_place():
    for name in ("max", "min"):
        for args, words in (((1,), {}), ((1, True), {}), ((), {"dim": 1}), ((1,), {"return_indices": True})):
            values, places = getattr(Tensor(ROWS), name)(*args, **words)
            want = getattr(ROWS, "arg" + name)(axis=1)
            np.testing.assert_array_equal(places.asnumpy().ravel(), want)
            np.testing.assert_array_equal(values.asnumpy().ravel(), ROWS[[0, 1], want])
