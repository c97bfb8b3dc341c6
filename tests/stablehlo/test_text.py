"""Every op has a StableHLO rule, or an error that names it and the line; what is written is legal text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.errors import CompileError
from mycelia.ir import Function, Op, Project, registry
from mycelia.ir.purity import Purity
from mycelia.ir.value import asking
from mycelia.primitives import AddFrame, AllReduce, HostCall, MakeFrame, NamedCall, OfMatrices, OpenFrame, Recurse
from mycelia.primitives.fourier import Fourier
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.stablehlo import emit, module
from mycelia.testing import all_samples, function_of
from mycelia.types import SequenceType, TensorType, bool_, float16, float32, float64, int64, uint8
from tests.runtime.programs import chain, gradient, loop

RECURSIVE = {Recurse, NamedCall, MakeFrame, OpenFrame, AddFrame}  # StableHLO has no functions that call themselves
OUTSIDE = {HostCall: "there is no Python to call", AllReduce: "which processes run the program is not said there"}
OUTSIDE |= {op: "LAPACK computes it" for op in registry.values() if issubclass(op, OfMatrices)}
OUTSIDE |= {op: "a routine of this machine computes it" for op in registry.values() if issubclass(op, Fourier)}
V = TensorType(float32, (3,))


def in_reals(sample):
    """A sample as a back end meets it: complex numbers are pairs."""
    fn = function_of(sample)
    return in_pairs(fn) if has_complex(fn) else fn


@pytest.mark.many("op", dict.fromkeys(registry.values()), pack=100, ids=lambda op: op.name)
def test_every_op_has_a_rule(op):
    assert op is Project or op.expand is not Op.expand or emit.dispatch(op) is not emit.dispatch(Op)


@pytest.mark.many("op", dict.fromkeys(registry.values()), ids=lambda op: op.name)
def test_every_sample_is_written_and_every_name_is_defined_before_it_is_used(op):
    for sample in all_samples(op):
        if op in RECURSIVE or op in OUTSIDE:
            with pytest.raises(CompileError, match=OUTSIDE.get(op, "functions there cannot call themselves")):
                module(in_reals(sample))
            continue
        defined = set()
        for line in module(in_reals(sample)).text.splitlines():
            defined |= set(re.findall(r"(%\d+)(?::\d+)? = |(%\d+): ", line)[0]) if " = " in line else set()
            defined |= set(re.findall(r"(%\d+): ", line))
            used = re.findall(r"%\d+", line.partition(" = ")[2] or line)
            assert set(used) <= defined, f"{sample}: {line}"


def test_what_cannot_be_expressed_is_named_with_the_line_that_asked_for_it():
    with asking():
        fn = Function.build(lambda x, n: chain()(x, n)[0], *chain().types)
        held = Function.build(lambda x: (p.MakeFrame("a frame of this test")(x),), V)
    with pytest.raises(
        CompileError, match=r"recurse cannot be expressed in StableHLO(.|\n)*at (programs|test_text).py:"
    ):
        module(fn)
    with pytest.raises(CompileError, match=r"makeframe cannot be expressed in StableHLO(.|\n)*at test_text.py:"):
        module(held)


def test_sizes_that_come_out_of_data_are_named():
    with asking():
        fn = Function.build(lambda x: p.reduce_sum(p.positions(p.greater(x, 0.0)), (0,)), V)
    with pytest.raises(CompileError, match=r"positions cannot be expressed in StableHLO(.|\n)*at test_text.py:"):
        module(fn)


def test_an_op_without_a_rule_is_named():
    class Unheard(Op):
        """Nobody knows it."""

        native, purity = "nobody", Purity.TOTAL
        infer = reference = vmap = axes = vjp = lambda self, x, *_: x

        @classmethod
        def samples(cls):
            return ()

    try:
        with pytest.raises(CompileError, match="unheard cannot be expressed in StableHLO: it has no rule"):
            module(Function.build(Unheard(), V))
    finally:
        del registry["unheard"]


def test_element_types_are_spelled_as_mlir_does():
    types = [TensorType(d, ()) for d in (bool_, uint8, int64, float16, float64)]
    text = module(Function.build(lambda *xs: xs, *types)).text
    assert "%0: tensor<i1>, %1: tensor<ui8>, %2: tensor<i64>, %3: tensor<f16>, %4: tensor<f64>" in text


def test_numbers_are_written_bit_for_bit():
    data = np.array([np.nan, -0.0, np.inf, 1e-45], "f")
    text = module(Function.build(lambda: p.constant(data))).text
    assert f'dense<"0x{data.tobytes().hex().upper()}"> : tensor<4xf32>' in text


def test_a_loop_that_leaves_nothing_behind_has_no_flag_and_its_gradient_has_one():
    assert not module(loop()).flagged
    grown = module(gradient(loop()), 8)
    assert grown.flagged
    assert "tensor<8x1xf64>" in grown.text


def test_sequences_have_room_for_what_is_known_to_come():
    body = Function.build(lambda c, x: (c + x, x), V, V)
    fn = Function.build(lambda c, xs: p.Scan(body, 0, 1, False, 100)(c, xs)[1], V, V.with_shape((100, 3)))
    held = Function.build(lambda s: p.Scan(Function.build(lambda s: (s,), SequenceType(V)), 0, 0, False, 100)(s)[0],
                          SequenceType(SequenceType(V)))  # fmt: skip
    assert module(fn, 4).capacity >= 100
    assert [t.shape for t in module(held, 4).params[0]] == [(), (100,), (100, 100, 3)]
