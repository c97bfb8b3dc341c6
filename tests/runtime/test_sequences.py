"""Sequences and frames at run time: what loops and recursion leave behind, taken apart, joined, added, mapped."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.primitives.control import JoinBatch, SplitBatch
from mycelia.testing import compile
from mycelia.transforms import vjp, vmap
from mycelia.types import SequenceType, TensorType, float32, float64
from tests.runtime.programs import N, S, count, resident, whole
from tests.transforms.programs import EXAMPLES

SIZE = 3


def agree(fn: Function, *inputs) -> None:
    for got, want in zip(compile(fn)(*inputs), interpret(fn, *inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def turns(t: TensorType, step) -> Function:
    """So many turns from x on; each leaves its state behind."""
    condition = Function.build(lambda n, x, i: p.less(i, n), N, t, N)
    body = Function.build(lambda n, x, i: (step(x), i + whole(1), x), N, t, N)
    return Function.build(lambda n, x: p.While(condition, body, 1)(n, x, whole(0))[2:], N, t)


def folded(t: TensorType) -> Function:
    """A sequence, weighted by how late its elements come and added up."""
    body = Function.build(lambda acc, x: (p.sin(acc) * 0.5 + x,), t, t)
    return Function.build(lambda n, xs: p.Scan(body, 0, 1)(n, p.zeros(t.dtype, t.shape), xs), N, SequenceType(t))


ELEMENTS = {"numbers": (), "odd rows": (5,), "tables": (2, 3)}
each_element = pytest.mark.parametrize("shape", ELEMENTS.values(), ids=ELEMENTS)
each_length = pytest.mark.many("n", [0, 1, 6, 200])
both_types = pytest.mark.parametrize("dtype", [float32, float64])


@each_element
@each_length
@both_types
def test_a_sequence_of_several_examples_is_taken_apart(shape, n, dtype):
    one, all_ = TensorType(dtype, shape), TensorType(dtype, (SIZE, *shape))
    run, total = turns(all_, lambda x: p.cos(x * 1.1)), folded(one)

    def fn(k, x):
        length, rows = run(k, x)
        apart = SplitBatch(SequenceType(one), SIZE)(rows)
        return p.Map(total, 1, SIZE)(length, apart)

    x = np.linspace(-1, 1, all_.size).reshape(all_.shape).astype(dtype.numpy)
    program = Function.build(fn, N, all_)
    for got, want in zip(compile(program)(count(n), x), interpret(program, count(n), x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@each_element
@each_length
@both_types
def test_sequences_of_several_examples_are_put_together(shape, n, dtype):
    one, all_ = TensorType(dtype, shape), TensorType(dtype, (SIZE, *shape))
    run, total = turns(one, lambda x: p.cos(x * 1.1)), folded(all_)

    def fn(k, x):
        apart = p.Map(Function.build(lambda k, x: run(k, x)[1], N, one), 1, SIZE)(k, x)[0]
        return total(k, JoinBatch(SequenceType(one), SIZE)(apart))

    x = np.linspace(-1, 1, all_.size).reshape(all_.shape).astype(dtype.numpy)
    program = Function.build(fn, N, all_)
    for got, want in zip(compile(program)(count(n), x), interpret(program, count(n), x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_sequences_of_sequences_are_taken_apart_and_put_together():
    rows = TensorType(float64, (SIZE,))
    run, total = turns(rows, lambda x: p.sin(x) + 0.1), folded(rows)
    inner = Function.build(lambda n, x: (run(n, x)[1], p.cos(x)), N, rows)
    deep = SequenceType(SequenceType(S))

    def nested(n, x, i):
        sequence, new = inner(n, x)
        return new, i + whole(1), sequence

    condition = Function.build(lambda n, x, i: p.less(i, n), N, rows, N)
    body = Function.build(nested, N, rows, N)
    add = Function.build(lambda n, acc, xs: (acc * 0.9 + total(n, xs)[0],), N, rows, SequenceType(rows))

    def fn(n, x):
        _, _, length, sequences = p.While(condition, body, 1)(n, x, whole(0))
        again = JoinBatch(deep, SIZE)(SplitBatch(deep, SIZE)(sequences))
        return p.Scan(add, 1, 1)(length, n, p.zeros(float64, (SIZE,)), again)

    for n in (0, 1, 4):
        agree(Function.build(fn, N, rows), count(n), np.array([0.1, 0.7, -0.4]))


def test_room_for_more_elements_is_not_taken_for_elements_when_sequences_of_sequences_are_put_together():
    """What grew turn by turn has room to grow further, where earlier calls have left their numbers."""
    one, rows = TensorType(float64, ()), TensorType(float64, (SIZE,))
    run, total = turns(one, lambda x: p.sin(x) + 0.1), folded(rows)
    condition = Function.build(lambda n, x, i: p.less(i, n), N, one, N)
    body = Function.build(lambda n, x, i: (p.cos(x), i + whole(1), run(n, x)[1]), N, one, N)
    grown = Function.build(lambda n, x: p.While(condition, body, 1)(n, x, whole(0))[3], N, one)
    add = Function.build(lambda n, acc, xs: (acc * 0.9 + total(n, xs)[0],), N, rows, SequenceType(rows))

    def fn(n, x):
        together = JoinBatch(SequenceType(SequenceType(S)), SIZE)(p.Map(grown, 1, SIZE)(n, x)[0])
        return p.Scan(add, 1, 1)(n, n, p.zeros(float64, (SIZE,)), together)

    program, x = Function.build(fn, N, rows), np.array([0.1, 0.7, -0.4])
    native = compile(program)
    for n in (60, 1, 4, 63, 2, 64, 0, 3):
        for got, want in zip(native(count(n), x), interpret(program, count(n), x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_nothing_is_zero_for_every_example():
    rows = TensorType(float64, (SIZE,))
    total = folded(rows)
    empty = p.Null(SequenceType(rows))

    def fn(n):
        apart = SplitBatch(SequenceType(S), SIZE)(empty())
        return total(n, JoinBatch(SequenceType(S), SIZE)(apart))

    agree(Function.build(fn, N), count(3))
    agree(
        Function.build(
            lambda n: total(n, JoinBatch(SequenceType(S), SIZE)(p.Null(SequenceType(SequenceType(S)))())), N
        ),
        count(3),
    )


def test_memory_of_examples_is_given_back():
    rows = TensorType(float64, (SIZE,))
    run, total = turns(rows, p.sin), folded(S)

    def fn(n, x):
        length, xs = run(n, x)
        return p.Map(total, 1, SIZE)(length, SplitBatch(SequenceType(S), SIZE)(xs))

    native = compile(Function.build(fn, N, rows))
    for _ in range(50):
        native(count(1000), np.ones(SIZE))
    before = resident()
    for _ in range(500):
        native(count(1000), np.ones(SIZE))
    assert resident() - before < 2**20


def several(inputs):
    return [np.stack([x, x * 1.1 if x.dtype.kind == "f" else x, x]) for x in map(np.asarray, inputs)]


def with_cotangents(fn: Function, inputs):
    rng = np.random.default_rng(0)
    return [*inputs, *(rng.standard_normal(t.shape) for t in fn.types[len(inputs) :])]


@pytest.mark.parametrize(("fn", "inputs"), EXAMPLES.values(), ids=EXAMPLES)
def test_loops_recursion_and_their_gradients_run_natively_alone_and_in_batches(fn, inputs):
    inputs = [np.asarray(x) for x in inputs]
    agree(fn, *inputs)
    agree(vmap(fn, SIZE), *several(inputs))
    joint = vjp(fn)
    agree(joint, *with_cotangents(joint, inputs))
    agree(vmap(joint, SIZE), *several(with_cotangents(joint, inputs)))
    batched = vjp(vmap(fn, SIZE))
    agree(batched, *with_cotangents(batched, several(inputs)))
