"""An op that a library computes takes six files, and its laws, its texts and its units hold on all back ends.

mycelia/primitives/pooling.py     the op                            (here: `SmoothPool`)
mycelia/loops/calls.py            the call, described               (here: `MeanCall`)
mycelia/loops/meaning.py          what the call means, in NumPy     (here: `mean`)
mycelia/lowering/pooling.py       from the op to the call           (here: `lowered`)
mycelia/runtime/recipes.py        from the call to the primitive    (here: `recipe`)
mycelia/stablehlo/windows.py      for other back ends               (here: `emitted`)

The primitive itself is bound in `mycelia/onednn`, which knows nothing of ops: one that is not bound yet is added there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import pytest

from mycelia import onednn
from mycelia import primitives as p
from mycelia.ir import Function, Sample, registry
from mycelia.loops import Invoke, Moves, Operand, Strided
from mycelia.loops.calls import DESCRIBED, ConvolutionCall, described
from mycelia.loops.meaning import called, narrowed, seen, wide
from mycelia.lowering.steps import lower_step
from mycelia.primitives.family import draw
from mycelia.primitives.pooling import Pool
from mycelia.runtime.recipes import _layout, bind, one
from mycelia.stablehlo import module
from mycelia.stablehlo.rules import emit
from mycelia.testing import all_samples, function_of, lower, obeys, optimise
from mycelia.testing.samples import arrays
from mycelia.types import TensorType, float32
from tests.docs.test_pages import FILE, found
from tests.loops.test_units import check_meaning, unit_of

LAWS = ["execution_equals_reference", "gradient_equals_differences", "vmap_equals_a_loop"]


def the_op():
    class SmoothPool(Pool):
        """The mean of each window, where what pads counts as zero."""

        name, dtypes = "smooth_pool", (float32,)

        def plain(self):
            return p.AvgPool(self.window, self.strides, self.padding, True)

        def infer(self, x):
            return self.plain().infer(x)

        def reference(self, x):
            return self.plain().reference(x)

        def vjp(self, ct, out, x):
            return self.plain().vjp(ct, out, x)

        @classmethod
        def samples(cls):
            yield Sample(cls((2, 3), (2, 1), ((0, 0), (0, 0))), (draw(2, 3, 6, 7),))
            yield Sample(cls((2, 2), (1, 2), ((1, 0), (0, 1))), (draw(1, 2, 5, 6),))

    return SmoothPool


def the_call():
    @described
    @dataclass(frozen=True)
    class MeanCall:
        """out = the mean of each window of x."""

        x: Strided
        out: Strided
        window: tuple[int, ...]
        moves: Moves

        @property
        def multiplications(self):
            return 0

    return MeanCall


def the_meaning(mean_call):
    @called.register(mean_call)
    def mean(call, operands):
        x, y = (seen(memory, layout) for memory, layout in zip(operands, (call.x, call.out), strict=True))
        image = np.pad(wide(x), ((0, 0), (0, 0), *call.moves.padding))
        places = np.ndindex(*call.window)
        steps = tuple(zip(call.moves.strides, y.shape[2:], strict=True))

        def at(place):
            return tuple(slice(o, o + s * (n - 1) + 1, s) for o, (s, n) in zip(place, steps, strict=True))

        total = reduce(np.add, [image[:, :, *at(place)] for place in places])
        y[...] = narrowed(total / np.prod(call.window), call.out.dtype)


def the_lowering(smooth_pool, mean_call):
    @lower_step.register(smooth_pool)
    def lowered(op, v, body):
        (x,) = v.inputs
        read, out = body.dense(x), body.memory[v]
        layouts = [Strided(b.type.shape, b.strides, b.type.dtype) for b in (read, out)]
        call = mean_call(*layouts, op.window, Moves(op.strides, op.padding, op.ones))
        body.steps.append(Invoke(call, (Operand(read),), (Operand(out),)))


def the_recipe(mean_call):
    @bind.register(mean_call)
    def recipe(call):
        before, after = zip(*call.moves.padding, strict=True)
        window = onednn.Window(call.moves.strides, call.moves.dilation, before, after)
        kind = onednn.AVERAGE_WITH_PADDING
        x, out = _layout(call.x), _layout(call.out)
        return one(onednn.pooling(kind, x, out, call.window, window, training=False), 2)


def the_rule_of_other_back_ends(smooth_pool):
    @emit.register(smooth_pool)
    def emitted(op, v, w, x):
        return emit.dispatch(p.AvgPool)(op.plain(), v, w, x)


@pytest.fixture
def smooth_pool():
    op, call = the_op(), the_call()
    the_meaning(call)
    the_lowering(op, call)
    the_recipe(call)
    the_rule_of_other_back_ends(op)
    yield op
    del registry["smooth_pool"], DESCRIBED["MeanCall"]


def test_the_laws_find_it_and_hold_it(smooth_pool):
    assert any(sample.op.name == "smooth_pool" for sample in all_samples())
    obeys(smooth_pool, only=LAWS)


def test_it_is_a_library_call_whose_unit_is_data_and_means_what_machine_code_computes(smooth_pool):
    for sample in smooth_pool.samples():
        fn = function_of(sample)
        assert "invoke MeanCall[" in str(lower(optimise(fn)))
        assert unit_of(fn).binding.recipes
        check_meaning(fn, *arrays(sample))


def test_other_back_ends_have_it_too(smooth_pool):
    fn = Function.build(smooth_pool((2, 2), (2, 2), ((0, 0), (0, 0))), TensorType(float32, (1, 1, 4, 4)))
    assert "reduce_window" in module(fn).text


def test_six_files_are_all_that_it_takes():
    """The files above are where the rules of such ops lie: counted for one that is there."""
    listed = FILE.findall(__doc__)
    assert len(listed) == 6
    assert all(map(found, listed))
    by_call = [ConvolutionCall, *[rules.dispatch(ConvolutionCall) for rules in (called, bind)]]
    by_op = [p.Conv, *[rules.dispatch(p.Conv) for rules in (lower_step, emit)]]
    files = {rule.__module__.replace(".", "/") + ".py" for rule in (*by_call, *by_op)}
    assert files == {name.replace("pooling", "convolution") for name in listed}
