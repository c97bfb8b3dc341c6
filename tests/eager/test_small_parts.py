"""Small parts of eager mode and of capture: who waits for whom, what is remembered, whose operators stand."""

import operator
import pickle
import time
from types import MappingProxyType

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops
from mycelia import primitives as p
from mycelia.capture import attributes, source, tensors
from mycelia.capture.positions import size_of
from mycelia.capture.values import MISSING, POISON, is_long
from mycelia.eager import convert, dispatch
from mycelia.eager.own_operators import OwnOperators
from mycelia.eager.trace import run, trace
from mycelia.eager.writing import writing
from mycelia.ir import Function
from mycelia.types import DType, TensorType, bool_, float16, float32, int8, int32, uint8


class Lock:
    """Counts who waits."""

    def __init__(self):
        self.times = 0

    def __enter__(self):
        self.times += 1

    def __exit__(self, *_):
        pass


READS = {
    "a sum": lambda x, y: x + y,
    "a sum with a number": lambda x, y: (x + 1.5, y * 2.0),
    "a number first": lambda x, y: (1.5 - x, 2.0 / y),
    "a product in place": lambda x, y: (operator.imul(x.copy(), x), operator.imul(y.copy(), y)),
    "a comparison": lambda x, y: x < y,
    "equality": lambda x, y: x == y,
    "a comparison with a number": lambda x, y: (x >= 1.0, y != 2.0),
    "a function": lambda x, y: (ops.sin(x), ops.exp(y)),
    "a function of two": ops.maximum,
    "a fold": lambda x, y: (x.sum(), y.max()),
    "a fused function": lambda x, y: (ops.softmax(x), ops.softmax(y)),
    "a product of matrices": lambda x, y: x @ y,
    "a part": lambda x, y: (x[1:] + 0, y[0] + 0),
    "an array": lambda x, y: (x.asnumpy(), np.asarray(y)),
    "a list": lambda x, y: (x.tolist(), str(y)),
    "a cast": lambda x, y: (x.astype("float64"), y.astype("int32")),
    "a power": lambda x, y: (x**2, y**3),
    "a sign": lambda x, y: (-x, abs(y)),
}


@pytest.mark.many("size", [2, 120])
def test_every_way_to_read_a_tensor_waits_for_who_writes_it(size):
    """Programs take turns, and wait for that."""
    for name, read in READS.items():
        x, y = (Tensor(np.full((size, size), n, np.float32)) for n in (1, 2))
        read(x, y)  # what is compiled, is compiled now
        locks = Lock(), Lock()
        try:
            for tensor, lock in zip((x, y), locks, strict=True):
                writing[id(tensor._data)] = lock
            read(x, y)
        finally:
            writing.clear()
        assert all(lock.times > 0 for lock in locks), (name, [lock.times for lock in locks])


def operators(**more):
    return type("Number", (), {"__add__": lambda s, o: 1, "__neg__": lambda s: 2, "plain": 3, "shape": (), **more})


CHANGES = {
    "nothing": (lambda c: None, True),
    "a method": (lambda c: setattr(c, "other", 1), True),
    "a method less": (lambda c: delattr(c, "plain"), True),
    "another operator": (lambda c: setattr(c, "__add__", lambda s, o: 7), False),
    "an operator more": (lambda c: setattr(c, "__mul__", lambda s, o: 7), False),
    "an operator less": (lambda c: delattr(c, "__neg__"), False),
    "another shape": (lambda c: setattr(c, "shape", 5), False),
    "no shape": (lambda c: delattr(c, "shape"), False),
    "a method and an operator": (lambda c: (setattr(c, "other", 1), setattr(c, "__mul__", 5)), True),
    "an operator for a method": (lambda c: (delattr(c, "plain"), setattr(c, "__mul__", abs)), False),
    "two operators": (lambda c: (setattr(c, "other", 1), setattr(c, "__mul__", abs)), False),
}


@pytest.mark.many("name", CHANGES)
def test_operators_stand_until_one_is_put_there_or_taken_away(name):
    change, stand = CHANGES[name]
    kind = operators()
    own = OwnOperators(vars(kind))
    assert own.stand()
    assert own.stand()
    change(kind)
    assert (own.stand(), own.stand()) == (stand, stand)
    own.notice() if stand else None
    kind.__neg__ = lambda self: 9
    assert not own.stand()
    own.notice()
    assert own.stand()


