"""What is compiled stays what it is: its methods, copies, attributes and operators, and the names it is kept under."""

import abc
import copy
import functools
import inspect
import operator
import pickle
from types import MethodType

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn
from mycelia.api.hints import cell_graph_executor, lazy_inline
from mycelia.api.jit import SPECIAL
from mycelia.errors import ArgumentError, MyceliaError

X = Tensor([1.0, 2.0])


@ms.jit
def doubled(x):
    """Twice."""
    return x * 2


class Model:
    def __init__(self, factor):
        self.factor = factor

    @ms.jit
    def scaled(self, x):
        """By the factor."""
        return x * self.factor

    @ms.jit
    def shifted(self, x):
        return x + self.factor

    def __eq__(self, other):
        return isinstance(other, Model)

    def __hash__(self):
        return 3


class Meta(type):
    def __len__(cls):
        return 4


class Made(metaclass=Meta):
    def __init__(self, x):
        self.x = x


class Operators:
    """Says its name and what it was given for every operator that Python has."""

    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x * self.n


def _special(name):
    def method(self, *args):
        return f"{name} {self.n} {args}"

    return method


ANSWERS = {
    "__bool__": lambda self: self.n > 2, "__int__": lambda self: 11, "__float__": lambda self: 1.5,
    "__index__": lambda self: 2, "__len__": lambda self: 5, "__hash__": lambda self: 77,
    "__iter__": lambda self: iter("ab"),
    "__next__": lambda self: "next", "__contains__": lambda self, x: x == self.n,
    "__reversed__": lambda self: iter("ba"),
    "__enter__": lambda self: "entered", "__exit__": lambda self, *told: True, "__eq__": lambda self, other: other == 3,
    "__ne__": lambda self, other: other != 3, "__setitem__": lambda self, i, x: setattr(self, "set", (i, x)),
    "__delitem__": lambda self, i: setattr(self, "deleted", i), "__await__": lambda self: iter(()),
}  # fmt: skip
for _name in SPECIAL:
    setattr(Operators, _name, ANSWERS.get(_name, _special(_name)))

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
          operator.matmul, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt,
          operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.getitem]  # fmt: skip


def entered(thing):
    with thing as said:
        raise KeyError("which it suppresses")
    return said


USES = [
    *[lambda t, f=f: f(t, 5) for f in BINARY], *[lambda t, f=f: f(5, t) for f in BINARY[:13]], operator.neg,
    operator.pos,
    operator.invert, abs, bool, int, float, operator.index, len, hash, list, next, lambda t: list(reversed(t)), entered,
    lambda t: (3 in t, 4 in t), lambda t: (operator.setitem(t, 1, 2), t.set),
    lambda t: (operator.delitem(t, 7), t.deleted),
    lambda t: "abc"[t], lambda t: not t, lambda t: t == 3, lambda t: 3 == t, lambda t: list(t.__await__()),  # noqa: SIM300
]  # fmt: skip


@pytest.mark.many("use", USES, pack=100)
def test_an_object_has_under_jit_the_operators_that_it_has(use):
    for n in (2, 3):
        assert use(ms.jit(Operators(n))) == use(Operators(n))


class Unhashable:
    __hash__ = None

    def __eq__(self, other):
        return NotImplemented

    def __call__(self, x):
        return x


LACKING = [len, iter, next, int, float, operator.index, abs, reversed, lambda t: t + 1, lambda t: 1 + t, lambda t: t[0],
           lambda t: 1 in t, lambda t: -t, lambda t: t < 1, entered, lambda t: operator.setitem(t, 0, 1)]  # fmt: skip


@pytest.mark.many(
    ("use", "thing"),
    [*[(use, Unhashable()) for use in (*LACKING, hash, lambda t: {t})], *[(use, lambda x: x) for use in LACKING]],
)
def test_an_object_lacks_under_jit_the_operators_that_it_lacks(use, thing):
    for of in (thing, ms.jit(thing)):
        with pytest.raises(TypeError):
            use(of)


def test_a_class_under_jit_is_no_class_whatever_its_class_is():
    for cls in (Made, abc.ABC, Model, int):
        compiled = ms.jit(cls)
        assert not isinstance(compiled, type)
        assert not inspect.isclass(compiled)
        assert isinstance(compiled, type(doubled))
        with pytest.raises(TypeError):
            len(compiled)
    assert ms.jit(Made)(3).x == 3


def test_methods_under_jit_are_equal_as_those_of_python_are():
    one, other = Model(2.0), Model(2.0)
    assert one == other
    assert one.scaled == one.scaled
    assert one.scaled != other.scaled
    assert one.scaled != one.shifted
    assert one.scaled != Model.scaled
    assert (one.scaled == 3) is False
    assert hash(one.scaled) == hash(one.scaled)
    assert len({one.scaled, one.scaled, other.scaled, one.shifted}) == 3
    assert one.scaled.__self__ is one
    assert one.scaled.__func__ is Model.scaled
    with pytest.raises(AttributeError):
        _ = one.scaled.nothing


