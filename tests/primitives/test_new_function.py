"""An elementwise op with a scalar function of its own takes three files, and all laws hold it on all back ends.

mycelia/primitives/unary.py        the op                      (here: `Cbrt`)
mycelia/codegen/vecmath/power.py   the formula, in vectors     (here: `cbrt`)
mycelia/loops/functions.py         the meaning, a line         (here: `ELEMENTARY["cbrt"]`)
"""

from __future__ import annotations

import numpy as np
import pytest

from mycelia.codegen.vecmath.accuracy import ACCURACY, BY_NAME, promised
from mycelia.codegen.vecmath.exponential import exp
from mycelia.codegen.vecmath.logarithm import log
from mycelia.ir import Function, registry
from mycelia.loops import binary, const
from mycelia.loops.functions import ELEMENTARY, Elementary
from mycelia.primitives import Unary
from mycelia.stablehlo import module
from mycelia.testing import LAWS, all_samples, compile, obeys
from mycelia.types import TensorType, float32


def the_op():
    class Cbrt(Unary):
        """The cube root, of positive numbers."""

        kind, oracle, domain = "cbrt", np.cbrt, (0.1, 3.0)
        points = (1.0, 8.0, 1e-3)

        def vjp(self, ct, out, x):
            return (ct * out / (3.0 * x),)

    return Cbrt


def the_formula():
    @promised(f32=4, f64=4)
    def cbrt(x):
        return exp(log(x) / 3.0)


def the_meaning():
    ELEMENTARY["cbrt"] = Elementary(np.cbrt, lambda x: binary("pow", x, const(1 / 3, x.dtype)))


@pytest.fixture
def cbrt():
    op = the_op()
    the_formula()
    the_meaning()
    yield op
    del registry["cbrt"], ELEMENTARY["cbrt"], BY_NAME["cbrt"], ACCURACY["cbrt"]


@pytest.mark.parametrize("law", LAWS)
def test_a_function_of_its_own_obeys(law, cbrt):
    obeys(cbrt, only=[law])


def test_a_function_of_its_own_is_compiled_and_written_as_stablehlo(cbrt):
    fn = Function.build(cbrt(), TensorType(float32, (3,)))
    np.testing.assert_allclose(compile(fn)(np.array([1, 8, 27], "f"))[0], [1, 2, 3], rtol=1e-6)
    assert '"stablehlo.power"' in module(fn).text
    assert any(sample.op.name == "cbrt" for sample in all_samples())


def test_a_function_without_a_formula_is_noticed(cbrt):
    del BY_NAME["cbrt"]
    try:
        with pytest.raises(AssertionError, match="vecmath has no cbrt"):
            compile(Function.build(cbrt(), TensorType(float32, (3,))))
    finally:
        BY_NAME["cbrt"] = None


def test_every_elementary_function_has_a_formula_and_a_meaning():
    own = {"rsqrt", "pow", "atan2"}  # which are instructions, or take two numbers: loops/interpret.py
    assert set(BY_NAME) - own == set(ELEMENTARY) - own
