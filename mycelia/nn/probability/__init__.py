"""Distributions, bijectors, Bayesian layers, and inference: variational, and by Markov chains.

distribution   Normal, Gamma, Categorical ... : densities, shares, moments, divergences, samples
bijector       invertible functions, and distributions of what they give
bnn_layers     layers whose weights are distributions
dpn            networks that describe distributions: VAE, ConditionalVAE
infer          ELBO and SVI; HMC and NUTS
toolbox        how sure a network is, and what does not look like its data
transforms     a plain network made Bayesian
"""

from importlib import import_module as _import_module
from typing import Any as _Any

__all__ = ["bijector", "bnn_layers", "distribution", "dpn", "infer", "toolbox", "transforms"]


def __getattr__(name: str) -> _Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _import_module(f"{__name__}.{name}")
