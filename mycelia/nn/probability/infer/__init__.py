"""Inference: by bounds that are maximised (ELBO, SVI), and by Markov chains (HMC, NUTS)."""

# ruff: noqa: F403  # every module lists what it offers
from mycelia.names import boundary as _boundary
from mycelia.nn.probability.infer.chains import *
from mycelia.nn.probability.infer.variational import *

_boundary(globals())
