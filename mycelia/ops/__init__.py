"""Functions of tensors: thin names over primitives, and compositions of them. Most are methods of tensors too."""

# ruff: noqa: F403  # every module lists what it offers
from types import FunctionType as _FunctionType

from mycelia.names import listening as _listening
from mycelia.names import listens as _listens
from mycelia.ops import composite as composite
from mycelia.ops import functional as functional
from mycelia.ops import methods as methods
from mycelia.ops import operations as operations
from mycelia.ops.composite import *
from mycelia.ops.functional import *
from mycelia.ops.primitive import *

# those that take axes know other words for them
globals().update({_n: _listening(_f) for _n, _f in [*globals().items()] if type(_f) is _FunctionType and _listens(_f)})
