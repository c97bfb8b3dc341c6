"""Checks of arguments that transforms share; those that all of Mycelia shares are in `mycelia.checks`."""

from __future__ import annotations

from typing import Any

from mycelia.checks import sequence
from mycelia.errors import ArgumentError, DTypeError


def check_random_transform_ops(transforms: Any) -> tuple[Any, ...]:
    """A sequence of at least one callable.

    >>> len(check_random_transform_ops([abs]))
    1
    """
    ops = sequence("RandomApply and its like", "transforms", transforms)
    if not ops:
        raise ArgumentError("transforms must not be empty")
    for i, op in enumerate(ops):
        if not callable(op):
            raise DTypeError(f"transforms[{i}] must be callable, not {type(op).__name__}", given={"value": repr(op)})
    return ops
