"""A compiled program keeps nothing alive: objects die exactly when they die in Python, at every call."""

import ast
import functools
import gc
import time
import weakref
from collections import OrderedDict, deque, namedtuple
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.capture.holding import held, lasts

CALLS = 3


class Box:
    """An object of the user."""

    def __init__(self, value=2.0, log=None):
        self.value, self.log = value, log

    def times(self, x):
        return x * self.value


class Loud(Box):
    """One that says when it dies."""

    def __del__(self):
        self.log.append(f"del {self.value}")


class Slotted:
    __slots__ = ("__weakref__", "value")

    def __init__(self, value):
        self.value = value


class Scale(nn.Cell):
    def __init__(self, value=2.0):
        super().__init__()
        self.weight = Parameter(Tensor([value, value]), name="w")
        self.extra = [Box(value)]

    def construct(self, x):
        return x * self.weight * self.extra[0].value


Pair = namedtuple("Pair", "box number")
X = Tensor([1.0, 2.0])


def counted(log, value):
    try:
        while True:
            yield value
    finally:
        log.append("finally")


def made_by(log):
    """Ways to make an argument, with what in it is watched, and what a function does with it."""
    box = Box()
    return {
        "object": (box, [box], lambda x, a: x * a.value),
        "object that is not read": (box, [box], lambda x, a: x * 2.0),
        "loud": (loud := Loud(3.0, log), [loud], lambda x, a: x * a.value),
        "slotted": (slotted := Slotted(3.0), [slotted], lambda x, a: x * a.value),
        "list": ([box, 1.0], [box], lambda x, a: x * a[0].value),
        "list that is changed": ([box], [box], lambda x, a: a.append(x) or x * a[0].value),
        "dict": ({"b": box}, [box], lambda x, a: x * a["b"].value),
        "ordered dict": (OrderedDict(b=box), [box], lambda x, a: x * sum(b.value for b in a.values())),
        "deque": (deque([box]), [box], lambda x, a: x * sum(b.value for b in a)),
        "set": ({1.0, 2.0}, [], lambda x, a: x * sum(a)),
        "tuple": ((box, (box, 2)), [box], lambda x, a: x * a[1][0].value),
        "named tuple": (Pair(box, 2), [box], lambda x, a: x * a.box.value * a.number),
        "returned tuple": ((box, 2), [box], lambda x, a: (x, a)),
        "array": (array := np.ones(2, np.float32), [array], lambda x, a: x * Tensor(a)),
        "tensor": (tensor := Tensor([3.0, 4.0]), [tensor], lambda x, a: x * a),
        "tensor and its array": (t2 := Tensor([3.0, 4.0]), [t2, t2._data], lambda x, a: x * a),
        "tensor that is written": (t3 := Tensor([3.0, 4.0]), [t3], lambda x, a: a.__setitem__(0, 7.0)),
        "parameter": (par := Parameter(Tensor([1.0, 1.0]), name="p"), [par], lambda x, a: ops.assign(a, a + x)),
        "view": ((t4 := Tensor([3.0, 4.0]))[:1], [t4], lambda x, a: x * a),
        "cell": (cell := Scale(), [cell, cell.weight, cell.extra[0]], lambda x, a: a(x)),
        "closure": (fn := (lambda b: lambda x: x * b.value)(box), [fn, box], lambda x, a: a(x)),
        "method": (box.times, [box], lambda x, a: a(x)),
        "method of a list": ([box].append, [box], lambda x, a: x * 2.0),
        "partial": (part := functools.partial(Box.times, box), [part, box], lambda x, a: a(x)),
        "generator": (gen := counted(log, 2.0), [gen], lambda x, a: x * next(a)),
        "generator that is not read": (gen2 := counted(log, 2.0), [gen2], lambda x, a: x * 2.0),
        "error": (ValueError("no", box), [box], lambda x, a: x * 2.0),
        "class": (cls := type("Local", (Box,), {}), [cls], lambda x, a: x * a(2.0).value),
        "object of a class": ((cls2 := type("Local", (Box,), {}))(), [cls2], lambda x, a: x * a.value),
        "iterator": (iter([box]), [box], lambda x, a: x * next(a).value),
        "module": (module := type(ms)("mine"), [module], lambda x, a: x * 2.0),
        "slice of objects": (slice(box, None), [box], lambda x, a: x * 2.0),
        "jitted": (ms.jit(box.times), [box], lambda x, a: a(x)),
    }


