"""Every op against every law. A new op is tested here without a line being added."""

import pytest

from mycelia.ir import registry
from mycelia.testing import LAWS, all_samples
from mycelia.testing.samples import names_of

SAMPLES = list(all_samples())

# these work on sequences, frames and tuples; a sample is arrays
STRUCTURES = {"project", "null", "addsequence", "splitbatch", "joinbatch", "addframe", "makeframe", "openframe"}


@pytest.mark.parametrize("sample", [pytest.param(s, id=n) for s, n in zip(SAMPLES, names_of(SAMPLES), strict=True)])
@pytest.mark.parametrize("law", LAWS)
def test_every_op_obeys(law, sample):
    LAWS[law](sample)


def test_every_op_has_a_sample():
    without = {name for name, op in registry.items() if not any(True for _ in op.samples())}
    assert without - STRUCTURES <= {"namedcall"}, "a call by name means nothing by itself"
