"""Calls of functions that users wrote."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from mycelia.capture.stage import Stage


def called(stage: Stage, f: FunctionType, hooked: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call, in its place."""
    return hooked(*args, **kwargs)
