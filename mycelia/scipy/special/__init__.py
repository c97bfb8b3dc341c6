"""Special functions by SciPy's names, of real numbers: computed in double precision, differentiable, compiled."""

# ruff: noqa: F403  # every module lists what it offers
from mycelia.names import boundary as _boundary
from mycelia.scipy.special.elementary import *
from mycelia.scipy.special.gammas import *
from mycelia.scipy.special.normal import *
from mycelia.scipy.special.orthogonal import *
from mycelia.scipy.special.shares import *

_boundary(globals())
