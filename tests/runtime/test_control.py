"""Loops and recursion at run time: derivatives of every order, memory that is given back, depth that ends in words."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import ops
from mycelia import primitives as p
from mycelia.errors import MyceliaError
from mycelia.ir import Function, interpret
from mycelia.testing import compile
from mycelia.types import TensorType, float32, float64
from tests.runtime.programs import N, S, chain, count, differences, gradient, loop, number, resident, tree, whole

PROGRAMS = {
    "a loop": (loop(), 0.3, count(7), lambda x: np.full(1, x)),
    "a tree": (tree(), 0.45, number(5), number),
}


@pytest.mark.parametrize(("fn", "x", "n", "given"), PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives_to_third_order_equal_differences(fn, x, n, given):
    for _ in range(3):
        derivative = gradient(fn)
        native, before = compile(derivative), compile(fn)
        want = differences(lambda t, before=before: before(given(t), n)[0].sum(), x)
        (got,) = native(given(x), n)
        np.testing.assert_allclose(got.sum(), want, rtol=1e-6)
        np.testing.assert_allclose(got, interpret(derivative, given(x), n)[0], rtol=1e-12)
        fn = _total(derivative)


def _total(derivative):
    return derivative.with_results(p.reduce_sum(r) for r in derivative.results)


def test_memory_is_given_back_after_every_call():
    native = compile(gradient(loop(64)))
    inputs = np.full(64, 0.1), count(200)
    for _ in range(50):
        native(*inputs)
    before = resident()
    for _ in range(1000):
        native(*inputs)
    assert resident() - before < 2**20  # each call takes 200 * 64 * 8 bytes, and more


def test_memory_of_recursive_calls_is_given_back():
    native = compile(gradient(tree()))
    for _ in range(50):
        native(number(0.4), number(9))
    before = resident()
    for _ in range(1000):
        native(number(0.4), number(9))
    assert resident() - before < 2**20


def bytes_per_turn(width: int) -> list[float]:
    """What a turn takes at the most, for loops of three lengths."""
    native = compile(gradient(loop(width)))
    x = np.full(width, 0.001)
    peak = []
    for turns in (250_000, 500_000, 1_000_000):
        _reset_peak()
        before = resident()
        native(x, count(turns))
        peak.append((_peak() - before) / turns)
    return peak


def test_a_million_turns_take_memory_for_what_they_leave_behind_only():
    """Each turn leaves the state before it (8 bytes); sequences double, and the old half lives while it is copied. In a
    process of its own: what earlier tests have freed would be taken first, and count as nothing.
    """
    width = 8
    code = f"from tests.runtime.test_control import bytes_per_turn; print(*bytes_per_turn({width}))"
    run = [sys.executable, "-c", code]
    told = subprocess.run(run, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True).stdout
    peak = [float(word) for word in told.split()]
    residuals = 8 * width
    assert len(peak) == 3, told
    assert all(one < 8 * residuals for one in peak), peak
    assert peak[-1] < 2.2 * min(peak), peak


def _reset_peak() -> None:
    ctypes.CDLL(None).malloc_trim(0)  # what was freed would be taken first, and count as nothing
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def _peak() -> int:
    with open("/proc/self/status") as f:
        line = next(line for line in f if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def test_a_million_turns_have_the_gradient_of_the_formula():
    """The power x ** n by a loop of products: its derivative is n * x ** (n - 1)."""
    condition = Function.build(lambda x, n, h, i: p.less(i, n), S, N, S, N)
    body = Function.build(lambda x, n, h, i: (h * x, i + whole(1)), S, N, S, N)
    one = p.full(1.0, S.dtype, ())
    power = Function.build(lambda x, n: p.While(condition, body, 2)(x, n, one, whole(0))[0], S, N)
    n = 10**6
    (got,) = compile(gradient(power))(number(1 - 1e-6), count(n))
    np.testing.assert_allclose(got, n * (1 - 1e-6) ** (n - 1), rtol=1e-9)


def test_recursion_a_hundred_thousand_deep_is_fine():
    native = compile(chain())
    (got,) = native(number(0.5), count(100_000))
    assert np.isfinite(got)


def test_recursion_too_deep_is_an_error_and_the_next_call_works():
    native = compile(chain())
    (want,) = native(number(0.5), count(10))
    for _ in range(3):
        with pytest.raises(MyceliaError, match="a recursive function went too deep"):
            native(number(0.5), count(10**8))
        assert native(number(0.5), count(10))[0] == want


def test_the_gradient_of_recursion_too_deep_is_an_error_and_the_next_call_works():
    native = compile(gradient(chain()))
    (want,) = native(number(0.5), count(10))
    with pytest.raises(MyceliaError, match="a recursive function went too deep"):
        native(number(0.5), count(10**8))
    assert native(number(0.5), count(10))[0] == want


def test_what_a_call_that_went_too_deep_left_behind_does_no_harm():
    """The stack of procedures still holds what the last call wrote there, also addresses that are no longer valid."""
    native = compile(gradient(tree()))
    want = native(number(0.4), number(7))
    for depth in (1e6, 1e6 + 1, 1e6 + 0.5):
        with pytest.raises(MyceliaError, match="a recursive function went too deep"):
            native(number(0.4), number(depth))
        assert native(number(0.4), number(7)) == want


def test_large_recursive_functions_run_out_of_depth_in_words_too():
    """Each activation takes more of the native stack than there is for the deepest recursion."""
    v = TensorType(float64, (3, 3))
    call = p.NamedCall("wide", (v,))

    def deeper(x, n):
        (x,) = call(x, n - whole(1))
        for _ in range(150):
            x = p.tanh(p.matmul(x, x) * 0.01)
        return x

    base, step = Function.build(lambda x, n: (x,), v, N), Function.build(deeper, v, N)
    body = Function.build(lambda x, n: p.Cond(base, step)(p.less(n, whole(1)), x, n), v, N)
    native = compile(Function.build(lambda x, n: p.Recurse((("wide", body),), "wide")(x, n), v, N))
    x = np.full((3, 3), 0.01)
    (want,) = native(x, count(2))
    with pytest.raises(MyceliaError, match="a recursive function went too deep"):
        native(x, count(10**8))
    np.testing.assert_array_equal(native(x, count(2))[0], want)


def in_a_process_of_its_own(code):
    """What a script prints that ends as it should."""
    done = subprocess.run([sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


PRELUDE = """
import resource
import numpy as np
from mycelia.testing import compile
from tests.runtime.programs import *
def reserved():
    return int(open("/proc/self/statm").read().split()[0]) * 4096
