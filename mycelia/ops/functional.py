"""Functions of tensors, under the name by which older programs import them."""

# ruff: noqa: F403  # every module lists what it offers in its own __all__
from mycelia.api import get_grad as get_grad
from mycelia.api import grad as grad
from mycelia.api import jacfwd as jacfwd
from mycelia.api import jacrev as jacrev
from mycelia.api import jvp as jvp
from mycelia.api import value_and_grad as value_and_grad
from mycelia.api import vjp as vjp
from mycelia.api import vmap as vmap
from mycelia.names import missing_in as _missing_in
from mycelia.ops.activation import *
from mycelia.ops.arithmetic import *
from mycelia.ops.arrangement import *
from mycelia.ops.attention import *
from mycelia.ops.boxes import *
from mycelia.ops.choice import *
from mycelia.ops.communication import *
from mycelia.ops.comparison import *
from mycelia.ops.complexes import *
from mycelia.ops.convolution import *
from mycelia.ops.creation import *
from mycelia.ops.ctc import *
from mycelia.ops.decompositions import *
from mycelia.ops.fourier import *
from mycelia.ops.host import *
from mycelia.ops.incomplete import *
from mycelia.ops.joining import *
from mycelia.ops.later import at_last as _at_last
from mycelia.ops.linalg import *
from mycelia.ops.loss import *
from mycelia.ops.math import *
from mycelia.ops.members import *
from mycelia.ops.methods_rare import *
from mycelia.ops.movement import *
from mycelia.ops.normalization import *
from mycelia.ops.numbers import *
from mycelia.ops.order import *
from mycelia.ops.pooling import *
from mycelia.ops.random import *
from mycelia.ops.reduction import *
from mycelia.ops.sampling import *
from mycelia.ops.scattering import *
from mycelia.ops.special import *
from mycelia.ops.state import *
from mycelia.ops.statistics import *
from mycelia.ops.trigonometry import *
from mycelia.ops.windows import *

__getattr__ = _at_last(__name__, _missing_in(__name__))
