"""Every op against every law. A new op is tested here without a line being added."""

from collections import Counter

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


NAMED = [pytest.param(s, id=n) for s, n in zip(SAMPLES, names_of(SAMPLES), strict=True)]
WIDE = "every_claimed_dtype_works"  # as many programs as an op has types: by default at every third of its samples


def thirds(samples):
    """The first, fourth, seventh … sample of each op."""
    met = Counter()
    for sample in samples:
        met[sample.op.name] += 1
        if met[sample.op.name] % 3 == 1:
            yield id(sample)


OFTEN = set(thirds(SAMPLES))


@pytest.mark.many("sample", NAMED, pack=12)
def test_every_op_obeys(sample):
    each(lambda law: law(sample), [(n, (law,)) for n, law in LAWS.items() if n != WIDE or id(sample) in OFTEN])


@pytest.mark.slow
@pytest.mark.parametrize("sample", [p for p in NAMED if id(p.values[0]) not in OFTEN])
def test_every_op_obeys_with_all_its_types(sample):
    LAWS[WIDE](sample)


def test_every_op_has_a_sample():
    without = {name for name, op in registry.items() if not any(True for _ in op.samples())}
    assert without - STRUCTURES <= {"namedcall", "positions"}, "a call by name means nothing by itself, nor a count"


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