def test_the_class_of_tensors_is_watched(monkeypatch):
    fn = ms.jit(lambda x: (x + x) * 2)
    x = Tensor([1.0, 2.0])
    assert fn(x).tolist() == [4.0, 8.0]
    with monkeypatch.context() as patch:
        patch.setattr(Tensor, "__add__", lambda self, other: self * 10)
        with pytest.warns(RuntimeWarning, match="operators that are not"):
            assert fn(x).tolist() == [20.0, 40.0]
    assert fn(x).tolist() == [4.0, 8.0]


def test_what_users_put_on_tensors_is_compiled(monkeypatch):
    monkeypatch.setattr(Tensor, "twice", lambda self, k=1: self * 2 * k, raising=False)
    monkeypatch.setattr(Tensor, "half", property(lambda self: self / 2), raising=False)
    fn = ms.jit(lambda x: (x.twice(), x.twice(3), x.half, x.sum().twice(k=2)), fallback=False)
    assert [y.tolist() for y in fn(Tensor([1.0, 2.0]))] == [[2.0, 4.0], [6.0, 12.0], [0.5, 1.0], 12.0]
    monkeypatch.setattr(Tensor, "twice", lambda self, k=1: self * 5, raising=False)
    assert fn(Tensor([1.0, 2.0]))[0].tolist() == [5.0, 10.0]


def test_what_is_remembered_of_numbers_is_right_when_there_are_more_than_are_kept():
    x = Tensor([1.0, 2.0])
    for i in range(4200):
        number = i + 0.5
        assert convert.scalar(number, np.dtype("float32")).item() == number
        assert tensors.full_of(number, float32).number == number
    assert len(convert._scalars) <= 4098
    assert len(tensors._numbers) <= 4098
    assert (x + 0.5).tolist() == [1.5, 2.5]
    assert np.signbit(convert.scalar(-0.0, np.dtype("float32")))
    assert not np.signbit(convert.scalar(0.0, np.dtype("float32")))
    assert np.signbit(tensors.full_of(-0.0, float32).number)
    assert not np.signbit(tensors.full_of(0.0, float32).number)