NAMES = list(made_by([]))
LATER = {"class", "object of a class"}  # which are garbage in cycles, also in Python


def without_collection(scenario, *args):
    """What a scenario tells when only the last reference counts."""
    before = gc.isenabled()
    gc.disable()
    try:
        return scenario(*args)
    finally:
        if before:
            gc.enable()


def deaths(name, wrap, impure):
    """For each call, which of the objects are alive after it, and what was said."""
    log, told = [], []
    use = made_by([])[name][2]
    fn = wrap((lambda x, a: (time.perf_counter(), use(x, a))[1]) if impure else use)
    for _ in range(CALLS):
        arg, watched, _ = made_by(log)[name]
        refs = [weakref.ref(w, lambda _: log.append("gone")) for w in watched]
        watched.clear()
        try:
            out = fn(X, arg)
        except Exception as error:
            out = None
            told.append(repr(error))
        told.append(["alive" if r() is not None else "dead" for r in refs])
        del arg
        told.append([r() is not None for r in refs])
        del out
        if name in LATER:
            gc.collect()
        told.append([r() is not None for r in refs])
        told.append(list(log))
    return told


@pytest.mark.parametrize("impure", [False, True], ids=["captured", "in pieces"])
@pytest.mark.many("name", NAMES, pack=5)
def test_arguments_die_as_in_python(name, impure):
    assert without_collection(deaths, name, ms.jit, impure) == without_collection(deaths, name, lambda fn: fn, impure)


def made_inside(wrap, log):
    """An object that the function makes and returns."""

    @wrap
    def fn(x):
        box = Box(x * 2.0)
        return [box, {"b": box}]

    for _ in range(CALLS):
        box = weakref.ref(fn(X)[0])
        log.append(box() is None)


def loud_inside(wrap, log):
    """An object that dies in the middle of the function."""

    @wrap
    def fn(x):
        box = Loud(3.0, log)
        y = x * box.value
        del box
        log.append("after")
        return y

    for _ in range(CALLS):
        log.append(fn(X).tolist())


def loud_at_the_end(wrap, log):
    @wrap
    def fn(x):
        box = Loud(3.0, log)
        log.append("inside")
        return x * box.value

    for _ in range(CALLS):
        log.append(fn(X).tolist())


def generator_dropped(wrap, log):
    """A generator that is left before its end."""

    @wrap
    def fn(x):
        for value in counted(log, 2.0):
            x = x * value
            break
        log.append("after")
        return x

    for _ in range(CALLS):
        log.append(fn(X).tolist())


def generator_returned(wrap, log):
    @wrap
    def fn(x):
        steps = counted(log, 2.0)
        y = x * next(steps)
        return y, steps

    for _ in range(CALLS):
        y, steps = fn(X)
        log.append("returned")
        del steps
        log.append(y.tolist())


def closure_returned(wrap, log):
    @wrap
    def fn(x):
        box = Box(3.0)
        return lambda: box.value + x.sum()

    for _ in range(CALLS):
        inner = fn(X)
        box = weakref.ref(inner.__closure__[0].cell_contents)
        log.append((float(inner()), box() is None))
        del inner
        log.append(box() is None)


def variable_around(wrap, log):
    """What a variable around the function held, when it holds something else."""
    box = Box(2.0)
    fn = wrap(lambda x: x * box.value)
    for value in (2.0, 2.0, 3.0, 4.0):
        old = weakref.ref(box)
        log.append(fn(X).tolist())
        box = Box(value)
        log.append(old() is None)


def global_variable(wrap, log):
    global held_here
    fn = wrap(lambda x: x * held_here.value)
    for value in (2.0, 2.0, 3.0, 4.0):
        held_here = Box(value)
        old = weakref.ref(held_here)
        log.append(fn(X).tolist())
        held_here = None
        log.append(old() is None)


def attribute_replaced(wrap, log):
    """What an attribute, a list and a dictionary behind the function held."""
    owner = Box(Box(2.0))
    owner.log = [Box(1.0)] * 10
    owner.more = {str(i): Box(1.0) for i in range(10)}
    fn = wrap(lambda x: x * owner.value.value * sum(b.value for b in owner.log) * owner.more["3"].value)
    for value in (2.0, 3.0, 4.0):
        refs = [weakref.ref(b) for b in (owner.value, owner.log[0], owner.more["3"])]
        log.append(fn(X).tolist())
        owner.value = Box(value)
        owner.log = [Box(value)] * 10
        owner.more["3"] = Box(value)
        log.append([r() is None for r in refs])


