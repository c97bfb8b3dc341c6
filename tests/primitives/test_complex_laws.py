"""Every op that takes complex numbers, on complex numbers, against every law."""

from collections.abc import Iterator

import pytest

from mycelia.ir import Op, registry
from mycelia.testing import LAWS, UNFIT_FOR_COMPLEX
from mycelia.testing.samples import complex_samples, names_of
from tests.each import each

WITHOUT = {"complex", "real", "imag", "conj"}  # their own samples are complex


TAKERS = [op for name, op in registry.items() if op.in_parts is not Op.in_parts and name not in WITHOUT]


def cases() -> Iterator[object]:
    for op in TAKERS:
        drawn = complex_samples(op)
        for i, (sample, name) in enumerate(zip(drawn, names_of(drawn), strict=True)):
            yield pytest.param(sample, id=name, marks=[] if i == len(drawn[:2]) - 1 else pytest.mark.slow)


@pytest.mark.many("sample", list(cases()), pack=10)
def test_every_op_obeys_on_complex_numbers(sample):
    each(lambda law: law(sample), [(name, (law,)) for name, law in LAWS.items() if name not in UNFIT_FOR_COMPLEX])


def test_the_ops_that_take_complex_numbers_are_many():
    assert len(TAKERS) >= 54
