"""What a program knew and what has died since is no fault, where Python raises it anew."""

from mycelia import Tensor
from mycelia.capture.capturing import capture
from mycelia.capture.holding import Weak
from mycelia.capture.program import ObjectBuilder
from mycelia.capture.slots import CallRoot
from mycelia.capture.statements import Exit
from mycelia.errors import ShapeError


def test_an_error_that_is_gone_is_an_error_all_the_same() -> None:
    program = capture(CallRoot(lambda x: x + 1, (Tensor([1.0]),), {}), frozenset())
    gone = Weak(ShapeError("met while the program was captured"))
    assert gone() is None
    assert ObjectBuilder(program.ending, [], [], [], None)(Exit("raise", gone)).kind == "raise"
