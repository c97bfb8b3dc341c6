"""What NumPy writes into an array, eagerly and compiled: the same numbers at the same places; nothing is given back."""

import linecache

import numpy
import pytest

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor
from tests.each import each

ROWS = numpy.arange(12.0).reshape(3, 4) - 5
TALL = numpy.arange(14.0).reshape(7, 2)
CUBE = numpy.arange(27.0).reshape(3, 3, 3)
COUNTS = numpy.arange(6)
WRITES = {
    ("np.fill_diagonal(x, 7.0)", "ROWS TALL CUBE"),
    ("np.fill_diagonal(x, [1.0, 2.0])", "ROWS TALL CUBE"),
    ("np.fill_diagonal(x, 7.0, wrap=True)", "ROWS TALL"),
    ("np.copyto(x, 2.0)", "ROWS"),
    ("np.copyto(x, np.array([1.0, 2.0, 3.0, 4.0]), where=x > 0)", "ROWS"),
    ("np.put(x, [0, -1, 5], [7.0, 8.0])", "ROWS"),
    ("np.put(x, [0, 99], 7.0, mode='clip')", "ROWS"),
    ("np.put(x, [13, 27], 7.0, mode='wrap')", "ROWS"),
    ("np.place(x, x > 0, [1.0, 2.0, 3.0])", "ROWS TALL"),
    ("np.putmask(x, x > 0, [1.0, 2.0, 3.0])", "ROWS TALL"),
    ("np.putmask(x, x < 3, x * 2)", "ROWS"),
    ("np.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 0.0, 1)", "ROWS TALL CUBE"),
    ("np.put_along_axis(x, np.array([[-1, 0], [0, 1], [1, 0]]), np.array([[5.0, 6.0]]), axis=1)", "ROWS"),
    ("np.put_along_axis(x, np.array([2, 0]), 9.0, None)", "ROWS"),
    ("np.add.at(x, [0, 0, 2], 1.0)", "ROWS TALL"),
    ("np.add.at(x, ([0, 0, 1], [1, 1, 0]), np.array([1.0, 2.0, 3.0]))", "ROWS TALL"),
    ("np.subtract.at(x, slice(0, 2), 1.0)", "ROWS"),
    ("np.multiply.at(x, np.array([1, 1]), 3.0)", "ROWS COUNTS"),
    ("np.maximum.at(x, [0, 1, 0], 4.0)", "ROWS"),
    ("np.minimum.at(x, x > 2, 1.0)", "ROWS"),
    ("np.add.at(x, [5, 5, 1], 2)", "COUNTS"),
    ("np.power.at(x, [2, 2, 3], 2)", "COUNTS"),
    ("np.bitwise_or.at(x, [0, 4], 3)", "COUNTS"),
}


def written(write, array, way):
    """What an array holds after a write that gives nothing."""
    x = Tensor(array.copy())

    source, names = f"def run(x):\n    assert {write} is None\n    return x * 1\n", {"np": mnp}
    linecache.cache[write] = len(source), None, source.splitlines(keepends=True), write
    exec(compile(source, write, "exec"), names)
    assert way(names["run"])(x).tolist() == x.tolist()
    return x.asnumpy()


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_writes_are_those_of_numpy(way):
    def check(write, array):
        want = array.copy()
        assert eval(write, {"np": numpy, "x": want}) is None
        numpy.testing.assert_array_equal(written(write, array, way), want)

    each(check, [(f"{w} {n}", (w, globals()[n])) for w, names in sorted(WRITES) for n in names.split()])


def test_mistakes_are_told_and_nothing_is_written():
    for write, error in (
        ("np.fill_diagonal(x[0], 1.0)", ValueError),
        ("np.fill_diagonal([[1.0]], 1.0)", TypeError),
        ("np.copyto(x, np.array([1.0, 2.0]))", ValueError),
        ("np.copyto(x.astype('int32'), np.array([1.5]))", TypeError),
        ("np.put(x, [99], 1.0)", IndexError),
        ("np.place(x, x > 0, [])", ValueError),
        ("np.place(x, [True], [1.0])", ValueError),
        ("np.putmask(x, [True], [1.0])", ValueError),
        ("np.put_along_axis(x, np.array([0]), 1.0, 1)", ValueError),
        ("np.add.at(x, [7], 1.0)", IndexError),
        ("np.add.at(x, [0])", TypeError),
        ("np.subtract.reduce(x, axis=(0, 1))", ValueError),
        ("np.subtract.reduce(x[:0])", ValueError),
        ("np.add.reduceat(x, [7])", IndexError),
        ("np.add.accumulate(np.array(1.0))", (ValueError, TypeError)),
    ):
        x = Tensor(ROWS)
        with pytest.raises(error):
            eval(write, {"np": mnp, "x": x})
        numpy.testing.assert_array_equal(x.asnumpy(), ROWS)


def test_nothing_that_stands_in_a_file_is_run(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.array([print], object), allow_pickle=True)
    with pytest.raises(ValueError, match="no file of arrays"):
        mnp.load(tmp_path / "a.npy")
    (tmp_path / "b.npy").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no file of arrays"):
        mnp.load(tmp_path / "b.npy")


def test_divisions_by_zero_may_be_wished_silent():
    assert mnp.seterr(all="ignore") == mnp.geterr()
    with mnp.errstate(divide="ignore", invalid="ignore"):
        assert ms.jit(lambda x: x / 0)(Tensor([1.0])).tolist() == [mnp.inf]


def test_folds_are_part_of_the_program():
    @ms.jit
    def run(x):
        return mnp.minimum.accumulate(x) + mnp.add.reduce(x), mnp.subtract.outer(x, x)

    first, _ = run(Tensor([3.0, 1.0, 2.0]))
    assert first.tolist() == [9.0, 7.0, 7.0]
    assert "one native call" in run.explain()
    assert "Python" not in run.explain()
