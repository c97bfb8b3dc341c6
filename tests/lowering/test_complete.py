"""What an op says that it becomes is what the lowering has a rule for; an op that says something else is refused."""

import pytest

from mycelia.ir import Lowered, registry
from mycelia.lowering import complete
from mycelia.lowering.steps import lower_step
from mycelia.primitives import Cumsum, Exp, Reduction, Sum


@pytest.fixture
def forgotten():
    """Ops that a test makes are known to nobody afterwards."""
    before = dict(registry)
    yield
    registry.clear()
    registry.update(before)


def test_every_op_is_lowered_as_it_says():
    complete.check(registry)


def test_a_step_without_a_rule_is_refused(forgotten):
    class Wish(Sum, abstract=True):
        name = "wish"
        native = Lowered.STEP

    with pytest.raises(TypeError, match="op wish says that it is a step, and no rule of lower_step is for it"):
        complete.check({"wish": Wish})


def test_a_rule_that_an_op_does_not_mention_is_refused():
    class Secret(Cumsum, abstract=True):
        native = None

    assert lower_step.dispatch(Secret) is lower_step.dispatch(Cumsum)
    with pytest.raises(TypeError, match="is lowered as a step, and does not say so"):
        complete.check({"secret": Secret})


def test_a_fold_is_a_reduction():
    class Odd(Exp, abstract=True):
        native = Lowered.FOLD

    with pytest.raises(TypeError, match="a fold inside a kernel is a Reduction"):
        complete.check({"odd": Odd})


def test_an_op_with_an_element_says_nothing_else(forgotten):
    with pytest.raises(TypeError, match="is lowered by element, and says that it becomes a step"):

        class Both(Exp):
            native = Lowered.STEP

    with pytest.raises(TypeError, match="must define element, expand or native"):

        class Neither(Reduction):
            native = None
            combine, oracle = "add", None
            vjp = Sum.vjp
