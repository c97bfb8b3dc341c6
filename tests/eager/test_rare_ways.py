"""Ways through eager mode that few programs take: what shares memory, odd shapes, what is said, what is refused."""

import copy

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops
from mycelia import primitives as p
from mycelia.eager import dispatch
from mycelia.eager.trace import trace
from mycelia.errors import ArgumentError, CallError, MyceliaError, OutOfMemory
from mycelia.ir import Function, Value
from mycelia.sizes import Scope
from mycelia.types import TensorType, float32

COPIES = {
    "to a device": lambda x: x.to("CPU"),
    "to a device by its number": lambda x: x.to(device="CPU:0"),
    "moved": lambda x: x.move_to("CPU"),
    "copied": lambda x: x.copy(),
    "cloned": lambda x: x.clone(),
    "of its own type": lambda x: x.astype("float32"),
    "to another place": lambda x: x.to("CPU", copy=True),
    "to its type": lambda x: x.to(ms.float32, copy=True),
    "contiguous": lambda x: x.contiguous(),
    "a part": lambda x: x[:2].copy(),
    "turned": lambda x: x.reshape(3, 1).T.clone(),
    "deeply": copy.deepcopy,
    "deeply by name": ops.deepcopy,
    "in a nest": lambda x: copy.deepcopy({"x": [x]})["x"][0],
    "a parameter": lambda x: Parameter(x).clone(),
    "compiled": lambda x: ms.jit(lambda x: x.copy())(x),
    "added by a program": lambda x: ms.jit(lambda x: x + 0)(x),
    "an array": lambda x: np.array(x),
    "a list": lambda x: x.tolist(),
    "of another type": lambda x: x.astype("float64"),
    "added": lambda x: x + 0,
    "a new tensor": lambda x: ms.tensor(x.asnumpy().copy()),
    "picked": lambda x: x[[0, 1, 2]],
    "by a mask": lambda x: x[Tensor([True, True, True])],
    "gathered": lambda x: ops.gather(x, Tensor([0, 1, 2]), 0),
    "maximum": lambda x: ops.maximum(x, x),
    "chosen": lambda x: ops.where(x == x, x, x),
}


def told(x):
    return x.tolist() if hasattr(x, "tolist") else x


@pytest.mark.many("name", COPIES)
def test_what_is_no_view_does_not_follow_the_array_that_a_tensor_shares(name):
    array = np.array([1.0, 2.0, 3.0], np.float32)
    found = COPIES[name](Tensor.from_numpy(array))
    before = told(found)
    array[:] = 9
    assert told(found) == before
    x = Tensor.from_numpy(array)
    found = COPIES[name](x)
    before = told(found)
    x[1] = 5
    x += 1
    assert told(found) == before


REPEATS = {
    "broadcast": (lambda x: ops.broadcast_to(x, (4, 3)), 1, 7.0, lambda a: a.__setitem__(slice(None), 7)),
    "an element": (lambda x: ops.broadcast_to(x, (4, 3)), (2, 1), 7.0, lambda a: a.__setitem__(1, 7)),
    "expanded": (lambda x: x.expand_as(Tensor(np.zeros((2, 3)))), (0, 2), -0.0, lambda a: a.__setitem__(2, -0.0)),
    "nothing": (lambda x: x.broadcast_to((2, 3)), (0, 2), np.nan, lambda a: a.__setitem__(2, np.nan)),
}


@pytest.mark.many("name", REPEATS)
def test_writing_to_a_part_that_repeats_elements_changes_its_whole_and_no_array_from_before(name):
    how, index, value, wanted = REPEATS[name]
    array = np.array([1.0, 2.0, 0.0], np.float32)
    for x in (Tensor.from_numpy(array), Tensor(array), Parameter(Tensor(array))):
        kept, shared, other = x.asnumpy(), x.numbers(), Tensor(x)
        part = how(x)
        part[index] = value
        after = array.copy()
        wanted(after)
        assert x.asnumpy().tobytes() == after.tobytes()
        for old in (kept, shared, other.asnumpy(), array):
            assert old.tolist() == [1.0, 2.0, 0.0]
        np.testing.assert_array_equal(part.asnumpy(), np.broadcast_to(after, part.shape))


ONE = (TensorType(float32, (1,)),)


@pytest.mark.parametrize("whose", ["inner", "outer"])
def test_a_tensor_that_is_changed_in_a_trace_inside_of_another_is_told_of_and_given_back(whose):
    outside, seen = Tensor([1.0]), []

    def inner(x, y):
        outside.become((y if whose == "inner" else x) * 2)
        return y

    def outer(x):
        try:
            trace(lambda y: inner(x, y), ONE)
        finally:
            seen.append(type(outside._data))
        return x

    with pytest.raises(ArgumentError, match="each would change a tensor from outside"):
        trace(outer, ONE)
    assert outside.tolist() == [1.0]
    assert seen == [np.ndarray if whose == "inner" else Value]