def limit(more):
    resource.setrlimit(resource.RLIMIT_AS, (reserved() + more, -1))
"""


def test_a_loop_that_needs_more_memory_than_there_is_ends_in_an_error():
    """Sequences that grow, in a loop whose length nobody knows, until there is no more."""
    code = """
native = compile(gradient(loop(1 << 12)))
inputs = np.full(1 << 12, 0.1), count(100)
before = [r.copy() for r in native(*inputs)]
limit(1 << 28)
for _ in range(3):
    try:
        native(np.full(1 << 12, 0.1), count(1_000_000))
    except MemoryError as error:
        print("told" if "more memory than there is" in str(error) else error)
assert all((a == b).all() for a, b in zip(native(*inputs), before))
print("right")
"""
    assert in_a_process_of_its_own(code) == ["told", "told", "told", "right"]


def test_recursion_that_needs_more_memory_than_there_is_ends_in_an_error():
    code = """
native = compile(chain((1 << 14,)))
inputs = np.full(1 << 14, 0.5), count(3)
before = [r.copy() for r in native(*inputs)]
limit(1 << 28)
for _ in range(3):
    try:
        native(np.full(1 << 14, 0.5), count(100_000))
    except MemoryError as error:
        print("told" if "more memory than there is" in str(error) else error)
assert all((a == b).all() for a, b in zip(native(*inputs), before))
print("right")
"""
    assert in_a_process_of_its_own(code) == ["told", "told", "told", "right"]


def test_a_recursive_program_reserves_nothing():
    code = """
programs = [compile(tree()), compile(gradient(tree()))]
for native in programs:
    native(number(0.4), number(5))  # the thread with the deep stack is there from now on
before = reserved()
programs += [compile(chain(factor=1 / n)) for n in range(2, 12)]
print("little" if reserved() - before < 1 << 28 else reserved() - before)
"""
    assert in_a_process_of_its_own(code) == ["little"]


@pytest.mark.parametrize("turns", [0, 1, 4, 7])
def test_functions_that_call_one_another_have_library_calls_of_their_own(turns):
    """Each folds images of other sizes, with packed weights and a room of its own for them."""
    v, w = TensorType(float32, (2, 16, 20, 20)), TensorType(float32, (32, 16, 3, 3))
    names = ("one", "two", "three")
    calls = [p.NamedCall(name, (v,)) for name in names]

    def step(at, channels):
        def deeper(x, w, n):
            part = p.slice_(w, (0, 0, 0, 0), (channels, 16, 3, 3), (1, 1, 1, 1))
            wide = p.tanh(p.conv(x, part, (1, 1), ((1, 1), (1, 1))) * 0.05)
            back = p.slice_(wide, (0, channels - 16, 0, 0), (2, channels, 20, 20), (1, 1, 1, 1))
            return (p.tanh(calls[(at + 1) % 3](back, w, n - whole(1))[0] + x),)

        return deeper

    bodies = []
    for at, channels in enumerate((32, 24, 16)):
        base = Function.build(lambda x, w, n: (x,), v, w, N)
        further = Function.build(step(at, channels), v, w, N)
        either = p.Cond(base, further)
        body = Function.build(lambda x, w, n, either=either: either(p.less(n, whole(1)), x, w, n), v, w, N)
        bodies.append((names[at], body))
    fn = Function.build(lambda x, w, n: p.Recurse(tuple(bodies), "one")(x, w, n), v, w, N)
    rng = np.random.default_rng(turns)
    inputs = rng.normal(size=v.shape).astype("f"), rng.normal(size=w.shape).astype("f"), count(turns)
    (got,), (want,) = compile(fn)(*inputs), interpret(fn, *inputs)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_function_that_calls_itself_may_give_itself_what_a_convolution_made(turns):
    """Which lies with its channels last: whoever is called knows nothing of that."""
    rng = np.random.default_rng(0)
    w = ms.Tensor(rng.normal(size=(16, 16, 3, 3)).astype("f") * 0.05)
    x = ms.Tensor(rng.normal(size=(2, 16, 9, 9)).astype("f"))

    def deeper(x, n):
        if n < 1:
            return x
        return ops.tanh(deeper(ops.tanh(ops.conv2d(x, w, pad_mode="same")), n - 1) + x)

    def slope(x, n):
        return ms.grad(lambda y: (deeper(y, n) ** 2).sum())(x)

    for fn in (deeper, slope):
        got, want = ms.jit(fn)(x, ms.Tensor(turns)), fn(x, turns)
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-4, atol=1e-5)
