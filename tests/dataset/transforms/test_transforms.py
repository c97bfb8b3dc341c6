"""Transforms of any column, against NumPy."""

import ctypes.util
import pickle
import shutil
import subprocess

import numpy as np
import pytest

import mycelia.dataset.transforms as T
from mycelia.dataset.random import seeded
from mycelia.errors import MyceliaError


def test_compose_hands_several_columns_on():
    swap = T.Compose([lambda x, y: (y, x), lambda x, y: (x + 1, y)])
    assert swap(1, 2) == (3, 1)
    assert T.Compose([T.Duplicate(), lambda x, y: x + y])(np.array([2])).tolist() == [4]


def test_random_apply_runs_all_or_nothing():
    both = T.RandomApply([lambda x: x + 1, lambda x: x * 10], prob=0.3)
    with seeded(np.random.default_rng(0)):
        results = [both(1) for _ in range(2000)]
    assert set(results) == {1, 20}
    assert abs(results.count(20) / 2000 - 0.3) < 0.05


def test_random_choice_is_uniform():
    with seeded(np.random.default_rng(0)):
        results = [T.RandomChoice([lambda x: x, lambda x: -x])(1) for _ in range(2000)]
    assert abs(results.count(1) / 2000 - 0.5) < 0.05


def test_random_order_runs_each_once():
    with seeded(np.random.default_rng(0)):
        orders = {tuple(T.RandomOrder([lambda x, s=s: [*x, s] for s in range(3)])([])) for _ in range(200)}
    assert len(orders) == 6


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_one_hot_puts_the_one_at_the_label(shape):
    labels = np.random.default_rng(0).integers(0, 7, shape)
    hot = T.OneHot(7)(labels)
    np.testing.assert_array_equal(hot, np.eye(7, dtype=labels.dtype)[labels])
    smooth = T.OneHot(7, 0.2)(labels)
    np.testing.assert_allclose(smooth, hot * 0.8 + 0.2 / 7)


def test_a_label_axis_of_one_gives_way():
    np.testing.assert_array_equal(T.OneHot(3)(np.array([[1], [2]])), [[0, 1, 0], [0, 0, 1]])


def test_type_cast_wraps_as_c_does():
    np.testing.assert_array_equal(T.TypeCast(np.uint8)(np.array([300.7, -2.7])), np.array([44, 254], np.uint8))


@pytest.mark.parametrize("op", list(T.Relational))
def test_mask_compares_each_element(op):
    x = np.arange(5)
    want = {"EQ": x == 2, "NE": x != 2, "GT": x > 2, "GE": x >= 2, "LT": x < 2, "LE": x <= 2}[op.name]
    np.testing.assert_array_equal(T.Mask(op, 2)(x), want)
    assert T.Mask(op, 2, np.int32)(x).dtype == np.int32


def test_mask_compares_numbers_whatever_their_type():
    np.testing.assert_array_equal(T.Mask(T.Relational.EQ, 2)(np.array([True, False])), [False, False])
    np.testing.assert_array_equal(T.Mask(T.Relational.GT, -1)(np.array([0, 255], np.uint8)), [True, True])
    np.testing.assert_array_equal(T.Mask(T.Relational.NE, 2.5)(np.array([2, 3])), [True, True])


def test_pad_end_pads_and_cuts_each_axis():
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(T.PadEnd([3, 2], -1)(x), [[0, 1], [3, 4], [-1, -1]])
    np.testing.assert_array_equal(T.PadEnd([None, 4])(x), [[0, 1, 2, 0], [3, 4, 5, 0]])
    assert T.PadEnd([3], "long")(np.array(["a", "b"])).tolist() == ["a", "b", "long"]
    assert T.PadEnd([None])(np.array(["a", "b"])).tolist() == ["a", "b"]


def test_unique_restores_the_array():
    x = np.random.default_rng(0).integers(0, 5, (4, 6))
    values, index, counts = T.Unique()(x)
    np.testing.assert_array_equal(values[index], x.ravel())
    np.testing.assert_array_equal(counts, [(x == v).sum() for v in values])
    assert list(values) == list(dict.fromkeys(x.ravel()))


