"""StableHLO against machine code, by an oracle that we did not write: XLA runs what we wrote, and agrees."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.backends import backend
from mycelia.ir import Function, Project, Sample, interpret, registry
from mycelia.primitives import JoinBatch, SplitBatch
from mycelia.testing import all_samples, as_dtype, compile
from mycelia.testing.laws import TOLERANCE, close
from mycelia.testing.samples import arrays
from mycelia.transforms import vjp, vmap
from mycelia.types import SequenceType, TensorType, dtype_of, float32, float64, type_of
from tests.fuzz.judge import difference
from tests.fuzz.programs import mapped, pulled_back, random_case
from tests.runtime.programs import N, count, gradient, loop
from tests.runtime.test_sequences import SIZE, folded, turns
from tests.stablehlo.test_text import OUTSIDE, RECURSIVE

pytest.importorskip("jaxlib")
pytestmark = pytest.mark.slow
OPS = [
    op
    for op in dict.fromkeys(registry.values())
    if op not in RECURSIVE | OUTSIDE.keys() | {Project} and list(op.samples())
]
TOGETHER = 40  # samples that share a program


def xla(fn: Function, *inputs):
    return backend("stablehlo").compile(fn, {}, options())(*inputs)


def variants(op) -> Iterator[Sample]:
    """Every sample in every element type that the op claims."""
    for sample in all_samples(op):
        yield sample
        for dtype in getattr(sample.op, "dtypes", ()) if sample.inputs else ():
            other = as_dtype(sample, dtype)
            if arrays(other)[-1].dtype != arrays(sample)[-1].dtype or op is p.Select:
                yield other


def together(samples) -> tuple[Function, list]:
    """All samples as one program."""
    inputs = [arrays(s) for s in samples]

    def fn(*values):
        rest, out = iter(values), []
        for s, xs in zip(samples, inputs, strict=True):
            made = s.op(*[next(rest) for _ in xs])
            out += made if isinstance(made, tuple | list) else [made]
        return out

    flat = [x for xs in inputs for x in xs]
    return Function.build(fn, *map(type_of, flat)), flat


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_sample_of_every_op_agrees_with_machine_code(op):
    with np.errstate(all="ignore"):
        every = list(variants(op))
        for start in range(0, len(every), TOGETHER):
            fn, inputs = together(every[start : start + TOGETHER])
            tensors = [i for i, t in enumerate(fn.result_types) if isinstance(t, TensorType)]
            fn = fn.with_results(fn.results[i] for i in tensors)
            native, want = compile(fn)(*inputs), interpret(fn, *inputs)
            for got, ours, meant in zip(xla(fn, *inputs), native, want, strict=True):
                assert got.dtype == ours.dtype
                tolerance = TOLERANCE.get(dtype_of(got), 0.0)
                close(got, np.asarray(meant), tolerance, op.name, 1.0 if op.native else 0.0)
                close(got, ours, 2 * tolerance, op.name, 1.0 if op.native else 0.0)


def test_random_bits_are_the_same_to_the_last():
    fn = Function.build(lambda k, c: p.random_bits(k, c, (3, 1001)), *[TensorType(p.RandomBits.dtypes[0], (2,))] * 2)
    key, counter = np.array([7, 0xFFFFFFFF], np.uint32), np.array([1, 2], np.uint32)
    np.testing.assert_array_equal(xla(fn, key, counter)[0], compile(fn)(key, counter)[0])


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_their_gradients_and_batches_agree(seed):
    case = random_case(seed)
    cases = [case, mapped(case, seed)]
    pulled = pulled_back(case, seed)
    for c in [*cases, *([pulled] if pulled else [])]:
        assert difference(c, lambda fn: partial(xla, fn)) is None


@pytest.mark.parametrize("n", [0, 1, 5, 16, 17, 300])
def test_loops_of_any_length_differentiate(n):
    """More than 16 turns do not fit at first: the program is compiled again with more room."""
    fn = gradient(loop(3))
    x = np.array([0.1, -0.4, 0.8])
    np.testing.assert_allclose(xla(fn, x, count(n))[0], compile(fn)(x, count(n))[0], rtol=1e-11)


def test_a_loop_in_a_branch_in_a_loop_outgrows_its_room_and_is_right():
    inner = gradient(loop(1))
    v = inner.types[0]
    same = Function.build(lambda x, n: (x,), v, N)
    deep = Function.build(lambda x, n: (inner(x, n)[0],), v, N)
    one = Function.build(lambda n, x: (p.Cond(deep, same)(p.less(p.full(3, N.dtype, ()), n), x, n)[0],), N, v)
    fn = Function.build(lambda n, x: p.Scan(one, 1, 1, False, 3)(n, x), N, v)
    for n in (2, 40, 90):
        inputs = count(n), np.array([0.3])
        np.testing.assert_allclose(xla(fn, *inputs)[0], compile(fn)(*inputs)[0], rtol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 6, 40])
@pytest.mark.parametrize("dtype", [float32, float64])
def test_sequences_are_taken_apart_and_joined(n, dtype):
    one, all_ = TensorType(dtype, (2,)), TensorType(dtype, (SIZE, 2))
    run, total = turns(all_, lambda x: p.cos(x * 1.1)), folded(one)

    def fn(k, x):
        length, rows = run(k, x)
        apart = SplitBatch(SequenceType(one), SIZE)(rows)
        joined = JoinBatch(SequenceType(one), SIZE)(apart)
        return p.Map(total, 1, SIZE)(length, apart)[0], folded(all_)(length, joined)[0]

    x = np.linspace(-1, 1, all_.size).reshape(all_.shape).astype(dtype.numpy)
    program = Function.build(fn, N, all_)
    for got, want in zip(xla(program, count(n), x), interpret(program, count(n), x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_examples_that_take_their_own_turns_differentiate():
    fn = vmap(gradient(loop(2)), 3)
    inputs = np.linspace(-1, 1, 6).reshape(3, 2), np.array([2, 0, 30])
    np.testing.assert_allclose(xla(fn, *inputs)[0], compile(fn)(*inputs)[0], rtol=1e-10)


def test_a_sequence_leaves_one_program_and_enters_another():
    t = TensorType(float64, (2,))
    made = xla(turns(t, lambda x: p.sin(x) + 0.1), count(50), np.array([0.2, 0.3]))
    (got,) = xla(folded(t), *made)
    together = Function.build(lambda n, x: folded(t)(*turns(t, lambda x: p.sin(x) + 0.1)(n, x)), N, t)
    np.testing.assert_allclose(got, compile(together)(count(50), np.array([0.2, 0.3]))[0], rtol=1e-11)


def test_the_second_derivative_of_a_loop_agrees():
    fn = vjp(gradient(loop(1)))
    inputs = np.array([0.3]), count(20), np.array([1.0])
    for got, want in zip(xla(fn, *inputs), compile(fn)(*inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9)


def test_other_frameworks_see_what_is_held():
    b = backend("stablehlo")
    held = b.hold(np.arange(6, dtype="f").reshape(2, 3))
    np.testing.assert_array_equal(np.from_dlpack(b.dlpack(held)), np.arange(6).reshape(2, 3))


def test_what_a_program_gave_back_is_not_copied_when_it_comes_again():
    fn = Function.build(lambda x: x * 2.0, TensorType(float32, (64,)))
    b = backend("stablehlo")
    (y,) = xla(fn, np.ones(64, "f"))
    assert not y.flags.writeable
    assert b.hold(y) is b.hold(y)
    assert b.hold(np.ones(64, "f")) is not b.hold(np.ones(64, "f"))
    (z,) = xla(fn, y)
    assert (z == 4).all()
    known = len(b._known)
    del y, z
    assert len(b._known) == known - 2
