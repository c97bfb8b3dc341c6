"""Operations on functions and gradients: hooks on the way back, functions with some arguments given, and old tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mycelia import checks
from mycelia.api import given
from mycelia.eager import Tensor, as_dtype
from mycelia.errors import ArgumentError, CallError
from mycelia.ops import creation, joining, random
from mycelia.ops.arguments import tensor

__all__ = ["HookBackward", "InsertGradientOf", "Partial", "RandomCategorical", "Randperm", "add_flags"]


def _same(*inputs: Any) -> Any:
    return inputs if len(inputs) > 1 else inputs[0]


class InsertGradientOf:
    """A tensor as it is; on the way back a function of the gradient takes its place.

    >>> from mycelia.api import grad
    >>> clip = InsertGradientOf(lambda g: g * 0 + 1)
    >>> grad(lambda x: (clip(x) * 5).sum())(Tensor([1.0, 2.0])).tolist()
    [1.0, 1.0]
    """

    def __init__(self, f: Callable[[Tensor], Tensor]) -> None:
        if not callable(f):
            raise CallError(f"InsertGradientOf takes a function of the gradient, not {f!r}")
        self.f = f

    def __call__(self, x: Any) -> Tensor:
        function = self.f
        return given.with_gradient(_same, lambda x, out, dout: (function(dout),), (tensor(x),))  # type: ignore[no-any-return]


class HookBackward:
    """Tensors as they are; on the way back a function sees their gradients, as a tuple, and may give others.

    >>> from mycelia.api import grad
    >>> seen = []
    >>> hook = HookBackward(lambda grads: seen.append(grads[0].tolist()))
    >>> grad(lambda x: (hook(x) * 5).sum())(Tensor([1.0])).tolist(), seen
    ([5.0], [[5.0]])
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn) or not isinstance(cell_id, str):
            raise CallError("HookBackward takes a function of gradients, and a text", hint="HookBackward(hook_fn)")
        self.hook_fn, self.cell_id = hook_fn, cell_id

    def __call__(self, *inputs: Any) -> Any:
        hook = self.hook_fn

        def back(*values: Any) -> Any:
            dout = values[-1]
            grads = dout if isinstance(dout, tuple) else (dout,)
            new = hook(grads)
            return grads if new is None else new if isinstance(new, tuple) else (new,)

        return given.with_gradient(_same, back, tuple(tensor(x) for x in inputs))


class Partial:
    """A function with its first arguments given.

    >>> Partial()(lambda x, y: x - y, 5)(2)
    3
    """

    def __call__(self, func: Callable[..., Any], *args: Any) -> Callable[..., Any]:
        if not callable(func):
            raise CallError(f"Partial takes a function, not {func!r}")
        return partial(func, *args)


class Randperm:
    """The whole numbers below n in random order, then `pad` up to `max_length`.

    >>> Randperm(4, pad=-1)(2).tolist()[2:]
    [-1, -1]
    """

    def __init__(self, max_length: int = 1, pad: int = -1, dtype: Any = "int32") -> None:
        self.max_length = checks.whole("Randperm", "max_length", max_length, 1)
        self.pad, self.dtype = checks.whole("Randperm", "pad", pad, -(1 << 63)), as_dtype(dtype)

    def __call__(self, n: Any) -> Tensor:
        count = int(n.item()) if isinstance(n, Tensor) else int(n)
        if not 0 <= count <= self.max_length:
            raise ArgumentError(f"Randperm: n lies from 0 to {self.max_length}, and {count} does not")
        order = random.randperm(count).astype(self.dtype)
        return joining.cat([order, creation.full((self.max_length - count,), self.pad, dtype=self.dtype)])


class RandomCategorical:
    """Positions drawn with the probabilities that rows of logarithms give: so many for each row.

    >>> RandomCategorical()(Tensor([[-100.0, 100.0]]), 3, 1).tolist()
    [[1, 1, 1]]
    """

    def __init__(self, dtype: Any = "int64") -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, logits: Any, num_sample: int, seed: int = 0) -> Tensor:
        return tensor(logits).random_categorical(num_sample, seed, self.dtype)


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """A decorator that notes how a function or a cell is to be compiled, as the attribute `_mindspore_flags`.

    >>> @add_flags(defer_inline=True)
    ... def double(x):
    ...     return x * 2
    >>> double._mindspore_flags
    {'defer_inline': True}
    """
    if fn is None:
        return lambda function: add_flags(function, **flags)
    if hasattr(fn, "add_flags"):
        fn.add_flags(**flags)
    else:
        fn._mindspore_flags = {**getattr(fn, "_mindspore_flags", {}), **flags}
    return fn
