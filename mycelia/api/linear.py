"""A function at a point, together with the linear maps between small changes of its inputs and of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from mycelia import eager
from mycelia import primitives as p
from mycelia.api.mutable import MutableInt
from mycelia.eager import Parameter, Recording, Tensor, derive_back, pull_back, push_forward, wrap
from mycelia.eager.tape import after_hooks, hooked, recording, share_hooks
from mycelia.eager.whole import NoWay, pull_back_whole
from mycelia.errors import ArgumentError, DTypeError, NoSuchGradient, ShapeError, a
from mycelia.ir import Value
from mycelia.tree import LEAF, Structure, flatten, tree_map, unflatten
from mycelia.types import bool_

Weights = Parameter | Sequence[Parameter] | None
LISTS = (tuple, list)  # a union of types would take ten times as long to ask for


class linearized:  # reads as a function: `with linearized(fn, ...) as run`
    """One recorded call of `fn`. Inside the block its tape is open; `back` goes from its results to its inputs."""

    def __init__(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        positions: Sequence[int],
        weights: Weights,
        has_aux: bool,
    ) -> None:
        if not callable(fn):
            raise ArgumentError(
                f"a {type(fn).__name__} is no function to differentiate",
                given={"fn": fn},
                hint="pass the function itself, grad(f)(x), and not what it returns, grad(f(x))",
            )
        if not isinstance(positions, LISTS):
            raise ArgumentError(
                f"grad_position is a whole number, a tuple of them, or None, not {positions!r}",
                hint="grad_position counts the arguments that are given by place, from 0",
            )
        self.recording = Recording()
        self.call = fn, args, kwargs, positions, has_aux
        self.weights = [] if weights is None else _listed(weights)
        for w in self.weights:
            if not isinstance(w, Parameter):
                raise ArgumentError(
                    f"weights are parameters, not {type(w).__name__}",
                    given={"weight": w},
                    hint="give Parameters, such as net.trainable_params(), or choose an argument by grad_position",
                )

    def __enter__(self) -> linearized:
        fn, args, kwargs, positions, has_aux = self.call
        self.recording.__enter__()
        try:
            args, self.leaves, self.structures = self._marked(args, positions)
            watched = {id(w): self.recording.watch(w) for w in {id(w): w for w in self.weights}.values()}
            places = [watched[id(w)] for w in self.weights]  # one that is named twice has its gradient twice
            self.places = [x._id for x in self.leaves] + places
            self.inputs: list[Tensor] = [*self.leaves, *self.weights]  # of which types are asked, and nothing else
            outputs = fn(*args, **kwargs)
            self.differentiated = self._differentiated(outputs, has_aux)
        except BaseException:
            self.recording.__exit__(None, None, None)
            raise
        tape = self.recording.tape
        self.seeds = [x._id if x._tape is tape and x._id >= self.recording.start else -1 for x in self.differentiated]
        self.stop = len(tape)
        self.outputs = outputs if self.recording.nested else _let_go(outputs)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.recording.__exit__(kind, error, trace)

    def _marked(
        self, args: tuple[Any, ...], positions: Sequence[int]
    ) -> tuple[tuple[Any, ...], list[Tensor], list[Structure]]:
        """The arguments, where tensors at `positions` are inputs of this gradient."""
        marked, leaves, structures = list(args), [], []
        for position in positions:
            if not isinstance(position, int) or not -len(args) <= position < len(args):
                raise NoSuchGradient(
                    f"the function has no argument {position!r} to differentiate",
                    given={"arguments": len(args)},
                    hint="grad_position counts the arguments that are given by place, from 0",
                )
            found, structure = _flat(args[position])
            fresh = [self._leaf(_differentiable(x, position)) for x in found]
            marked[position] = fresh[0] if structure is LEAF else unflatten(structure, fresh)
            leaves += fresh
            structures.append(structure)
        return tuple(marked), leaves, structures

    def _leaf(self, x: Tensor) -> Tensor:
        """A tensor of its own in place of an argument."""
        leaf = self.recording.leaf(x)
        return share_hooks(x, leaf) if hooked else leaf

    @staticmethod
    def _differentiated(outputs: Any, has_aux: bool) -> list[Tensor]:
        """The tensors among the results whose gradient is meant."""
        if has_aux and (not isinstance(outputs, LISTS) or len(outputs) < 2):
            raise ArgumentError(
                "with has_aux the function must return the result and something beside it",
                given={"returned": type(outputs).__name__},
                hint="return loss, logits",
            )
        found = [x for x in _flat(outputs[0] if has_aux else outputs)[0] if isinstance(x, Tensor)]
        if not found:
            raise ArgumentError(
                "the function returned no tensor to differentiate", given={"returned": outputs}, hint="return the loss"
            )
        return found

    def back(self, cotangents: list[Any] | None, once: bool = False) -> tuple[list[Any], list[Tensor]]:
        """Cotangents of the arguments and of the weights, from those of the results (ones, if not given)."""
        cts = self._cotangents(cotangents)
        tape, start = self.recording.tape, self.recording.start
        elsewhere = recording() and not once  # a gradient of this very pull-back may be being taken
        written_down = Value in [x._data.__class__ for x in self.differentiated + cts]
        again = self.recording.nested or elsewhere or written_down
        seeds: dict[int, Any] = {}
        for place, ct, x in zip(self.seeds, cts, self.differentiated, strict=True):
            if place >= 0 and x.dtype.is_inexact:
                data = ct if again else ct.numbers()
                seeds[place] = seeds[place] + data if place in seeds else data
        whole = self._whole(cts, again) if tape.whole else {}
        if again:
            flowing: list[Any] = derive_back(tape, start, self.stop, seeds, self.places)
        else:
            arrays = pull_back(tape, seeds, self.places, used_up=once)
            flowing = [None if a is None else wrap(np.asarray(a)) for a in arrays]
        flowing = [whole.get(place, ct) for place, ct in zip(self.places, flowing, strict=True)] if whole else flowing
        gradients = [filled(x, 0) if ct is None else ct for x, ct in zip(self.inputs, flowing, strict=True)]
        if hooked:
            gradients = [after_hooks(x, ct) for x, ct in zip(self.inputs, gradients, strict=True)]
        given = iter(gradients)
        by_argument = [
            next(given) if s is LEAF else unflatten(s, [next(given) for _ in range(s.leaves)]) for s in self.structures
        ]
        return by_argument, list(given)

    def _whole(self, cts: list[Tensor], again: bool) -> dict[int, Tensor | None]:
        """The cotangents of whole numbers, by their places."""
        named = zip(self.places, self.inputs, strict=True)
        found = {at: x for at, x in named if not x.dtype.is_inexact and getattr(x, "requires_grad", True)}
        seeds: dict[int, Tensor] = {}
        for place, ct in zip(self.seeds, cts, strict=True):
            if place >= 0:
                seeds[place] = seeds[place] + ct if place in seeds else ct
        tape, start = self.recording.tape, self.recording.start
        try:
            flowing = pull_back_whole(tape, start, self.stop, seeds, list(found), again)
        except NoWay as error:
            if all(x.dtype is bool_ for x in found.values()):  # a truth does not move
                return {}
            raise error.told([x.name for x in found.values() if isinstance(x, Parameter)]) from None
        cut = [None if ct is None else eager.cast(ct, x.dtype) for ct, x in zip(flowing, found.values(), strict=True)]
        return dict(zip(found, cut, strict=True))

    def forward(self, tangents: list[Any]) -> list[Tensor]:
        """Tangents of the results, from those of the inputs."""
        for x in self.inputs:
            if not x.dtype.is_inexact:
                raise DTypeError(
                    f"forward mode moves floating numbers, not {x.dtype!r}",
                    given={"shape": x.shape},
                    hint="cast it to a floating type",
                )
        given = {
            place: fitting(t, x, "tangent") for place, t, x in zip(self.places, tangents, self.inputs, strict=True)
        }
        tape, start = self.recording.tape, self.recording.start
        moved = push_forward(tape, start, self.stop, given, self.seeds)
        return [filled(x, 0) if t is None else t.alias() for x, t in zip(self.differentiated, moved, strict=True)]

    def _cotangents(self, given: list[Any] | None) -> list[Tensor]:
        if given is None:
            return [filled(x, 1) for x in self.differentiated]
        flat = given if len(given) == 1 and isinstance(given[0], Tensor) else flatten(given)[0]
        if len(flat) != len(self.differentiated):
            raise ArgumentError(
                f"{len(flat)} cotangents were given for {len(self.differentiated)} results",
                hint="one for each tensor that the function returns",
            )
        return [fitting(ct, x) for ct, x in zip(flat, self.differentiated, strict=True)]


def _flat(nest: Any) -> tuple[list[Any], Structure]:
    """The leaves and the structure of a nest; most are a single tensor."""
    return ([nest], LEAF) if isinstance(nest, Tensor) else flatten(nest)


def _listed(weights: Any) -> list[Any]:
    """Weights, of which there may be one."""
    if isinstance(weights, Tensor) and not isinstance(weights, Parameter):
        raise ArgumentError(
            "weights are parameters, and a Tensor is none",
            given={"shape": weights.shape},
            hint="give Parameters, such as net.trainable_params(), or choose an argument by grad_position",
        )
    return [weights] if isinstance(weights, Parameter) else list(weights or ())


def _differentiable(x: Any, position: int) -> Tensor:
    """A tensor that a gradient can be taken with respect to."""
    if not isinstance(x, Tensor):
        if isinstance(x, float | MutableInt):
            return Tensor(x)
        raise ArgumentError(
            f"argument {position} is differentiated and holds {a(type(x).__name__)}, not a tensor",
            given={"value": x},
            hint="give a tensor, or a float such as 2.0",
        )
    return x


def _let_go(outputs: Any) -> Any:
    """Results outside of the gradient that computed them; what it has not computed is itself."""
    if outputs.__class__ is Tensor and outputs._tape is not None:
        return outputs.detached()
    return tree_map(lambda x: x.detached() if x.__class__ is Tensor and x._tape is not None else x, outputs)


def fitting(ct: Any, x: Tensor, what: str = "cotangent") -> Tensor:
    """A cotangent given by a person, checked against the result it belongs to; or a tangent, against the argument."""
    tensor = ct if isinstance(ct, Tensor) else Tensor(ct)
    given, wanted = tensor._data, x._data
    if given.shape == wanted.shape and given.dtype is wanted.dtype:
        return tensor
    if tensor.shape != x.shape:
        raise ShapeError(
            f"a tensor of shape {x.shape} has no {what} of shape {tensor.shape}",
            hint=f"give one of shape {x.shape}",
        )
    return eager.cast(tensor, x.dtype) if x.dtype.is_inexact else tensor


def filled(x: Tensor, number: int) -> Tensor:
    """A tensor like `x` with this number everywhere."""
    return eager.created(p.Full(number, x.dtype, x.shape))
