"""All transforms of this package under the module name MindSpore users import them from."""

from mycelia.dataset.transforms.arrays import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Relational,
    Slice,
    TypeCast,
    Unique,
    not_random,
)
from mycelia.dataset.transforms.base import TensorOperation
from mycelia.dataset.transforms.compose import Compose, RandomApply, RandomChoice, RandomOrder
from mycelia.dataset.transforms.plugin import Plugin

PyTensorOperation = TensorOperation

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "Plugin",
    "PyTensorOperation",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "TensorOperation",
    "TypeCast",
    "Unique",
    "not_random",
]
