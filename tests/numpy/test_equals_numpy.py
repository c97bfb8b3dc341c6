"""Every name of mycelia.numpy gives what NumPy gives, for the same expression over the same numbers."""

import warnings

import numpy
import pytest

import mycelia.numpy as mnp
from mycelia import Tensor
from tests.numpy.cases import ARRAYS, CASES

TENSORS = {name: Tensor(x) for name, x in ARRAYS.items()}


def leaves(found):
    if isinstance(found, tuple | list):
        return [leaf for part in found for leaf in leaves(part)]
    return [found]


def wanted_of(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return leaves(eval(case, {"np": numpy, **ARRAYS}))


def check(got, wanted):
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        a, b = mine.asnumpy() if isinstance(mine, Tensor) else numpy.asarray(mine), numpy.asarray(theirs)
        assert a.shape == b.shape
        kinds = {a.dtype.kind, b.dtype.kind}
        assert len(kinds) == 1 or kinds == {"i", "u"}, kinds
        exact = 1e-9 if a.dtype == b.dtype and a.dtype.itemsize == 8 else 3e-6
        numpy.testing.assert_allclose(a, b, rtol=exact, atol=exact)


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_numpy(case):
    check(leaves(eval(case, {"np": mnp, **TENSORS})), wanted_of(case))
