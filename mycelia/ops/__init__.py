"""Functions of tensors: thin names over primitives, and compositions of them. Most are methods of tensors too."""

# ruff: noqa: F403  # every module lists what it offers in its own __all__
from mycelia.ops.activation import *
from mycelia.ops.arithmetic import *
from mycelia.ops.attention import *
from mycelia.ops.choice import *
from mycelia.ops.composite import *
from mycelia.ops.convolution import *
from mycelia.ops.creation import *
from mycelia.ops.linalg import *
from mycelia.ops.loss import *
from mycelia.ops.math import *
from mycelia.ops.methods import *
from mycelia.ops.movement import *
from mycelia.ops.normalization import *
from mycelia.ops.pooling import *
from mycelia.ops.primitive import *
from mycelia.ops.random import *
from mycelia.ops.reduction import *
from mycelia.ops.state import *
