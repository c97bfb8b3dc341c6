"""Functions of tensors: thin names over primitives, and compositions of them. Most are methods of tensors too."""

# ruff: noqa: F403  # every module lists what it offers
from typing import TYPE_CHECKING

from mycelia.names import boundary as _boundary
from mycelia.ops import composite as composite
from mycelia.ops import functional as functional
from mycelia.ops import methods as methods
from mycelia.ops import operations as operations
from mycelia.ops.composite import *
from mycelia.ops.functional import *
from mycelia.ops.primitive import *
from mycelia.ops.primitive_complex import *
from mycelia.ops.primitive_more import *
from mycelia.ops.primitive_rare import *

if TYPE_CHECKING:
    from mycelia.ops.classes import *  # a stub, written by docs/stubs.py

del TYPE_CHECKING
_boundary(globals())
