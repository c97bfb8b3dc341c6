"""Functions of tensors: thin names over primitives, and compositions of them. Most are methods of tensors too."""

# ruff: noqa: F403  # every module lists what it offers
from typing import TYPE_CHECKING

from mycelia.names import boundary as _boundary
from mycelia.names import missing_in as _missing_in
from mycelia.names import offered as _offered
from mycelia.ops import composite as composite
from mycelia.ops import functional as functional
from mycelia.ops import methods as methods
from mycelia.ops import operations as operations
from mycelia.ops.composite import *
from mycelia.ops.functional import *
from mycelia.ops.later import LATER as _LATER
from mycelia.ops.later import at_last as _at_last
from mycelia.ops.primitive import *
from mycelia.ops.primitive_complex import *
from mycelia.ops.primitive_more import *
from mycelia.ops.primitive_rare import *

if TYPE_CHECKING:
    from mycelia.ops.classes import *  # a stub, written by docs/stubs.py

del TYPE_CHECKING
_boundary(globals())
__getattr__ = _at_last(__name__, _missing_in(__name__))
__dir__ = _offered(__name__, _LATER, ("communication", "composite", "functional", "operations", "primitive"))
