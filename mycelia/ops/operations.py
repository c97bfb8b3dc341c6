"""Operations as objects, under the name by which older programs import them."""

# ruff: noqa: F403  # the module lists what it offers
from mycelia.names import missing_in as _missing_in
from mycelia.ops.later import at_last as _at_last
from mycelia.ops.primitive import *
from mycelia.ops.primitive_complex import *
from mycelia.ops.primitive_more import *
from mycelia.ops.primitive_rare import *

__getattr__ = _at_last(__name__, _missing_in(__name__))
