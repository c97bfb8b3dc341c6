"""Every op against every law. A new op is tested here without a line being added."""

import pytest

from mycelia.codegen.code_key import code_key
from mycelia.ir import registry
from mycelia.loops import Launch
from mycelia.testing import LAWS, all_samples
from mycelia.testing.laws import strangers
from mycelia.testing.native import lower, optimise
from mycelia.testing.samples import as_dtype, function_of, names_of
from tests.each import each

SAMPLES = list(all_samples())

# these work on sequences, frames and tuples; a sample is arrays
STRUCTURES = {"project", "null", "addsequence", "splitbatch", "joinbatch", "addframe", "makeframe", "openframe"}


@pytest.mark.parametrize("sample", [pytest.param(s, id=n) for s, n in zip(SAMPLES, names_of(SAMPLES), strict=True)])
def test_every_op_obeys(sample):
    each(lambda law: law(sample), [(name, (law,)) for name, law in LAWS.items()])


def test_every_op_has_a_sample():
    without = {name for name, op in registry.items() if not any(True for _ in op.samples())}
    assert without - STRUCTURES <= {"namedcall"}, "a call by name means nothing by itself"


def kernels(*samples):
    """The code of the kernels that compute samples in one program."""
    steps = lower(optimise(function_of(*samples))).walk()
    return sorted(code_key(s.kernel) for s in steps if isinstance(s, Launch))


@pytest.mark.filterwarnings("ignore:.*encountered in cast")
def test_samples_that_are_computed_together_have_the_kernels_that_each_has_alone():
    groups = [g for s in SAMPLES[::30] for g in strangers([as_dtype(s, d) for d in getattr(s.op, "dtypes", ())])]
    joined = [g for g in groups if len(g) > 1]
    assert len(joined) > 10
    for group in joined:
        assert kernels(*group) == sorted(k for sample in group for k in kernels(sample))
