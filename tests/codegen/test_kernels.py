"""Kernels over extents that fill no vector, just one, or one and a bit; over strides of every kind; on many threads."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.driver import emit_program
from mycelia.cost import shared_from
from mycelia.ir import Function, interpret
from mycelia.runtime.layout import layout
from mycelia.testing import compile
from mycelia.types import bfloat16, bool_, float16, float32, float64, int8, int32, int64, uint8
from tests.lowering.programs import check, f32, launches, lowered, numbers, softmax, typed

RAGGED = (1, 7, 8, 9, 15, 16, 17, 31, 33, 1003)
ragged = pytest.mark.many("n", RAGGED)


@ragged
def test_flat_kernels_of_any_extent(n):
    check(lambda x, y: (p.tanh(x) * y, p.maximum(x, y)), f32(n), f32(n))


@ragged
def test_flat_kernels_of_mixed_element_types(n):
    def fn(x, y, z, b):
        return p.cast(x, float64) + y, p.select(b, x, p.cast(z, float32)), p.cast(y, int32) + z, p.logical_not(b)

    check(fn, f32(n), typed(float64, n), typed(int32, n), typed(bool_, n))


@ragged
def test_rows_of_any_extent(n):
    t = f32(5, n)
    check(lambda x: (p.reduce_sum(x, (1,)), p.reduce_max(x, (1,)), p.reduce_min(x, (1,))), t, tolerance=1e-5)
    check(softmax, t, tolerance=1e-5)
    check(lambda x: x - p.mean(x, (1,), True), t, tolerance=1e-5)


@ragged
def test_columns_of_any_extent(n):
    t = f32(5, n)
    check(lambda x: (p.reduce_sum(x, (0,)), p.reduce_max(x, (0,)), p.reduce_prod(x, (0,))), t, tolerance=1e-5)
    check(lambda x: softmax(x, 0), t, tolerance=1e-5)


@ragged
def test_any_number_of_rows(n):
    check(lambda x: (p.reduce_sum(x, (1,)), p.reduce_sum(x, (0,)), p.reduce_sum(x)), f32(n, 5), tolerance=1e-5)


@ragged
def test_reductions_over_outer_and_inner_axes_at_once(n):
    check(
        lambda x: (p.reduce_sum(x, (0, 2)), p.reduce_sum(x, (1,)), p.reduce_max(x, (0, 1))),
        f32(3, n, 4),
        tolerance=1e-5,
    )


@ragged
def test_products_of_any_extent(n):
    m = min(n, 33)
    check(p.matmul, f32(m, n), f32(n, 9), tolerance=1e-5)
    check(lambda x, y: p.matmul(x, y), typed(float64, m, n), typed(float64, n, 9), tolerance=1e-12)
    check(p.matmul, f32(n), f32(n, 40), tolerance=1e-5)


@ragged
def test_running_sums_and_scattered_ones_of_any_extent(n):
    check(lambda x: (p.cumsum(x, 0), p.cumsum(x, 1)), f32(n, 5), tolerance=1e-5)
    indices = np.arange(7) * 3 % n
    check(lambda x, u: p.scatter_add(x, p.constant(indices), u, 0), f32(n, 5), f32(7, 5), tolerance=1e-5)
    check(lambda x, u: p.scatter_add(x, p.constant(indices), u, 1), f32(5, n), f32(5, 7), tolerance=1e-5)


@pytest.mark.many("dtype", [float16, bfloat16, float64, int8, uint8, int32, int64])
@pytest.mark.parametrize("n", [1, 9, 33])
def test_reductions_of_every_element_type(dtype, n):
    fn = Function.build(
        lambda x: (p.reduce_sum(x, (0,)), p.reduce_sum(x, (1,)), p.reduce_max(x, (1,))), typed(dtype, 7, n)
    )
    x = (np.arange(7 * n).reshape(7, n) % 5).astype(dtype.numpy)
    for got, want in zip(compile(fn)(x), interpret(fn, x), strict=True):
        np.testing.assert_array_equal(got.astype("d"), want.astype("d"))


def test_strided_reading_in_lanes_equals_reading_one_by_one():
    def fn(x):
        return p.exp(p.transpose(x, (2, 0, 1))), p.reduce_sum(p.transpose(x, (1, 2, 0)), (2,))

    check(fn, f32(9, 17, 33), tolerance=1e-5)
    check(lambda x: p.tanh(p.slice_(x, (1, 3), (9, 31), (2, 3))), f32(9, 33))
    check(lambda x: p.tanh(p.flip(x, (1,))), f32(9, 33))
    check(lambda x, y: x * p.reshape(y, (9, 1)) + p.reshape(y, (1, 9)), f32(9, 9), f32(9))


def test_channels_last_inputs_are_read_right():
    """A convolution may leave its result channels last; whatever follows reads it so."""

    def fn(x, w, scale):
        y = p.conv(x, w, (1, 1), ((1, 1), (1, 1)))
        mean = p.mean(y, (0, 2, 3), True)
        z = p.maximum((y - mean) * p.reshape(scale, (1, 16, 1, 1)), p.lift(0.0, y))
        return (
            p.max_pool(z, (2, 2), (2, 2)),
            mean,
            p.reduce_sum(z, (1,)),
            p.reduce_max(z, (2, 3)),
            p.transpose(z, (2, 0, 3, 1)),
        )

    check(fn, f32(2, 8, 14, 14), f32(16, 8, 3, 3), f32(16), tolerance=1e-4)


def test_arrays_that_are_not_dense_are_taken_too():
    fn = Function.build(lambda x: p.exp(x) + p.reduce_sum(x, (0,)), f32(17, 9))
    base = numbers(f32(34, 18))
    for x in (
        base[::2, ::2],
        np.asfortranarray(base[:17, :9]),
        base[:17, :9][::-1],
        np.broadcast_to(base[:1, :9], (17, 9)),
    ):
        np.testing.assert_allclose(compile(fn)(x)[0], np.exp(x) + x.sum(0), rtol=1e-4)


def test_many_rows_are_shared_among_threads():
    def fn(x):
        return softmax(x), p.reduce_sum(x, (0,)), p.tanh(x)  # columns: two blocks of 128

    assert all(s.work > shared_from(options().target) for s in launches(lowered(fn, f32(1003, 256))))
    check(fn, f32(1003, 256), tolerance=1e-5)
    check(lambda x: p.sin(x) * 2.0, f32(100_003), tolerance=1e-5)


def test_small_kernels_are_not_shared():
    assert not any(s.work > shared_from(options().target) for s in launches(lowered(softmax, f32(4, 8))))


PROGRAM = """
import sys
import numpy as np
from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.driver import emit_program
from mycelia.ir import Function
from mycelia.runtime.layout import layout
from mycelia.testing import compile
from mycelia.types import TensorType, float32
assert options().threads == int(sys.argv[1])
def fn(x, w):
    y = p.tanh(p.matmul(x, w))
    e = p.exp(y - p.reduce_max(y, (1,), True))
    return e / p.reduce_sum(e, (1,), True), p.reduce_sum(e, (0,)), p.cumsum(y, 0), p.reduce_sum(y), p.sin(x)