def layers_replaced(wrap, log):
    net = nn.SequentialCell([Scale(2.0) for _ in range(10)])
    fn = wrap(lambda x: net(x))
    for value in (2.0, 2.0, 3.0):
        old = weakref.ref(net[4]), weakref.ref(net[4].weight)
        log.append(fn(X).tolist())
        net[4] = Scale(value)
        log.append([r() is None for r in old])


def training(net, optimizer):
    step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())

    def train(x):
        loss, grads = step(x)
        optimizer(grads)
        return loss

    return train


def network_dropped(wrap, log):
    net = Scale()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    fn = wrap(training(net, optimizer))
    for _ in range(CALLS):
        log.append(float(fn(X)))
    refs = [weakref.ref(net), weakref.ref(net.weight), weakref.ref(optimizer)]
    del net, optimizer
    log.append([r() is not None for r in refs])  # the function has them
    del fn
    gc.collect()
    log.append([r() is None for r in refs])


def error_with_traceback(wrap, log):
    """An error holds the frames that it came through; without it they die."""

    @wrap
    def fn(x, box):
        y = x * box.value
        if box.value > 1.0:
            raise ValueError("no")
        return y

    for _ in range(CALLS):
        box = Box(2.0)
        ref = weakref.ref(box)
        try:
            fn(X, box)
        except ValueError as error:
            del box
            log.append(ref() is None)
            kept = error
        log.append(ref() is None)
        del kept
        log.append(ref() is None)


def name_error(wrap, log):
    """An error about a variable, in a function of which Python runs parts."""

    @wrap
    def fn(x, box):
        start = time.perf_counter()
        if start < 0:
            y = x * box.value
        return y, start

    for _ in range(CALLS):
        box = Box(2.0)
        ref = weakref.ref(box)
        try:
            fn(X, box)
        except NameError as error:
            log.append(type(error).__name__)
        del box
        log.append(ref() is None)


def error_caught_inside(wrap, log):
    @wrap
    def fn(x, box):
        try:
            raise KeyError(box)
        except KeyError as error:
            log.append(error.args[0].value)
        return x

    for _ in range(CALLS):
        box = Box(2.0)
        ref = weakref.ref(box)
        fn(X, box)
        del box
        log.append(ref() is None)


def index_error(wrap, log):
    """A mistake that only the running program sees."""
    fn = wrap(lambda x, i, box: x[i] * box.value)
    for i in (1, 5, 1, 7):
        box, index = Box(2.0), Tensor([i])
        refs = weakref.ref(box), weakref.ref(index)
        try:
            log.append(fn(X, index, box).tolist())
        except IndexError:
            log.append("IndexError")
        del box, index
        log.append([r() is None for r in refs])


def sizes_change(wrap, log):
    fn = wrap(lambda x, box: (x * box.value).sum(0))
    for n in (2, 3, 4, 5):
        x, box = ops.ones((n, 2)), Box(2.0)
        refs = weakref.ref(x), weakref.ref(box)
        log.append(fn(x, box).tolist())
        del x, box
        log.append([r() is None for r in refs])


def numbers_change(wrap, log):
    fn = wrap(lambda x, box: x * box.value)
    for value in (1.0, 2.0, 3.0, 4.0):
        box = Box(value)
        ref = weakref.ref(box)
        log.append(fn(X, box).tolist())
        del box
        log.append(ref() is None)


def type_changes(wrap, log):
    fn = wrap(lambda x, box: x * box.value)
    for box in (Box(2.0), Slotted(3.0), Box(4), Slotted(Tensor([1.0, 3.0]))):
        log.append(fn(X, box).tolist())
    ref = weakref.ref(box)
    del box
    log.append(ref() is None)


def called_method(wrap, log):
    """A jitted method of a class: `self` is an argument."""

    class Net:
        def __init__(self, value):
            self.value = value

        @wrap
        def run(self, x):
            return x * self.value

    for value in (2.0, 2.0, 3.0):
        net = Net(value)
        ref = weakref.ref(net)
        log.append(net.run(X).tolist())
        del net
        log.append(ref() is None)


def python_function_called(wrap, log):
    """`ops.pyfunc` with a function and a method that die."""

    class Listener:
        def hear(self, a):
            log.append(a.tolist())

    fn = wrap(lambda x, f: ops.pyfunc(f, None, x) or x * 2.0)
    for _ in range(CALLS):
        listener = Listener()
        ref = weakref.ref(listener)
        log.append(fn(X, listener.hear).tolist())
        del listener
        log.append(ref() is None)
        hear = (lambda seen: lambda a: seen.append(a.tolist()))(log)
        ref = weakref.ref(hear)
        log.append(fn(X, hear).tolist())
        del hear
        log.append(ref() is None)


