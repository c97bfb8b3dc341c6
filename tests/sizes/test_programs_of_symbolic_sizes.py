"""One program for all sizes: functions of the graph with symbolic dimensions, against their meaning at actual ones."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.ir import Function, interpret, sized, sizes_of
from mycelia.passes import PIPELINE
from mycelia.runtime.arena import Arena
from mycelia.runtime.layout import layout
from mycelia.runtime.resizable import Resizable
from mycelia.sizes import Scope, evaluated
from mycelia.testing import compile, lower, optimise
from mycelia.transforms import jvp, value_and_grad, vmap
from mycelia.types import TensorType, float32, float64, int32, int64

SCOPE = Scope()
N, T = SCOPE.name("n", hint=6), SCOPE.name("t", hint=9)


def f32(*shape):
    return TensorType(float32, shape)


def softmax(x):
    e = p.exp(x - p.reduce_max(x, (-1,), keepdims=True))
    return e / p.reduce_sum(e, (-1,), keepdims=True)


def attention(q, k, v):
    return p.matmul(softmax(p.matmul(q, p.transpose(k, (0, 2, 1))) * 0.3), v)


def looped(x):
    body = Function.build(lambda w, c, x: (p.tanh(p.matmul(x, w)) + c,), f32(3, 3), f32(N, 3), f32(N, 3))
    return p.Scan(body, 1, 1, static_length=4)(p.ones(float32, (3, 3)), p.zeros(float32, (N, 3)), x)[0]


def counted(x):
    types = f32(N, T), TensorType(int64, ())
    unfinished = Function.build(lambda x, i: p.less(i, p.full(4, int64, ())), *types)
    turn = Function.build(lambda x, i: (p.tanh(x) * 1.5, i + 1), *types)
    return p.While(unfinished, turn, 0)(x, p.zeros(int64, ()))[0]


def branched(x):
    then, otherwise = (Function.build(f, f32(N, T)) for f in (lambda x: x * 2.0, lambda x: p.sin(x)))
    return p.Cond(then, otherwise)(p.greater(p.reduce_sum(x, (0, 1)), p.zeros(float32, ())), x)[0]


PROGRAMS = {
    "chain": (lambda x, y: p.tanh(x) * y + 1.0, [f32(N, T), f32(T)]),
    "rows": (lambda x: p.reduce_sum(x * x, (1,)), [f32(N, T)]),
    "columns": (lambda x: p.reduce_sum(p.exp(x), (0,)), [f32(N, T)]),
    "everything": (lambda x: p.reduce_sum(x, (0, 1)), [f32(N, T)]),
    "softmax": (softmax, [f32(N, T)]),
    "product": (p.matmul, [f32(N, 16), f32(16, T)]),
    "product over a size": (lambda x, y: p.matmul(p.transpose(x, (1, 0)), y), [f32(N, 5), f32(N, 7)]),
    "attention": (attention, [f32(N, T, 8), f32(N, T, 8), f32(N, T, 8)]),
    "reshaped": (lambda x: p.reshape(p.transpose(p.reshape(x, (N, T, 2, 4)), (2, 0, 3, 1)), (-1, T)), [f32(N, T, 8)]),
    "joined": (lambda x, y: p.concat((x, y), 1), [f32(N, T), f32(N, 3)]),
    "sliced": (lambda x: p.slice_(x, (0, 1), (N, T), (1, 1)) - p.slice_(x, (0, 0), (N, T - 1), (1, 1)), [f32(N, T)]),
    "padded": (lambda x: p.pad(x, (1, 0), (0, 2), 0), [f32(N, T)]),
    "flipped": (lambda x: p.flip(x, (1,)), [f32(N, T)]),
    "running sum": (lambda x: p.cumsum(x, 1), [f32(N, T)]),
    "positions": (lambda x: p.iota(float32, (N, T), 1) * x, [f32(N, T)]),
    "gathered": (lambda x, i: p.gather(x, i, 1), [f32(N, T), TensorType(int32, (4,))]),
    "scattered": (lambda x, i, y: p.scatter_add(x, i, y, 0), [f32(N, T), TensorType(int32, (5,)), f32(5, T)]),
    "largest": (lambda x: (p.arg_max(x, 1), p.reduce_max(x, (1,))), [f32(N, T)]),
    "mean": (lambda x: p.mean(x, (0, 1)), [f32(N, T)]),
    "images": (lambda x, w: p.conv(x, w, (1, 1), ((1, 1), (1, 1))), [f32(N, 3, 8, 8), f32(4, 3, 3, 3)]),
    "doubles": (lambda x, y: p.matmul(x, y), [TensorType(float64, (N, 40)), TensorType(float64, (40, T))]),
    "branch": (branched, [f32(N, T)]),
    "while": (counted, [f32(N, T)]),
    "scan": (looped, [f32(4, N, 3)]),
}


def arrays(types, n, t, seed=0):
    rng = np.random.default_rng(seed)
    at = {name: {"n": n, "t": t}[name.text] for size in (N, T) for name in size.names()}
    out = []
    for type_ in types:
        shape = evaluated(type_.shape, at)
        drawn = rng.integers(0, 2, shape) if type_.dtype.is_integer else rng.normal(size=shape)
        out.append(drawn.astype(type_.dtype.numpy))
    return out


SHAPES = [(6, 9), (2, 2), (3, 2), (17, 5), (5, 33), (64, 64), (7, 1), (1, 4)]


def agrees(fn, given, native):
    meant = interpret(sized(fn, sizes_of(fn, given)), *given)
    for got, want in zip(native(*given), meant, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_program_agrees_with_the_meaning_at_every_size(name):
    python, types = PROGRAMS[name]
    fn = Function.build(python, *types)
    native = compile(fn)
    for n, t in SHAPES:
        agrees(fn, arrays(types, n, t), native)
    assert native.whole is not None
    assert native.programs <= 1 + sum(1 in shape for shape in SHAPES)  # what has one element is a program of its own


SMOOTH = [name for name in PROGRAMS if name not in ("largest", "gathered", "scattered", "doubles")]


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_tangents_and_batches_keep_their_sizes_open(name):
    python, types = PROGRAMS[name]
    total = Function.build(
        lambda *x: p.reduce_sum(p.sin(out), tuple(range(len(out.shape)))) if (out := python(*x)) is not None else None,
        *types,
    )
    for fn in (value_and_grad(total, (True,) * len(types)), jvp(total), vmap(total, 3)):
        native = compile(fn)
        for n, t in [(6, 9), (3, 2), (17, 5)]:
            rng = np.random.default_rng(n)
            at = {name: {"n": n, "t": t}[name.text] for size in (N, T) for name in size.names()}
            shapes = [evaluated(q.shape, at) for q in fn.types]
            agrees(fn, [rng.normal(size=s).astype("f") for s in shapes], native)
        assert native.whole is not None


def test_passes_keep_the_meaning_at_other_sizes():
    for python, types in PROGRAMS.values():
        fn = Function.build(python, *types)
        for run in PIPELINE:
            fn = run(fn)
        given = arrays(types, 5, 7)
        plain = Function.build(python, *types)
        for got, want in zip(
            interpret(sized(fn, sizes_of(fn, given)), *given),
            interpret(sized(plain, sizes_of(plain, given)), *given),
            strict=True,
        ):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_what_lives_together_never_shares_memory_at_any_size():
    fn = value_and_grad(Function.build(lambda x, w, v: p.reduce_sum(softmax(p.matmul(p.tanh(p.matmul(x, w)), v)) *
        p.iota(float32, (N, 10), 1), (0, 1)), f32(N, 16), f32(16, 32), f32(32, 10)), (True, True, True))  # fmt: skip
    stack = layout(lower(optimise(fn)), options()).plan.stack
    rng = np.random.default_rng(0)
    for _ in range(50):
        nbytes = [int(rng.integers(1, 5000)) for _ in stack.items]
        *offsets, arena = stack.offsets(nbytes)
        for i, (a, at) in enumerate(zip(stack.items, offsets, strict=True)):
            assert at % 64 == 0
            assert at + nbytes[i] <= arena
            for j in range(i):
                if a.meets(stack.items[j]):
                    assert at >= offsets[j] + nbytes[j] or offsets[j] >= at + nbytes[i]


def test_a_guard_that_fails_gives_a_program_of_its_own():
    scope = Scope()
    n = scope.name("n", hint=8)
    fn = Function.build(lambda x: p.slice_(x, (0,), (n if n < 10 else 10,)), TensorType(float32, (n,)))
    native = compile(fn)
    assert isinstance(native, Resizable)
    for size in (8, 5, 9):
        np.testing.assert_array_equal(native(np.arange(size, dtype="f"))[0], np.arange(size))
    assert native.programs == 1
    assert [str(g) for g in scope.guards] == ["10 + -1*n > 0"]


def test_programs_share_one_arena():
    big, small = (compile(Function.build(lambda x: p.matmul(p.tanh(p.matmul(x, x)), x), f32(k, k))) for k in (300, 200))
    big(np.ones((300, 300), "f"))
    before = Arena.bytes()
    for _ in range(3):
        small(np.ones((200, 200), "f"))
        big(np.ones((300, 300), "f"))
    assert Arena.bytes() == before