def test_more_ops_than_are_remembered_are_computed_as_the_first(monkeypatch):
    monkeypatch.setattr(dispatch, "MEMORY", 8)
    monkeypatch.setattr(dispatch, "_ready", {})
    array = np.arange(6, dtype=np.float32)
    for n in (*range(1, 6), 1, 2):
        for shape in ((6 // n, n),) if 6 % n == 0 else ():
            np.testing.assert_array_equal(Tensor(array).reshape(shape).asnumpy(), array.reshape(shape))
        np.testing.assert_array_equal(ops.roll(Tensor(array), n).asnumpy(), np.roll(array, n))
    assert len(dispatch._ready) <= 8


def test_more_classes_than_are_remembered_are_asked_again(monkeypatch):
    monkeypatch.setattr(attributes, "MOST", 3)
    kinds = [type(f"K{i}", (), {"__slots__": ("a",)} if i % 2 else {}) for i in range(12)]
    assert [attributes.gives_dict(k) for k in (*kinds, *kinds)] == [i % 2 == 0 for i in range(12)] * 2
    assert len(attributes._known) <= 5


def test_values_that_no_program_has_are_the_same_when_they_are_read_again():
    assert pickle.loads(pickle.dumps([MISSING, POISON, MISSING])) == [MISSING, POISON, MISSING]
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING


BORDERS = [
    (int8, -128, 127),
    (uint8, 0, 255),
    (int32, -(2**31), 2**31 - 1),
    (bool_, 0, 1),
    (float16, 1 - 2**60, 2**60 - 1),
]


@pytest.mark.many(("dtype", "least", "most"), BORDERS, ids=str)
def test_a_number_fits_a_type_up_to_its_borders(dtype: DType, least, most):
    assert tensors.fits(least, dtype)
    assert tensors.fits(most, dtype)
    assert not tensors.fits(least - 1, dtype)
    assert not tensors.fits(most + 1, dtype)


def test_numbers_are_long_from_2001_bits_on():
    short, long = 2**2000 - 1, 2**2000
    for make in (
        lambda n: n,
        lambda n: (1, n),
        lambda n: range(n),
        lambda n: range(0, 1, n),
        lambda n: (1, (range(n),)),
    ):
        assert (is_long(make(short)), is_long(make(long)), is_long(make(-long))) == (False, True, True)


def test_the_size_that_a_value_is():
    found = Function.build(
        lambda x: (
            p.full(3, int32, ()),
            p.broadcast(p.full(4, int32, ()), (2,)),
            p.full(0, int32, ()),
            p.full(-2, int32, ()),
            x,
        ),
        TensorType(int32, ()),
    ).results
    assert [size_of(v) for v in found] == [3, 4, None, None, None]


def test_a_text_that_is_no_program_has_no_code():
    assert source._codes("<x>", "def f(:", 0) == frozenset()
    assert source._codes("<x>", "return 1", 0) == frozenset()
    assert len(source._codes("<x>", "def f():\n    return lambda: 1\n", 0)) == 2
    assert not source._as_imported(str(source.PACKAGE) + "/nowhere.py")
    assert not source._as_imported(__file__)
    (code,) = source.codes_in(compile("\n\ndef f():\n    return 1\n", "<x>", "exec"))
    lines = ["\n", "\n", "def f():\n", "    return 1\n", "g = 2\n"]
    assert source._function(lines[2:3], code) == ""
    assert source._function(lines, code) == "".join(lines[:4])
    assert source._function(lines[:2], code) == ""
    (indented,) = source.codes_in(compile("if 1:\n def f(): return 1\n", "<x>", "exec"))
    assert source._function([" def f(): return 1\n"], indented.replace(co_firstlineno=1)) == ""


@pytest.mark.many("args", [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1}), ((), {"y": 2})], ids=str)
def test_a_call_that_does_not_fit_is_told_as_python_tells_it(args):
    def fn(x, y=1):
        time.perf_counter()
        return x

    given, named = args
    with pytest.raises(TypeError) as want:
        fn(*given, **named)
    function = ms.jit(fn)
    function(1)
    with pytest.raises(TypeError) as got:
        function(*given, **named)
    assert str(got.value) == str(want.value)


SAID = [("x", 1, None, 2.5, True), (["a", (2, "b")], {"k": 3}), (Parameter([1.0], name="w"), 3)]


@pytest.mark.many("said", SAID, ids=str)
def test_what_a_graph_prints_is_printed_when_it_runs_with_the_numbers_it_has_then(said, capfd):
    x = Tensor([1.0, 2.0])

    def fn(y):
        ops.print_(*said, y, [y * 2], {"y": y})
        return y + 1

    traced = trace(fn, (TensorType(float32, (2,)),))
    assert capfd.readouterr().out == ""
    for given in (x, x * 3):
        fn(given)
        want = capfd.readouterr().out
        (found,) = run(traced.function, [given, *traced.captured])
        assert found.tolist() == (given + 1).tolist()
        assert capfd.readouterr().out == want


def test_what_may_change_until_a_graph_runs_is_printed_at_once(capfd):
    def fn(y):
        ops.print_("list of", object, MappingProxyType({}))
        return y

    trace(fn, (TensorType(float32, (2,)),))
    assert capfd.readouterr().out == "list of <class 'object'> {}\n"


@pytest.mark.parametrize("order", ["before", "after", "twice", "beside"])
def test_a_program_that_changes_a_weight_while_a_gradient_is_taken_does_what_python_does(order):
    def losses(wrap):
        weight = Parameter(Tensor([2.0, 3.0]), name="w")

        @wrap
        def step(x):
            weight.set_data(weight * 2 + x)
            return x * weight

        @wrap
        def counted(x):
            weight.set_data(weight + 1)
            return x * 2

        def loss(x):
            first = (weight * x).sum()
            a = counted(x) if order == "beside" else step(x)
            if order == "twice":
                a = a + step(a)
            return a.sum() + (first if order == "before" else (weight * x * x).sum())

        found = [ms.grad(loss, 0, weight)(Tensor([1.0, -2.0])) for _ in range(2)]
        return [[g.tolist() for g in pair] for pair in found], weight.asnumpy().tolist()

    assert losses(ms.jit) == losses(lambda f: f)
