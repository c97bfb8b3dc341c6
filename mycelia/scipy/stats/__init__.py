"""Distributions and statistics by SciPy's names, differentiable in numbers and in parameters."""

# ruff: noqa: F403  # every module lists what it offers
from mycelia.names import boundary as _boundary
from mycelia.scipy.stats.continuous import *
from mycelia.scipy.stats.discrete import *
from mycelia.scipy.stats.hypotheses import *
from mycelia.scipy.stats.measures import *
from mycelia.scipy.stats.multivariate import *

_boundary(globals())
