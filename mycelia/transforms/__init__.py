"""Transforms: functions from functions to functions. Gradients, tangents, vectorisation."""

from mycelia.transforms.activity import depends, reaches
from mycelia.transforms.by_rule import by_rule
from mycelia.transforms.jvp import jvp
from mycelia.transforms.parting import Parts, decisions, parted, saves
from mycelia.transforms.structured import Structured, chosen, placed
from mycelia.transforms.vjp import value_and_grad, vjp
from mycelia.transforms.vmap import batch, in_step, lockstep, ragged, repeated, vmap

__all__ = [
    "Parts",
    "Structured",
    "batch",
    "by_rule",
    "chosen",
    "decisions",
    "depends",
    "in_step",
    "jvp",
    "lockstep",
    "parted",
    "placed",
    "ragged",
    "reaches",
    "repeated",
    "saves",
    "value_and_grad",
    "vjp",
    "vmap",
]
