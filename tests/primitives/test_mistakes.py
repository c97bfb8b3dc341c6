"""Every bad call gives the message it promises."""

import pytest

from mycelia.ir import registry
from mycelia.testing import all_mistakes
from mycelia.transforms import Structured

MISTAKES = [(op, m) for op, m in all_mistakes()]

# these work on sequences, frames and tuples, which only transforms make
INTERNAL = {
    "project",
    "null",
    "addsequence",
    "splitbatch",
    "joinbatch",
    "addframe",
    "makeframe",
    "openframe",
    "namedcall",
}


@pytest.mark.many(("op", "mistake"), MISTAKES, pack=100, ids=lambda case: f"{case[0].name}: {case[1].message}")
def test_a_mistake_is_explained_where_it_was_made(op, mistake):
    with pytest.raises(mistake.error) as found:
        mistake.call()
    assert mistake.message in str(found.value)
    if not issubclass(op, Structured):  # which complain when they are made, not when they are applied
        assert "at test_mistakes.py:" in str(found.value)


def test_ops_that_can_be_misused_say_how():
    silent = {name for name, op in registry.items() if not any(True for _ in op.mistakes())}
    assert silent - INTERNAL <= {"barrier", "cast", "stop_gradient", "constant"}, "these accept everything"
