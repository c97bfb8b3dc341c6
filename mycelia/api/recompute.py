"""Regions of which nothing is kept for the way back: they are computed again there. Inside a captured program, see
`api.recompute_models`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from mycelia import primitives as p
from mycelia.api.given import with_tensors
from mycelia.api.jit import Jitted, jit
from mycelia.eager import Tensor, as_value
from mycelia.eager.dispatch import mode
from mycelia.eager.tape import recording
from mycelia.eager.trace import trace
from mycelia.errors import ArgumentError
from mycelia.ir import Value
from mycelia.tree import flatten, unflatten


def recompute(
    block: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable[[], Any] | None = None,
    **kwargs: Any,
) -> Any:
    """What `block` gives at these arguments; of what it computes, nothing is kept for its gradient.

    On the way back it is computed again, with the same random numbers; what it prints or changes happens once.
    `use_reentrant`, `output_recompute` and `early_stop` choose between ways of MindSpore to do it; here there is one.
    On the tape the block is compiled: pass a Cell or a function that lives on, not a new lambda in every step.

    >>> from mycelia.api.grad import grad
    >>> grad(lambda x: recompute(lambda x: x * x * x, x))(Tensor(2.0))
    Tensor(shape=[], dtype=Float32, value= 12)
    """
    check(block, context_fn)
    return computed_again(block, args, kwargs)


def check(block: Any, context_fn: Any) -> None:
    """Complain about what cannot be computed again, and about what cannot be done around it."""
    if not callable(block):
        raise ArgumentError(
            f"recompute calls a Cell or a function, and a {type(block).__name__} is none",
            given={"block": block},
            hint="pass the block itself and its arguments, recompute(block, x), and not recompute(block(x))",
        )
    if context_fn is not None:
        raise ArgumentError(
            "recompute has no context_fn: both runs are the same program",
            hint="set what the block needs around the call",
        )


def computed_again(block: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call itself: on the tape, in a graph that is being written, or by Python where nobody takes a gradient."""
    if mode.capturing:
        return _written(block, args, kwargs)
    return _compiled(block)(*args, **kwargs) if recording() else block(*args, **kwargs)


def _compiled(block: Callable[..., Any]) -> Jitted:
    """The block as a program that keeps what it is given and nothing else; made once, it lives with the block."""
    owner, part = (block.__self__, block.__func__) if isinstance(block, MethodType) else (block, None)
    if isinstance(owner, type):  # nothing can be put beside what a class holds
        owner, part = part or owner, owner
    if not isinstance(getattr(owner, "__dict__", None), dict):
        return jit(block, keep="nothing")
    mine: dict[Any, Jitted] = owner.__dict__.setdefault("_regions", {})
    if part not in mine:
        mine[part] = jit(block, keep="nothing")
    return mine[part]


def _written(block: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same, while a graph is being written (for `vmap`)."""
    leaves, nest = flatten((args, kwargs))
    tensors = [x for x in leaves if isinstance(x, Tensor)]
    if not any(x._data.__class__ is Value for x in tensors):
        return block(*args, **kwargs)

    def run(*new: Any) -> Any:
        given, named = unflatten(nest, with_tensors(leaves, new))
        return block(*given, **named)

    traced = trace(run, [as_value(x).type for x in tensors])
    return traced.results(p.Call(traced.function, recompute=True)(*tensors, *traced.captured))