def under_grad(wrap, log):
    fn = ms.grad(wrap(lambda x, box: (x * x * box.value).sum()))
    for _ in range(CALLS):
        x, box = Tensor([1.0, 2.0]), Box(2.0)
        refs = weakref.ref(box), weakref.ref(x)
        log.append(fn(x, box).tolist())
        del x, box
        log.append([r() is None for r in refs])


def in_branches_and_loops(wrap, log):
    @wrap
    def fn(x, boxes):
        if x.sum() > 1.0 and all(b.value > 0.0 for b in boxes):
            x = x * boxes[0].value
        for i in range(3):
            while x.sum() < 100.0 * i:
                x = x + [b.value for b in boxes if 0.0 < b.value < 9.0][-1]
        return x, boxes

    for _ in range(CALLS):
        boxes = [Box(2.0), Box(3.0)]
        refs = [weakref.ref(b) for b in boxes]
        log.append(fn(X, boxes)[0].tolist())
        del boxes
        log.append([r() is None for r in refs])


SCENARIOS = [
    made_inside, loud_inside, loud_at_the_end, generator_dropped, generator_returned, closure_returned, variable_around,
    global_variable, attribute_replaced, layers_replaced, network_dropped, error_with_traceback, name_error,
    error_caught_inside, index_error, sizes_change, numbers_change, type_changes, called_method,
    python_function_called, under_grad, in_branches_and_loops,
]  # fmt: skip


def told(scenario, wrap):
    log = []
    scenario(wrap, log)
    return log


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_objects_die_as_in_python(scenario):
    assert without_collection(told, scenario, ms.jit) == without_collection(told, scenario, lambda fn: fn)


def test_an_object_in_the_memory_of_a_dead_one_is_another():
    """The identity of an object that died says nothing: most of these get the same one."""
    held = {"box": Box(2.0)}
    fn = ms.jit(lambda x: x * held["box"].value)
    identities = set()
    for i in range(200):
        del held["box"]
        held["box"] = Box(float(i % 5))
        identities.add(id(held["box"]))
        assert fn(X).tolist() == [i % 5, 2.0 * (i % 5)]
    assert len(identities) < 100


def test_classes_that_come_and_go_are_told_apart():
    fn = ms.jit(lambda x, box: x * box.value)
    for i in range(20):  # not so many that Python runs them
        cls = type("Local", (), {"value": float(i)})
        assert fn(X, cls()).tolist() == [i, 2.0 * i]
        del cls
        gc.collect(1)


def test_what_lasts_is_kept_and_nothing_else():
    assert all(map(lasts, (1, "a", dict, len, np.add, Tensor, nn.Cell, functools.partial, np, ms)))
    box = Box()
    mine = type("Mine", (), {})
    assert not any(map(lasts, (box, [box], Box, mine, box.times, [].append, lambda: 0, slice(box))))
    assert held([box]) is None


def test_the_interpreter_makes_no_functions_that_know_themselves():
    """Such a function is garbage in a cycle, and keeps all that its call has seen alive until Python looks for it."""
    found = []
    for path in Path(lasts.__code__.co_filename).parent.glob("*.py"):
        for outer in ast.walk(ast.parse(path.read_text())):
            if not isinstance(outer, ast.FunctionDef) or outer.name in ("distributes", "repeated"):  # no captures
                continue
            for inner in ast.walk(outer):
                if isinstance(inner, ast.FunctionDef) and inner is not outer:
                    names = {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
                    found += [f"{path.name}: {inner.name} in {outer.name}"] * (inner.name in names)
    assert not found


def test_an_argument_dies_although_an_error_was_handled_on_the_way():
    def inner(x, box):
        class Times:
            value = 2.0

        return x * Times.value

    @ms.jit
    def outer(*args):
        try:
            {}["none"]  # it raises
        except KeyError:
            return inner(*args)

    gc.collect()
    gc.disable()  # nobody but Python's counts lets it die
    try:
        for _ in range(CALLS):
            box = Box()
            gone = weakref.ref(box)
            assert outer(X, box).tolist() == [2.0, 4.0]
            del box
            assert gone() is None
    finally:
        gc.enable()