def test_methods_under_jit_are_copied_and_kept_with_their_object():
    model = Model(3.0)
    copied = copy.deepcopy(model.scaled)
    assert copied.__self__ is not model
    assert copied(X).tolist() == [3.0, 6.0]
    model.factor = 5.0
    assert (copied(X).tolist(), model.scaled(X).tolist()) == ([3.0, 6.0], [5.0, 10.0])
    pair = copy.deepcopy([model, model.scaled])
    assert pair[1].__self__ is pair[0]
    assert copy.copy(model.scaled) == model.scaled
    assert isinstance(model.scaled.__wrapped__, MethodType)
    assert model.scaled.__wrapped__.__self__ is model
    assert repr(model.scaled).startswith("<bound method Model.scaled of")
    assert model.scaled.__doc__ == "By the factor."
    assert model.scaled.__name__ == "scaled"


def test_methods_under_jit_are_read_from_files_again():
    found = pickle.loads(pickle.dumps(MODEL.scaled))
    assert found.__func__ is Model.scaled
    assert found.__self__ is not MODEL
    assert found(X).tolist() == [4.0, 8.0]
    assert pickle.loads(pickle.dumps(doubled)) is doubled


MODEL = Model(4.0)


def test_methods_under_jit_tell_what_functions_under_jit_tell():
    model = Model(7.0)
    model.scaled(X)
    assert model.scaled.explain() == Model.scaled.explain()
    assert "one native call" in model.scaled.explain()
    assert model.scaled.show("graph") == Model.scaled.show("graph")
    assert model.scaled.draw() == Model.scaled.draw()
    assert model.scaled.draw().startswith("<svg")
    for seen in (model.scaled.profile(X), Model.scaled.profile(model, X), model.scaled.profile()):
        assert any("x * self.factor" in line.line for line in seen.lines)
    fresh = ms.jit(lambda x: x)
    with pytest.raises(ArgumentError, match="no program to draw"):
        fresh.draw()


def test_attributes_under_jit_are_those_of_the_thing():
    def plain(x):
        return x

    fn = ms.jit(plain)
    fn.said = 5
    assert (plain.said, fn.said) == (5, 5)
    del fn.said
    assert not hasattr(plain, "said")
    with pytest.raises(AttributeError):
        del fn.said
    with pytest.raises(AttributeError):
        _ = fn.nothing
    assert copy.copy(fn) is fn is copy.deepcopy(fn)
    assert repr(fn) == f"jit({plain!r})"


def test_copies_of_a_thing_under_jit_are_compiled_things_of_their_own():
    part = ms.jit(Operators(2))
    for copied in (copy.copy(part), copy.deepcopy(part)):
        assert copied is not part
        copied.n = 3
        assert (copied(X).tolist(), part(X).tolist()) == ([3.0, 6.0], [2.0, 4.0])
        assert "one native call" in copied.explain()
    net = ms.jit(nn.Dense(2, 2))
    other = copy.deepcopy(net)
    other.weight.set_data(other.weight * 0)
    assert np.abs(net.weight.asnumpy()).sum() > 0
    assert isinstance(other, nn.Cell)


class Named:
    """A descriptor that is told its name, and one that is not bound."""

    def __set_name__(self, owner, name):
        self.told = owner, name

    def __get__(self, owner, kind=None):
        return ("got", owner, kind)

    def __call__(self, x):
        return x


def test_what_is_no_function_stands_under_jit_in_a_class_as_it_does():
    class Holder:
        named = ms.jit(Named())
        bound = ms.jit(MODEL.shifted.__wrapped__)
        static = ms.jit(staticmethod(lambda x: x * 3))
        part = ms.jit(functools.partial(operator.mul, 4.0))
        builtin = ms.jit(abs)
        cell = ms.jit(nn.ReLU())

        @ms.jit
        def __init_subclass__(cls, **more):
            cls.made = more

        @ms.jit
        def __class_getitem__(cls, item):
            return cls.__name__, item

    holder = Holder()
    inside = vars(Holder)["named"].__captured__
    assert inside.told == (Holder, "named")
    assert holder.named == ("got", holder, Holder)
    assert Holder[5] == ("Holder", 5)
    assert type("Below", (Holder,), {}, n=3).made == {"n": 3}
    got = [f(X).tolist() for f in (holder.bound, holder.static, holder.part, holder.builtin, holder.cell)]
    assert got == [[5.0, 6.0], [3.0, 6.0], [4.0, 8.0], [1.0, 2.0], [1.0, 2.0]]


def test_what_cannot_be_read_has_no_source_to_show():
    assert ms.jit(abs).show("source").endswith("has no source")
    assert "return x * 2" in doubled.show("source")
    assert "return x * self.factor" in MODEL.scaled.show("source")


def test_a_cell_is_compiled_beforehand_for_such_arguments():
    net = nn.Dense(3, 2)
    assert cell_graph_executor.compile(net, Tensor(np.ones((4, 3), np.float32)), phase="train") == ("train", True)
    with pytest.raises(MyceliaError):
        cell_graph_executor.compile(net, Tensor(np.ones((4, 5), np.float32)))
    assert lazy_inline()(abs) is abs
    with pytest.warns(UserWarning, match="policy"):
        assert lazy_inline(policy="front")(abs) is abs
