"""Transforms: functions from functions to functions. Gradients, tangents, vectorisation."""

from mycelia.transforms.activity import depends, reaches
from mycelia.transforms.jvp import jvp
from mycelia.transforms.split import Split, nothing, saves, split
from mycelia.transforms.structured import Structured, chosen, spread
from mycelia.transforms.vjp import value_and_grad, vjp
from mycelia.transforms.vmap import batch, in_step, lockstep, ragged, repeated, vmap

__all__ = [
    "Split",
    "Structured",
    "batch",
    "chosen",
    "depends",
    "in_step",
    "jvp",
    "lockstep",
    "nothing",
    "ragged",
    "reaches",
    "repeated",
    "saves",
    "split",
    "spread",
    "value_and_grad",
    "vjp",
    "vmap",
]
