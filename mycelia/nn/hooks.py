"""Hooks: what is called before and after a cell, on the way back through it, and on its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mycelia.api.given import with_gradient
from mycelia.eager import Parameter, Tensor
from mycelia.eager.dispatch import mode
from mycelia.eager.tape import tape_of
from mycelia.errors import ArgumentError, CallError
from mycelia.frozen import frozen
from mycelia.tree import flatten

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell

Hook = Callable[..., Any]


@frozen(eq=False)
class HookHandle:
    """A hook that was registered with a cell, and can be removed."""

    cell: Cell
    place: str  # which of the cell's hooks it is one of
    hook: Hook
    with_kwargs: bool = False
    always: bool = False  # also when the cell fails

    def remove(self) -> None:
        """Call the hook no more."""
        setattr(self.cell, self.place, tuple(h for h in getattr(self.cell, self.place) if h is not self))

    def before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the hook wants them."""
        if self.with_kwargs:
            both = self.hook(self.cell, args, kwargs)
            return (args, kwargs) if both is None else both
        got = self.hook(self.cell, args)
        return (args if got is None else got if isinstance(got, tuple) else (got,)), kwargs

    def after(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
        """The result as the hook wants it."""
        got = self.hook(self.cell, args, kwargs, out) if self.with_kwargs else self.hook(self.cell, args, out)
        return out if got is None else got


def check_hook(hook: Any) -> None:
    """Complain about what cannot be called.

    >>> check_hook(print)
    """
    if not callable(hook):
        raise CallError(f"a hook is a function, not a {type(hook).__name__}", hint="pass the function itself")


# ------------------------------------------------------------------------------------------------------ the way back


def replaced(gradients: tuple[Any, ...], given: Any, whose: str) -> tuple[Any, ...]:
    """The gradients, or those that a hook has given instead.

    >>> replaced((1.0,), None, "x"), replaced((1.0,), 2.0, "x"), replaced((1.0,), (3.0,), "x")
    ((1.0,), (2.0,), (3.0,))
    """
    if given is None:
        return gradients
    new = tuple(given) if isinstance(given, tuple | list) else (given,)
    if len(new) != len(gradients):
        raise ArgumentError(
            f"a hook on the way back gave {len(new)} gradients for {len(gradients)} {whose}",
            hint="return a tuple with one gradient for each, or None to leave them as they are",
        )
    return new


def before_way_back(cell: Cell, out: Any) -> Any:
    """The result of a cell; on the way back its hooks see the gradient first, `hook(cell, grad_output)`."""

    def seen(*given: Any) -> Any:
        gradients = given[-1] if isinstance(given[-1], tuple) else (given[-1],)
        for handle in cell._before_back:
            gradients = replaced(gradients, handle.hook(cell, gradients), "results")
        return gradients

    if isinstance(out, tuple):
        return with_gradient(lambda *out: out, seen, out)
    return with_gradient(lambda out: out, seen, (out,))


class WayBack:
    """One call of a cell with hooks that see both the gradient that comes and the one that leaves."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.come: tuple[Any, ...] = ()
        self.arguments = 0
        self.leaves = True  # whether a gradient goes on to the arguments, beside that of the parameters

    def entered(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments; their gradients are the last that is seen: `hook(cell, grad_input, grad_output)`."""

        def leave(*given: Any) -> Any:
            gradients = given[-1]
            for handle in self.cell._after_back:
                gradients = replaced(gradients, handle.hook(self.cell, gradients, self.come), "arguments")
            return gradients

        tensors = [x for x in flatten(args)[0] if isinstance(x, Tensor)]
        self.arguments, self.leaves = len(args), mode.capturing or tape_of(tensors) is not None
        return with_gradient(lambda *args: args, leave, args) if args else args

    def left(self, out: Any) -> Any:
        """The result; its gradient is noted when it comes."""

        def come(*given: Any) -> Any:
            self.come = given[-1] if isinstance(given[-1], tuple) else (given[-1],)
            if not self.leaves:
                for handle in self.cell._after_back:
                    handle.hook(self.cell, (None,) * self.arguments, self.come)
            return self.come

        if isinstance(out, tuple):
            return with_gradient(lambda *out: out, come, out)
        return with_gradient(lambda out: out, come, (out,))


# --------------------------------------------------------------------------------------------------------- parameters


def hooks_of_parameters(cell: Cell, hook: Any) -> dict[int, Hook]:
    """Which hook is called on which parameter (by its id): one on all of a network, or those of a list.

    The list holds dictionaries with "params" and "hook".
    """
    if callable(hook):
        return {id(p): hook for p in cell.get_parameters()}
    if not isinstance(hook, list | tuple):
        raise CallError(f"a hook on parameters is a function or a list of dictionaries, not a {type(hook).__name__}")
    found: dict[int, Hook] = {}
    for entry in hook:
        if not isinstance(entry, dict) or set(entry) != {"params", "hook"}:
            raise ArgumentError("an entry of the list is a dictionary with params and hook", given={"entry": entry})
        check_hook(entry["hook"])
        for parameter in entry["params"]:
            if not isinstance(parameter, Parameter):
                raise CallError(f"params holds Parameters, not a {type(parameter).__name__}")
            found[id(parameter)] = entry["hook"]
    strange = set(found) - {id(p) for p in cell.get_parameters()}
    if strange:
        raise ArgumentError(f"{len(strange)} of the parameters do not belong to this {cell.cls_name}")
    return found


# ------------------------------------------------------------------------------------------------- how they are given


def extra(place: int, nothing: Any) -> Any:
    """One of the things that make a call more than `construct`. Most cells have none, and one look tells."""

    def held(self: Hooked) -> Any:
        return self._extras[place] if self._extras else nothing

    def hold(self: Hooked, value: Any) -> None:
        now = list(self._extras or NO_EXTRAS)
        now[place] = value
        self.__dict__["_extras"] = tuple(now) if any(now) else ()

    return property(held, hold)


NOTHING: Mapping[str, Any] = {}  # never changed, only replaced
NO_EXTRAS = ((), (), None, None, False, (), (), NOTHING)


class Hooked:
    """What hooks are registered with: the part of a cell that is about what happens around a call."""

    _extras: tuple[Any, ...]  # those that follow, or nothing
    _before = extra(0, ())  # hooks
    _after = extra(1, ())
    _float = extra(2, None)  # the type to compute in, where one was chosen
    _described = extra(3, None)  # what its arguments look like, where that was said
    _recomputed = extra(4, False)  # whether nothing inside is kept for its gradient
    _before_back = extra(5, ())  # hooks
    _after_back = extra(6, ())
    _on_parameters = extra(7, NOTHING)  # by name of the parameter

    def register_forward_pre_hook(
        self, hook_fn: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, args)` before each call; what it returns, if anything, takes the place of the arguments.

        >>> from mycelia import Tensor
        >>> from mycelia.nn import Cell
        >>> class Same(Cell):
        ...     def construct(self, x):
        ...         return x
        >>> net = Same()
        >>> handle = net.register_forward_pre_hook(lambda cell, args: (args[0] + 1,))
        >>> net(Tensor([1.0])).asnumpy()
        array([2.], dtype=float32)
        >>> handle.remove()
        >>> net(Tensor([1.0])).asnumpy()
        array([1.], dtype=float32)
        """
        return self._hooked("_before", hook_fn, prepend, with_kwargs)

    def register_forward_hook(
        self, hook_fn: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, args, out)` after each call; what it returns, if anything, takes the place of the result.

        With `always_call` also when the cell fails, with what there is: `out` is None then.

        >>> from mycelia import Tensor
        >>> from mycelia.nn import Cell
        >>> class Same(Cell):
        ...     def construct(self, x):
        ...         return x
        >>> net = Same()
        >>> handle = net.register_forward_hook(lambda cell, args, out: out * 3)
        >>> net(Tensor([1.0])).asnumpy()
        array([3.], dtype=float32)
        """
        return self._hooked("_after", hook_fn, prepend, with_kwargs, always_call)

    def register_backward_pre_hook(self, hook_fn: Hook) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` when a gradient comes; what it returns, if anything, goes on instead.

        >>> from mycelia.api.grad import grad
        >>> from mycelia import Tensor
        >>> from mycelia.nn import ReLU
        >>> net = ReLU()
        >>> handle = net.register_backward_pre_hook(lambda cell, come: (come[0] * 10,))
        >>> grad(net)(Tensor([1.0])).tolist()
        [10.0]
        """
        return self._hooked("_before_back", hook_fn)

    def register_backward_hook(self, hook_fn: Hook) -> HookHandle:
        """Call `hook_fn(cell, grad_input, grad_output)` when a gradient leaves, towards the arguments; what it returns,
        if anything, goes on instead.

        >>> from mycelia.api.grad import grad
        >>> from mycelia import Tensor
        >>> from mycelia.nn import ReLU
        >>> net = ReLU()
        >>> handle = net.register_backward_hook(lambda cell, leave, come: print(leave[0].tolist(), come[0].tolist()))
        >>> grad(lambda x: net(x - 2) * 3)(Tensor([1.0])).tolist()
        [0.0] [3.0]
        [0.0]
        """
        return self._hooked("_after_back", hook_fn)

    def register_parameter_forward_hook(self, hook: Hook | list[dict[str, Any]]) -> None:
        """Let `construct` see `hook(parameter)` in place of each parameter of the network; gradients go through it.

        A list says which: dictionaries with "params" and "hook".

        >>> from mycelia import Tensor
        >>> from mycelia.nn import Dense
        >>> net = Dense(1, 1, weight_init="ones", has_bias=False)
        >>> net.register_parameter_forward_hook([{"params": [net.weight], "hook": lambda w: w * 10}])
        >>> net(Tensor([[3.0]])).tolist()
        [[30.0]]
        """
        found = hooks_of_parameters(self, hook)  # type: ignore[arg-type]
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            mine = {name: (found[id(p)],) for name, p in cell._params.items() if id(p) in found}
            if mine:
                cell._on_parameters = {**cell._on_parameters, **mine}

    @property
    def enable_backward_hook(self) -> bool:
        """Whether there are hooks on the way back."""
        return bool(self._before_back or self._after_back)

    def _hooked(
        self, place: str, hook: Hook, prepend: bool = False, with_kwargs: bool = False, always: bool = False
    ) -> HookHandle:
        check_hook(hook)
        handle = HookHandle(self, place, hook, with_kwargs, always)  # type: ignore[arg-type]
        now = getattr(self, place)
        setattr(self, place, (handle, *now) if prepend else (*now, handle))
        return handle