def test_what_numpy_does_without_a_copy_is_not_compiled():
    n, m = (Scope().name(text, hint=8) for text in "nm")
    known = {
        "a view": (lambda x: p.transpose(x, (1, 0)), True),
        "views": (lambda x: p.flip(p.transpose(x, (1, 0)), (0,)), True),
        "itself": (lambda x: x, True),
        "computed": (lambda x: p.sin(x), False),
        "computed and turned": (lambda x: p.transpose(p.sin(x), (1, 0)), False),
    }
    for name, (fn, is_none) in known.items():
        found = dispatch.native_for_all(Function.build(fn, TensorType(float32, (n, m))))
        assert (found is None) == is_none, name


@pytest.mark.many(
    ("value", "shape"),
    [(np.ones((1, 1, 3)), (3,)), (np.ones((1, 2, 3)), (2, 3)), (np.ones((1, 1)), ()), (np.ones(1), ()),
     (np.arange(3.0), (2, 3)), (np.ones((2, 1)), (2, 3)), (np.ones((1, 0)), (0,)), (2.0, (2, 3))],
)  # fmt: skip
def test_data_with_leading_axes_of_one_is_written_as_numpy_writes_it(value, shape):
    want, got = np.zeros(shape, np.float32), Tensor(np.zeros(shape, np.float32))
    want[...] = value
    got[...] = Tensor(np.asarray(value, np.float32))
    np.testing.assert_array_equal(got.asnumpy(), want)
    table, other = np.zeros((4, *shape), np.float32), Tensor(np.zeros((4, *shape), np.float32))
    table[[1, 3]] = value if np.ndim(value) <= len(shape) + 1 else value[0]
    other[Tensor([1, 3])] = Tensor(np.asarray(value, np.float32))
    np.testing.assert_array_equal(other.asnumpy(), table)


@pytest.mark.many(
    ("value", "shape"), [(np.ones((2, 1, 3)), (1, 3)), (np.ones((2, 3)), (3,)), (np.ones(2), (3,)), (np.ones(2), ())]
)
def test_data_that_does_not_fit_its_place_is_refused_and_nothing_is_written(value, shape):
    x = Tensor(np.zeros(shape, np.float32))
    with pytest.raises(MyceliaError, match="cannot be written"):
        x[...] = Tensor(value)
    assert not x.asnumpy().any()


PIECES = [0, -1, 2, -3, slice(None), slice(1, None), slice(None, None, -1), slice(2, 0, -1), slice(None, None, 2), None,
          ..., [0, 2], [-1, 0], [True, False, True], slice(5, 9), slice(-9, 2), slice(1, 1)]  # fmt: skip


@pytest.mark.many("first", PIECES, ids=str)
def test_every_pair_of_positions_is_read_and_written_as_numpy_does(first):
    for second in PIECES:
        if first is second is ...:
            continue
        array = np.arange(27, dtype=np.float32).reshape(3, 3, 3)
        try:
            want = array[first, second].copy()
        except IndexError:
            with pytest.raises(MyceliaError):
                _ = Tensor(array)[first, second]
            continue
        x = Tensor(array)
        np.testing.assert_array_equal(x[first, second].asnumpy(), want)
        new = -np.arange(want.size, dtype=np.float32).reshape(want.shape) - 1
        array[first, second] = new
        x[first, second] = Tensor(new)
        np.testing.assert_array_equal(x.asnumpy(), array)


@pytest.mark.many("kind", ["b", "i", "u", "f", "c"])
def test_complex_numbers_are_cast_as_numpy_casts_them(kind):
    dtype = {"b": np.bool_, "i": np.int32, "u": np.uint8, "f": np.float32, "c": np.complex128}[kind]
    array = np.array([0, 1 + 2j, 3j, 2, 0.0 - 0j], np.complex64)
    if kind in "bc":
        got = Tensor(array).astype(np.dtype(dtype).name).asnumpy()
        want = array.astype(dtype)
    else:
        with pytest.warns(np.exceptions.ComplexWarning):
            got = Tensor(array).astype(np.dtype(dtype).name).asnumpy()
        want = array.real.astype(dtype)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_powers_of_truths_are_those_of_their_numbers():
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    np.testing.assert_array_equal((Tensor(x) ** Tensor(y)).asnumpy(), x.astype(int) ** y.astype(int) != 0)


def test_what_is_said_of_tensors():
    assert repr(Tensor(np.zeros((0, 3), np.float32))) == "Tensor(shape=[0, 3], dtype=Float32, value=\n)"
    assert str(Tensor([1, 2])) == "[1 2]"
    x = Tensor([1.0])
    assert x.data is x
    with pytest.raises(CallError, match="from_numpy takes an array"):
        Tensor.from_numpy([1.0])
    for array in (np.array(["a"]), np.array([None]), np.zeros(2, "M8[s]")):
        with pytest.raises(MyceliaError):
            Tensor.from_numpy(array)


