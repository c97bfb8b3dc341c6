"""Operations as objects, under the name by which older programs import them."""

# ruff: noqa: F403  # the module lists what it offers
from mycelia.ops.primitive import *
from mycelia.ops.primitive_complex import *
from mycelia.ops.primitive_rare import *