def test_slice_keeps_every_axis():
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(T.Slice(0, slice(1, 3), [0, 3])(x), x[0:1, 1:3][:, :, [0, 3]])
    np.testing.assert_array_equal(T.Slice(Ellipsis, -1)(x), x[..., -1:])
    np.testing.assert_array_equal(T.Slice(None, [2])(x), x[:, [2]])


def test_concatenate_joins_columns_with_prepend_and_append():
    joined = T.Concatenate(1, np.zeros((2, 1)), np.full((2, 1), 9.0))(np.ones((2, 2)), np.full((2, 1), 5.0))
    np.testing.assert_array_equal(joined, [[0, 1, 1, 5, 9]] * 2)


def test_not_random_marks_a_function():
    assert T.not_random(lambda x: x).random is False


def test_modules_that_mindspore_shows_are_there():
    assert T.vision.Inter.BICUBIC == 3
    assert T.transforms.Compose is T.Compose
    assert T.validators.check_random_transform_ops([abs]) == (abs,)
    assert T.py_transforms_util.compose([abs], -1) == (1,)


@pytest.mark.parametrize(
    "transform", [T.OneHot(3), T.PadEnd([2]), T.TypeCast("float32"), T.Slice(1), T.Mask(T.Relational.EQ, 1), T.Fill(1)]
)
def test_transforms_travel_between_processes(transform):
    x = np.array([1, 0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(transform))(x), transform(x))


PLUGIN = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int add(char *data, const int64_t *shape, int rank, const char *dtype, const char *user_args) {
    int64_t count = 1;
    if (strcmp(dtype, "int32")) return 7;
    for (int axis = 0; axis < rank; axis++) count *= shape[axis];
    for (int64_t i = 0; i < count; i++) ((int32_t *)data)[i] += atoi(user_args);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_plugin_computes_on_a_copy_of_the_column(tmp_path):
    (tmp_path / "plugin.c").write_text(PLUGIN)
    library = tmp_path / "plugin.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "plugin.c"], check=True, timeout=60)
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    np.testing.assert_array_equal(T.Plugin(str(library), "add", "5")(x.T), x.T + 5)
    np.testing.assert_array_equal(x.ravel(), np.arange(6))
    with pytest.raises(MyceliaError, match="answered 7"):
        T.Plugin(str(library), "add", "5")(np.zeros(2))


def test_a_plugin_that_is_not_there_says_so():
    with pytest.raises(ImportError, match="plugin"):
        T.Plugin("libnowhere.so", "f")(np.zeros(2))
    if name := ctypes.util.find_library("c"):
        with pytest.raises(ImportError, match="no_such_function"):
            T.Plugin(name, "no_such_function")(np.zeros(2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.Compose([]), "empty"),
        (lambda: T.Compose([3]), "callable"),
        (lambda: T.RandomApply([abs], 2.0), "prob"),
        (lambda: T.OneHot(3)(np.array([3])), "class"),
        (lambda: T.OneHot(3)(np.array([-2])), "class"),
        (lambda: T.Concatenate(1)(np.zeros((2, 2)), np.zeros((3, 2))), "joined"),
        (lambda: T.TypeCast("int32")(np.array(["1"])), "ToNumber"),
        (lambda: T.OneHot(3)(np.array([1.5])), "integer"),
        (lambda: T.PadEnd([2])(np.zeros((2, 2))), "axis"),
        (lambda: T.Slice(7)(np.arange(3)), "outside"),
        (lambda: T.TypeCast("nonsense"), "element type"),
        (lambda: T.Concatenate()(np.array([1]), np.array([1.0])), "differ"),
        (lambda: T.Fill("a")(np.array([1])), "kind"),
    ],
)
def test_a_mistake_is_told(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        call()
    assert isinstance(raised.value, MyceliaError)