def test_a_tensor_without_numbers_says_so_in_a_trace():
    said = []

    def fn(x):
        said.extend([str(x), repr(x), x._repr_html_()])
        return x

    trace(fn, (TensorType(float32, (2,)),))
    text = "Tensor(shape=[2], dtype=Float32, value=<not yet computed>)"
    assert said == [text, text, None]
    assert "<table" in Tensor([1.0])._repr_html_()


@pytest.mark.many("text", ["plain", "nested", "settings", "parameter"])
def test_what_an_example_prints_in_vmap_is_printed_once_with_its_numbers(text, capfd):
    weight = Parameter(Tensor([5.0]), name="p")

    def fn(x):
        if text == "plain":
            print("x", x, 1, None)
        elif text == "nested":
            print([x, (x * 2, "a")], {"k": x})
        elif text == "settings":
            print(1, 2, sep="-", end="!\n")
        else:
            print(weight, 3)
        return x * 2

    compiled = ms.jit(fn)
    x = Tensor([1.0, 2.0])
    fn(x)
    want = capfd.readouterr().out
    assert compiled(x).tolist() == [2.0, 4.0]
    assert capfd.readouterr().out == want
    assert compiled(x).tolist() == [2.0, 4.0]
    assert capfd.readouterr().out == want


def test_steps_of_zero_are_refused_by_name():
    x = Tensor(np.arange(4))
    with pytest.raises((MyceliaError, ValueError)):
        x[::0]
    with pytest.raises((MyceliaError, ValueError)):
        x[::0] = 1
    with pytest.raises(ArgumentError):
        ms.jit(lambda x: x[::0])(x)


VIEWS = {
    "transposed": lambda x: x.T, "turned": lambda x: ops.transpose(x, (1, 0)), "a part": lambda x: x[1:-1, ::2],
    "backwards": lambda x: x[::-1], "reshaped": lambda x: x.reshape(-1), "an axis more": lambda x: x[None, :, None],
    "broadcast": lambda x: ops.broadcast_to(x, (2, *x.shape)), "a row": lambda x: x[3],
    "a diagonal": lambda x: x.diagonal(),
    "swapped": lambda x: x.swapaxes(0, 1), "squeezed": lambda x: x[None].squeeze(0), "flat": lambda x: x.view(-1),
}  # fmt: skip


@pytest.mark.many("name", VIEWS)
def test_a_large_tensor_is_turned_and_cut_without_a_copy(name):
    for size in (4, 300, 301, 310):
        x = Tensor(np.arange(size * size, dtype=np.float32).reshape(size, size))
        y = VIEWS[name](x)
        assert np.shares_memory(x.numbers(), y.numbers())
        z = ops.sin(x) + 1
        assert np.shares_memory(z.numbers(), VIEWS[name](z).numbers())


def whole_weights(way, x):
    """Losses of a weight of whole numbers, through what a graph is made of; and the same with a floating weight."""

    @ms.jit
    def called(w):
        return w * x * 2

    @ms.jit
    def chosen(w):
        return w * x if x.sum() > 0 else w * x * 5

    @ms.jit
    def turned(w):
        out = w * x
        for _ in range(3):
            out = out * 2 + w
        return out

    @ms.jit
    def while_(w):
        out, n = w * x, x.sum() * 0
        while n < 3:
            out, n = out + w * 2, n + 1
        return out

    @ms.jit
    def rows(w):
        out = w.sum() * 0
        for v in x:
            out = out + v * w.sum()
        return out

    @ms.jit
    def rolled(w):
        out, kept = w * 0, []
        for v in ops.arange(200).astype("float32"):
            out = out * 0.5 + v * w
            kept.append(out.sum())
        return ops.stack(kept) * 0.25

    @ms.jit
    def again(w):
        def halved(y, n):
            return y if n == 0 else halved(y * 2 + w, n - 1)

        return ms.recompute(lambda w: halved(w * x, 3), w)

    mapped = ms.vmap(lambda v, w: v * w.sum(), (0, None))
    several = lambda w: ops.split(w * x, 1)[0] + ops.topk(w * 1.0, 2)[0].sum()  # noqa: E731
    plain = {"called": called, "chosen": chosen, "turned": turned, "while": while_, "rows": rows, "several": several,
             "mapped": lambda w: mapped(x, w), "rolled": rolled, "again": again,
             "many": lambda w: ops.concat([w * 1, w * 2, w + 1, w - 1, w * w, -w, w * 3, w]) * 1.5,
             "joined": lambda w: ops.concat((w * x, w * 1.0, w * 2.0)),
             "extremes": lambda w: ops.maximum(w * x, w * 1.0) + w.max()}  # fmt: skip
    return plain[way]


