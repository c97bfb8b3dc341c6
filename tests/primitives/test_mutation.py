"""Do the laws bite? Rules are broken on purpose, one small fault at a time, and the laws must notice."""

import random
from functools import cache

import pytest

from mycelia.testing.mutation import faults

FAMILIES = (
    *("elementwise", "unary", "binary", "comparison", "select", "movement", "pieces", "reduction", "contraction"),
    *("indexing", "convolution", "pooling", "random", "creation"),
)
# a fault that never ends is interrupted wherever it stands, also where Python can only report the interruption
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@cache
def every_fault():
    """All that can be seeded: not when tests are collected, by processes that may run none of these."""
    return faults(*(f"mycelia.primitives.{family}" for family in FAMILIES))


def report(tried, missed):
    share = 1 - len(missed) / len(tried)
    return f"laws catch {share:.1%} of {len(tried)} faults; they miss:\n" + "\n".join(map(str, missed))


def test_laws_catch_nine_faults_of_ten_in_a_random_choice():
    tried = random.Random(0).sample(every_fault(), 120)
    missed = [fault for fault in tried if not fault.caught()]
    assert len(missed) <= 0.1 * len(tried), report(tried, missed)


@pytest.mark.slow
def test_laws_catch_nine_faults_of_ten():
    every = every_fault()
    missed = [fault for fault in every if not fault.caught()]
    print(report(every, missed))
    assert len(missed) <= 0.1 * len(every), report(every, missed)


def test_a_seeded_fault_leaves_no_trace():
    fault = next(f for f in every_fault() if f.owner.__name__ == "Tanh")
    before = fault.owner.__dict__[fault.rule]
    with fault.seeded():
        assert fault.owner.__dict__[fault.rule] is not before
    assert fault.owner.__dict__[fault.rule] is before
