"""Equal kernels are one piece of code."""

from __future__ import annotations

import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.code_key import code_key
from mycelia.codegen.driver import emit_program
from mycelia.runtime.layout import layout
from mycelia.types import float64
from tests.lowering.programs import check, f32, launches, lowered, softmax, typed

X = f32(40, 33)


def signatures(fn, *types):
    return [code_key(s.kernel) for s in launches(lowered(fn, *types))]


def test_kernels_that_differ_in_names_only_are_equal():
    assert signatures(softmax, X) == signatures(softmax, X)


@pytest.mark.parametrize(
    ("fn", "types"),
    [
        (lambda x: softmax(x) * 2.0, [X]),
        (softmax, [f32(40, 34)]),
        (softmax, [typed(float64, 40, 33)]),
        (lambda x: softmax(x, 0), [X]),
        (lambda x: softmax(p.transpose(x, (1, 0))), [f32(33, 40)]),
    ],
)
def test_kernels_that_differ_are_not(fn, types):
    assert signatures(softmax, X) != signatures(fn, *types)


def test_negative_zero_is_another_constant_than_zero():
    assert signatures(lambda x: x + 0.0, X) != signatures(lambda x: x + -0.0, X)


def layers(x, *weights):
    for w in weights:
        x = softmax(p.matmul(x, w))
    return x


def test_layers_of_one_kind_are_emitted_once():
    square = f32(33, 33)
    one, six = (
        len(emit_program(layout(lowered(layers, X, *[square] * n), options()), options(), "run").modules)
        for n in (1, 6)
    )
    # the last layer writes a result, but that is the same code
    assert one == six == 2  # the driver and the kernel
    check(layers, X, *[square] * 6, tolerance=1e-5)