x, w = TensorType(float32, (515, 130)), TensorType(float32, (130, 129))
rng = np.random.default_rng(0)
results = compile(Function.build(fn, x, w))(*(rng.standard_normal(t.shape).astype("f") for t in (x, w)))
sys.stdout.buffer.write(b"".join(r.tobytes() for r in results))
"""


def test_one_thread_and_two_give_the_same_numbers():
    def results(threads):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM, str(threads)],
            env=environment,
            capture_output=True,
            check=True,
        ).stdout

    one, two = (np.frombuffer(results(n), "f") for n in (1, 2))
    assert one.size == 515 * 129 * 2 + 129 + 1 + 515 * 130
    np.testing.assert_array_equal(one, two)


def text(fn):
    return "".join(emit_program(layout(lowered(fn, f32(64, 100)), options()), options(), "run").modules)


@pytest.mark.parametrize("fn", [softmax, p.tanh, lambda x: x - p.mean(x, (1,), True)])
def test_the_last_loop_of_rows_writes_in_lanes(fn):
    assert f"store <{options().target.vector_bytes // 4} x float>" in text(fn)


def test_the_next_row_is_asked_for_while_the_last_sweep_of_this_one_computes():
    assert 'call void @"llvm.prefetch' in text(softmax)
    assert "llvm.prefetch" not in text(p.tanh)  # which reads all in a row


@pytest.mark.many("number", [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])
def test_constants_are_numbers_like_any_others(number):
    x = np.array([0.0, -0.0, 1.0, -2.5, 7.0, np.inf, -np.inf, np.nan, 3.0] * 2, "f")
    ops = (p.maximum, p.minimum, p.less, p.less_equal, p.greater, p.greater_equal, p.equal, p.not_equal, p.add,
           p.subtract, p.multiply, p.divide)  # fmt: skip
    for op in ops:
        fn = Function.build(lambda x, op=op: (op(x, p.lift(number, x)), op(p.lift(number, x), x)), f32(x.size))
        for got, want in zip(compile(fn)(x), interpret(fn, x), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=str(op))
            if want.dtype.kind == "f":
                there = ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got)[there], np.signbit(want)[there], err_msg=str(op))


def test_extremes_keep_nan_whichever_side_it_stands_on():
    rng = np.random.default_rng(0)
    x, y = rng.integers(-2, 3, (2, 13, 37)).astype("f")
    for a in (x, y):
        a[rng.random(a.shape) < 0.05], a[rng.random(a.shape) < 0.05] = np.nan, np.inf

    def python(x, y):
        return p.maximum(x, y), p.minimum(x, y), p.reduce_max(x, (1,)), p.reduce_min(x, (0,)), p.reduce_max(x)

    want = np.maximum(x, y), np.minimum(x, y), x.max(1), x.min(0), x.max()
    for got, wanted in zip(compile(Function.build(python, f32(13, 37), f32(13, 37)))(x, y), want, strict=True):
        np.testing.assert_array_equal(got, wanted)
