"""Transforms of any column: composed, random, and of arrays."""

import importlib
from types import ModuleType

from mycelia.dataset.transforms.transforms import (
    Compose,
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Plugin,
    RandomApply,
    RandomChoice,
    RandomOrder,
    Relational,
    Slice,
    TypeCast,
    Unique,
    not_random,
)
from mycelia.names import missing_in

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "Plugin",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "TypeCast",
    "Unique",
    "not_random",
    "py_transforms_util",
    "transforms",
    "validators",
    "vision",
]


def __getattr__(name: str) -> ModuleType:
    """The modules that MindSpore shows here: they stand above this one, so they are fetched when asked for."""
    if name == "vision":
        return importlib.import_module("mycelia.dataset.vision")
    if name in ("py_transforms_util", "validators"):
        return importlib.import_module(f"{__name__}.{name}")
    return missing_in(__name__)(name)  # type: ignore[no-any-return]  # it raises
