"""Every op that takes complex numbers, on complex numbers, against every law."""

from collections.abc import Iterator

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Op, Sample, registry
from mycelia.primitives.family import takes_complex
from mycelia.testing import LAWS
from mycelia.testing.samples import as_dtype, names_of
from mycelia.types import complex64, complex128

WITHOUT = {"complex", "real", "imag", "conj"}  # their own samples are complex
DRAWN = 4  # samples of one op, of which one is tried each time
UNFIT = {"every_claimed_dtype_works", "commutative_ops_commute"}  # NumPy rounds x * y and y * x differently


def samples(op: type[Op]) -> list[Sample]:
    """Complex samples of an op: some of its own, with other numbers."""
    found = []
    for sample in op.samples():
        if any(np.asarray(x).dtype.kind == "f" for x in sample.inputs) and takes_complex(sample.op) and sample.smooth:
            made = as_dtype(sample, complex128 if len(found) % 2 else complex64)
            try:
                made.op.infer(*[p.constant(x).type for x in made.inputs])
            except Exception:
                continue  # a product of mixed types
            found.append(made)
    return found[:DRAWN]


TAKERS = [op for name, op in registry.items() if op.in_parts is not Op.in_parts and name not in WITHOUT]


def cases() -> Iterator[object]:
    for op in TAKERS:
        drawn = samples(op)
        for i, (sample, name) in enumerate(zip(drawn, names_of(drawn), strict=True)):
            yield pytest.param(sample, id=name, marks=[] if i == len(drawn[:2]) - 1 else pytest.mark.slow)


@pytest.mark.parametrize("sample", list(cases()))
@pytest.mark.parametrize("law", [name for name in LAWS if name not in UNFIT])
def test_every_op_obeys_on_complex_numbers(law, sample):
    LAWS[law](sample)


def test_the_ops_that_take_complex_numbers_are_many():
    assert len(TAKERS) >= 54
