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


@pytest.mark.many("case", CASES, pack=100)
def test_values_are_those_of_numpy(case):
    check(leaves(eval(case, {"np": mnp, **TENSORS})), wanted_of(case))


def test_numbers_of_python_are_not_rounded_to_a_coarser_type_first():
    x = Tensor(numpy.array([1.0, 2.0]))
    for found, wanted in (
        (mnp.pad(x, 1, constant_values=0.7), [0.7, 1.0, 2.0, 0.7]),
        (mnp.where(x > 1, x, 0.1), [0.1, 2.0]),
        (mnp.matmul(x, [0.1, 0.7]), 1.5),
        (mnp.interp([0.0, 3.0], x, x, left=0.1, right=0.7), [0.1, 0.7]),
    ):
        numpy.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-14)


@pytest.mark.parametrize("copied", [mnp.copy, mnp.array, lambda x: mnp.asarray(x, copy=True)])
def test_a_copy_has_memory_of_its_own(copied):
    x = Tensor([1.0, 2.0])
    y = copied(x)
    x[0] = 9.0
    assert y.tolist() == [1.0, 2.0]
