"""Distributions: densities, shares, moments, divergences, samples."""

# ruff: noqa: F403  # every module lists what it offers
from mycelia.names import boundary as _boundary
from mycelia.nn.probability.distribution.base import Distribution as Distribution
from mycelia.nn.probability.distribution.continuous import *
from mycelia.nn.probability.distribution.discrete import *
from mycelia.nn.probability.distribution.gamma_family import *
from mycelia.nn.probability.distribution.transformed import *

_boundary(globals())
