"""One call from Python is one native call, which leaves the machine as it was."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mycelia import onednn
from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.loops import Matmul, Strided
from mycelia.runtime.executable import Calls
from mycelia.runtime.recipes import ROOM, _in_turn, _layout
from mycelia.testing import compile
from mycelia.types import TensorType, float16, float32, float64
from tests.runtime.programs import chain, count, gradient, loop, number, tree

X = TensorType(float32, (257, 129))


def network(x, w):
    return p.reduce_sum(p.tanh(p.matmul(p.tanh(p.matmul(x, w)), p.transpose(w, (1, 0)))), (0,))


NETWORK = Function.build(network, X, TensorType(float32, (129, 64)))
ARRAYS = [np.random.default_rng(0).standard_normal(t.shape).astype("f") for t in NETWORK.types]


@pytest.mark.parametrize(
    ("fn", "inputs"),
    [
        (NETWORK, ARRAYS),
        (gradient(loop()), [np.ones(1), np.array(50)]),
        (gradient(tree()), [np.array(0.4), np.array(6.0)]),
    ],
)
def test_a_program_is_one_native_call(fn, inputs):
    compiled = compile(fn)
    for _ in range(3):
        before = Calls.count
        compiled(*inputs)
        assert Calls.count == before + 1


def test_results_are_the_same_every_time():
    compiled = compile(NETWORK)
    first = compiled(*ARRAYS)[0].copy()
    for _ in range(20):
        np.testing.assert_array_equal(compiled(*ARRAYS)[0], first)
    np.testing.assert_array_equal(compile(NETWORK)(*ARRAYS)[0], first)


def test_several_threads_may_call_one_program():
    compiled = compile(NETWORK)
    inputs = [[ARRAYS[0] * k, ARRAYS[1]] for k in (0.5, 1.0, 2.0, 3.0)]
    expected = [compiled(*i)[0].copy() for i in inputs]
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(k for _ in range(20) if not np.array_equal(compiled(*inputs[k])[0], expected[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def rounding_state() -> int:
    """Bits of the floating-point environment of this thread (fegetenv: MXCSR is its last word)."""
    environment = (ctypes.c_uint32 * 8)()
    ctypes.CDLL("libm.so.6").fegetenv(environment)
    return int(environment[7])


@pytest.mark.parametrize("n", [8, 300_000])
def test_subnormal_numbers_are_zero_inside_and_still_there_outside(n):
    tiny = np.full(n, 1e-310)
    before = rounding_state()
    t = TensorType(float64, (n,))
    (y,) = compile(Function.build(lambda x: x * 0.5, t))(tiny)
    assert not y.any()
    assert rounding_state() & ~0x3F == before & ~0x3F  # but for the flags that say what happened
    assert (tiny * 0.5 > 0).all()


def test_a_failed_call_leaves_the_machine_as_it_was():
    before = rounding_state()
    with pytest.raises(Exception, match="too deep"):
        compile(chain())(number(1), count(10**9))
    assert rounding_state() & ~0x3F == before & ~0x3F


def test_numpy_scalars_and_lists_of_shape_one_are_not_confused():
    compiled = compile(Function.build(lambda x: x + 1.0, TensorType(float32, (1,))))
    with pytest.raises(AssertionError, match=r"an array of shape \(\) where \(1,\) was compiled"):
        compiled(np.float32(1))


def test_too_few_arrays_are_refused():
    with pytest.raises(AssertionError, match="1 arrays where 2 were compiled"):
        compile(NETWORK)(ARRAYS[0])


def test_arrays_of_another_element_type_are_converted():
    np.testing.assert_allclose(
        compile(NETWORK)(*[a.astype("d") for a in ARRAYS])[0], interpret(NETWORK, *ARRAYS)[0], atol=1e-2
    )


def test_all_primitives_of_a_call_that_want_a_scratchpad_share_one_behind_the_rest():
    packs, main, unpacks = (SimpleNamespace(scratch=n) for n in (100, 0, 300))
    ready = _in_turn([(packs, ((0, 0), (ROOM, 0))), (main, ((ROOM, 0), (1, 0))), (unpacks, ((1, 0), (2, 0)))], 128)
    places = [where for _, where in ready.primitives]
    assert places == [((0, 0), (ROOM, 0), (ROOM, 128)), ((ROOM, 0), (1, 0)), ((1, 0), (2, 0), (ROOM, 128))]
    assert ready.room == 128 + 300


SQUARE = Strided((256, 256), (256, 1), float32)


@pytest.mark.parametrize(
    ("change", "possible"),
    [
        ({}, True),
        ({"lhs": Strided((256, 256), (1, 256), float32)}, True),
        ({"lhs": Strided((256, 256), (300, 1), float32)}, True),
        ({"lhs": Strided((256, 256), (0, 1), float32)}, False),  # one row, many times
        ({"lhs": Strided((256, 256), (1, 0), float32)}, False),
        ({"lhs": Strided((256, 256), (255, 1), float32)}, False),  # rows that overlap
        ({"lhs": Strided((256, 256), (512, 2), float32)}, False),
        ({"rhs": Strided((256, 256), (0, 1), float32)}, False),
        ({"rhs": Strided((256, 256), (1, 255), float32)}, False),
        ({"out": Strided((256, 256), (1, 256), float32)}, False),
        ({"out": Strided((256, 256), (255, 1), float32)}, False),
        ({"rhs": Strided((256, 256), (256, 1), float16)}, False),
    ],
)
def test_only_products_of_dense_rows_are_told_their_sizes_when_they_run(change, possible):
    """How other operands lie is not asked for then: they would be read beyond their end."""
    call = replace(Matmul(SQUARE, SQUARE, SQUARE), **change)
    assert onednn.may_be_of_any_size(*(_layout(x) for x in (call.lhs, call.rhs, call.out))) is possible