@pytest.mark.many(
    "way",
    [
        "called",
        "chosen",
        "turned",
        "while",
        "rows",
        "several",
        "mapped",
        "joined",
        "extremes",
        "rolled",
        "again",
        "many",
    ],
)
def test_the_gradient_of_whole_numbers_is_that_of_the_real_numbers_cut(way):
    x, numbers = Tensor([1.0, 2.0, 4.0]), np.array([3, 1, 2])
    found = []
    for dtype in ("int32", "float64"):
        weight = Parameter(Tensor(numbers.astype(dtype)), name="w")
        fn = whole_weights(way, x)
        gradient = ms.grad(lambda: fn(weight).sum(), None, weight)()  # noqa: B023
        found.append(gradient.asnumpy())
    assert found[0].dtype == np.int32
    np.testing.assert_array_equal(found[0], np.trunc(found[1]).astype(np.int32))
    assert found[1].any()


INTO = [
    (lambda a, i, v: a.__setitem__((slice(1, None), i), v), (2, 2, 3)),
    (lambda a, i, v: a.__setitem__((slice(None, None, 2), i), v), (2, 2, 3)),
    (lambda a, i, v: a.__setitem__((i, slice(1, 3)), v), (2, 2, 3)),
    (lambda a, i, v: a.__setitem__((slice(0, 2), slice(None), i), v), (2, 3, 2)),
    (lambda a, i, v: a.__setitem__((slice(2, 1), i), v), (0, 2, 3)),
    (lambda a, i, v: a.__setitem__((slice(5, 9), slice(None)), v), (0, 3, 3)),
    (lambda a, i, v: a.__setitem__(i[:0], v), (0, 3, 3)),
    (lambda a, i, v: a.__setitem__(i, v), (2, 3, 3)),
]


@pytest.mark.many(("write", "shape"), INTO, ids=lambda case: str(case[1]))
def test_what_only_the_program_knows_is_written_where_numpy_writes_it(write, shape):
    array = np.arange(27, dtype=np.float32).reshape(3, 3, 3)
    new = -np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 1
    for places in ([0, 2], [-1, 0], [1, 1]):
        want = array.copy()
        write(want, np.array(places), new)

        def run(x, i, v):
            y = x * 1
            write(y, i, v)
            return y

        given = Tensor(array), Tensor(places), Tensor(new)
        for how in (run, ms.jit(run), lambda *a: ms.vmap(run)(*[t[None] for t in a])[0]):
            np.testing.assert_array_equal(how(*given).asnumpy(), want)


VIEWS_BY_NAME = {
    "transpose": (lambda x: ops.transpose(input=x, dims=(1, 0)), lambda a: a.T),
    "swapaxes": (lambda x: ops.swapaxes(input=x, axis0=0, axis1=1), lambda a: a.swapaxes(0, 1)),
    "broadcast_to": (lambda x: ops.broadcast_to(x, (2, 2, 3)), lambda a: np.broadcast_to(a, (2, 2, 3))),
    "t": (lambda x: ops.transpose(dims=(1, 0), input=x), lambda a: a.T),
    "expand_dims": (lambda x: ops.expand_dims(x, axis=1), lambda a: a[:, None]),
}


@pytest.mark.many("name", VIEWS_BY_NAME)
def test_a_view_that_is_taken_by_names_of_arguments_shares_memory(name):
    how, wanted = VIEWS_BY_NAME[name]
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = how(x)
    np.testing.assert_array_equal(y.asnumpy(), wanted(x.asnumpy()))
    x[1, 2] = 9
    np.testing.assert_array_equal(y.asnumpy(), wanted(x.asnumpy()))
    y[(0,) * y.ndim] = 7
    assert x[0, 0] == 7


def test_a_parameter_that_is_renewed_on_a_tape_is_a_new_beginning():
    weight = Parameter(Tensor([2.0]), name="w")

    def loss(x):
        before = (weight * x).sum()
        weight.set_data(Tensor([5.0]))
        return before + (weight * x * x).sum()

    by_x, by_w = ms.grad(loss, 0, weight)(Tensor([3.0]))
    assert weight.asnumpy().tolist() == [5.0]
    assert by_x.tolist() == [2.0 + 5.0 * 6.0]
    assert by_w.tolist() in ([3.0], [3.0 + 9.0])
    again = ms.jit(ms.grad(loss, 0, weight))
    weight.set_data(Tensor([2.0]))
    assert [g.tolist() for g in again(Tensor([3.0]))] == [by_x.tolist(), by_w.tolist()]


def test_more_memory_than_there_is_is_an_error_that_says_so():
    x = Tensor(np.ones(1, np.float32))
    with pytest.raises(OutOfMemory, match="not enough memory"):
        ops.tile(x, (2**45,)) + 1
