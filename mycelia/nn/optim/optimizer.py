"""The optimizer: a cell that is given gradients and changes parameters.

Every update is an elementwise expression of a parameter, its gradient and its moments, assigned back to them: compiled,
it is one pass over memory for each parameter. The number of the step is itself a parameter, so one program serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, wraps
from inspect import signature
from typing import Any

import numpy as np

from mycelia import ops
from mycelia.checks import choice
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign, cast, dispatch
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.frozen import frozen
from mycelia.nn.cell import Cell
from mycelia.nn.optim.rates import Fixed, Rate, as_rate
from mycelia.types import Array, float32, int32

KEYS = ("params", "lr", "weight_decay", "grad_centralization", "order_params")


@frozen
class Choice:
    """How one parameter is to be changed: which of the rates and decays is its own, and what else was wished."""

    rate: int
    decay: int
    centralize: bool


def _operation(name: str) -> cached_property[Any]:
    """An operation that is made when it is first asked for."""
    return cached_property(lambda _: getattr(ops, name)())


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """A decorator for the `__init__` of an optimizer of one's own: it notes what was given, as `init_params`,
    `init_learning_rate` and `init_args`.

    >>> class Mine(Optimizer):
    ...     @opt_init_args_register
    ...     def __init__(self, params, learning_rate=0.5, extra=3):
    ...         super().__init__(learning_rate, params)
    >>> mine = Mine([Parameter([1.0], name="w")])
    >>> mine.init_learning_rate, dict(mine.init_args)
    (0.5, {'extra': 3})
    """

    @wraps(fn)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        noted = dict(list(bound.arguments.items())[1:])
        fn(self, *args, **kwargs)
        if "params" in noted:
            self.__dict__["init_params"] = {"params": noted.pop("params")}
        rate = noted.pop("learning_rate", None)
        self.__dict__["init_learning_rate"] = None if isinstance(rate, Cell) else rate
        self.__dict__["init_args"] = noted

    return made


class Optimizer(Cell):
    """The base of optimizers. A kind of one's own says in `update` how one parameter changes.

    >>> class Descent(Optimizer):
    ...     def update(self, index, weight, gradient, rate, shared):
    ...         assign(weight, weight - gradient * rate)
    >>> w = Parameter([1.0, 2.0], name="w")
    >>> done = Descent(0.5, [w])((Tensor([1.0, 1.0]),))
    >>> w.asnumpy()
    array([0.5, 1.5], dtype=float32)
    """

    parameters: ParameterTuple
    global_step: Parameter
    decoupled = False  # whether the decay of weights is left to `update`, instead of being added to the gradient
    # what a `construct` of one's own finds in MindSpore's optimizers
    map_, hyper_map, assignadd = _operation("Map"), _operation("HyperMap"), _operation("AssignAdd")
    global_step_increase_tensor = Tensor(1, int32)

    def __init__(
        self,
        learning_rate: Any,
        parameters: Iterable[Parameter] | Iterable[dict[str, Any]],
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(loss_scale, int | float) or loss_scale <= 0:
            raise ArgumentError(f"loss_scale is a positive number, not {loss_scale!r}")
        self.loss_scale = float(loss_scale)
        self.need_scale, self.reciprocal_scale = loss_scale != 1, Tensor(1.0 / loss_scale, float32)
        self.global_step = Parameter(Tensor(0, int32), name="global_step", requires_grad=False)
        if isinstance(parameters, Tensor | Cell) or not isinstance(parameters, Iterable):
            raise ArgumentError(
                f"an optimizer takes a list of parameters, not a {type(parameters).__name__}",
                given={"parameters": parameters},
                hint="give net.trainable_params() first, and the learning rate after it",
            )
        given = list(parameters)
        if not given:
            raise ArgumentError("an optimizer needs parameters to change", hint="for example net.trainable_params()")
        self.is_group = isinstance(given[0], dict)
        groups = [_checked(g) for g in given] if self.is_group else [{"params": given}]
        self._settle(groups, learning_rate, weight_decay)

    def _settle(self, groups: list[dict[str, Any]], learning_rate: Any, weight_decay: Any) -> None:
        """Who has which rate and which decay."""
        rates, decays, found = [as_rate(learning_rate, "learning_rate")], [_decaying(weight_decay)], {}
        for number, group in enumerate(groups):
            if "order_params" in group:
                continue
            if "lr" in group:
                rates.append(as_rate(group["lr"], f"learning_rate_group_{number}"))
            if "weight_decay" in group:
                decays.append(_decaying(group["weight_decay"]))
            own = Choice(
                len(rates) - 1 if "lr" in group else 0,
                len(decays) - 1 if "weight_decay" in group else 0,
                bool(group.get("grad_centralization", False)),
            )
            for parameter in group["params"]:
                if not isinstance(parameter, Parameter):
                    raise ArgumentError(
                        f"an optimizer changes parameters, not {type(parameter).__name__}",
                        given={"value": parameter},
                        hint="for example net.trainable_params()",
                    )
                if id(parameter) in found:
                    raise ArgumentError(
                        f"parameter {parameter.name} is given to the optimizer twice", hint="give each parameter once"
                    )
                found[id(parameter)] = parameter, own
        ordered = next((g["order_params"] for g in groups if "order_params" in g), None)
        if ordered is not None:
            if {id(p) for p in ordered} != set(found):
                raise ArgumentError("order_params must name the parameters of all groups, each once")
            found = {id(p): found[id(p)] for p in ordered}
        # the weights belong to the network: the optimizer neither names nor saves them
        self.__dict__["parameters"] = ParameterTuple(p for p, _ in found.values())
        self.choices = tuple(own for _, own in found.values())
        # a step goes over the memory of all weights once for each op of a rule, or once in all
        elements = sum(p.size for p in self.parameters)
        self.as_one = elements >= dispatch.LARGE and type(self).__module__.startswith("mycelia.")
        for number, rate in enumerate(rates):
            self.insert_child_to_cell(f"rate_{number}", rate)
        self.rates = tuple(rates)
        self.decays = tuple(decays)
        self.is_group_lr, self.dynamic_lr = len(rates) > 1, not all(type(r) is Fixed for r in rates)
        self.is_group_params_ordered = ordered is not None
        self.dynamic_weight_decay = any(isinstance(d, Cell) for d in decays)
        self.dynamic_decay_flags = tuple(isinstance(decays[own.decay], Cell) for own in self.choices)
        self.grad_centralization_flags = tuple(own.centralize for own in self.choices)
        self.param_length = len(self.parameters)
        plain = not self.is_group  # without groups, what shifts and scales a normalised signal does not decay
        self.decay_flags = tuple(
            bool(isinstance(decays[own.decay], Cell) or decays[own.decay] > 0)
            and not (plain and ("beta" in p.name or "gamma" in p.name))
            for p, own in found.values()
        )
        self.exec_weight_decay = any(self.decay_flags)

    def __repr__(self) -> str:
        if "rates" not in self.__dict__:  # it was not made whole
            return f"{self.cls_name}()"
        rates = [repr(rate) for rate in self.rates]
        decays = [repr(decay) for decay in self.decays]
        told = {"learning_rate": rates, "weight_decay": decays if any(self.decays) else []}
        shown = [
            f"{n}={each[0] if len(each) == 1 else '[' + ', '.join(each) + ']'}" for n, each in told.items() if each
        ]
        held = {name: self.__dict__.get(name) for name in signature(type(self).__init__).parameters if name not in told}
        shown += [
            f"{name}={value!r}" for name, value in held.items() if isinstance(value, int | float) and value is not False
        ]
        return f"{self.cls_name}({len(self.parameters)} parameters, {', '.join(shown)})"

    # ------------------------------------------------------------------------------------------------------ the step

    def construct(self, gradients: Sequence[Tensor]) -> bool:
        given = self._fitting(gradients)
        rates = [rate(self.global_step) for rate in self.rates]
        decays = [self._decay(decay) for decay in self.decays]
        shared = self.shared(cast(self.global_step, float32) + 1.0)
        assign(self.global_step, self.global_step + 1)
        scale, decoupled, update = self.loss_scale, self.decoupled, self.update
        each = zip(self.parameters, given, self.choices, self.decay_flags, strict=True)
        for index, (weight, gradient, own, decays_too) in enumerate(each):
            if scale != 1.0:
                gradient = gradient * (1.0 / scale)
            if decays_too and not decoupled:
                gradient = gradient + weight * decays[own.decay]
            if own.centralize:
                gradient = _centered(gradient)
            if decays_too and decoupled:
                update(index, weight, gradient, rates[own.rate], shared, decays[own.decay])
            else:
                update(index, weight, gradient, rates[own.rate], shared)
        return True

    def shared(self, step: Tensor) -> Any:
        """What the updates of all parameters need, computed once; the first step is 1."""
        return None

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        """Change one parameter, given its gradient and its learning rate; a decoupled decay, if it has one, is last."""
        raise ArgumentError(f"{self.cls_name} does not say how a parameter changes", hint="define update")

    def _decay(self, decay: Any) -> Any:
        return decay(self.global_step) if isinstance(decay, Cell) else decay

    def _fitting(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """The gradients, checked against the parameters and in their types."""
        if not isinstance(gradients, tuple | list) or len(gradients) != len(self.parameters):
            count = len(gradients) if isinstance(gradients, tuple | list) else "something else than a tuple of"
            raise ArgumentError(
                f"{self.cls_name} has {len(self.parameters)} parameters and was given {count} gradients",
                hint="differentiate with respect to optimizer.parameters",
            )
        for weight, gradient in zip(self.parameters, gradients, strict=True):
            if gradient.shape != weight.shape:
                raise ShapeError(
                    f"parameter {weight.name} of shape {weight.shape} was given a gradient of shape {gradient.shape}",
                    hint="give the gradients in the order of optimizer.parameters",
                )
        pairs = zip(self.parameters, gradients, strict=True)
        return [g if g.dtype is w.dtype else cast(g, w.dtype) for w, g in pairs]

    # ------------------------------------------------------------------------------ for a `construct` of one's own

    def flatten_gradients(self, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """The gradients: the weights are not one piece of memory.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")]).flatten_gradients((Tensor([2.0]),))[0].item()
        2.0
        """
        return gradients

    def decay_weight(self, gradients: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The gradients, with that of the decay of the weights added: as long as they are scaled, so is it.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")], weight_decay=0.25).decay_weight((Tensor([2.0]),))[0].item()
        2.25
        """
        decays = [self._decay(decay) * self.loss_scale for decay in self.decays]
        each = zip(self.parameters, self._fitting(gradients), self.choices, self.decay_flags, strict=True)
        return tuple(g + w * decays[own.decay] if decays_too else g for w, g, own, decays_too in each)

    def gradients_centralization(self, gradients: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The gradients, those of groups with `grad_centralization` without their means.

        >>> groups = [{"params": [Parameter([[1.0, 2.0]], name="w")], "grad_centralization": True}]
        >>> Optimizer(0.5, groups).gradients_centralization((Tensor([[2.0, 4.0]]),))[0].tolist()
        [[-1.0, 1.0]]
        """
        each = zip(gradients, self.grad_centralization_flags, strict=True)
        return tuple(_centered(g) if centralize else g for g, centralize in each)

    def scale_grad(self, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """The gradients of the loss, from those of the loss times `loss_scale`.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")], loss_scale=4.0).scale_grad((Tensor([2.0]),))[0].item()
        0.5
        """
        return tuple(g * (1.0 / self.loss_scale) for g in gradients) if self.need_scale else gradients

    # ------------------------------------------------------------------------------------------------------- to read

    def get_lr_parameter(self, param: Parameter | list[Parameter]) -> Any:
        """The rate of a parameter, or of each in a list: a parameter itself, or the schedule.

        >>> w, b = Parameter([1.0], name="w"), Parameter([1.0], name="b")
        >>> Optimizer(0.5, [{"params": [w], "lr": 0.25}, {"params": [b]}]).get_lr_parameter(w).item()
        0.25
        """
        if not isinstance(param, Parameter | list):
            raise CallError(f"the rate of a parameter or of a list of them, not of a {type(param).__name__}")
        places = {id(p): own for p, own in zip(self.parameters, self.choices, strict=True)}
        asked = param if isinstance(param, list) else [param]
        for p in asked:
            if id(p) not in places:
                name = p.name if isinstance(p, Parameter) else repr(p)
                raise ArgumentError(f"the optimizer does not change {name}", hint="ask for one of its parameters")
        found = [self.rates[places[id(p)].rate].source for p in asked]
        return found if isinstance(param, list) else found[0]

    @property
    def learning_rate(self) -> Parameter | Cell | tuple[Parameter | Cell, ...]:
        """The rate: a parameter where it is one number or a list of them, else the schedule. Where groups have their
        own, one for each parameter.

        >>> w, b = Parameter([1.0], name="w"), Parameter([1.0], name="b")
        >>> [r.item() for r in Optimizer(0.5, [{"params": [w], "lr": 0.25}, {"params": [b]}]).learning_rate]
        [0.25, 0.5]
        """
        return tuple(self.rates[own.rate].source for own in self.choices) if self.is_group_lr else self.rates[0].source

    @property
    def weight_decay(self) -> Any:
        """The decay of weights, a tensor or a schedule; a tuple with one for each parameter, if there are groups.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")], weight_decay=0.25).weight_decay.item()
        0.25
        """
        found = [d if isinstance(d, Cell) else Tensor(d, float32) for d in self.decays]
        return tuple(found[own.decay] for own in self.choices) if self.is_group else found[0]

    def get_lr(self) -> Any:
        """The rate of the coming step; a tuple with one for each parameter, if groups have their own.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")]).get_lr().item()
        0.5
        """
        now = [rate(self.global_step) for rate in self.rates]
        return now[0] if len(now) == 1 else tuple(now[own.rate] for own in self.choices)

    @property
    def target(self) -> str:
        """Where parameters are updated: there is one place.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")]).target
        'CPU'
        """
        return "CPU"

    @target.setter
    def target(self, value: str) -> None:
        choice(self.cls_name, "target", value, ("CPU",))

    @property
    def unique(self) -> bool:
        """Whether each row of a sparse gradient counts once: gradients are dense here.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")]).unique
        True
        """
        return True

    def get_weight_decay(self) -> Any:
        """The decay of weights; a tuple with one for each parameter, if there are groups.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")], weight_decay=0.1).get_weight_decay()
        0.1
        """
        now = [self._decay(decay) for decay in self.decays]
        return tuple(now[own.decay] for own in self.choices) if self.is_group else now[0]

    def computed(self) -> dict[str, Array]:
        """What MindSpore's optimizer of this kind keeps as parameters, and this one computes, by name.

        Checkpoints hold it, so that a training can go on there.

        >>> Optimizer(0.5, [Parameter([1.0], name="w")]).computed()
        {}
        """
        return {}

    def take(self, name: str, value: float) -> None:
        """Go on with one of these numbers, which a checkpoint holds, where more than the steps decides on it."""

    def beside(self, prefix: str) -> ParameterTuple:
        """A parameter of zeros beside each weight, to remember something about it."""
        made = self.parameters.clone(prefix, "zeros")
        for moment in made:
            moment.requires_grad = False
        return made


def _centered(gradient: Tensor) -> Tensor:
    """Without the mean of each row, if there are rows."""
    axes = tuple(range(1, gradient.ndim))
    return gradient - ops.mean(gradient, axes, True) if axes else gradient


def _checked(group: Any) -> dict[str, Any]:
    """A group of parameters as a person wrote it."""
    if not isinstance(group, dict) or not ("params" in group or "order_params" in group):
        raise ArgumentError(
            "a group of parameters is a dictionary with params",
            given={"group": group},
            hint=f"keys are {', '.join(KEYS)}",
        )
    unknown = [key for key in group if key not in KEYS]
    if unknown:
        raise ArgumentError(f"a group of parameters has no {unknown[0]!r}", hint=f"keys are {', '.join(KEYS)}")
    checked = {key: list(value) if key == "params" else value for key, value in group.items()}
    if "order_params" not in checked and not checked["params"]:
        raise ArgumentError(
            "a group of parameters is empty", given={k: v for k, v in checked.items() if k != "params"},
            hint="look at how its parameters are chosen; net.parameters_dict() shows all names",
        )  # fmt: skip
    return checked


def _decaying(decay: Any) -> Any:
    """A decay of weights: a number from 0, or a schedule."""
    if isinstance(decay, Cell | Tensor):
        return decay
    if isinstance(decay, bool) or not isinstance(decay, int | float | np.number) or not decay >= 0:
        raise ArgumentError(f"weight_decay is a number from 0 or a schedule, not {decay!r}", hint="for example 1e-4")
    return decay


def check_share(name: str, value: float) -> float:
    """A number between 0 and 1, such as the share of a moment that stays.

    >>> check_share("beta1", 0.9)
    0.9
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ArgumentError(f"{name} is at least 0 and below 1, not {value!r}", hint="for example 0.9")
    return float(value)


__all__ = ["Choice", "Optimizer", "Rate", "check_share"]
