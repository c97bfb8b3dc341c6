"""Operations on functions and gradients: hooks on the way back, functions with some arguments given, and old tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from typing import Any

from mycelia import checks
from mycelia.api import given
from mycelia.eager import Tensor, as_dtype
from mycelia.errors import ArgumentError, CallError
from mycelia.ops import creation, joining, random
from mycelia.ops.arguments import tensor
from mycelia.ops.primitive import Primitive

__all__ = [
    "HookBackward",
    "InsertGradientOf",
    "Partial",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "RandomCategorical",
    "Randperm",
    "add_flags",
    "custom_vjp",
    "prim_arg_register",
    "prim_attr_register",
]  # fmt: skip


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


class custom_vjp:  # MindSpore's name: a decorator
    """A function whose gradient another one gives, which `defbwd` names: `bprop(*args, out, dout)` gives one for each
    argument.

    >>> from mycelia.api import grad
    >>> @custom_vjp
    ... def twice(x):
    ...     return x * 2
    >>> twice.defbwd(lambda x, out, dout: (dout * 10,))
    >>> grad(twice)(Tensor([1.0])).tolist()
    [10.0]
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        if not callable(fn):
            raise CallError(f"custom_vjp takes a function, not {fn!r}")
        self.fn = fn
        self.bwd: Callable[..., Any] | None = None

    def defbwd(self, bwd: Callable[..., Any]) -> None:
        """Say what its gradient is."""
        if not callable(bwd):
            raise CallError(f"defbwd takes a function, not {bwd!r}")
        self.bwd = bwd

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args) if self.bwd is None else given.with_gradient(self.fn, self.bwd, args)


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


# ------------------------------------------------------------------------------------------------- the user's own


class PrimitiveWithInfer(Primitive):
    """An operation of the user's, whose class says the types of its results in `infer_shape` and `infer_dtype`, and
    what it computes in `__call__`.

    >>> PrimitiveWithInfer("twice").name
    'twice'
    """


class PrimitiveWithCheck(Primitive):
    """An operation of the user's, whose class checks what it is given in `check_shape` and `check_dtype`, and says what
    it computes in `__call__`.

    >>> PrimitiveWithCheck("twice").name
    'twice'
    """


def prim_attr_register(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for the `__init__` of an operation of the user's: its arguments become attributes.

    >>> class Scaled(Primitive):
    ...     @prim_attr_register
    ...     def __init__(self, factor=2):
    ...         pass
    ...     def __call__(self, x):
    ...         return x * self.attrs["factor"]
    >>> Scaled(3)(Tensor([1.0])).tolist()
    [3.0]
    """
    return _registered(fn, True)


def prim_arg_register(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for the `__init__` of an operation of the user's: its arguments become attributes of the object.

    >>> class Scaled(Primitive):
    ...     @prim_arg_register
    ...     def __init__(self, factor=2):
    ...         pass
    >>> Scaled(3).factor
    3
    """
    return _registered(fn, False)


def _registered(fn: Callable[..., Any], noted: bool) -> Callable[..., Any]:
    if not callable(fn):
        raise CallError(f"an __init__ is decorated, not {fn!r}")

    @wraps(fn)
    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self)
        bound = signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in [*bound.arguments.items()][1:]:
            setattr(self, name, value)
            if noted:
                self.add_prim_attr(name, value)
        fn(self, *args, **kwargs)

    return init
