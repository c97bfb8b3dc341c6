"""An effect happens once, in order, whether or not somebody reads it: random nests of control flow, after every motion,
against a plain Python interpreter that writes down what happens.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, Purity, interpret, verify
from mycelia.ir.text import parse, show
from mycelia.passes import PIPELINE
from mycelia.testing import compile, optimise
from mycelia.transforms import jvp, parted, vjp, vmap
from mycelia.types import TensorType, float32, int64

S, N = TensorType(float32, ()), TensorType(int64, ())
build = Function.build
X, MANY = np.array(3, "f"), np.array([3, 40, 11], "f")
ONE, ONES = np.array(1, "f"), np.ones(3, "f")


class World:
    """What happened so far: a tag and a number each time."""

    def __init__(self):
        self.happened = []

    def say(self, tag, x):
        self.happened.append((tag, float(x)))

    def ask(self, tag, x):
        self.say(tag, x)
        return np.int64(len(self.happened) % 5)

    def since(self, run):
        self.happened = []
        run()
        return self.happened


# A program is a list of statements about one number: `(kind, *details)`, where a detail may be a program again.


def random_program(rng, depth=3):
    tags = (f"{depth}.{i}" for i in itertools.count())

    def program(level):
        return [statement(level) for _ in range(rng.integers(1, 4))]

    def statement(level):
        simple = ["say", "say", "twice", "ask", "add"]
        nested = ["if", "for", "while", "asking", "call", "recompute", "down", "unread", "custom"]
        kind = str(rng.choice(simple if level == 0 else simple + nested * 2))
        tag = next(tags)
        if kind in simple:
            return (kind, tag, int(rng.integers(1, 9)))
        inner = [program(level - 1) for _ in range(2 if kind == "if" else 1)]
        return (kind, tag, int(rng.integers(0, 4)), *inner)

    return [("say", "first", 0), *program(depth), ("say", "last", 0)]


# ------------------------------------------------------------------------------------------------ plain Python


def wrapped(x):
    return x - 64.0 if x > 64.0 else x


def told(program, x, world):
    """The number after the program."""
    for kind, tag, n, *inner in program:
        if kind in ("say", "twice"):
            for _ in range(1 + (kind == "twice")):
                world.say(tag, x)
        elif kind == "ask":
            x = wrapped(x + float(world.ask(tag, x)))
        elif kind == "add":
            x = wrapped(x + n)
        elif kind == "if":
            x = told(inner[int(x <= 30.0)], x, world)
        elif kind == "unread":
            told(inner[0], x, world)
        elif kind in ("call", "recompute", "custom"):
            x = told(inner[0], x, world)
        elif kind == "down":
            for i in range(n, -1, -1):
                world.say(tag, x + i)
                x = told(inner[0], x, world)
        else:
            for i in range(n):
                if kind == "asking":
                    world.say(tag, x + i)
                x = told(inner[0], x, world)
            if kind == "asking":
                world.say(tag, x + n)
    return x


# ------------------------------------------------------------------------------------------------ the same as a graph


class Graph:
    """Programs as functions of the graph."""

    def __init__(self, world):
        self.world = world

    def say(self, tag, x):
        p.HostCall(p.Callee(lambda a, tag=tag: self.world.say(tag, a)))(x)

    def wrapped(self, x):
        return p.select(p.greater(x, p.lift(64.0, x)), x - 64.0, x)

    def function(self, program):
        return build(lambda x: (self.told(program, x),), S)

    def told(self, program, x):
        for kind, tag, n, *inner in program:
            x = getattr(self, kind + "_", getattr(self, kind, None))(tag, n, x, *inner) if kind != "say" else x
            if kind == "say":
                self.say(tag, x)
        return x

    def twice(self, tag, n, x):
        say = p.HostCall(p.Callee(lambda a: self.world.say(tag, a)))
        say(x)
        say(x)
        return x

    def ask(self, tag, n, x):
        (found,) = p.HostCall(p.Callee(lambda a: self.world.ask(tag, a)), (N,))(x)
        return self.wrapped(x + p.cast(found, float32))

    def add(self, tag, n, x):
        return self.wrapped(x + float(n))

    def if_(self, tag, n, x, then, otherwise):
        return p.Cond(self.function(then), self.function(otherwise))(p.greater(x, p.lift(30.0, x)), x)[0]

    def unread(self, tag, n, x, program):
        p.Call(self.function(program))(x)
        return x

    def call(self, tag, n, x, program):
        return p.Call(self.function(program))(x)[0]

    def recompute(self, tag, n, x, program):
        return p.Call(self.function(program), recompute=True)(x)[0]

    def custom(self, tag, n, x, program):
        forward = self.function(program)
        return p.CustomVjp(forward, forward, build(lambda ct: ct, S))(x)[0]

    def for_(self, tag, n, x, program):
        if n % 2:
            return p.Scan(self.function(program), 0, 1, False, n)(x)[0]
        return p.Scan(self.function(program), 0, 1)(p.full(n, int64, ()), x)[0]

    def _loop(self, tag, n, x, program, asks):
        def more(limit, x, i):
            if asks:
                self.say(tag, x + p.cast(i, float32))
            return p.less(i, limit)

        body = build(lambda limit, x, i: (self.told(program, x), i + 1), N, S, N)
        zero = p.full(0, int64, ())
        return p.While(build(more, N, S, N), body, 1)(p.full(n, int64, ()), x, zero)[0]

    def while_(self, tag, n, x, program):
        return self._loop(tag, n, x, program, asks=False)

    def asking(self, tag, n, x, program):
        return self._loop(tag, n, x, program, asks=True)

    def down(self, tag, n, x, program):
        again = p.NamedCall(tag, (S,), ordered=True)

        def one(x, i):
            self.say(tag, x + p.cast(i, float32))
            x = self.told(program, x)
            on = build(lambda x, i: again(x, i - 1), S, N)
            return p.Cond(on, build(lambda x, i: (x,), S, N))(p.greater(i, p.full(0, int64, ())), x, i)

        return p.Recurse(((tag, build(one, S, N)),), tag)(x, p.full(n, int64, ()))[0]


def holds_custom(program):
    return any(kind == "custom" or any(holds_custom(i) for i in inner) for kind, _, _, *inner in program)


def forms(fn, custom):
    """Functions that do the same, with arguments: of one example, and of three."""
    yield fn, (X,)
    yield parse(show(fn)), (X,)
    for run in (*PIPELINE, optimise):
        yield run(fn), (X,)
    yield vjp(fn), (X, ONE)
    yield optimise(vjp(fn)), (X, ONE)
    yield vjp(fn, (False,)), (X, ONE)
    yield vjp(vjp(fn)), (X, ONE, ONE, ONE)
    if not custom:
        yield jvp(fn), (X, ONE)
        yield jvp(vjp(fn)), (X, ONE, ONE, ONE)
    yield vmap(fn, 3), (MANY,)
    yield vjp(vmap(fn, 3)), (MANY, ONES)
    yield vmap(vjp(fn), 3), (MANY, ONES)
    yield vmap(fn, 3, (False,)), (X,)


def expected_of(world, program, inputs, made):
    """What Python says happens: for each example, if there are several."""
    three = "f32[3]" in str(made.result_types[0])
    xs = (MANY if inputs[0] is MANY else [X] * 3) if three else [X]
    return world.since(lambda: [told(program, np.float32(x), world) for x in xs])


@pytest.mark.parametrize("seed", range(40))
def test_what_happens_is_what_python_says(seed):
    world = World()
    program = random_program(np.random.default_rng(seed))
    fn = Graph(world).function(program)
    for made, inputs in forms(fn, holds_custom(program)):
        verify(made)
        wanted = expected_of(world, program, inputs, made)
        found = []
        assert world.since(lambda m=made, i=inputs, f=found: f.extend(interpret(m, *i))) == wanted
        if inputs[0] is X and found[0].shape == ():
            assert found[0] == told(program, np.float32(X), World())


@pytest.mark.parametrize("seed", range(60, 72))
def test_nothing_happens_again_on_the_way_back(seed):
    world = World()
    program = random_program(np.random.default_rng(seed))
    parts = parted(vjp(Graph(world).function(program)), 1, 1)
    results = []
    wanted = world.since(lambda: told(program, np.float32(X), world))
    assert world.since(lambda: results.extend(interpret(parts.forward, X))) == wanted
    assert world.since(lambda: interpret(parts.backward, *parts.kept((X,), results), ONE)) == []


@pytest.mark.parametrize("seed", range(8))
def test_machine_code_does_it_too(seed):
    world = World()
    program = random_program(np.random.default_rng(1000 + seed), 2)
    fn = Graph(world).function(program)
    for made, inputs in ((fn, (X,)), (vjp(fn), (X, ONE)), (vmap(fn, 3), (MANY,)), (vjp(vmap(fn, 3)), (MANY, ONES))):
        wanted = expected_of(world, program, inputs, made)
        run = compile(made)
        for _ in range(2):
            assert world.since(lambda run=run, inputs=inputs: run(*inputs)) == wanted


def test_equal_effects_are_two_and_equal_computations_one():
    say = p.HostCall(p.Callee(print))
    fn = build(lambda x: (say(x), say(x), p.sin(x) + p.sin(x))[2], S)
    assert [v.op.name for v in fn.values()].count("host_call") == len(fn.effects) == 2
    assert [v.op.name for v in fn.values()].count("sin") == 1
    assert fn == build(lambda x: (say(x), say(x), p.sin(x) + p.sin(x))[2], S)
    assert fn != build(lambda x: (say(x), p.sin(x) + p.sin(x))[1], S)


def test_an_effect_outside_of_any_function_is_refused():
    with pytest.raises(AssertionError, match="no function that could keep it"):
        p.HostCall(p.Callee(print))(p.zeros(float32, ()))


def test_purity_comes_from_inside():
    total, say = build(p.sin, S), p.HostCall(p.Callee(print))
    partial = build(lambda x: p.While(build(lambda x: p.less(x, p.lift(9.0, x)), S), build(p.exp, S), 0)(x)[0], S)
    ordered = build(lambda x: (say(x), x)[1], S)
    for fn in (total, partial, ordered):
        assert p.Call(fn).purity is p.Cond(fn, total).purity is p.Cond(total, fn).purity is fn.purity
        assert p.Scan(fn, 0, 1, False, 3).purity is fn.purity
        assert p.While(build(lambda x: p.less(x, x), S), fn, 0).purity is max(fn.purity, Purity.PARTIAL)
        assert p.Recurse((("f", fn),), "f").purity is max(fn.purity, Purity.PARTIAL)
    assert [fn.purity for fn in (total, partial, ordered)] == list(Purity)
    assert p.Map(partial, 0, 3).purity is Purity.PARTIAL
    with pytest.raises(AssertionError, match="in any order"):
        p.Map(ordered, 0, 3)


def test_a_call_by_name_cannot_hide_effects():
    say, again = p.HostCall(p.Callee(print)), p.NamedCall("f", (S,))
    fn = build(lambda x: (say(x), again(x)[0])[1], S)
    with pytest.raises(AssertionError, match="hides the effects"):
        p.Recurse((("f", fn),), "f")


def test_an_effect_of_a_custom_gradient_happens_on_the_way_back():
    world = World()
    say = {tag: p.HostCall(p.Callee(lambda a, tag=tag: world.say(tag, a))) for tag in ("there", "back")}
    forward = build(lambda x: (say["there"](x), x * 2.0)[1:], S)
    backward = build(lambda ct: (say["back"](ct), ct * 3.0)[1:], S)
    fn = build(lambda x: p.CustomVjp(forward, forward, backward)(x)[0] * 2.0, S)
    looped = build(lambda x: p.Scan(fn, 0, 1, False, 2)(x)[0], S)
    for made in (vjp(fn), optimise(vjp(fn))):
        verify(made)
        for run in (lambda *i, made=made: interpret(made, *i), compile(made)):
            assert world.since(lambda run=run: run(X, ONE)) == [("there", 3.0), ("back", 2.0)]
    parts = parted(vjp(fn), 1, 1)
    assert world.since(lambda: interpret(parts.forward, X)) == [("there", 3.0)]
    assert len(parts.backward.effects) == 1
    wanted = [("there", 3.0), ("there", 12.0), ("back", 2.0), ("back", 12.0)]
    assert world.since(lambda: interpret(vjp(looped), X, ONE)) == wanted
    assert world.since(lambda: compile(vjp(looped))(X, ONE)) == wanted
    assert world.since(lambda: interpret(vmap(vjp(fn), 2), np.array([1, 2], "f"), np.ones(2, "f"))) == [
        ("there", 1.0), ("back", 2.0), ("there", 2.0), ("back", 2.0)
    ]  # fmt: skip
