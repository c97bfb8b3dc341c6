"""What kernels mean: the interpreter against NumPy."""

import numpy as np
import pytest

from mycelia.loops import (
    Buffer,
    Fold,
    Kernel,
    Store,
    Sweep,
    Update,
    Variable,
    binary,
    cast,
    const,
    datum,
    folded,
    index,
    load,
    position,
    unary,
)
from mycelia.loops.interpret import evaluate, run
from mycelia.types import DTYPES, TensorType, bfloat16, float32, int8, int32, int64, uint32


def buffers(dtype, **shapes):
    return [Buffer.dense(name, TensorType(dtype, shape)) for name, shape in shapes.items()]


def test_a_row_wise_softmax():
    x, e, y = buffers(float32, x=(4, 5), e=(5,), y=(4, 5))
    i, j, k, m = Variable(4), Variable(5), Variable(5), Variable(5)
    top, total = Fold("max", float32), Fold("add", float32)
    shifted = unary("exp", load(x, (index(i), index(k))) - folded(top))
    kernel = Kernel(
        (i,),
        (
            Sweep((j,), folds=((top, load(x, (index(i), index(j)))),)),
            Sweep((k,), folds=((total, load(e, (index(k),))),), actions=(Store(e, index(k), shifted),)),
            Sweep((m,), actions=(Store(y, index(i) * 5 + index(m), load(e, (index(m),)) / folded(total)),)),
        ),
        scratch=(e,),
    )
    data = np.random.default_rng(0).normal(size=(4, 5)).astype("f")
    memory = {x: data.reshape(-1), y: np.zeros(20, "f")}
    run(kernel, memory)
    want = np.exp(data - data.max(1, keepdims=True))
    np.testing.assert_allclose(memory[y].reshape(4, 5), want / want.sum(1, keepdims=True), rtol=1e-6)


def test_updates_with_equal_places_add_up():
    x, y = buffers(float32, x=(6,), y=(3,))
    i = Variable(6)
    kernel = Kernel((), (Sweep((i,), actions=(Update(y, index(i) % 3, "add", load(x, (index(i),))),)),))
    memory = {x: np.arange(6, dtype="f"), y: np.ones(3, "f")}
    run(kernel, memory)
    np.testing.assert_array_equal(memory[y], [4, 6, 8])


@pytest.mark.parametrize(
    ("combine", "want"), [("add", 5), ("mul", -24), ("max", 4), ("min", -2)], ids=["sum", "product", "largest", "least"]
)
def test_folds_after_a_sweep_are_finished(combine, want):
    x, y = buffers(int32, x=(4,), y=())
    i, fold = Variable(4), Fold(combine, int32)
    sweep = Sweep((i,), folds=((fold, load(x, (index(i),))),), after=(Store(y, index(0), folded(fold)),))
    memory = {x: np.array([4, -2, 1, 3], np.int32) if combine != "add" else np.array([4, -2, 1, 2], np.int32)}
    memory[y] = np.zeros(1, np.int32)
    run(Kernel((), (sweep,)), memory)
    assert memory[y][0] == want


def test_a_fold_over_nothing_is_neutral():
    x, y = buffers(float32, x=(0,), y=())
    i, fold = Variable(0), Fold("max", float32)
    sweep = Sweep((i,), folds=((fold, load(x, (index(i),))),), after=(Store(y, index(0), folded(fold)),))
    memory = {x: np.zeros(0, "f"), y: np.zeros(1, "f")}
    run(Kernel((), (sweep,)), memory)
    assert memory[y][0] == -np.inf


def test_reading_outside_a_buffer_is_an_error():
    (x,) = buffers(float32, x=(3,))
    i = Variable(4)
    with pytest.raises(AssertionError, match="leaves the buffer, which has 3 elements"):
        evaluate(load(x, (index(i),)), {i: np.arange(4)}, {x: np.zeros(3, "f")})


def test_a_broken_promise_about_data_is_an_error():
    (x,) = buffers(float32, x=(3,))
    (n,) = buffers(int32, n=())
    e = load(x, (datum(load(n, ()), 0, 2),))
    assert evaluate(e, {}, {x: np.arange(3, dtype="f"), n: np.array([2], np.int32)}) == 2
    with pytest.raises(AssertionError, match="promised to stay within 0 and 2"):
        evaluate(e, {}, {x: np.zeros(3, "f"), n: np.array([3], np.int32)})


def test_integers_divide_towards_zero_and_by_zero_give_zero():
    pairs = [(7, 2), (-7, 2), (7, -2), (-128, -1), (5, 0)]
    values = [
        [int(evaluate(binary(k, const(x, int8), const(y, int8)), {}, {})) for x, y in pairs] for k in ("div", "mod")
    ]
    assert values == [[3, -3, -3, -128, 0], [1, -1, 1, 0, 0]]


def test_what_is_shifted_out_is_gone():
    assert evaluate(binary("shl", const(1, int32), const(33, int32)), {}, {}) == 0
    assert evaluate(binary("shr", const(-8, int32), const(32, int32)), {}, {}) == -1
    assert evaluate(binary("shr", const(-8, int32), const(1, int32)), {}, {}) == -4
    assert evaluate(binary("mulhi", const(0xFFFFFFFF, uint32), const(2, uint32)), {}, {}) == 1


def test_half_precision_is_rounded_when_stored_and_cast_only():
    one, tiny = const(1.0, bfloat16), const(2.0**-9, bfloat16)
    assert float(evaluate((one + tiny) - one, {}, {})) == 2.0**-9
    narrow = cast(cast(one, float32) + const(2.0**-9, float32), bfloat16)
    assert float(evaluate(narrow - one, {}, {})) == 0.0
    assert float(evaluate(one + tiny, {}, {})) == 1.0


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind not in "bc"], ids=repr)
def test_positions_are_numbers_of_any_kind(dtype):
    i = Variable(5)
    got = evaluate(position(index(i) * 2 + 1, dtype), {i: np.arange(5)}, {})
    assert got.dtype == dtype.numpy
    np.testing.assert_array_equal(got.astype(int), [1, 3, 5, 7, 9])


def test_quotients_and_remainders_are_those_of_python():
    i = Variable(12)
    at = {i: np.arange(12)}
    got = evaluate(position((index(i) * 5 - 7) // 3, int64), at, {})
    np.testing.assert_array_equal(got, (np.arange(12) * 5 - 7) // 3)
    got = evaluate(position((index(i) * 5 - 7) % 3, int64), at, {})
    np.testing.assert_array_equal(got, (np.arange(12) * 5 - 7) % 3)
