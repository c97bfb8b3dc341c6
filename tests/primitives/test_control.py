"""Ops that contain functions: what they mean, what they refuse, and what they leave behind."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.errors import GradientError
from mycelia.ir import Function, Value, inner_functions, interpret, toposort, verify
from mycelia.primitives.control.naming import mark_of
from mycelia.transforms import Structured, jvp, value_and_grad, vjp, vmap
from mycelia.types import SequenceType, TensorType, float64, int64, type_of
from tests.transforms.programs import I, S, V, build, count, gradient, loop, number, numeric, tree

OPS = [p.Call, p.Cond, p.While, p.Scan, p.Map, p.Recurse, p.CustomVjp]
SAMPLES = [(f"{op.__name__} {i} {s.note}", s) for op in OPS for i, s in enumerate(op.samples())]
every_sample = pytest.mark.parametrize("sample", [s for _, s in SAMPLES], ids=[name for name, _ in SAMPLES])
f8 = np.float64


def function(sample) -> Function:
    return build(lambda *xs: sample.op(*xs), *[type_of(np.asarray(x)) for x in sample.inputs])


def smooth(fn: Function) -> list[int]:
    return [i for i, t in enumerate(fn.types) if t.differentiable]


@every_sample
def test_results_have_the_types_that_were_promised(sample):
    fn = function(sample)
    verify(fn)
    for result, t in zip(sample.op.reference(*sample.inputs), fn.result_types, strict=True):
        assert type_of(np.asarray(result)) == t


@every_sample
def test_gradients_equal_finite_differences(sample):
    fn = function(sample)
    for r, t in enumerate(fn.result_types):
        if t.differentiable:
            joint = vjp(fn, live=[k == r for k in range(len(fn.results))])
            verify(joint)
            pulled = interpret(joint, *sample.inputs, np.ones(t.shape))[len(fn.results) :]
            for got, i in zip(pulled, smooth(fn), strict=True):
                np.testing.assert_allclose(got, numeric(fn, sample.inputs, i, r), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("sample", [s for _, s in SAMPLES if not isinstance(s.op, p.CustomVjp)], ids=str)
def test_tangents_and_cotangents_agree(sample):
    fn = function(sample)
    rng = np.random.default_rng(0)
    tangents = [rng.normal(size=fn.types[i].shape) for i in smooth(fn)]
    moved = interpret(jvp(fn), *sample.inputs, *tangents)[len(fn.results) :]
    cts = [rng.normal(size=m.shape) for m in moved]
    pulled = interpret(vjp(fn), *sample.inputs, *cts)[len(fn.results) :]
    there = sum(np.vdot(c, m) for c, m in zip(cts, moved, strict=True))
    np.testing.assert_allclose(there, sum(np.vdot(t, q) for t, q in zip(tangents, pulled, strict=True)), atol=1e-12)


@every_sample
def test_vmap_equals_a_loop(sample):
    fn = function(sample)
    for k in range(len(fn.params)):
        mapped = tuple(i == k for i in range(len(fn.params)))
        inputs = [np.stack([x] * 3) if m else x for x, m in zip(sample.inputs, mapped, strict=True)]
        if fn.types[k].differentiable:
            inputs[k] = inputs[k] * np.linspace(1.0, 1.1, 3).reshape(3, *[1] * (inputs[k].ndim - 1))
        batched = vmap(fn, 3, mapped)
        verify(batched)
        got = interpret(batched, *inputs)
        for i in range(3):
            one = interpret(fn, *[x[i] if m else x for x, m in zip(inputs, mapped, strict=True)])
            for whole, part in zip(got, one, strict=True):
                np.testing.assert_allclose(whole[i], part, rtol=1e-12)


@every_sample
def test_axes_name_every_axis(sample):
    fn = function(sample)
    left, right = sample.op.axes(*fn.types).split("->")
    assert [len(x.split()) for x in left.split(",")] == [t.rank for t in fn.types]
    assert [len(x.split()) for x in right.split(",")] == [t.rank for t in fn.result_types]


@pytest.mark.parametrize("mistake", [m for op in OPS for m in op.mistakes()], ids=lambda m: m.message)
def test_a_bad_call_gives_its_message(mistake):
    with pytest.raises(mistake.error) as caught:
        mistake.call()
    assert mistake.message in str(caught.value)


def test_a_loop_gives_carries_a_count_and_sequences():
    condition = build(lambda x: p.less(x, number(9.0)), S)
    body = build(lambda x: (x * 2.0, x + 1.0), S)
    op = p.While(condition, body, 0)
    assert op.infer(S).elements == (S, I, SequenceType(S))
    x, turns, ys = op.reference(f8(1.0))
    assert (x, turns, ys) == (16.0, 4, [2.0, 3.0, 5.0, 9.0])


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_is_a_cumulative_sum(reverse):
    x = np.arange(12.0).reshape(4, 3)
    body = build(lambda total, x: (total + x, total + x), V, V)
    end, sums = p.Scan(body, 0, 1, reverse, 4).reference(np.zeros(3), x)
    expected = np.cumsum(x[::-1], 0)[::-1] if reverse else np.cumsum(x, 0)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(end, x.sum(0))


def test_a_null_sequence_reads_as_zeros_and_is_neutral_in_sums():
    body = build(lambda total, x: total + x, S, S)
    nothing = p.Null(SequenceType(S))()
    fn = build(lambda x: p.Scan(body, 0, 1)(count(3), x, nothing), S)
    assert interpret(fn, f8(2.0))[0] == 2.0
    assert p.AddSequence().reference(None, [1.0, 2.0]) == [1.0, 2.0]
    assert p.AddSequence().reference([1.0, 2.0], [10.0, 20.0]) == [11.0, 22.0]
    assert p.AddFrame().reference((1.0, None), (2.0, [3.0])) == (3.0, [3.0])
    assert p.AddSequence().reference(None, None) is None


def test_examples_are_separated_and_joined_again():
    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    apart = p.SplitBatch(SequenceType(S), 2).reference(rows)
    assert apart == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]
    np.testing.assert_array_equal(p.JoinBatch(SequenceType(S), 2).reference(apart), rows)
    np.testing.assert_array_equal(p.JoinBatch(SequenceType(S), 2).reference([None, [1.0]]), [[0.0, 1.0]])


def test_the_sum_of_a_map_over_nothing_is_zero():
    body = build(lambda x: (x, x * x), S)
    ys, total = p.Map(body, 0, 0, 1).reference(np.zeros(0))
    assert ys.shape == (0,)
    assert total == 0.0


def streams_of(fn: Function) -> list[int]:
    """How many sequences each loop inside leaves behind."""
    loops = [v for v in toposort(fn.results) if isinstance(v.op, p.While)]
    return [len(v.op.body.results) - len(v.op.parts.carry_types) for v in loops]


def test_a_loop_streams_only_its_carry_and_takes_its_constants_once():
    grad = value_and_grad(loop())
    assert streams_of(grad) == [1]
    (back,) = [v.op for v in toposort(grad.results) if isinstance(v.op, p.Scan)]
    assert back.constants == 1


def test_a_loop_that_is_not_differentiated_leaves_nothing_behind():
    condition = build(lambda i, x: p.less(i, count(3)), I, S)
    body = build(lambda i, x: (i + count(1), p.sin(x)), I, S)

    def program(x: Value, y: Value) -> Value:
        return p.While(condition, body, 0)(count(0), x)[1] * y

    grad = value_and_grad(build(program, S, S), (False, True))
    assert streams_of(grad) == [0]


def test_a_call_that_is_recomputed_keeps_only_its_operands():
    fn = build(lambda x: p.sin(p.exp(p.sin(x))), S)
    for recompute, extra in ((False, True), (True, False)):
        program = build(lambda x, r=recompute: p.Call(fn, r)(x)[0] * x, S)
        grad = value_and_grad(program)
        forward = next(v.op for v in toposort(grad.results) if isinstance(v.op, p.Call))
        assert (len(forward.fn.results) > 1) == extra
        np.testing.assert_allclose(interpret(grad, f8(0.4))[1], numeric(program, (f8(0.4),), 0), rtol=1e-8)


def test_equal_calls_have_equal_derivatives_so_that_each_is_compiled_once():
    layer = build(lambda w, x: p.tanh(w * x), S, S)

    def program(a: Value, b: Value, x: Value) -> Value:
        (h,) = p.Call(layer)(a, x)
        return p.Call(layer)(b, h)[0]

    grad = value_and_grad(build(program, S, S, S))
    calls = [v.op for v in toposort(grad.results) if isinstance(v.op, p.Call)]
    assert len(calls) == 4
    assert len(set(calls)) == 2


def test_only_what_is_wanted_flows_back_through_a_call():
    layer = build(lambda w, x: p.matmul(x, w), TensorType(float64, (3, 2)), V)
    fn = build(lambda w, x: p.reduce_sum(p.Call(layer)(w, x)[0]), *layer.types)
    grad = value_and_grad(fn, (True, False))
    back = [v.op for v in toposort(grad.results) if isinstance(v.op, p.Call)][-1]
    assert len(back.fn.results) == 1


def test_branches_share_the_slots_of_their_residuals():
    then = build(lambda x: p.exp(p.sin(x)), S)
    otherwise = build(lambda x: p.sin(p.exp(x) * 0.1), S)
    fn = build(lambda x: p.Cond(then, otherwise)(p.greater(x, number(0.0)), x), S)
    grad = value_and_grad(fn)
    forward = next(v.op for v in toposort(grad.results) if isinstance(v.op, p.Cond))
    assert len(forward.then.results) == 2
    for x in (0.3, -0.3):
        np.testing.assert_allclose(interpret(grad, f8(x))[1], numeric(fn, (f8(x),), 0), rtol=1e-8)


def test_a_custom_gradient_is_used_and_can_be_differentiated_again():
    """A gradient that is three times too large on purpose."""
    fn = build(lambda x: x * x, S)
    forward = build(lambda x: (x * x, x), S)
    backward = build(lambda x, ct: ct * x * 6.0, S, S)
    program = build(lambda x: p.CustomVjp(fn, forward, backward)(x)[0] * 1.0, S)
    once = gradient(program, 0)
    assert interpret(once, f8(2.0))[0] == 12.0
    assert interpret(gradient(once, 0), f8(2.0))[0] == 6.0
    batched = vmap(once, 2)
    np.testing.assert_array_equal(interpret(batched, np.array([1.0, 2.0]))[0], [6.0, 12.0])
    with pytest.raises(GradientError, match="no forward-mode derivative"):
        jvp(program)


def test_names_of_frames_are_the_same_in_every_process():
    words = "from tests.transforms.programs import *; print(value_and_grad(tree()).results[1].inputs[0].op.entry)"
    names = {subprocess.run([sys.executable, "-c", words], capture_output=True, check=True, text=True).stdout}
    grad = value_and_grad(tree())
    assert names == {grad.results[1].inputs[0].op.entry + "\n"}


def test_a_mark_tells_definitions_apart():
    fns = [
        build(lambda x: x + x, S),
        build(lambda x: x * x, S),
        build(lambda x: x * 2.0, S),
        build(lambda x: x * 3.0, S),
        build(lambda x: x * p.constant(np.array(3.5)), S),
        build(lambda x: x * p.constant(np.array(4.5)), S),
        build(lambda x: (x, x), S),
        build(lambda x: p.Call(build(lambda y: y * y, S))(x), S),
        build(lambda x: p.Call(build(lambda y: y + y, S))(x), S),
        build(lambda x: x + x, V),
    ]
    marks = {mark_of((("f", f),)) for f in fns} | {mark_of((("g", fns[0]),))}
    assert len(marks) == len(fns) + 1


def test_every_op_with_functions_is_in_these_tests():
    def all_subclasses(cls):
        return {cls}.union(*map(all_subclasses, cls.__subclasses__()))

    made_by_passes = {p.Epilogue}  # a call of another kind: the laws hold it
    assert all_subclasses(Structured) - {Structured} == {*OPS, p.NamedCall} | made_by_passes


def test_functions_inside_are_found():
    op = next(iter(p.Recurse.samples())).op
    assert len(inner_functions(op)) == 1
    assert int64 in {t.dtype for t in p.While(*_counting()).infer(S).elements}


def _counting() -> tuple[Function, Function, int]:
    return build(lambda x: p.less(x, number(1.0)), S), build(lambda x: x + 1.0, S), 0


def test_recursion_is_interpreted_as_deep_as_it_goes():
    call = p.NamedCall("down", (S,))
    base = build(lambda n, x: x, I, S)
    step = build(lambda n, x: call(n - count(1), x)[0] * 1.0005, I, S)
    body = build(lambda n, x: p.Cond(base, step)(p.less(n, count(1)), n, x), I, S)
    fn = build(lambda n, x: p.Recurse((("down", body),), "down")(n, x), I, S)
    limit = sys.getrecursionlimit()
    value, slope = interpret(value_and_grad(fn), np.int64(2000), f8(0.5))
    np.testing.assert_allclose([value, slope], [0.5 * 1.0005**2000, 1.0005**2000])
    assert sys.getrecursionlimit() == limit
