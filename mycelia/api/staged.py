"""The one entry to gradients: what it means inside a captured program, the interpreter knows (`api.models`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia.api.linear import Weights, linearized


def linearize(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    weights: Weights,
    has_aux: bool,
) -> linearized:
    """A call of `fn` with the linear maps beside it, by the tape."""
    return linearized(fn, args, kwargs, positions, weights, has_aux)
