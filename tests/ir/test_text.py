"""What is printed can be read, and means the same."""

import math

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.errors import ArgumentError, GradientError
from mycelia.ir import Function, digest, interpret, registry
from mycelia.ir.text import parse, show
from mycelia.testing import all_samples, function_of
from mycelia.testing.samples import names_of
from mycelia.transforms import vjp, vmap
from mycelia.types import DTYPES, TensorType, float32, float64, int64
from tests.each import each

f32_3 = TensorType(float32, (3,))


def same(fn):
    assert parse(show(fn)) == fn
    return show(fn)


def test_a_function_reads_as_a_program():
    fn = Function.build(lambda x, y: p.reduce_sum(p.tanh(x * y + 1.0)), f32_3, f32_3)
    assert same(fn).splitlines() == [
        "fn(%0: f32[3], %1: f32[3]) {",
        "  %2: f32[3] = multiply(%0, %1)",
        "  %3: f32[] = full[number=1.0, dtype=f32, shape=()]()",
        "  %4: f32[3] = add(%2, %3)",
        "  %5: f32[3] = tanh(%4)",
        "  %6: f32[] = sum[dims=(0,)](%5)",
        "  return %6",
        "}",
    ]


def test_str_is_the_text():
    fn = Function.build(lambda x: x, f32_3)
    assert str(fn) == show(fn)


def test_no_parameters_no_results():
    same(Function((), ()))
    same(Function.build(lambda: p.zeros(float32, (2,))))
    same(Function.build(lambda x: (), f32_3))


@pytest.mark.parametrize("number", [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-300, -1.5e30, 3.0])
def test_every_number_survives(number):
    fn = Function.build(lambda: p.full(number, float64, ()))
    same(fn)
    assert repr(parse(show(fn)).results[0].op.number) == repr(number)


def test_minus_zero_is_not_zero():
    assert Function.build(lambda: p.full(0.0, float32, ())) != Function.build(lambda: p.full(-0.0, float32, ()))


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
@pytest.mark.parametrize("shape", [(), (3,), (2, 4), (0, 2), (5, 5)])
def test_data_survives_in_full(dtype, shape):
    data = np.random.default_rng(0).integers(0, 2, shape).astype(dtype.numpy)
    read = parse(same(Function.build(lambda: p.constant(data)))).results[0].op.data
    assert read.dtype == data.dtype
    assert read.tobytes() == data.tobytes()


def test_special_data_survives_to_the_bit():
    bits = np.array([0x7FC00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000], np.uint32)
    same(Function.build(lambda: p.constant(bits.view(np.float32))))


def test_sizes_that_come_out_of_data_survive():
    """Their names are new each time, so it is the texts that are equal, and what is known of the function elsewhere."""

    def chosen(x):
        first = p.positions(p.greater(x, p.zeros(float32, ())))
        return first, p.positions(p.greater(first, p.full(3, int64, ())))

    fn = Function.build(chosen, TensorType(float32, (9,)))
    again = parse(show(fn))
    assert show(again) == show(fn)
    assert digest(again) == digest(fn)
    x = np.arange(9, dtype="f") - 2
    assert (
        [r.tolist() for r in interpret(again, x)]
        == [r.tolist() for r in interpret(fn, x)]
        == [[3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5]]
    )


def test_functions_among_attributes_stand_before():
    half = Function.build(lambda x: x * 0.5, f32_3)
    fn = Function.build(lambda x: p.control.Call(half)(*p.control.Call(half)(x)), f32_3)
    text = same(fn)
    assert text.count("fn @0") == 1
    assert text.count("= call[fn=@0") == 2


@pytest.mark.parametrize("start", range(8))
def test_gradients_and_vectorisations_of_every_op_survive(start):
    some = list(all_samples())[start::8]
    each(gradients_and_vectorisations_survive, zip(names_of(some), [(s,) for s in some], strict=True))


def gradients_and_vectorisations_survive(sample):
    fn = function_of(sample)
    if any(t.differentiable for t in fn.types) and any(t.differentiable for t in fn.result_types):
        try:
            back = vjp(fn)
        except GradientError as reason:
            if f"{sample.op.name} has no gradient" not in str(reason):  # it says so itself
                raise
        else:
            same(back)
    if all(isinstance(t, TensorType) for t in (*fn.types, *fn.result_types)):
        same(vmap(fn, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "where fn should be"),
        ("fn(%0: f32[3]) { return %0", "where } should be"),
        ("fn(%0 f32[3]) { return %0 }", "where : should be"),
        ("fn(%0: f32[3]) {\n  %1: f32[4] = exp(%0)\n  return %1 }", "%1 is written as f32[4], but exp gives f32[3]"),
        ("fn() { return } fn", "line 1 has 'fn' where end should be"),
    ],
)
def test_what_cannot_be_read_is_explained(text, message):
    with pytest.raises(ArgumentError, match=message.replace("[", r"\[")):
        parse(text)


def test_every_op_name_is_a_word():
    assert all(name.isidentifier() for name in registry)
