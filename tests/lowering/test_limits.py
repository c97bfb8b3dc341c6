"""What changes above a size changes how it is computed, never what: limits are moved until they are met."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.cost import kept_aside, streamed_from
from mycelia.ir import Function, interpret
from mycelia.lowering import body
from mycelia.runtime import layout
from mycelia.testing import compile
from mycelia.types import bfloat16, float16, float32
from tests.fuzz.judge import difference
from tests.fuzz.programs import pulled_back, random_case
from tests.lowering.programs import check, f32, launches, layer_norm, lowered, softmax, typed


@pytest.mark.parametrize("aside", [0, 1, 70])
def test_rows_too_long_to_be_kept_aside_are_computed_again(aside, monkeypatch):
    monkeypatch.setattr(body, "kept_aside", lambda target: aside)
    check(
        lambda x, g, b: (softmax(x), layer_norm(x, g, b), softmax(x, 0)), f32(9, 33), f32(33), f32(33), tolerance=1e-5
    )
    for seed in range(70_000, 70_006):
        found = difference(random_case(seed))
        assert found is None, f"program {seed}: {found}"


def test_a_row_just_within_the_limit_is_kept_and_one_beyond_is_not(monkeypatch):
    monkeypatch.setattr(body, "kept_aside", lambda target: 64 * 4)
    aside = [any(s.kernel.scratch for s in launches(lowered(softmax, f32(9, n)))) for n in (63, 64, 65)]
    assert aside == [True, True, False]
    assert kept_aside(options().target) > 64 * 4


def test_results_that_go_past_the_caches_are_the_same(monkeypatch):
    monkeypatch.setattr(layout, "streamed_from", lambda target: 1)
    for n in (1, 15, 16, 17, 64, 1003):
        check(lambda x: (p.tanh(x), p.transpose(x, (1, 0)), p.reduce_sum(x, (1,))), f32(5, n), tolerance=1e-5)
    for seed in range(71_000, 71_006):
        for case in (random_case(seed), pulled_back(random_case(seed, steps=6), seed)):
            assert case is None or difference(case) is None, f"program {seed}"


def test_only_results_that_nobody_reads_go_past_the_caches(monkeypatch):
    """What goes past them is not there yet for another thread that reads it."""
    monkeypatch.setattr(layout, "streamed_from", lambda target: 1)

    def streamed(fn):
        program = lowered(fn, f32(64, 64))
        return [b in layout._streamed(program, options().target) for b in program.outputs]

    assert streamed(lambda x: p.tanh(x)) == [True]
    assert streamed(lambda x: (y := p.tanh(x), p.matmul(y, y))) == [False, True]


def test_a_result_larger_than_the_caches_is_right():
    n = max(streamed_from(options().target), 1 << 24) // 4 + 1001
    x = np.arange(n, dtype="f")
    first, second = compile(Function.build(lambda x: (x + 1.0, p.reduce_max(x)), f32(n)))(x)
    np.testing.assert_array_equal(first, x + 1)
    assert second == n - 1


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=lambda d: d.name)
def test_short_numbers_are_added_up_in_long_ones(dtype):
    """Of 4099 numbers the sum is right to the last bit of the result; added up in 16 bits, it would stop growing."""
    long = 4099

    def fn(x, y, z):
        many = p.reduce_sum(x, (1,)), p.reduce_sum(y, (0,)), p.reduce_sum(z), p.mean(x, (1,)), p.mean(y, (0,))
        return *many, p.matmul(x, y), p.reduce_sum(p.tanh(x), (1,))

    function = Function.build(fn, typed(dtype, 3, long), typed(dtype, long, 5), typed(dtype, long))
    rng = np.random.default_rng(0)
    x, y, z = ((rng.random(t.shape) * 0.25 + 0.25).astype(dtype.numpy) for t in function.types)
    wide = [a.astype("d") for a in (x, y, z)]
    wanted = [
        wide[0].sum(1), wide[1].sum(0), wide[2].sum(), wide[0].mean(1), wide[1].mean(0), wide[0] @ wide[1],
        np.tanh(wide[0]).astype(dtype.numpy).astype("d").sum(1),
    ]  # fmt: skip
    last = 2.0**-10 if dtype is float16 else 2.0**-7
    for run in (compile(function), lambda *given: interpret(function, *given)):
        for got, want in zip(run(x, y, z), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(got, "d"), want, rtol=last)


def moved(rng: np.random.Generator, x, a):
    """A few movements of a value and of the same array, such that indices are divided, multiplied and turned round."""
    for _ in range(4):
        kind = rng.integers(5)
        if kind == 0:
            order = tuple(int(i) for i in rng.permutation(a.ndim))
            x, a = p.transpose(x, order), a.transpose(order)
        elif kind == 1:
            flat = int(np.prod(a.shape))
            divisors = [d for d in range(1, flat + 1) if flat % d == 0]
            d = int(rng.choice(divisors))
            e = int(rng.choice([q for q in divisors if (flat // d) % q == 0]))
            x, a = p.reshape(x, (d, e, flat // d // e)), a.reshape(d, e, flat // d // e)
        elif kind == 2:
            wide = (int(rng.integers(1, 4)), *a.shape)
            if int(np.prod(wide)) < 400 and len(wide) < 6:
                x, a = p.Broadcast(wide)(x), np.broadcast_to(a, wide)
        elif kind == 3:
            axis = int(rng.integers(a.ndim))
            x, a = p.flip(x, (axis,)), np.flip(a, axis)
        else:
            starts = tuple(int(rng.integers(0, max(1, n // 2))) for n in a.shape)
            steps = tuple(int(rng.integers(1, 3)) for _ in a.shape)
            x = p.slice_(x, starts, a.shape, steps)
            a = a[tuple(slice(s, None, k) for s, k in zip(starts, steps, strict=True))]
    return x, a


@pytest.mark.parametrize("seed", range(4))
def test_indices_that_are_divided_under_broadcasting_are_right(seed):
    rng = np.random.default_rng(seed)
    base = np.arange(60, dtype="f").reshape(3, 4, 5)
    wanted = []

    def fn(x):
        results = []
        for _ in range(12):
            y, a = moved(rng, x, base)
            results.append(y * 2.0)
            wanted.append(a * 2)
        return results

    function = Function.build(fn, f32(3, 4, 5))
    for got, want in zip(compile(function)(base), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    assert function.types[0].dtype is float32
