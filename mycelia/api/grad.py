"""Gradients of Python functions: run them once, recording, and go back along the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mycelia.api.linear import LISTS, Weights, filled
from mycelia.api.staged import linearize
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, NoSuchGradient
from mycelia.names import listening
from mycelia.tree import flatten


@listening
def grad(
    fn: Callable[..., Any],
    grad_position: int | Sequence[int] | None = 0,
    weights: Weights = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """The function that gives the gradient of `fn`, with respect to arguments by position, parameters, or both.

    A tuple of one position gives its gradient, as in MindSpore, one of several a tuple of them; a list or a range gives
    a tuple always. Where `fn` returns several tensors, their gradients are added; with `has_aux` only the first is
    differentiated, and the others come back beside the gradient. With `sens_param` the last argument is the cotangent
    of the result.

    >>> grad(lambda x: x * x * x)(Tensor(2.0))
    Tensor(shape=[], dtype=Float32, value= 12)
    >>> grad(grad(lambda x: x * x * x))(Tensor(2.0))
    Tensor(shape=[], dtype=Float32, value= 12)
    """
    both = value_and_grad(fn, grad_position, weights, has_aux, return_ids, sens_param)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        outputs, gradients = both(*args, **kwargs)
        return (gradients, tuple(outputs[1:])) if has_aux else gradients

    return gradient


@listening
def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | Sequence[int] | None = 0,
    weights: Weights = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., tuple[Any, Any]]:
    """The function that gives what `fn` returns, and its gradient; the arguments are those of `grad`.

    >>> w = Parameter(2.0, name="w")
    >>> value, gradient = value_and_grad(lambda x: w * w * x, None, w)(Tensor(3.0))
    >>> value.item(), gradient.item()
    (12.0, 12.0)
    """
    if weights is not None and not isinstance(weights, (Parameter, Iterable)):
        raise ArgumentError(
            f"weights are parameters, and not a {type(weights).__name__}", hint="for example net.trainable_params()"
        )
    if weights is not None and not isinstance(weights, Tensor):
        weights = tuple(weights)  # which may come one by one, and are asked for at every call
    if grad_position is None and weights is None:
        raise ArgumentError(
            "a gradient needs something to be taken with respect to",
            hint="give grad_position (an argument, 0 is the first) or weights (parameters)",
        )
    if grad_position == ():
        raise NoSuchGradient("grad_position names no argument", hint="None leaves the arguments out")
    positions = () if grad_position is None else (grad_position,) if isinstance(grad_position, int) else grad_position
    positions = tuple(positions) if isinstance(positions, list | range) else positions

    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        sens = None
        if sens_param:
            *args, sens = args  # type: ignore[assignment]  # the last one is ours
        run = linearize(fn, tuple(args), kwargs, positions, weights, has_aux)
        with run:
            by_position, by_weight = run.back(None if sens is None else _listed(sens), once=True)
        gradients = _arranged(by_position, by_weight, grad_position, positions, weights, return_ids)
        return run.outputs, gradients

    return both


def _listed(sens: Any) -> list[Any]:
    return list(sens) if isinstance(sens, LISTS) else [sens]


def _arranged(
    by_position: list[Any],
    by_weight: list[Any],
    grad_position: int | Sequence[int] | None,
    positions: Sequence[int],
    weights: Weights,
    return_ids: bool,
) -> Any:
    """Gradients as they were asked for: one or a tuple, of arguments, parameters or both."""
    named = [weights] if isinstance(weights, Parameter) else [] if weights is None else list(weights)
    by_weight = [g if w.requires_grad else filled(g, 0) for w, g in zip(named, by_weight, strict=True)]
    if return_ids:
        by_position = list(zip(positions, by_position, strict=True))
        by_weight = [(w.name, g) for w, g in zip(named, by_weight, strict=True)]
    alone = isinstance(grad_position, int) or (isinstance(grad_position, tuple) and len(positions) == 1)
    arguments: Any = by_position[0] if alone else tuple(by_position)
    parameters: Any = by_weight[0] if isinstance(weights, Parameter) else tuple(by_weight)
    if weights is None:
        return arguments
    return parameters if grad_position is None else (arguments, parameters)


@listening
def vjp(fn: Callable[..., Any], *inputs: Any, weights: Weights = None, has_aux: bool = False) -> tuple[Any, ...]:
    """What `fn` returns at `inputs`, and the function from cotangents of that to cotangents of the inputs.

    >>> y, back = vjp(lambda x: x * x, Tensor([1.0, 2.0]))
    >>> back(Tensor([1.0, 10.0]))[0].tolist()
    [2.0, 40.0]
    """
    run = linearize(fn, inputs, {}, tuple(range(len(inputs))), weights, has_aux)
    with run:
        pass

    def back(*cotangents: Any) -> Any:
        by_position, by_weight = run.back(list(cotangents) or None)
        if weights is None:
            return tuple(by_position)
        return tuple(by_position), by_weight[0] if isinstance(weights, Parameter) else tuple(by_weight)

    if has_aux:
        first, *others = run.outputs
        return first, back, tuple(others) if len(others) != 1 else others[0]
    return run.outputs, back


PLAIN = (int, float, bool, str, type(None))
"""Arguments of these types are none of those that `get_all` means."""


def holds_more(given: Any) -> bool:
    """Whether an argument is more than plain numbers and texts, and lists of them.

    >>> holds_more((1, 2)), holds_more((1, Tensor(2.0))), holds_more(None)
    (False, True, False)
    """
    return any(type(leaf) not in PLAIN for leaf in flatten(given)[0])


class GradOperation:
    """`grad` with its older spelling: with respect to the first argument, to all that hold tensors, to parameters, or
    to both.

    >>> GradOperation(get_all=True)(lambda x, y: x * y)(Tensor(2.0), Tensor(3.0))[1].item()
    2.0
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Callable[..., Any], weights: Weights = None) -> Callable[..., Any]:
        if self.get_by_list and weights is None:
            weights = fn.trainable_params() if hasattr(fn, "trainable_params") else None
            if weights is None:
                raise ArgumentError("get_by_list needs the parameters", hint="pass them as the second argument")

        def gradient(*args: Any, **kwargs: Any) -> Any:
            count = len(args) - self.sens_param
            every = [i for i in range(count) if holds_more(args[i])]
            if self.get_all and not every and not self.get_by_list:
                return ()  # with respect to no argument
            position = every if self.get_all else None if self.get_by_list else 0
            return grad(fn, position, weights if self.get_by_list else None, sens_param=self.sens_param)(
                *args, **kwargs
            )

        return gradient


def get_grad(gradients: Any, identifier: int | str | Parameter) -> Tensor:
    """One gradient out of those that `return_ids` gave: of an argument by its position, of a parameter by its name.

    >>> g = grad(lambda x, y: x * y, (0, 1), return_ids=True)(Tensor(2.0), Tensor(3.0))
    >>> get_grad(g, 1).item()
    2.0
    """
    key = identifier.name if isinstance(identifier, Parameter) else identifier
    for found, gradient in _pairs(gradients):
        if found == key and type(found) is type(key):
            return gradient  # type: ignore[no-any-return]
    raise NoSuchGradient(
        f"there is no gradient of {key!r}",
        given={"gradients": [name for name, _ in _pairs(gradients)]},
        hint="take it with return_ids=True",
    )


def _pairs(gradients: Any) -> list[tuple[Any, Any]]:
    if isinstance(gradients, tuple) and len(gradients) == 2 and isinstance(gradients[0], int | str | np.integer):
        return [gradients]
    return [pair for g in gradients for pair in _pairs(g)] if isinstance(gradients, tuple | list) else []
